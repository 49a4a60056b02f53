"""A trained reader as a directory, as `nn.model` has it for the encoder."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from muppet.artifact import Manifest, read_manifest
from muppet.config import ReaderConfig, from_table, to_table
from muppet.nn.model import load_words, make_inputs, make_ready, save_network
from muppet.nn.reader import Reader
from muppet.text.prepare import Preparer
from muppet.text.vectors import WordVectors
from muppet.text.vocab import Alphabet, alphabet_of

KIND = "reader"
FORMAT = 1
REMAKE = "muppet train reader RECIPE.toml"


@dataclass(frozen=True, slots=True)
class ReaderModel:
    """A reader and how texts are made ready for it."""

    config: ReaderConfig
    reader: Reader
    preparer: Preparer
    alphabet: Alphabet
    vectors: WordVectors | None


def new_reader(
    config: ReaderConfig, words: Iterable[str], vectors: WordVectors | None
) -> ReaderModel:
    """An untrained reader for texts with these words; the caller has seeded torch."""
    letters = config.characters
    alphabet = alphabet_of(words, at_least=letters.at_least, longest=letters.longest)
    return _assemble(config, alphabet, vectors)


def save_reader(
    directory: Path, model: ReaderModel, weights: Mapping[str, Tensor], made_from: Mapping[str, str]
) -> None:
    """Write a reader with these weights, whole or not at all."""
    manifest = Manifest(KIND, FORMAT, to_table(model.config), dict(made_from))
    save_network(directory, manifest, weights, model.alphabet, model.vectors)


def load_reader(directory: Path) -> ReaderModel:
    """A reader ready to use: no dropout, no gradients."""
    manifest = read_manifest(directory, KIND, FORMAT, remake=REMAKE)
    config = from_table(ReaderConfig, manifest.config)
    alphabet, vectors = load_words(directory, config, remake=REMAKE)
    model = _assemble(config, alphabet, vectors)
    make_ready(model.reader, directory)
    return model


def _assemble(config: ReaderConfig, alphabet: Alphabet, vectors: WordVectors | None) -> ReaderModel:
    embedding, preparer = make_inputs("reader", config, alphabet, vectors)
    return ReaderModel(config, Reader(config, embedding), preparer, alphabet, vectors)
