"""Multi-hop retrieval against the bare arithmetic, and at growing sizes, in one run.

    python benchmarks/retrieval.py --model MODEL --kb ../kb48 ../kb507     both knowledge bases
    python benchmarks/retrieval.py --model MODEL --kb ../kb48 --million 5  and 5 M synthetic ones

A knowledge base that MODEL has not encoded gets random rows in --work, and says so. With these no
chain falls behind the best one, so more of them go on: compare random rows with random rows. Each
stage is a process of its own, so its memory is its own. Read the ratios, not the times.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT.parent / "shared" / "data" / "hotpotqa" / "dev.json.xz"
BEAMS, NARROW, ROUNDS = 8, 512, 40
SENTENCES = 4
LONGEST = 150
"""Tokens of a paragraph that are read."""

Facts = dict[str, Any]


class Synthetic:
    """Paragraphs that nobody wrote: only their numbers of sentences matter."""

    def __init__(self, count: int) -> None:
        self._count = count

    def numbers(self) -> NDArray[np.int64]:
        return np.arange(1, self._count + 1)

    def paragraphs(self, numbers: Sequence[int]) -> Mapping[int, Any]:
        from muppet.domain import Paragraph

        sentences = ("x",) * SENTENCES
        return {int(number): Paragraph(str(number), "", sentences) for number in numbers}


def random_rows(dim: int) -> Callable[[Sequence[Any]], list[NDArray[np.float32]]]:
    """An encoder that does not read: as many rows as the shipped one gives, which cuts texts."""
    from muppet.text.tokens import tokenize

    def kept(paragraph: Any) -> int:  # noqa: ANN401
        ends = np.cumsum([len(tokenize(sentence)) for sentence in paragraph.sentences])
        return max(int(np.searchsorted(ends, LONGEST, side="right")), 1)

    def encode(paragraphs: Sequence[Any]) -> list[NDArray[np.float32]]:
        counts = [kept(one) for one in paragraphs]
        rng = np.random.default_rng(sum(counts))
        rows = rng.standard_normal((sum(counts), dim), dtype=np.float32) / dim**0.5
        return np.split(rows, np.cumsum(counts)[:-1])

    return encode


def build(directory: Path, store: Any, dim: int, checksum: str) -> None:  # noqa: ANN401
    from muppet.index.build import encode_paragraphs

    encode_paragraphs(
        directory,
        store,
        random_rows(dim),
        dtype="int8",
        dim=dim,
        granularity="sentence",
        encoder_checksum=checksum,
        batch=512,
    )


def memory() -> Facts:
    """Megabytes of this process, in all and its own: mapped files are the system's to keep."""
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    names = {"own_memory_mb": "RssAnon", "resident_mb": "VmRSS"}
    return {name: int(fields[field].split()[0]) / 1024 for name, field in names.items()}


