"""Whatever is wrong with the input: one clear line, exit code 2, and nothing has changed."""

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

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

NO_ROW = '{"id": "owl", "text": "The owl\n'


def refuse_source(tmp_path: Path, source: Path | str, *parts: str, stdin: bytes = b"") -> None:
    """The source is refused by a new knowledge base, which is not made, and by an old one."""
    new = tmp_path / "new"
    assert_refused(muppet("index", source, "--into", new, stdin=stdin), *parts)
    assert not new.exists()
    zoo = make_zoo(tmp_path)
    before = answers(zoo, "zebra", "lion", "owl")
    assert_refused(muppet("index", source, "--into", zoo, stdin=stdin), *parts)
    assert answers(zoo, "zebra", "lion", "owl") == before
    assert not (zoo / "incoming.sqlite").exists()


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    refuse_source(tmp_path, tmp_path / "docs", "docs has no file that can be read", ".txt")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").touch()
    refuse_source(tmp_path, tmp_path / "rows.jsonl", "rows.jsonl:1: is empty", "--skip-bad")


def test_empty_standard_input_is_refused(tmp_path: Path) -> None:
    refuse_source(tmp_path, "-", "-:1: is empty")


def test_a_source_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    refuse_source(tmp_path, tmp_path / "nowhere", "nowhere does not exist")


def test_a_binary_file_named_txt_is_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.txt").write_bytes(b"\x89PNG" + random.Random(1).randbytes(5000))
    refuse_source(tmp_path, tmp_path / "picture.txt", "picture.txt:1: is not UTF-8")


def test_a_file_of_nul_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hollow.txt").write_bytes(b"\0" * 5000)
    refuse_source(tmp_path, tmp_path / "hollow.txt", "hollow.txt:1: looks like a binary file")


def test_invalid_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("A line.\nCaf\xe9.\n".encode("latin-1"))
    refuse_source(tmp_path, tmp_path / "old.txt", "old.txt:2: is not UTF-8 (byte 0xe9", "iconv")


