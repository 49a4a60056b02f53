"""The bundled demo corpus: its counts, its shape and the agreement of questions and paragraphs."""

import json
from collections import Counter
from importlib.resources import files
from typing import Any

Record = dict[str, Any]

DEMO = files("muppet") / "demo"
YES_NO = ("yes", "no")


def _paragraphs() -> list[Record]:
    lines = (DEMO / "paragraphs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _questions(*kinds: str) -> list[Record]:
    records = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
    return [record for record in records if not kinds or record["type"] in kinds]


def _sentences_by_title() -> dict[str, list[str]]:
    return {paragraph["title"]: paragraph["sentences"] for paragraph in _paragraphs()}


def _support_titles(question: Record) -> set[str]:
    return {title for title, _ in question["supporting_facts"]}


def _answer_titles(question: Record) -> set[str]:
    """The titles of the supporting paragraphs with a supporting sentence that holds the answer."""
    sentences = _sentences_by_title()
    return {
        title
        for title, number in question["supporting_facts"]
        if question["answer"] in sentences[title][number]
    }


def test_the_corpus_has_about_sixty_paragraphs_with_unique_titles() -> None:
    titles = [paragraph["title"] for paragraph in _paragraphs()]
    assert 58 <= len(titles) <= 64
    assert len(set(titles)) == len(titles)


def test_every_paragraph_has_three_to_six_sentences_and_the_length_of_an_opening() -> None:
    for paragraph in _paragraphs():
        assert set(paragraph) == {"title", "sentences"}
        assert 3 <= len(paragraph["sentences"]) <= 6, paragraph["title"]
        assert 50 <= len("".join(paragraph["sentences"]).split()) <= 110, paragraph["title"]


def test_every_sentence_is_non_empty_and_the_joined_text_has_single_spaces() -> None:
    for paragraph in _paragraphs():
        first, *rest = paragraph["sentences"]
        assert all(sentence.strip() for sentence in paragraph["sentences"]), paragraph["title"]
        assert first == first.strip(), paragraph["title"]
        assert all(sentence == f" {sentence.strip()}" for sentence in rest), paragraph["title"]
        assert "  " not in "".join(paragraph["sentences"]), paragraph["title"]


def test_there_are_fifteen_bridge_ten_comparison_and_ten_single_questions() -> None:
    kinds = Counter(question["type"] for question in _questions())
    assert kinds == {"bridge": 15, "comparison": 10, "single": 10}


def test_half_of_the_comparisons_are_yes_no_questions_with_both_answers() -> None:
    answers = Counter(
        question["answer"] for question in _questions() if question["answer"] in YES_NO
    )
    compared = [q for q in _questions("comparison") if q["answer"] in YES_NO]
    assert answers.total() == len(compared) == 5
    assert min(answers["yes"], answers["no"]) >= 2


def test_question_ids_and_texts_are_unique_and_the_schema_is_that_of_hotpotqa() -> None:
    questions = _questions()
    assert len({question["_id"] for question in questions}) == len(questions)
    assert len({question["question"] for question in questions}) == len(questions)
    fields = {"_id", "question", "answer", "type", "level", "supporting_facts", "context"}
    for question in questions:
        assert set(question) == fields, question["_id"]
        assert question["level"] == "medium"
        assert question["context"] == []


def test_the_first_question_is_a_bridge_question() -> None:
    assert _questions()[0]["type"] == "bridge"


def test_every_supporting_fact_points_to_an_existing_sentence_and_is_given_once() -> None:
    sentences = _sentences_by_title()
    for question in _questions():
        facts = [(title, number) for title, number in question["supporting_facts"]]
        assert len(set(facts)) == len(facts), question["_id"]
        for title, number in facts:
            assert title in sentences, question["_id"]
            assert 0 <= number < len(sentences[title]), question["_id"]


def test_span_answers_are_short_and_occur_in_a_supporting_sentence() -> None:
    for question in _questions():
        answer = question["answer"]
        assert 1 <= len(answer.split()) <= 6, question["_id"]
        if answer in YES_NO:
            continue
        in_title = question["type"] == "comparison" and any(
            answer in title for title in _support_titles(question)
        )
        assert in_title or _answer_titles(question), question["_id"]


def test_two_hop_questions_have_support_from_exactly_two_paragraphs() -> None:
    for question in _questions("bridge", "comparison"):
        assert len(_support_titles(question)) == 2, question["_id"]


def test_single_hop_questions_have_support_from_exactly_one_paragraph() -> None:
    for question in _questions("single"):
        assert len(_support_titles(question)) == 1, question["_id"]


def test_a_bridge_answer_stands_in_one_supporting_paragraph_that_the_other_one_names() -> None:
    sentences = _sentences_by_title()
    for question in _questions("bridge"):
        assert len(_answer_titles(question)) == 1, question["_id"]
        (target,) = _answer_titles(question)
        (source,) = _support_titles(question) - {target}
        name = target.partition(" (")[0].removeprefix("Airship ")
        assert name in "".join(sentences[source]), question["_id"]


def test_a_bridge_question_never_contains_the_title_of_the_answer_paragraph() -> None:
    for question in _questions("bridge"):
        for title in _answer_titles(question):
            name = title.partition(" (")[0]
            assert name.casefold() not in question["question"].casefold(), question["_id"]
            assert question["answer"].casefold() not in question["question"].casefold()
