"""The mean of readers that were trained on from one another."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from muppet.config import CharacterConfig, ReaderConfig
from muppet.errors import ConfigError
from muppet.nn.average import average_readers
from muppet.nn.model import trained_weights
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
    average_readers(some, tmp_path / "mean")
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
    average_readers(some, tmp_path / "mean")
    assert load_reader(tmp_path / "mean").alphabet == load_reader(some[0]).alphabet
    spelt = [saved(tmp_path / f"spelt-{word}", 1, CONFIG, word) for word in ("owl", "own")]
    other = saved(tmp_path / "other", 1, unspelt, vector_of="ibis")
    for two in (spelt, [some[0], other]):
        with pytest.raises(ConfigError, match="another network"):
            average_readers(two, tmp_path / "none")


def test_another_network_is_refused_by_name(tmp_path: Path) -> None:
    other = saved(tmp_path / "other", 1, replace(CONFIG, dim=12))
    with pytest.raises(ConfigError, match=r"other is another network"):
        average_readers([saved(tmp_path / "one", 1), other], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
