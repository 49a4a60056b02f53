"""ELMo: a pretrained bidirectional language model, from its published files (checklist 10).

A word's bytes become one vector that knows no context; two stacks of recurrent layers, one read
from the left and one from the right, then add the context. All layers are given back, to be mixed
by `nn/mix.py`. Shapes: U words, P the size of a projection, C the size of a memory cell, L the
recurrent layers of a direction, N all tokens of a batch, padding left out.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import h5py
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, embedding, pad

from muppet.errors import ConfigError

# A word is its UTF-8 bytes (0 to 255) between two marks, filled up; ids are one more than these,
# because 0 is no character at all.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, FILL = range(256, 261)
CHARACTER_IDS = 262
ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}
FORGET_BIAS = 1.0  # the published model was trained with it, the published biases are without it
WORDS_AT_ONCE = 256  # the convolutions of a word need about 200 KB


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """The sizes in a published `options.json`; `filters` are pairs of width and count."""

    character_dim: int
    filters: tuple[tuple[int, int], ...]
    highways: int
    max_characters: int
    activation: str
    layers: int
    cell: int
    projection: int
    cell_clip: float
    projection_clip: float
    has_skip_connections: bool

    @classmethod
    def read(cls, path: Path) -> Self:
        """The options in a file, which is refused unless it fits the code here."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return cls._from_json(content["char_cnn"], content["lstm"])
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{path} is no options.json of ELMo ({type(error).__name__}: {error}). "
                "Take the file published beside the weights."
            ) from error

    @classmethod
    def _from_json(cls, words: dict[str, Any], lstm: dict[str, Any]) -> Self:
        if words["n_characters"] != CHARACTER_IDS:  # files that served for training say 261
            raise ValueError(f"n_characters is {words['n_characters']}, not {CHARACTER_IDS}")
        if words["activation"] not in ACTIVATIONS:
            raise ValueError(f"activation is {words['activation']}, not {' or '.join(ACTIVATIONS)}")
        return cls(
            character_dim=int(words["embedding"]["dim"]),
            filters=tuple((int(width), int(count)) for width, count in words["filters"]),
            highways=int(words["n_highway"]),
            max_characters=int(words["max_characters_per_token"]),
            activation=words["activation"],
            layers=int(lstm["n_layers"]),
            cell=int(lstm["dim"]),
            projection=int(lstm["projection_dim"]),
            cell_clip=float(lstm["cell_clip"]),
            projection_clip=float(lstm["proj_clip"]),
            has_skip_connections=bool(lstm["use_skip_connections"]),
        )


