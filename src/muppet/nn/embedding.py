"""token = [word vector ; characters ; contextual] (checklist 8-10)."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding

from muppet.config import CharacterConfig
from muppet.nn.arrays import TensorBatch
from muppet.nn.contextual import Contextual


class CharacterCnn(nn.Module):
    """A word's characters: embedded, convolved, ReLU, the maximum over positions (checklist 9)."""

    def __init__(self, alphabet: int, config: CharacterConfig) -> None:
        super().__init__()
        self.characters = nn.Embedding(alphabet, config.dim, padding_idx=0)
        self.dropout = nn.Dropout(config.dropout)
        self.convolution = nn.Conv1d(config.dim, config.filters, config.width)

    def forward(self, characters: Tensor) -> Tensor:
        """(U, characters) -> (U, filters)"""
        embedded = self.dropout(self.characters(characters)).transpose(1, 2)
        convolved: Tensor = self.convolution(embedded)  # (U, filters, positions)
        return convolved.relu().amax(dim=2)


class TokenEmbedding(nn.Module):
    """What a token is before its context is read; `size` is how many numbers that is."""

    def __init__(
        self,
        vectors: NDArray[np.float32] | None,
        alphabet: int,
        characters: CharacterConfig,
        contextual: Contextual | None,
    ) -> None:
        super().__init__()
        self.vectors = _frozen(vectors)
        self.characters = CharacterCnn(alphabet, characters) if characters.filters else None
        self.contextual = contextual
        words = 0 if vectors is None else vectors.shape[1]
        self.size = words + characters.filters + (contextual.source.size if contextual else 0)

    def forward(self, batch: TensorBatch) -> Tensor:
        """(B, T) words -> (B, T, size)"""
        parts = []
        if self.vectors is not None:
            parts.append(embedding(batch.words, self.vectors(batch.vector_rows)))  # -> (B, T, D)
        if self.characters is not None:
            parts.append(embedding(batch.words, self.characters(batch.characters)))
        if self.contextual is not None:
            parts.append(self.contextual(batch))
        return torch.cat(parts, dim=2)


def _frozen(vectors: NDArray[np.float32] | None) -> nn.Embedding | None:
    """Pretrained vectors that are not trained; row 0, the unknown word's, is zero."""
    if vectors is None:
        return None
    with_zero = np.concatenate([np.zeros((1, vectors.shape[1]), dtype=np.float32), vectors])
    rows, dim = with_zero.shape
    table = nn.Embedding(rows, dim, _weight=torch.from_numpy(with_zero))
    return table.requires_grad_(requires_grad=False)
