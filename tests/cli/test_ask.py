"""Asking by command: one question, many, and what cannot be asked."""

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest
from command_line import (
    animals,
    assert_refused,
    make_zoo,
    muppet,
    muppet_process,
    write_rows,
)

from random_model import write_model, write_reader

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_reader(tmp_path_factory.mktemp("reader") / "random")


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("ask")
    demo = Path(str(files("muppet") / "demo" / "paragraphs.jsonl"))
    model = write_model(directory / "model")
    assert muppet("index", demo, "--into", directory / "kb").code == 0
    assert muppet("encode", directory / "kb", "--model", model).code == 0
    return directory / "kb"


def test_an_answer_comes_with_its_chain_and_what_else_it_might_be(kb: Path, reader: Path) -> None:
    outcome = muppet("ask", kb, QUESTION, "--reader", reader, "--top", 3)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].endswith("%)")
    assert lines[1].startswith("  1. ")
    assert any(line.startswith("  2. ") for line in lines)
    assert lines[-1].startswith("  or: ")
    assert "\x1b" not in outcome.out  # plain where nobody watches a terminal


def test_json_is_what_the_lines_say_and_more(kb: Path, reader: Path) -> None:
    found = muppet("ask", kb, QUESTION, "--reader", reader, "--json").json
    assert set(found) == {"question", "is_known", "answers", "chains", "seconds"}
    best = found["answers"][0]
    assert set(best) == {"text", "kind", "probability", "span", "support", "chain"}
    texts = {hop["paragraph"]: hop["text"] for hop in best["chain"]}
    assert len(texts) == 2
    for one in best["support"]:
        assert one["text"] in texts[one["paragraph"]]
    assert set(found["seconds"]) == {"retrieve", "read"}


@pytest.mark.parametrize("by", ["stdin", "dash", "file"])
def test_many_questions_one_object_each_in_their_order(
    kb: Path, reader: Path, tmp_path: Path, by: str
) -> None:
    lines = f'{QUESTION}\n\n{{"question": "Who was Shackleton?", "id": 7}}\nWhere is Grytviken?\n'
    (tmp_path / "q.txt").write_text(lines)
    given: list[object] = {"stdin": [], "dash": ["-"], "file": ["--file", tmp_path / "q.txt"]}[by]
    outcome = muppet("ask", kb, *given, "--reader", reader, "--json", stdin=lines.encode())
    asked = [json.loads(line)["question"] for line in outcome.out.splitlines()]
    assert asked == [QUESTION, "Who was Shackleton?", "Where is Grytviken?"]
    plain = muppet("ask", kb, *given, "--reader", reader, stdin=lines.encode())
    assert [line for line in plain.out.splitlines() if line in asked] == asked


@pytest.mark.parametrize(("hops", "lengths"), [("1", {1}), ("3", {3})])
def test_the_number_of_hops_may_be_chosen(
    kb: Path, reader: Path, hops: str, lengths: set[int]
) -> None:
    found = muppet("ask", kb, QUESTION, "--hops", hops, "--reader", reader, "--json").json
    assert {len(answer["chain"]) for answer in found["answers"]} == lengths


def test_what_cannot_be_asked_is_refused(kb: Path, reader: Path, tmp_path: Path) -> None:
    options = ("--reader", reader)
    assert_refused(muppet("ask", kb, "", *options), "empty")
    assert_refused(muppet("ask", kb, *options, stdin=b"\n \n"), "no question in standard input")
    assert_refused(muppet("ask", kb, *options, stdin=b"Who is it?\nWhere is\xff"), "UTF-8")
    assert_refused(muppet("ask", kb, *options, stdin=b"Grytviken?\n{}\n"), "standard input:2")
    assert_refused(muppet("ask", kb, *options, stdin=b"Grytviken?\nthe of\n"), "input:2: The quest")
    assert_refused(muppet("ask", kb, "Who?", "--file", tmp_path / "q", *options), "not both")
    assert_refused(muppet("ask", kb, "--file", tmp_path / "none", *options), "none")
    assert_refused(muppet("ask", kb, QUESTION, "--reader", tmp_path), str(tmp_path))
    assert_refused(muppet("ask", tmp_path / "nowhere", QUESTION), "nowhere")


