"""How many paragraphs a question of one hop should search: the paper's Figure (b) (checklist 32).

    python experiments/figure_b.py KB QUESTIONS sentence=MODEL paragraph=OTHER --out FIGURE.png

SQuAD-Open: is the question's own paragraph the first, or among the first 8 or 45, where 8 .. 256
that words find are searched? By any number of models, say of sentence and of paragraph level
(checklist 31), or trained on one benchmark and on several. What they have not encoded yet is
encoded on demand. SQuAD's questions stand article by article: they are shuffled by a fixed seed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from figure_c import CUTOFFS, Curve, draw
from shared import settings_of, shuffled, some_of

from muppet.cli.progress import ProgressLine
from muppet.config import RetrieveConfig
from muppet.corpus.benchmarks import BenchmarkQuestion, read_questions
from muppet.evaluate.finding import by_model, find_all, score_found
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.retriever import open_retriever

WIDTHS = (8, 16, 32, 64, 128, 256)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("models", nargs="+", help="NAME=MODEL")
    parser.add_argument("--config", type=Path, help="Settings, as TOML [default: the KB's].")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--count", type=int, help="Then take so many [default: all].")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    questions = some_of(shuffled(read_questions(asked.questions)), asked.skip, asked.count)
    curves = {}
    with KnowledgeBase(asked.kb) as knowledge:
        base = replace(settings_of(knowledge, asked.config).retrieve, hops=1, on_demand=True)
        for pair in asked.models:
            name, _, model = pair.partition("=")
            curves[name] = curve(knowledge, Path(model), base, questions)
    sys.stdout.write(json.dumps(curves) + "\n")
    draw(curves, asked.out, "paragraphs searched")


def curve(
    knowledge: KnowledgeBase,
    model: Path,
    base: RetrieveConfig,
    questions: Sequence[BenchmarkQuestion],
) -> Curve:
    """How often the own paragraph is among the first k, for every number of paragraphs."""
    progress = ProgressLine()
    retriever = open_retriever(knowledge, model, base, progress)
    points: Curve = {}
    for width in WIDTHS:
        find = by_model(retriever.with_config(replace(base, narrow=(width,))))
        found = find_all(find, questions, f"{model}, {width}", progress)
        scores = score_found(knowledge, questions, found)
        points[str(width)] = {k: fmean(one.perfect[k] for one in scores) for k in CUTOFFS}
    progress.close()
    return points


if __name__ == "__main__":
    main()
