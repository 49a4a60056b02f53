"""The encoder learns, and a run that was killed goes on as if it had not been (checklist 19)."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from muppet.config import load_settings, to_toml
from muppet.domain import silent
from muppet.lexical.ngrams import hashed_ngrams
from muppet.nn.model import load_model
from muppet.train.batches import Texts
from muppet.train.data import load_training_data
from muppet.train.measure import Ranked, average_precision, rank_own_paragraphs, summarise
from muppet.train.recipe import EncoderRecipe, RunConfig
from muppet.train.train_encoder import EncoderRun, train_encoder

ROOT = Path(__file__).parent.parent.parent
RECIPES = sorted(path for path in (ROOT / "recipes").glob("*.toml") if "reader" not in path.stem)


def tiny_recipe() -> EncoderRecipe:
    return load_settings(EncoderRecipe, ROOT / "recipes" / "tiny.toml")


def short(recipe: EncoderRecipe, **run: int) -> EncoderRecipe:
    settings: RunConfig = replace(recipe.run, **run)
    return replace(recipe, run=settings)


def train_in(directory: Path, recipe: EncoderRecipe) -> dict[str, float]:
    directory.mkdir(exist_ok=True)
    return train_encoder(EncoderRun(recipe, directory), silent)


@pytest.mark.slow
def test_tiny_learns_two_hops_on_unseen_questions_far_above_the_lexical_baseline(
    tiny_world: Path,
) -> None:
    """The people of dev are not in train; words alone cannot find the second paragraph."""
    train_in(tiny_world / "run", tiny_recipe())
    model = load_model(tiny_world / "run" / "best")
    data = load_training_data([tiny_world / "dev.json"])
    unseen = range(30, 60)  # those that did not choose the checkpoint
    texts = Texts(data, model.preparer)
    ranked = list(rank_own_paragraphs(model.encoder, texts, unseen))
    learned = np.mean([_learned_second_hop(texts, one) for one in ranked])
    lexical = np.mean([_lexical_second_hop(texts, number) for number in unseen])
    assert learned > lexical + 0.2
    summary = summarise(texts, ranked)
    assert summary["pair_first"] > 0.3
    assert summary["stop_accuracy"] > 0.6


def _learned_second_hop(texts: Texts, ranked: Ranked) -> float:
    """Average precision of the second paragraph after the first, by the encoder."""
    first, second = texts.data.questions[ranked.question].gold
    others = [place for place, row in enumerate(ranked.rows) if row != first]
    scores = ranked.second[ranked.rows.index(first)][others]
    return average_precision(scores, np.array([ranked.rows[p] == second for p in others]))


def _lexical_second_hop(texts: Texts, number: int) -> float:
    """Average precision of the second paragraph by the n-grams it shares with the question."""
    question = texts.data.questions[number]
    rows = sorted({*question.gold, *question.distractors} - {question.gold[0]})
    asked = set(hashed_ngrams([question.text], 2, 2**24)[1].tolist())
    shared = [
        len(asked & set(hashed_ngrams([texts.data.paragraphs[row].text], 2, 2**24)[1].tolist()))
        for row in rows
    ]
    right = np.array([row == question.gold[1] for row in rows])
    return average_precision(np.array(shared, dtype=np.float64), right)


def test_the_same_seed_gives_the_same_weights(tiny_world: Path) -> None:
    recipe = short(tiny_recipe(), epochs=1)
    for name in ("one", "two"):
        train_in(tiny_world / name, recipe)
    one, two = (load_file(tiny_world / name / "checkpoint" / "state") for name in ("one", "two"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_a_killed_run_continued_gives_the_same_weights_as_an_unbroken_one(
    tiny_world: Path,
) -> None:
    """Killed for real, with SIGKILL, somewhere behind its first checkpoint."""
    recipe = short(tiny_recipe(), epochs=3, checkpoint_steps=3)
    (tiny_world / "recipe.toml").write_text(to_toml(recipe))
    command = [sys.executable, "-m", "muppet", "train", "encoder", "recipe.toml", "--out", "killed"]
    process = subprocess.Popen(command, cwd=tiny_world, stderr=subprocess.DEVNULL)
    steps = tiny_world / "killed" / "metrics.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if steps.exists() and steps.read_text().count("\n") >= 10:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.02)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    train_in(tiny_world / "killed", recipe)
    train_in(tiny_world / "unbroken", recipe)
    killed, unbroken = (
        load_file(tiny_world / name / "checkpoint" / "state") for name in ("killed", "unbroken")
    )
    assert killed.keys() == unbroken.keys()
    assert all(torch.equal(killed[name], unbroken[name]) for name in killed)


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_an_encoder_judges_chains_if_it_has_learned_to_choose_between_them(
    tiny_world: Path, weight: float
) -> None:
    recipe = tiny_recipe()
    chosen = replace(recipe, objective=replace(recipe.objective, choice_weight=weight))
    assert EncoderRun(chosen, tiny_world / "run").model.config.judges == (weight > 0)


def test_a_checkpoint_of_another_recipe_is_refused(tiny_world: Path) -> None:
    recipe = short(tiny_recipe(), epochs=1)
    train_in(tiny_world / "run", recipe)
    other = replace(recipe, objective=replace(recipe.objective, margin=0.5))
    with pytest.raises(Exception, match="another recipe"):
        train_in(tiny_world / "run", other)


def test_a_dry_run_prints_sizes_and_the_expected_time_and_trains_nothing(tiny_world: Path) -> None:
    recipe = ROOT / "recipes" / "tiny.toml"
    command = [sys.executable, "-m", "muppet", "train", "encoder", str(recipe), "--dry-run"]
    done = subprocess.run(
        [*command, "--json"], cwd=tiny_world, capture_output=True, text=True, check=True
    )
    plan = json.loads(done.stdout)
    assert plan["questions"] == 200
    assert plan["steps_per_epoch"] == 20
    assert plan["minutes"] > 0
    assert not (tiny_world / "runs").exists()


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_valid_and_names_its_command(recipe: Path) -> None:
    load_settings(EncoderRecipe, recipe)
    assert f"muppet train encoder recipes/{recipe.name}" in recipe.read_text()


def write_tiny_squad(path: Path) -> None:
    """Two articles of eight paragraphs each, which share ever fewer words with the first one's."""
    articles = []
    for name in ("Owls", "Kites"):
        words = [f"{name.lower()}{n}" for n in range(9)]
        contexts = [" ".join([*words[: 9 - n], f"end{n}"]) + "." for n in range(8)]
        paragraphs = [
            {
                "context": context,
                "qas": [
                    {
                        "id": f"{name}-{n}",
                        "question": f"What of {' '.join(words)}?",
                        "answers": [{"text": f"end{n}", "answer_start": context.index("end")}],
                    }
                ],
            }
            for n, context in enumerate(contexts)
        ]
        articles.append({"title": name, "paragraphs": paragraphs})
    path.write_text(json.dumps({"version": "1.1", "data": articles}))


