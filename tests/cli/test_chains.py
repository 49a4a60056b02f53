"""From documents to chains by commands alone: index, encode, search, evaluate, compact."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from command_line import assert_refused, muppet

from muppet.config import load_settings
from muppet.train.reader_recipe import ReaderRecipe
from muppet.train.train_reader import drawn_questions
from random_model import write_model

DEMO = Path(str(files("muppet") / "demo"))
LINES = (DEMO / "paragraphs.jsonl").read_text(encoding="utf-8").splitlines()
QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"
QUESTION_01 = QUESTION.replace("Shackleton", "Ernest Shackleton")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "random")


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    directory = tmp_path_factory.mktemp("chains") / "kb"
    assert muppet("index", DEMO / "paragraphs.jsonl", "--into", directory).code == 0
    outcome = muppet("encode", directory, "--model", model, "--json")
    assert outcome.json["encoded"] == 62
    return directory


def test_a_chain_shows_title_sentence_probability_and_rank_for_the_question(kb: Path) -> None:
    outcome = muppet("search", kb, QUESTION, "--top", 2, "--explain")
    assert outcome.code == 0
    assert outcome.out.count(" for the question") + outcome.out.count("not found by") == 4
    assert outcome.out.startswith("1. [-")
    assert outcome.out.count("question: ") == 2


def test_json_holds_every_hop_s_sentence_and_score(kb: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("[retrieve]\ncoverage_weight = 0.0\n")
    found = muppet("search", kb, QUESTION, "--config", tmp_path / "s.toml", "--json").json
    assert len(found["chains"]) == len(found["scores"]) == 5
    for chain, score in zip(found["chains"], found["scores"], strict=True):
        assert len(chain) == 2
        assert sum(hop["score"] for hop in chain) == pytest.approx(score)
        assert all(isinstance(hop["sentence"], int) for hop in chain)


@pytest.mark.parametrize(("hops", "lengths"), [("1", {1}), ("3", {3})])
def test_the_number_of_hops_may_be_chosen(kb: Path, hops: str, lengths: set[int]) -> None:
    found = muppet("search", kb, QUESTION, "--hops", hops, "--json").json
    assert {len(chain) for chain in found["chains"]} == lengths


def test_words_alone_on_request(kb: Path) -> None:
    assert {
        len(c) for c in muppet("search", kb, QUESTION, "--lexical", "--json").json["chains"]
    } == {1}


def test_settings_come_from_a_file(kb: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        '[retrieve]\npools = ["question", "requery"]\nnarrow = [1, 3]\n'
    )
    found = muppet("search", kb, QUESTION, "--config", tmp_path / "s.toml", "--json").json
    assert 1 <= len(found["chains"]) <= 3
    (tmp_path / "s.toml").write_text('[retrieve]\npools = ["requery"]\n')
    outcome = muppet("search", kb, QUESTION, "--config", tmp_path / "s.toml")
    assert outcome.code == 2
    assert "cannot begin with requery" in outcome.err


def test_encoding_again_has_nothing_to_do_and_new_documents_are_added(
    tmp_path: Path, model: Path
) -> None:
    kb = tmp_path / "kb"
    rows = (DEMO / "paragraphs.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "some.jsonl").write_text("".join(rows[:40]), encoding="utf-8")
    muppet("index", tmp_path / "some.jsonl", "--into", kb)
    muppet("encode", kb, "--model", model)
    again = muppet("encode", kb, "--json").json
    assert (again["encoded"], again["unchanged"]) == (0, 40)
    (tmp_path / "more.jsonl").write_text("".join(rows[40:]), encoding="utf-8")
    muppet("index", tmp_path / "more.jsonl", "--into", kb)
    before = muppet("search", kb, QUESTION, "--json").json
    assert len(before["chains"]) == 5  # of those that have vectors
    assert muppet("encode", kb, "--json").json["encoded"] == 22
    removed = json.loads(rows[0]).get("id") or json.loads(rows[0])["title"]
    muppet("remove", kb, removed)
    dropped = muppet("compact", kb, "--json").json
    assert [one["dropped"] for one in dropped.values()] == [1]
    assert muppet("search", kb, QUESTION).code == 0


def test_evaluation_sets_the_model_beside_the_baselines(
    kb: Path, model: Path, tmp_path: Path
) -> None:
    outcome = muppet(
        "evaluate", kb, DEMO / "questions.json", "--retrieval", "--pretrained", model,
        "--json", "--report", tmp_path / "page",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    names = ["tfidf pairs", "bm25 pairs", "bm25 requery", "pretrained one-shot",
             "pretrained two-hop", "model"]  # fmt: skip
    assert list(outcome.json["retrievers"]) == names
    perfect = {n: r["retrieval"]["perfect"]["45"] for n, r in outcome.json["retrievers"].items()}
    assert perfect["bm25 pairs"] > 0.5
    assert (tmp_path / "page" / "index.html").is_file() or list((tmp_path / "page").iterdir())


def test_info_tells_of_the_vectors_and_checks_the_search_over_all_of_them(kb: Path) -> None:
    (facts,) = muppet("info", kb, "--json").json["vectors"]
    assert (facts["paragraphs"], facts["missing"], facts["dtype"]) == (62, 0, "int8")
    (checked,) = muppet("info", kb, "--check", "--json").json["vectors"]
    assert checked["recall"] > 0.99
    assert "recall" in muppet("info", kb, "--check").out


def test_a_part_of_the_questions_can_be_asked(kb: Path) -> None:
    outcome = muppet(
        "evaluate", kb, DEMO / "questions.json", "--retrieval", "--skip", 3, "--count", 4, "--json"
    )
    assert outcome.json["questions"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("encode", "KB", "--model", "nowhere"), "is no exported encoder"),
        (("search", "KB", QUESTION, "--model", "nowhere"), "is no exported encoder"),
        (("evaluate", "KB", DEMO / "questions.json", "--reader", "nowhere"), "no exported reader"),
        (("train", "export", "--out", "x"), "Name either a trained MODEL"),
    ],
)
def test_what_cannot_be_done_is_said(
    kb: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    new = tmp_path / "new"
    muppet("index", DEMO / "paragraphs.jsonl", "--into", new)
    named = [{"KB": kb, "NEW": new}.get(one, one) for one in map(str, arguments)]
    outcome = muppet(*named)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_model_that_has_moved_is_named(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    muppet("index", DEMO / "paragraphs.jsonl", "--into", tmp_path / "kb")
    muppet("encode", tmp_path / "kb", "--model", model)
    model.rename(tmp_path / "elsewhere")
    outcome = muppet("search", tmp_path / "kb", QUESTION)
    assert outcome.code == 2
    assert str(model) in outcome.err
    assert muppet("search", tmp_path / "kb", QUESTION, "--model", tmp_path / "elsewhere").code == 0


def test_chains_are_written_down_for_training_and_a_stopped_run_goes_on(
    kb: Path, tmp_path: Path
) -> None:
    out = tmp_path / "chains.jsonl"
    command = ("train", "chains", kb, DEMO / "questions.json", "--out", out)
    first = muppet(*command, "--keep", 3, "--json")
    assert first.json == {"questions": 35, "new": 35}
    lines = out.read_text().splitlines()
    (found,) = [one for one in map(json.loads, lines) if one["id"] == "demo-01"]
    assert [len(chain) for chain in found["chains"]] == [2, 2, 2]
    best = muppet("search", kb, QUESTION_01, "--top", 1, "--json").json["chains"][0]
    assert [title for title, _ in found["chains"][0]] == [hop["title"] for hop in best]
    texts = {one["title"]: "".join(one["sentences"]) for one in map(json.loads, LINES)}
    assert all(texts[title].startswith(begins) for title, begins in found["chains"][0])
    out.write_text("\n".join(lines[:20]) + '\n{"id": "demo-2')  # stopped within a line
    again = muppet(*command, "--keep", 3)
    assert f"{out}: chains of 35 questions, 15 of them new." in again.out
    assert out.read_text().splitlines() == lines


def test_chains_of_only_those_questions_that_a_run_will_draw(kb: Path, tmp_path: Path) -> None:
    recipe, questions = tmp_path / "recipe.toml", tmp_path / "questions.json"
    texts = {one["title"]: one["sentences"] for one in map(json.loads, LINES)}
    every = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
    for one in every:
        one["context"] = [[title, texts[title]] for title, _ in one["supporting_facts"]]
    questions.write_text(json.dumps(every), encoding="utf-8")
    recipe.write_text(
        f"[data]\ntrain = [{str(questions)!r}]\ndev = {str(questions)!r}\n"
        "[data.weights]\nhotpotqa = 0.3\n[run]\nseed = 5\nepochs = 1\n"
    )
    out = tmp_path / "chains.jsonl"
    command = ("train", "chains", kb, questions, "--out", out, "--recipe", recipe)
    assert muppet(*command).code == 0
    found = {json.loads(line)["id"] for line in out.read_text().splitlines()}
    drawn = {id_ for id_, _ in drawn_questions(load_settings(ReaderRecipe, recipe))}
    assert found == drawn
    assert 0 < len(found) < 35
    recipe.write_text("[data]\ntrian = []\n")
    assert_refused(muppet(*command), "data.trian")


def test_a_file_of_something_else_is_not_written_on(kb: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    command = ("train", "chains", kb, DEMO / "questions.json", "--out")
    first = '{"id": 1, "name": "a"}'
    for text in ("Buy bread.\n", "Buy bread.", first, f"{first}\n", f'{first}\n{{"id": 2, "na'):
        notes.write_text(text)
        assert_refused(muppet(*command, notes), "notes.txt:1 holds no retrieved chains")
        assert notes.read_text() == text
    assert_refused(muppet(*command, tmp_path))
    assert_refused(muppet(*command, tmp_path / "chains.jsonl.xz"), "not compressed")
    assert not (tmp_path / "chains.jsonl.xz").exists()


def test_a_last_line_without_its_end_is_kept(kb: Path, tmp_path: Path) -> None:
    out = tmp_path / "chains.jsonl"
    command = ("train", "chains", kb, DEMO / "questions.json", "--out", out, "--hops", 1)
    assert muppet(*command, "--keep", 50).code == 0
    whole = out.read_text()
    found = [json.loads(line)["chains"] for line in whole.splitlines()]
    assert {len(chain) for chains in found for chain in chains} == {1}
    assert max(map(len, found)) == 50
    out.write_text(whole.rstrip("\n"))
    assert "0 of them new" in muppet(*command).out
    assert out.read_text() == whole


def test_what_reformulated_the_question_is_told_in_json_too(kb: Path) -> None:
    plain = muppet("search", kb, QUESTION, "--json").json
    told = muppet("search", kb, QUESTION, "--json", "--explain", "--top", 2).json
    assert "attention" not in plain
    assert len(told["attention"]) == len(told["chains"]) == 2
    first = told["attention"][0]
    assert [one["word"] for one in first["question"]][:2] == QUESTION.split()[:2]
    assert first["chain"][0]["paragraph"] == told["chains"][0][0]["paragraph"]
    once = muppet("search", kb, QUESTION, "--json", "--explain", "--hops", 1, "--top", 1).json
    assert once["attention"] == [None]
