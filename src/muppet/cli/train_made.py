"""The command that makes questions to train on: comparisons."""

import json
from pathlib import Path

import click

from muppet.artifact import write_json
from muppet.cli.progress import ProgressLine
from muppet.config import CorpusConfig
from muppet.corpus.paragraphs import split_document
from muppet.corpus.sources import Sources
from muppet.domain import Document, Paragraph
from muppet.errors import CorpusError
from muppet.train.comparisons import make_comparisons


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The questions' file.")
@click.option("--count", default=2000, show_default=True, type=click.IntRange(1, 1_000_000),
              help="How many questions.")  # fmt: skip
@click.option("--every", default=1, show_default=True, type=click.IntRange(1, 1_000_000),
              help="Read every so many-th document.")  # fmt: skip
@click.option("--brief", is_flag=True, help="With two sentences of two paragraphs, nothing else.")
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
    paragraphs = _openings(files, every, progress)
    made = make_comparisons(paragraphs, count, seed, brief=brief)
    if not made:
        raise CorpusError(
            f"Nothing in {len(paragraphs):,} opening paragraphs can be compared. They should say "
            "what their subject is, and since when, as an encyclopedia's do."
        )
    write_json(out, made)
    if as_json:
        click.echo(json.dumps({"questions": len(made), "paragraphs": len(paragraphs)}))
    else:
        click.echo(f"{out}: {len(made):,} questions from {len(paragraphs):,} paragraphs.")


def _openings(files: tuple[Path, ...], every: int, progress: ProgressLine) -> list[Paragraph]:
    """The first paragraph of each document; what cannot be read is left out."""
    sources = Sources(files)
    found = []
    for number, document in enumerate(sources):
        if isinstance(document, Document) and number % every == 0:
            found += split_document(document, document.id or str(number), CorpusConfig())[:1]
            progress("reading", sources.position, sources.total_bytes, f"{len(found):,} paragraphs")
    progress.close()
    return found
