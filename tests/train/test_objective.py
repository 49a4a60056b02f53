"""From samples to the loss: hops, reformulated questions, in-batch targets (checklist 16, 34)."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import softplus

from muppet.config import CharacterConfig, EncoderConfig
from muppet.domain import Paragraph
from muppet.nn.arrays import tensors
from muppet.nn.encoder import Encoded, concatenate
from muppet.nn.model import Model, new_model
from muppet.text.batch import make_batch
from muppet.train.batches import Texts, make_training_batch
from muppet.train.examples import ChainSample, TrainingData, TrainingQuestion
from muppet.train.objective import batch_loss
from muppet.train.recipe import ObjectiveConfig

PAPER = ObjectiveConfig()
PLAIN = ObjectiveConfig(ranking_weight=0.0)
CONTRAST = ObjectiveConfig(ranking_weight=0.0, in_batch_weight=1.0)

SENTENCES = (
    ("Larsen founded Grytviken.", " It was a station."),
    ("Shackleton was buried there.",),
    ("Oslo lies in Norway.", "", " It is a city by the sea, and old."),
    ("Whales are mammals.",),
    ("Bergen has rain.", " Much of it."),
    ("The captain sailed south.",),
)


def model_of(hops: int = 2) -> Model:
    torch.manual_seed(16)
    letters = CharacterConfig(dim=3, filters=8, width=2, at_least=1)
    config = EncoderConfig(dim=8, hops=hops, word_vectors=False, characters=letters)
    model = new_model(config, [" ".join(one) for one in SENTENCES], None)
    with torch.no_grad():
        for weights in model.encoder.parameters():
            weights.normal_(std=0.4)
    model.encoder.eval()
    return model


def question(
    *gold: int, text: str = "Who founded it?", is_ordered: bool = False
) -> TrainingQuestion:
    return TrainingQuestion("q", text, "any", gold, (), is_ordered)


TWO_HOPS = question(0, 1)
ORDERED = question(0, 1, 2, is_ordered=True)
ANOTHER = question(3, 4, text="Where is the rain of the whales?")


def texts_of(
    model: Model,
    *questions: TrainingQuestion,
    sentences: tuple[tuple[str, ...], ...] = SENTENCES,
) -> Texts:
    paragraphs = tuple(Paragraph(f"p{n}", f"T{n}", one) for n, one in enumerate(sentences))
    return Texts(TrainingData(questions, paragraphs), model.preparer)


def sample(number: int, *chain: int, right: int, complete: bool = False) -> ChainSample:
    """A chain whose first `right` hops are right."""
    hops = range(len(chain))
    ended = tuple(complete and hop == len(chain) - 1 for hop in hops)
    return ChainSample(number, chain, tuple(hop < right for hop in hops), ended)


def parts(
    model: Model, texts: Texts, samples: list[ChainSample], config: ObjectiveConfig
) -> dict[str, float]:
    total, found = batch_loss(model.encoder, make_training_batch(texts, samples), config)
    assert total.item() == pytest.approx(sum(found.values()), abs=1e-5)
    return found


def relevance_logit(model: Model, texts: Texts, number: int, chain: tuple[int, ...]) -> Tensor:
    """The logit of the chain's last paragraph, everything read alone and without padding: (1,)"""
    encoder, lexicon = model.encoder, model.preparer.lexicon
    asked = encoder.read(tensors(make_batch([texts.question(number)], lexicon)))
    batches = [tensors(make_batch([texts.paragraph(row)], lexicon)) for row in chain]
    read = [encoder.read(batch) for batch in batches]
    vector = after(model, asked, read[:-1])
    relevance = encoder.relevance_at(len(chain) - 1)
    logit: Tensor = relevance(*encoder.sentences(read[-1], batches[-1]), vector)
    return logit


def after(model: Model, asked: Encoded, chain: list[Encoded]) -> Tensor:
    if not chain:
        return model.encoder.question(asked)
    return model.encoder.reformulate(asked, concatenate(chain)).question


