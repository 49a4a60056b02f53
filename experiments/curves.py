"""Training runs → a figure: loss, and what dev says, against minutes.

python experiments/curves.py runs/small runs/paper-hotpot --out docs/figures/training.png
"""

import argparse
import json
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
SMOOTH = 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", required=True, type=Path)
    asked = parser.parse_args()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for run, colour in zip(asked.runs, COLOURS, strict=False):
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        steps = [line for line in lines if line["event"] == "step"]
        second = [sum(v for k, v in line.items() if k.endswith("_2")) for line in steps]
        window = np.ones(SMOOTH) / SMOOTH
        smooth = np.convolve(second, window, mode="valid")
        minutes = np.array([line["seconds"] for line in steps[SMOOTH - 1 :]]) / 60
        left.plot(minutes, smooth / smooth[0], color=colour, label=run.name)
        dev = [line for line in lines if line["event"] == "dev"]
        at = [line["seconds"] / 60 for line in dev]
        right.plot(
            at,
            [100 * line["second_hop_ap"] for line in dev],
            "o-",
            color=colour,
            ms=4,
            label=f"{run.name}: second-hop average precision",
        )
        right.plot(
            at,
            [100 * line["pair_first"] for line in dev],
            "s--",
            color=colour,
            ms=4,
            label=f"{run.name}: gold pair first",
        )
    left.set(xlabel="minutes", ylabel="second-hop loss, relative to its start", ylim=(0, None))
    right.set(xlabel="minutes", ylabel="dev (%)", ylim=(0, 100))
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(asked.out, dpi=130)


if __name__ == "__main__":
    main()
