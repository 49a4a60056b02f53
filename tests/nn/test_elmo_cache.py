"""ELMo's vectors without context, of frequent words, computed once (checklist 10)."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch

from muppet.errors import ArtifactError
from muppet.nn.contextual import ElmoSource
from muppet.nn.elmo import Elmo
from muppet.nn.elmo_cache import UNKNOWN, TokenCache, frequent_words
from tiny_elmo import P, alone, padded, tiny_options, tiny_weights, write_elmo


def test_an_unknown_word_keeps_its_place_in_the_sequence_checklist_10(elmo: Elmo) -> None:
    cache = TokenCache.build(elmo, ["The", "fox", "sleeps", "."])
    words = ["The", "vulpine", "fox", "snoozles", "."]
    rows = cache.rows(words)
    assert len(rows) == 5
    assert TokenCache.PADDING_ROW not in rows
    vectors = cache.vectors(rows)
    torch.testing.assert_close(vectors[[0, 2, 4]], elmo.token_vectors(["The", "fox", "."]))
    torch.testing.assert_close(vectors[1], vectors[3])
    layers = elmo.layers(*padded([vectors]))[0]
    torch.testing.assert_close(layers, alone(elmo, ["The", UNKNOWN, "fox", UNKNOWN, "."]))
    shortened = alone(elmo, ["The", "fox", "."])
    assert not torch.allclose(layers[[0, 2, 4], 1:], shortened[:, 1:], atol=1e-3)


def test_padding_rows_and_unknown_words_are_different_things_checklist_10(elmo: Elmo) -> None:
    cache = TokenCache.build(elmo, ["fox"])
    vectors = cache.vectors(np.array([[TokenCache.PADDING_ROW, *cache.rows(["vulpine"])]]))
    assert vectors.shape == (1, 2, P)
    assert not vectors[0, 0].any()
    torch.testing.assert_close(vectors[0, 1], elmo.token_vectors([UNKNOWN])[0])


def test_a_saved_cache_is_memory_mapped_and_the_same_checklist_10(
    elmo: Elmo, tmp_path: Path
) -> None:
    words = ["fox", "naïve", "東京", "fox", "a\u2028b", "c\rd"]
    cache = TokenCache.build(elmo, words)
    cache.save(tmp_path / "cache")
    opened = TokenCache.open(tmp_path / "cache", elmo)
    assert list(opened.words) == ["fox", "naïve", "東京", "a\u2028b", "c\rd"]
    assert isinstance(opened._vectors, np.memmap)
    torch.testing.assert_close(opened.vectors(opened.rows(words)), elmo.token_vectors(words))


def test_a_cache_of_another_elmo_is_refused_checklist_10(elmo: Elmo, tmp_path: Path) -> None:
    other = Elmo.from_files(*write_elmo(tmp_path / "other", tiny_options(), tiny_weights(seed=8)))
    TokenCache.build(other, ["fox"]).save(tmp_path / "cache")
    with pytest.raises(ArtifactError, match="of another ELMo"):
        TokenCache.open(tmp_path / "cache", elmo)
    with pytest.raises(ArtifactError, match="is no elmo-tokens"):
        TokenCache.open(tmp_path / "nothing", elmo)


def test_the_words_of_titles_and_those_that_come_often_are_frequent_checklist_10() -> None:
    texts = [("Skerry Light", "A light, a fire."), ("Corona", "a ship. a Light")]
    assert frequent_words(texts, 3) == ["Skerry", "Light", "Corona", "a"]
    assert set(frequent_words(texts, 2)) - {*frequent_words(texts, 3)} == {"."}


def test_the_command_fills_the_cache_that_the_slot_then_uses_checklist_10(tmp_path: Path) -> None:
    write_elmo(tmp_path / "elmo", tiny_options(), tiny_weights())
    spelt = ElmoSource(tmp_path / "elmo")._vectors(("Shackleton", "Zqx", "Xqz"))
    assert not torch.allclose(spelt[1], spelt[2])
    paragraphs = files("muppet") / "demo" / "paragraphs.jsonl"
    for arguments in (("index", str(paragraphs), "--into", "kb"), ("train", "elmo", "kb", "elmo")):
        command = [sys.executable, "-m", "muppet", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "elmo/token-cache: " in done.stdout
    cached = ElmoSource(tmp_path / "elmo")._vectors(("Shackleton", "Zqx", "Xqz"))
    torch.testing.assert_close(cached[0], spelt[0])
    torch.testing.assert_close(cached[1], cached[2])
