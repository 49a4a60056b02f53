"""An ELMo of random weights, small enough for any test, in the files a real one has."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muppet.nn.elmo import Elmo

P, C = 3, 5  # projection and cell
FILTERS = [[1, 3], [2, 4], [4, 2]]
LONGEST = 12

Floats = NDArray[Any]
Arrays = dict[str, Floats]


def tiny_options() -> dict[str, Any]:
    return {
        "lstm": {
            "cell_clip": 0.6,
            "proj_clip": 0.5,
            "use_skip_connections": True,
            "n_layers": 2,
            "projection_dim": P,
            "dim": C,
        },
        "char_cnn": {
            "embedding": {"dim": 4},
            "filters": FILTERS,
            "n_highway": 2,
            "n_characters": 262,
            "max_characters_per_token": LONGEST,
            "activation": "relu",
        },
    }


def tiny_weights(seed: int = 7) -> Arrays:
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, 4)}
    for number, (width, count) in enumerate(FILTERS):
        shapes[f"CNN/W_cnn_{number}"] = (1, width, 4, count)
        shapes[f"CNN/b_cnn_{number}"] = (count,)
    for number in range(2):
        for name in ("carry", "transform"):
            shapes[f"CNN_high_{number}/W_{name}"] = (9, 9)
            shapes[f"CNN_high_{number}/b_{name}"] = (9,)
    shapes |= {"CNN_proj/W_proj": (9, P), "CNN_proj/b_proj": (P,)}
    for way in range(2):
        for layer in range(2):
            group = f"RNN_{way}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {f"{group}/W_0": (2 * P, 4 * C), f"{group}/B": (4 * C,)}
            shapes |= {f"{group}/W_P_0": (C, P)}
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, 0.8, shape).astype(np.float32) for name, shape in shapes.items()}


def write_elmo(directory: Path, options: dict[str, Any], weights: Arrays) -> tuple[Path, Path]:
    directory.mkdir(exist_ok=True)
    files = directory / "options.json", directory / "weights.hdf5"
    files[0].write_text(json.dumps(options))
    with h5py.File(files[1], "w") as file:
        for name, array in weights.items():
            file[name] = array
    return files


def padded(vectors: Sequence[Tensor], width: int | None = None) -> tuple[Tensor, Tensor]:
    """Sequences (T, P) -> (B, T, P) with noise behind them, (B, T)."""
    width = width or max(map(len, vectors))
    noise = torch.Generator().manual_seed(len(vectors) + width)
    batch = torch.randn(len(vectors), width, vectors[0].shape[1], generator=noise)
    mask = torch.zeros(len(vectors), width, dtype=torch.bool)
    for row, sequence in enumerate(vectors):
        batch[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = True
    return batch, mask


def alone(elmo: Elmo, words: Sequence[str]) -> Tensor:
    """The layers of one sentence: (T, 3, 2 P)"""
    return elmo.layers(*padded([elmo.token_vectors(words)]))[0]
