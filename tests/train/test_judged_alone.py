"""Questions that only the stop head is shown: between their chains it chooses, as between those of
the others (checklist 34), and no paragraph of theirs is read by itself."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from muppet.config import CharacterConfig, ContextualConfig, EncoderConfig, load_settings
from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.nn.model import Model, new_model
from muppet.train.batches import Texts, make_judged_batch, make_training_batch
from muppet.train.examples import ChainSample, TrainingData, TrainingQuestion
from muppet.train.objective import batch_loss
from muppet.train.recipe import DataConfig, EncoderRecipe, ObjectiveConfig
from muppet.train.train_encoder import EncoderRun
from tiny_bert import write_bert
from tiny_squad import write_tiny_squad

TINY = Path(__file__).parent.parent.parent / "recipes" / "tiny.toml"
PARAGRAPHS = tuple(
    Paragraph(str(number), title, (text,))
    for number, (title, text) in enumerate(
        [
            ("The station", "The stations was."),
            ("Cafe", "The cafe."),
            ("Stations", "Was the station the cafe."),
            ("Was", "The station was the cafe, was the cafe."),
        ]
    )
)
ASKED = tuple(
    TrainingQuestion(text, text, "squad", (gold,), (), is_ordered=False)
    for text, gold in [("Was the cafe?", 1), ("The station was?", 0), ("Was the station?", 2)]
)


def encoder_in(directory: Path) -> EncoderConfig:
    return EncoderConfig(
        network="transformer",
        dim=32,
        word_vectors=False,
        characters=CharacterConfig(filters=0),
        contextual=ContextualConfig("transformer", str(directory), layers=1, tuned=1, dropout=0.0),
    )


@pytest.fixture
def model(tmp_path: Path) -> Model:
    torch.manual_seed(7)
    made = new_model(encoder_in(write_bert(tmp_path / "bert")), [], None)
    made.encoder.eval()
    return made


def chains_of(number: int) -> list[ChainSample]:
    """The question's own paragraph, and then the others."""
    (own,) = ASKED[number].gold
    return [
        ChainSample(number, (row,), relevant=(row == own,), complete=(row == own,))
        for row in sorted(range(len(PARAGRAPHS)), key=lambda row: row != own)
    ]


def test_the_stop_head_chooses_as_it_does_where_paragraphs_are_searched_too(model: Model) -> None:
    texts = Texts(TrainingData(ASKED, PARAGRAPHS), model.preparer)
    objective = ObjectiveConfig(ranking_weight=0.0, choice_weight=0.5)
    both = [*chains_of(1), *chains_of(2)]
    searched = batch_loss(model.encoder, make_training_batch(texts, both), objective)[1]
    batch = make_training_batch(texts, chains_of(0)[:2])
    beside = replace(batch, judged_alone=make_judged_batch(texts, both))
    total, parts = batch_loss(model.encoder, beside, objective)
    assert parts["choice_alone"] == pytest.approx(searched["choice"], abs=1e-5)
    assert total.item() == pytest.approx(sum(parts.values()), abs=1e-5)
    without = batch_loss(model.encoder, batch, objective)[1]
    assert {name: parts[name] for name in without} == pytest.approx(without)
    assert parts.keys() - without.keys() == {"choice_alone"}
    total.backward()  # type: ignore[no-untyped-call]
    assert model.encoder.stop.weight.grad is not None
    assert make_judged_batch(texts, []) is None


def test_a_run_shows_a_share_of_its_questions_of_one_hop_to_the_stop_head_alone(
    tiny_world: Path,
) -> None:
    recipe = squad_recipe(tiny_world, judged_alone=0.75)
    run = EncoderRun(recipe, tiny_world / "run")
    numbers = range(16)
    searched, alone = 0, 0
    for step in range(10):
        batch = run.batch(0, step, numbers)
        assert batch.judged_alone is not None
        judged = batch.judged_alone
        assert judged.right.sum() == len(judged.texts.questions)  # one right chain of each
        asked = [text.tokens.text for text in (*batch.texts.questions, *judged.texts.questions)]
        assert sorted(asked) == sorted(run.texts.question(one).tokens.text for one in numbers)
        searched += len(batch.texts.questions)
        alone += len(judged.texts.questions)
    assert 0.6 < alone / (alone + searched) < 0.85
    only_one = run.batch(0, 0, [3])
    assert only_one.judged_alone is None  # something has to be searched
    plain = EncoderRun(squad_recipe(tiny_world, judged_alone=0.0), tiny_world / "plain")
    assert plain.batch(0, 0, numbers).judged_alone is None


def squad_recipe(directory: Path, judged_alone: float) -> EncoderRecipe:
    write_tiny_squad(directory / "squad.json")
    plain = load_settings(EncoderRecipe, TINY)
    weights = replace(plain.data.weights, hotpotqa=0.0, squad=1.0)
    return replace(
        plain,
        encoder=encoder_in(write_bert(directory / "bert")),
        data=replace(plain.data, train=("squad.json",), weights=weights, judged_alone=judged_alone),
        objective=replace(plain.objective, choice_weight=1.0),
    )


def test_they_are_refused_where_the_stop_head_does_not_learn_to_choose(tmp_path: Path) -> None:
    data = DataConfig(judged_alone=0.5)
    with pytest.raises(ConfigError, match=r"data\.judged_alone .*choice_weight"):
        EncoderRecipe(encoder=encoder_in(tmp_path), data=data)
    with pytest.raises(
        ConfigError, match=r"data\.judged_alone"
    ):  # the paper's network rereads none
        EncoderRecipe(data=data, objective=ObjectiveConfig(choice_weight=1.0))
    with pytest.raises(ConfigError, match=r"data\.judged_alone"):
        DataConfig(judged_alone=1.5)
