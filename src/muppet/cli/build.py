"""Commands that write a knowledge base: index, remove, encode, compact."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.cli.shared import NamedPath, config_option, kb_argument, model_option
from muppet.config import load_config
from muppet.corpus.sources import Sources
from muppet.domain import Broken
from muppet.knowledge.open import has_model
from muppet.knowledge.write import IndexSummary, index_documents, remove_from, stop_at

SHOWN = 20
"""Broken rows named one by one; the rest are only counted."""
NAMED = 3
"""Files of other kinds that are named."""
COUNTED = ("added", "replaced", "unchanged", "repeated", "broken")
"""What a run of `index` tells in its first sentence, in this order."""


@click.command()
@click.argument("sources", nargs=-1, required=True, type=NamedPath())
@click.option("--into", "kb", required=True, type=NamedPath(), help="The knowledge base.")
@click.option(
    "--skip-bad",
    is_flag=True,
    help="Report broken files and rows, the first 20 by name, and go on.",
)
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def index(
    sources: tuple[Path, ...], kb: Path, skip_bad: bool, config_file: Path | None, as_json: bool
) -> None:
    """Read SOURCES into a knowledge base.

    A source is a folder (.txt .md .html .pdf .docx and the files below), a JSONL, JSON, CSV or
    TSV file with id/title/text or title/sentences (also .gz .xz .zst .bz2), a Wikipedia dump of
    HotpotQA or WikiExtractor, a HotpotQA, SQuAD, 2Wiki, MuSiQue or BoolQ question file, or - for
    JSONL on standard input.

    Running it again adds what is new, replaces what has changed and skips the rest. It changes
    the knowledge base all at once at the end: stop it at any moment, run it again to go on.
    """
    found = Sources(sources)
    progress = ProgressLine()

    def estimate(done: int) -> int | None:
        read = found.position
        return round(done * found.total_bytes / read) if read else None

    report = _BrokenReport(progress)
    summary = index_documents(
        kb,
        found,
        config=load_config(config_file) if config_file else None,
        on_broken=report if skip_bad else stop_at,
        progress=progress,
        estimate=estimate,
    )
    progress.close()
    report.close()
    if found.skipped:
        names = ", ".join(path.name for path in found.skipped[:NAMED])
        more = f" and {len(found.skipped) - NAMED:,} more" if len(found.skipped) > NAMED else ""
        click.echo(f"Passed over, of other kinds: {names}{more}", err=True)
    click.echo(json.dumps(asdict(summary)) if as_json else _sentence(kb, summary))
    if summary.displaced:
        click.echo(
            f"Of those replaced, {summary.displaced:,} had come from another file that is still "
            f"there, under the same id: {summary.displaced_first}. If both are to stay, give each "
            "file ids of its own and index both again.",
            err=True,
        )
    if has_model(kb) and (summary.added or summary.replaced):  # so vectors are lacking now
        click.echo(f"What is new is found once you have run `muppet encode {kb}`.", err=True)


@click.command()
@kb_argument
@click.argument("ids", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def remove(kb: Path, ids: tuple[str, ...], as_json: bool) -> None:
    """Take documents out of a knowledge base by their IDS, all of them or none."""
    paragraphs = remove_from(kb, ids)
    if as_json:
        click.echo(json.dumps({"documents": len(set(ids)), "paragraphs": paragraphs}))
    else:
        click.echo(f"{kb}: {len(set(ids)):,} removed, and with them {paragraphs:,} paragraphs.")


@click.command()
@kb_argument
@model_option
@click.option("--dtype", type=click.Choice(["int8", "float16", "float32"]), default="int8",
              show_default=True, help="How vectors are stored.")  # fmt: skip
@click.option("--threads", default=2, show_default=True, type=click.IntRange(1, 256))
@click.option("--again", is_flag=True, help="Encode everything anew.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def encode(
    kb: Path, model: Path | None, dtype: str, threads: int, again: bool, as_json: bool
) -> None:
    """Compute the sentence vectors of KB that multi-hop search needs.

    Only new and changed paragraphs are encoded. Stopped, the same command goes on; at most 1,024
    paragraphs are encoded a second time.
    """
    from muppet.knowledge.encode import encode_knowledge

    progress = ProgressLine()
    summary = encode_knowledge(
        kb, model, dtype=dtype, threads=threads, again=again, progress=progress
    )
    progress.close()
    if as_json:
        click.echo(json.dumps(asdict(summary)))
    else:
        click.echo(
            f"{kb}: {summary.encoded:,} paragraphs encoded, {summary.unchanged:,} unchanged; "
            f"{summary.rows:,} vectors."
        )


@click.command()
@kb_argument
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def compact(kb: Path, as_json: bool) -> None:
    """Drop the vectors of paragraphs that have been removed from KB."""
    from muppet.knowledge.encode import compact_knowledge

    summaries = compact_knowledge(kb)
    if as_json:
        click.echo(json.dumps({name: asdict(one) for name, one in summaries.items()}))
        return
    for name, one in summaries.items():
        saved = (one.bytes_before - one.bytes_after) / 1e6
        click.echo(f"{kb / name}: {one.dropped:,} paragraphs dropped, {saved:.1f} MB saved.")
    if not summaries:
        click.echo(f"{kb} has no vectors, so there is nothing to compact.")


class _BrokenReport:
    """Names the first broken rows on stderr and counts the others."""

    def __init__(self, progress: ProgressLine) -> None:
        self._progress = progress
        self._count = 0

    def __call__(self, broken: Broken) -> None:
        self._count += 1
        if self._count <= SHOWN:
            self._progress.close()
            click.echo(f"skipped {broken}", err=True)

    def close(self) -> None:
        if self._count > SHOWN:
            click.echo(f"skipped {self._count - SHOWN} more", err=True)


def _sentence(kb: Path, summary: IndexSummary) -> str:
    did = ", ".join(
        f"{count:,} {name}" for name, count in asdict(summary).items() if name in COUNTED and count
    )
    return (
        f"{kb}: {did}. It now holds {summary.documents:,} documents "
        f"in {summary.paragraphs:,} paragraphs."
    )
