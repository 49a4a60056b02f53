"""One training run, whatever it trains: steps, evaluations, the best weights so far.

A run lives in a directory: `checkpoint/` (to go on after a stop), `best/` (the model),
`metrics.jsonl`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from muppet.artifact import checksum_file
from muppet.config import ContextualConfig, TextConfig, to_toml
from muppet.corpus.files import open_file
from muppet.domain import Progress
from muppet.errors import ConfigError
from muppet.nn.contextual import Source
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.encoder import count_parameters
from muppet.nn.model import load_weights, trained_parameters, trained_weights
from muppet.nn.transformer import bfloat16_products
from muppet.text.tokens import words
from muppet.text.vectors import WordVectors, read_vectors
from muppet.train.batches import Texts
from muppet.train.data import read_training_data
from muppet.train.examples import POOL_BATCHES, TrainingData, draw_epoch
from muppet.train.frozen import FrozenInputs, StandIns, compute_frozen, seconds_to_compute
from muppet.train.loop import (
    PRETRAINED,
    Checkpoint,
    MovingAverage,
    Position,
    Stopwatch,
    after_step,
    make_optimiser,
    set_rate,
)
from muppet.train.negatives import read_mined, with_mined
from muppet.train.recipe import DataFiles, OptimiserConfig, Recipe, RunConfig, WeightsConfig

Samples = TypeVar("Samples")

TRIED = 4
"""Questions of dev that `--dry-run` measures on, to tell how long an evaluation takes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do, for `--dry-run`."""

    questions: int
    paragraphs: int
    dev_questions: int
    steps_per_epoch: int
    steps: int
    trained_parameters: int


class Frozen(NamedTuple):
    """A contextual input that training does not change, and so is computed beforehand."""

    settings: ContextualConfig
    source: Source


class Run(Protocol[Samples]):
    """Everything of one run that is made before its first step; what all runs share is here."""

    directory: Path
    made_from: dict[str, str]
    data: TrainingData
    dev: TrainingData
    left_out: list[str]  # what was not taken of the files, and why
    texts: Texts
    dev_texts: Texts

    @property
    def plain(self) -> Recipe:
        """The recipe, as far as all recipes are alike."""
        ...

    @property
    def network(self) -> nn.Module: ...

    @property
    def frozen(self) -> Frozen | None: ...

    @property
    def mixes_lengths(self) -> bool:
        """Whether a batch may hold texts of all lengths."""
        return False

    @property
    def settings(self) -> RunConfig:
        return self.plain.run

    @property
    def optimiser(self) -> OptimiserConfig:
        return self.plain.optimiser

    def epoch(self, number: int) -> list[tuple[int, ...]]:
        """The batches of an epoch, as question numbers; the same whenever they are asked for."""
        return epoch_batches(self.data, self.plain, number, mixes_lengths=self.mixes_lengths)

    def plan(self) -> Plan:
        steps = len(self.epoch(0))
        return Plan(
            questions=len(self.data.questions),
            paragraphs=len(self.data.paragraphs),
            dev_questions=len(self.dev.questions),
            steps_per_epoch=steps,
            steps=steps * self.settings.epochs,
            trained_parameters=count_parameters(self.network),
        )

    def batch(self, epoch: int, step: int, numbers: Sequence[int]) -> Samples: ...

    def loss(self, batch: Samples) -> tuple[Tensor, dict[str, float]]:
        """The loss, and its parts by name."""
        ...

    def measure(self, numbers: Sequence[int]) -> dict[str, float]:
        """How good the network is on these questions of dev."""
        ...

    def quality(self, summary: Mapping[str, float]) -> float:
        """Of what was measured, the one number that chooses the checkpoint."""
        ...

    def save(self, weights: Mapping[str, Tensor]) -> None:
        """Write the model with these weights, as the best so far."""
        ...


def epoch_batches(
    data: TrainingData, recipe: Recipe, number: int, *, mixes_lengths: bool
) -> list[tuple[int, ...]]:
    """Which questions an epoch of a run draws, in batches."""
    rng = np.random.default_rng([recipe.run.seed, number])
    weights = dataset_weights(recipe.data.weights)
    pool = 1 if mixes_lengths else POOL_BATCHES
    return draw_epoch(data, weights, rng, recipe.run.questions_per_batch, pool)


def train(run: Run[Samples], progress: Progress) -> dict[str, float]:
    """Train until dev gets no better; the best evaluation's summary."""
    config = run.settings
    optimiser = make_optimiser(run.network, run.optimiser)
    average = MovingAverage(run.network, run.optimiser.average)
    checkpoint = Checkpoint(run.directory / "checkpoint", run.made_from)
    position = Position()
    if checkpoint.exists():
        position = checkpoint.load(run.network, optimiser, average)
        _forget_lines_after(run.directory, position)
    watch = Stopwatch(position.seconds)
    total = len(run.epoch(0)) * config.epochs
    while position.epoch < config.epochs and position.evaluations_since_best < config.patience:
        batches = run.epoch(position.epoch)
        evaluate_after = _evaluation_steps(len(batches), config.evaluations_per_epoch)
        for step in range(position.step, len(batches)):
            set_rate(optimiser, run.optimiser, position.steps / total)
            batch = run.batch(position.epoch, step, batches[step])
            parts = training_step(run, batch, optimiser)
            position = after_step(position, watch.seconds())
            average.update(run.network, position.steps)
            _log(run.directory, "step", position, parts)
            note = f"epoch {position.epoch + 1}, loss {parts['loss']:.3f}"
            progress("training", position.steps, total, note)
            if step + 1 in evaluate_after:
                position = _evaluate(run, average, position)
            if position.steps % config.checkpoint_steps == 0:
                checkpoint.save(position, run.network, optimiser, average)
        position = replace(position, epoch=position.epoch + 1, step=0)
        checkpoint.save(position, run.network, optimiser, average)
    return _best(run)


