"""`muppet ask` end to end: seconds, memory, and each stage's share, against the bare networks.

    python benchmarks/ask.py KB --count 50
    python benchmarks/ask.py KB --config SETTINGS.toml      # such as retrieve.on_demand

Every question is asked once before it is timed, so that files are mapped and, on demand, paragraphs
encoded. The bare networks are the very forward passes that the questions needed, run again by
themselves: what is above them is ours. Runs in a process of its own, so its memory is its own. Read
the ratios and the shares, not the times.
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

from replay import Recorded, Stopwatch

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT.parent / "shared" / "data" / "hotpotqa" / "dev.json.xz"
BATCH = 16
THREADS = 2

Facts = dict[str, Any]


def measure(
    kb: Path, file: Path, count: int, reader_directory: Path | None, settings: Path | None
) -> Facts:
    """Everything, in a process that has done nothing else."""
    began = time.perf_counter()
    from muppet.config import load_config
    from muppet.corpus.benchmarks import read_questions
    from muppet.pipeline import open_muppet

    config = load_config(settings) if settings else None
    muppet = open_muppet(kb, config=config, reader=reader_directory, threads=THREADS)
    loaded = time.perf_counter() - began
    questions = [one.question.text for one in read_questions(file)[:count]]
    muppet.ask_many(questions)
    encoder, reader = muppet.retriever.encoder, muppet.reader
    graphs = encoder._graphs
    text, relevance, read = map(Recorded, (graphs._text, graphs._relevance, reader._read))
    graphs._text, graphs._relevance, reader._read = text, relevance, read  # type: ignore[assignment]
    stages = {
        "narrow": Stopwatch(muppet.knowledge.narrow_many),
        "encode": Stopwatch(encoder._chunked.run),
        "read": Stopwatch(reader._chunked.run),
    }
    muppet.knowledge.narrow_many = stages["narrow"]  # type: ignore[method-assign]
    encoder._chunked.run = stages["encode"]  # type: ignore[method-assign]
    reader._chunked.run = stages["read"]  # type: ignore[method-assign]
    seconds = []
    for question in questions:
        since = time.perf_counter()
        muppet.ask(question)
        seconds.append(time.perf_counter() - since)
        for one in (text, relevance, read):
            one.mark()
    whole = sum(seconds)
    shares = {name: stage.seconds / whole for name, stage in stages.items()}
    chains_read = stages["read"].items / len(questions)
    bare = relevance.again(1) + sum(one.again(THREADS) for one in (text, read))
    since = time.perf_counter()
    for first in range(0, len(questions), BATCH):
        muppet.ask_many(questions[first : first + BATCH])
    batch = time.perf_counter() - since
    return {
        "paragraphs": muppet.knowledge.store.count_paragraphs(),
        "questions": len(questions),
        "chains_at_most": muppet.config.chains,
        "chains_read": chains_read,
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
    parser.add_argument("--config", type=Path, help="Settings, as TOML [default: the KB's].")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--alone", action="store_true", help="In this process.")
    given = parser.parse_args()
    if not given.alone:
        command = [sys.executable, __file__, *sys.argv[1:], "--alone", "--json"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        facts = json.loads(done.stdout)
    else:
        facts = measure(given.kb, given.questions, given.count, given.reader, given.config)
    if given.json:
        print(json.dumps(facts))
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{part} {share:.0%}" for part, share in value.items())
        print(f"{name:26} {value:.3f}" if isinstance(value, float) else f"{name:26} {value}")


if __name__ == "__main__":
    main()
