"""Of the negatives that words found, the model's own favourites are kept."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
import torch

from muppet.config import CharacterConfig, EncoderConfig
from muppet.corpus.sources import Sources
from muppet.domain import Paragraph, silent
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import index_documents
from muppet.nn.arrays import tensors
from muppet.nn.model import Model, new_model
from muppet.text.batch import make_batch
from muppet.train.data import load_training_data
from muppet.train.examples import TrainingData
from muppet.train.mine_model import most_believed, write_mined
from muppet.train.negatives import MinedNegatives, mine_lexical, question_key, read_mined

DEMO = Path(str(files("muppet") / "demo"))


@pytest.fixture(scope="module")
def data(demo_questions: Path) -> TrainingData:
    loaded = load_training_data([demo_questions])
    assert len(loaded.questions) == 35
    return loaded


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory, data: TrainingData) -> Iterator[MinedNegatives]:
    directory = tmp_path_factory.mktemp("mining")
    index_documents(directory / "kb", Sources([DEMO / "paragraphs.jsonl"]))
    with KnowledgeBase(directory / "kb") as knowledge:
        yield mine_lexical(data, knowledge, directory / "pool", keep=8)


@pytest.fixture(scope="module")
def model(data: TrainingData) -> Model:
    torch.manual_seed(3)
    letters = CharacterConfig(filters=6, at_least=1)
    config = EncoderConfig(dim=8, word_vectors=False, characters=letters, max_tokens=60)
    made = new_model(config, (word for p in data.paragraphs for word in p.text.split()), None)
    made.encoder.eval()
    return made


def first_hop(model: Model, question: str, paragraph: Paragraph) -> float:
    """The relevance of one paragraph, read all by itself."""
    lexicon, encoder = model.preparer.lexicon, model.encoder
    with torch.no_grad():
        batch = tensors(make_batch([model.preparer.paragraph(paragraph)], lexicon))
        sentences, present = encoder.sentences(encoder.read(batch), batch)
        asked = tensors(make_batch([model.preparer.question(question)], lexicon))
        vector = encoder.question(encoder.read(asked))
        return float(encoder.relevance_at(0)(sentences, present, vector))


def test_the_most_believed_of_the_pool_are_kept_best_first(
    data: TrainingData, pool: MinedNegatives, model: Model
) -> None:
    chosen = most_believed(data, pool, model, keep=3, progress=silent)
    for question in data.questions[:5]:
        candidates = pool.questions[question_key(question)].first
        score = {n: first_hop(model, question.text, pool.paragraphs[n]) for n in candidates}
        best = sorted(candidates, key=lambda number: -score[number])[:3]
        assert list(chosen.questions[question_key(question)].first) == best


def test_every_hop_keeps_its_own_and_only_used_paragraphs_are_carried_along(
    data: TrainingData, pool: MinedNegatives, model: Model
) -> None:
    chosen = most_believed(data, pool, model, keep=3, progress=silent)
    for key, mined in chosen.questions.items():
        assert len(mined.next) == len(pool.questions[key].next)
        for kept, candidates in zip(mined.next, pool.questions[key].next, strict=True):
            assert len(kept) == 3
            assert set(kept) <= set(candidates)
    used = {number for mined in chosen.questions.values() for number in mined.numbers}
    assert set(chosen.paragraphs) == used


def test_what_the_model_chose_is_read_back_as_it_was(
    data: TrainingData, pool: MinedNegatives, model: Model, tmp_path: Path
) -> None:
    chosen = most_believed(data, pool, model, keep=2, progress=silent)
    write_mined(tmp_path / "mined", chosen, {"model": "random"})
    assert read_mined(tmp_path / "mined").questions == chosen.questions