def test_a_knowledge_base_without_vectors_says_how_to_make_them(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    assert_refused(muppet("ask", zoo, "Where does the zebra live?"), f"muppet encode {zoo}")


def test_a_benchmark_is_answered_end_to_end(kb: Path, reader: Path, tmp_path: Path) -> None:
    demo = Path(str(files("muppet") / "demo" / "questions.json"))
    told = tmp_path / "predictions.json"
    outcome = muppet(
        "evaluate", kb, demo, "--count", 4, "--reader", reader, "--json",
        "--predictions", told, "--report", tmp_path / "page",
    )  # fmt: skip
    assert outcome.code == 0
    assert outcome.json["questions"] == 4
    assert {"answer", "support", "joint", "retrieval"} <= set(outcome.json)
    predictions = json.loads(told.read_text())
    assert len(predictions["answer"]) == len(predictions["sp"]) == 4
    scored = muppet("score", told, demo, "--json").json
    assert scored["answer"]["f1"] * scored["questions"] == pytest.approx(
        4 * outcome.json["answer"]["f1"]
    )
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "Did the second hop help?" in page


def test_a_reader_is_calibrated_and_says_so_from_then_on(kb: Path, tmp_path: Path) -> None:
    reader = write_reader(tmp_path / "reader")
    demo = Path(str(files("muppet") / "demo" / "questions.json"))
    facts = muppet("train", "calibrate", kb, demo, "--reader", reader, "--json").json
    assert facts["questions"] > 20
    assert json.loads((reader / "calibration.json").read_text())["threshold"] == facts["threshold"]
    again = muppet("train", "calibrate", kb, demo, "--reader", reader, "--json").json
    assert again == facts  # the second time the first is forgotten
    assert muppet("ask", kb, QUESTION, "--reader", reader).code == 0
    assert_refused(muppet("train", "calibrate", kb, demo, "--reader", tmp_path), str(tmp_path))


def test_with_a_file_nobody_waits_for_standard_input(
    kb: Path, reader: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> str:
        raise AssertionError("standard input was read")

    monkeypatch.setattr("muppet.cli.ask.from_stdin", read)
    (tmp_path / "q.txt").write_text("Where is Grytviken?\n")
    outcome = muppet("ask", kb, "--file", tmp_path / "q.txt", "--reader", reader, "--json")
    assert outcome.json["question"] == "Where is Grytviken?"


def test_nothing_is_told_to_anybody_and_nothing_written_at_home(
    kb: Path, reader: Path, tmp_path: Path
) -> None:
    """onnxruntime would write down what it is used for, and send it to its maker."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    alone = kept | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    outcome = muppet_process("ask", kb, QUESTION, "--reader", reader, environment=alone)
    assert (outcome.code, outcome.err) == (0, "")
    assert list(home.rglob("*")) == []


def test_what_is_not_encoded_yet_is_told_of_where_words_lead_to_it(
    tmp_path: Path, reader: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kb, model = make_zoo(tmp_path), write_model(tmp_path / "model")
    assert muppet("encode", kb, "--model", model).code == 0
    asked = "ask", kb, "Where does the okapi live?", "--reader", reader
    assert muppet(*asked).code == 0
    assert caplog.messages == []
    more = write_rows(tmp_path / "more.jsonl", animals("okapi"))
    indexed = muppet("index", more, "--into", kb)
    assert f"`muppet encode {kb}`" in indexed.err
    assert muppet(*asked).code == 0
    (told,) = caplog.messages
    assert told.startswith("1 of the 3 paragraphs")
    assert told.endswith(f"Run `muppet encode {kb}`.")
    assert muppet("encode", kb).code == 0
    assert muppet(*asked).code == 0
    assert len(caplog.messages) == 1


def test_answers_are_found_again_by_the_ids_of_a_file(
    kb: Path, reader: Path, tmp_path: Path
) -> None:
    rows = [{"id": "q7", "question": QUESTION}, {"question": "Who was born first?"}]
    file = write_rows(tmp_path / "questions.jsonl", rows)
    outcome = muppet("ask", kb, "--file", file, "--reader", reader, "--json")
    first, second = map(json.loads, outcome.out.splitlines())
    assert first["id"] == "q7"
    assert first["question"] == QUESTION
    assert "id" not in second
