"""Commands that tell about a knowledge base and the settings: info, config."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from muppet.artifact import MANIFEST
from muppet.cli.progress import ProgressLine
from muppet.cli.shared import kb_argument
from muppet.cli.show import one_line
from muppet.config import Config, to_table, to_toml
from muppet.knowledge.encode import vector_facts
from muppet.knowledge.open import KnowledgeBase


@click.command()
@kb_argument
@click.option("--check", is_flag=True, help="Measure the search over all vectors (pool = all).")
@click.option("--ids", is_flag=True, help="The ids of its documents instead, as `remove` wants.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def info(kb: Path, check: bool, ids: bool, as_json: bool) -> None:
    """What a knowledge base holds, and how it was made."""
    with KnowledgeBase(kb) as knowledge:
        if ids:
            _tell_ids(knowledge.store.document_ids(), as_json)
            return
        progress = ProgressLine()
        vectors = [asdict(one) for one in vector_facts(knowledge, check=check, progress=progress)]
        progress.close()
        store = knowledge.store
        sources = store.sources()
        facts = {
            "documents": store.count_documents(),
            "paragraphs": store.count_paragraphs(),
            "sources": len(sources),
            "revision": store.revision,
            "megabytes": round(_bytes_in(kb) / 1e6, 1),
            "tfidf": (kb / f"tfidf-{store.revision}").exists(),
            "interrupted": (kb / "incoming.sqlite").exists(),
        }
    if as_json:
        everything = facts | {
            "manifest": json.loads((kb / MANIFEST).read_text(encoding="utf-8")),
            "by_source": dict(sources),
            "vectors": vectors,
            "config": to_table(knowledge.config),
        }
        click.echo(json.dumps(everything))
        return
    for name, value in facts.items():
        click.echo(f"{name:12} {value:,}" if type(value) is int else f"{name:12} {value}")
    for one in vectors:
        told = [f"{name} {value}" for name, value in one.items() if value is not None]
        click.echo("  " + ", ".join(told))
    for source, count in sources[:20]:
        click.echo(f"  {count:>9,}  {source}")
    if len(sources) > 20:
        click.echo(f"  … and {len(sources) - 20} more sources")


def _tell_ids(ids: Iterable[str], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(list(ids)))
        return
    for id_ in ids:
        click.echo(one_line(id_))


@click.command()
def config() -> None:
    """Print all settings with their defaults, as TOML."""
    click.echo(to_toml(Config()), nl=False)


def _bytes_in(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        with suppress(FileNotFoundError):  # a writer may be at work
            total += path.stat().st_size if path.is_file() else 0
    return total
