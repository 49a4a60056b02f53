"""The commands that make what is trained on: comparisons, bridges, compositions, chains."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muppet.artifact import write_json
from muppet.cli.progress import ProgressLine
from muppet.cli.shared import Hops, NamedPath, hops_option, kb_argument, model_option
from muppet.config import CorpusConfig
from muppet.corpus.paragraphs import split_document
from muppet.corpus.sources import Sources
from muppet.domain import Document, Paragraph
from muppet.errors import CorpusError
from muppet.train.comparisons import make_comparisons

if TYPE_CHECKING:
    from muppet.corpus.benchmarks import BenchmarkQuestion


@click.command()
@click.argument("files", nargs=-1, required=True, type=NamedPath())
@click.option("--out", required=True, type=NamedPath(), help="The questions' file.")
@click.option("--count", default=2000, show_default=True, type=click.IntRange(1, 1_000_000),
              help="How many questions.")  # fmt: skip
@click.option("--every", default=1, show_default=True, type=click.IntRange(1, 1_000_000),
              help="Read every so many-th document.")  # fmt: skip
@click.option("--brief", is_flag=True, help="With two paragraphs or their openings, nothing else.")
@click.option("--seed", default=1, show_default=True, help="Another seed makes other questions.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def comparisons(
    files: tuple[Path, ...],
    out: Path,
    count: int,
    every: int,
    brief: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Make comparison questions from the documents in FILES, to train on.

    What two documents' opening sentences say of years, numbers, places, kinds and makers makes
    questions like "Who was born first, A or B?", with answers and evidence, in HotpotQA's schema:
    name the file among `data.train` of a recipe.
    """
    progress = ProgressLine()
    paragraphs = _openings(files, progress, lambda number, _title: number % every == 0)
    made = make_comparisons(paragraphs, count, seed, brief=brief)
    if not made:
        raise CorpusError(
            f"Nothing in {len(paragraphs):,} opening paragraphs can be compared. They should say "
            "what their subject is, and since when, as an encyclopedia's do."
        )
    _write(out, made, len(paragraphs), as_json=as_json)


@click.command()
@click.argument("questions", nargs=-1, required=True, type=NamedPath())
@click.option("--openings", "files", required=True, multiple=True, type=NamedPath(),
              help="Documents that begin with what they are about.")  # fmt: skip
@click.option("--out", required=True, type=NamedPath(), help="The questions' file.")
@click.option("--count", default=2000, show_default=True, type=click.IntRange(1, 1_000_000),
              help="How many questions.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Another seed makes other questions.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def bridges(
    questions: tuple[Path, ...],
    files: tuple[Path, ...],
    out: Path,
    count: int,
    seed: int,
    as_json: bool,
) -> None:
    """Make questions of two hops from QUESTIONS of one (SQuAD's), to train on.

    A name gives way to what a document of that name says it is: "When did Qing troops regain the
    capital of Jiangsu?" They come with answers and evidence, in HotpotQA's schema: name the file
    among `data.train` of a recipe.
    """
    from muppet.corpus.benchmarks import read_questions
    from muppet.train.bridges import find_mentions, make_bridges

    mentions = find_mentions(one for file in questions for one in read_questions(file))
    progress = ProgressLine()
    openings = _openings(files, progress, lambda _number, title: title in mentions)
    made = make_bridges(mentions, openings, count, seed)
    if not made:
        raise CorpusError(
            f"Of {len(mentions):,} names in the questions the documents describe none that could "
            "be asked for. Questions of one hop are needed, with paragraphs, and documents named "
            "as things are in them."
        )
    write_json(out, made)
    if as_json:
        click.echo(json.dumps({"questions": len(made), "names": len(mentions)}))
    else:
        click.echo(f"{out}: {len(made):,} questions of two hops, of {count:,} wanted.")


