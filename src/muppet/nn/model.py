"""A trained encoder as a directory: settings, weights (safetensors), alphabet, word vectors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from muppet.artifact import Manifest, new_artifact, read_manifest
from muppet.config import EncoderConfig, TextConfig, from_table, to_table
from muppet.encode.inputs import make_preparer
from muppet.errors import ArtifactError, ConfigError
from muppet.nn.contextual import make_contextual, make_pieces
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.encoder import Encoder
from muppet.text.prepare import Preparer
from muppet.text.vectors import WordVectors
from muppet.text.vocab import Alphabet, alphabet_of, read_alphabet

KIND = "encoder"
FORMAT = 1
REMAKE = "muppet train encoder RECIPE.toml"


@dataclass(frozen=True, slots=True)
class Model:
    """A network and how texts are made ready for it."""

    config: EncoderConfig
    encoder: Encoder
    preparer: Preparer
    alphabet: Alphabet
    vectors: WordVectors | None


def new_model(config: EncoderConfig, words: Iterable[str], vectors: WordVectors | None) -> Model:
    """An untrained model for texts with these words; the caller has seeded torch."""
    letters = config.characters
    alphabet = alphabet_of(words, at_least=letters.at_least, longest=letters.longest)
    return _assemble(config, alphabet, vectors)


def save_model(
    directory: Path, model: Model, weights: Mapping[str, Tensor], made_from: Mapping[str, str]
) -> None:
    """Write a model with these weights, whole or not at all."""
    manifest = Manifest(KIND, FORMAT, to_table(model.config), dict(made_from))
    save_network(directory, manifest, weights, model.alphabet, model.vectors)


def save_network(
    directory: Path,
    manifest: Manifest,
    weights: Mapping[str, Tensor],
    alphabet: Alphabet,
    vectors: WordVectors | None,
) -> None:
    """The directory of any network that reads texts."""
    with new_artifact(directory, manifest) as partial:
        save_file(
            {name: tensor.contiguous() for name, tensor in weights.items()},
            partial / "weights.safetensors",
        )
        (partial / "alphabet.txt").write_text(alphabet.characters, encoding="utf-8")
        if vectors is not None:
            vectors.save(partial / "vectors")


def load_model(directory: Path) -> Model:
    """A model ready to use: no dropout, no gradients."""
    manifest = read_manifest(directory, KIND, FORMAT, remake=REMAKE)
    config = from_table(EncoderConfig, manifest.config)
    alphabet, vectors = load_words(directory, config, remake=REMAKE)
    model = _assemble(config, alphabet, vectors)
    make_ready(model.encoder, directory)
    return model


def load_words(
    directory: Path, config: TextConfig, *, remake: str
) -> tuple[Alphabet, WordVectors | None]:
    """What a network's directory holds beside its weights."""
    for name in ("weights.safetensors", "alphabet.txt"):
        if not (directory / name).is_file():
            raise ArtifactError(f"{directory} has lost its {name}. Train again: `{remake}`.")
    again = f"Train again: `{remake}`."
    alphabet = read_alphabet(directory / "alphabet.txt", config.characters.longest, again)
    vectors = WordVectors.load(directory / "vectors") if config.word_vectors else None
    return alphabet, vectors


def make_ready(network: nn.Module, directory: Path) -> None:
    """Give a network its trained weights; no dropout, no gradients from now on."""
    load_weights(network, read_weights(directory))
    network.eval().requires_grad_(requires_grad=False)


def read_weights(directory: Path) -> dict[str, Tensor]:
    """The trained weights of a network's directory, by their names."""
    file = directory / "weights.safetensors"
    try:
        return load_file(file)
    except SafetensorError as error:
        raise ArtifactError(f"{file} is damaged ({error}). Train again: `{REMAKE}`.") from error


def trained_weights(encoder: nn.Module) -> dict[str, Tensor]:
    """The weights that training changes; the rest comes from the pretrained files again."""
    return {name: parameter.detach() for name, parameter in trained_parameters(encoder).items()}


def trained_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that training changes, by their names."""
    return {name: p for name, p in module.named_parameters() if p.requires_grad}


def load_weights(encoder: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Put trained weights in their places; what is missing or too much is an error."""
    wanted = trained_weights(encoder)
    shapes = {(name, weight.shape) for name, weight in wanted.items()}
    odd = sorted({name for name, _ in shapes ^ {(n, w.shape) for n, w in weights.items()}})
    if odd:
        raise ConfigError(f"The weights do not fit the network: {', '.join(odd[:3])}, …")
    with torch.no_grad():
        for name, parameter in wanted.items():
            parameter.copy_(weights[name])


def _assemble(config: EncoderConfig, alphabet: Alphabet, vectors: WordVectors | None) -> Model:
    embedding, preparer = make_inputs("encoder", config, alphabet, vectors)
    return Model(config, Encoder(config, embedding), preparer, alphabet, vectors)


def make_inputs(
    stage: str, config: TextConfig, alphabet: Alphabet, vectors: WordVectors | None
) -> tuple[TokenEmbedding, Preparer]:
    """How a network's tokens begin, and how texts are made ready for it."""
    if config.word_vectors and vectors is None:
        raise ConfigError(
            f"{stage}.word_vectors is on, but no vectors are given. Name a file with "
            f"data.word_vectors, or set {stage}.word_vectors = false."
        )
    used = vectors if config.word_vectors else None
    matrix = None if used is None else used.matrix
    embedding = TokenEmbedding(
        matrix, len(alphabet), config.characters, make_contextual(config.contextual)
    )
    return embedding, make_preparer(config, alphabet, used, make_pieces(config.contextual))
