"""Train the encoder: embeddings, BiGRU, relevance, reformulation and stop head.

One function of visible steps: data, model, optimiser, loop. A run lives in a directory:
`checkpoint/` (to go on after a stop), `best/` (the model), `metrics.jsonl`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from muppet.artifact import checksum_file
from muppet.config import DataConfig, EncoderRecipe, WeightsConfig
from muppet.corpus.files import open_file
from muppet.domain import Progress
from muppet.errors import ConfigError
from muppet.nn.encoder import Encoder, count_parameters
from muppet.nn.model import (
    Model,
    load_weights,
    new_model,
    save_model,
    trained_parameters,
    trained_weights,
)
from muppet.text.tokens import words
from muppet.text.vectors import WordVectors, read_vectors
from muppet.train.batches import Texts, TrainingBatch, make_training_batch
from muppet.train.data import load_training_data
from muppet.train.examples import (
    ChainSample,
    TrainingData,
    chain_samples,
    draw_epoch,
    squad_samples,
)
from muppet.train.frozen import FrozenInputs, compute_frozen
from muppet.train.loop import (
    Checkpoint,
    MovingAverage,
    Position,
    Stopwatch,
    after_step,
    make_optimiser,
    set_rate,
)
from muppet.train.measure import rank_own_paragraphs, summarise
from muppet.train.negatives import read_mined, squad_negatives, with_mined
from muppet.train.objective import batch_loss


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do, for `--dry-run`."""

    questions: int
    paragraphs: int
    dev_questions: int
    steps_per_epoch: int
    steps: int
    trained_parameters: int


class EncoderRun:
    """Everything of one run that is made before its first step."""

    def __init__(self, recipe: EncoderRecipe, directory: Path) -> None:
        torch.manual_seed(recipe.run.seed)
        torch.set_num_threads(recipe.run.threads)
        self.recipe = recipe
        self.directory = directory
        self.made_from = _made_from(recipe)
        tokens = recipe.encoder.max_tokens
        data = load_training_data([Path(file) for file in recipe.data.train], max_tokens=tokens)
        if recipe.data.mined:
            data = with_mined(data, read_mined(Path(recipe.data.mined)), max_tokens=tokens)
        self.data = data
        self._negatives = (
            squad_negatives(data, np.random.default_rng(recipe.run.seed))
            if recipe.data.weights.squad
            else {}
        )
        dev = load_training_data([Path(recipe.data.dev)], max_tokens=tokens)
        self.dev = replace(dev, questions=dev.questions[: recipe.data.dev_questions])
        self.model: Model = new_model(recipe.encoder, _all_words(self.data), _word_vectors(recipe))
        if not self.dev.questions or not self.epoch(0):
            raise ConfigError(
                "There is nothing to learn from, or to measure on: the files of data.train and "
                "data.dev hold no usable question, or data.weights leaves all of them out."
            )
        self.texts = Texts(self.data, self.model.preparer)
        self.dev_texts = Texts(self.dev, self.model.preparer)

    @property
    def encoder(self) -> Encoder:
        return self.model.encoder

    def epoch(self, number: int) -> list[tuple[int, ...]]:
        """The batches of an epoch, as question numbers; the same whenever they are asked for."""
        rng = np.random.default_rng([self.recipe.run.seed, number])
        weights = dataset_weights(self.recipe.data.weights)
        return draw_epoch(self.data, weights, rng, self.recipe.run.questions_per_batch)

    def batch(self, epoch: int, step: int, numbers: Sequence[int]) -> TrainingBatch:
        """A batch's samples; the gold pair's order flips every epoch (checklist 17)."""
        rng = np.random.default_rng([self.recipe.run.seed, epoch, step])
        samples: list[ChainSample] = []
        for number in numbers:
            if number in self._negatives:  # SQuAD has negatives of its own (checklist 18)
                samples += squad_samples(number, self.data, self._negatives[number], rng)
            else:
                samples += chain_samples(number, self.data, rng, flipped=epoch % 2 == 1)
        return make_training_batch(self.texts, samples)

    def plan(self) -> Plan:
        steps = len(self.epoch(0))
        return Plan(
            questions=len(self.data.questions),
            paragraphs=len(self.data.paragraphs),
            dev_questions=len(self.dev.questions),
            steps_per_epoch=steps,
            steps=steps * self.recipe.run.epochs,
            trained_parameters=count_parameters(self.encoder),
        )


def freeze_inputs(run: EncoderRun, progress: Progress) -> None:
    """Compute what a frozen contextual source says of all texts, unless an earlier run has."""
    contextual = run.encoder.embedding.contextual
    if contextual is None or run.recipe.encoder.contextual.tuned:
        return
    settings = json.dumps(asdict(run.recipe.encoder.contextual))
    for name, texts in (("train", run.texts), ("dev", run.dev_texts)):
        directory = run.directory / f"frozen-{name}"
        made_from = {"settings": settings, "texts": texts.checksum()}
        if not directory.exists():
            compute_frozen(
                directory,
                texts.all(),
                contextual.source,
                run.model.preparer.lexicon,
                made_from=made_from,
                progress=progress,
            )
        texts.fill(FrozenInputs(directory, made_from))


