"""Commands that read a knowledge base: search, info, config."""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import click

from muppet.artifact import MANIFEST
from muppet.cli.progress import ProgressLine
from muppet.config import Config, to_table, to_toml
from muppet.domain import Chain, Paragraph
from muppet.errors import QuestionError
from muppet.knowledge.open import KnowledgeBase
from muppet.text.questions import question_from
from muppet.text.stopwords import STOP_WORDS
from muppet.text.tokens import words
from muppet.wire import search_to_json

_NOTHING = {
    "bm25": "Nothing in these documents has a word of the question.",
    "tfidf": "TF-IDF finds nothing: a word in half of the paragraphs weighs nothing; in a small "
    "collection that is most words. Use --retriever bm25.",
}


@click.command()
@click.argument("kb", type=click.Path(path_type=Path))
@click.argument("question")
@click.option("--lexical", is_flag=True, help="By words alone: the first stage of the pipeline.")
@click.option(
    "--retriever", type=click.Choice(["bm25", "tfidf"]), default="bm25", show_default=True
)
@click.option("--top", default=5, show_default=True, type=click.IntRange(1, 1000))
@click.option("--json", "as_json", is_flag=True, help="Print the chains as JSON.")
def search(kb: Path, question: str, lexical: bool, retriever: str, top: int, as_json: bool) -> None:  # noqa: ARG001 (there is only lexical search so far)
    """Find the paragraphs of KB that speak of QUESTION (- reads it from standard input)."""
    asked = question_from(_from_stdin() if question == "-" else question)
    with KnowledgeBase(kb) as knowledge:
        progress = ProgressLine()
        knowledge.narrower(retriever, progress)
        progress.close()
        began = time.perf_counter()
        hops = knowledge.narrow(asked.text, top, retriever)
        seconds = {"lexical": time.perf_counter() - began}
        paragraphs = knowledge.store.paragraphs([hop.paragraph for hop in hops])
    if as_json:
        chains = [Chain((hop,)) for hop in hops]
        ranks = {hop.paragraph: rank for rank, hop in enumerate(hops, start=1)}
        click.echo(json.dumps(search_to_json(asked.text, chains, paragraphs, ranks, seconds)))
        return
    if not hops:
        click.echo(_NOTHING[retriever])
    for rank, hop in enumerate(hops, start=1):
        paragraph = paragraphs[hop.paragraph]
        click.echo(f"{rank}. {paragraph.title}  [{hop.score:.1f}]  {_shown(paragraph.source)}")
        click.echo(f"   {_best_sentence(paragraph, asked.text)}")


@click.command()
@click.argument("kb", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def info(kb: Path, as_json: bool) -> None:
    """What a knowledge base holds, and how it was made."""
    with KnowledgeBase(kb) as knowledge:
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
            "config": to_table(knowledge.config),
        }
        click.echo(json.dumps(everything))
        return
    for name, value in facts.items():
        click.echo(f"{name:12} {value:,}" if type(value) is int else f"{name:12} {value}")
    for source, count in sources[:20]:
        click.echo(f"  {count:>9,}  {source}")
    if len(sources) > 20:
        click.echo(f"  … and {len(sources) - 20} more sources")


@click.command()
def config() -> None:
    """Print all settings with their defaults, as TOML."""
    click.echo(to_toml(Config()), nl=False)


def _from_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise QuestionError(f"The question on standard input is not UTF-8 ({error}).") from error


def _bytes_in(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        with suppress(FileNotFoundError):  # a writer may be at work
            total += path.stat().st_size if path.is_file() else 0
    return total


def _shown(source: str) -> str:
    """A source as seen from here, if it is below."""
    here = Path.cwd()
    return str(Path(source).relative_to(here)) if Path(source).is_relative_to(here) else source


def _best_sentence(paragraph: Paragraph, question: str) -> str:
    """The sentence that shares most words with the question, on one line."""
    asked = {word.lower() for word in words(question)} - STOP_WORDS
    best = max(
        paragraph.sentences,
        key=lambda sentence: len(asked & {word.lower() for word in words(sentence)}),
    )
    return " ".join(best.split())
