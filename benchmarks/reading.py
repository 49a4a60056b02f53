"""Reading chains against the bare forward pass on the same batches, in one run.

    python benchmarks/reading.py                    the shipped reader, demo paragraphs
    python benchmarks/reading.py --reader READER    another one

For every question 45 chains of two paragraphs are read as `muppet ask` reads them: texts made
ready, the exported graph, answers chosen and merged. The bare pass runs the graph alone on the
very batches that were made on the way. Read the ratio, not the times.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

from muppet.config import ReadConfig
from muppet.corpus.sources import Sources
from muppet.domain import Document, Paragraph
from muppet.pipeline import shipped_reader
from muppet.read.reader import ChainReader
from replay import Recorded

DEMO = Path(__file__).resolve().parent.parent / "src" / "muppet" / "demo"
CHAINS, OWN = 45, 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reader", type=Path, default=shipped_reader())
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    reader = ChainReader(asked.reader, asked.threads)
    questions = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
    documents = Sources([DEMO / "paragraphs.jsonl"])
    paragraphs = [
        Paragraph(one.title, one.title, one.sentences or (one.text,))
        for one in documents
        if isinstance(one, Document)
    ]
    ratios, whole_times = [], []
    for place, question in enumerate(questions[: asked.questions]):
        own = [paragraphs[(OWN * place + step) % len(paragraphs)] for step in range(OWN)]
        chains = list(combinations(own, 2))
        assert len(chains) == CHAINS
        whole, bare = compare(reader, question["question"], chains, asked.rounds, asked.threads)
        ratios.append(whole / bare)
        whole_times.append(whole)
    facts = {
        "machine": platform.machine(),
        "threads": asked.threads,
        "questions": len(ratios),
        "chains": CHAINS,
        "seconds_a_question": statistics.median(whole_times),
        "ratio": statistics.median(ratios),
        "worst_ratio": max(ratios),
    }
    if asked.json:
        print(json.dumps(facts))
        return
    for name, value in facts.items():
        print(f"{name:20} {value if isinstance(value, str | int) else format(value, '.3f')}")


def compare(
    reader: ChainReader,
    question: str,
    chains: Sequence[Sequence[Paragraph]],
    rounds: int,
    threads: int,
) -> tuple[float, float]:
    """Seconds to answer from these chains, and seconds of the graph alone on as many threads."""
    session, recorded = reader._read, Recorded(reader._read)
    reader._read = recorded  # type: ignore[assignment]
    reader.answers(question, chains, ReadConfig())
    reader._read = session
    whole = fastest(lambda: reader.answers(question, chains, ReadConfig()), rounds)
    return whole, min(recorded.again(threads) for _ in range(rounds))


def fastest(work: Callable[[], object], rounds: int) -> float:
    """The least disturbed of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


if __name__ == "__main__":
    main()
