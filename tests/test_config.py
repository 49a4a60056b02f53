"""Settings: TOML in, TOML out; what is unknown or impossible is refused."""

from dataclasses import dataclass
from math import inf
from pathlib import Path

import pytest

from muppet.config import (
    Bm25Config,
    Config,
    CorpusConfig,
    ReadConfig,
    TfidfConfig,
    from_table,
    load_config,
    load_settings,
    to_table,
    to_toml,
)
from muppet.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Beam:
    """Settings of every shape that a stage may have."""

    widths: tuple[int, ...] = (8, 8)
    rate: float = 0.5
    model: str | None = None


def test_settings_survive_a_round_trip_through_toml(tmp_path: Path) -> None:
    config = Config(
        corpus=CorpusConfig(min_words=3, max_words=77, language="de"),
        bm25=Bm25Config(title_boost=1.5, stem=False),
        tfidf=TfidfConfig(buckets=1024, ngrams=1, title=False),
    )
    (tmp_path / "my.toml").write_text(to_toml(config), encoding="utf-8")
    assert load_config(tmp_path / "my.toml") == config


def test_without_a_margin_it_is_infinite(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("[read]\nmargin = inf", encoding="utf-8")
    config = load_config(tmp_path / "my.toml")
    assert config.read == ReadConfig(margin=inf)
    (tmp_path / "my.toml").write_text(to_toml(config), encoding="utf-8")
    assert load_config(tmp_path / "my.toml") == config


@pytest.mark.parametrize("beam", [Beam(), Beam(widths=(3, 2, 1), rate=2.0, model="x")])
def test_lists_and_missing_values_survive_a_round_trip(tmp_path: Path, beam: Beam) -> None:
    (tmp_path / "my.toml").write_text(to_toml(beam), encoding="utf-8")
    assert load_settings(Beam, tmp_path / "my.toml") == beam


def test_a_file_names_only_what_differs(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("[corpus]\nmax_words = 100\n")
    config = load_config(tmp_path / "my.toml")
    assert config.corpus == CorpusConfig(max_words=100)
    assert config.bm25 == Bm25Config()


def test_a_whole_number_will_do_for_a_float() -> None:
    config = from_table(Config, {"bm25": {"title_boost": 2}})
    assert type(config.bm25.title_boost) is float


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"read": {"margin": -0.1}}, r"read\.margin must be at least 0, not -0\.1"),
        ({"read": {"margin": float("nan")}}, r"read\.margin must be at least 0, not nan"),
        ({"corpos": {}}, r"Unknown setting corpos\. Did you mean corpus\?"),
        ({"corpus": {"max_word": 1}}, r"Unknown setting corpus\.max_word\. Did you mean max_words"),
        ({"bm25": {"zzz": 1}}, r"bm25\.zzz\. Known settings here: title_boost, stem"),
        ({"corpus": {"max_words": "9"}}, r"corpus\.max_words must be int, not '9'"),
        ({"corpus": {"max_words": True}}, r"corpus\.max_words must be int, not True"),
        ({"bm25": {"stem": 1}}, r"bm25\.stem must be bool, not 1"),
        ({"corpus": 7}, r"corpus is a table of settings: min_words, max_words, language"),
        ({"corpus": {"max_words": 0}}, r"corpus\.max_words must be at least 1, not 0"),
        ({"corpus": {"min_words": -1}}, r"corpus\.min_words must be at least 0"),
        ({"bm25": {"title_boost": float("nan")}}, r"bm25\.title_boost must be from 0 to"),
        ({"tfidf": {"buckets": 0}}, r"tfidf\.buckets must be from 1 to"),
        ({"tfidf": {"ngrams": 0}}, r"tfidf\.ngrams must be from 1 to"),
    ],
)
def test_impossible_settings_are_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_table(Config, table)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"widths": 8}, "widths must be a list, not 8"),
        ({"widths": [8, "8"]}, "widths must be int, not '8'"),
        ({"model": 8}, "model must be str or NoneType, not 8"),
    ],
)
def test_impossible_values_of_other_shapes_are_refused(
    table: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        from_table(Beam, table)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no config file"):
        load_config(tmp_path / "nowhere.toml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_config(tmp_path)
    (tmp_path / "bad.toml").write_text("max_words == 3")
    with pytest.raises(ConfigError, match=r"bad\.toml is not valid TOML: .*line 1"):
        load_config(tmp_path / "bad.toml")
    (tmp_path / "latin.toml").write_bytes(b'[corpus]\nlanguage = "fran\xe7ais"')
    with pytest.raises(ConfigError, match=r"latin\.toml is not valid TOML"):
        load_config(tmp_path / "latin.toml")


def test_a_table_holds_plain_values_only() -> None:
    assert to_table(Beam(widths=(1, 2))) == {"widths": [1, 2], "rate": 0.5}
