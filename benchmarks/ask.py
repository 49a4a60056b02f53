"""`muppet ask` end to end: seconds, memory, and each stage's share, against the bare networks.

    python benchmarks/ask.py KB --count 50

The bare networks are the very forward passes that the questions needed, run again by themselves:
what is above them is ours. Runs in a process of its own, so its memory is its own. Read the ratios
and the shares, not the times.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT.parent / "shared" / "data" / "hotpotqa" / "dev.json.xz"
BATCH = 16

Facts = dict[str, Any]


class Watched:
    """A network that remembers what it ran, and for how long."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401
        self.session = session
        self.runs: list[tuple[Any, Any]] = []
        self.seconds = 0.0

    def run(self, names: Any, fields: Any) -> Any:  # noqa: ANN401
        began = time.perf_counter()
        found = self.session.run(names, fields)
        self.seconds += time.perf_counter() - began
        self.runs.append((names, fields))
        return found

    def again(self) -> float:
        """Seconds that all runs take by themselves."""
        began = time.perf_counter()
        for names, fields in self.runs:
            self.session.run(names, fields)
        return time.perf_counter() - began


def measure(kb: Path, file: Path, count: int, reader: Path | None) -> Facts:
    """Everything, in a process that has done nothing else."""
    began = time.perf_counter()
    from muppet.corpus.benchmarks import read_questions
    from muppet.pipeline import open_muppet

    muppet = open_muppet(kb, reader=reader)
    loaded = time.perf_counter() - began
    questions = [one.question.text for one in read_questions(file)[:count]]
    muppet.ask(questions[0])  # the first question maps the files
    graphs = muppet.retriever.encoder._graphs
    text, relevance, read = (
        Watched(session) for session in (graphs._text, graphs._relevance, muppet.reader._read)
    )
    graphs._text, graphs._relevance = text, relevance  # type: ignore[assignment]
    muppet.reader._read = read  # type: ignore[assignment]
    words = Watched(None)
    narrow = muppet.knowledge.narrow_many

    def timed(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        since = time.perf_counter()
        found = narrow(*given, **named)
        words.seconds += time.perf_counter() - since
        return found

    muppet.knowledge.narrow_many = timed  # type: ignore[method-assign]
    seconds = []
    for question in questions:
        since = time.perf_counter()
        muppet.ask(question)
        seconds.append(time.perf_counter() - since)
    whole = sum(seconds)
    watched = {"encode": text, "score": relevance, "read": read}
    shares = {"narrow": words.seconds / whole} | {
        name: one.seconds / whole for name, one in watched.items()
    }
    bare = sum(one.again() for one in watched.values())
    since = time.perf_counter()
    for first in range(0, len(questions), BATCH):
        muppet.ask_many(questions[first : first + BATCH])
    batch = time.perf_counter() - since
    return {
        "paragraphs": muppet.knowledge.store.count_paragraphs(),
        "questions": len(questions),
        "chains_read": muppet.config.chains,
        "load_seconds": loaded,
        "p50_seconds": statistics.median(seconds),
        "p95_seconds": statistics.quantiles(seconds, n=20)[-1],
        "batch_questions_a_second": len(questions) / batch,
        "whole / bare networks": whole / bare,
        "shares": shares | {"the rest": 1 - sum(shares.values())},
        "resident_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb", type=Path)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--reader", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--alone", action="store_true", help="In this process.")
    given = parser.parse_args()
    if not given.alone:
        command = [sys.executable, __file__, *sys.argv[1:], "--alone", "--json"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        facts = json.loads(done.stdout)
    else:
        facts = measure(given.kb, given.questions, given.count, given.reader)
    if given.json:
        print(json.dumps(facts))
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{part} {share:.0%}" for part, share in value.items())
        print(f"{name:26} {value:.3f}" if isinstance(value, float) else f"{name:26} {value}")


if __name__ == "__main__":
    main()
