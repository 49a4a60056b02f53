"""The reader learns, and a stopped run goes on as if it had not been (checklist 19, 24)."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from muppet.config import CharacterConfig, ContextualConfig, load_settings, to_toml
from muppet.domain import silent
from muppet.errors import ConfigError
from muppet.nn.model import trained_weights
from muppet.nn.reader_model import load_reader
from muppet.read.reader import ChainReader
from muppet.text.tokens import words
from muppet.train.batches import Texts
from muppet.train.data import load_training_data
from muppet.train.examples import TrainingData
from muppet.train.reader_measure import answer_questions, dev_samples, summarise_answers
from muppet.train.reader_recipe import ReaderRecipe
from muppet.train.recipe import RunConfig
from muppet.train.run import expected_time, freeze_inputs
from muppet.train.train_reader import ReaderRun, train_reader
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


def joined_recipe(bert: ContextualConfig) -> ReaderRecipe:
    """An epoch of a reader that reads question and chain in one text."""
    recipe = short(tiny_recipe(), epochs=1)
    reader = replace(
        recipe.reader,
        network="transformer",
        dim=32,
        word_vectors=False,
        characters=CharacterConfig(filters=0),
        contextual=bert,
    )
    return replace(recipe, reader=reader)


def train_in(directory: Path, recipe: ReaderRecipe) -> dict[str, float]:
    directory.mkdir(exist_ok=True)
    return train_reader(ReaderRun(recipe, directory), silent)


def best_blind_answer(data: TrainingData, numbers: Iterable[int]) -> float:
    """How often the best reader is right that does not look at the question: those that begin
    alike ask for one thing of their chain, and it can only ever give one."""
    begins = Counter(data.questions[number].text.split()[0] for number in numbers)
    return max(begins.values()) / begins.total()


@pytest.mark.slow
def test_tiny_learns_to_answer_unseen_questions_far_above_a_blind_guess_checklist_24_and_25(
    tiny_world_of_all_questions: Path,
) -> None:
    """The people of dev are not in train, and four questions can be asked of every chain: it has
    learned what is asked for, and where it stands."""
    world = tiny_world_of_all_questions
    train_in(world / "run", tiny_recipe())
    model = load_reader(world / "run" / "best")
    texts = Texts(load_training_data([world / "dev.json"]), model.preparer)
    unseen = {number: some for number, some in dev_samples(texts, 0).items() if number >= 30}
    answers = list(answer_questions(model.reader, texts, unseen, tiny_recipe().read))
    summary, blind = summarise_answers(texts, answers), best_blind_answer(texts.data, unseen)
    asks_for_span = {number: texts.data.questions[number].text[:2] != "Is" for number in unseen}
    assert blind < 0.3
    assert summary["answer_em"] > blind + 0.4
    assert summary["support_f1"] > 0.7
    assert all((found[0].kind == "span") == asks_for_span[number] for number, found in answers)


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
    run.directory.mkdir()
    run.network.eval()
    fresh = run.loss(batch)[0].item()
    freeze_inputs(run, silent)
    assert (tiny_world / "frozen" / "frozen-train").is_dir()
    assert run.texts.paragraph(0).frozen is not None
    assert run.loss(run.batch(0, 0, (0, 1)))[0].item() == pytest.approx(fresh, abs=1e-2)  # float16
    summary = train_in(tiny_world / "joined", joined_recipe(replace(bert, layers=1, tuned=1)))
    assert {"answer_em", "support_f1", "joint_f1"} <= summary.keys()
    assert not (tiny_world / "joined" / "frozen-train").exists()
    assert load_reader(tiny_world / "joined" / "best").reader.joins


def test_products_in_bfloat16_learn_the_same_and_weights_stay_float32(tiny_world: Path) -> None:
    bert = ContextualConfig("transformer", str(write_bert(tiny_world / "bert")), layers=1, tuned=2)
    recipe = joined_recipe(bert)
    half = replace(recipe, run=replace(recipe.run, precision="bfloat16"))
    for name, one in (("whole", recipe), ("half", half)):
        train_in(tiny_world / name, one)
    whole, own = (load_file(tiny_world / one / "checkpoint" / "state") for one in ("whole", "half"))
    weights = [name for name in whole if name.startswith("weights/")]
    assert any(not torch.equal(whole[name], own[name]) for name in weights)
    assert all(own[name].dtype == torch.float32 for name in weights)
    assert all(torch.allclose(whole[name], own[name], atol=0.05) for name in weights)


def test_a_dry_run_counts_the_inputs_that_are_computed_beforehand(tiny_world: Path) -> None:
    bert = ContextualConfig("transformer", str(write_bert(tiny_world / "bert")), layers=2)
    recipe = short(tiny_recipe(), epochs=1)
    run = ReaderRun(
        replace(recipe, reader=replace(recipe.reader, contextual=bert)), tiny_world / "run"
    )
    told = expected_time(run)
    assert told["seconds_for_inputs"] > 0
    assert told["minutes"] * 60 > told["seconds_for_inputs"] + 20 * told["seconds_per_step"]
    assert run.texts.paragraph(0).frozen is not None  # the step tried out had its inputs
    assert not (tiny_world / "run").exists()


def test_a_run_may_start_from_a_model_that_was_trained_before(tiny_world: Path) -> None:
    recipe = short(tiny_recipe(), epochs=1)
    train_in(tiny_world / "first", recipe)
    best = tiny_world / "first" / "best"
    again = replace(recipe, run=replace(recipe.run, start=str(best)))
    run = ReaderRun(again, tiny_world / "second")
    weights = load_file(best / "weights.safetensors")
    own = trained_weights(run.network)
    assert own.keys() == weights.keys()
    assert all(torch.equal(own[name], weights[name]) for name in own)
    assert f"{best}/weights.safetensors" in run.made_from
    lost = replace(recipe, run=replace(recipe.run, start=str(tiny_world / "nowhere")))
    with pytest.raises(ConfigError, match="nowhere"):
        ReaderRun(lost, tiny_world / "third")
    other = replace(again, reader=replace(recipe.reader, hidden=recipe.reader.hidden + 1))
    with pytest.raises(ConfigError, match="do not fit"):
        ReaderRun(other, tiny_world / "fourth")


def test_a_run_that_tunes_more_layers_may_start_from_one_that_tuned_fewer(
    tiny_world: Path,
) -> None:
    bert = ContextualConfig("transformer", str(write_bert(tiny_world / "bert")), layers=1, tuned=1)
    few = joined_recipe(bert)
    train_in(tiny_world / "few", few)
    best = tiny_world / "few" / "best"
    more = replace(joined_recipe(replace(bert, tuned=2)), run=replace(few.run, start=str(best)))
    own = trained_weights(ReaderRun(more, tiny_world / "more").network)
    weights = load_file(best / "weights.safetensors")
    assert weights.keys() < own.keys()
    assert all(torch.equal(own[name], weights[name]) for name in weights)


def test_a_run_that_tunes_fewer_layers_may_start_where_those_below_are_the_transformer_s_own(
    tiny_world: Path,
) -> None:
    bert = ContextualConfig("transformer", str(write_bert(tiny_world / "bert")), layers=1, tuned=2)
    both = joined_recipe(bert)
    untrained = ReaderRun(both, tiny_world / "untrained")
    untrained.save(trained_weights(untrained.network))
    start = tiny_world / "untrained" / "best"
    fewer = joined_recipe(replace(bert, tuned=1))
    run = ReaderRun(replace(fewer, run=replace(fewer.run, start=str(start))), tiny_world / "fewer")
    own, weights = trained_weights(run.network), load_file(start / "weights.safetensors")
    assert own.keys() < weights.keys()
    assert all(torch.equal(own[name], weights[name]) for name in own)
    train_in(tiny_world / "both", both)  # now they are no longer
    trained = replace(fewer.run, start=str(tiny_world / "both" / "best"))
    with pytest.raises(ConfigError, match=r"Raise contextual\.tuned"):
        ReaderRun(replace(fewer, run=trained), tiny_world / "refused")


def run_with_squad(
    world: Path,
    articles: list[dict[str, object]],
    *,
    excerpt: int,
    wrong_paragraphs: int,
    share: float,
) -> ReaderRun:
    """A run over the tiny world and these articles, of whose questions a share is drawn."""
    (world / "squad.json").write_text(json.dumps({"data": articles}))
    bert = ContextualConfig("transformer", str(write_bert(world / "bert")), layers=1, tuned=1)
    recipe = joined_recipe(bert)
    data = replace(
        recipe.data,
        train=("train.json", "squad.json"),
        excerpt=excerpt,
        wrong_paragraphs=wrong_paragraphs,
        weights=replace(recipe.data.weights, squad=share),
    )
    return ReaderRun(replace(recipe, data=data), world / "run")


def test_one_hop_questions_read_excerpts_in_batches_with_the_others(tiny_world: Path) -> None:
    text = "Seals live here. The light was lit in 1871. Boats come in summer."
    asked = {"id": "s", "question": "When was the light lit?",
             "answers": [{"text": "1871", "answer_start": 38}]}  # fmt: skip
    article = {"title": "Skerry Light", "paragraphs": [{"context": text, "qas": [asked]}]}
    run = run_with_squad(tiny_world, [article], excerpt=8, wrong_paragraphs=0, share=1.0)
    last = len(run.data.questions) - 1
    batch = run.batch(0, 0, (0, last))
    (own,) = [sample for sample in batch.samples if sample.question == last]
    assert [run.data.paragraphs[row].text for row in own.paragraphs] == [
        "The light was lit in 1871. "
    ]
    assert run.mixes_lengths
    assert not ReaderRun(short(tiny_recipe(), epochs=1), tiny_world / "apart").mixes_lengths


def test_a_wrong_paragraph_is_no_longer_than_the_excerpt_it_is_read_beside(
    tiny_world: Path,
) -> None:
    articles = []
    for place in ("Skerry", "Vardo"):
        texts = [f"Seals swim near {place}. Light {n} was lit in 18{n}. Boats come by." for n in
                 range(10, 16)]  # fmt: skip
        asked = [[{"id": f"{place} {n}", "question": f"When was light {n} lit?",
                   "answers": [{"text": f"18{n}", "answer_start": 0}]}]
                 for n in range(10, 16)]  # fmt: skip
        both = zip(texts, asked, strict=True)
        found = [{"context": text, "qas": qas} for text, qas in both]
        articles.append({"title": place, "paragraphs": found})
    # half of the questions are not drawn, and their paragraphs not cut
    run = run_with_squad(tiny_world, articles, excerpt=7, wrong_paragraphs=2, share=0.5)
    drawn = [number for batch in run.epoch(0) for number in batch]
    one_hop = [number for number in drawn if run.data.questions[number].dataset == "squad"]
    samples = run.batch(0, 0, one_hop).samples
    lengths = [
        len(words(run.data.paragraphs[row].text)) for one in samples for row in one.paragraphs
    ]
    assert len(one_hop) == 6
    assert len(lengths) == 18
    assert max(lengths) <= 7


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
    with pytest.raises(ConfigError, match=r"run\.precision .* float32, bfloat16, not 'half'"):
        replace(recipe.run, precision="half")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_valid_and_names_its_command(recipe: Path) -> None:
    load_settings(ReaderRecipe, recipe)
    assert f"muppet train reader recipes/{recipe.name}" in recipe.read_text()


def test_there_is_a_recipe_for_each_of_the_paper_s_readers_and_ours() -> None:
    names = {path.stem for path in RECIPES}
    assert names == {"paper-reader-hotpot", "paper-reader-squad", "tiny-reader"} | {
        "small-reader",
        "small-reader-2",
        "small-reader-3",
        "small-reader-4",
        "small-reader-5",
        "small-reader-6",
        "small-reader-7",
        "small-reader-8",
        "small-reader-10",
        "small-reader-11",
        "small-reader-13",
        "small-reader-14",
        "small-reader-15",
    }
