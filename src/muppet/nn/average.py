"""Networks that were trained on from one another → one with the mean of their weights.

They lie in one valley: what one learned late and another had not yet forgotten, the mean often
does both. Not in the paper.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from muppet.artifact import checksum_file, kind_of
from muppet.errors import ConfigError
from muppet.nn import reader_model
from muppet.nn.model import Model, load_model, read_weights, save_model
from muppet.nn.reader_model import ReaderModel, load_reader, save_reader

Trained = TypeVar("Trained", Model, ReaderModel)


def average_networks(directories: Sequence[Path], out: Path) -> None:
    """Write the mean of trained encoders, or of trained readers, which must be of one network,
    whole or not at all."""
    if kind_of(directories[0]) == reader_model.KIND:
        _average(directories, out, load_reader, save_reader)
    else:
        _average(directories, out, load_model, save_model)


def _average(
    directories: Sequence[Path],
    out: Path,
    load: Callable[[Path], Trained],
    save: Callable[[Path, Trained, Mapping[str, Tensor], Mapping[str, str]], None],
) -> None:
    first, *others = [load(directory) for directory in directories]
    for directory, other in zip(directories[1:], others, strict=True):
        if other.config != first.config or not _reads_alike(other, first):
            raise ConfigError(
                f"{directory} is another network than {directories[0]}: only those trained by "
                "recipes with the same [encoder], or the same [reader], have a mean."
            )
    found = [read_weights(directory) for directory in directories]
    mean = {name: torch.stack([one[name] for one in found]).mean(dim=0) for name in found[0]}
    sums = {str(one): checksum_file(one / "weights.safetensors") for one in directories}
    save(out, first, mean, sums)


def _reads_alike(one: Model | ReaderModel, other: Model | ReaderModel) -> bool:
    """Whether what their words begin as is the same, as far as the networks look at it."""
    spells_alike = one.alphabet == other.alphabet or not one.config.characters.filters
    if one.vectors is None or other.vectors is None:
        return spells_alike
    same = one.vectors.words == other.vectors.words
    return spells_alike and same and np.array_equal(one.vectors.matrix, other.vectors.matrix)