class Affine(nn.Module):
    """x W + b, with W as published: inputs by outputs."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.weight = _frozen(weight)
        self.bias = _frozen(bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """(N, inputs) -> (N, outputs)"""
        return torch.addmm(self.bias, inputs, self.weight)


class PublishedWeights:
    """The published HDF5 file, where each tensor must have the shape the options give it."""

    def __init__(self, file: h5py.File) -> None:
        self.file = file

    def read(self, name: str, *shape: int) -> Tensor:
        """The tensor of this name, a copy."""
        found = self.file.get(name)
        actual = getattr(found, "shape", "missing")
        if actual != shape:
            raise ConfigError(
                f"By the options of ELMo, {name} has the shape {shape}, but in "
                f"{self.file.filename} it is {actual}. Take weights and options that were "
                "published together."
            )
        return torch.from_numpy(found[()].astype(np.float32))

    def affine(self, weight: str, bias: str, inputs: int, outputs: int) -> Affine:
        """The layer of these two tensors."""
        return Affine(self.read(weight, inputs, outputs), self.read(bias, outputs))


class Highway(nn.Module):
    """A gate between what goes in and its transformation; an open gate lets the latter through."""

    def __init__(self, weights: PublishedWeights, group: str, dim: int) -> None:
        super().__init__()
        self.gate = weights.affine(f"{group}/W_carry", f"{group}/b_carry", dim, dim)
        self.transform = weights.affine(f"{group}/W_transform", f"{group}/b_transform", dim, dim)

    def forward(self, inputs: Tensor) -> Tensor:
        """(U, D) -> (U, D)"""
        gate = torch.sigmoid(self.gate(inputs))
        return gate * torch.relu(self.transform(inputs)) + (1 - gate) * inputs


class WordEncoder(nn.Module):
    """The characters of a word → its vector, which no other word has a part in."""

    def __init__(self, weights: PublishedWeights, options: ElmoOptions) -> None:
        super().__init__()
        dim = options.character_dim
        self.activation = ACTIVATIONS[options.activation]
        published = weights.read("char_embed", CHARACTER_IDS - 1, dim)
        self.characters = _frozen(pad(published, (0, 0, 1, 0)))  # (ids, dim), id 0 in front
        self.filters = nn.ParameterList()
        self.biases = nn.ParameterList()
        for number, (width, count) in enumerate(options.filters):
            kernel = weights.read(f"CNN/W_cnn_{number}", 1, width, dim, count)
            self.filters.append(_frozen(kernel[0].permute(2, 1, 0)))  # (count, dim, width)
            self.biases.append(_frozen(weights.read(f"CNN/b_cnn_{number}", count)))
        total = sum(count for _, count in options.filters)
        self.highways = nn.Sequential(
            *(Highway(weights, f"CNN_high_{number}", total) for number in range(options.highways))
        )
        self.projection = weights.affine(
            "CNN_proj/W_proj", "CNN_proj/b_proj", total, options.projection
        )

    def forward(self, characters: Tensor) -> Tensor:
        """(U, characters), ids -> (U, P)"""
        letters = embedding(characters, self.characters).mT  # (U, dim, characters)
        pairs = zip(self.filters, self.biases, strict=True)
        highest = [conv1d(letters, kernel, bias).amax(dim=2) for kernel, bias in pairs]
        features = self.activation(torch.cat(highest, dim=1))  # (U, all filters)
        vectors: Tensor = self.projection(self.highways(features))
        return vectors


class ClippedLstm(nn.Module):
    """One recurrent layer, in one direction: an LSTM whose cell and projected output are clipped.

    Written out, because `torch.nn.LSTM` does not clip and the published weights were trained so.
    """

    def __init__(self, weights: PublishedWeights, group: str, options: ElmoOptions) -> None:
        super().__init__()
        cell, projection = options.cell, options.projection
        bias = weights.read(f"{group}/B", 4 * cell)
        bias[2 * cell : 3 * cell] += FORGET_BIAS
        self.gates = Affine(weights.read(f"{group}/W_0", 2 * projection, 4 * cell), bias)
        self.projection = _frozen(weights.read(f"{group}/W_P_0", cell, projection))
        self.cell_clip = options.cell_clip
        self.projection_clip = options.projection_clip

    def step(self, inputs: Tensor, cell: Tensor, output: Tensor) -> tuple[Tensor, Tensor]:
        """(B, P), (B, C), (B, P) -> the next cell (B, C), the next output (B, P)"""
        gates = self.gates(torch.cat([inputs, output], dim=1))  # (B, 4 C)
        write, content, keep, show = gates.chunk(4, dim=1)
        cell = torch.sigmoid(keep) * cell + torch.sigmoid(write) * torch.tanh(content)
        cell = cell.clamp(-self.cell_clip, self.cell_clip)
        output = (torch.sigmoid(show) * torch.tanh(cell)) @ self.projection
        return cell, output.clamp(-self.projection_clip, self.projection_clip)

    def forward(
        self, inputs: Tensor, sizes: list[int], cell: Tensor, output: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(N, P), (B, C), (B, P) -> all outputs (N, P), the last cells (B, C), outputs (B, P)

        `inputs` is packed: first the first token of all sequences, longest sequence first, and
        so on; `sizes` says how many sequences still have a token at each step.
        """
        outputs = []
        for tokens, size in zip(torch.split(inputs, sizes), sizes, strict=True):
            next_cell, next_output = self.step(tokens, cell[:size], output[:size])
            outputs.append(next_output)
            cell = torch.cat([next_cell, cell[size:]])  # sequences that ended keep their last
            output = torch.cat([next_output, output[size:]])
        return torch.cat(outputs), cell, output


