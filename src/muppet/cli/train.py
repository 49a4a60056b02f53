"""Commands that train: train encoder, train mine."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.config import EncoderRecipe, load_settings, to_toml
from muppet.errors import ConfigError


@click.group()
def train() -> None:
    """Train the networks (needs `pip install 'muppet[train]'`)."""


@train.command()
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The run [default: runs/RECIPE].")
@click.option("--dry-run", is_flag=True, help="Print sizes and the expected time, and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def encoder(recipe: Path, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """Train the encoder as RECIPE says: a TOML file with all settings of a run.

    The run's directory gets checkpoint/, best/ (the model) and metrics.jsonl. The same command
    goes on where a stopped run was.
    """
    settings = load_settings(EncoderRecipe, recipe)
    directory = out or Path("runs") / recipe.stem
    try:
        from muppet.train.train_encoder import EncoderRun, expected_time, train_encoder
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"Training needs {error.name}, which is not installed: pip install 'muppet[train]'."
        ) from error
    run = EncoderRun(settings, directory)
    if dry_run:
        _show_plan(asdict(run.plan()) | expected_time(run), as_json)
        return
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "recipe.toml").write_text(to_toml(settings), encoding="utf-8")
    progress = ProgressLine()
    best = train_encoder(run, progress)
    progress.close()
    click.echo(json.dumps(best) if as_json else f"Best on dev: {best}. Model: {directory / 'best'}")


@train.command()
@click.argument("kb", type=click.Path(path_type=Path))
@click.argument("questions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where they go.")
@click.option("--keep", default=10, show_default=True, type=click.IntRange(1, 1000))
@click.option(
    "--retriever", type=click.Choice(["bm25", "tfidf"]), default="bm25", show_default=True
)
@click.option("--model", type=click.Path(path_type=Path), help="An encoder, to choose by it.")
@click.option("--pool", default=50, show_default=True, type=click.IntRange(1, 1000),
              help="With --model: how many found by words it chooses from.")  # fmt: skip
def mine(
    kb: Path,
    questions: tuple[Path, ...],
    out: Path,
    keep: int,
    retriever: str,
    model: Path | None,
    pool: int,
) -> None:
    """Find hard negatives for training QUESTIONS in all of KB.

    For each question the best paragraphs that are not gold, and for each of its gold paragraphs
    the best ones for question and paragraph together: by their words, or, of those, the ones
    that a trained encoder believes most. A recipe uses them by data.mined = OUT. Stopped, the
    same command goes on where it was.
    """
    from muppet.knowledge.open import KnowledgeBase
    from muppet.train.data import load_training_data
    from muppet.train.negatives import mine_lexical

    progress = ProgressLine()
    data = load_training_data(questions)
    by_words = out.with_name(out.name + ".pool") if model else out
    with KnowledgeBase(kb) as knowledge:
        knowledge.narrower(retriever, progress)
        mined = mine_lexical(
            data,
            knowledge,
            by_words,
            keep=pool if model else keep,
            engine=retriever,
            progress=progress,
        )
    if model:
        from muppet.nn.model import load_model
        from muppet.train.mine_model import most_believed, write_mined

        mined = most_believed(data, mined, load_model(model), keep=keep, progress=progress)
        write_mined(out, mined, {"model": str(model)})
    progress.close()
    found, asked = len(mined.paragraphs), len(mined.questions)
    click.echo(f"{out}: {found:,} paragraphs for {asked:,} questions.")


def _show_plan(plan: Mapping[str, float], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(plan))
        return
    for name, value in plan.items():
        click.echo(f"{name:20} {value:,}")
