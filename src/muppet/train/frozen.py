"""The contextual layers of a frozen source, computed once and memory-mapped for training.

A row is a token: texts one after another, those of text i being rows `starts[i] : starts[i + 1]`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from muppet.artifact import Manifest, new_artifact, read_manifest, require_made_from
from muppet.domain import Progress
from muppet.nn.arrays import tensors
from muppet.nn.contextual import Source
from muppet.text.batch import make_batch
from muppet.text.prepare import Prepared
from muppet.text.vocab import Lexicon

KIND = "frozen inputs"
FORMAT = 1
REMAKE = "muppet train encoder RECIPE.toml"
AT_ONCE = 32
"""Texts of similar length that go through the source together."""


class FrozenInputs:
    """Layers of the texts they were computed for, by the texts' places."""

    def __init__(self, directory: Path, made_from: Mapping[str, str]) -> None:
        manifest = read_manifest(directory, KIND, FORMAT, remake=REMAKE)
        require_made_from(directory, manifest, made_from, remake=REMAKE)
        self._starts = np.load(directory / "starts.npy")  # (texts + 1,)
        self._layers = np.load(directory / "layers.npy", mmap_mode="r")  # (tokens, L, D)

    def fill(self, texts: Sequence[Prepared]) -> list[Prepared]:
        """The same texts, in the same order, each with its layers."""
        return [replace(text, frozen=self._of(place)) for place, text in enumerate(texts)]

    def _of(self, place: int) -> NDArray[np.float16]:
        rows: NDArray[np.float16] = self._layers[self._starts[place] : self._starts[place + 1]]
        return rows


def compute_frozen(
    directory: Path,
    texts: Sequence[Prepared],
    source: Source,
    lexicon: Lexicon,
    *,
    made_from: Mapping[str, str],
    progress: Progress,
) -> None:
    """Write the layers of all texts, longest first, so that memory and time are known early."""
    lengths = np.array([len(text.types) for text in texts], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    order = np.argsort(-lengths, kind="stable")
    with new_artifact(directory, Manifest(KIND, FORMAT, {}, dict(made_from))) as partial:
        shape = (int(starts[-1]), source.depth, source.size)
        out = np.lib.format.open_memmap(
            partial / "layers.npy", mode="w+", dtype=np.float16, shape=shape
        )
        for first in range(0, len(order), AT_ONCE):
            places = order[first : first + AT_ONCE]
            batch = tensors(make_batch([texts[place] for place in places], lexicon))
            with torch.no_grad():
                layers = source.layers(batch).half().numpy()  # (B, T, L, D)
            for place, rows in zip(places, layers, strict=True):
                out[starts[place] : starts[place + 1]] = rows[: lengths[place]]
            progress(f"inputs, {directory.name}", first + len(places), len(order))
        out.flush()
        np.save(partial / "starts.npy", starts)
