"""One frozen dataclass per stage; TOML in, only what differs, and out; an unknown key is an error.

The networks' defaults are the paper's; those of [retrieve] and [read] are ours, beside the paper's.
"""

import difflib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import tomli_w

from muppet.bounds import require_all_between, require_at_least, require_between, require_one_of
from muppet.errors import ConfigError

Settings = TypeVar("Settings")
POOLS = ("question", "requery", "all")
HEAVIEST = 1_000_000
"""No weight is more: beyond that, sums with it lose what else they add up."""
COLDEST = 1e-3
"""No temperature is less: beyond that, logits divided by it are no numbers any more."""
LARGEST = 2**31
MOST_DROPPED = 0.99
"""Dropout of everything would leave nothing to learn from."""


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """How a long document becomes paragraphs: short ones are joined, long ones are cut."""

    min_words: int = 40
    max_words: int = 400
    language: str = "en"

    def __post_init__(self) -> None:
        require_at_least("corpus.min_words", self.min_words, 0)
        require_at_least("corpus.max_words", self.max_words, 1)


@dataclass(frozen=True, slots=True)
class Bm25Config:
    """BM25 by tantivy, the default for own documents: `title_boost` weighs words of the title."""

    title_boost: float = 0.3
    stem: bool = True

    def __post_init__(self) -> None:
        require_between("bm25.title_boost", self.title_boost, 0, HEAVIEST)


@dataclass(frozen=True, slots=True)
class TfidfConfig:
    """The paper's hashed n-gram TF-IDF (checklist 5); with titles by our decision (checklist 3)."""

    buckets: int = 2**24
    ngrams: int = 2
    title: bool = True

    def __post_init__(self) -> None:
        require_between("tfidf.buckets", self.buckets, 1, 2**28)
        require_between("tfidf.ngrams", self.ngrams, 1, 10)


@dataclass(frozen=True, slots=True)
class RetrieveConfig:
    """How chains are found (checklist 6, 7, 20, 21). The last entry of a list holds for later hops.

    `hops` is a number, or auto: the stop head decides, up to `most_hops`. At each hop `narrow`
    paragraphs are searched, of a pool: `question` narrows by the question's words, `requery` by
    those of question and chain, `all` searches everything (the paper: [32, 512], ["question"]).
    `ranking` is the model's, or the one of the released code. The rest is ours, in the paper 1, 0,
    0, 0, 0 and inf: a hop's logit is divided by `temperature`, so that a network that is sure of
    many paragraphs still tells them apart; its log probability loses up to `lexical_weight`, as far
    as its words match less than the best of its pool, and its hop's `title_weights` if neither the
    question nor the chain so far names its title; a whole chain loses up to `coverage_weight`, as
    far as its sentences leave the question's words uncovered; the best `judged`, no further below
    the best than the entry of `judge_margins` for their length, are read once more, and what the
    stop head says counts by that of `judge_weights`; a chain goes on only within `margin` of the
    best.
    With `on_demand`, paragraphs without vectors are encoded when a search looks at them.
    """

    engine: str = "bm25"
    hops: int | str = 2
    most_hops: int = 4
    narrow: tuple[int, ...] = (256, 128)
    pools: tuple[str, ...] = ("question", "requery")
    temperature: float = 4.0
    lexical_weight: float = 0.5
    title_weights: tuple[float, ...] = (0.05, 0.3)
    coverage_weight: float = 0.5
    judged: int = 16
    judge_margins: tuple[float, ...] = (100.0, 0.2)
    judge_weights: tuple[float, ...] = (3.0, 0.0)
    widths: tuple[int, ...] = (8,)
    margin: float = 0.3
    keep: int = 45
    ranking: str = "model"
    on_demand: bool = False

    def __post_init__(self) -> None:
        if not self.narrow or min(self.narrow) < 1:
            raise ConfigError(
                f"retrieve.narrow needs one number or more, each at least 1: {list(self.narrow)}."
            )
        unknown = [pool for pool in self.pools if pool not in POOLS]
        if unknown or not self.pools:
            raise ConfigError(f"retrieve.pools must be of {', '.join(POOLS)}: {list(self.pools)}.")
        if self.pools[0] == "requery":
            raise ConfigError(
                "retrieve.pools cannot begin with requery: before the first hop there is no "
                "paragraph to ask again with. Begin with question or all."
            )
        if self.on_demand and "all" in self.pools:
            raise ConfigError(
                "retrieve.pools has `all`, which searches what has been encoded: it cannot be "
                "encoded on demand. Use question or requery, or `muppet encode` and on_demand = "
                "false."
            )
        for name in ("lexical_weight", "coverage_weight"):
            require_between(f"retrieve.{name}", getattr(self, name), 0, HEAVIEST)
        for name in ("title_weights", "judge_weights"):
            require_all_between(f"retrieve.{name}", getattr(self, name), 0, HEAVIEST)
        require_all_between("retrieve.judge_margins", self.judge_margins, 0, math.inf)
        require_at_least("retrieve.judged", self.judged, 1)
        require_between("retrieve.temperature", self.temperature, COLDEST, HEAVIEST)