def cross_entropy_by_hand(
    model: Model, texts: Texts, samples: list[ChainSample], hop: int
) -> float:
    losses = []
    for one in samples:
        if len(one.paragraphs) > hop:
            logit = relevance_logit(model, texts, one.question, one.paragraphs[: hop + 1])
            losses.append(softplus(-logit if one.relevant[hop] else logit).item())
    return sum(losses) / len(losses)


def ranking_by_hand(model: Model, texts: Texts, samples: list[ChainSample], hop: int) -> float:
    hinges = []
    for number in {one.question for one in samples}:
        by_label: dict[bool, list[float]] = {True: [], False: []}
        for one in samples:
            if one.question == number and len(one.paragraphs) > hop:
                logit = relevance_logit(model, texts, number, one.paragraphs[: hop + 1])
                by_label[one.relevant[hop]].append(logit.sigmoid().item())
        if by_label[True] and by_label[False]:
            gap = sum(by_label[True]) / len(by_label[True])
            gap -= sum(by_label[False]) / len(by_label[False])
            hinges.append(max(0.0, 1 - gap))
    return sum(hinges) / len(hinges)


HOTPOT = [
    sample(0, 0, 1, right=2, complete=True),
    sample(0, 0, 5, right=1),
    sample(0, 2, 1, right=0),
    sample(1, 3, 4, right=2, complete=True),
    sample(1, 5, 2, right=0),
]


def test_one_hop_without_ranking_is_squad_s_loss_checklist_16() -> None:
    model = model_of(hops=1)
    texts = texts_of(model, question(2))
    samples = [sample(0, 2, right=1), *(sample(0, row, right=0) for row in (0, 4, 5))]
    found = parts(model, texts, samples, PLAIN)
    assert set(found) == {"cross_entropy_1"}
    expected = cross_entropy_by_hand(model, texts, samples, 0)
    assert found["cross_entropy_1"] == pytest.approx(expected, abs=1e-5)


def test_both_losses_of_both_hops_are_summed_checklist_16() -> None:
    model = model_of()
    texts = texts_of(model, TWO_HOPS, ANOTHER)
    found = parts(model, texts, HOTPOT, PAPER)
    expected = {}
    for hop in range(2):
        expected[f"cross_entropy_{hop + 1}"] = cross_entropy_by_hand(model, texts, HOTPOT, hop)
        expected[f"ranking_{hop + 1}"] = ranking_by_hand(model, texts, HOTPOT, hop)
    assert found == pytest.approx(expected, abs=1e-5)


def test_lambda_weighs_the_ranking_loss_and_gamma_is_its_margin_checklist_16() -> None:
    assert (PAPER.ranking_weight, PAPER.margin) == (1.0, 1.0)
    assert (PAPER.in_batch_weight, PAPER.stop_weight) == (0.0, 0.0)  # the paper has neither
    model = model_of()
    texts = texts_of(model, TWO_HOPS, ANOTHER)
    one = parts(model, texts, HOTPOT, PAPER)
    half = parts(model, texts, HOTPOT, replace(PAPER, ranking_weight=0.5))
    wide = parts(model, texts, HOTPOT, replace(PAPER, margin=3.0))
    for hop in (1, 2):
        assert half[f"ranking_{hop}"] == pytest.approx(one[f"ranking_{hop}"] / 2, abs=1e-6)
        assert wide[f"ranking_{hop}"] == pytest.approx(one[f"ranking_{hop}"] + 2, abs=1e-5)


def test_the_second_hop_asks_the_question_that_the_first_paragraph_reformulated_checklist_15() -> (
    None
):
    """Another text for P1 changes the loss of P2, although P2 and the question are the same."""
    model = model_of()
    samples = [sample(0, 0, 1, right=2, complete=True), sample(0, 0, 3, right=1)]
    before = parts(model, texts_of(model, TWO_HOPS), samples, PLAIN)
    other = (("Something else was written here, at length.",), *SENTENCES[1:])
    changed = parts(model, texts_of(model, TWO_HOPS, sentences=other), samples, PLAIN)
    assert abs(before["cross_entropy_2"] - changed["cross_entropy_2"]) > 1e-4