class LstmStack(nn.Module):
    """The recurrent layers of one direction; from the second on, each adds to what it reads."""

    def __init__(self, weights: PublishedWeights, group: str, options: ElmoOptions) -> None:
        super().__init__()
        self.lstms = nn.ModuleList(
            ClippedLstm(weights, f"{group}/RNN/MultiRNNCell/Cell{number}/LSTMCell", options)
            for number in range(options.layers)
        )
        self.has_skip_connections = options.has_skip_connections

    def forward(
        self, inputs: Tensor, sizes: list[int], cells: Tensor, outputs: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(N, P), (L, B, C), (L, B, P) -> (N, 1 + L, P), (L, B, C), (L, B, P); see ClippedLstm"""
        layers, last = [inputs], []
        for lstm, cell, output in zip(self.lstms, cells, outputs, strict=True):
            read, *state = lstm(layers[-1], sizes, cell, output)
            is_added = self.has_skip_connections and len(layers) > 1
            layers.append(read + layers[-1] if is_added else read)
            last.append(state)
        last_cells, last_outputs = zip(*last, strict=True)
        return torch.stack(layers, dim=1), torch.stack(last_cells), torch.stack(last_outputs)


@dataclass(frozen=True, slots=True)
class ElmoState:
    """Where both directions stand after a batch: `cells` (2, L, B, C), `outputs` (2, L, B, P)."""

    cells: Tensor
    outputs: Tensor


class Elmo(nn.Module):
    """The pretrained bidirectional language model; its parameters are frozen."""

    def __init__(self, weights: PublishedWeights, options: ElmoOptions) -> None:
        super().__init__()
        self.options = options
        self.words = WordEncoder(weights, options)
        self.ahead = LstmStack(weights, "RNN_0", options)
        self.back = LstmStack(weights, "RNN_1", options)

    @classmethod
    def from_files(cls, options: Path, weights: Path) -> Self:
        """ELMo from the two files its authors publish, which have to fit each other."""
        for path in (options, weights):
            if not path.is_file():
                raise ConfigError(f"{path} is not there. ELMo needs both of its published files.")
        sizes = ElmoOptions.read(options)
        try:
            file = h5py.File(weights, "r")
        except OSError as error:
            raise ConfigError(
                f"{weights} is no HDF5 file ({error}). Take the weights of ELMo as published."
            ) from error
        with file:
            return cls(PublishedWeights(file), sizes)

    def token_vectors(self, words: Sequence[str]) -> Tensor:
        """Vectors of words without their context: U words -> (U, P)"""
        codes = [word.encode("utf-8", "ignore") for word in words]
        starts = range(0, max(len(codes), 1), WORDS_AT_ONCE)
        return torch.cat([self._encode(codes[start : start + WORDS_AT_ONCE]) for start in starts])

    def layers(self, token_vectors: Tensor, mask: Tensor) -> Tensor:
        """All layers of each token, token vectors first; each sequence is read on its own.

        (B, T, P), (B, T) bool -> (B, T, 1 + L, 2 P), zero where padded. A layer is the forward
        and the backward half; layer 0 is the token vector twice. The boundaries of a sentence
        are added and taken away here. Padding stands behind the tokens, never between them.
        """
        return self.layers_after(self.initial_state(len(mask)), token_vectors, mask)[0]

    def initial_state(self, sequences: int) -> ElmoState:
        """The state before anything is read."""
        shape = (2, self.options.layers, sequences)
        zeros = self.words.characters.new_zeros
        return ElmoState(zeros(*shape, self.options.cell), zeros(*shape, self.options.projection))

    def layers_after(
        self, state: ElmoState, token_vectors: Tensor, mask: Tensor
    ) -> tuple[Tensor, ElmoState]:
        """As `layers`, but sequence b goes on where sequence b of an earlier batch ended.

        The reference embeddings were made in this way; nothing else should be, for a result then
        depends on what was read before it.
        """
        lengths = mask.sum(dim=1)
        if not torch.equal(mask, _steps(mask.shape[1], mask) < lengths[:, None]):
            raise ValueError("The mask has padding between tokens. Unknown words are tokens too.")
        inputs = self._with_boundaries(token_vectors, lengths)  # (B, T + 2, P)
        lengths = lengths + 2
        order = lengths.argsort(descending=True)  # longest first, so that the living stay together
        alive = _steps(int(lengths.max()), mask)[:, None] < lengths[order]  # (T + 2, B)
        sizes = alive.sum(dim=1).tolist()
        steps, ranks = alive.nonzero(as_tuple=True)  # (N,), all tokens, step by step
        rows = order[ranks]
        cells, outputs = list(state.cells[:, :, order]), list(state.outputs[:, :, order])
        halves = []
        directions = (self.ahead, steps), (self.back, lengths[rows] - 1 - steps)  # from its own end
        for way, (stack, at) in enumerate(directions):
            read, cells[way], outputs[way] = stack(
                inputs[rows, at], sizes, cells[way], outputs[way]
            )
            half = inputs.new_zeros(*inputs.shape[:2], *read.shape[1:])  # (B, T + 2, 1 + L, P)
            half[rows, at] = read
            halves.append(half[:, 1:-1])
        layers = torch.cat(halves, dim=3).masked_fill(~mask[:, :, None, None], 0.0)  # no end marks
        unsorted = order.argsort()
        last_cells, last_outputs = torch.stack(cells), torch.stack(outputs)
        return layers, ElmoState(last_cells[:, :, unsorted], last_outputs[:, :, unsorted])

    def _encode(self, words: Sequence[Sequence[int]]) -> Tensor:
        """U words as codes of characters -> (U, P)"""
        longest = self.options.max_characters
        ids = torch.full((len(words), longest), FILL)
        for row, codes in zip(ids, words, strict=True):
            marked = [BEGIN_WORD, *codes[: longest - 2], END_WORD]
            row[: len(marked)] = torch.tensor(marked)
        vectors: Tensor = self.words(ids.to(self.words.characters.device) + 1)
        return vectors

    def _with_boundaries(self, token_vectors: Tensor, lengths: Tensor) -> Tensor:
        """(B, T, P), (B,) -> (B, T + 2, P), each sequence between its two marks"""
        begin, end = self._encode([[BEGIN_SENTENCE], [END_SENTENCE]])
        inputs = pad(token_vectors, (0, 0, 1, 1))
        inputs[:, 0] = begin
        inputs[_steps(len(inputs), inputs), lengths + 1] = end
        return inputs


def _frozen(tensor: Tensor) -> nn.Parameter:
    return nn.Parameter(tensor.contiguous(), requires_grad=False)


def _steps(number: int, like: Tensor) -> Tensor:
    return torch.arange(number, device=like.device)
