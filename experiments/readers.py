"""Several readers over the same chains: which one is to ship.

    python experiments/readers.py KB ../shared/data/hotpotqa/dev.json.xz READER READER --count 200
    python experiments/readers.py KB ../shared/data/squad/dev.json.xz READER READER --hops 1 \
        --shuffle --skip 300 --count 200

Chains are found once, and each exported READER answers from them in two ways: all of them read,
and until an answer is sure, as `muppet ask` does. `times` is over the first reader, on the same
draws of questions. What chooses a reader is not to be reported on: of HotpotQA's dev the first 200
choose, of SQuAD's shuffled dev those from 300 to 500, of 2Wiki's dev all.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shared import (
    arguments,
    head,
    markdown,
    means_of,
    per_cent,
    reading_all,
    settings_of,
    shuffled,
    some_of,
    tell,
    times,
    values_of,
    warn_of_missing,
)

from muppet.cli.progress import ProgressLine
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.evaluate.asking import answered, predictions_of
from muppet.evaluate.bootstrap import ratio_of
from muppet.evaluate.finding import Find, by_model
from muppet.evaluate.reading import read_found
from muppet.evaluate.report import QuestionScores, score_questions
from muppet.knowledge.open import KnowledgeBase
from muppet.read.answers import VERDICTS
from muppet.read.reader import ChainReader
from muppet.retrieve.retriever import Retrieved, open_retriever

ALL, SURE = "all read", "until sure"
Scored = dict[tuple[str, str], list[QuestionScores]]
"""By reader and by how much was read: what each question scored."""


def main() -> None:
    parser = arguments(__doc__, skip=0)
    parser.add_argument("questions", type=Path)
    parser.add_argument("readers", type=Path, nargs="+")
    parser.add_argument("--threads", type=int, default=2, help="Of a reader [%(default)s].")
    parser.add_argument("--hops", type=int, help="[the KB's]")
    parser.add_argument("--shuffle", action="store_true", help="Where neighbours are alike.")
    asked = parser.parse_args()
    every = read_questions(asked.questions)
    questions = some_of(shuffled(every) if asked.shuffle else every, asked.skip, asked.count)
    progress = ProgressLine()
    scored: Scored = {}
    with KnowledgeBase(asked.kb) as knowledge:
        warn_of_missing(knowledge, questions)
        config = settings_of(knowledge, asked.config)
        hops = asked.hops or config.retrieve.hops
        narrow = config.retrieve.narrow[: 1 if hops == 1 else None]
        settings = replace(config.retrieve, hops=hops, narrow=narrow)
        retriever = open_retriever(knowledge, asked.model, settings, progress)
        find = once(by_model(retriever))
        chains = round(config.read.chains * (config.read.one_hop if hops == 1 else 1))
        ways = {ALL: reading_all(config.read, chains), SURE: config.read}
        for path in asked.readers:
            reader = ChainReader(path, asked.threads)
            results = read_found(find, reader, questions, ways, progress, str(path))
            for way, found in results.items():
                predictions = predictions_of(answered(questions, found))
                scored[str(path), way] = score_questions(predictions, questions)
    progress.close()
    told(scored, questions, as_json=asked.json)


def once(find: Find) -> Find:
    """Finds what has not been found before."""
    known: dict[str, Retrieved] = {}

    def remembered(questions: Sequence[BenchmarkQuestion]) -> list[Retrieved]:
        new = [one for one in questions if one.question.id not in known]
        known.update(zip((one.question.id for one in new), find(new) if new else (), strict=True))
        return [known[one.question.id] for one in questions]

    return remembered


def told(scored: Scored, questions: Sequence[BenchmarkQuestion], *, as_json: bool) -> None:
    is_verdict = [set(one.gold.answers) <= set(VERDICTS) for one in questions]
    means = {row: means_of(scores) for row, scores in scored.items()}
    columns = [*next(iter(means.values()))]
    measure = columns[-1]  # joint F1, or where there is no support the answer's
    first = next(iter(scored))[0]
    right = {row: right_of(scores, is_verdict) for row, scores in scored.items()}
    ratios = {
        (reader, way): ratio_of(values_of(scores, measure), values_of(scored[first, way], measure))
        for (reader, way), scores in scored.items()
    }
    rows = [
        [*row, *(per_cent(own[one]) for one in columns), str(right[row]), times(ratios[row])]
        for row, own in means.items()
    ]
    heads = ["", "", *map(head, columns), f"yes/no of {sum(is_verdict)}", f"{head(measure)}, times"]
    facts = {" ".join(row): {**means[row], "yes/no": right[row]} for row in scored}
    tell(f"{len(questions)} questions\n\n{markdown(heads, rows)}", facts, as_json=as_json)


def right_of(scores: Sequence[QuestionScores], chosen: Sequence[bool]) -> int:
    """Of the chosen questions, how many are answered exactly right."""
    return sum(
        one.answer is not None and one.answer.em == 1
        for one, counts in zip(scores, chosen, strict=True)
        if counts
    )


if __name__ == "__main__":
    main()
