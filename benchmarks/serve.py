"""A server under load, against the same questions in batch, in one run.

    python benchmarks/serve.py --kb KB                     50 users for 60 s
    python benchmarks/serve.py --kb KB --seconds 10        only to see that it works

Every user asks, waits for the answer, and asks again. Reported: errors, p50 and p99, how the
server's memory grows from the second quarter to the last, and its throughput as a ratio to
`Muppet.ask_many` over the same questions, before and after. Read the ratios, not the times.
"""

import argparse
import asyncio
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2

from muppet.pipeline import AT_ONCE, open_muppet

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT / "src" / "muppet" / "demo" / "questions.json"
PAUSE = 0.25
"""Seconds between two looks at the server's memory."""

Facts = dict[str, Any]


@dataclass(slots=True)
class Seen:
    """What the users and the watcher of the memory saw."""

    latencies: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    megabytes: list[float] = field(default_factory=list)


@contextmanager
def server(given: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """The address of a server process and its id; it is told to stop in the end."""
    muppet = Path(sys.executable).with_name("muppet")
    command = [muppet, "serve", given.kb, "--port", "0", "--queue", str(4 * given.users)]
    command += ["--seconds", str(max(60, 4 * given.seconds)), *options(given)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        found = re.search(r"http://\S+", process.stdout.readline())
        if not found:
            raise SystemExit("The server did not start.")
        try:
            yield found[0], process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def options(given: argparse.Namespace) -> list[str]:
    named = [("--model", given.model), ("--reader", given.reader)]
    return [part for name, path in named if path for part in (name, str(path))]


async def user(
    client: httpx2.AsyncClient, questions: Iterator[str], seen: Seen, end: float
) -> None:
    while time.perf_counter() < end:
        began = time.perf_counter()
        try:
            response = await client.post("/api/ask", json={"question": next(questions)})
            seen.statuses[str(response.status_code)] += 1
        except httpx2.HTTPError as error:
            seen.statuses[type(error).__name__] += 1
        seen.latencies.append(time.perf_counter() - began)


async def watch_memory(process: int, seen: Seen, end: float) -> None:
    while time.perf_counter() < end:
        status = Path(f"/proc/{process}/status").read_text()
        found = re.search(r"RssAnon:\s+(\d+)", status)
        seen.megabytes.append(int(found[1]) / 1024 if found else 0.0)
        await asyncio.sleep(PAUSE)


async def load(address: str, process: int, texts: list[str], given: argparse.Namespace) -> Facts:
    seen, questions = Seen(), cycle(texts)
    limits = httpx2.Limits(max_connections=given.users)
    async with httpx2.AsyncClient(base_url=address, timeout=None, limits=limits) as client:
        await client.post("/api/ask", json={"question": texts[0]})  # the first call warms up
        began = time.perf_counter()
        end = began + given.seconds
        users = [user(client, questions, seen, end) for _ in range(given.users)]
        await asyncio.gather(watch_memory(process, seen, end), *users)
        took = time.perf_counter() - began
        metrics = (await client.get("/metrics")).text
    return facts_of(seen, took, metrics)


def facts_of(seen: Seen, took: float, metrics: str) -> Facts:
    quarter = max(1, len(seen.megabytes) // 4)
    first, last = seen.megabytes[quarter : 2 * quarter], seen.megabytes[-quarter:]
    latencies = sorted(seen.latencies)
    batches = re.findall(r'muppet_batch_questions_(count|sum)\{kind="ask"\} ([\d.]+)', metrics)
    sizes = {name: float(value) for name, value in batches}
    return {
        "answers": seen.statuses["200"],
        "errors": {name: count for name, count in seen.statuses.items() if name != "200"},
        "p50_s": statistics.median(latencies),
        "p99_s": latencies[min(len(latencies) - 1, round(0.99 * len(latencies)))],
        "questions_per_s": seen.statuses["200"] / took,
        "questions_per_batch": sizes["sum"] / sizes["count"],
        "memory_second_quarter_mb": statistics.mean(first or seen.megabytes),
        "memory_last_quarter_mb": statistics.mean(last),
        "memory_growth": statistics.mean(last) / statistics.mean(first or seen.megabytes),
    }


def in_batch(texts: list[str], given: argparse.Namespace) -> float:
    """Questions a second of `ask_many`, for half as long as the load."""
    questions, done = cycle(texts), 0
    with open_muppet(given.kb, model=given.model, reader=given.reader) as muppet:
        muppet.ask(texts[0])
        began = time.perf_counter()
        while time.perf_counter() - began < given.seconds / 2:
            done += len(muppet.ask_many([next(questions) for _ in range(AT_ONCE)]))
        return done / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--reader", type=Path)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    texts = [item["question"] for item in json.loads(given.questions.read_text())]
    before = in_batch(texts, given)
    with server(given) as (address, process):
        results = asyncio.run(load(address, process, texts, given))
    after = in_batch(texts, given)
    results["batch_questions_per_s"] = [before, after]
    results["batch / server"] = (before + after) / 2 / results["questions_per_s"]
    results["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]}"
    if given.json:
        print(json.dumps(results))
        return
    for name, value in results.items():
        print(f"{name:28} {value:,.3f}" if isinstance(value, float) else f"{name:28} {value}")


if __name__ == "__main__":
    main()
