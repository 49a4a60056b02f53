"""Train the encoder: embeddings, BiGRU, relevance, reformulation and stop head."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from muppet.domain import Progress
from muppet.nn.encoder import Encoder
from muppet.nn.model import Model, new_model, save_model
from muppet.train.batches import Texts, TrainingBatch, make_training_batch
from muppet.train.examples import (
    ChainSample,
    chain_samples,
    questions_of_one_hop,
    sibling_samples,
    squad_samples,
)
from muppet.train.measure import rank_own_paragraphs, summarise
from muppet.train.negatives import squad_negatives
from muppet.train.objective import batch_loss
from muppet.train.recipe import EncoderRecipe
from muppet.train.run import (
    Frozen,
    Run,
    all_words,
    begin_with,
    checksums,
    freeze_inputs,
    frozen_input,
    load_data,
    mined_files,
    read_word_vectors,
    require_questions,
    start_files,
    train,
)


class EncoderRun(Run[TrainingBatch]):
    """Everything of one run that is made before its first step."""

    def __init__(self, recipe: EncoderRecipe, directory: Path) -> None:
        torch.manual_seed(recipe.run.seed)
        torch.set_num_threads(recipe.run.threads)
        self.recipe = recipe
        self.directory = directory
        self.made_from = _made_from(recipe)
        self.data, self.dev, self.left_out = load_data(recipe.data, recipe.encoder.max_tokens)
        self._negatives = (
            squad_negatives(self.data, np.random.default_rng(recipe.run.seed))
            if recipe.data.weights.squad
            else {}
        )
        self._asked_of = questions_of_one_hop(self.data) if recipe.data.siblings else {}
        vectors = read_word_vectors("encoder", recipe.encoder, recipe.data.word_vectors)
        config = replace(recipe.encoder, judges=recipe.objective.choice_weight > 0)
        self.model: Model = new_model(config, all_words(self.data), vectors)
        begin_with(self.model.encoder, recipe.run.start)
        require_questions(self.dev, self.epoch(0))
        self.texts = Texts(self.data, self.model.preparer)
        self.dev_texts = Texts(self.dev, self.model.preparer)

    @property
    def encoder(self) -> Encoder:
        return self.model.encoder

    @property
    def plain(self) -> EncoderRecipe:
        return self.recipe

    @property
    def network(self) -> Encoder:
        return self.model.encoder

    @property
    def frozen(self) -> Frozen | None:
        return frozen_input(self.recipe.encoder, self.encoder.embedding)

    @property
    def mixes_lengths(self) -> bool:
        """Questions of one hop and of several meet in every batch where siblings make them many."""
        return bool(self.recipe.data.siblings)

    def batch(self, epoch: int, step: int, numbers: Sequence[int]) -> TrainingBatch:
        """A batch's samples; the gold pair's order flips every epoch (checklist 17)."""
        rng = np.random.default_rng([self.recipe.run.seed, epoch, step])
        samples: list[ChainSample] = []
        for number in numbers:
            if number in self._negatives:  # SQuAD has negatives of its own (checklist 18)
                samples += self._squad_samples(number, rng)
            else:
                samples += self._chain_samples(number, epoch, rng)
        return make_training_batch(self.texts, samples)

    def _chain_samples(
        self, number: int, epoch: int, rng: np.random.Generator
    ) -> list[ChainSample]:
        """Whole chains of several hops are dear to read: of a share of the questions alone."""
        wrong, share = self.recipe.data.wrong_chains, self.recipe.objective.choice_share
        samples = chain_samples(number, self.data, rng, flipped=epoch % 2 == 1, wrong_chains=wrong)
        if share < 1 and len(samples[0].paragraphs) > 1 and rng.random() >= share:
            return [replace(sample, judged=False) for sample in samples]
        return samples

    def _squad_samples(self, number: int, rng: np.random.Generator) -> list[ChainSample]:
        settings = self.recipe.data
        negatives, siblings = self._negatives[number], settings.siblings
        negatives = negatives[: settings.nearest or None]
        if not siblings:
            return squad_samples(number, self.data, negatives, rng)
        return sibling_samples(number, self.data, negatives, self._asked_of, siblings, rng)

    def loss(self, batch: TrainingBatch) -> tuple[Tensor, dict[str, float]]:
        return batch_loss(self.encoder, batch, self.recipe.objective)

    def measure(self, numbers: Sequence[int]) -> dict[str, float]:
        ranked = rank_own_paragraphs(self.encoder, self.dev_texts, numbers)
        return summarise(self.dev_texts, ranked)

    def quality(self, summary: Mapping[str, float]) -> float:
        """The second hop's average precision (checklist 19), or that of the only hop."""
        return summary.get("second_hop_ap", summary["first_hop_ap"])

    def save(self, weights: Mapping[str, Tensor]) -> None:
        save_model(self.directory / "best", self.model, weights, self.made_from)


def train_encoder(run: EncoderRun, progress: Progress) -> dict[str, float]:
    """Train until the second hop gets no better; the best evaluation's summary."""
    freeze_inputs(run, progress)
    return train(run, progress)


def _made_from(recipe: EncoderRecipe) -> dict[str, str]:
    """The files a run rests on, by their checksums, and the recipe itself."""
    data = recipe.data
    vectors = [data.word_vectors] if recipe.encoder.word_vectors else []
    sums = checksums(
        [*data.train, data.dev, *vectors, *mined_files(data.mined), *start_files(recipe.run.start)]
    )
    return sums | {"recipe": json.dumps(asdict(replace(recipe, run=replace(recipe.run, epochs=1))))}