def train_encoder(run: EncoderRun, progress: Progress) -> dict[str, float]:
    """Train until the second hop gets no better; the best evaluation's summary."""
    config = run.recipe.run
    freeze_inputs(run, progress)
    optimiser = make_optimiser(run.encoder, run.recipe.optimiser)
    average = MovingAverage(run.encoder, run.recipe.optimiser.average)
    checkpoint = Checkpoint(run.directory / "checkpoint", run.made_from)
    position = Position()
    if checkpoint.exists():
        position = checkpoint.load(run.encoder, optimiser, average)
        _forget_lines_after(run, position)
    watch = Stopwatch(position.seconds)
    total = run.plan().steps
    while position.epoch < config.epochs and position.evaluations_since_best < config.patience:
        batches = run.epoch(position.epoch)
        evaluate_after = _evaluation_steps(len(batches), config.evaluations_per_epoch)
        for step in range(position.step, len(batches)):
            set_rate(optimiser, run.recipe.optimiser, position.steps / total)
            batch = run.batch(position.epoch, step, batches[step])
            parts = training_step(run, batch, optimiser)
            position = after_step(position, watch.seconds())
            average.update(run.encoder, position.steps)
            _log(run, "step", position, parts)
            note = f"epoch {position.epoch + 1}, loss {parts['loss']:.3f}"
            progress("training", position.steps, total, note)
            if step + 1 in evaluate_after:
                position = _evaluate(run, average, position)
            if position.steps % config.checkpoint_steps == 0:
                checkpoint.save(position, run.encoder, optimiser, average)
        position = replace(position, epoch=position.epoch + 1, step=0)
        checkpoint.save(position, run.encoder, optimiser, average)
    return _best(run.directory)


def training_step(
    run: EncoderRun, batch: TrainingBatch, optimiser: torch.optim.Optimizer
) -> dict[str, float]:
    """One step downhill; the loss and its parts."""
    run.encoder.train()
    optimiser.zero_grad(set_to_none=True)
    loss, parts = batch_loss(run.encoder, batch, run.recipe.objective)
    loss.backward()  # type: ignore[no-untyped-call]
    parameters = trained_parameters(run.encoder)
    nn.utils.clip_grad_norm_(parameters.values(), run.recipe.optimiser.clip)
    optimiser.step()
    return {"loss": float(loss.detach()), **parts}


def _evaluate(run: EncoderRun, average: MovingAverage, position: Position) -> Position:
    """Measure the averaged weights on dev; keep them if the second hop is the best so far."""
    own = {name: weight.clone() for name, weight in trained_weights(run.encoder).items()}
    load_weights(run.encoder, average.weights)
    numbers = range(len(run.dev.questions))
    summary = summarise(run.dev_texts, rank_own_paragraphs(run.encoder, run.dev_texts, numbers))
    load_weights(run.encoder, own)
    _log(run, "dev", position, summary)
    score = summary.get("second_hop_ap", summary["first_hop_ap"])
    if score <= position.best:
        return replace(position, evaluations_since_best=position.evaluations_since_best + 1)
    save_model(run.directory / "best", run.model, average.weights, run.made_from)
    return replace(position, best=score, evaluations_since_best=0)


def _evaluation_steps(steps: int, evaluations: int) -> set[int]:
    """After which steps of an epoch to evaluate: evenly, and always after the last."""
    return {round(steps * (part + 1) / evaluations) for part in range(evaluations)}


def dataset_weights(weights: WeightsConfig) -> dict[str, float]:
    """The settings' names as the data sets' names."""
    return {name.replace("two_wiki", "2wiki"): value for name, value in asdict(weights).items()}


def _log(run: EncoderRun, event: str, position: Position, numbers: Mapping[str, float]) -> None:
    line = {
        "event": event,
        "epoch": position.epoch,
        "steps": position.steps,
        "seconds": round(position.seconds, 1),
        **numbers,
    }
    with (run.directory / "metrics.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def _forget_lines_after(run: EncoderRun, position: Position) -> None:
    """The steps behind the checkpoint will be done, and written down, again."""
    path = run.directory / "metrics.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = [line for line in lines if json.loads(line)["steps"] <= position.steps]
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _best(directory: Path) -> dict[str, float]:
    lines = (directory / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    evaluations = [line for line in map(json.loads, lines) if line["event"] == "dev"]
    return max(evaluations, key=lambda line: line.get("second_hop_ap", line["first_hop_ap"]))


def _all_words(data: TrainingData) -> Iterator[str]:
    for question in data.questions:
        yield from words(question.text)
    for paragraph in data.paragraphs:
        yield from words(f"{paragraph.title}. {paragraph.text}")


def _word_vectors(recipe: EncoderRecipe) -> WordVectors | None:
    """All vectors of the file: a model meets words that its training data does not hold."""
    if not recipe.encoder.word_vectors:
        return None
    if not recipe.data.word_vectors:
        raise ConfigError("encoder.word_vectors is on: name their file with data.word_vectors.")
    path = Path(recipe.data.word_vectors)
    with open_file(path) as stream:
        return read_vectors(stream, lambda _word: True, source=str(path))


def _made_from(recipe: EncoderRecipe) -> dict[str, str]:
    """The files a run rests on, by their checksums, and the recipe itself."""
    data: DataConfig = recipe.data
    files = [*data.train, data.dev, *([data.word_vectors] if recipe.encoder.word_vectors else [])]
    files += [f"{data.mined}/{name}.jsonl" for name in ("questions", "paragraphs") if data.mined]
    missing = [file for file in files if not Path(file).is_file()]
    if missing:
        raise ConfigError(f"The recipe names a file that is not there: {missing[0]!r}.")
    sums = {file: checksum_file(Path(file)) for file in files}
    return sums | {"recipe": json.dumps(asdict(replace(recipe, run=replace(recipe.run, epochs=1))))}


def expected_time(run: EncoderRun) -> dict[str, float]:
    """How long the run will take, from one step tried out; its weights are spent after it."""
    optimiser = make_optimiser(run.encoder, run.recipe.optimiser)
    batches = run.epoch(0)
    watch = Stopwatch(0.0)
    training_step(run, run.batch(0, 0, batches[0]), optimiser)
    seconds = watch.seconds()
    return {"seconds_per_step": seconds, "minutes": seconds * run.plan().steps / 60}