def test_malformed_json_is_refused_with_its_line(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", animals("owl", "elk"))
    rows.write_text(rows.read_text() + NO_ROW)
    refuse_source(tmp_path, rows, "rows.jsonl:3: is not JSON: ", "Nothing was indexed")


def test_one_id_with_two_texts_is_refused_with_both_places(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "first.jsonl", animals("elk", "owl"))
    second = write_rows(tmp_path / "second.jsonl", [{"id": "owl", "text": "Owls sleep by day."}])
    zoo = make_zoo(tmp_path)
    before = answers(zoo, "zebra", "owl")
    outcome = muppet("index", first, second, "--into", zoo)
    assert_refused(outcome, f"{second}:1: the id 'owl' stands at {first}:2 too")
    assert answers(zoo, "zebra", "owl") == before


def test_both_places_are_named_when_a_thousand_rows_lie_between_them(tmp_path: Path) -> None:
    rows = [{"id": str(number), "text": f"Row {number}."} for number in range(2_500)]
    rows.append({"id": "7", "text": "Another row."})
    source = write_rows(tmp_path / "rows.jsonl", rows)
    outcome = muppet("index", source, "--into", tmp_path / "kb")
    assert_refused(outcome, f"{source}:2501: the id '7' stands at {source}:8 too")
    assert not (tmp_path / "kb").exists()


def test_one_id_with_the_same_text_twice_is_stored_once(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", animals("owl", "elk", "owl"))
    summary = muppet("index", source, "--into", tmp_path / "kb", "--json").json
    assert (summary["added"], summary["repeated"], summary["documents"]) == (2, 1, 2)


def test_an_id_with_a_nul_character_is_refused(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [{"id": "a\0b", "text": "Something."}])
    refuse_source(tmp_path, source, "rows.jsonl:1: its id holds a NUL character")


def test_a_file_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "caf\udce9.md").write_text("# The owl\n\nIt sleeps by day.")
    refuse_source(tmp_path, folder, ".md:1: its name holds half a character")


def test_skip_bad_reports_each_place_and_indexes_the_rest(tmp_path: Path) -> None:
    good = write_rows(tmp_path / "good.jsonl", animals("owl", "elk"))
    good.write_text(NO_ROW + good.read_text() + '{"id": "x"}\n')
    (tmp_path / "old.txt").write_bytes(b"Caf\xe9.")
    kb = tmp_path / "kb"
    outcome = muppet("index", good, tmp_path / "old.txt", "--into", kb, "--skip-bad", "--json")
    assert outcome.code == 0
    places = [line.split(": ")[0] for line in outcome.err.splitlines()]
    assert places == [f"skipped {good}:1", f"skipped {good}:4", f"skipped {tmp_path}/old.txt:1"]
    assert all(len(line.split(": ", 1)[1]) > 10 for line in outcome.err.splitlines())
    assert (outcome.json["added"], outcome.json["broken"]) == (2, 3)
    assert [len(found) for found in answers(kb, "owl", "elk", "café")] == [1, 1, 0]


def test_skip_bad_counts_what_it_does_not_name(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [*animals("owl"), *([{"no": "text"}] * 50)])
    outcome = muppet("index", rows, "--into", tmp_path / "kb", "--skip-bad")
    assert outcome.err.count("skipped ") == 21
    assert outcome.err.endswith("skipped 30 more\n")
    assert "1 added, 50 broken" in outcome.out


def test_skip_bad_with_nothing_left_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(NO_ROW)
    outcome = muppet("index", tmp_path / "rows.jsonl", "--into", tmp_path / "kb", "--skip-bad")
    assert outcome.code == 2
    assert outcome.err.endswith(
        "muppet: The sources hold no documents, so there is nothing to index.\n"
    )
    assert not (tmp_path / "kb").exists()


def test_a_refused_source_leaves_an_empty_directory_of_the_user_empty(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(NO_ROW)
    (tmp_path / "kb").mkdir()
    assert muppet("index", tmp_path / "rows.jsonl", "--into", tmp_path / "kb").code == 2
    assert list((tmp_path / "kb").iterdir()) == []


@pytest.mark.parametrize("question", ["", "  \n "])
def test_an_empty_question_is_refused(tmp_path: Path, question: str) -> None:
    zoo = make_zoo(tmp_path)
    assert_refused(muppet("search", zoo, question), "The question is empty")
    assert_refused(muppet("search", zoo, "-", stdin=question.encode()), "The question is empty")


def test_a_question_of_stop_words_is_refused(tmp_path: Path) -> None:
    outcome = muppet("search", make_zoo(tmp_path), "Who was that?")
    assert_refused(outcome, "'Who was that?' has only words that stand everywhere")


def test_a_megabyte_is_no_question(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    megabyte = "zebra " * 170_000
    expected = "The question has 1,020,000 characters; at most 5,000"
    assert_refused(muppet("search", zoo, megabyte), expected)
    assert_refused(muppet_process("search", zoo, "-", stdin=megabyte.encode()), expected)


def test_a_question_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    assert_refused(muppet("search", zoo, "-", stdin=b"caf\xe9"), "not UTF-8")
    assert_refused(muppet("search", zoo, "caf\udce9"), "half a surrogate pair")


def test_a_question_nobody_can_answer_finds_nothing(tmp_path: Path) -> None:
    outcome = muppet("search", make_zoo(tmp_path), "quagga")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "Nothing in these documents has a word of the question.\n"


@pytest.mark.parametrize(
    "command", [["search", "KB", "zebra"], ["info", "KB"], ["remove", "KB", "x"]]
)
def test_a_directory_that_is_no_knowledge_base_is_refused(
    tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "letter.txt").write_text("Dear zebra,")
    here = [str(tmp_path) if part == "KB" else part for part in command]
    assert_refused(muppet(*here), f"{tmp_path} is no knowledge base", "muppet index")
    nowhere = [str(tmp_path / "nowhere") if part == "KB" else part for part in command]
    assert_refused(muppet(*nowhere), "is no knowledge base: it is not a directory")
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_documents_are_not_written_into_a_directory_of_something_else(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", animals("owl"))
    assert_refused(muppet("index", source, "--into", tmp_path), "exists and is no knowledge base")
    assert_refused(muppet("index", source, "--into", source), "cannot be made")
    assert_refused(muppet("index", source, "--into", source / "kb"), "cannot be made")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_knowledge_base_can_be_made_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", animals("owl"))
    (tmp_path / "kb").mkdir()
    monkeypatch.chdir(tmp_path / "kb")
    assert muppet("index", source, "--into", ".").code == 0
    assert len(answers(Path(), "owl")[0]) == 1


@pytest.mark.parametrize("command", [["search", "KB", "zebra"], ["index", "ROWS", "--into", "KB"]])
def test_a_knowledge_base_of_another_format_is_refused(tmp_path: Path, command: list[str]) -> None:
    zoo = make_zoo(tmp_path)
    manifest = json.loads((zoo / "manifest.json").read_text())
    (zoo / "manifest.json").write_text(json.dumps(manifest | {"format": 99}))
    words = {"KB": str(zoo), "ROWS": str(tmp_path / "zoo.jsonl")}
    outcome = muppet(*(words.get(part, part) for part in command))
    assert_refused(outcome, "was written in format 99", "reads format 1", "Build it again")
    (zoo / "manifest.json").write_text(json.dumps(manifest))
    assert len(answers(zoo, "zebra")[0]) == 1


@pytest.mark.parametrize("rubbish", [b"", b"not a database at all" * 300])
def test_a_damaged_knowledge_base_is_refused(tmp_path: Path, rubbish: bytes) -> None:
    zoo = make_zoo(tmp_path)
    (zoo / "corpus.sqlite").write_bytes(rubbish)
    assert_refused(muppet("search", zoo, "zebra"), "corpus.sqlite is damaged", "Restore it")


def test_a_knowledge_base_without_its_paragraphs_is_refused(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    (zoo / "corpus.sqlite").unlink()
    assert_refused(muppet("search", zoo, "zebra"), "corpus.sqlite is missing")


def test_an_unknown_setting_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", animals("owl"))
    config = tmp_path / "my.toml"
    config.write_text("[corpus]\nmax_word = 100\n")
    outcome = muppet("index", source, "--into", tmp_path / "kb", "--config", config)
    assert_refused(outcome, "Unknown setting corpus.max_word. Did you mean max_words?")
    assert not (tmp_path / "kb").exists()


def test_settings_cannot_change_under_the_documents(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    before = answers(zoo, "zebra")
    config = tmp_path / "my.toml"
    config.write_text("[corpus]\nmax_words = 17\n")
    outcome = muppet("index", tmp_path / "zoo.jsonl", "--into", zoo, "--config", config)
    assert_refused(outcome, "was made with other settings of [corpus]")
    assert answers(zoo, "zebra") == before


def test_removing_an_unknown_id_removes_nothing(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    before = answers(zoo, "zebra", "lion")
    outcome = muppet("remove", zoo, "lion", "zebr")
    assert_refused(outcome, "No document has the id 'zebr'; nothing was removed", "mean 'zebra'?")
    assert answers(zoo, "zebra", "lion") == before


def test_an_empty_knowledge_base_says_how_to_fill_it(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    assert muppet("remove", zoo, "lion", "zebra").code == 0
    assert_refused(muppet("search", zoo, "zebra"), "holds no documents yet", "muppet index")


def test_a_user_s_mistake_ends_a_real_process_with_code_2(tmp_path: Path) -> None:
    outcome = muppet_process("search", tmp_path, "zebra")
    assert_refused(outcome, "is no knowledge base")


def test_a_title_that_every_row_has_does_not_slow_indexing_down(tmp_path: Path) -> None:
    rows = [{"title": "Report", "text": f"Row {number}."} for number in range(2_000)]
    source = write_rows(tmp_path / "rows.jsonl", rows)  # took a minute when each was compared
    summary = muppet("index", source, "--into", tmp_path / "kb", "--json").json
    assert summary["added"] == 2_000
    assert muppet("index", source, "--into", tmp_path / "kb", "--json").json["unchanged"] == 2_000


@pytest.mark.parametrize(
    "arguments", [("index", "", "--into", "kb"), ("index", "x", "--into", ""), ("info", "")]
)
def test_a_name_that_is_empty_is_not_the_folder_one_is_in(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text("A note.")
    assert_refused(muppet(*arguments), "is empty", "Name a file or a folder.")
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_an_output_without_room_is_told_in_one_line(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    zoo = make_zoo(tmp_path)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*MUPPET, "info", str(zoo)], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert (
        done.stderr == "muppet: The output, or a file, cannot be used: No space left on device.\n"
    )


def test_a_folder_that_cannot_be_looked_into_is_broken_like_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    (docs / "people").mkdir(parents=True)
    (docs / "zoo.txt").write_text("The zebra lives in the zebrahouse.")
    listed = Path.iterdir

    def closed(path: Path) -> Iterator[Path]:  # root, as whom CI runs, may look anywhere
        if path.name == "people":
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", closed)
    kb = tmp_path / "kb"
    assert_refused(muppet("index", docs, "--into", kb), "people", "Permission denied", "--skip-bad")
    outcome = muppet("index", docs, "--into", kb, "--skip-bad")
    assert outcome.code == 0
    assert "people" in outcome.err
    assert "1 added" in outcome.out


def test_what_cannot_be_asked_or_written_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    gold = [{"_id": "q9", "question": "???", "answer": "no", "supporting_facts": [], "context": []}]
    questions = tmp_path / "questions.json"
    questions.write_text(json.dumps(gold))
    assert_refused(muppet("evaluate", zoo, questions), f"{questions}, question q9: ")
    gold[0]["question"] = "Where does the zebra live?"
    questions.write_text(json.dumps(gold))
    outcome = muppet("evaluate", zoo, questions, "--report", questions)
    assert_refused(outcome, str(questions), "File exists")
    outcome = muppet("evaluate", zoo, questions, "--predictions", tmp_path / "nowhere" / "x.json")
    assert_refused(outcome, "x.json cannot be written", "nowhere is no directory")


def test_ids_are_listed_as_they_can_be_removed(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    assert muppet("info", zoo, "--ids").out.splitlines() == ["zebra", "lion"]
    assert muppet("info", zoo, "--ids", "--json").json == ["zebra", "lion"]
    assert_refused(muppet("remove", zoo, "products.csv"), "muppet info KB --ids")
    assert muppet("remove", zoo, *muppet("info", zoo, "--ids").out.splitlines()).code == 0


def test_two_tables_with_the_same_ids_are_told_of(tmp_path: Path) -> None:
    """Their rows take each other's places: whoever wanted both has to know."""
    tables = [
        write_rows(tmp_path / f"{name}.jsonl", [{"id": "1", "text": f"The {name} is here."}])
        for name in ("lion", "owl")
    ]
    kb = tmp_path / "kb"
    assert muppet("index", tables[0], "--into", kb).err == ""
    assert muppet("index", tables[0], "--into", kb).err == ""  # unchanged
    outcome = muppet("index", tables[1], "--into", kb)
    assert outcome.out.startswith(f"{kb}: 1 replaced. It now holds 1 documents")
    assert "1 had come from another file that is still there" in outcome.err
    assert f"under the same id: '1' of {tables[0]}, by {tables[1]}" in outcome.err
    tables[1].rename(tmp_path / "moved.jsonl")
    write_rows(tmp_path / "moved.jsonl", [{"id": "1", "text": "The owl has gone."}])
    outcome = muppet("index", tmp_path / "moved.jsonl", "--into", kb)
    assert (outcome.code, outcome.err) == (0, "")  # the file it came from is not there any more
