"""Hard negatives: the paper's twelve, and what a knowledge base is tempted by (checklist 18)."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pytest

from muppet.corpus.sources import Sources
from muppet.domain import Document, Paragraph
from muppet.errors import ArtifactError
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import index_documents
from muppet.lexical.ngrams import hashed_ngrams
from muppet.train.data import load_training_data
from muppet.train.examples import TrainingData, TrainingQuestion
from muppet.train.negatives import (
    RANDOM,
    Mined,
    MinedNegatives,
    mine_lexical,
    read_mined,
    squad_negatives,
    with_mined,
)

ARTICLES, PARAGRAPHS, TOPIC_WORDS, OTHER_WORDS = 12, 8, 30, 200


def invented_squad(seed: int = 0) -> TrainingData:
    """Articles of paragraphs with words of their topic and of all; three questions to each."""
    rng = np.random.default_rng(seed)
    paragraphs: list[Paragraph] = []
    questions: list[TrainingQuestion] = []
    for article in range(ARTICLES):
        rows = range(len(paragraphs), len(paragraphs) + PARAGRAPHS)
        for row in rows:
            own = [f"topic{article}x{n}" for n in rng.integers(TOPIC_WORDS, size=12)]
            common = [f"word{n}" for n in rng.integers(OTHER_WORDS, size=25)]
            text = " ".join([*own, *common])
            paragraphs.append(Paragraph(f"A{article}#{row}", f"Article{article}", (text,)))
            others = tuple(other for other in rows if other != row)
            for n in range(3):
                asked = rng.choice([*own, *common], size=6, replace=False)
                id_, words = f"{row}-{n}", " ".join(asked.tolist())
                questions.append(TrainingQuestion(id_, words, "squad", (row,), others, False))
    return TrainingData(tuple(questions), tuple(paragraphs))


SQUAD = invented_squad()


def slow_scores(data: TrainingData, text: str) -> list[float]:
    """TF-IDF as it is written down, with dictionaries (checklist 5)."""

    def counted(text: str) -> Counter[int]:
        return Counter(hashed_ngrams([text], 2, 2**24)[1].tolist())

    bags = [counted(f"{one.title}\n{one.text}") for one in data.paragraphs]
    having = Counter(term for bag in bags for term in bag)
    total = len(bags)

    def idf(term: int) -> float:
        return max(0.0, math.log((total - having[term] + 0.5) / (having[term] + 0.5)))

    asked = counted(text)
    return [
        sum(math.log1p(asked[t]) * math.log1p(bag[t]) * idf(t) ** 2 for t in asked if t in bag)
        for bag in bags
    ]


def slow_nearest(data: TrainingData, text: str, rows: list[int], keep: int) -> list[int]:
    scores = slow_scores(data, text)
    best = sorted((row for row in rows if scores[row] > 0), key=lambda row: -scores[row])
    return best[:keep]


def test_negatives_are_nearest_in_the_article_and_among_all_first_ones_checklist_18() -> None:
    found = squad_negatives(SQUAD, np.random.default_rng(0))
    for number in range(0, len(SQUAD.questions), 41):
        question = SQUAD.questions[number]
        (gold,) = question.gold
        article = gold // PARAGRAPHS
        own = [
            row for row in range(article * PARAGRAPHS, (article + 1) * PARAGRAPHS) if row != gold
        ]
        openings = [other * PARAGRAPHS for other in range(ARTICLES) if other != article]
        paragraph = SQUAD.paragraphs[gold]
        near = [
            row
            for text in (question.text, f"{paragraph.title}\n{paragraph.text}")
            for rows, keep in ((own, 3), (openings, 2))
            for row in slow_nearest(SQUAD, text, rows, keep)
        ]
        distinct = list(dict.fromkeys(near))
        assert list(found[number][: len(distinct)]) == distinct
        assert len(found[number]) == len(distinct) + 2


def test_negatives_are_about_twelve_distinct_and_never_gold_checklist_18() -> None:
    found = squad_negatives(SQUAD, np.random.default_rng(0))
    assert set(found) == set(range(len(SQUAD.questions)))
    for number, rows in found.items():
        assert 7 <= len(rows) == len(set(rows)) <= 12
        assert SQUAD.questions[number].gold[0] not in rows
    assert np.mean([len(rows) for rows in found.values()]) > 9


def test_the_two_random_negatives_come_from_everywhere_checklist_18() -> None:
    found = squad_negatives(SQUAD, np.random.default_rng(0))
    drawn = Counter(row for rows in found.values() for row in rows[-2:])
    assert len(drawn) > 0.9 * len(SQUAD.paragraphs)


def test_one_seed_gives_one_set_of_negatives() -> None:
    first, second, other = (
        squad_negatives(SQUAD, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert first == second != other


def test_questions_of_other_benchmarks_get_none_but_their_paragraphs_are_openings() -> None:
    asked = SQUAD.questions[0]
    twin = Paragraph("Elsewhere", "Elsewhere", (f"{asked.text} {asked.text}",))
    same = Paragraph("Article0", "Article0", (f"{SQUAD.paragraphs[0].text} indeed",))
    hop = TrainingQuestion("h", "Who?", "hotpotqa", (96, 97), (), False)
    data = TrainingData((hop, *SQUAD.questions), (*SQUAD.paragraphs, twin, same))
    found = squad_negatives(data, np.random.default_rng(0))
    assert 0 not in found
    assert 96 in found[1]
    near = [rows[:-2] for rows in found.values()]
    assert not any(97 in rows for rows in near), "the article's opening in another benchmark"


def test_negatives_of_some_questions_are_those_of_all_but_for_the_random_ones() -> None:
    everyone = squad_negatives(SQUAD, np.random.default_rng(0))
    few = squad_negatives(SQUAD, np.random.default_rng(0), {3, 100, 7})
    assert {number: rows[:-RANDOM] for number, rows in few.items()} == {
        number: everyone[number][:-RANDOM] for number in (3, 7, 100)
    }


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """The demo corpus."""
    directory = tmp_path_factory.mktemp("mining") / "kb"
    with as_file(files("muppet") / "demo" / "paragraphs.jsonl") as path:
        index_documents(directory, iter(Sources([path])))
    opened = KnowledgeBase(directory)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    """The demo questions, with their gold paragraphs and two more as contexts."""
    folder = files("muppet") / "demo"
    lines = (folder / "paragraphs.jsonl").read_text(encoding="utf-8").splitlines()
    context = {one["title"]: one["sentences"] for one in map(json.loads, lines)}
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    for question in questions:
        named = [title for title, _ in question["supporting_facts"]]
        question["context"] = [[title, context[title]] for title in {*named, *list(context)[:2]}]
    path = tmp_path_factory.mktemp("demo") / "questions.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    return load_training_data([path])


def gold_titles(data: TrainingData, question: TrainingQuestion) -> set[str]:
    return {data.paragraphs[row].title for row in question.gold}


@pytest.mark.parametrize("engine", ["bm25", "tfidf"])
def test_mining_finds_paragraphs_for_the_question_and_for_each_next_hop_and_no_gold(
    demo: TrainingData, knowledge: KnowledgeBase, tmp_path: Path, engine: str
) -> None:
    mined = mine_lexical(demo, knowledge, tmp_path / "mined", keep=4, engine=engine)
    assert len(mined.questions) == len(demo.questions) == 35
    for question in demo.questions:
        found = mined.questions[question.id, question.text]
        assert len(found.next) == len(question.gold)
        assert all(0 < len(numbers) <= 4 for numbers in (found.first, *found.next))
        titles = {mined.paragraphs[number].title for number in found.numbers}
        assert titles.isdisjoint(gold_titles(demo, question))


def test_mined_paragraphs_are_the_best_of_the_engine_in_its_order(
    demo: TrainingData, knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    mined = mine_lexical(demo, knowledge, tmp_path / "mined", keep=3)
    question = demo.questions[0]
    ranked = [hop.paragraph for hop in knowledge.narrow(question.text, 20)]
    texts = knowledge.store.paragraphs(ranked)
    gold = gold_titles(demo, question)
    expected = [number for number in ranked if texts[number].title not in gold][:3]
    assert list(mined.questions[question.id, question.text].first) == expected


def test_what_was_mined_is_read_back_without_the_knowledge_base(
    demo: TrainingData, knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    mined = mine_lexical(demo, knowledge, tmp_path / "mined", keep=2)
    again = read_mined(tmp_path / "mined")
    assert again.questions == mined.questions
    assert {n: (p.title, p.sentences) for n, p in again.paragraphs.items()} == {
        n: (p.title, p.sentences) for n, p in mined.paragraphs.items()
    }


def test_mining_that_was_stopped_goes_on_where_it_was(
    demo: TrainingData, knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    whole = mine_lexical(demo, knowledge, tmp_path / "whole", keep=2)
    stopped = tmp_path / "stopped"
    few = TrainingData(demo.questions[:20], demo.paragraphs)
    mine_lexical(few, knowledge, stopped, keep=2)
    with (stopped / "questions.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"id": "demo-21", "ques')  # the power went off here
    assert len(read_mined(stopped).questions) == 20
    steps: list[tuple[str, int, int | None]] = []
    again = mine_lexical(
        demo, knowledge, stopped, keep=2, progress=lambda *step: steps.append(step)
    )
    assert [done for _, done, _ in steps] == list(range(1, 16))
    assert again.questions == whole.questions == read_mined(stopped).questions
    for name in ("questions.jsonl", "paragraphs.jsonl"):
        assert (stopped / name).read_text() == (tmp_path / "whole" / name).read_text()


def test_mining_in_another_way_into_the_same_directory_is_refused(
    demo: TrainingData, knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    mine_lexical(demo, knowledge, tmp_path / "mined", keep=2)
    with pytest.raises(ArtifactError, match="another engine"):
        mine_lexical(demo, knowledge, tmp_path / "mined", keep=3)
    with pytest.raises(ArtifactError, match="holds no"):
        read_mined(tmp_path)


def test_a_gold_paragraph_as_another_dump_has_it_is_not_mined(tmp_path: Path) -> None:
    gold = Paragraph(
        "Tern &amp; Co", "Tern &amp; Co", ("Tern makes red kites in Oslo since 1901.",)
    )
    documents = [
        Document("Tern & Co", "s", 1, text="Tern makes red kites in Oslo since 1902, mostly."),
        Document("Copy", "s", 2, text="Tern makes red  kites in Oslo since 1901."),
        Document("Heron", "s", 3, text="Heron makes blue kites in Bergen since 1907."),
    ]
    index_documents(tmp_path / "kb", documents)
    knowledge = KnowledgeBase(tmp_path / "kb")
    question = TrainingQuestion("q", "Who makes kites?", "squad", (0,), (), False)
    mined = mine_lexical(TrainingData((question,), (gold,)), knowledge, tmp_path / "m", keep=5)
    knowledge.close()
    assert [one.title for one in mined.paragraphs.values()] == ["Heron"]


def test_mined_negatives_join_the_distractors_and_no_paragraph_stands_twice(
    demo: TrainingData, knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    mined = mine_lexical(demo, knowledge, tmp_path / "mined", keep=3)
    joined = with_mined(demo, mined)
    assert joined.paragraphs[: len(demo.paragraphs)] == demo.paragraphs
    keys = [(one.title, one.text) for one in joined.paragraphs]
    assert len(keys) == len(set(keys)) > len(demo.paragraphs)
    for before, after in zip(demo.questions, joined.questions, strict=True):
        assert after.gold == before.gold
        assert after.distractors[: len(before.distractors)] == before.distractors
        assert len(after.distractors) == len(set(after.distractors))
        assert set(after.distractors).isdisjoint(after.gold)
        found = mined.questions[after.id, after.text].numbers
        titles = {joined.paragraphs[row].title for row in after.distractors}
        assert {mined.paragraphs[number].title for number in found} <= titles


def test_a_mined_paragraph_that_is_gold_in_the_data_stays_gold_and_long_ones_are_cut() -> None:
    paragraphs = (Paragraph("A", "A", ("Gold.",)),)
    data = TrainingData((TrainingQuestion("q", "Who?", "squad", (0,), (), False),), paragraphs)
    found = {1: paragraphs[0], 2: Paragraph("B", "B", ("One two three.", " Four five six."))}
    mined = MinedNegatives({("q", "Who?"): Mined((1, 2), ())}, found)
    joined = with_mined(data, mined, max_tokens=7)
    assert joined.questions[0].distractors == (1,)
    assert joined.paragraphs[1].sentences == ("One two three.",)


def test_questions_that_were_not_mined_keep_their_distractors() -> None:
    joined = with_mined(SQUAD, MinedNegatives({}, {}))
    assert joined == SQUAD