def median(run: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """Milliseconds."""
    times = []
    for number in range(rounds):
        began = time.perf_counter()
        run(number)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


# The stages. Each is a process, and prints what it measured as JSON.


def search_stage(directory: Path) -> Facts:
    """Hop 2: 8 beams x 512 paragraphs, against NumPy's gather and matmul on the same file."""
    from muppet.index.vectors import Vectors

    began = time.perf_counter()
    vectors = Vectors(directory)
    opened = time.perf_counter() - began
    dim, numbers = vectors.layout.dim, vectors.numbers
    rng = np.random.default_rng(0)
    pools = [np.sort(rng.choice(numbers, NARROW, replace=False)) for _ in range(ROUNDS)]
    queries = rng.standard_normal((BEAMS, dim), dtype=np.float32)
    flat = np.memmap(directory / vectors.commit.rows_file, dtype=np.int8, mode="r")
    flat = flat[: vectors.commit.rows * dim].reshape(-1, dim)
    places = []
    for pool in pools:
        firsts, counts = vectors._places(pool)
        starts = np.cumsum(counts) - counts
        places.append(np.arange(counts.sum()) + np.repeat(firsts - starts, counts))

    def bare(number: int) -> object:
        return flat[places[number]].astype(np.float32) @ queries.T

    def ours(number: int) -> object:
        return vectors.search(pools[number], queries)

    def each_its_own(number: int) -> object:
        return [vectors.search(pools[(number + beam) % ROUNDS], queries[beam : beam + 1])
                for beam in range(BEAMS)]  # fmt: skip

    def bare_each(number: int) -> object:
        return [flat[places[(number + beam) % ROUNDS]].astype(np.float32) @ queries[beam]
                for beam in range(BEAMS)]  # fmt: skip

    for run in (bare, ours):
        median(run)  # the file's pages are in memory from here on, for both
    return {
        "paragraphs": len(vectors),
        "rows": vectors.commit.rows,
        "open_s": opened,
        "one_pool_ms": median(ours),
        "one_pool_bare_ms": median(bare),
        "own_pools_ms": median(each_its_own),
        "own_pools_bare_ms": median(bare_each),
        **memory(),
    }


def retrieve_stage(kb: Path, model: Path, directory: Path, questions: Path, count: int) -> Facts:
    """Whole two-hop retrieval, question by question, with cold open."""
    from muppet.corpus.benchmarks import read_questions
    from muppet.encode.encoder import TextEncoder
    from muppet.index.vectors import Vectors
    from muppet.knowledge.open import KnowledgeBase
    from muppet.retrieve.retriever import Retriever

    texts = [item.question.text for item in read_questions(questions)[:count]]
    began = time.perf_counter()
    encoder = TextEncoder(model, threads=2)
    loaded = time.perf_counter() - began
    began = time.perf_counter()
    knowledge = KnowledgeBase(kb)
    vectors = Vectors(directory)
    retriever = Retriever(knowledge, encoder, vectors)
    knowledge.narrower("bm25")
    opened = time.perf_counter() - began
    retriever.retrieve(texts[0])
    narrow = median(lambda n: knowledge.narrow(texts[n], NARROW), len(texts))
    whole = median(lambda n: retriever.retrieve(texts[n]), len(texts))
    return {
        "paragraphs": len(vectors),
        "model_load_s": loaded,
        "open_s": opened,
        "retrieve_ms": whole,
        "narrow_ms": narrow,
        **memory(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def stage(name: str, *arguments: object) -> Facts:
    """Run one stage in a process of its own."""
    command = [sys.executable, __file__, "--stage", name, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    facts: Facts = json.loads(done.stdout.splitlines()[-1])
    return facts


def vectors_of(kb: Path, model: Path, work: Path) -> tuple[Path, bool]:
    """The model's own vectors of a knowledge base, or random ones; and whether they are random."""
    from muppet.encode.encoder import TextEncoder
    from muppet.knowledge.open import KnowledgeBase

    encoder = TextEncoder(model)
    own = kb / f"vectors-{encoder.checksum[:12]}"
    if (own / "manifest.json").exists():
        return own, False
    directory = work / f"random-{kb.name}"
    with KnowledgeBase(kb) as knowledge:
        build(directory, knowledge.store, encoder.dim, encoder.checksum)
    return directory, True


def show(facts: Facts) -> None:
    for name, value in facts.items():
        print(f"  {name:24} {value:,.2f}" if isinstance(value, float) else f"  {name:24} {value}")


def with_ratios(facts: Facts) -> Facts:
    for name in ("one_pool", "own_pools"):
        facts[f"{name} / bare"] = facts[f"{name}_ms"] / facts[f"{name}_bare_ms"]
    return facts


def measure(given: argparse.Namespace, work: Path) -> Facts:
    results: Facts = {}
    for kb in given.kb:
        directory, is_random = vectors_of(kb, given.model, work)
        facts = {"random rows": is_random} | with_ratios(stage("search", directory))
        arguments = (kb, given.model, directory, given.questions, given.count)
        results[str(kb)] = facts | {"two hops": stage("retrieve", *arguments)}
    if len(given.kb) == 2:
        small, large = (results[str(kb)]["two hops"]["retrieve_ms"] for kb in given.kb)
        results["retrieval, second / first"] = large / small
    if given.million:
        directory = work / "synthetic"
        build(directory, Synthetic(round(given.million * 1e6)), given.dim, "synthetic")
        name = f"{given.million:g} M synthetic paragraphs"
        results[name] = with_ratios(stage("search", directory))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--kb", type=Path, nargs="*", default=[])
    parser.add_argument("--million", type=float, default=0)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stage", nargs="+")
    given = parser.parse_args()
    if given.stage:
        name, *rest = given.stage
        is_search = name == "search"
        count = 0 if is_search else int(rest.pop())
        paths = map(Path, rest)
        print(json.dumps(search_stage(*paths) if is_search else retrieve_stage(*paths, count)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        results = measure(given, given.work or Path(temporary))
    results["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]}"
    if given.json:
        print(json.dumps(results))
        return
    for name, facts in results.items():
        print(name if isinstance(facts, dict) else f"{name}: {facts}")
        if isinstance(facts, dict):
            show(facts)


if __name__ == "__main__":
    main()
