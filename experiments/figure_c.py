"""How many paragraphs the second hop should search: the paper's Figure (c) (checklist 32).

    python experiments/figure_c.py KB QUESTIONS sentence=MODEL paragraph=OTHER --out FIGURE.png

Each model has encoded KB before (`muppet encode KB --model MODEL`). The first hop stays as the
knowledge base's settings say; the second narrows to 16 .. 4096 paragraphs by the question's words,
and at last searches all of them. However many are searched, the same questions are reformulated
with the same first paragraphs, so that is done once.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.domain import Paragraph, silent
from muppet.encode.encoder import TextEncoder
from muppet.evaluate.retrieval import evaluate_systems, model_chains
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.retriever import open_retriever

mpl.use("Agg")
from matplotlib import pyplot as plt

WIDTHS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
CUTOFFS = (1, 8, 45)
COLOURS = ("#0072b2", "#d55e00", "#009e73")
Curve = dict[str, dict[int, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("models", nargs="+", help="NAME=MODEL")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without-all", action="store_true", help="leave pool = all out")
    asked = parser.parse_args()
    questions = read_questions(asked.questions)[asked.skip :]
    curves = {}
    with KnowledgeBase(asked.kb) as knowledge:
        for pair in asked.models:
            name, _, model = pair.partition("=")
            curves[name] = curve(knowledge, Path(model), questions, asked.without_all)
    sys.stdout.write(json.dumps(curves) + "\n")
    draw(curves, asked.out, "paragraphs searched in the second hop")


class Remembering(TextEncoder):
    """An encoder that reformulates a question with a chain once."""

    def __init__(self, model: Path) -> None:
        super().__init__(model, threads=2)
        self._known: dict[tuple[str, ...], NDArray[np.float32]] = {}

    def reformulated(
        self, questions: Sequence[str], chains: Sequence[Sequence[Paragraph]]
    ) -> list[NDArray[np.float32]]:
        """(D,) each"""
        asked = [
            (question, *(paragraph.id for paragraph in chain))
            for question, chain in zip(questions, chains, strict=True)
        ]
        new = [place for place, one in enumerate(asked) if one not in self._known]
        found = super().reformulated([questions[n] for n in new], [chains[n] for n in new])
        self._known |= {asked[place]: one for place, one in zip(new, found, strict=True)}
        return [self._known[one] for one in asked]


def curve(
    knowledge: KnowledgeBase, model: Path, questions: Sequence[BenchmarkQuestion], without_all: bool
) -> Curve:
    """Perfect@k for every number of paragraphs, and for all."""
    base = knowledge.config.retrieve
    settings = {
        str(n): replace(base, narrow=(base.narrow[0], n), pools=("question",)) for n in WIDTHS
    }
    if not without_all:
        settings["all"] = replace(base, pools=("question", "all"))
    points: Curve = {}
    encoder = Remembering(model)
    for name, config in settings.items():
        opened = open_retriever(knowledge, model, config)
        opened.encoder = encoder
        system = model_chains(opened)
        report = evaluate_systems(knowledge, {name: system}, questions, silent)[name]
        assert report.retrieval is not None
        points[name] = {k: report.retrieval.perfect[k] for k in CUTOFFS}
        sys.stderr.write(f"{model} {name}: {points[name]}\n")
    return points


def draw(curves: dict[str, Curve], path: Path, searched: str) -> None:
    """A panel for each cutoff, a curve for each model."""
    figure, panels = plt.subplots(
        1, len(CUTOFFS), figsize=(12, 4), layout="constrained", sharey=True
    )
    for panel, cutoff in zip(panels, CUTOFFS, strict=True):
        for (name, points), colour in zip(curves.items(), COLOURS, strict=False):
            shares = [100 * point[cutoff] for point in points.values()]
            panel.plot(list(points), shares, marker="o", color=colour, label=name)
        panel.set_title(f"perfect@{cutoff}")
        panel.set_xlabel(searched)
        panel.tick_params(axis="x", labelrotation=45)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("% of questions")
    panels[0].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
