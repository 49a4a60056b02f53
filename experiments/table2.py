"""Table 2, SQuAD-Open in one hop: the same reader over paragraphs by words and by the retriever.

    python experiments/table2.py KB ../shared/data/squad/dev.json.xz --skip 500 --count 800

KB holds SQuAD's paragraphs among others. TF-IDF's best 45 paragraphs are read, or those that the
trained retriever ranks best among so many as --narrow says: by default as its first hop does. The
paper's TF-IDF ranks whole articles and then their paragraphs, ours paragraphs at once. What the two
rows of every system are is said in comparing.py.

A second table says where the answers are lost: how often each row is right where TF-IDF's
paragraphs hold the question's own, and where they do not; and how often the reader is right when it
is given nothing but that paragraph, which is the most that any retrieval could bring.

SQuAD's questions stand article by article, so they are shuffled by a fixed seed before --skip and
--count; those from 300 to 500 chose settings and readers, and are not to be reported on. Intervals
are over questions; those of one paragraph are not independent, so true intervals are somewhat
wider.
"""

from collections.abc import Sequence
from dataclasses import replace

from comparing import Further, Published, Scored, compare, comparison_arguments
from shared import markdown, per_cent, shuffled, some_of, values_of

from muppet.config import Config, ReadConfig
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.evaluate.asking import answered, predictions_of
from muppet.evaluate.bootstrap import mean_of
from muppet.evaluate.finding import every_own, lexical_paragraphs
from muppet.evaluate.narrowing import gold_key
from muppet.evaluate.reading import read_found
from muppet.evaluate.report import score_questions
from muppet.knowledge.open import KnowledgeBase
from muppet.read.reader import ChainReader

OWN = "own paragraph alone"

PUBLISHED = Published(
    columns=("answer em", "answer f1"),
    rows={
        "the paper, TF-IDF": ("34.6", "41.6"),
        "the paper, sentence level": ("39.3", "46.2"),
        "the paper, paragraph level": ("35.6", "42.5"),
    },
    measure="answer em",
    ratios="The paper: sentence level / TF-IDF 1.14, paragraph level / TF-IDF 1.03.",
)


def main() -> None:
    parser = comparison_arguments(__doc__, skip=0)
    parser.add_argument("--narrow", type=int, help="Paragraphs that are searched [the KB's].")
    asked = parser.parse_args()
    questions = some_of(shuffled(read_questions(asked.questions)), asked.skip, asked.count)

    def one_hop(config: Config) -> Config:
        narrow = asked.narrow or config.retrieve.narrow[0]
        return replace(config, retrieve=replace(config.retrieve, hops=1, narrow=(narrow,)))

    def where_lost(knowledge: KnowledgeBase, reader: ChainReader, scored: Scored) -> Further:
        alone = read_found(every_own, reader, questions, {OWN: ReadConfig()})[OWN]
        predictions = predictions_of(answered(questions, alone))
        rows = scored | {OWN: score_questions(predictions, questions)}
        found = [found_by_words(knowledge, one, asked.chains) for one in questions]
        return told_by_group(rows, found)

    compare(
        asked, questions, PUBLISHED, lexical=lexical_paragraphs, settings=one_hop, more=where_lost
    )


def found_by_words(knowledge: KnowledgeBase, asked: BenchmarkQuestion, keep: int) -> bool:
    """Whether TF-IDF's best paragraphs hold the question's own."""
    gold = {gold_key(knowledge.store, one) for one in asked.gold.paragraphs}
    hops = knowledge.narrow(asked.question.text, keep, "tfidf")
    return bool(gold & {hop.paragraph for hop in hops})


def told_by_group(rows: Scored, found: Sequence[bool]) -> Further:
    """The exact matches of each row, where TF-IDF finds the own paragraph and where it does not."""
    groups = {"found": [*found], "not found": [not one for one in found]}
    exact = {
        row: {
            name: mean_of([em for em, counts in zip(of_row, group, strict=True) if counts])
            for name, group in groups.items()
            if any(group)
        }
        for row, of_row in ((row, values_of(scores, "answer em")) for row, scores in rows.items())
    }
    counts = {name: sum(group) for name, group in groups.items()}
    heads = [f"own paragraph {name} by TF-IDF ({counts[name]})" for name in groups if counts[name]]
    lines = [[row, *map(per_cent, own.values())] for row, own in exact.items()]
    text = (
        f"Answers' EM by whether TF-IDF finds the own paragraph\n\n{markdown(['', *heads], lines)}"
    )
    return Further(text, {"by_tfidf": {"counts": counts, "answer em": exact}})


if __name__ == "__main__":
    main()
