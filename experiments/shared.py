"""What several experiments need: arguments, some of a file's questions, tables with intervals."""

import argparse
import json
import math
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path

from muppet.config import Config, ReadConfig, load_config
from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.evaluate.bootstrap import Estimate, mean_of
from muppet.evaluate.narrowing import count_missing
from muppet.evaluate.report import QuestionScores
from muppet.knowledge.open import KnowledgeBase
from muppet.pipeline import shipped_reader

SHUFFLE = 1
"""The seed by which questions are shuffled whose neighbours are alike."""
PARTS = ("answer", "support", "joint")


def arguments(doc: str, *, skip: int) -> argparse.ArgumentParser:
    """Those that every experiment on a knowledge base has."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("--config", type=Path, help="Settings, as TOML [default: the KB's].")
    parser.add_argument("--model", type=Path, help="An exported encoder [default: the KB's].")
    parser.add_argument(
        "--skip", type=int, default=skip, help="Leave so many questions out [%(default)s]."
    )
    parser.add_argument("--count", type=int, help="Then take so many [default: all].")
    parser.add_argument("--json", action="store_true", help="Print one JSON object.")
    return parser


def add_reader(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reader", type=Path, default=shipped_reader(), help="[the shipped one]")
    parser.add_argument("--threads", type=int, default=2, help="Of the reader [%(default)s].")


def settings_of(knowledge: KnowledgeBase, config: Path | None) -> Config:
    return load_config(config) if config else knowledge.config


def reading_all(config: ReadConfig, chains: int) -> ReadConfig:
    """So many chains are read, however sure an answer is and little retrieval thinks of them."""
    return replace(config, chains=chains, margin=math.inf, one_hop=1.0, sure=1.0)


def some_of(
    questions: Sequence[BenchmarkQuestion], skip: int, count: int | None
) -> list[BenchmarkQuestion]:
    found = list(questions[skip : None if count is None else skip + count])
    if not found:
        sys.exit(f"There is no question left behind the first {skip}.")
    return found


def shuffled(questions: Sequence[BenchmarkQuestion]) -> list[BenchmarkQuestion]:
    """In an order that is always the same, so that the first of them are a sample of all."""
    return random.Random(SHUFFLE).sample(questions, len(questions))


def warn_of_missing(knowledge: KnowledgeBase, questions: Sequence[BenchmarkQuestion]) -> None:
    missing = count_missing(knowledge.store, questions)
    if missing:
        say(f"{missing} gold paragraphs are not in {knowledge.directory}: they are never found.")


def values_of(scores: Sequence[QuestionScores], measure: str) -> list[float]:
    """What each question scored of a measure such as `joint f1`."""
    part, metric = measure.split()
    return [getattr(getattr(one, part), metric) for one in scores]


def means_of(scores: Sequence[QuestionScores]) -> dict[str, Estimate]:
    """All measures that were computed, such as `joint f1`."""
    computed = [part for part in PARTS if getattr(scores[0], part)]
    measures = [f"{part} {metric}" for part in computed for metric in ("em", "f1")]
    return {measure: mean_of(values_of(scores, measure)) for measure in measures}


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def head(measure: str) -> str:
    return measure.replace("em", "EM").replace("f1", "F1")


def per_cent(one: Estimate) -> str:
    return f"{100 * one.value:.1f} ({100 * one.low:.1f} to {100 * one.high:.1f})"


def times(one: Estimate) -> str:
    return f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})"


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def tell(text: str, facts: object, *, as_json: bool) -> None:
    """To stdout: the text, or the facts in one line of JSON, infinite numbers as null."""
    sys.stdout.write((json.dumps(_plain(facts)) if as_json else text) + "\n")


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