@dataclass(frozen=True, slots=True)
class CharacterConfig:
    """The character CNN (checklist 9); no filters, no CNN."""

    dim: int = 20
    filters: int = 100
    width: int = 5
    longest: int = 14
    at_least: int = 50
    dropout: float = 0.2

    def __post_init__(self) -> None:
        require_at_least("characters.filters", self.filters, 0)
        for name in ("dim", "width", "at_least"):
            require_at_least(f"characters.{name}", getattr(self, name), 1)
        require_at_least("characters.longest", self.longest, self.width)
        require_between("characters.dropout", self.dropout, 0, MOST_DROPPED)


@dataclass(frozen=True, slots=True)
class ContextualConfig:
    """The contextual input (checklist 10): none, ELMo, or a pretrained transformer.

    `path` is a directory, or for a transformer `package:NAME` of an installed package that
    carries one. The last `layers` of a transformer are mixed. `tuned` of its layers, counted from
    the top, are trained with the rest; 0 leaves it frozen.
    """

    kind: str = "none"
    path: str = ""
    layers: int = 4
    tuned: int = 0
    dropout: float = 0.5

    def __post_init__(self) -> None:
        require_at_least("contextual.layers", self.layers, 1)
        require_at_least("contextual.tuned", self.tuned, 0)
        require_between("contextual.dropout", self.dropout, 0, MOST_DROPPED)


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The encoder (checklist 8-15). One hop has no reformulation; more than two share the last's.

    `granularity` is sentence or paragraph; `attention` is the paper's form or the released one.
    `network` is the paper's recurrent one, or transformer, which is ours: the contextual input's
    states are the tokens' (so `dim` is its size), vectors are their means at length 1, and a
    question is reformulated by reading it together with its chain. That it `judges` chains, by a
    stop head that has learned to choose between them, is set by training with `choice_weight`.
    """

    dim: int = 1024
    hops: int = 2
    judges: bool = False
    granularity: str = "sentence"
    attention: str = "paper"
    network: str = "recurrent"
    dropout: float = 0.2
    word_vectors: bool = True
    characters: CharacterConfig = field(default_factory=CharacterConfig)
    contextual: ContextualConfig = field(default_factory=ContextualConfig)
    max_tokens: int = 600
    title: bool = True

    def __post_init__(self) -> None:
        if self.dim < 2 or self.dim % 2:
            raise ConfigError(f"encoder.dim must be even, half for each direction, not {self.dim}.")
        _require_network("encoder", self)
        require_one_of("encoder.granularity", self.granularity, ("sentence", "paragraph"))
        require_at_least("encoder.hops", self.hops, 1)

    @property
    def spells(self) -> bool:
        """Whether the network looks at words, and not at a transformer's pieces alone."""
        return _spells(self)


@dataclass(frozen=True, slots=True)
class ReaderConfig:
    """The reader (checklist 23, 25), over the same inputs as the encoder.

    `attention` is the paper's form, or the released one, whose self-attention may look nowhere.
    `heads` are those of HotpotQA: yes/no and supporting sentences; SQuAD needs none. `network` is
    the paper's recurrent one, or transformer, which is ours: question and chain are read in one
    text, and the contextual input's states are the tokens' (so `dim` is its size). It may have
    `numbers` compared for it (text/numbers.py).
    """

    dim: int = 300
    attention: str = "paper"
    network: str = "recurrent"
    heads: bool = True
    hidden: int = 150
    dropout: float = 0.2
    word_vectors: bool = True
    characters: CharacterConfig = field(default_factory=CharacterConfig)
    contextual: ContextualConfig = field(default_factory=ContextualConfig)
    max_tokens: int = 600
    title: bool = True
    numbers: bool = False

    def __post_init__(self) -> None:
        if self.dim < 2 or self.dim % 2:
            raise ConfigError(f"reader.dim must be even, half for each direction, not {self.dim}.")
        require_at_least("reader.hidden", self.hidden, 1)
        _require_network("reader", self)
        if self.numbers and self.network != "transformer":
            raise ConfigError(
                "reader.numbers is said in a transformer's word pieces: it needs reader.network = "
                f'"transformer", not {self.network!r}.'
            )

    @property
    def spells(self) -> bool:
        """Whether the network looks at words, and not at a transformer's pieces alone."""
        return _spells(self)


