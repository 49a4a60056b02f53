"""What every exported model has in its directory beside its graphs: how its texts are prepared."""

from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from muppet.config import ReaderConfig, TextConfig
from muppet.errors import ArtifactError
from muppet.text.batch import Batch
from muppet.text.numbers import order_marks
from muppet.text.prepare import Pieces, Preparer
from muppet.text.vectors import WordVectors
from muppet.text.vocab import Alphabet, Lexicon, read_alphabet

TEXT_INPUTS = (
    "words",
    "mask",
    "lengths",
    "segments",
    "sentences",
    "vector_rows",
    "characters",
    "pieces",
    "piece_mask",
    "piece_tokens",
)

Array = NDArray[Any]


def text_inputs(config: TextConfig) -> tuple[str, ...]:
    """The fields of a batch that this network reads."""
    pieces = config.contextual.kind == "transformer"
    wanted = {
        "words": config.spells,
        "mask": True,
        "lengths": config.network == "recurrent",
        "segments": True,
        "sentences": True,
        "vector_rows": config.word_vectors,
        "characters": config.characters.filters > 0,
        "pieces": pieces,
        "piece_mask": pieces,
        "piece_tokens": pieces,
    }
    return tuple(name for name in TEXT_INPUTS if wanted[name])


def make_preparer(
    config: TextConfig, alphabet: Alphabet, vectors: WordVectors | None, pieces: Pieces | None
) -> Preparer:
    """How texts are made ready for a network, in training as later."""
    return Preparer(
        Lexicon(alphabet, _no_row if vectors is None else vectors.row),
        pieces,
        max_tokens=config.max_tokens,
        with_title=config.title,
        spells=config.spells,
        marks=order_marks(pieces) if pieces and _compares(config) else None,
    )


def _compares(config: TextConfig) -> bool:
    return isinstance(config, ReaderConfig) and config.numbers


class Inputs:
    """Texts made ready for one exported model, and batches of them given to its graphs."""

    def __init__(self, directory: Path, config: TextConfig, positions: int, remake: str) -> None:
        self._vectors = WordVectors.load(directory / "vectors") if config.word_vectors else None
        self._names = text_inputs(config)
        letters = file_of(directory, "alphabet.txt", remake)
        again = f"Export it again: `{remake}`."
        alphabet = read_alphabet(letters, config.characters.longest, again)
        pieces = Pieces(directory, positions) if positions else None
        self.preparer = make_preparer(config, alphabet, self._vectors, pieces)

    def require_all_of(self, wanted: Container[str], path: Path, remake: str) -> None:
        """Refuse a graph that reads what a network of these settings is not given."""
        for name in TEXT_INPUTS:
            if name in wanted and name not in self._names:
                raise ArtifactError(
                    f"{path} reads {name}, which the manifest beside it does not have. Export it "
                    f"again: `{remake}`."
                )

    def fields(self, batch: Batch, wanted: Container[str]) -> dict[str, Array]:
        """What the network reads of a batch, as far as a graph wants it: some it optimised away."""
        return {name: self._field(batch, name) for name in self._names if name in wanted}

    def _field(self, batch: Batch, name: str) -> Array:
        if name == "vector_rows":
            return self._rows(batch.vector_rows)
        field: Array = getattr(batch, name)
        return field

    def _rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Word vectors of the batch's words, zeros for the unknown (row 0): (U, D)"""
        assert self._vectors is not None
        matrix = self._vectors.matrix
        found = np.zeros((len(rows), matrix.shape[1]), dtype=np.float32)
        known = rows > 0
        found[known] = matrix[rows[known] - 1]
        return found


def file_of(directory: Path, name: str, remake: str) -> Path:
    """A file of an exported model, which must be there."""
    if not (directory / name).is_file():
        raise ArtifactError(f"{directory} has lost its {name}. Export it again: `{remake}`.")
    return directory / name


def open_session(path: Path, remake: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # `chunked` has several runs at once instead
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ArtifactError(f"{path} is damaged ({error}). Export it again: `{remake}`.") from error


def _no_row(_word: str) -> int:
    return -1
