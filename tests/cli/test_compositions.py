"""`muppet train compositions`: questions made from files."""

import json
from pathlib import Path

from command_line import assert_refused, muppet

from muppet.corpus.benchmarks import read_questions


def films(path: Path) -> Path:
    lines = [
        line
        for n in range(5)
        for line in (
            {"title": f"Reel {n}", "text": f"Reel {n} is a film directed by Jo Holm{n}."},
            {"title": f"Jo Holm{n}", "text": f"Jo Holm{n} (born {n + 1} May 1960) is a director."},
        )
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_questions_are_written_as_a_benchmark_s(tmp_path: Path) -> None:
    source, out = films(tmp_path / "films.jsonl"), tmp_path / "q.json"
    told = muppet("train", "compositions", source, "--out", out, "--count", 4, "--json")
    assert told.json == {"questions": 4, "paragraphs": 10}
    questions = read_questions(out)
    assert len(questions) == 4
    assert all(len(one.gold.paragraphs) == 2 for one in questions)
    again = muppet("train", "compositions", source, "--out", tmp_path / "r.json", "--count", 4)
    assert "4 questions from 10 paragraphs" in again.out
    assert out.read_bytes() == (tmp_path / "r.json").read_bytes()


def test_where_nothing_names_anything_it_says_so_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "rain.txt").write_text("It rained.")
    made = muppet("train", "compositions", tmp_path / "rain.txt", "--out", tmp_path / "q.json")
    assert_refused(made, "none names another")
    assert not (tmp_path / "q.json").exists()
