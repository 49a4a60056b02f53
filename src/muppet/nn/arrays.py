"""A NumPy batch as tensors."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from muppet.text.batch import Batch


class TensorBatch(NamedTuple):
    """The fields of `text.batch.Batch`, which says what they are."""

    words: Tensor
    mask: Tensor
    lengths: Tensor
    segments: Tensor
    sentences: Tensor
    spellings: tuple[str, ...]
    vector_rows: Tensor
    characters: Tensor
    pieces: Tensor
    piece_mask: Tensor
    piece_tokens: Tensor
    frozen: Tensor | None


def tensors(batch: Batch) -> TensorBatch:
    return TensorBatch(*(_tensor(getattr(batch, name)) for name in TensorBatch._fields))


def _tensor(field: Any) -> Any:  # noqa: ANN401 (arrays become tensors, the rest stays)
    if not isinstance(field, np.ndarray):
        return field
    tensor = torch.from_numpy(field)
    return tensor.float() if tensor.is_floating_point() else tensor
