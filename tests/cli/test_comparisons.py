"""`muppet train comparisons`: questions made from files."""

import json
import os
from pathlib import Path

from command_line import assert_refused, muppet

from muppet.corpus.benchmarks import read_questions


def people(path: Path) -> Path:
    lines = [
        {"title": f"Person {n}x", "text": f"Person {n}x (born 3 May {1900 + n}) is a Welsh potter."}
        for n in range(30)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_questions_are_written_as_a_benchmark_s(tmp_path: Path) -> None:
    source = people(tmp_path / "people.jsonl")
    made = muppet("train", "comparisons", source, "--out", tmp_path / "q.json", "--count", 25)
    assert (made.code, made.err) == (0, "")
    assert "25 questions from 30 paragraphs" in made.out
    assert len(read_questions(tmp_path / "q.json")) == 25
    again = muppet("train", "comparisons", source, "--out", tmp_path / "r.json", "--count", 25)
    assert again.code == 0
    assert (tmp_path / "q.json").read_bytes() == (tmp_path / "r.json").read_bytes()
    half = ("--every", 2, "--json", "--count", 5)
    told = muppet("train", "comparisons", source, "--out", tmp_path / "h.json", *half)
    assert told.json == {"questions": 5, "paragraphs": 15}


def test_where_nothing_can_be_compared_it_says_so_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "rain.txt").write_text("It rained.")
    made = muppet("train", "comparisons", tmp_path / "rain.txt", "--out", tmp_path / "q.json")
    assert made.code == 2
    assert "can be compared" in made.err
    assert not (tmp_path / "q.json").exists()
    lost = muppet("train", "comparisons", tmp_path / "no.txt", "--out", tmp_path / "q.json")
    assert lost.code == 2
    assert "no.txt" in lost.err


def test_questions_take_the_place_of_a_file_alone(tmp_path: Path) -> None:
    """As the administrator, somebody would have had no /dev/null any more."""
    source = people(tmp_path / "people.jsonl")
    (tmp_path / "made").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for place in ("made", "pipe", "."):
        outcome = muppet("train", "comparisons", source, "--out", tmp_path / place)
        assert_refused(outcome, "is a directory or a device")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["made", "people.jsonl", "pipe"]
    assert (tmp_path / "pipe").is_fifo()


def one_hop(path: Path) -> Path:
    text = "Its lamp came from Marrow Works in 1871."
    answer = {"text": "1871", "answer_start": text.index("1871")}
    asked = {
        "id": "q",
        "question": "When did the lamp come from Marrow Works?",
        "answers": [answer],
    }
    article = {"title": "Skerry_Light", "paragraphs": [{"context": text, "qas": [asked]}]}
    path.write_text(json.dumps({"data": [article]}))
    return path


def test_questions_of_one_hop_become_questions_of_two(tmp_path: Path) -> None:
    asked = one_hop(tmp_path / "squad.json")
    works = {"title": "Marrow Works", "text": "Marrow Works is a foundry in the port of Leith."}
    (tmp_path / "works.jsonl").write_text(json.dumps(works))
    given = ("--openings", tmp_path / "works.jsonl", "--out", tmp_path / "q.json")
    made = muppet("train", "bridges", asked, *given)
    assert (made.code, made.err) == (0, "")
    assert "1 questions of two hops, of 2,000 wanted" in made.out
    (one,) = read_questions(tmp_path / "q.json")
    assert one.question.text == "When did the lamp come from the foundry in the port of Leith?"
    assert [paragraph.title for paragraph in one.gold.paragraphs] == [
        "Marrow Works",
        "Skerry Light",
    ]
    told = muppet("train", "bridges", asked, *given, "--json")
    assert told.json == {"questions": 1, "names": 1}


def test_where_no_name_is_described_it_says_so_and_writes_nothing(tmp_path: Path) -> None:
    asked = one_hop(tmp_path / "squad.json")
    source = people(tmp_path / "people.jsonl")
    made = muppet("train", "bridges", asked, "--openings", source, "--out", tmp_path / "q.json")
    assert_refused(made, "the documents describe none")
    assert not (tmp_path / "q.json").exists()
    lost = muppet("train", "bridges", asked, "--openings", "no.jsonl", "--out", tmp_path / "q.json")
    assert_refused(lost, "no.jsonl")
