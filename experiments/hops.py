"""Hops as the model decides against fixed 1, 2 and 3 (the paper's future work, checklist 34).

    python experiments/hops.py KB --data ../shared/data --count 100

One knowledge base for questions of one hop (SQuAD dev), of two (HotpotQA dev) and of two to four
(MuSiQue). It must hold the paragraphs of all of them, so index the question files of SQuAD and
MuSiQue into it too: hotpot-paragraphs.jsonl.xz has HotpotQA's, but hardly any of MuSiQue's.

`hops right`: the first chain is as long as the gold. `all gold`: the first chain, or those that
are read, have every gold paragraph, whatever else. `exactly`: the first chain is the gold set.

The first 200 questions of HotpotQA's dev chose the encoder and are left out (--skip). Of MuSiQue
there is only the file to train on, and both networks were trained on it: its rows say what deciding
does to longer chains, not how well unseen questions are answered. What is left of a file is
shuffled by a fixed seed before --count, since neighbours are alike.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shared import (
    add_reader,
    arguments,
    head,
    markdown,
    means_of,
    per_cent,
    settings_of,
    shuffled,
    some_of,
    tell,
    warn_of_missing,
)

from muppet.cli.progress import ProgressLine
from muppet.config import Config
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.domain import Result
from muppet.evaluate.asking import answered, predictions_of
from muppet.evaluate.bootstrap import Estimate, mean_of
from muppet.evaluate.finding import by_model, score_found
from muppet.evaluate.reading import read_found
from muppet.evaluate.report import score_questions
from muppet.evaluate.retrieval import CUTOFFS
from muppet.knowledge.open import KnowledgeBase
from muppet.read.reader import ChainReader
from muppet.retrieve.beam import AUTO
from muppet.retrieve.retriever import Retriever, open_retriever

SETS = {
    "SQuAD dev": "squad/dev.json.xz",
    "HotpotQA dev": "hotpotqa/dev.json.xz",
    "MuSiQue train": "musique/train.jsonl.xz",
}
CHOSE = "HotpotQA dev"
HOPS = (AUTO, 1, 2, 3)
TAKEN = "hops taken"
Row = dict[str, Estimate]


def main() -> None:
    parser = arguments(__doc__, skip=200)
    add_reader(parser)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="[%(default)s]")
    parser.add_argument("--only", choices=SETS, help="One of the question files.")
    asked = parser.parse_args()
    rows: dict[str, dict[str, Row]] = {}
    counts = {}
    progress = ProgressLine()
    with KnowledgeBase(asked.kb) as knowledge:
        config = settings_of(knowledge, asked.config)
        retriever = open_retriever(knowledge, asked.model, config.retrieve, progress)
        reader = ChainReader(asked.reader, asked.threads)
        for name in [asked.only] if asked.only else SETS:
            every = read_questions(asked.data / SETS[name])[asked.skip if name == CHOSE else 0 :]
            with_gold = [one for one in every if one.gold.paragraphs]  # a few of MuSiQue lack it
            questions = some_of(shuffled(with_gold), 0, asked.count)
            warn_of_missing(knowledge, questions)
            counts[name] = len(questions)
            rows[name] = {
                str(hops): measure(retriever, reader, config, hops, questions, progress, name)
                for hops in HOPS
            }
    progress.close()
    told = [
        [f"{name}, {counts[name]} questions", hops, *map(cell, row, row.values())]
        for name, own in rows.items()
        for hops, row in own.items()
    ]
    heads = [head(measure) for own in rows.values() for measure in next(iter(own.values()))]
    text = markdown(["", "hops", *dict.fromkeys(heads)], told)
    facts = {"questions": counts, "rows": rows}
    tell("Per cent, 95 % intervals.\n\n" + text, facts, as_json=asked.json)


def measure(
    retriever: Retriever,
    reader: ChainReader,
    config: Config,
    hops: int | str,
    questions: Sequence[BenchmarkQuestion],
    progress: ProgressLine,
    name: str,
) -> Row:
    """What one number of hops does to the chains and to the answers."""
    settings = replace(config.retrieve, hops=hops)
    find = by_model(retriever.with_config(settings))
    stage = f"{name}, hops {hops}"
    results = read_found(find, reader, questions, {hops: config.read}, progress, stage)[hops]
    chains = {id_: result.chains for id_, result in results.items()}
    scores = score_found(retriever.knowledge, questions, chains)
    lengths = [first_length(results[one.question.id]) for one in questions]
    right = [
        length == len(one.gold.paragraphs) for length, one in zip(lengths, questions, strict=True)
    ]
    read = max(cutoff for cutoff in CUTOFFS if cutoff <= config.read.chains)
    answers = means_of(score_questions(predictions_of(answered(questions, results)), questions))
    return {
        TAKEN: mean_of(lengths),
        "hops right": mean_of(right),
        "all gold, first chain": mean_of([one.hits[1] == 1 for one in scores]),
        f"all gold, {read} chains": mean_of([one.hits[read] == 1 for one in scores]),
        "exactly": mean_of([one.perfect[1] for one in scores]),
        "answer em": answers["answer em"],
        "answer f1": answers["answer f1"],
    }


def first_length(result: Result) -> int:
    return len(result.chains[0].hops) if result.chains else 0


def cell(measure: str, one: Estimate) -> str:
    return f"{one.value:.2f}" if measure == TAKEN else per_cent(one)


if __name__ == "__main__":
    main()