def test_the_first_hop_asks_the_question_itself_checklist_12() -> None:
    """Another text for P2 changes nothing of it."""
    model = model_of()
    samples = [sample(0, 0, 1, right=2), sample(0, 0, 3, right=1)]
    before = parts(model, texts_of(model, TWO_HOPS), samples, PLAIN)
    other = (SENTENCES[0], ("Something else was written here, at length.",), *SENTENCES[2:])
    changed = parts(model, texts_of(model, TWO_HOPS, sentences=other), samples, PLAIN)
    assert before["cross_entropy_1"] == pytest.approx(changed["cross_entropy_1"], abs=1e-6)


def test_chains_of_one_two_and_three_hops_are_trained_together_checklist_34() -> None:
    model = model_of()
    texts = texts_of(model, question(3), TWO_HOPS, ORDERED)
    samples = [
        sample(0, 3, right=1, complete=True),
        sample(1, 0, 1, right=2, complete=True),
        sample(1, 0, 0, right=1),
        sample(2, 0, 1, 2, right=3, complete=True),
        sample(2, 0, 4, 2, right=1),
    ]
    found = parts(model, texts, samples, PLAIN)
    expected = {
        f"cross_entropy_{hop + 1}": cross_entropy_by_hand(model, texts, samples, hop)
        for hop in range(3)
    }
    assert found == pytest.approx(expected, abs=1e-5)


def test_the_order_of_samples_and_unrelated_company_change_no_logit_checklist_16() -> None:
    model = model_of()
    texts = texts_of(model, TWO_HOPS, ANOTHER)
    assert parts(model, texts, HOTPOT[::-1], PAPER) == pytest.approx(
        parts(model, texts, HOTPOT, PAPER), abs=1e-5
    )


def test_many_paragraphs_are_read_as_few_are_checklist_16() -> None:
    """More than are read at once, of very different lengths."""
    model = model_of()
    sentences = tuple((f"Number {n}." + " word" * (n % 7), f" End {n}.") for n in range(40))
    texts = texts_of(model, question(5, 6), sentences=sentences)
    samples = [
        sample(0, 5, 6, right=2, complete=True),
        *(sample(0, 5, row, right=1) for row in range(7, 40)),
    ]
    found = parts(model, texts, samples, PLAIN)
    for hop in range(2):
        expected = cross_entropy_by_hand(model, texts, samples, hop)
        assert found[f"cross_entropy_{hop + 1}"] == pytest.approx(expected, abs=1e-5)


def stop_logit(model: Model, texts: Texts, number: int, chain: tuple[int, ...]) -> Tensor:
    """What the stop head says after a chain, everything read alone and without padding: (1,)"""
    encoder, lexicon = model.encoder, model.preparer.lexicon
    asked = encoder.read(tensors(make_batch([texts.question(number)], lexicon)))
    rows = [tensors(make_batch([texts.paragraph(row)], lexicon)) for row in chain]
    return encoder.is_complete(after(model, asked, [encoder.read(row) for row in rows]))


def stop_by_hand(model: Model, texts: Texts, samples: list[ChainSample]) -> float:
    """Each answer's mean, and the mean of both; the end of a wrong chain is not looked at."""
    losses: dict[bool, list[float]] = {True: [], False: []}
    for one in samples:
        for hop, complete in enumerate(one.complete):
            if complete or hop + 1 < len(one.paragraphs):
                logit = stop_logit(model, texts, one.question, one.paragraphs[: hop + 1])
                losses[complete].append(softplus(-logit if complete else logit).item())
    return sum(sum(some) / len(some) for some in losses.values()) / 2


def test_the_stop_head_learns_after_every_hop_whether_the_evidence_is_complete_checklist_34() -> (
    None
):
    model = model_of()
    texts = texts_of(model, TWO_HOPS, ANOTHER, question(2))
    samples = [*HOTPOT, sample(2, 2, right=1, complete=True)]
    found = parts(model, texts, samples, replace(PLAIN, stop_weight=0.5))
    assert found["stop"] == pytest.approx(0.5 * stop_by_hand(model, texts, samples), abs=1e-5)


