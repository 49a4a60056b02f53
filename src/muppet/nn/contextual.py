"""The contextual input: one slot, three fillings: none, ELMo, a transformer (checklist 10)."""

import json
from pathlib import Path
from typing import Protocol

from torch import Tensor, nn

from muppet.config import ContextualConfig
from muppet.errors import ConfigError
from muppet.nn.arrays import TensorBatch
from muppet.nn.elmo import Elmo
from muppet.nn.elmo_cache import TokenCache
from muppet.nn.mix import ScalarMix
from muppet.nn.transformer import Transformer, transformer_directory
from muppet.text.prepare import Pieces

KINDS = ("none", "elmo", "transformer")
TOKEN_CACHE = "token-cache"


class Source(Protocol):
    """What fills the slot: `depth` layers of `size` numbers for every token."""

    depth: int
    size: int

    def layers(self, batch: TensorBatch) -> Tensor:
        """-> (B, T, L, size)"""
        ...


def open_elmo(directory: Path) -> Elmo:
    """ELMo itself, without the cache of its token vectors."""
    (weights, *_) = [*sorted(directory.glob("*weights*.hdf5")), directory / "weights.hdf5"]
    return Elmo.from_files(directory / "options.json", weights)


class ElmoSource(nn.Module):
    """ELMo, from a directory with the published options.json and weights.hdf5.

    With a `token-cache` there as well (`muppet train elmo`), only the words in it are known, and
    the others share one vector, as in the paper; without it every word is spelt out.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.elmo = open_elmo(directory)
        self.depth = 1 + self.elmo.options.layers
        self.size = 2 * self.elmo.options.projection
        cache = directory / TOKEN_CACHE
        self._cache = TokenCache.open(cache, self.elmo) if cache.exists() else None

    def layers(self, batch: TensorBatch) -> Tensor:
        """-> (B, T, L, size)"""
        vectors = self._vectors(batch.spellings)[batch.words]  # (U, P) -> (B, T, P)
        return self.elmo.layers(vectors, batch.mask)

    def _vectors(self, words: tuple[str, ...]) -> Tensor:
        """(U, P)"""
        if self._cache is None:
            return self.elmo.token_vectors(words)
        return self._cache.vectors(self._cache.rows(words))


class Contextual(nn.Module):
    """A learned mix of the source's layers, or of those computed beforehand, with dropout."""

    def __init__(self, source: Transformer | ElmoSource, dropout: float) -> None:
        super().__init__()
        self.source = source
        self.mix = ScalarMix(source.depth)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: TensorBatch) -> Tensor:
        """-> (B, T, size)"""
        layers = self.source.layers(batch) if batch.frozen is None else batch.frozen
        mixed: Tensor = self.dropout(self.mix(layers))
        return mixed


def make_contextual(config: ContextualConfig) -> Contextual | None:
    if config.kind not in KINDS:
        raise ConfigError(f"contextual.kind must be one of {', '.join(KINDS)}: {config.kind!r}.")
    if config.kind == "none":
        return None
    elmo = config.kind == "elmo"
    source = ElmoSource(Path(config.path)) if elmo else Transformer(config)
    return Contextual(source, config.dropout)


def make_pieces(config: ContextualConfig) -> Pieces | None:
    """The word pieces a transformer wants, as many as it has positions; others want none."""
    if config.kind != "transformer":
        return None
    directory = transformer_directory(config.path)
    facts = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    taken = facts["pad_token_id"] + 1 if "roberta" in facts.get("model_type", "") else 0
    return Pieces(directory, longest=min(512, facts["max_position_embeddings"] - taken))
