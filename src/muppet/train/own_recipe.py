"""Recipes for own questions: a model that is trained already goes on for a few careful steps.

A run is one epoch that meets each question several times, and is measured only at its end: what
was held out chooses nothing, so that it can still say how good the result is.
"""

from dataclasses import dataclass
from pathlib import Path

from muppet.config import EncoderConfig, ReaderConfig
from muppet.train.reader_recipe import ReaderDataConfig, ReaderObjectiveConfig, ReaderRecipe
from muppet.train.recipe import (
    DataConfig,
    EncoderRecipe,
    ObjectiveConfig,
    OptimiserConfig,
    RunConfig,
    WeightsConfig,
)

ENOUGH = 800
"""Questions met in a run, again and again if they are few: minutes on a laptop."""
MOST_ROUNDS = 8
"""More often than that a question is learned by heart."""


@dataclass(frozen=True, slots=True)
class OwnRun:
    """What a run on own questions is given: its files, and how it goes."""

    questions: Path  # the directory with train.json and dev.json
    start: Path
    rounds: int
    threads: int
    seed: int


def default_rounds(questions: int) -> int:
    """How often each of so many questions is met."""
    return min(MOST_ROUNDS, max(1, ENOUGH // questions))


def own_reader_recipe(config: ReaderConfig, run: OwnRun) -> ReaderRecipe:
    """The reader on; an answer counts wherever it stands, since gold may be a guess, and so may
    the support, which therefore weighs less."""
    return ReaderRecipe(
        reader=config,
        data=ReaderDataConfig(
            train=(str(run.questions / "train.json"),),
            dev=str(run.questions / "dev.json"),
            wrong_chains=1,
            strangers=0.2,
            weights=WeightsConfig(hotpotqa=float(run.rounds)),
        ),
        objective=ReaderObjectiveConfig(support_weight=0.5),
        optimiser=_optimiser(rate=1e-4, contextual_rate=1e-4),
        run=_run(run, questions_per_batch=4),
    )


def own_encoder_recipe(config: EncoderConfig, run: OwnRun) -> EncoderRecipe:
    """The encoder on, by the losses it was trained with."""
    return EncoderRecipe(
        encoder=config,
        data=DataConfig(
            train=(str(run.questions / "train.json"),),
            dev=str(run.questions / "dev.json"),
            wrong_chains=1,
            weights=WeightsConfig(hotpotqa=float(run.rounds)),
        ),
        objective=ObjectiveConfig(
            ranking_weight=0.0,
            in_batch_weight=1.0,
            stop_weight=0.3,
            stop_share=0.0,
            choice_weight=1.0,
        ),
        optimiser=_optimiser(rate=1e-4, contextual_rate=1e-5),
        run=_run(run, questions_per_batch=16),
    )


def _optimiser(*, rate: float, contextual_rate: float) -> OptimiserConfig:
    return OptimiserConfig(
        kind="adamw", rate=rate, contextual_rate=contextual_rate, clip=1.0, average=0.99
    )


def _run(run: OwnRun, *, questions_per_batch: int) -> RunConfig:
    return RunConfig(
        start=str(run.start),
        questions_per_batch=questions_per_batch,
        epochs=1,
        checkpoint_steps=10,
        threads=run.threads,
        seed=run.seed,
    )
