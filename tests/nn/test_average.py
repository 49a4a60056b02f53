"""The mean of networks that were trained on from one another."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from muppet.config import CharacterConfig, EncoderConfig, ReaderConfig
from muppet.errors import ArtifactError, ConfigError
from muppet.nn.average import average_networks
from muppet.nn.model import load_model, new_model, save_model, trained_weights
from muppet.nn.reader_model import load_reader, new_reader, save_reader
from muppet.text.vectors import WordVectors

CONFIG = ReaderConfig(dim=8, word_vectors=False, characters=CharacterConfig(dim=4, filters=4))


def saved(
    directory: Path,
    seed: int,
    config: ReaderConfig = CONFIG,
    word: str = "owl",
    vector_of: str = "owl",
) -> Path:
    torch.manual_seed(seed)
    known = WordVectors((vector_of,), np.ones((1, 4), np.float32))
    vectors = known if config.word_vectors else None
    model = new_reader(config, [word] * 60, vectors)
    save_reader(directory, model, trained_weights(model.reader), {})
    return directory


def test_every_weight_is_the_mean_of_theirs(tmp_path: Path) -> None:
    some = [saved(tmp_path / str(seed), seed) for seed in range(3)]
    average_networks(some, tmp_path / "mean")
    mean, *own = (load_file(one / "weights.safetensors") for one in (tmp_path / "mean", *some))
    assert mean
    for name, value in mean.items():
        torch.testing.assert_close(value, (own[0][name] + own[1][name] + own[2][name]) / 3)
    assert load_reader(tmp_path / "mean").config == CONFIG


def test_where_no_letters_are_read_the_alphabets_of_other_data_do_not_matter(
    tmp_path: Path,
) -> None:
    unspelt = replace(CONFIG, word_vectors=True, characters=CharacterConfig(filters=0))
    some = [saved(tmp_path / word, 1, unspelt, word) for word in ("owl", "ibis")]
    average_networks(some, tmp_path / "mean")
    assert load_reader(tmp_path / "mean").alphabet == load_reader(some[0]).alphabet
    spelt = [saved(tmp_path / f"spelt-{word}", 1, CONFIG, word) for word in ("owl", "own")]
    other = saved(tmp_path / "other", 1, unspelt, vector_of="ibis")
    for two in (spelt, [some[0], other]):
        with pytest.raises(ConfigError, match="another network"):
            average_networks(two, tmp_path / "none")


def test_another_network_is_refused_by_name(tmp_path: Path) -> None:
    other = saved(tmp_path / "other", 1, replace(CONFIG, dim=12))
    with pytest.raises(ConfigError, match=r"other is another network"):
        average_networks([saved(tmp_path / "one", 1), other], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_encoders_have_a_mean_too_and_none_with_a_reader(tmp_path: Path) -> None:
    config = EncoderConfig(dim=8, word_vectors=False, characters=CONFIG.characters)
    some = [tmp_path / "one", tmp_path / "two"]
    for seed, directory in enumerate(some):
        torch.manual_seed(seed)
        model = new_model(config, ["owl"] * 60, None)
        save_model(directory, model, trained_weights(model.encoder), {})
    average_networks(some, tmp_path / "mean")
    mean, *own = (load_file(one / "weights.safetensors") for one in (tmp_path / "mean", *some))
    assert mean
    for name, value in mean.items():
        torch.testing.assert_close(value, (own[0][name] + own[1][name]) / 2)
    assert load_model(tmp_path / "mean").config == config
    with pytest.raises(ArtifactError):
        average_networks([some[0], saved(tmp_path / "reader", 1)], tmp_path / "none")
