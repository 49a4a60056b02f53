"""Claims about question files: HotpotQA, 2Wiki, SQuAD, MuSiQue, BoolQ and plain questions."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from muppet.corpus.benchmarks import Gold, context_documents, read_questions
from muppet.domain import Broken, Document, Paragraph, Question, SentenceRef
from muppet.errors import QuestionError

SHARED = Path(__file__).parents[3] / "shared" / "data"

HOTPOT = {
    "_id": "h1",
    "question": " Where was the author of the Notes born? ",
    "answer": "London",
    "type": "bridge",
    "level": "easy",
    "supporting_facts": [["Notes", 0], ["Ada", 2], ["Notes", 1]],
    "context": [
        ["Ada", ["Ada wrote.", "", " She was born in London."]],
        ["Bob", ["Bob read."]],
        ["Notes", ["Ada wrote the Notes.", "They are long."]],
    ],
}
SQUAD = {
    "version": "1.1",
    "data": [
        {
            "title": "Old_Bridge",
            "paragraphs": [
                {"context": "It is old. It is long.", "qas": []},
                {
                    "context": "Mo built it. He was 30.",
                    "qas": [
                        {
                            "id": "s1",
                            "question": "Who built it? ",
                            "answers": [{"text": a, "answer_start": 0} for a in ("Mo", "it", "Mo")],
                        }
                    ],
                },
            ],
        }
    ],
}
BOOLQ = {
    "question": "is the bridge old",
    "title": "Old Bridge",
    "answer": False,
    "passage": "It was built last year. It is long.",
}
MUSIQUE = {
    "id": "3hop1__1_2_3",
    "question": "Who fed the cat of the owner of the house?",
    "answer": "Eva",
    "answer_aliases": ["Eve", "Eva"],
    "answerable": True,
    "question_decomposition": [
        {"id": 1, "question": "a", "answer": "b", "paragraph_support_idx": 2},
        {"id": 2, "question": "a", "answer": "b", "paragraph_support_idx": 0},
        {"id": 3, "question": "a", "answer": "b", "paragraph_support_idx": 2},
    ],
    "paragraphs": [
        {"idx": 0, "title": "Cat", "paragraph_text": "Eva fed it. Daily.", "is_supporting": True},
        {"idx": 1, "title": "Dog", "paragraph_text": "It barks.", "is_supporting": False},
        {"idx": 2, "title": "House", "paragraph_text": "Ben owns it.", "is_supporting": True},
    ],
}


def write(folder: Path, value: object, name: str = "questions.json") -> Path:
    path = folder / name
    data = json.dumps(value).encode()
    path.write_bytes(lzma.compress(data) if name.endswith(".xz") else data)
    return path


def without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != key}


def documents(path: Path) -> list[Document]:
    return [one for one in context_documents(path) if isinstance(one, Document)]


def test_a_hotpot_question_has_its_gold_in_the_order_of_first_mention(tmp_path: Path) -> None:
    (found,) = read_questions(write(tmp_path, [HOTPOT]))
    assert found.question == Question("h1", "Where was the author of the Notes born?")
    assert found.gold.answers == ("London",)
    assert found.gold.kind == "bridge"
    assert [paragraph.title for paragraph in found.gold.paragraphs] == ["Notes", "Ada"]
    assert found.gold.paragraphs == (found.context[2], found.context[0])


def test_support_names_sentences_whose_numbers_never_shift_checklist_4(tmp_path: Path) -> None:
    (found,) = read_questions(write(tmp_path, [HOTPOT]))
    assert found.gold.support == {
        SentenceRef("Notes", 0),
        SentenceRef("Notes", 1),
        SentenceRef("Ada", 2),
    }
    assert found.context[0].sentences == ("Ada wrote.", "", " She was born in London.")


def test_sentences_given_without_spaces_join_to_readable_text(tmp_path: Path) -> None:
    (found,) = read_questions(write(tmp_path, [HOTPOT]))
    assert found.context[2].text == "Ada wrote the Notes. They are long."
    assert found.context[2].id == "Notes"


def test_2wiki_is_read_as_hotpot_with_its_own_kinds(tmp_path: Path) -> None:
    record = {
        **without(HOTPOT, "level"),
        "type": "bridge_comparison",
        "evidences": [["a", "b", "c"]],
    }
    (found,) = read_questions(write(tmp_path, [record]))
    assert found.gold.kind == "bridge_comparison"
    assert len(found.gold.paragraphs) == 2


def test_a_test_set_has_questions_without_gold(tmp_path: Path) -> None:
    record = {key: HOTPOT[key] for key in ("_id", "question", "context")}
    (found,) = read_questions(write(tmp_path, [record]))
    assert found.gold == Gold((), "question", (), frozenset())
    assert len(found.context) == 3


def test_gold_outside_of_the_context_is_a_title_without_sentences(tmp_path: Path) -> None:
    (found,) = read_questions(write(tmp_path, [{**HOTPOT, "context": []}]))
    assert found.gold.paragraphs == (Paragraph("Notes", "Notes", ()), Paragraph("Ada", "Ada", ()))
    assert found.context == ()


def test_a_squad_question_has_its_own_paragraph_and_each_answer_once(tmp_path: Path) -> None:
    (found,) = read_questions(write(tmp_path, SQUAD))
    paragraph = Paragraph("Old Bridge#2", "Old Bridge", ("Mo built it. ", "He was 30."))
    assert found.question == Question("s1", "Who built it?")
    assert found.gold == Gold(("Mo", "it"), "single", (paragraph,), frozenset())
    assert found.context == (paragraph,)


def test_a_musique_question_has_its_paragraphs_in_the_order_of_its_steps(tmp_path: Path) -> None:
    (found,) = read_questions(write(tmp_path, MUSIQUE, "questions.jsonl"))
    assert found.gold.answers == ("Eva", "Eve")
    assert found.gold.kind == "3hop"
    assert [paragraph.id for paragraph in found.gold.paragraphs] == ["House", "Cat"]
    assert found.gold.paragraphs[1].sentences == ("Eva fed it. ", "Daily.")
    assert len(found.context) == 3


def test_musique_is_read_with_text_in_place_of_paragraph_text(tmp_path: Path) -> None:
    record = {**MUSIQUE, "paragraphs": [{"title": t, "text": f"{t} text."} for t in "ABC"]}
    (found,) = read_questions(write(tmp_path, [record]))
    assert [paragraph.text for paragraph in found.gold.paragraphs] == ["C text.", "A text."]


@pytest.mark.parametrize(("given", "said"), [(True, ("yes",)), (False, ("no",)), (None, ())])
def test_a_boolq_question_is_of_yes_or_no_and_its_passage_is_gold(
    tmp_path: Path, given: bool | None, said: tuple[str, ...]
) -> None:
    (found,) = read_questions(write(tmp_path, [{**BOOLQ, "answer": given}], "boolq.json"))
    passage = Paragraph("Old Bridge", "Old Bridge", ("It was built last year. ", "It is long."))
    assert found.gold == Gold(said, "verdict", (passage,), frozenset())
    assert found.context == (passage,)


def test_a_plain_question_may_have_a_passage_without_a_title(tmp_path: Path) -> None:
    plain = {"question": "Is it?", "answer": "yes", "passage": "It is."}
    (found,) = read_questions(write(tmp_path, [plain], "plain.json"))
    assert found.gold.answers == ("yes",)
    assert found.context == ()


@pytest.mark.parametrize("given", [{"answer": "1"}, {"answer": 1}, {"answers": ["1"]}])
def test_a_user_s_own_question_with_title_and_passage_keeps_its_answer(
    tmp_path: Path, given: dict[str, object]
) -> None:
    own = {key: value for key, value in BOOLQ.items() if key != "answer"} | given
    (found,) = read_questions(write(tmp_path, [own], "own.json"))
    assert found.gold.answers == ("1",)


def test_the_passages_of_boolq_are_documents(tmp_path: Path) -> None:
    (found,) = context_documents(write(tmp_path, [BOOLQ], "boolq.json"))
    assert isinstance(found, Document)
    assert (found.title, found.sentences) == (
        "Old Bridge",
        ("It was built last year. ", "It is long."),
    )


def test_musique_without_steps_is_counted_by_its_id(tmp_path: Path) -> None:
    record = {**MUSIQUE, "question_decomposition": None, "answer": None, "answer_aliases": None}
    (found,) = read_questions(write(tmp_path, [record]))
    assert found.gold == Gold((), "3hop", (), frozenset())


def test_a_step_of_an_unanswerable_question_has_no_paragraph(tmp_path: Path) -> None:
    steps = [{"paragraph_support_idx": None}, {"paragraph_support_idx": 1}]
    (found,) = read_questions(write(tmp_path, [{**MUSIQUE, "question_decomposition": steps}]))
    assert found.gold.kind == "2hop"
    assert [paragraph.title for paragraph in found.gold.paragraphs] == ["Dog"]


def test_plain_questions_may_have_one_answer_or_many_or_none(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '{"question": "A?", "answer": "x", "id": 7}\n'
        '{"question": "B?", "answers": ["x", "y", "x"]}\n'
        '{"question": "C?"}\n'
        '{"question": "D?", "answer": "x", "paragraphs": ["Cat", "Dog"]}\n'
    )
    found = read_questions(path)
    assert [one.question for one in found] == [
        Question("7", "A?"),
        Question("2", "B?"),
        Question("3", "C?"),
        Question("4", "D?"),
    ]
    assert [one.gold.answers for one in found] == [("x",), ("x", "y"), (), ("x",)]
    assert {one.gold.kind for one in found} == {"question"}


def test_the_format_is_known_by_content_and_the_file_may_be_compressed(tmp_path: Path) -> None:
    (found,) = read_questions(write(tmp_path, [HOTPOT], "squad-musique.json.xz"))
    assert found.gold.kind == "bridge"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([HOTPOT, without(HOTPOT, "question")], "question 2 lacks 'question'; HotpotQA"),
        ([HOTPOT, {**HOTPOT, "context": [["Ada", "text"]]}], "question 2 has an unknown shape"),
        ([HOTPOT, {**HOTPOT, "context": ["Ada"]}], "question 2 has an unknown shape"),
        ([HOTPOT, {**HOTPOT, "question": 3}], "question 2 has an unknown shape"),
        ([{**BOOLQ, "title": 3}], "question 1 has an unknown shape; BoolQ"),
        ([{**MUSIQUE, "paragraphs": [{"title": "A"}]}], "question 1 lacks 'text'; MuSiQue"),
        ([{**MUSIQUE, "paragraphs": []}], "question 1 has an unknown shape; MuSiQue"),
        ({"data": [{"title": "T", "paragraphs": [{"qas": []}]}]}, "article 1 lacks 'context'"),
        ([{"answer": "x"}], "question 1 lacks 'question'; it needs"),
        ([{"title": "T", "text": "x"}], "number 1 is not a question; expected HotpotQA"),
        (["x"], "number 1 is not a question; expected HotpotQA"),
        ([], "has no questions; expected HotpotQA"),
    ],
)
def test_what_is_not_a_question_is_told_by_file_and_number(
    tmp_path: Path, value: object, message: str
) -> None:
    with pytest.raises(QuestionError) as caught:
        read_questions(write(tmp_path, value))
    assert "questions.json" in str(caught.value)
    assert message in str(caught.value)


def test_a_line_that_is_not_json_is_told_by_number(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "A?"}\n{"question"\n')
    with pytest.raises(QuestionError, match=r"q\.jsonl: line 2 is not JSON"):
        read_questions(path)


def test_a_missing_or_cut_off_file_is_a_question_error(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match=r"gone\.json: cannot be opened"):
        read_questions(tmp_path / "gone.json")
    path = write(tmp_path, [HOTPOT], "cut.json.xz")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(QuestionError, match=r"cut\.json\.xz: ends too early"):
        read_questions(path)


def test_each_context_is_one_document_and_comes_once(tmp_path: Path) -> None:
    other = {**HOTPOT, "_id": "h2", "context": [*HOTPOT["context"], ["Ada", ["Another text."]]]}
    found = documents(write(tmp_path, [HOTPOT, other]))
    assert [(one.title, one.place) for one in found] == [
        ("Ada", 1),
        ("Bob", 1),
        ("Notes", 1),
        ("Ada", 2),
    ]
    assert found[0].sentences == ("Ada wrote.", "", " She was born in London.")
    assert found[0].id is None


def test_contexts_of_squad_and_musique_are_documents_too(tmp_path: Path) -> None:
    (first, second) = documents(write(tmp_path, SQUAD))
    assert first.title == second.title == "Old Bridge"
    assert second.sentences == ("Mo built it. ", "He was 30.")
    assert [one.title for one in documents(write(tmp_path, [MUSIQUE]))] == ["Cat", "Dog", "House"]


def test_a_question_with_a_broken_context_is_told_and_the_next_is_read(tmp_path: Path) -> None:
    found = list(context_documents(write(tmp_path, [{**HOTPOT, "context": 3}, HOTPOT])))
    assert isinstance(found[0], Broken)
    assert found[0].place == 1
    assert [one.place for one in found[1:]] == [2, 2, 2]


def test_a_line_that_is_not_json_is_one_broken_context(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(f"{json.dumps(MUSIQUE)}\n{{oops\n")
    *_, last = context_documents(path)
    assert isinstance(last, Broken)
    assert last.place == 2
    assert last.reason.startswith("is not JSON")


def test_a_title_that_is_no_string_is_an_unknown_shape(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="question 1 has an unknown shape"):
        read_questions(write(tmp_path, [{**HOTPOT, "context": [[None, ["a"]]]}]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "questions", "contexts"),
    [
        ("hotpotqa/train.json.xz", 2_425, 22_825),
        ("hotpotqa/dev.json.xz", 400, 3_978),
        ("2wikimultihopqa/train.json.xz", 765, 4_783),
        ("2wikimultihopqa/dev.json.xz", 100, 768),
        ("musique/train.jsonl.xz", 247, 4_228),
        ("squad/train-v1.1.json.xz", 87_599, 18_891),
        ("squad/dev.json.xz", 4_703, 967),
    ],
)
def test_the_real_files_are_read_to_their_last_question(
    name: str, questions: int, contexts: int
) -> None:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    found = read_questions(path)
    assert len(found) == questions
    assert all(one.question.text and one.context for one in found)
    assert len(documents(path)) == contexts