def training_step(
    run: Run[Samples], batch: Samples, optimiser: torch.optim.Optimizer
) -> dict[str, float]:
    """One step downhill; the loss and its parts."""
    run.network.train()
    optimiser.zero_grad(set_to_none=True)
    with bfloat16_products(run.network, enabled=run.settings.precision == "bfloat16"):
        loss, parts = run.loss(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    parameters = trained_parameters(run.network)
    nn.utils.clip_grad_norm_(parameters.values(), run.optimiser.clip)
    optimiser.step()
    return {"loss": float(loss.detach()), **parts}


def expected_time(run: Run[Samples]) -> dict[str, float]:
    """How long each part of the run takes, and at most all of it, from a little of each tried out;
    its weights and its texts are spent after it."""
    batches, config = run.epoch(0), run.settings
    inputs = _seconds_for_inputs(run)
    optimiser = make_optimiser(run.network, run.optimiser)
    watch = Stopwatch(0.0)
    training_step(run, run.batch(0, 0, batches[0]), optimiser)
    step = watch.seconds()
    tried = range(min(TRIED, len(run.dev.questions)))
    run.measure(tried)
    evaluation = (watch.seconds() - step) / len(tried) * len(run.dev.questions)
    epoch = len(batches) * step + config.evaluations_per_epoch * evaluation
    return {
        "seconds_for_inputs": inputs,
        "seconds_per_step": step,
        "seconds_per_evaluation": evaluation,
        "minutes": (inputs + config.epochs * epoch) / 60,
    }


def frozen_input(config: TextConfig, embedding: TokenEmbedding) -> Frozen | None:
    if embedding.contextual is None or config.contextual.tuned:
        return None
    return Frozen(config.contextual, embedding.contextual.source)


def freeze_inputs(run: Run[Samples], progress: Progress) -> None:
    """Compute what a frozen contextual source says of all texts, unless an earlier run has."""
    if run.frozen is None:
        return
    settings, source = run.frozen
    for name, some in (("train", run.texts), ("dev", run.dev_texts)):
        place = run.directory / f"frozen-{name}"
        made_from = {"settings": json.dumps(asdict(settings)), "texts": some.checksum()}
        if not place.exists():
            compute_frozen(
                place,
                some.all(),
                source,
                some.preparer.lexicon,
                made_from=made_from,
                progress=progress,
            )
        some.fill(FrozenInputs(place, made_from))


def load_data(files: DataFiles, max_tokens: int) -> tuple[TrainingData, TrainingData, list[str]]:
    """What is learned from, with what was mined for it, what is measured on, and what of both
    files was left out."""
    train = read_training_data([Path(file) for file in files.train], max_tokens=max_tokens)
    data = train.data
    if files.mined:
        data = with_mined(data, read_mined(Path(files.mined)), max_tokens=max_tokens)
    dev = read_training_data([Path(files.dev)], max_tokens=max_tokens)
    left_out = [
        f"{name}, {line}"
        for name, loaded in (("data.train", train), ("data.dev", dev))
        for line in loaded.left_out()
    ]
    few = replace(dev.data, questions=dev.data.questions[: files.dev_questions])
    return data, few, left_out


def begin_run(directory: Path, settings: object) -> None:
    """Make a run's directory, with the whole recipe in it."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "recipe.toml").write_text(to_toml(settings), encoding="utf-8")


def begin_with(network: nn.Module, start: str) -> None:
    """Give a network the weights of a model that was trained before, if one is named; that may
    have tuned fewer layers of its transformer, or more, if those are at `contextual.path` too."""
    if start:
        pretrained = {n: w for n, w in trained_weights(network).items() if PRETRAINED in n}
        frozen = {n: w for n, w in network.named_parameters() if not w.requires_grad}
        trained = load_file(Path(start) / "weights.safetensors")
        left = frozen.keys() & trained.keys()
        if any(not torch.equal(frozen[name], trained[name]) for name in left):
            raise ConfigError(
                f"{start} was trained in layers that this run leaves as they are in its "
                "contextual.path, where they are others. Raise contextual.tuned, or name the "
                "transformer that lies beside run.start."
            )
        own = {name: weight for name, weight in trained.items() if name not in left}
        load_weights(network, pretrained | own)


def start_files(start: str) -> list[str]:
    """The file a run begins with, if the recipe names one."""
    return [f"{start}/weights.safetensors"] if start else []


def require_questions(dev: TrainingData, batches: Sequence[tuple[int, ...]]) -> None:
    if not dev.questions or not batches:
        raise ConfigError(
            "There is nothing to learn from, or to measure on: the files of data.train and "
            "data.dev hold no usable question, or data.weights leaves all of them out."
        )


def dataset_weights(weights: WeightsConfig) -> dict[str, float]:
    """The settings' names as the data sets' names."""
    return {name.replace("two_wiki", "2wiki"): value for name, value in asdict(weights).items()}


def all_words(data: TrainingData) -> Iterator[str]:
    for question in data.questions:
        yield from words(question.text)
    for paragraph in data.paragraphs:
        yield from words(f"{paragraph.title}. {paragraph.text}")


def read_word_vectors(stage: str, config: TextConfig, file: str) -> WordVectors | None:
    """All vectors of the file: a model meets words that its training data does not hold."""
    if not config.word_vectors:
        return None
    if not file:
        raise ConfigError(f"{stage}.word_vectors is on: name their file with data.word_vectors.")
    with open_file(Path(file)) as stream:
        return read_vectors(stream, lambda _word: True, source=file)


def checksums(files: Sequence[str]) -> dict[str, str]:
    """The files a run rests on, by their checksums."""
    missing = [file for file in files if not Path(file).is_file()]
    if missing:
        raise ConfigError(f"The recipe names a file that is not there: {missing[0]!r}.")
    return {file: checksum_file(Path(file)) for file in files}


def mined_files(mined: str) -> list[str]:
    """The files of mined negatives, if the recipe names any."""
    return [f"{mined}/{name}.jsonl" for name in ("questions", "paragraphs") if mined]


def _seconds_for_inputs(run: Run[Samples]) -> float:
    """Of computing them beforehand; from here on zeros stand in for them."""
    if run.frozen is None:
        return 0.0
    source, texts = run.frozen.source, [*run.texts.all(), *run.dev_texts.all()]
    seconds = seconds_to_compute(texts, source, run.texts.preparer.lexicon)
    for some in (run.texts, run.dev_texts):
        some.fill(StandIns(source))
    return seconds


def _evaluate(run: Run[Samples], average: MovingAverage, position: Position) -> Position:
    """Measure the averaged weights on dev; keep them if they are the best so far."""
    own = {name: weight.clone() for name, weight in trained_weights(run.network).items()}
    load_weights(run.network, average.weights)
    summary = run.measure(range(len(run.dev.questions)))
    load_weights(run.network, own)
    _log(run.directory, "dev", position, summary)
    score = run.quality(summary)
    if score <= position.best:
        return replace(position, evaluations_since_best=position.evaluations_since_best + 1)
    run.save(average.weights)
    return replace(position, best=score, evaluations_since_best=0)


def _evaluation_steps(steps: int, evaluations: int) -> set[int]:
    """After which steps of an epoch to evaluate: evenly, and always after the last."""
    return {round(steps * (part + 1) / evaluations) for part in range(evaluations)}


def _log(directory: Path, event: str, position: Position, numbers: Mapping[str, float]) -> None:
    line = {
        "event": event,
        "epoch": position.epoch,
        "steps": position.steps,
        "seconds": round(position.seconds, 1),
        **numbers,
    }
    with (directory / "metrics.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def _forget_lines_after(directory: Path, position: Position) -> None:
    """The steps behind the checkpoint will be done, and written down, again."""
    path = directory / "metrics.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = [line for line in lines if json.loads(line)["steps"] <= position.steps]
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _best(run: Run[Samples]) -> dict[str, float]:
    lines = (run.directory / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    evaluations = [line for line in map(json.loads, lines) if line["event"] == "dev"]
    return max(evaluations, key=run.quality)
