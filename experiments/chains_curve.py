"""How good answers are when so many chains are read.

    python experiments/chains_curve.py KB QUESTIONS --count 100 --out OUT        # to choose
    python experiments/chains_curve.py KB QUESTIONS --skip 200 --out docs/figures/chains

All 45 chains of a question are read once; then the answer is chosen among the first 1, 2, 4, … of
them. The default of `read.chains` is chosen on the first 100 questions of HotpotQA's dev, so what
is shown is of others. Writes OUT.json and OUT.png.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from shared import reading_all

from muppet.cli.progress import ProgressLine
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.domain import Result
from muppet.evaluate.asking import answered, predictions_of
from muppet.evaluate.finding import by_model
from muppet.evaluate.reading import read_found
from muppet.evaluate.report import score_predictions
from muppet.knowledge.open import KnowledgeBase
from muppet.pipeline import shipped_reader
from muppet.read.reader import ChainReader
from muppet.retrieve.retriever import open_retriever

mpl.use("Agg")
from matplotlib import pyplot as plt

COUNTS = (1, 2, 4, 8, 16, 32, 45)
COLOURS = {"answer": "#0072b2", "support": "#009e73", "joint": "#d55e00"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--reader", type=Path, default=shipped_reader())
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--count", type=int)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    past = asked.skip + asked.count if asked.count else None
    questions = read_questions(asked.questions)[asked.skip : past]
    progress = ProgressLine()
    with KnowledgeBase(asked.kb) as knowledge:
        find = by_model(open_retriever(knowledge))
        settings = {count: reading_all(knowledge.config.read, count) for count in COUNTS}
        found = read_found(find, ChainReader(asked.reader, 2), questions, settings, progress)
    progress.close()
    curve = {count: scores(questions, results) for count, results in found.items()}
    content = {"questions": len(questions), "f1_by_chains": curve}
    asked.out.with_suffix(".json").write_text(json.dumps(content) + "\n", encoding="utf-8")
    draw(curve, asked.out.with_suffix(".png"))
    for count, row in curve.items():
        told = "  ".join(f"{name} F1 {value:.1f}" for name, value in row.items())
        sys.stdout.write(f"{count:>3} chains  {told}\n")


def scores(
    questions: Sequence[BenchmarkQuestion], results: Mapping[str, Result]
) -> dict[str, float]:
    """F1 of answers, support and both, in per cent."""
    report = score_predictions(predictions_of(answered(questions, results)), questions)
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
