"""Training, for programs: a recipe in, a run's directory out."""

from os import PathLike
from pathlib import Path

from muppet.config import load_settings
from muppet.domain import Progress, silent
from muppet.errors import needing


def train_encoder(
    recipe: str | PathLike[str], *, out: str | PathLike[str], progress: Progress = silent
) -> dict[str, float]:
    """Train the encoder as a recipe says; what its best evaluation measured.

    The directory `out` gets checkpoint/, best/ (the model) and metrics.jsonl. The same call goes
    on where a stopped run was.
    """
    with needing("Training", "train"):
        from muppet.train.recipe import EncoderRecipe
        from muppet.train.run import begin_run
        from muppet.train.train_encoder import EncoderRun, train_encoder
    settings = load_settings(EncoderRecipe, Path(recipe))
    run = EncoderRun(settings, Path(out))
    begin_run(Path(out), settings)
    return train_encoder(run, progress)


def train_reader(
    recipe: str | PathLike[str], *, out: str | PathLike[str], progress: Progress = silent
) -> dict[str, float]:
    """Train the reader as a recipe says; the rest as for the encoder."""
    with needing("Training", "train"):
        from muppet.train.reader_recipe import ReaderRecipe
        from muppet.train.run import begin_run
        from muppet.train.train_reader import ReaderRun, train_reader
    settings = load_settings(ReaderRecipe, Path(recipe))
    run = ReaderRun(settings, Path(out))
    begin_run(Path(out), settings)
    return train_reader(run, progress)