TextConfig = EncoderConfig | ReaderConfig
"""The settings of a network that reads texts: its inputs are named alike."""


def _require_network(name: str, config: TextConfig) -> None:
    """What holds for every network that reads texts."""
    require_one_of(f"{name}.network", config.network, ("recurrent", "transformer"))
    require_one_of(f"{name}.attention", config.attention, ("paper", "released"))
    require_between(f"{name}.dropout", config.dropout, 0, MOST_DROPPED)
    require_at_least(f"{name}.max_tokens", config.max_tokens, 1)
    if not config.spells and config.contextual.kind == "none":
        raise ConfigError(
            f"The {name} would read nothing: it has no word_vectors, no characters.filters and "
            "no contextual.kind."
        )


def _spells(config: TextConfig) -> bool:
    words = config.word_vectors or config.characters.filters > 0
    return words or config.contextual.kind == "elmo"


@dataclass(frozen=True, slots=True)
class ReadConfig:
    """How answers are chosen (checklist 27): chains are read one after another, the best first, up
    to `chains` and never one that scores more than `margin` below the best, until an answer's share
    of what was read, times the part of `chains` that was read, is `sure`; of one hop, all three are
    `one_hop` times as much. A span has at most `longest` tokens, and loses `brevity` for each
    beyond its first: a number for chains of one paragraph, of two, …; the last for longer ones too.

    By `merge`, an answer found several times is worth its best place, or the sum of all; a chain's
    own score counts by `chain_weight`. Sentences as likely as `support` are support, and with
    `support_each` at least one of every paragraph; `match_weight` is added to the log odds of those
    that retrieval found their paragraphs by. The paper's: chains = 45, margin = inf, one_hop and
    sure 1, longest = 8, merge = "best", brevity and both weights 0, support = 0.5, no support_each.
    """

    chains: int = 8
    margin: float = 0.6
    one_hop: float = 2.0
    sure: float = 0.2
    longest: int = 15
    brevity: tuple[float, ...] = (0.0, 0.5)
    answers: int = 5
    merge: str = "sum"
    chain_weight: float = 6.0
    match_weight: float = 2.0
    support: float = 0.6
    support_each: bool = True

    def __post_init__(self) -> None:
        for name in ("chains", "longest", "answers"):
            require_at_least(f"read.{name}", getattr(self, name), 1)
        require_at_least("read.margin", self.margin, 0)
        require_all_between("read.brevity", self.brevity, 0, HEAVIEST)
        for name in ("chain_weight", "match_weight"):
            require_between(f"read.{name}", getattr(self, name), 0, HEAVIEST)
        require_between("read.one_hop", self.one_hop, 1, HEAVIEST)
        for name in ("sure", "support"):
            require_between(f"read.{name}", getattr(self, name), 0, 1)
        require_one_of("read.merge", self.merge, ("best", "sum"))


@dataclass(frozen=True, slots=True)
class Config:
    """All stages; what a knowledge base was made with is written into its manifest."""

    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    bm25: Bm25Config = field(default_factory=Bm25Config)
    tfidf: TfidfConfig = field(default_factory=TfidfConfig)
    retrieve: RetrieveConfig = field(default_factory=RetrieveConfig)
    read: ReadConfig = field(default_factory=ReadConfig)


def load_config(path: Path) -> Config:
    """The settings of a TOML file, the rest at their defaults."""
    return load_settings(Config, path)


def load_settings(kind: type[Settings], path: Path) -> Settings:
    """A TOML file as a dataclass of settings."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"There is no config file {path}.") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:  # TOML, UTF-8, a number of 5,000 digits
        raise ConfigError(f"{path} is not valid TOML: {error}.") from error
    return from_table(kind, table)


def from_table(kind: type[Settings], table: Mapping[str, Any], where: str = "") -> Settings:
    """Nested tables as nested dataclasses; unknown keys and wrong types are refused."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"Settings are a table of {_names(kind)}, not {table!r}.")
    hints = get_type_hints(kind)
    for key in table:
        if key not in hints:
            raise ConfigError(f"Unknown setting {where}{key}. {_suggest(key, list(hints))}")
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
    close = [name for name in known if name.startswith(key) or key.startswith(name)]
    close += difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Known settings here: {', '.join(known)}."


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
    if type(value) is int and abs(value) >= LARGEST:
        raise ConfigError(f"{where} cannot be {value}: that is too large a number.")
    return value


def _names(kind: type) -> str:
    return ", ".join(item.name for item in fields(kind))
