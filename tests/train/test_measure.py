"""How well an encoder ranks: average precision and the best pair (checklist 19)."""

from itertools import permutations
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import logsigmoid

from muppet.config import CharacterConfig, EncoderConfig
from muppet.domain import Paragraph
from muppet.nn.arrays import tensors
from muppet.nn.model import Model, new_model
from muppet.text.batch import make_batch
from muppet.train.batches import Texts
from muppet.train.examples import TrainingData, TrainingQuestion
from muppet.train.measure import Ranked, average_precision, rank_own_paragraphs, summarise


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(19)


SENTENCES = [
    ("Larsen founded Grytviken.", " It was a station."),
    ("Shackleton was buried there.",),
    ("Oslo lies in Norway.", "", " It is a city."),
    ("Whales are mammals.",),
]


def texts_of(model: Model, *questions: TrainingQuestion) -> Texts:
    paragraphs = tuple(Paragraph(f"p{n}", f"T{n}", one) for n, one in enumerate(SENTENCES))
    return Texts(TrainingData(questions, paragraphs), model.preparer)


def model_of(hops: int = 2) -> Model:
    letters = CharacterConfig(dim=3, filters=8, width=2, at_least=1)
    config = EncoderConfig(dim=8, hops=hops, word_vectors=False, characters=letters)
    model = new_model(config, [" ".join(one) for one in SENTENCES], None)
    with torch.no_grad():
        for weights in model.encoder.parameters():
            weights.normal_(std=0.5)
    return model


def asked(gold: tuple[int, ...], distractors: tuple[int, ...]) -> TrainingQuestion:
    return TrainingQuestion("q", "Who founded it?", "hotpotqa", gold, distractors, is_ordered=False)


@pytest.mark.parametrize(
    ("scores", "right", "expected"),
    [
        ([3.0, 2.0, 1.0], [True, False, False], 1.0),
        ([3.0, 2.0, 1.0], [False, False, True], 1 / 3),
        ([0.1, 0.9, 0.5, 0.7], [True, True, False, False], (1 / 1 + 2 / 4) / 2),
        ([5.0, 4.0, 3.0, 2.0, 1.0], [False, True, False, True, True], (1 / 2 + 2 / 4 + 3 / 5) / 3),
        ([1.0, 2.0], [False, False], 0.0),
        ([1.0, 2.0], [True, True], 1.0),
    ],
)
def test_average_precision_is_the_mean_precision_at_the_right_ones_checklist_19(
    scores: list[float], right: list[bool], expected: float
) -> None:
    assert average_precision(np.array(scores), np.array(right)) == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_average_precision_depends_on_the_order_alone_checklist_19(
    right: list[bool], random: Random
) -> None:
    """`right` is the order, best first; the scores are shuffled, and then bent."""
    places = list(range(len(right)))
    random.shuffle(places)
    scores = np.array([-float(place) for place in places])
    shuffled = np.array([right[place] for place in places])
    hits, total = 0, 0.0
    for rank, is_right in enumerate(right, 1):
        hits += is_right
        total += hits / rank if is_right else 0.0
    expected = total / hits if hits else 0.0
    assert average_precision(scores, shuffled) == pytest.approx(expected)
    assert average_precision(np.exp(scores), shuffled) == pytest.approx(expected)


@given(st.integers(2, 6), st.integers(0, 1000))
def test_the_best_pair_is_the_best_of_all_pairs_of_two_paragraphs_checklist_20(
    count: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=count), rng.normal(size=(count, count))
    second[np.arange(count), np.arange(count)] = 9.0  # the same paragraph twice is no pair
    rows = tuple(range(100, 100 + count))
    a, b = max(permutations(range(count), 2), key=lambda pair: first[pair[0]] + second[pair])
    assert Ranked(0, rows, first, second).best_pair() == (rows[a], rows[b])
    assert (second[np.arange(count), np.arange(count)] == 9.0).all()  # and nothing is changed


def test_a_summary_pools_the_questions_and_asks_the_second_hop_after_gold_checklist_19() -> None:
    """Rows 0 and 1 are gold of the first question, row 2 of the second."""
    texts = texts_of(model_of(), asked((0, 1), (2,)), asked((2,), (3,)))
    two = Ranked(
        0,
        (0, 1, 2),
        first=np.array([-0.1, -2.0, -1.0]),
        second=np.array([[0.0, -0.3, -0.2], [-0.4, 0.0, -0.5], [-0.01, -0.02, 0.0]]),
    )
    one = Ranked(1, (2, 3), first=np.array([-0.5, -0.6]), second=np.zeros((2, 2)))
    summary = summarise(texts, [two, one])
    # first hop: -0.1 gold, -0.5 gold, -0.6, -1.0, -2.0 gold
    assert summary["first_hop_ap"] == pytest.approx((1 + 1 + 3 / 5) / 3)
    # second hop after 0: 1 at -0.3 gold, 2 at -0.2; after 1: 0 at -0.4 gold, 2 at -0.5
    assert summary["second_hop_ap"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    # pairs: (0, 1) -0.4, (0, 2) -0.3, (2, 0) -1.01, …: the best is not the gold one
    assert summary["pair_first"] == 0.0
    better = Ranked(0, two.rows, two.first, two.second + np.array([[0.0, 0.2, 0.0]] * 3))
    assert summarise(texts, [better])["pair_first"] == 1.0


def test_single_hop_questions_alone_have_no_second_hop_to_summarise_checklist_19() -> None:
    texts = texts_of(model_of(hops=1), asked((2,), (3,)))
    one = Ranked(0, (2, 3), np.array([-0.7, -0.6]), np.zeros((2, 2)))
    assert summarise(texts, [one]) == {"first_hop_ap": 0.5}


def test_ranking_own_paragraphs_gives_the_networks_log_probabilities_checklist_13_and_15() -> None:
    """Each paragraph and each pair on its own, without padding, must say the same."""
    model = model_of()
    texts = texts_of(model, asked((2, 0), (3,)))
    (ranked,) = rank_own_paragraphs(model.encoder, texts, [0])
    assert ranked.rows == (0, 2, 3)
    encoder, lexicon = model.encoder, model.preparer.lexicon
    question = encoder.read(tensors(make_batch([texts.question(0)], lexicon)))
    batches = [tensors(make_batch([texts.paragraph(row)], lexicon)) for row in ranked.rows]
    for a, batch in enumerate(batches):
        read = encoder.read(batch)
        logit = encoder.relevance_at(0)(*encoder.sentences(read, batch), encoder.question(question))
        assert ranked.first[a] == pytest.approx(logsigmoid(logit).item(), abs=1e-5)
        vector = encoder.reformulate(question, read).question
        for b, other in enumerate(batches):
            sentences, present = encoder.sentences(encoder.read(other), other)
            logit = encoder.relevance_at(1)(sentences, present, vector)
            assert ranked.second[a, b] == pytest.approx(logsigmoid(logit).item(), abs=1e-5)
    assert not encoder.training


def test_one_hop_encoders_rank_first_hops_alone() -> None:
    model = model_of(hops=1)
    texts = texts_of(model, asked((2,), (3, 1)))
    (ranked,) = rank_own_paragraphs(model.encoder, texts, [0])
    assert ranked.first.shape == (3,)
    assert (ranked.first < 0).all()