@click.command()
@click.argument("files", nargs=-1, required=True, type=NamedPath())
@click.option("--out", required=True, type=NamedPath(), help="The questions' file.")
@click.option("--count", default=2000, show_default=True, type=click.IntRange(1, 1_000_000),
              help="How many questions.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Another seed makes other questions.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def compositions(files: tuple[Path, ...], out: Path, count: int, seed: int, as_json: bool) -> None:
    """Make questions of two hops from documents in FILES that name one another, to train on.

    One says who directed a film, or whose son somebody is, and the other when and where that one
    was born: "When was the director of Ill Wind born?" They come with answers and evidence, in
    HotpotQA's schema: name the file among `data.train` of a recipe.
    """
    from muppet.train.compositions import make_compositions

    progress = ProgressLine()
    openings = _openings(files, progress, lambda _number, _title: True)
    made = make_compositions(openings, count, seed, progress)
    progress.close()
    if not made:
        raise CorpusError(
            f"Among {len(openings):,} opening paragraphs none names another's subject as its "
            "director, author, father or the like. They should say so as an encyclopedia's do, and "
            "the one who is named needs a document of that title."
        )
    _write(out, made, len(openings), as_json=as_json)


def _write(out: Path, made: list[dict[str, Any]], paragraphs: int, *, as_json: bool) -> None:
    write_json(out, made)
    if as_json:
        click.echo(json.dumps({"questions": len(made), "paragraphs": paragraphs}))
    else:
        click.echo(f"{out}: {len(made):,} questions from {paragraphs:,} paragraphs.")


def _openings(
    files: tuple[Path, ...], progress: ProgressLine, wanted: Callable[[int, str], bool]
) -> list[Paragraph]:
    """The first paragraph of each document that is wanted, by its number and title; what cannot be
    read is left out."""
    sources = Sources(files)
    found = []
    for number, document in enumerate(sources):
        if isinstance(document, Document) and wanted(number, document.title):
            found += split_document(document, document.id or str(number), CorpusConfig())[:1]
        progress("reading", sources.position, sources.total_bytes, f"{len(found):,} paragraphs")
    progress.close()
    return found


@click.command()
@kb_argument
@click.argument("questions", nargs=-1, required=True, type=NamedPath())
@click.option("--out", required=True, type=NamedPath(), help="The chains' file.")
@click.option("--keep", default=8, show_default=True, type=click.IntRange(1, 1000),
              help="Of each question so many.")  # fmt: skip
@click.option("--recipe", type=NamedPath(),
              help="Only of questions that a reader's run of this recipe draws.")  # fmt: skip
@hops_option
@model_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def chains(
    kb: Path,
    questions: tuple[Path, ...],
    out: Path,
    keep: int,
    recipe: Path | None,
    hops: Hops | None,
    model: Path | None,
    as_json: bool,
) -> None:
    """Write down the chains that retrieval finds in KB for training QUESTIONS.

    The reader learns to choose between them, as it will have to: a recipe uses them by
    data.retrieved = OUT. Stopped, the same command goes on where it was.
    """
    from muppet.corpus.benchmarks import read_questions
    from muppet.evaluate.finding import by_model
    from muppet.knowledge.open import KnowledgeBase
    from muppet.retrieve.retriever import open_retriever
    from muppet.train.retrieved import write_retrieved

    asked = [one for file in questions for one in read_questions(file)]
    if recipe is not None:
        asked = _drawn(asked, recipe)
    progress = ProgressLine()
    with KnowledgeBase(kb) as knowledge:
        settings = knowledge.config.retrieve
        settings = replace(settings, hops=hops or settings.hops, keep=max(keep, settings.keep))
        retriever = open_retriever(knowledge, model, settings, progress)
        new = write_retrieved(out, asked, by_model(retriever), keep, progress)
    progress.close()
    if as_json:
        click.echo(json.dumps({"questions": len(asked), "new": new}))
    else:
        click.echo(f"{out}: chains of {len(asked):,} questions, {new:,} of them new.")


def _drawn(asked: "list[BenchmarkQuestion]", recipe: Path) -> "list[BenchmarkQuestion]":
    from muppet.config import load_settings
    from muppet.train.reader_recipe import ReaderRecipe
    from muppet.train.retrieved import key_of
    from muppet.train.train_reader import drawn_questions

    drawn = drawn_questions(load_settings(ReaderRecipe, recipe))
    return [one for one in asked if key_of(one) in drawn]
