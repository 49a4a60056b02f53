"""The reader learns, and a stopped run goes on as if it had not been (checklist 19, 24)."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from muppet.config import CharacterConfig, ContextualConfig, load_settings, to_toml
from muppet.domain import silent
from muppet.errors import ConfigError
from muppet.evaluate.answers import normalise
from muppet.nn.reader_model import load_reader
from muppet.read.reader import ChainReader
from muppet.train.batches import Texts
from muppet.train.data import load_training_data
from muppet.train.reader_measure import answer_questions, dev_samples, summarise_answers
from muppet.train.reader_recipe import ReaderRecipe
from muppet.train.recipe import RunConfig
from muppet.train.train_reader import ReaderRun, freeze_inputs, train_reader
from tiny_bert import write_bert

ROOT = Path(__file__).parent.parent.parent
RECIPES = sorted((ROOT / "recipes").glob("*reader*.toml"))


def tiny_recipe() -> ReaderRecipe:
    return load_settings(ReaderRecipe, ROOT / "recipes" / "tiny-reader.toml")


def short(recipe: ReaderRecipe, **run: int) -> ReaderRecipe:
    """A run of a few seconds: a smaller network, and few of dev's questions."""
    settings: RunConfig = replace(recipe.run, **run)
    return replace(
        recipe,
        reader=replace(recipe.reader, dim=8, hidden=4),
        data=replace(recipe.data, dev_questions=4),
        run=settings,
    )


def train_in(directory: Path, recipe: ReaderRecipe) -> dict[str, float]:
    directory.mkdir(exist_ok=True)
    return train_reader(ReaderRun(recipe, directory), silent)


def guessing_a_name(texts: Texts, number: int) -> float:
    """How often a guess is right that knows it must be a name of the question's paragraphs."""
    question = texts.data.questions[number]
    rows = {*question.gold, *question.distractors}
    names = {
        normalise(word)
        for row in rows
        for word in texts.data.paragraphs[row].text.split()
        if word[0].isupper()
    }
    return float(normalise(question.answers[0]) in names) / len(names)


@pytest.mark.slow
def test_tiny_learns_to_answer_unseen_questions_far_above_chance_checklist_24(
    tiny_world: Path,
) -> None:
    """The people of dev are not in train: it has learned what is asked for, and where it stands."""
    train_in(tiny_world / "run", tiny_recipe())
    model = load_reader(tiny_world / "run" / "best")
    texts = Texts(load_training_data([tiny_world / "dev.json"]), model.preparer)
    unseen = {number: some for number, some in dev_samples(texts, 4).items() if number >= 30}
    answers = list(answer_questions(model.reader, texts, unseen, tiny_recipe().read))
    summary = summarise_answers(texts, answers)
    chance = np.mean([guessing_a_name(texts, number) for number in unseen])
    assert chance < 0.15
    assert summary["answer_em"] > chance + 0.4
    assert summary["support_f1"] > 0.5