def test_one_hop_has_nothing_to_stop_checklist_34() -> None:
    model = model_of(hops=1)
    samples = [sample(0, 2, right=1), sample(0, 3, right=0)]
    found = parts(model, texts_of(model, question(2)), samples, replace(PLAIN, stop_weight=1.0))
    assert "stop" not in found


def in_batch_by_hand(
    model: Model,
    texts: Texts,
    prefixes: list[tuple[int, tuple[int, ...]]],
    right: list[set[int]],
    wrong: list[set[int]],
) -> float:
    """Each right paragraph against the wrong ones, after each (question, chain so far)."""
    losses = []
    for (number, chain), rights, wrongs in zip(prefixes, right, wrong, strict=True):
        for row in rights:
            logits = [
                relevance_logit(model, texts, number, (*chain, one)) for one in (row, *wrongs)
            ]
            losses.append((torch.cat(logits).logsumexp(dim=0) - logits[0]).item())
    return sum(losses) / len(losses) if losses else 0.0


def contrast(
    *questions: TrainingQuestion, samples: list[ChainSample]
) -> tuple[Model, Texts, dict[str, float]]:
    model = model_of(hops=3)
    texts = texts_of(model, *questions)
    return model, texts, parts(model, texts, samples, CONTRAST)


def test_any_gold_is_right_first_and_then_only_the_other_checklist_16() -> None:
    """Unordered gold (0, 1): at hop 2 after 0 only 1 is right, 0 itself is not compared."""
    samples = [sample(0, 0, 1, right=2), sample(0, 0, 5, right=1)]
    model, texts, found = contrast(TWO_HOPS, samples=samples)
    first = in_batch_by_hand(model, texts, [(0, ())], [{0, 1}], [{5}])
    second = in_batch_by_hand(model, texts, [(0, (0,))], [{1}], [{5}])
    assert found["in_batch_1"] == pytest.approx(first, abs=1e-5)
    assert found["in_batch_2"] == pytest.approx(second, abs=1e-5)


def test_ordered_gold_is_right_only_when_it_is_next_and_never_wrong_checklist_34() -> None:
    """Gold 0, 1, 2 in that order; the other gold is neither right nor wrong."""
    samples = [sample(0, 0, 1, 2, right=3), sample(0, 0, 1, 4, right=2)]
    model, texts, found = contrast(ORDERED, samples=samples)
    for hop, chain in enumerate([(), (0,), (0, 1)]):
        expected = in_batch_by_hand(model, texts, [(0, chain)], [{hop}], [{4}])
        assert found[f"in_batch_{hop + 1}"] == pytest.approx(expected, abs=1e-5)


def test_after_a_wrong_paragraph_nothing_is_right_checklist_16() -> None:
    samples = [sample(0, 5, 1, right=0), sample(0, 4, 0, right=0)]
    _, _, found = contrast(TWO_HOPS, samples=samples)
    assert found["in_batch_1"] > 0
    assert found["in_batch_2"] == 0.0


def test_after_a_repeated_paragraph_nothing_is_right_checklist_16() -> None:
    samples = [sample(0, 0, 0, 1, right=1), sample(0, 5, 4, 2, right=0)]
    _, _, found = contrast(question(0, 1, 2), samples=samples)
    assert found["in_batch_2"] > 0
    assert found["in_batch_3"] == 0.0


def test_after_gold_in_the_wrong_order_nothing_is_right_checklist_34() -> None:
    """Gold 2 came first, where 0 was due: the chain has gone wrong."""
    samples = [sample(0, 2, 1, right=0), sample(0, 2, 4, right=0)]
    _, _, found = contrast(ORDERED, samples=samples)
    assert found["in_batch_2"] == 0.0


