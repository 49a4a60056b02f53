"""The contextual layers of a frozen source, computed once and memory-mapped for training.

A row is a token: texts one after another, those of text i being rows `starts[i] : starts[i + 1]`.
What is computed so far waits in `x.unfinished`, beside a note of how many texts that is; so a
stopped computation goes on where it was, and `x` is whole or not there.
"""

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from muppet.artifact import Manifest, new_artifact, read_manifest, require_made_from, write_json
from muppet.domain import Progress
from muppet.nn.arrays import tensors
from muppet.nn.contextual import Source
from muppet.text.batch import make_batch
from muppet.text.prepare import Prepared
from muppet.text.vocab import Lexicon

KIND = "frozen inputs"
FORMAT = 1
REMAKE = "muppet train, with another --out"
AT_ONCE = 32
"""Texts of similar length that go through the source together."""
SAFE_AFTER = 20
"""So many times that, and what was computed is on the disk."""


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


class StandIns:
    """Zeros in place of the layers of any texts: they cost as much to learn from."""

    def __init__(self, source: Source) -> None:
        self._token = np.zeros((source.depth, source.size), dtype=np.float16)

    def fill(self, texts: Sequence[Prepared]) -> list[Prepared]:
        return [replace(text, frozen=self._of(len(text.types))) for text in texts]

    def _of(self, tokens: int) -> NDArray[np.float16]:
        return np.broadcast_to(self._token, (tokens, *self._token.shape))


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
    unfinished = directory.with_name(directory.name + ".unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    before = _done_before(unfinished, made_from)
    out = np.lib.format.open_memmap(
        unfinished / "layers.npy",
        mode="r+" if before else "w+",
        dtype=np.float16,
        shape=(int(starts[-1]), source.depth, source.size),
    )
    for first in range(before, len(order), AT_ONCE):
        places = order[first : first + AT_ONCE]
        layers = _layers([texts[place] for place in places], source, lexicon)
        for place, rows in zip(places, layers, strict=True):
            out[starts[place] : starts[place + 1]] = rows[: lengths[place]]
        done = first + len(places)
        if done % (SAFE_AFTER * AT_ONCE) == 0:
            out.flush()
            write_json(unfinished / "done.json", {"made_from": dict(made_from), "texts": done})
        progress(f"inputs, {directory.name}", done, len(order))
    out.flush()
    with new_artifact(directory, Manifest(KIND, FORMAT, {}, dict(made_from))) as partial:
        (unfinished / "layers.npy").rename(partial / "layers.npy")
        np.save(partial / "starts.npy", starts)
    shutil.rmtree(unfinished)


def seconds_to_compute(texts: Sequence[Prepared], source: Source, lexicon: Lexicon) -> float:
    """How long `compute_frozen` will take, from a few texts of middling length tried out."""
    lengths = np.array([len(text.types) for text in texts], dtype=np.int64)
    tried = np.argsort(lengths, kind="stable")[len(texts) // 2 :][:AT_ONCE]
    began = time.monotonic()
    _layers([texts[place] for place in tried], source, lexicon)
    per_token = (time.monotonic() - began) / max(int(lengths[tried].sum()), 1)
    return per_token * int(lengths.sum())


def _layers(texts: Sequence[Prepared], source: Source, lexicon: Lexicon) -> NDArray[np.float16]:
    """(B, T, L, D)"""
    with torch.no_grad():
        layers: NDArray[np.float16] = (
            source.layers(tensors(make_batch(texts, lexicon))).half().numpy()
        )
    return layers


def _done_before(unfinished: Path, made_from: Mapping[str, str]) -> int:
    """How many of the same texts, by the same settings, a stopped computation has on the disk."""
    note = unfinished / "done.json"
    if not note.is_file() or not (unfinished / "layers.npy").is_file():
        return 0
    told = json.loads(note.read_text(encoding="utf-8"))
    return int(told["texts"]) if told["made_from"] == dict(made_from) else 0
