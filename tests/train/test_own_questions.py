"""Own questions: what a file of them may say, and which of them are held out."""

import json
from pathlib import Path

import pytest

from muppet.corpus.sources import Sources
from muppet.errors import QuestionError
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import index_documents
from muppet.train.own_questions import (
    OwnQuestion,
    hold_out,
    named_paragraphs,
    read_own_questions,
)
from random_model import Demo

WHO = {"question": "Who founded Grytviken?", "answer": "Carl Anton Larsen"}


def write(path: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_line_is_a_question_with_one_answer_or_many_and_maybe_paragraphs(tmp_path: Path) -> None:
    file = write(
        tmp_path / "own.jsonl",
        WHO | {"id": "passed over"},
        "",
        {
            "question": " When  was it founded? ",
            "answer": ["1904", "in 1904", "1904"],
            "paragraphs": ["Grytviken"],
        },
        {"question": "Where is Grytviken?", "answers": ["South Georgia"]},
    )
    assert read_own_questions(file) == [
        OwnQuestion(1, WHO["question"], ("Carl Anton Larsen",)),
        OwnQuestion(3, "When was it founded?", ("1904", "in 1904"), ("Grytviken",)),
        OwnQuestion(4, "Where is Grytviken?", ("South Georgia",)),
    ]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('{"question": "Who founded it?"', "is not JSON"),
        ('["Who founded it?", "Larsen"]', "is no object"),
        ({"question": "Who founded it?"}, "its answer is missing, or not text"),
        ({"question": "Who founded it?", "answer": 1904}, "its answer is missing, or not text"),
        ({"question": "Who founded it?", "answer": "  "}, "its answer is empty"),
        ({"question": "Who founded it?", "answer": []}, "its answer is an empty list"),
        ({"question": "Who founded it?", "answer": ["Larsen", ""]}, "its answer is empty"),
        ({"answer": "Larsen"}, "its question is missing, or not text"),
        ({"question": "", "answer": "Larsen"}, "The question is empty"),
        ({"question": "who is it", "answer": "x"}, "only words that stand everywhere"),
        (WHO | {"paragraph": "Grytviken"}, "has an unknown field 'paragraph'"),
        (WHO | {"paragraphs": "Grytviken"}, "its paragraphs is missing, or not text"),
        (WHO | {"paragraphs": list("abcde")}, "names 5 paragraphs; at most 4"),
        (WHO | {"question": "Who founded GRYTVIKEN?"}, "the same question as in line 1"),
    ],
)
def test_what_is_no_question_is_refused_with_its_line(
    tmp_path: Path, row: object, told: str
) -> None:
    file = write(tmp_path / "own.jsonl", WHO, "", row)
    with pytest.raises(QuestionError) as refused:
        read_own_questions(file)
    assert str(refused.value).startswith(f"{file}:3: ")
    assert told in str(refused.value)


def test_a_file_that_is_empty_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="has no questions; a line is"):
        read_own_questions(write(tmp_path / "own.jsonl"))
    with pytest.raises(QuestionError, match=r"nowhere\.jsonl: cannot be opened"):
        read_own_questions(tmp_path / "nowhere.jsonl")


def test_paragraphs_are_named_by_title_or_by_id(demo: Demo) -> None:
    asked = OwnQuestion(7, "Who founded it?", ("Larsen",), ("Grytviken", "Ernest Shackleton"))
    with KnowledgeBase(demo.kb) as knowledge:
        found = named_paragraphs(asked, knowledge.store, "own.jsonl")
        assert [one.title for one in found] == list(asked.paragraphs)
        by_id = OwnQuestion(7, "Who founded it?", ("Larsen",), tuple(one.id for one in found))
        assert named_paragraphs(by_id, knowledge.store, "own.jsonl") == found
        wrong = OwnQuestion(7, "Who founded it?", ("Larsen",), ("Grytvikken",))
        with pytest.raises(
            QuestionError, match=r"own\.jsonl:7: there is no paragraph 'Grytvikken'"
        ):
            named_paragraphs(wrong, knowledge.store, "own.jsonl")


def test_a_title_of_many_paragraphs_is_refused_with_their_ids(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = "\n\n".join(f"{part} lies north of the bay. " * 40 for part in ("Tor", "Fell", "Beck"))
    (tmp_path / "docs" / "places.md").write_text(f"# Places\n\n{text}\n")
    index_documents(tmp_path / "kb", Sources([tmp_path / "docs"]))
    asked = OwnQuestion(2, "What lies north?", ("Tor",), ("Places",))
    with KnowledgeBase(tmp_path / "kb") as knowledge:
        many = knowledge.store.by_title("Places")
        assert len(many) > 1
        with pytest.raises(QuestionError, match=f"the title of {len(many)} paragraphs") as refused:
            named_paragraphs(asked, knowledge.store, "own.jsonl")
    assert all(repr(one.id) in str(refused.value) for one in list(many.values())[:3])


def test_a_share_is_held_out_by_the_seed_and_hardly_changes_with_the_file() -> None:
    questions = [OwnQuestion(n, f"What is number {n}?", (str(n),)) for n in range(1, 101)]
    held = hold_out(questions, 0.2, seed=1)
    assert len(held) == 20
    assert held == hold_out(questions[::-1], 0.2, seed=1)
    assert held != hold_out(questions, 0.2, seed=2)
    fewer = hold_out(questions[:90], 0.2, seed=1)
    assert len({line for line in held if line <= 90} ^ fewer) <= 6
    assert hold_out([], 0.2, seed=1) == set()
