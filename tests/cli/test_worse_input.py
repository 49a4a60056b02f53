"""What the fuzz found: names that systems refuse, files too much for a parser, settings too large.

The promise is that of `test_bad_input`: one clear line, exit code 2, and nothing has changed.
"""

import io
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from command_line import (
    MUPPET,
    animals,
    answers,
    assert_refused,
    make_zoo,
    muppet,
    muppet_process,
    write_rows,
)
from nasty import HOTPOT

from muppet.cli.info import config
from muppet.errors import ArtifactError
from muppet.evaluate.answers import Predictions, write_predictions
from muppet.knowledge.open import KnowledgeBase

LONG = "a" * 300
"""No file system takes such a name."""


@pytest.mark.parametrize(
    "command", [["info", LONG], ["index", LONG, "--into", "kb"], ["serve", LONG], ["mcp", LONG]]
)
def test_a_name_that_the_system_refuses_is_told_in_one_line(command: list[str]) -> None:
    assert_refused(muppet(*command), LONG, "File name too long")


@pytest.mark.parametrize("suffix", ["", ".jsonl", ".xz"])
def test_a_file_that_a_disk_cannot_read_is_named(tmp_path: Path, suffix: str) -> None:
    """The memory of a process begins with a page that nobody can read."""
    unreadable = tmp_path / f"memory{suffix}"
    unreadable.symlink_to("/proc/self/mem")
    zoo = make_zoo(tmp_path)
    told = f"{unreadable}: cannot be read to its end: Input/output error"
    for command in (["ask", zoo, "--file"], ["evaluate", zoo], ["train", "mine", zoo]):
        out = ["--out", tmp_path / "out"] if command[0] == "train" else []
        assert_refused(muppet(*command, unreadable, *out), told)


def test_a_link_to_itself_is_no_knowledge_base(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for command in ("info", "serve", "mcp", "chat"):
        assert_refused(muppet(command, loop), "loop is no knowledge base")


def test_an_id_that_is_no_text_names_no_document(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    assert_refused(muppet("remove", zoo, "zebra", "caf\udce9"), "nothing was removed")
    assert len(answers(zoo, "zebra")[0]) == 1


def test_a_knowledge_base_whose_name_is_not_utf8_is_not_made(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", animals("owl"))
    assert_refused(muppet("index", source, "--into", tmp_path / "caf\udce9"), "is not UTF-8")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.parametrize("command", [["export", "best"], ["own", "kb", "questions.jsonl"]])
def test_a_network_is_not_made_where_a_name_is_not_utf8(command: list[str]) -> None:
    """ONNX's files cannot be, as training would have found at its end."""
    assert_refused(muppet("train", *command, "--out", "caf\udce9"), "udce9", "is not UTF-8")


def test_a_name_that_is_not_utf8_can_be_printed(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path).rename(tmp_path / "caf\udce9")
    outcome = muppet("compact", zoo)
    assert (outcome.code, outcome.err) == (0, "")
    assert "caf\\udce9 has no vectors" in outcome.out
    old = muppet_process("compact", zoo, environment=os.environ | {"PYTHONIOENCODING": "latin-1"})
    assert (old.code, old.out) == (0, outcome.out)


def test_a_name_that_is_not_utf8_can_stand_in_a_report(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    questions = write_rows(tmp_path / "caf\udce9.jsonl", [HOTPOT])
    outcome = muppet("evaluate", zoo, questions, "--lexical", "--report", tmp_path / "report")
    assert outcome.code == 0
    assert "caf\\udce9.jsonl" in (tmp_path / "report" / "index.html").read_text()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_streams_may_be_closed(tmp_path: Path, closed: str) -> None:
    zoo = make_zoo(tmp_path)
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *MUPPET, "search", zoo, "-"],
        input=b"zebra",
        capture_output=True,
    )
    assert done.returncode == (2 if closed == "<&-" else 0)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("content", ["a = " + "1" * 5_000, "a = " + "[" * 50_000])
def test_settings_that_are_too_much_for_a_parser_are_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "my.toml"
    file.write_text(content)
    rows = write_rows(tmp_path / "rows.jsonl", animals("owl"))
    outcome = muppet("index", rows, "--into", tmp_path / "kb", "--config", file)
    assert_refused(outcome, "my.toml is not valid TOML")


def test_files_that_are_too_deep_for_a_parser_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text('{"question":' * 50_000)
    zoo = make_zoo(tmp_path)
    assert_refused(muppet("ask", zoo, "--file", file), "deep.json:1 is no JSON object")
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "1", "question": "Who?", "answer": "zebra"}\n')
    assert_refused(muppet("score", file, gold), "deep.json does not hold predictions")
    (zoo / "manifest.json").write_text('{"a":' * 50_000)
    assert_refused(muppet("info", zoo), "manifest.json is damaged")


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("tfidf.buckets = 1099511627776", "buckets cannot be 1099511627776"),
        ("tfidf.buckets = 1073741824", "buckets must be from 1 to 268,435,456"),
        ("tfidf.ngrams = 1000000", "ngrams must be from 1 to 10"),
        ("bm25.title_boost = inf", "title_boost must be from 0 to 1,000,000"),
        ("retrieve.lexical_weight = nan", "lexical_weight must be from 0 to 1,000,000, not nan"),
        ("retrieve.title_weights = [0.1, nan]", "title_weights must be from 0 to 1,000,000, not"),
        ("retrieve.title_weights = []", "title_weights needs one number or more"),
        ("retrieve.judge_weights = [-1]", "judge_weights must be from 0 to 1,000,000, not"),
        ("retrieve.judge_margins = []", "judge_margins needs one number or more"),
        ("retrieve.coverage_weight = -1", "coverage_weight must be from 0 to 1,000,000, not -1"),
        ("retrieve.judged = 0", "judged must be at least 1, not 0"),
        ("retrieve.temperature = 0", "temperature must be from 0.001 to 1,000,000, not 0"),
        ("read.chain_weight = -inf", "chain_weight must be from 0"),
        ("read.match_weight = 1e300", "match_weight must be from 0"),
        ("read.support = 40", "support must be from 0 to 1, not 40"),
    ],
)
def test_a_setting_that_would_break_the_arithmetic_is_refused(
    tmp_path: Path, setting: str, part: str
) -> None:
    file = tmp_path / "my.toml"
    file.write_text(setting)
    source = write_rows(tmp_path / "rows.jsonl", animals("owl"))
    outcome = muppet("index", source, "--into", tmp_path / "kb", "--config", file)
    assert_refused(outcome, part)


