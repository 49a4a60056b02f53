"""The reader on the paragraphs that a question's file gives it: Table 1's distractor setting.

    python experiments/distractor.py ../shared/data/hotpotqa/dev.json.xz --first 100
    python experiments/distractor.py ../shared/data/squad/dev.json.xz --count 1000

HotpotQA: of the 45 pairs of the ten paragraphs those that the encoder believes in most are read,
or with --all every pair, beside the numbers of the paper and of its baseline. SQuAD: the question's
own paragraph is read. The first 100 HotpotQA questions chose the shipped reader's checkpoint, so
they are left out of what is reported.
"""

import argparse
import json
import sys
from pathlib import Path

from muppet.cli.progress import ProgressLine
from muppet.config import ReadConfig
from muppet.corpus.benchmarks import read_questions
from muppet.encode.encoder import TextEncoder
from muppet.evaluate.asking import predictions_of, read_own
from muppet.evaluate.report import bootstrap_interval, score_questions
from muppet.knowledge.encode import shipped_encoder
from muppet.pipeline import shipped_reader
from muppet.read.reader import ChainReader

PUBLISHED = {
    "the paper (90,447 questions)": {"answer": (51.56, 65.32), "support": (44.54, 75.27),
                                     "joint": (28.68, 54.08)},
    "its baseline": {"answer": (44.44, 58.28), "support": (21.95, 66.66), "joint": (11.56, 40.86)},
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("--reader", type=Path, default=shipped_reader())
    parser.add_argument("--model", type=Path, default=shipped_encoder())
    parser.add_argument("--all", action="store_true", help="Read all pairs, without the encoder.")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    past = asked.first + asked.count if asked.count else None
    questions = read_questions(asked.questions)[asked.first : past]
    progress = ProgressLine()
    reader = ChainReader(asked.reader, asked.threads)
    encoder = None if asked.all else TextEncoder(asked.model, asked.threads)
    found = read_own(reader, questions, ReadConfig(), progress, encoder)
    progress.close()
    scores = score_questions(predictions_of(found), questions)
    row: dict[str, dict[str, object]] = {}
    for part in ("answer", "support", "joint"):
        own = [getattr(one, part) for one in scores if getattr(one, part)]
        for metric in ("em", "f1"):
            values = [100 * getattr(one, metric) for one in own]
            if values:
                mean, interval = sum(values) / len(values), bootstrap_interval(values, seed=1)
                row.setdefault(part, {})[metric] = mean
                row[part][f"{metric}_interval"] = interval
    if asked.json:
        sys.stdout.write(json.dumps({"questions": len(questions), **row}) + "\n")
        return
    sys.stdout.write(f"{len(questions)} questions, EM / F1 in per cent (95 % intervals)\n")
    for part, numbers in row.items():
        told = [
            "{:.1f} ({:.1f}-{:.1f})".format(numbers[m], *numbers[f"{m}_interval"])  # type: ignore[misc]
            for m in ("em", "f1")
        ]
        sys.stdout.write(f"{part:8} {' / '.join(told)}\n")
        for name, published in PUBLISHED.items():
            if "joint" in row:
                sys.stdout.write(
                    "         {:.2f} / {:.2f}  ".format(*published[part]) + f"{name}\n"
                )


if __name__ == "__main__":
    main()
