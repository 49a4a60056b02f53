"""One frozen dataclass per stage; TOML in, TOML out; an unknown key is an error.

The defaults reproduce the paper where it has a number. A TOML file names only what differs.
"""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import tomli_w

from muppet.errors import ConfigError

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """How a long document becomes paragraphs: short ones are joined, long ones are cut."""

    min_words: int = 40
    max_words: int = 400
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """BM25 by tantivy, the default for own documents: `title_boost` weighs words of the title."""

    title_boost: float = 0.3
    stem: bool = True


@dataclass(frozen=True, slots=True)
class TfidfConfig:
    """The paper's hashed n-gram TF-IDF (checklist 5); with titles by our decision (checklist 3)."""

    buckets: int = 2**24
    ngrams: int = 2
    title: bool = True


@dataclass(frozen=True, slots=True)
class Config:
    """All stages; what a knowledge base was made with is written into its manifest."""

    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    bm25: Bm25Config = field(default_factory=Bm25Config)
    tfidf: TfidfConfig = field(default_factory=TfidfConfig)


def load_config(path: Path) -> Config:
    """The settings of a TOML file, the rest at their defaults."""
    return load_settings(Config, path)


def load_settings(kind: type[Settings], path: Path) -> Settings:
    """A TOML file as a dataclass of settings."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"There is no config file {path}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.") from error
    return from_table(kind, table)


def from_table(kind: type[Settings], table: Mapping[str, Any], where: str = "") -> Settings:
    """Nested tables as nested dataclasses; unknown keys and wrong types are refused."""
    hints = get_type_hints(kind)
    for key in table:
        if key not in hints:
            raise ConfigError(f"Unknown setting {where}{key}.{_suggest(key, list(hints))}")
    return kind(**{key: _value(hints[key], value, where + key) for key, value in table.items()})


def to_table(settings: Any) -> dict[str, Any]:  # noqa: ANN401 (any dataclass of settings)
    """The reverse of `from_table`: plain tables, lists and values, ready for TOML and JSON."""
    table: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(settings).items()
        if value is not None
    }
    return table


def to_toml(settings: Any) -> str:  # noqa: ANN401 (any dataclass of settings)
    return tomli_w.dumps(to_table(settings))


def _suggest(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    if close:
        return f" Did you mean {close[0]}?"
    return f" Known settings here: {', '.join(known)}."


def _value(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401 (values of a TOML file)
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where} is a table of settings: {_names(hint)}.")
        return from_table(hint, value, where + ".")
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise ConfigError(f"{where} must be a list, not {value!r}.")
        return tuple(_value(get_args(hint)[0], item, where) for item in value)
    return _plain(hint, value, where)


def _plain(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401 (values of a TOML file)
    if hint is float and type(value) is int:
        return float(value)
    allowed = get_args(hint) or (hint,)
    if not any(type(value) is kind for kind in allowed):
        names = " or ".join(kind.__name__ for kind in allowed)
        raise ConfigError(f"{where} must be {names}, not {value!r}.")
    return value


def _names(kind: type) -> str:
    return ", ".join(item.name for item in fields(kind))
