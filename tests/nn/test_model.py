"""A trained encoder as a directory: what is saved is what is loaded."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from muppet.config import CharacterConfig, EncoderConfig
from muppet.domain import Paragraph
from muppet.errors import ArtifactError, ConfigError
from muppet.nn.arrays import tensors
from muppet.nn.encoder import Encoded
from muppet.nn.model import (
    Model,
    load_model,
    load_weights,
    new_model,
    save_model,
    trained_weights,
)
from muppet.text.batch import make_batch
from muppet.text.vectors import WordVectors

CONFIG = EncoderConfig(
    dim=8, characters=CharacterConfig(dim=3, filters=4, width=2, longest=7, at_least=2)
)
WORDS = ["Grytviken", "whale", "whaling", "éé", "#+", "\u2028\u2028"]
VECTORS = WordVectors(
    ("whale", "Whale"), np.random.default_rng(4).normal(size=(2, 5)).astype(np.float32)
)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(5)


def model_of(config: EncoderConfig = CONFIG, vectors: WordVectors | None = VECTORS) -> Model:
    model = new_model(config, WORDS * 2, vectors)
    model.encoder.eval()
    return model


def save(directory: Path, model: Model) -> Path:
    save_model(directory, model, trained_weights(model.encoder), {"train.json": "abc"})
    return directory


@torch.no_grad()
def outputs(model: Model) -> list[Tensor]:
    """Everything the network says of a question and two paragraphs."""
    encoder, ready = model.encoder, model.preparer
    texts = [("Whale oil, of Grytviken.", " éé whales."), ("Unheard of.",)]
    paragraphs = [ready.paragraph(Paragraph("p", "Whaling", text)) for text in texts]
    batch = tensors(make_batch(paragraphs, ready.lexicon))
    asked = tensors(make_batch([ready.question("Which Whale?")] * 2, ready.lexicon))
    question, read = encoder.read(asked), encoder.read(batch)
    sentences, present = encoder.sentences(read, batch)
    found = [read.states, sentences, encoder.question(question)]
    found.append(encoder.relevance_at(0)(sentences, present, found[-1]))
    if encoder.config.hops > 1:
        found.append(encoder.reformulate(question, Encoded(*read)).question)
        found.append(encoder.relevance_at(1).of_all(sentences, present, found[-1]))
        found.append(encoder.is_complete(found[-2]))
    return found


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        replace(CONFIG, hops=1),
        replace(CONFIG, hops=3, attention="released", granularity="paragraph"),
        replace(CONFIG, word_vectors=False, title=False, max_tokens=5),
    ],
    ids=["two hops", "one hop", "three hops as released", "no vectors"],
)
def test_a_loaded_model_says_exactly_what_the_saved_one_said(
    tmp_path: Path, config: EncoderConfig
) -> None:
    model = model_of(config, VECTORS if config.word_vectors else None)
    loaded = load_model(save(tmp_path / "model", model))
    assert loaded.config == config
    model.encoder.requires_grad_(requires_grad=False)  # else torch rounds in other places
    for before, after in zip(outputs(model), outputs(loaded), strict=True):
        assert torch.equal(before, after)


def test_a_loaded_model_is_out_of_training_and_has_no_gradients(tmp_path: Path) -> None:
    loaded = load_model(save(tmp_path / "model", model_of()))
    assert not any(module.training for module in loaded.encoder.modules())
    assert not any(weights.requires_grad for weights in loaded.encoder.parameters())


def test_the_weights_that_are_given_are_saved_and_not_the_network_s_own(tmp_path: Path) -> None:
    """Those are the averaged ones (checklist 19)."""
    model = model_of()
    averaged = {
        name: torch.full_like(w, 0.25) for name, w in trained_weights(model.encoder).items()
    }
    save_model(tmp_path / "model", model, averaged, {})
    loaded = load_model(tmp_path / "model")
    assert (loaded.encoder.recurrent.forwards.weight_ih_l0 == 0.25).all()
    assert not (model.encoder.recurrent.forwards.weight_ih_l0 == 0.25).any()


def test_a_model_directory_holds_no_pickle_and_nothing_unexpected(tmp_path: Path) -> None:
    directory = save(tmp_path / "model", model_of())
    files = sorted(
        str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()
    )
    assert files == [
        "alphabet.txt",
        "manifest.json",
        "vectors/manifest.json",
        "vectors/matrix.npy",
        "vectors/words.txt",
        "weights.safetensors",
    ]
    for path in directory.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not content.startswith((b"\x80", b"PK"))  # pickle; torch.save
            assert b"numpy.core" not in content


def test_pretrained_vectors_are_not_among_the_trained_weights_checklist_8() -> None:
    assert not any("vectors" in name for name in trained_weights(model_of().encoder))


def test_weights_of_another_network_are_refused_and_change_nothing() -> None:
    encoder = model_of().encoder
    before = {name: weights.clone() for name, weights in trained_weights(encoder).items()}
    fewer = dict(list(before.items())[1:])
    more = before | {"another.weight": torch.zeros(1)}
    for weights in (fewer, more, {}):
        with pytest.raises(ConfigError, match="do not fit the network"):
            load_weights(encoder, weights)
    for name, weights in trained_weights(encoder).items():
        assert torch.equal(weights, before[name])


@pytest.mark.parametrize("shape", [(3,), (1,), ()], ids=str)
def test_weights_of_another_size_are_refused(shape: tuple[int, ...]) -> None:
    """A single number would otherwise be spread over all places."""
    encoder = model_of().encoder
    weights = trained_weights(encoder) | {"relevance.0.sentence": torch.zeros(shape)}
    with pytest.raises(ConfigError, match="do not fit the network"):
        load_weights(encoder, weights)


def test_a_directory_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no encoder"):
        load_model(tmp_path)


@pytest.mark.parametrize("file", ["weights.safetensors", "alphabet.txt"])
def test_a_model_that_has_lost_a_file_is_refused(tmp_path: Path, file: str) -> None:
    directory = save(tmp_path / "model", model_of())
    (directory / file).unlink()
    with pytest.raises(ArtifactError, match=file):
        load_model(directory)


def test_word_vectors_that_are_wanted_and_not_given_are_an_error() -> None:
    with pytest.raises(ConfigError, match=r"data\.word_vectors"):
        new_model(CONFIG, WORDS, None)


def test_an_alphabet_of_any_characters_comes_back(tmp_path: Path) -> None:
    model = model_of()
    assert {"é", "#", "\u2028"} <= set(model.alphabet.characters)
    assert load_model(save(tmp_path / "model", model)).alphabet == model.alphabet


def test_one_seed_gives_one_model() -> None:
    first = trained_weights(model_of().encoder)
    torch.manual_seed(5)
    second = trained_weights(model_of().encoder)
    assert all(torch.equal(first[name], second[name]) for name in first)