def test_more_than_there_is_may_be_wanted(tmp_path: Path) -> None:
    """Room for two thousand million paragraphs was asked of the system, and the process ended."""
    with KnowledgeBase(make_zoo(tmp_path)) as knowledge:
        assert len(knowledge.narrow("zebra lion", 2**31 - 1)) == 2


@pytest.mark.parametrize("content", ["", "\0", "[]", "{}", '{"path": null}'])
def test_a_damaged_note_of_the_model_is_named(tmp_path: Path, content: str) -> None:
    zoo = make_zoo(tmp_path)
    (zoo / "model.json").write_text(content)
    outcome = muppet("ask", zoo, "zebra")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    if content != '{"path": null}':
        assert_refused(outcome, "model.json is damaged", f"muppet encode {zoo}")


def test_a_damaged_lexical_index_says_how_to_mend_it(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    for path in (zoo / "bm25").glob("*.pos"):
        path.unlink()
    assert_refused(muppet("search", zoo, "zebra"), "Delete that directory")


@pytest.mark.parametrize(
    "wrong",
    [{"config": [1]}, {"config": "x"}, {"config": None}, {"format": "1"}, {"format": True},
     {"kind": None}, {"kind": []}, {"made_from": 3}, {"more": 1}],
)  # fmt: skip
def test_a_manifest_of_another_shape_is_damaged(tmp_path: Path, wrong: dict[str, object]) -> None:
    zoo = make_zoo(tmp_path)
    manifest = json.loads((zoo / "manifest.json").read_text())
    (zoo / "manifest.json").write_text(json.dumps(manifest | wrong))
    assert_refused(muppet("info", zoo), "manifest.json is damaged")


@pytest.mark.parametrize("charset", ["undefined", "idna", "hex", "nonsense"])
def test_a_page_in_no_encoding_there_is_is_refused(tmp_path: Path, charset: str) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(f'<meta charset="{charset}"><p>Owls '.encode() + b"\xff sleep.")
    outcome = muppet("index", page, "--into", tmp_path / "kb")
    assert_refused(outcome, f"page.html:1: is not {charset}, as it says")


def test_a_file_that_ends_too_early_is_not_taken_for_ctrl_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """NumPy says so of an empty file, and click would end with 130: a bug keeps its traceback."""

    def read_an_empty_file() -> None:
        np.load(io.BytesIO())

    monkeypatch.setattr(config, "callback", read_an_empty_file)
    with pytest.raises(EOFError):
        muppet("config")


def test_an_export_takes_the_place_of_an_export_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's documents were deleted for a model that was to be put there."""
    recipe = tmp_path / "my.toml"
    recipe.write_text("[encoder]\ndim = 4\nword_vectors = false\ncharacters.at_least = 1\n")
    zoo, docs = make_zoo(tmp_path), tmp_path / "docs"
    docs.mkdir()
    (docs / "letter.txt").write_text("Dear zebra,")
    monkeypatch.chdir(docs)
    before = sorted(tmp_path.rglob("*"))
    for place in (docs, docs / "letter.txt", zoo, Path()):
        outcome = muppet("train", "export", "--untrained", recipe, "--out", place)
        assert_refused(outcome, f"{place} exists and is no exported encoder")
    assert sorted(tmp_path.rglob("*")) == before
    assert (docs / "letter.txt").read_text() == "Dear zebra,"
    for _ in range(2):
        assert muppet("train", "export", "--untrained", recipe, "--out", "model").code == 0


def test_predictions_are_not_written_over_a_directory(tmp_path: Path) -> None:
    for path in (Path(), tmp_path):
        with pytest.raises(ArtifactError, match="is a directory or a device"):
            write_predictions(path, Predictions({}))
