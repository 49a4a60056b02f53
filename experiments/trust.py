"""What a calibrated reader's probabilities are worth on questions that calibrated nothing.

    python experiments/trust.py KB QUESTIONS --skip 200 --out docs/figures/trust

Each question is asked as it is, and again with its gold paragraphs hidden, so that the answer is
not in the documents. Writes OUT.json and OUT.png: the reliability of the probabilities, the risk
of answering so large a share of the questions, and who gets an answer.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import matplotlib as mpl

from muppet.cli.progress import ProgressLine
from muppet.corpus.benchmarks import read_questions
from muppet.evaluate.calibration import Judged, judge, trust
from muppet.pipeline import open_muppet
from muppet.read.calibrate import reliability, risk_coverage

mpl.use("Agg")
from matplotlib import pyplot as plt

BLUE, RED = "#0072b2", "#d55e00"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--reader", type=Path)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--count", type=int)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    past = asked.skip + asked.count if asked.count else None
    questions = read_questions(asked.questions)[asked.skip : past]
    progress = ProgressLine()
    with open_muppet(asked.kb, reader=asked.reader, progress=progress) as muppet:
        threshold = muppet.reader.threshold
        judged = judge(
            lambda some, hidden: muppet.ask_many(some, progress, hidden),
            muppet.knowledge,
            questions,
        )
    progress.close()
    facts = {"questions": len(questions), "threshold": threshold} | asdict(trust(judged, threshold))
    asked.out.with_suffix(".json").write_text(json.dumps(facts) + "\n", encoding="utf-8")
    draw(judged, asked.out.with_suffix(".png"))
    for name, value in facts.items():
        sys.stdout.write(f"{name:12} {value:.3g}\n")


def draw(judged: Judged, path: Path) -> None:
    """Left, what was said against what was true; right, the risk of answering more."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    bins = reliability(judged.probabilities, judged.right, bins=8)
    left.plot([0, 1], [0, 1], color="#b0b0b0", linewidth=1)
    left.plot([one.probability for one in bins], [one.right for one in bins], "o-", color=BLUE)
    for one in bins:
        left.annotate(str(one.count), (one.probability, one.right), fontsize=7,
                      xytext=(4, -9), textcoords="offset points")  # fmt: skip
    left.set(xlabel="probability that was said", ylabel="share that was right", title="Reliability")
    curve = risk_coverage(judged.probabilities, judged.right)
    right.plot(curve.coverage, curve.risk, color=RED)
    right.set(xlabel="share of the questions answered", ylabel="share of answers wrong",
              title="Risk and coverage")  # fmt: skip
    for axes in (left, right):
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.grid(color="#d0d0d0", linewidth=0.6)
        axes.spines[["right", "top"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
