"""Files of four benchmarks become one training set (checklist 4, 17, 18)."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muppet.domain import Paragraph
from muppet.text.prepare import Preparer
from muppet.text.tokens import words
from muppet.text.vocab import Alphabet, Lexicon
from muppet.train.data import (
    Dropped,
    dataset_of,
    load_training_data,
    read_training_data,
    truncated,
)
from muppet.train.examples import TrainingData, TrainingQuestion

SHARED = Path(__file__).parents[3] / "shared" / "data"

Record = dict[str, Any]

LIGHTHOUSE = ["Skerry Light", ["Skerry Light was lit in 1871.", " Ada Holm designed it."]]
DESIGNER = ["Ada Holm", ["Ada Holm was an engineer.", " She was born in Bergen."]]
SHIP = ["Corona (ship)", ["Corona was a barque.", " It sank off Skerry."]]
HARBOUR = ["Old Harbour", ["The harbour silted up."]]


def hotpot(id_: str = "h1", **changed: object) -> Record:
    return {
        "_id": id_,
        "question": "Where was the designer of  Skerry Light born?",
        "answer": "Bergen",
        "type": "bridge",
        "supporting_facts": [["Ada Holm", 1], ["Skerry Light", 1]],
        "context": [SHIP, DESIGNER, HARBOUR, LIGHTHOUSE],
    } | changed


def two_wiki(id_: str, kind: str) -> Record:
    return hotpot(id_, type=kind, evidences=[["Ada Holm", "place of birth", "Bergen"]])


def musique(id_: str = "2hop__1_2", steps: tuple[int | None, ...] = (2, 0)) -> Record:
    titled = [DESIGNER, SHIP, LIGHTHOUSE]
    return {
        "id": id_,
        "question": "Where was the designer of the light born?",
        "answer": "Bergen",
        "answer_aliases": [],
        "question_decomposition": [{"paragraph_support_idx": step} for step in steps],
        "paragraphs": [
            {"idx": n, "title": title, "paragraph_text": "".join(sentences)}
            for n, (title, sentences) in enumerate(titled)
        ],
    }


def squad(*contexts: str, question: str = "Who kept the light?", answer: str = "light") -> Record:
    paragraphs = [
        {
            "context": text,
            "qas": [{"id": f"s{n}", "question": question, "answers": [{"text": answer}]}],
        }
        for n, text in enumerate(contexts)
    ]
    return {"version": "1.1", "data": [{"title": "Skerry_Light", "paragraphs": paragraphs}]}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def titles(data: TrainingData, rows: tuple[int, ...]) -> list[str]:
    return [data.paragraphs[row].title for row in rows]


def only(tmp_path: Path, *records: Record, max_tokens: int = 600) -> tuple[TrainingData, Dropped]:
    loaded = read_training_data([write(tmp_path / "q.json", list(records))], max_tokens=max_tokens)
    (dropped,) = loaded.dropped.values()
    return loaded.data, dropped


def test_hotpotqa_gives_both_gold_paragraphs_in_any_order_and_the_rest_as_distractors(
    tmp_path: Path,
) -> None:
    data, dropped = only(tmp_path, hotpot())
    (question,) = data.questions
    assert titles(data, question.gold) == ["Ada Holm", "Skerry Light"]
    assert titles(data, question.distractors) == ["Corona (ship)", "Old Harbour"]
    assert (question.id, question.dataset, question.is_ordered) == ("h1", "hotpotqa", False)
    assert question.text == "Where was the designer of Skerry Light born?"
    assert dropped == Dropped()


def test_musique_gives_gold_in_the_order_of_its_decomposition(tmp_path: Path) -> None:
    data, _ = only(tmp_path, musique())
    (question,) = data.questions
    assert titles(data, question.gold) == ["Skerry Light", "Ada Holm"]
    assert titles(data, question.distractors) == ["Corona (ship)"]
    assert (question.dataset, question.is_ordered) == ("musique", True)


def test_squad_gives_the_own_paragraph_and_the_others_of_the_article_checklist_18(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "q.json", squad("One light.", "Two lights.", "Three lights."))
    data = load_training_data([path])
    assert [question.dataset for question in data.questions] == ["squad"] * 3
    texts = [paragraph.text for paragraph in data.paragraphs]
    for question in data.questions:
        (gold,) = question.gold
        assert sorted((gold, *question.distractors)) == list(range(len(texts))) == [0, 1, 2]
    assert {paragraph.title for paragraph in data.paragraphs} == {"Skerry Light"}


def test_files_of_all_benchmarks_are_joined_and_a_shared_paragraph_stands_once(
    tmp_path: Path,
) -> None:
    compressed = tmp_path / "musique.jsonl.xz"
    compressed.write_bytes(lzma.compress(json.dumps(musique()).encode() + b"\n"))
    files = [
        write(tmp_path / "hotpot.json", [hotpot()]),
        write(tmp_path / "2wiki.json", [two_wiki("w1", "comparison"), two_wiki("w2", "inference")]),
        compressed,
        write(tmp_path / "squad.json", squad("".join(LIGHTHOUSE[1]), "Two lights.")),
    ]
    data = load_training_data(files)
    assert [question.dataset for question in data.questions] == [
        "hotpotqa", "2wiki", "2wiki", "musique", "squad", "squad",
    ]  # fmt: skip
    keys = [(paragraph.title, paragraph.text) for paragraph in data.paragraphs]
    assert len(keys) == len(set(keys)) == 5
    by_dataset: dict[str, TrainingQuestion] = {}
    for question in data.questions:
        by_dataset.setdefault(question.dataset, question)
    assert by_dataset["squad"].gold[0] in by_dataset["hotpotqa"].gold
    assert by_dataset["musique"].gold == by_dataset["2wiki"].gold[::-1]


def test_comparisons_are_of_2wiki_where_their_file_has_a_kind_that_only_2wiki_has(
    tmp_path: Path,
) -> None:
    hotpot_data, _ = only(tmp_path, hotpot("a", type="comparison"), hotpot("b"))
    wiki_data, _ = only(tmp_path, hotpot("a", type="comparison"), two_wiki("b", "compositional"))
    assert {question.dataset for question in hotpot_data.questions} == {"hotpotqa"}
    made_data, _ = only(tmp_path, hotpot("a", type="comparison"))
    assert {question.dataset for question in wiki_data.questions} == {"2wiki"}
    assert {question.dataset for question in made_data.questions} == {"comparisons"}
    composed_data, _ = only(tmp_path, hotpot("a", type="composed"))
    assert {question.dataset for question in composed_data.questions} == {"bridges"}
    boolq = {"question": "Is it old?", "title": "Skerry", "passage": "It is old.", "answer": True}
    boolq_data, _ = only(tmp_path, boolq)
    assert {question.dataset for question in boolq_data.questions} == {"boolq"}
    assert dataset_of([]) == "hotpotqa"


def test_single_questions_with_marked_sentences_are_not_squads(tmp_path: Path) -> None:
    one = hotpot("a", type="single", supporting_facts=[["Ada Holm", 1]])
    data, _ = only(tmp_path, one)
    assert [(q.dataset, len(q.gold)) for q in data.questions] == [("hotpotqa", 1)]


def test_questions_without_gold_or_with_gold_that_has_no_text_are_dropped(tmp_path: Path) -> None:
    data, dropped = only(
        tmp_path,
        hotpot("no facts", supporting_facts=[]),
        hotpot("no text", context=[DESIGNER]),
        hotpot("empty", context=[DESIGNER, ["Skerry Light", ["", " "]]]),
        hotpot("good"),
    )
    assert [question.id for question in data.questions] == ["good"]
    assert dropped == Dropped(without_gold=3)


def test_musique_rows_without_one_gold_paragraph_per_hop_are_dropped(tmp_path: Path) -> None:
    data, dropped = only(
        tmp_path,
        musique("2hop__test", ()),
        musique("2hop__unanswerable", (None, None)),
        musique("2hop__half", (1, None)),
        musique("3hop__twice", (1, 1, 2)),
        musique("3hop__good", (1, 0, 2)),
    )
    assert [question.id for question in data.questions] == ["3hop__good"]
    assert dropped == Dropped(without_decomposition=4)


def test_questions_with_more_than_four_gold_paragraphs_are_dropped(tmp_path: Path) -> None:
    context = [[f"T{n}", ["Some text."]] for n in range(5)]
    facts = [[f"T{n}", 0] for n in range(5)]
    data, dropped = only(
        tmp_path,
        hotpot("five", context=context, supporting_facts=facts),
        hotpot("four", context=context, supporting_facts=facts[:4]),
    )
    assert [len(question.gold) for question in data.questions] == [4]
    assert dropped == Dropped(too_many_hops=1)


def test_a_question_whose_support_would_be_cut_off_is_dropped_checklist_17(tmp_path: Path) -> None:
    long = ["Ada Holm", ["Ada was an engineer.", " She was born in Bergen.", " She died."]]
    context = [SHIP, long, LIGHTHOUSE]
    early = hotpot("early", context=context, supporting_facts=[["Ada Holm", 0]])
    late = hotpot("late", context=context, supporting_facts=[["Ada Holm", 0], ["Ada Holm", 2]])
    data, dropped = only(tmp_path, early, late, max_tokens=15)
    assert [question.id for question in data.questions] == ["early"]
    assert dropped == Dropped(support_lost=1)
    (gold,) = data.questions[0].gold
    assert data.paragraphs[gold].sentences == tuple(long[1][:2])


def test_support_beyond_the_last_sentence_is_not_lost_by_cutting(tmp_path: Path) -> None:
    data, dropped = only(tmp_path, hotpot(supporting_facts=[["Ada Holm", 9], ["Skerry Light", 0]]))
    assert len(data.questions) == 1
    assert dropped == Dropped()


def test_one_text_split_in_two_ways_loses_only_its_own_support(tmp_path: Path) -> None:
    fine = ["Ada Holm", ["Ada was here.", " Then gone.", " Then she came back at last."]]
    rough = ["Ada Holm", ["Ada was here. Then gone.", " Then she came back at last."]]
    records = [
        hotpot(id_, context=[one, LIGHTHOUSE], supporting_facts=[["Ada Holm", 1]])
        for id_, one in (("fine", fine), ("rough", rough))
    ]
    data, dropped = only(tmp_path, *records, max_tokens=11)
    assert [question.id for question in data.questions] == ["fine"]
    assert dropped == Dropped(support_lost=1)


def test_a_squad_question_whose_answer_would_be_cut_off_is_dropped(tmp_path: Path) -> None:
    path = write(tmp_path / "q.json", squad("A tower. Its keeper was Jon.", answer="Jon"))
    assert read_training_data([path], max_tokens=4).dropped["squad"] == Dropped(support_lost=1)
    assert read_training_data([path], max_tokens=40).dropped["squad"] == Dropped()


@pytest.mark.parametrize("question", ["What was it?", "Who did they do that to?", "?!"])
def test_questions_of_only_stop_words_are_dropped_checklist_18(
    tmp_path: Path, question: str
) -> None:
    path = write(tmp_path / "q.json", squad("The light.", question=question))
    loaded = read_training_data([path])
    assert loaded.data.questions == ()
    assert loaded.dropped == {"squad": Dropped(only_stop_words=1)}


def test_a_question_that_stands_in_two_files_is_taken_once(tmp_path: Path) -> None:
    files = [write(tmp_path / name, [hotpot()]) for name in ("a.json", "b.json")]
    loaded = read_training_data(files)
    assert len(loaded.data.questions) == 1
    assert loaded.dropped == {"hotpotqa": Dropped(repeated=1)}


def test_what_is_dropped_is_told_with_its_reason(tmp_path: Path) -> None:
    path = write(tmp_path / "q.json", [hotpot(), hotpot("none", supporting_facts=[])])
    assert read_training_data([path]).left_out() == [
        "hotpotqa: 1 of 2 questions left out (without gold 1)."
    ]


def test_whole_trailing_sentences_are_dropped_and_numbers_never_shift_checklist_4() -> None:
    paragraph = Paragraph("T", "T", ("One two three.", "", " Four five six.", " Seven."))
    assert truncated(paragraph, 12) is paragraph  # the title and its full stop count too
    assert truncated(paragraph, 11).sentences == ("One two three.", "", " Four five six.")
    assert truncated(paragraph, 9).sentences == ("One two three.", "")
    assert truncated(paragraph, 6).sentences == ("One two three.", "")


@given(st.integers(3, 40), st.text(alphabet="ab. ", max_size=12))
def test_what_fits_here_is_not_cut_again_by_the_preparer(most: int, title: str) -> None:
    """Support that is kept here must reach the network (checklist 17)."""
    paragraph = Paragraph(
        "p", title, ("One two three.", " Four five six.", " Seven eight nine ten.")
    )
    short = truncated(paragraph, most)
    prepare = Preparer(Lexicon(Alphabet(""), lambda _: -1), None, max_tokens=most, with_title=True)
    prepared = prepare.paragraph(short)
    if len(short.sentences) > 1 or len(words(f"{title}. {short.text}")) <= most:
        assert set(prepared.segments.tolist()) == set(range(len(short.sentences)))


def test_a_first_sentence_that_is_too_long_is_cut_at_a_token() -> None:
    paragraph = Paragraph("T", "T", ("", "One two three four.", " Five."))
    assert truncated(paragraph, 4).sentences == ("", "One two")


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not here")
def test_the_real_hotpotqa_keeps_its_gold_apart_from_its_distractors() -> None:
    data = load_training_data([SHARED / "hotpotqa" / "dev.json.xz"])
    assert len(data.questions) == 400
    for question in data.questions:
        assert len(question.gold) == 2
        assert set(question.gold).isdisjoint(question.distractors)
    assert max(len(words(paragraph.text)) for paragraph in data.paragraphs) <= 600
