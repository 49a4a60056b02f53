"""An exported model, trained further on own questions, and exported again."""

from pathlib import Path

from muppet.artifact import Manifest, checksum_file, kind_of, read_manifest, restore_artifact
from muppet.config import EncoderConfig, ReaderConfig, from_table
from muppet.domain import Progress
from muppet.encode import graphs
from muppet.nn import model, reader_model
from muppet.nn.export import export_model
from muppet.nn.export_reader import export_reader
from muppet.nn.from_export import graph_checksum, write_trainable
from muppet.read import reader
from muppet.train.own_recipe import OwnRun, own_encoder_recipe, own_reader_recipe
from muppet.train.run import begin_run
from muppet.train.train_encoder import EncoderRun, train_encoder
from muppet.train.train_reader import ReaderRun, train_reader


def prepare_start(exported: Path, start: Path) -> int:
    """The weights that a run begins with, unless they are there already; how many tokens of a
    paragraph the network reads."""
    made_from = graph_checksum(exported)
    if not restore_artifact(start) or _manifest(start).made_from != made_from:
        write_trainable(exported, start)
    return int(_manifest(start).config["max_tokens"])


def train_further(
    exported: Path, settings: OwnRun, run_in: Path, out: Path, progress: Progress
) -> list[str]:
    """Train on from `settings.start`, which was made of `exported`, and export into `out`, in the
    same form; what of the questions training could not take, and why."""
    if kind_of(exported) == reader.KIND:
        return _train_reader_further(exported, settings, run_in, out, progress)
    return _train_encoder_further(exported, settings, run_in, out, progress)


def _train_reader_further(
    exported: Path, settings: OwnRun, run_in: Path, out: Path, progress: Progress
) -> list[str]:
    manifest = read_manifest(exported, reader.KIND, reader.FORMAT, remake=reader.REMAKE)
    int8 = manifest.config["int8"]
    config = from_table(ReaderConfig, _manifest(settings.start).config)
    recipe = own_reader_recipe(config, settings)
    run = ReaderRun(recipe, run_in)
    begin_run(run_in, recipe)
    train_reader(run, progress)
    best = reader_model.load_reader(run_in / "best")
    export_reader(out, best, _weights(run_in), int8=int8, half=not int8)
    calibration = reader.read_calibration(exported)  # as good as any, until it is fitted anew
    if calibration is not None:
        reader.write_calibration(out, calibration)
    return run.left_out


def _train_encoder_further(
    exported: Path, settings: OwnRun, run_in: Path, out: Path, progress: Progress
) -> list[str]:
    manifest = read_manifest(exported, graphs.KIND, graphs.FORMAT, remake=graphs.REMAKE)
    int8 = manifest.config["int8"]
    config = from_table(EncoderConfig, _manifest(settings.start).config)
    recipe = own_encoder_recipe(config, settings)
    run = EncoderRun(recipe, run_in)
    begin_run(run_in, recipe)
    train_encoder(run, progress)
    best = model.load_model(run_in / "best")
    export_model(out, best, _weights(run_in), int8=int8, half=not int8)
    return run.left_out


def _manifest(start: Path) -> Manifest:
    """Of a network that a run begins with."""
    kind = reader_model if kind_of(start) == reader_model.KIND else model
    return read_manifest(start, kind.KIND, kind.FORMAT, remake=kind.REMAKE)


def _weights(run_in: Path) -> dict[str, str]:
    return {"weights": checksum_file(run_in / "best" / "weights.safetensors")}
