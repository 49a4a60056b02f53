"""Train the reader: spans, yes/no and supporting sentences, on gold chains among others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from muppet.domain import Progress
from muppet.nn.reader import Reader
from muppet.nn.reader_model import ReaderModel, new_reader, save_reader
from muppet.train.batches import Texts
from muppet.train.examples import TrainingData
from muppet.train.excerpts import Length, short_negatives, with_excerpts, wrong_excerpts
from muppet.train.negatives import squad_negatives
from muppet.train.reader_batches import ReaderBatch, make_reader_batch
from muppet.train.reader_measure import answer_questions, dev_samples, summarise_answers
from muppet.train.reader_objective import reader_loss
from muppet.train.reader_recipe import ReaderRecipe
from muppet.train.reader_samples import (
    WrongChains,
    article_negatives,
    reader_samples,
)
from muppet.train.retrieved import Retrieved, Rows, read_retrieved
from muppet.train.run import (
    Frozen,
    Run,
    all_words,
    begin_with,
    checksums,
    epoch_batches,
    freeze_inputs,
    frozen_input,
    load_data,
    mined_files,
    read_word_vectors,
    require_questions,
    start_files,
    train,
)


class ReaderRun(Run[ReaderBatch]):
    """Everything of one run that is made before its first step."""

    def __init__(self, recipe: ReaderRecipe, directory: Path) -> None:
        torch.manual_seed(recipe.run.seed)
        torch.set_num_threads(recipe.run.threads)
        self.recipe = recipe
        self.directory = directory
        self.made_from = _made_from(recipe)
        self.data, self.dev, self.left_out = load_data(recipe.data, recipe.reader.max_tokens)
        self._retrieved = self._read_retrieved()
        needs_drawn = recipe.data.excerpt or recipe.data.weights.squad
        drawn = _drawn(self.data, recipe) if needs_drawn else set()
        if recipe.data.excerpt:
            self.data = with_excerpts(self.data, self._length, recipe.run.seed, drawn)
        self._wrong = self._wrong_chains(drawn)
        vectors = read_word_vectors("reader", recipe.reader, recipe.data.word_vectors)
        self.model: ReaderModel = new_reader(recipe.reader, all_words(self.data), vectors)
        begin_with(self.model.reader, recipe.run.start)
        require_questions(self.dev, self.epoch(0))
        self.texts = Texts(self.data, self.model.preparer)
        self.dev_texts = Texts(self.dev, self.model.preparer)
        self._dev_samples = dev_samples(self.dev_texts, recipe.data.dev_chains)

    @property
    def plain(self) -> ReaderRecipe:
        return self.recipe

    @property
    def network(self) -> Reader:
        return self.model.reader

    @property
    def frozen(self) -> Frozen | None:
        """Question and chain in one text are not known beforehand."""
        if self.network.joins:
            return None
        return frozen_input(self.recipe.reader, self.network.embedding)

    @property
    def mixes_lengths(self) -> bool:
        """Joined texts are sorted within a batch: there all benchmarks can meet in each."""
        return self.network.joins

    def batch(self, epoch: int, step: int, numbers: Sequence[int]) -> ReaderBatch:
        """A batch's chains: for each question the gold one and wrong ones (checklist 26)."""
        rng = np.random.default_rng([self.recipe.run.seed, epoch, step])
        samples = [
            sample
            for number in numbers
            for sample in reader_samples(number, self.data, rng, self._wrong)
        ]
        return make_reader_batch(
            self.texts, samples, joins=self.network.joins, answers_in=self.recipe.data.answers_in
        )

    def loss(self, batch: ReaderBatch) -> tuple[Tensor, dict[str, float]]:
        return reader_loss(self.network, batch, self.recipe.objective)

    def measure(self, numbers: Sequence[int]) -> dict[str, float]:
        samples = {number: self._dev_samples[number] for number in numbers}
        answers = answer_questions(self.network, self.dev_texts, samples, self.recipe.read)
        return summarise_answers(self.dev_texts, answers)

    def quality(self, summary: Mapping[str, float]) -> float:
        """Joint F1, or where dev marks no support the answers' F1."""
        return summary.get("joint_f1", summary["answer_f1"])

    def save(self, weights: Mapping[str, Tensor]) -> None:
        save_reader(self.directory / "best", self.model, weights, self.made_from)

    @property
    def _length(self) -> Length:
        return Length(self.recipe.data.excerpt, self.recipe.data.shortest_excerpt)

    def _read_retrieved(self) -> Retrieved | None:
        """The chains that were retrieved for the questions; those of one hop become excerpts, as
        the gold ones will be."""
        data = self.recipe.data
        if not data.retrieved:
            return None
        found = read_retrieved(Path(data.retrieved), self.data)
        if data.excerpt:
            self.data, found = wrong_excerpts(self.data, found, self._length, self.recipe.run.seed)
        return found

    def _wrong_chains(self, drawn: set[int]) -> WrongChains:
        data = self.recipe.data
        negatives: dict[int, Rows] = {}
        if data.weights.squad and data.wrong_paragraphs != 0:
            rng = np.random.default_rng(self.recipe.run.seed)
            near = squad_negatives(self.data, rng, drawn)
            may_answer = data.answers_in == "every"
            negatives = article_negatives(self.data, near, may_answer=may_answer)
        if data.excerpt:  # else a question's own paragraph would be the short one
            self.data, negatives = short_negatives(
                self.data, negatives, self._length, self.recipe.run.seed
            )
        return WrongChains(
            count=data.wrong_chains,
            paragraphs=None if data.wrong_paragraphs < 0 else data.wrong_paragraphs,
            paragraphs_share=data.wrong_share,
            retrieved=self._retrieved,
            retrieved_share=data.retrieved_share,
            strangers=data.strangers,
            negatives=negatives,
        )


def drawn_questions(recipe: ReaderRecipe) -> set[tuple[str, str]]:
    """The questions that a run of this recipe will draw, by id and text."""
    data, _, _ = load_data(recipe.data, recipe.reader.max_tokens)
    drawn = [data.questions[number] for number in _drawn(data, recipe)]
    return {(one.id, one.text) for one in drawn}


def _drawn(data: TrainingData, recipe: ReaderRecipe) -> set[int]:
    """The numbers of the questions that a run draws in any of its epochs."""
    joins = recipe.reader.network == "transformer"
    return {
        number
        for epoch in range(recipe.run.epochs)
        for batch in epoch_batches(data, recipe, epoch, mixes_lengths=joins)
        for number in batch
    }


def train_reader(run: ReaderRun, progress: Progress) -> dict[str, float]:
    """Train until dev's answers get no better; the best evaluation's summary."""
    freeze_inputs(run, progress)
    return train(run, progress)


def _made_from(recipe: ReaderRecipe) -> dict[str, str]:
    """The files a run rests on, by their checksums, and the recipe itself."""
    data = recipe.data
    vectors = [data.word_vectors] if recipe.reader.word_vectors else []
    retrieved = [data.retrieved] if data.retrieved else []
    sums = checksums(
        [
            *data.train,
            data.dev,
            *vectors,
            *retrieved,
            *mined_files(data.mined),
            *start_files(recipe.run.start),
        ]
    )
    return sums | {"recipe": json.dumps(asdict(replace(recipe, run=replace(recipe.run, epochs=1))))}
