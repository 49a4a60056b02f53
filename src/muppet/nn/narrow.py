"""A trained reader → a narrower one that reads faster: fewer units inside its feed-forward layers.

Most of a transformer's arithmetic is in there, and some units say what others say too. One after
another goes the unit that is missed least, and the others take over what it did, by least squares
on texts that are read: Optimal Brain Surgeon on a layer's outputs. Not in the paper. A little
training afterwards gives back what is lost.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import AutoModel
from transformers.models.bert.modeling_bert import BertLayer
from transformers.utils import logging

from muppet.artifact import Manifest, checksum_file, new_artifact, require_replaceable
from muppet.domain import Progress
from muppet.errors import ConfigError
from muppet.nn.model import trained_weights
from muppet.nn.reader import Reader
from muppet.nn.reader_model import KIND, ReaderModel, new_reader, save_reader
from muppet.nn.transformer import transformer_directory

DAMPING = 1e-3
"""Of a unit's mean square, added to each: how much the examples are not believed."""

TRANSFORMER = "transformer"
"""The kind of directory that a transformer of ours has."""
FORMAT = 1

ReadExamples = Callable[[Reader], None]


def require_narrowable(model: ReaderModel, directory: Path, out: Path, inner: int) -> None:
    """Refuse what cannot be made narrower, and places where something else would be lost."""
    blocks = _blocks(model.reader)
    if model.config.network != "transformer" or not blocks:
        raise ConfigError(
            f"{directory} cannot be made narrower: only readers with reader.network = "
            '"transformer" over a BERT can.'
        )
    units = blocks[0].intermediate.dense.out_features
    if not 1 <= inner < units:
        raise ConfigError(f"A layer of {directory} has {units} units: 1 to {units - 1} can stay.")
    require_replaceable(out, KIND)
    require_replaceable(_beside(out), TRANSFORMER)


def write_narrow(
    model: ReaderModel,
    directory: Path,
    out: Path,
    inner: int,
    read: ReadExamples,
    progress: Progress,
) -> None:
    """The reader of `directory` with `inner` units in every feed-forward layer, for a run to start
    from; its transformer gets a directory of its own beside it. `model` is that reader, loaded,
    and is another one afterwards; `read` lets a reader read."""
    require_narrowable(model, directory, out, inner)
    blocks = _blocks(model.reader)
    for number, block in enumerate(blocks):
        progress("narrowing", number, len(blocks))
        gram = _gram(block, model.reader, read)
        _make_narrower(block, *fewer_units(gram, block.output.dense.weight, inner))
    progress("narrowing", len(blocks), len(blocks))
    sums = {"weights": checksum_file(directory / "weights.safetensors")}
    _write_transformer(model.config.contextual.path, _beside(out), blocks, sums)
    contextual = replace(model.config.contextual, path=str(_beside(out)))
    narrow = new_reader(replace(model.config, contextual=contextual), [], model.vectors)
    found = model.reader.state_dict()
    weights = {name: found[name] for name in trained_weights(narrow.reader)}
    save_reader(out, narrow, weights, sums)


def _beside(out: Path) -> Path:
    """Where the transformer goes: `.` has no name to add to, and is refused as it is."""
    return out.with_name(f"{out.name}-transformer") if out.name else out


def _blocks(reader: Reader) -> list[BertLayer]:
    return [one for one in reader.modules() if isinstance(one, BertLayer)]


def fewer_units(gram: Tensor, weight: Tensor, keep: int) -> tuple[Tensor, Tensor]:
    """Which units stay, and the matrix that makes most of them: (U, U), (D, U) -> (K,), (D, K)

    Of units h with gram H = sum h hᵀ and outputs W h, losing unit u costs |w_u|² / (H⁻¹)_uu if all
    others are fitted anew.
    """
    with torch.no_grad():
        units = len(gram)
        mean = gram.diagonal().mean()
        inverse = torch.linalg.inv(gram.double() + DAMPING * mean * torch.eye(units))
        fitted = weight.double().clone()
        is_there = torch.ones(units, dtype=torch.bool)
        for _ in range(units - keep):
            scale = inverse.diagonal()
            cost = fitted.square().sum(dim=0) / scale
            lost = int(torch.where(is_there, cost, torch.inf).argmin())
            share = inverse[lost] / inverse[lost, lost]
            fitted -= torch.outer(fitted[:, lost], share)
            inverse -= torch.outer(inverse[:, lost], share)
            inverse[lost, lost] = 1.0  # it is gone: not to be divided by nothing
            is_there[lost] = False
        kept = is_there.nonzero().squeeze(1)
        return kept, fitted[:, kept].to(weight.dtype)


def _gram(block: BertLayer, reader: Reader, read: ReadExamples) -> Tensor:
    """What the units of a layer say together, over all that is read: (U, U)"""
    found: list[Tensor] = []

    def watch(_: nn.Module, given: tuple[Tensor, ...]) -> None:
        states = given[0].flatten(0, -2)
        gram = states.T @ states
        found[:] = [gram if not found else found[0] + gram]

    hook = block.output.dense.register_forward_pre_hook(watch)
    with torch.no_grad():
        read(reader)
    hook.remove()
    return found[0]


def _make_narrower(block: BertLayer, kept: Tensor, after: Tensor) -> None:
    first, second = block.intermediate.dense, block.output.dense
    first.weight, first.bias = nn.Parameter(first.weight[kept]), nn.Parameter(first.bias[kept])
    second.weight = nn.Parameter(after)
    first.out_features = second.in_features = len(kept)


def _write_transformer(
    path: str, place: Path, blocks: Sequence[BertLayer], made_from: Mapping[str, str]
) -> None:
    """A transformer's directory, as narrow as these layers; those that were tuned, their attention
    too, are the reader's weights and are read from there."""
    directory = transformer_directory(path)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model = AutoModel.from_pretrained(directory, local_files_only=True, add_pooling_layer=False)
    for own, narrow in zip(model.encoder.layer, blocks, strict=True):
        own.intermediate.dense, own.output.dense = narrow.intermediate.dense, narrow.output.dense
    model.config.intermediate_size = blocks[0].intermediate.dense.out_features
    with new_artifact(place, Manifest(TRANSFORMER, FORMAT, {}, made_from)) as partial:
        model.save_pretrained(partial)
        shutil.copyfile(directory / "tokenizer.json", partial / "tokenizer.json")
