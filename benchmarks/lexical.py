"""Lexical retrieval against its peers, in one run: build time, peak memory, disk, query time.

    python benchmarks/lexical.py                    both corpora of ../shared, 507,523 documents
    python benchmarks/lexical.py --limit 50000      a quick one
    python benchmarks/lexical.py FILE... --questions QUESTIONS.json --json

Each stage is a process of its own, so its peak memory is its own. Read the ratios, not the times.
"""

import argparse
import json
import lzma
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
CORPORA = [DATA / "corpus" / f"{name}.jsonl.xz" for name in ("hotpot-paragraphs", "wiki-intros")]
QUESTIONS = DATA / "hotpotqa" / "dev.json.xz"
KEEP = 512
ROUNDS = 3
BATCH = 20_000
MADE_FROM = {"paragraphs": "benchmark"}

Facts = dict[str, float]
Engine = Callable[[str], object]


class Clock:
    """Seconds on the wall, and of both cores: the latter hardly feel what else is running."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._cpu = time.process_time()

    def facts(self) -> Facts:
        return {
            "build_s": time.perf_counter() - self._start,
            "cpu_s": time.process_time() - self._cpu,
        }


# The stages. Each gets the working directory and gives back what it measured itself.


def index(work: Path, sources: list[Path], limit: int | None) -> Facts:
    """Everything `muppet index` does: read, split, store, publish, index."""
    from muppet.corpus.sources import Sources
    from muppet.knowledge.write import index_documents

    clock = Clock()
    summary = index_documents(work / "kb", islice(Sources(sources), limit))
    return {**clock.facts(), "paragraphs": summary.paragraphs}


def lexical(work: Path) -> Facts:
    """The lexical stage of `muppet index`: opening a knowledge base without it builds it."""
    import shutil

    from muppet.knowledge.open import KnowledgeBase

    shutil.rmtree(work / "kb" / "bm25")
    clock = Clock()
    kb = KnowledgeBase(work / "kb")
    facts = clock.facts()
    if kb.store.count_changes():
        raise SystemExit("The lexical index is not in step with the paragraphs.")
    return {**facts, "disk_mb": disk_mb(work / "kb" / "bm25")}


def bare_tantivy(work: Path) -> Facts:
    """Tantivy with the same fields, analyzer and threads, over texts that are in memory."""
    import shutil

    import tantivy

    from muppet.config import Bm25Config
    from muppet.lexical import bm25

    texts = list(paragraphs(work))
    directory = work / "bare"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    clock = Clock()
    index = tantivy.Index(bm25._schema(), path=str(directory))
    index.register_tokenizer(bm25._ANALYZER, bm25._analyzer(Bm25Config()))
    writer = index.writer(heap_size=bm25.HEAP, num_threads=2)
    for number, title, text in texts:
        document = tantivy.Document()
        document.add_unsigned("number", number)
        document.add_text("title", title)
        document.add_text("text", f"{title}\n{text}")
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    return {**clock.facts(), "disk_mb": disk_mb(directory)}


def tfidf(work: Path) -> Facts:
    """Our exact TF-IDF (checklist 5)."""
    from muppet.config import TfidfConfig
    from muppet.domain import silent
    from muppet.lexical.tfidf_build import build_tfidf

    clock = Clock()
    build_tfidf(
        work / "tfidf",
        paragraphs(work),
        0,
        config=TfidfConfig(),
        made_from=MADE_FROM,
        progress=silent,
    )
    return {**clock.facts(), "disk_mb": disk_mb(work / "tfidf")}


def scipy_tfidf(work: Path) -> Facts:
    """The same weights as one sparse matrix in memory, terms x paragraphs, as in DrQA."""
    import numpy as np
    from scipy import sparse

    from muppet.config import TfidfConfig
    from muppet.lexical.ngrams import hashed_ngrams

    config = TfidfConfig()
    clock = Clock()
    texts = paragraphs(work)
    keys, counts, total = [], [], 0
    while batch := [f"{title}\n{text}" for _, title, text in islice(texts, BATCH)]:
        rows, buckets = hashed_ngrams(batch, config.ngrams, config.buckets)
        unique, how_often = np.unique((buckets << 32) + rows + total, return_counts=True)
        keys.append(unique)
        counts.append(how_often.astype(np.float32))
        total += len(batch)
    terms = np.concatenate([part >> 32 for part in keys]).astype(np.int32)
    columns = np.concatenate([part & 0xFFFFFFFF for part in keys]).astype(np.int32)
    matrix = sparse.csr_matrix(
        (np.log1p(np.concatenate(counts)), (terms, columns)), shape=(config.buckets, total)
    )
    paragraphs_with = np.diff(matrix.indptr)
    idf = np.log((total - paragraphs_with + 0.5) / (paragraphs_with + 0.5)).clip(min=0)
    matrix.data *= np.repeat(idf, paragraphs_with).astype(np.float32)
    sparse.save_npz(work / "scipy.npz", matrix, compressed=False)
    np.save(work / "idf.npy", idf)
    return {**clock.facts(), "disk_mb": disk_mb(work / "scipy.npz")}


def bm25s(work: Path) -> Facts:
    """The library bm25s, with our stop words and no stemmer."""
    import bm25s

    from muppet.text.stopwords import STOP_WORDS

    clock = Clock()
    texts = [f"{title}\n{text}" for _, title, text in paragraphs(work)]
    tokens = bm25s.tokenize(texts, stopwords=sorted(STOP_WORDS), show_progress=False)
    engine = bm25s.BM25()
    engine.index(tokens, show_progress=False)
    engine.save(work / "bm25s")
    return {**clock.facts(), "disk_mb": disk_mb(work / "bm25s")}


def query(work: Path, questions: list[str]) -> dict[str, Facts]:
    """Every question to every engine, one after another, so that noise hits all of them alike."""
    import numpy as np

    engines = open_engines(work)
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    for round_ in range(ROUNDS + 1):  # the first one warms up
        for question in questions:
            for name, narrow in engines.items():
                start = time.perf_counter()
                narrow(question)
                if round_:
                    seconds[name].append(time.perf_counter() - start)
    return {
        name: {
            "p50_ms": float(np.percentile(taken, 50)) * 1e3,
            "p99_ms": float(np.percentile(taken, 99)) * 1e3,
        }
        for name, taken in seconds.items()
    }


def open_engines(work: Path) -> dict[str, Engine]:
    import bm25s
    import numpy as np
    from scipy import sparse

    from muppet.config import Bm25Config, TfidfConfig
    from muppet.lexical.bm25 import Bm25
    from muppet.lexical.ngrams import hashed_ngrams
    from muppet.lexical.tfidf import Tfidf
    from muppet.text.stopwords import STOP_WORDS

    config = TfidfConfig()
    ours, exact = Bm25(work / "kb" / "bm25", Bm25Config()), Tfidf(work / "tfidf", MADE_FROM)
    matrix, idf = sparse.load_npz(work / "scipy.npz"), np.load(work / "idf.npy")
    library = bm25s.BM25.load(work / "bm25s")
    stop_words = sorted(STOP_WORDS)

    def by_scipy(question: str) -> object:
        _, buckets = hashed_ngrams([question], config.ngrams, config.buckets)
        terms, counts = np.unique(buckets, return_counts=True)
        weights = (np.log1p(counts) * idf[terms]).astype(np.float32)
        asked = sparse.csr_matrix((weights, terms, [0, len(terms)]), shape=(1, config.buckets))
        scores = asked @ matrix
        best = np.arange(len(scores.data))
        if len(best) > KEEP:
            best = np.argpartition(-scores.data, KEEP)[:KEEP]
        best = best[np.argsort(-scores.data[best])]
        return scores.indices[best], scores.data[best]

    def by_bm25s(question: str) -> object:
        tokens = bm25s.tokenize([question], stopwords=stop_words, show_progress=False)
        keep = min(KEEP, matrix.shape[1])
        return library.retrieve(tokens, k=keep, show_progress=False)

    require_agreement(exact, by_scipy)
    return {
        "muppet bm25": lambda question: ours.narrow(question, KEEP),
        "bm25s": by_bm25s,
        "muppet tfidf": lambda question: exact.narrow(question, KEEP),
        "scipy tfidf": by_scipy,
    }


def require_agreement(exact: Any, by_scipy: Callable[[str], Any]) -> None:  # noqa: ANN401
    """A race between two that do not compute the same thing would mean nothing."""
    import numpy as np

    question = "Which American actor played the manager of an English football club?"
    ours = [hop.score for hop in exact.narrow(question, KEEP)]
    theirs = by_scipy(question)[1]
    if not np.allclose(ours, theirs[theirs > 0], rtol=1e-4):
        raise SystemExit("Our TF-IDF and scipy's disagree: there is nothing to compare.")


# What the stages share.


def paragraphs(work: Path) -> Iterator[tuple[int, str, str]]:
    from muppet.corpus.store import Store

    return Store(work / "kb" / "corpus.sqlite").texts()


def disk_mb(path: Path) -> float:
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def read_questions(path: Path) -> list[str]:
    data = path.read_bytes()
    items = json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
    return [item["question"] for item in items]


# The run.

STAGES: dict[str, Callable[[Path, argparse.Namespace], Any]] = {
    "muppet index": lambda work, args: index(work, args.corpus, args.limit),
    "bare tantivy": lambda work, _: bare_tantivy(work),
    "muppet bm25": lambda work, _: lexical(work),
    "muppet tfidf": lambda work, _: tfidf(work),
    "scipy tfidf": lambda work, _: scipy_tfidf(work),
    "bm25s": lambda work, _: bm25s(work),
    "query": lambda work, args: query(work, read_questions(args.questions)),
}
ORDER = ["muppet index", *["bare tantivy", "muppet bm25"] * 2, *list(STAGES)[3:]]
"""The two that a bar compares run twice, in turns; the faster run of each counts."""

RATIOS = [  # name, (engine, fact), (peer, fact), the bar
    ("lexical build / bare tantivy", ("muppet bm25", "build_s"), ("bare tantivy", "build_s"), 1.5),
    ("the same in CPU seconds", ("muppet bm25", "cpu_s"), ("bare tantivy", "cpu_s"), 1.5),
    ("tfidf p50 / scipy p50", ("muppet tfidf", "p50_ms"), ("scipy tfidf", "p50_ms"), 1.0),
    ("tfidf p99 / scipy p99", ("muppet tfidf", "p99_ms"), ("scipy tfidf", "p99_ms"), None),
    ("tfidf CPU / scipy CPU, build", ("muppet tfidf", "cpu_s"), ("scipy tfidf", "cpu_s"), None),
    ("tfidf disk / scipy disk", ("muppet tfidf", "disk_mb"), ("scipy tfidf", "disk_mb"), None),
    ("bm25 p50 / bm25s p50", ("muppet bm25", "p50_ms"), ("bm25s", "p50_ms"), None),
    ("bm25 CPU / bm25s CPU, build", ("muppet bm25", "cpu_s"), ("bm25s", "cpu_s"), None),
    ("peak of `muppet index`, GB", ("muppet index", "peak_mb"), None, 1.0),
]


def main() -> None:
    args = parse_arguments()
    if args.stage:
        print(json.dumps(STAGES[args.stage](args.work, args) | own_peak(args.stage)))
        return
    for path in (*args.corpus, args.questions):
        if not path.is_file():
            raise SystemExit(f"{path} is not there. Name corpora and --questions of your own.")
    engines: dict[str, Facts] = {}
    with tempfile.TemporaryDirectory(prefix="muppet-lexical-", dir=args.work) as work:
        for stage in ORDER:
            note(stage)
            merge(engines, stage, run_stage(stage, Path(work)))
    report = {"machine": machine(), "engines": engines, "ratios": ratios(engines)}
    print(json.dumps(report, indent=2) if args.json else table(report))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", nargs="*", type=Path, default=CORPORA, help="JSONL, also .xz")
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="a HotpotQA file")
    parser.add_argument("--limit", type=int, help="documents to index")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--work", type=Path, help="where the indexes are put while it runs")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    return parser.parse_args()


def run_stage(stage: str, work: Path) -> dict[str, Any]:
    """The facts of a stage, run in a process of its own with the same arguments."""
    command = [sys.executable, __file__, *sys.argv[1:], "--stage", stage, "--work", str(work)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return facts


def own_peak(stage: str) -> Facts:
    if stage == "query":  # all engines at once: nobody's own
        return {}
    return {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}


def merge(engines: dict[str, Facts], stage: str, facts: dict[str, Any]) -> None:
    if stage == "query":
        for name, times in facts.items():
            engines[name] |= times
    elif stage not in engines or facts["build_s"] < engines[stage]["build_s"]:
        engines[stage] = facts


def ratios(engines: dict[str, Facts]) -> list[dict[str, Any]]:
    found = []
    for name, (engine, fact), peer, bar in RATIOS:
        value = engines[engine][fact] / (engines[peer[0]][peer[1]] if peer else 1000)
        found.append({"name": name, "value": value, "bar": bar})
    return found


def machine() -> dict[str, Any]:
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "load": round(os.getloadavg()[0], 2),
        "commit": commit.stdout.strip() or "unknown",
    }


def table(report: dict[str, Any]) -> str:
    facts = ["build_s", "cpu_s", "peak_mb", "disk_mb", "p50_ms", "p99_ms"]
    heads = ["build s", "cpu s", "peak MB", "disk MB", "p50 ms", "p99 ms"]
    lines = [", ".join(f"{name} {value}" for name, value in report["machine"].items())]
    count = report["engines"]["muppet index"]["paragraphs"]
    lines += [f"{count:,} paragraphs, top {KEEP}", ""]
    lines.append(f"{'':14}" + "".join(f"{head:>10}" for head in heads))
    for name, engine in report["engines"].items():
        cells = (f"{engine[fact]:10.2f}" if fact in engine else f"{'':10}" for fact in facts)
        lines.append(f"{name:14}" + "".join(cells))
    lines.append("")
    lines += [
        f"{ratio['name']:30}{ratio['value']:8.2f}{verdict(ratio)}" for ratio in report["ratios"]
    ]
    return "\n".join(lines)


def verdict(ratio: dict[str, Any]) -> str:
    if ratio["bar"] is None:
        return ""
    return f"  at most {ratio['bar']}: {'met' if ratio['value'] <= ratio['bar'] else 'MISSED'}"


def note(stage: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {stage}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