def test_of_a_question_of_one_hop_only_the_nearest_negatives_are_drawn(tiny_world: Path) -> None:
    write_tiny_squad(tiny_world / "squad.json")
    plain = tiny_recipe()
    weights = replace(plain.data.weights, hotpotqa=0.0, squad=1.0)
    data = replace(plain.data, train=("squad.json",), weights=weights)
    drawn = {}
    for nearest in (0, 3):
        recipe = replace(plain, data=replace(data, nearest=nearest))
        run = EncoderRun(recipe, tiny_world / "run")
        drawn[nearest] = {
            run.data.paragraphs[row].text
            for step in range(20)
            for row in _rows_beside(run, step, number=7)
        }
    of_article = {f"owls0{''.join(f' owls{k}' for k in range(1, 9 - n))} end{n}." for n in range(3)}
    assert drawn[3] == of_article
    assert drawn[0] > of_article


def _rows_beside(run: EncoderRun, step: int, number: int) -> set[int]:
    """The rows of a question's wrong paragraphs in a batch of its own."""
    batch = run.batch(0, step, [number])
    rows = {run.texts.paragraph(row).tokens.text: row for row in range(len(run.data.paragraphs))}
    return {rows[text.tokens.text] for text in batch.texts.paragraphs} - set(
        run.data.questions[number].gold
    )


def test_of_questions_of_several_hops_so_large_a_share_is_judged(tiny_world: Path) -> None:
    """Each question's chains all or none of them, wherever it stands in its file."""
    recipe = tiny_recipe()
    objective = replace(recipe.objective, choice_weight=1.0, choice_share=0.4)
    run = EncoderRun(replace(recipe, objective=objective), tiny_world / "run")
    judged: list[bool] = []
    for step, numbers in enumerate(run.epoch(0)):
        batch = run.batch(0, step, numbers)
        for question in np.unique(batch.question):
            (own,) = {*batch.judged[batch.question == question].tolist()}
            judged.append(own)
    assert 0.3 < np.mean(judged) < 0.5
    half = len(judged) // 2
    assert 0.2 < np.mean(judged[:half]) < 0.6
    assert all(EncoderRun(recipe, tiny_world / "run").batch(0, 0, run.epoch(0)[0]).judged)


def test_questions_of_one_hop_are_judged_whatever_the_share(tiny_world: Path) -> None:
    questions = json.loads((tiny_world / "train.json").read_text())
    for question in questions[::2]:
        question["supporting_facts"] = question["supporting_facts"][:1]
    (tiny_world / "train.json").write_text(json.dumps(questions))
    recipe = tiny_recipe()
    run = EncoderRun(
        replace(recipe, objective=replace(recipe.objective, choice_weight=1.0, choice_share=0.0)),
        tiny_world / "run",
    )
    batch = run.batch(0, 0, tuple(range(8)))
    hops = (batch.chain >= 0).sum(axis=1)
    assert set(hops.tolist()) == {1, 2}
    assert batch.judged.tolist() == (hops == 1).tolist()
