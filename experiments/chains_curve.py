"""How good answers are when so many chains are read: the default of `read.chains` is chosen here.

    python experiments/chains_curve.py KB QUESTIONS --first 200 --out docs/figures/chains

All 45 chains of a question are read once; then the answer is chosen among the first 1, 2, 4, … of
them. Writes OUT.json and OUT.png.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from muppet.cli.progress import ProgressLine
from muppet.config import ReadConfig
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.evaluate.asking import Answered, predictions_of
from muppet.evaluate.report import score_predictions
from muppet.knowledge.open import KnowledgeBase
from muppet.pipeline import shipped_reader
from muppet.read.answers import ChainRead, choose_answers, with_retrieval
from muppet.read.reader import ChainReader
from muppet.retrieve.retriever import Retriever, open_retriever

mpl.use("Agg")
from matplotlib import pyplot as plt

COUNTS = (1, 2, 4, 8, 16, 32, 45)
AT_ONCE = 8
COLOURS = {"answer": "#0072b2", "support": "#009e73", "joint": "#d55e00"}
Read = tuple[BenchmarkQuestion, list[ChainRead]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--reader", type=Path, default=shipped_reader())
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    past = asked.first + asked.count if asked.count else None
    questions = read_questions(asked.questions)[asked.first : past]
    with KnowledgeBase(asked.kb) as knowledge:
        config = knowledge.config.read
        found = read_all(open_retriever(knowledge), ChainReader(asked.reader, 2), questions, config)
    curve = {count: scores(found, count, config) for count in COUNTS}
    content = {"questions": len(questions), "f1_by_chains": curve}
    asked.out.with_suffix(".json").write_text(json.dumps(content) + "\n", encoding="utf-8")
    draw(curve, asked.out.with_suffix(".png"))
    for count, row in curve.items():
        told = "  ".join(f"{name} F1 {value:.1f}" for name, value in row.items())
        sys.stdout.write(f"{count:>3} chains  {told}\n")


def read_all(
    retriever: Retriever,
    reader: ChainReader,
    questions: Sequence[BenchmarkQuestion],
    config: ReadConfig,
) -> list[Read]:
    """Every question with all its chains, best first, as they were read."""
    progress = ProgressLine()
    found: list[Read] = []
    for first in range(0, len(questions), AT_ONCE):
        some = questions[first : first + AT_ONCE]
        for asked, one in zip(
            some, retriever.retrieve_many([each.question.text for each in some]), strict=True
        ):
            ranked = one.chains[: max(COUNTS)]
            pairs = [
                (one.question, [one.paragraphs[number] for number in each.chain.paragraphs])
                for each in ranked
            ]
            read = [
                with_retrieval(chain, each.score, each.chain.sentences, config)
                for chain, each in zip(reader.read(pairs), ranked, strict=True)
            ]
            found.append((asked, read))
        progress("reading", len(found), len(questions))
    progress.close()
    return found


def scores(found: Sequence[Read], count: int, config: ReadConfig) -> dict[str, float]:
    """F1 of answers, support and both, in per cent, if so many chains are read."""
    items = [
        Answered(
            asked,
            choose_answers(read[:count], config),
            {one.id: one.title for chain in read[:count] for one in chain.paragraphs},
        )
        for asked, read in found
    ]
    report = score_predictions(predictions_of(items), [asked for asked, _ in found])
    return {name: 100 * part["f1"] for name, part in report.answer_parts().items()}


def draw(curve: dict[int, dict[str, float]], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(5, 3.4), layout="constrained")
    for name, colour in COLOURS.items():
        axes.plot(
            list(curve), [row[name] for row in curve.values()], "o-", color=colour, label=name
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks(COUNTS, [str(count) for count in COUNTS])
    axes.set_xlabel("chains that are read")
    axes.set_ylabel("F1 (%)")
    axes.set_ylim(bottom=0)
    axes.grid(color="#d0d0d0", linewidth=0.6)
    axes.legend(frameon=False)
    axes.spines[["right", "top"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