def test_the_same_seed_gives_the_same_weights(tiny_world: Path) -> None:
    recipe = short(tiny_recipe(), epochs=1)
    for name in ("one", "two"):
        train_in(tiny_world / name, recipe)
    one, two = (load_file(tiny_world / name / "checkpoint" / "state") for name in ("one", "two"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_a_stopped_run_continued_gives_the_same_weights_as_an_unbroken_one(
    tiny_world: Path,
) -> None:
    recipe = short(tiny_recipe(), epochs=2, checkpoint_steps=7)

    class StoppedError(Exception):
        """Somebody pulls the plug."""

    def until(stage: str, done: int, total: int | None, note: str = "") -> None:  # noqa: ARG001
        if done == 26:
            raise StoppedError

    (tiny_world / "stopped").mkdir()
    with pytest.raises(StoppedError):
        train_reader(ReaderRun(recipe, tiny_world / "stopped"), until)
    train_in(tiny_world / "stopped", recipe)
    train_in(tiny_world / "unbroken", recipe)
    stopped, unbroken = (
        load_file(tiny_world / name / "checkpoint" / "state") for name in ("stopped", "unbroken")
    )
    assert stopped.keys() == unbroken.keys()
    assert all(torch.equal(stopped[name], unbroken[name]) for name in stopped)
    steps = [json.loads(line)["steps"] for line in
             (tiny_world / "stopped" / "metrics.jsonl").read_text().splitlines()
             if '"step"' in line]  # fmt: skip
    assert steps == list(range(1, 41))


def test_the_transformer_network_trains_and_frozen_inputs_serve_the_recurrent_one(
    tiny_world: Path,
) -> None:
    bert = ContextualConfig("transformer", str(write_bert(tiny_world / "bert")), layers=2)
    recipe = short(tiny_recipe(), epochs=1)
    recurrent = replace(recipe, reader=replace(recipe.reader, contextual=bert))
    run = ReaderRun(recurrent, tiny_world / "frozen")
    batch = run.batch(0, 0, (0, 1))
    fresh = run.loss(batch)[0].item()
    run.directory.mkdir()
    run.network.eval()
    fresh = run.loss(batch)[0].item()
    freeze_inputs(run, silent)
    assert (tiny_world / "frozen" / "frozen-train").is_dir()
    assert run.texts.paragraph(0).frozen is not None
    assert run.loss(run.batch(0, 0, (0, 1)))[0].item() == pytest.approx(fresh, abs=1e-2)  # float16
    joined = replace(
        recipe,
        reader=replace(
            recipe.reader,
            network="transformer",
            dim=32,
            word_vectors=False,
            characters=CharacterConfig(filters=0),
            contextual=replace(bert, layers=1, tuned=1),
        ),
    )
    summary = train_in(tiny_world / "joined", joined)
    assert {"answer_em", "support_f1", "joint_f1"} <= summary.keys()
    assert not (tiny_world / "joined" / "frozen-train").exists()
    assert load_reader(tiny_world / "joined" / "best").reader.joins


def test_retrieved_chains_are_read_in_training(tiny_world: Path) -> None:
    data = load_training_data([tiny_world / "train.json"])
    gold = data.questions[0]
    first, second = (data.paragraphs[row].title for row in gold.gold)
    other = data.paragraphs[gold.distractors[0]].title
    lines = {"id": gold.id, "chains": [[first, second, other]]}
    (tiny_world / "chains.jsonl").write_text(json.dumps(lines) + "\n")
    recipe = short(tiny_recipe(), epochs=1)
    found = replace(recipe.data, retrieved="chains.jsonl", retrieved_share=1.0)
    run = ReaderRun(replace(recipe, data=found), tiny_world / "run")
    lengths = sorted(len(sample.paragraphs) for sample in run.batch(0, 0, (0,)).samples)
    assert lengths == [2, 2, 3]
    assert "chains.jsonl" in run.made_from


def test_a_checkpoint_of_another_recipe_is_refused(tiny_world: Path) -> None:
    recipe = short(tiny_recipe(), epochs=1)
    train_in(tiny_world / "run", recipe)
    other = replace(recipe, objective=replace(recipe.objective, support_weight=0.5))
    with pytest.raises(Exception, match="another recipe"):
        train_in(tiny_world / "run", other)


def test_the_command_trains_and_exports_a_reader_that_answers(tiny_world: Path) -> None:
    (tiny_world / "tiny.toml").write_text(to_toml(short(tiny_recipe(), epochs=1)))

    def muppet(*arguments: str) -> str:
        command = [sys.executable, "-m", "muppet", "train", *arguments]
        return subprocess.run(
            command, cwd=tiny_world, capture_output=True, text=True, check=True
        ).stdout

    plan = json.loads(muppet("reader", "tiny.toml", "--dry-run", "--json"))
    assert (plan["questions"], plan["steps_per_epoch"], plan["dev_questions"]) == (200, 20, 4)
    assert plan["minutes"] > 0
    assert not (tiny_world / "runs").exists()
    best = json.loads(muppet("reader", "tiny.toml", "--out", "run", "--json"))
    assert 0 <= best["joint_f1"] <= best["answer_f1"] <= 1
    muppet("export", "run/best", "--out", "exported")
    data = load_training_data([tiny_world / "dev.json"])
    chain = [data.paragraphs[row] for row in data.questions[0].gold]
    reader = ChainReader(tiny_world / "exported")
    answers = reader.answers(data.questions[0].text, [chain, chain[:1]], tiny_recipe().read)
    assert answers[0].text


def test_an_empty_recipe_and_a_wrong_share_are_refused(tiny_world: Path) -> None:
    recipe = tiny_recipe()
    lost = replace(recipe, data=replace(recipe.data, retrieved="nowhere.jsonl"))
    with pytest.raises(ConfigError, match=r"not there: 'nowhere\.jsonl'"):
        ReaderRun(lost, tiny_world / "run")
    weights = replace(recipe.data.weights, hotpotqa=0.0)
    none = replace(recipe, data=replace(recipe.data, weights=weights))
    with pytest.raises(ConfigError, match="nothing to learn from"):
        ReaderRun(none, tiny_world / "run")
    with pytest.raises(ConfigError, match="retrieved_share"):
        replace(recipe.data, retrieved_share=1.5)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_valid_and_names_its_command(recipe: Path) -> None:
    load_settings(ReaderRecipe, recipe)
    assert f"muppet train reader recipes/{recipe.name}" in recipe.read_text()


def test_there_is_a_recipe_for_each_of_the_paper_s_readers_and_ours() -> None:
    names = {path.stem for path in RECIPES}
    assert names == {"paper-reader-hotpot", "paper-reader-squad", "small-reader", "tiny-reader"}
