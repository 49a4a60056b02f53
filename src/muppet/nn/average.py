"""Readers that were trained on from one another → one with the mean of their weights.

They lie in one valley: what one learned late and another had not yet forgotten, the mean often
does both. Not in the paper.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from muppet.artifact import checksum_file
from muppet.errors import ConfigError
from muppet.nn.model import read_weights
from muppet.nn.reader_model import ReaderModel, load_reader, save_reader


def average_readers(directories: Sequence[Path], out: Path) -> None:
    """Write the mean of trained readers, which must be of one network, whole or not at all."""
    first, *others = [load_reader(directory) for directory in directories]
    for directory, other in zip(directories[1:], others, strict=True):
        if other.config != first.config or not _reads_alike(other, first):
            raise ConfigError(
                f"{directory} is another network than {directories[0]}: only readers trained by "
                "recipes with the same [reader] have a mean."
            )
    found = [read_weights(directory) for directory in directories]
    mean = {name: torch.stack([one[name] for one in found]).mean(dim=0) for name in found[0]}
    sums = {str(one): checksum_file(one / "weights.safetensors") for one in directories}
    save_reader(out, first, mean, sums)


def _reads_alike(one: ReaderModel, other: ReaderModel) -> bool:
    """Whether what their words begin as is the same, as far as the networks look at it."""
    spells_alike = one.alphabet == other.alphabet or not one.config.characters.filters
    if one.vectors is None or other.vectors is None:
        return spells_alike
    same = one.vectors.words == other.vectors.words
    return spells_alike and same and np.array_equal(one.vectors.matrix, other.vectors.matrix)