def test_paragraphs_of_other_questions_are_wrong_and_gold_is_never_a_negative_checklist_16() -> (
    None
):
    """Paragraph 3 is gold of the second question alone; 0 and 1 of the first."""
    samples = [
        sample(0, 0, 1, right=2),
        sample(0, 1, 5, right=1),
        sample(1, 3, 4, right=2),
        sample(1, 5, 0, right=0),
    ]
    model, texts, found = contrast(TWO_HOPS, ANOTHER, samples=samples)
    first = in_batch_by_hand(
        model, texts, [(0, ()), (1, ())], [{0, 1}, {3, 4}], [{3, 4, 5}, {0, 1, 5}]
    )
    second = in_batch_by_hand(
        model,
        texts,
        [(0, (0,)), (0, (1,)), (1, (3,)), (1, (5,))],
        [{1}, {0}, {4}, set()],
        [{3, 4, 5}, {3, 4, 5}, {0, 1, 5}, set()],
    )
    assert found["in_batch_1"] == pytest.approx(first, abs=1e-5)
    assert found["in_batch_2"] == pytest.approx(second, abs=1e-5)


def test_a_prefix_that_samples_share_is_counted_once_in_batch_checklist_16() -> None:
    samples = [sample(0, 0, 1, right=2), sample(0, 0, 5, right=1), sample(0, 5, 0, right=0)]
    _, _, once = contrast(TWO_HOPS, samples=samples)
    _, _, twice = contrast(TWO_HOPS, samples=[*samples, samples[0], samples[0]])
    assert once["in_batch_2"] == pytest.approx(twice["in_batch_2"], abs=1e-5)


def test_every_trained_weight_learns_from_a_two_hop_batch_checklist_16() -> None:
    model = model_of()
    texts = texts_of(model, TWO_HOPS, ANOTHER)
    config = replace(PAPER, stop_weight=1.0, in_batch_weight=1.0)
    loss, _ = batch_loss(model.encoder.train(), make_training_batch(texts, HOTPOT), config)
    loss.backward()
    for name, weights in model.encoder.named_parameters():
        assert weights.grad is not None, name
        assert weights.grad.isfinite().all(), name
        assert weights.grad.any(), name


def test_the_stop_head_may_see_only_a_share_of_the_gold_chains_to_their_end() -> None:
    model = model_of()
    texts = texts_of(model, TWO_HOPS, ANOTHER)
    whole = parts(model, texts, HOTPOT, replace(PLAIN, stop_weight=1.0))
    none = parts(model, texts, HOTPOT, replace(PLAIN, stop_weight=1.0, stop_share=0.0))
    assert whole["stop"] != pytest.approx(none["stop"])
    assert whole["cross_entropy_2"] == pytest.approx(none["cross_entropy_2"])


def test_the_complete_chain_of_a_question_is_chosen_among_its_judged_ones_checklist_34() -> None:
    model = model_of()
    texts = texts_of(model, TWO_HOPS, ANOTHER, question(2))
    right = [sample(0, 0, 1, right=2, complete=True), sample(2, 2, right=1, complete=True)]
    wrong = [sample(0, 0, 3, right=1), sample(0, 4, 1, right=0), sample(2, 5, right=0)]
    unseen = [
        replace(sample(1, 3, 4, right=2, complete=True), judged=False),
        replace(sample(1, 0, 4, right=0), judged=False),
    ]
    config = replace(PLAIN, choice_weight=0.5)
    found = parts(model, texts, [*right, *wrong, *unseen], config)
    losses = []
    for best in right:
        beside = [best, *(one for one in wrong if one.question == best.question)]
        own = torch.cat([stop_logit(model, texts, one.question, one.paragraphs) for one in beside])
        losses.append((own.logsumexp(0) - own[0]).item())
    assert found["choice"] == pytest.approx(0.5 * sum(losses) / 2, abs=1e-5)
    assert "stop" not in found


def test_whole_chains_that_are_wrong_are_read_only_to_choose_between_them() -> None:
    model = model_of()
    texts = texts_of(model, TWO_HOPS, ANOTHER)
    stop = replace(PLAIN, stop_weight=1.0)
    alone = parts(model, texts, HOTPOT, stop)["stop"]
    assert parts(model, texts, HOTPOT, replace(stop, choice_weight=1.0))["stop"] != alone
