"""The settings of training: those that all runs have, and all of `muppet train encoder`."""

from dataclasses import dataclass, field
from typing import Protocol

from muppet.bounds import require_at_least, require_between, require_one_of
from muppet.config import EncoderConfig
from muppet.errors import ConfigError

PRECISIONS = ("float32", "bfloat16")
MOST_CHAINS = 1_000
"""No question is read beside more wrong chains: they would fill the memory."""


@dataclass(frozen=True, slots=True)
class ObjectiveConfig:
    """The losses (checklist 16): SQuAD has no ranking loss. The rest is not in the paper: a
    softmax over all paragraphs of the batch; the stop head, which sees so large a share of the
    gold chains to their end (the reading of whole chains is dear); and a softmax over the chains of
    a question, right and wrong, by what the stop head says of each at its end (`choice_weight`; of
    the questions of several hops, so large a share as `choice_share`)."""

    ranking_weight: float = 1.0
    margin: float = 1.0
    in_batch_weight: float = 0.0
    stop_weight: float = 0.0
    stop_share: float = 1.0
    choice_weight: float = 0.0
    choice_share: float = 1.0


@dataclass(frozen=True, slots=True)
class OptimiserConfig:
    """Adadelta as in the paper (checklist 19), or adamw with warm-up and linear decay.

    `contextual_rate` is the learning rate of a tuned transformer's own weights.
    """

    kind: str = "adadelta"
    rate: float = 1.0
    contextual_rate: float = 3e-5
    rho: float = 0.95
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    warm_up: float = 0.1
    clip: float = 5.0
    average: float = 0.999

    def __post_init__(self) -> None:
        if not 0 <= self.warm_up < 1:
            raise ConfigError(f"optimiser.warm_up is a share of the run below 1: {self.warm_up}.")
        for name in ("rate", "contextual_rate", "epsilon", "weight_decay"):
            require_at_least(f"optimiser.{name}", getattr(self, name), 0)
        require_between("optimiser.rho", self.rho, 0, 1)


@dataclass(frozen=True, slots=True)
class WeightsConfig:
    """How often an epoch asks each question of a data set: 1 once, 0.5 every second one.

    `bridges` also weighs what `muppet train compositions` makes.
    """

    hotpotqa: float = 1.0
    squad: float = 0.0
    two_wiki: float = 0.0
    musique: float = 0.0
    comparisons: float = 1.0
    bridges: float = 1.0
    boolq: float = 1.0


@dataclass(frozen=True, slots=True)
class DataConfig:
    """Files, relative to where the command runs; `dev` chooses the checkpoint.

    `wrong_chains` of a question are drawn for each right one (checklist 17: two). With `siblings`,
    a question of SQuAD brings so many questions of each of its four paragraphs along (checklist 18:
    none). With `nearest`, only so many of its negatives are drawn from, those of its article that
    are nearest to the question first (checklist 18: from all).
    """

    train: tuple[str, ...] = ()
    dev: str = ""
    dev_questions: int = 200
    word_vectors: str = ""
    mined: str = ""
    wrong_chains: int = 2
    siblings: int = 0
    nearest: int = 0
    weights: WeightsConfig = field(default_factory=WeightsConfig)

    def __post_init__(self) -> None:
        require_between("data.wrong_chains", self.wrong_chains, 0, MOST_CHAINS)
        require_between("data.siblings", self.siblings, 0, MOST_CHAINS)
        require_between("data.nearest", self.nearest, 0, MOST_CHAINS)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One training run; `patience` counts evaluations without a better second hop. `start` is a
    model of the same network, trained before, whose weights this run begins with. `precision` is
    that of a transformer's matrix products: bfloat16 takes half the time on processors that know
    it."""

    start: str = ""
    questions_per_batch: int = 25
    epochs: int = 20
    evaluations_per_epoch: int = 1
    patience: int = 5
    checkpoint_steps: int = 50
    threads: int = 2
    seed: int = 1
    precision: str = "float32"

    def __post_init__(self) -> None:
        require_one_of("run.precision", self.precision, PRECISIONS)
        for name in ("questions_per_batch", "epochs", "evaluations_per_epoch", "checkpoint_steps"):
            require_at_least(f"run.{name}", getattr(self, name), 1)
        require_between("run.threads", self.threads, 1, 256)
        require_at_least("run.seed", self.seed, 0)


@dataclass(frozen=True, slots=True)
class EncoderRecipe:
    """All of `muppet train encoder`, in one file."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    data: DataConfig = field(default_factory=DataConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    run: RunConfig = field(default_factory=RunConfig)

    def __post_init__(self) -> None:
        if self.encoder.judges and not self.objective.choice_weight:
            raise ConfigError(
                "encoder.judges is set by training with objective.choice_weight, which is 0 here. "
                "Leave it out, or give the choice a weight."
            )


class DataFiles(Protocol):
    """The settings that name files, alike for all that is trained."""

    @property
    def train(self) -> tuple[str, ...]: ...
    @property
    def dev(self) -> str: ...
    @property
    def dev_questions(self) -> int: ...
    @property
    def mined(self) -> str: ...
    @property
    def weights(self) -> WeightsConfig: ...


class Recipe(Protocol):
    """The settings of a run that do not depend on what it trains."""

    @property
    def data(self) -> DataFiles: ...
    @property
    def optimiser(self) -> OptimiserConfig: ...
    @property
    def run(self) -> RunConfig: ...
