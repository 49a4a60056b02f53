"""Commands that train: train encoder."""

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


def _show_plan(plan: Mapping[str, float], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(plan))
        return
    for name, value in plan.items():
        click.echo(f"{name:20} {value:,}")
