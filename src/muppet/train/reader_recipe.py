"""The settings of `muppet train reader`, in one file."""

from dataclasses import dataclass, field

from muppet.bounds import require_between
from muppet.config import ReadConfig, ReaderConfig
from muppet.errors import ConfigError
from muppet.train.recipe import MOST_CHAINS, OptimiserConfig, RunConfig, WeightsConfig

ANSWERS_IN = ("every", "gold")


@dataclass(frozen=True, slots=True)
class ReaderDataConfig:
    """Files, relative to where the command runs; `dev` chooses the checkpoint.

    `wrong_chains` of a question are read beside its gold one (checklist 26: two); a share of them,
    `retrieved_share`, are chains that were found by retrieval, out of the file `retrieved` that
    `muppet train chains` writes; of the others a share, `strangers`, hold no gold paragraph at all
    (checklist 26: none). A question of one hop gets `wrong_paragraphs` instead, below 0 as many as
    there are wrong chains; but only a `wrong_share` of them get any. Of its own paragraph it gets
    an `excerpt` of so many words around the answer, and of each wrong one an excerpt around what
    is most like the question, unless that answers it too; 0, all of them. With `shortest_excerpt`
    each has a length of its own, from there up to `excerpt`. An answer is right in every chain
    that holds it (checklist 24), or, `answers_in` = "gold", in the gold chain alone: then the
    reader learns to tell it from others. On dev a question's gold chain is read beside `dev_chains`
    that hold distractors.
    """

    train: tuple[str, ...] = ()
    dev: str = ""
    dev_questions: int = 200
    dev_chains: int = 4
    word_vectors: str = ""
    mined: str = ""
    retrieved: str = ""
    retrieved_share: float = 0.5
    wrong_chains: int = 2
    wrong_paragraphs: int = -1
    wrong_share: float = 1.0
    excerpt: int = 0
    shortest_excerpt: int = 0
    strangers: float = 0.0
    answers_in: str = "every"
    weights: WeightsConfig = field(default_factory=WeightsConfig)

    def __post_init__(self) -> None:
        for name in ("wrong_chains", "dev_chains"):
            require_between(f"data.{name}", getattr(self, name), 0, MOST_CHAINS)
        require_between("data.wrong_paragraphs", self.wrong_paragraphs, -1, MOST_CHAINS)
        for name in ("retrieved_share", "strangers", "wrong_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"data.{name} is a share of 0 to 1, not {getattr(self, name)}.")
        require_between("data.shortest_excerpt", self.shortest_excerpt, 0, self.excerpt)
        if self.answers_in not in ANSWERS_IN:
            raise ConfigError(
                f"data.answers_in is one of {', '.join(ANSWERS_IN)}, not {self.answers_in!r}."
            )


@dataclass(frozen=True, slots=True)
class ReaderObjectiveConfig:
    """What the four losses weigh; in the paper they are summed (checklist 25)."""

    kind_weight: float = 1.0
    verdict_weight: float = 1.0
    support_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ReaderRecipe:
    """All of `muppet train reader`; `read` is how dev's answers are chosen."""

    reader: ReaderConfig = field(default_factory=ReaderConfig)
    data: ReaderDataConfig = field(default_factory=ReaderDataConfig)
    objective: ReaderObjectiveConfig = field(default_factory=ReaderObjectiveConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    run: RunConfig = field(default_factory=RunConfig)
    read: ReadConfig = field(default_factory=ReadConfig)
