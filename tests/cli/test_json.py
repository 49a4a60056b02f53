"""What `--json` prints is a contract."""

import json
from pathlib import Path

import pytest
from command_line import animals, assert_refused, make_zoo, muppet, write_rows

from muppet.evaluate.chains import CUTOFFS


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Two benchmark questions about the zoo, one of each kind."""
    file = tmp_path / "questions.json"
    rows = [
        {
            "_id": "q1",
            "question": "Where does the zebra live?",
            "answer": "zebrahouse",
            "type": "bridge",
            "level": "hard",
            "supporting_facts": [["Zebra", 0], ["Lion", 0]],
            "context": [["Zebra", ["The zebra lives."]], ["Lion", ["The lion lives."]]],
        },
        {
            "_id": "q2",
            "question": "Are the lion and the quagga both cats?",
            "answer": "no",
            "type": "comparison",
            "level": "hard",
            "supporting_facts": [["Lion", 0], ["Quagga", 0]],
            "context": [["Lion", ["The lion lives."]], ["Quagga", ["The quagga lived."]]],
        },
    ]
    file.write_text(json.dumps(rows))
    return file


@pytest.mark.parametrize("retriever", ["bm25", "tfidf"])
def test_search_prints_chains_of_paragraphs(tmp_path: Path, retriever: str) -> None:
    zoo = make_zoo(tmp_path)
    more = write_rows(tmp_path / "more.jsonl", animals("owl", "elk"))  # the paper's idf needs them
    muppet("index", more, "--into", zoo)
    outcome = muppet("search", zoo, "zebra?", "--retriever", retriever, "--json")
    assert outcome.json["question"] == "zebra?"
    [[hop]] = outcome.json["chains"]
    assert hop.pop("score") > 0
    assert hop == {
        "paragraph": "zebra",
        "title": "Zebra",
        "source": str(tmp_path / "zoo.jsonl"),
        "sentence": None,
        "rank_for_question": 1,
        "text": "The zebra lives in the zebrahouse.",
    }


def test_search_prints_the_best_first_and_no_more_than_asked(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    hops = [
        hop for [hop] in muppet("search", zoo, "zebra lives zebrahouse", "--json").json["chains"]
    ]
    assert [hop["paragraph"] for hop in hops] == ["zebra", "lion"]
    assert [hop["rank_for_question"] for hop in hops] == [1, 2]
    assert hops[0]["score"] > hops[1]["score"]
    top = muppet("search", zoo, "zebra lives zebrahouse", "--top", 1, "--json").json["chains"]
    assert top == [[hops[0]]]


def test_search_reads_the_question_from_standard_input(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    piped = muppet("search", zoo, "-", "--json", stdin=b"Where is\nthe zebra?\n").json
    assert piped["question"] == "Where is the zebra?"
    assert [hop["paragraph"] for [hop] in piped["chains"]] == ["zebra"]


def test_search_for_people_shows_rank_title_source_and_the_best_sentence(tmp_path: Path) -> None:
    assert muppet("search", make_zoo(tmp_path), "zebra").out.splitlines()[0].startswith("1. Zebra")
    text = "Owls sleep by day.\nAt night they hunt\nmice. They lay eggs."
    source = write_rows(tmp_path / "owl.jsonl", [{"title": "Owl", "text": text}])
    muppet("index", source, "--into", tmp_path / "zoo")
    lines = muppet("search", tmp_path / "zoo", "Who hunts mice?").out.splitlines()
    assert lines[0].endswith(str(source))
    assert lines[1] == "   At night they hunt mice."


def test_evaluate_prints_retrieval_by_cutoff_and_by_type(tmp_path: Path, questions: Path) -> None:
    outcome = muppet("evaluate", make_zoo(tmp_path), questions, "--lexical", "--json")
    assert outcome.code == 0
    assert "1 gold paragraphs are not in" in outcome.err  # the quagga
    report = outcome.json
    assert report["questions"] == 2
    cutoffs = set(map(str, CUTOFFS))
    for name in ("perfect", "at_least_one", "hits"):
        assert set(report["retrieval"][name]) == cutoffs
    assert report["retrieval"]["at_least_one"]["1"] == 1.0
    assert report["retrieval"]["hits"]["512"] == (1.0 + 0.5) / 2
    assert report["by_type"]["bridge"]["questions"] == 1
    assert report["by_type"]["comparison"]["retrieval"]["perfect"]["512"] == 0.0
    assert set(report["retrievers"]) == {"tfidf", "bm25"}


def test_search_narrows_by_what_the_settings_say(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('[retrieve]\nengine = "tfidf"\n')
    zoo = make_zoo(tmp_path)
    by_words = ("search", zoo, "zebra?", "--json")
    muppet(*by_words)
    assert not list(zoo.glob("tfidf-*"))
    muppet(*by_words, "--config", settings)
    assert list(zoo.glob("tfidf-*"))


def test_evaluate_of_one_retriever_prints_that_one(tmp_path: Path, questions: Path) -> None:
    outcome = muppet("evaluate", make_zoo(tmp_path), questions, "--retriever", "bm25", "--json")
    assert outcome.json["questions"] == 2
    assert "retrievers" not in outcome.json


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        (("--lexical", "--retrieval"), "Choose --lexical or --retrieval, not both."),
        (("--lexical", "--predictions", "said.json"), "--predictions and --reader are for answers"),
        (("--retriever", "bm25", "--reader", "mine"), "--predictions and --reader are for answers"),
    ],
)
def test_options_of_evaluate_that_would_do_nothing_are_refused(
    tmp_path: Path, questions: Path, options: tuple[str, ...], refused: str
) -> None:
    assert_refused(muppet("evaluate", make_zoo(tmp_path), questions, *options), refused)


def test_evaluate_writes_a_page(tmp_path: Path, questions: Path) -> None:
    page = tmp_path / "page"
    outcome = muppet(
        "evaluate", make_zoo(tmp_path), questions, "--retriever", "bm25", "--report", page
    )
    assert outcome.code == 0
    assert f"Wrote {page}" in outcome.err
    assert any(file.stat().st_size for file in page.iterdir())


def test_evaluate_without_vectors_says_how_to_make_them(tmp_path: Path, questions: Path) -> None:
    outcome = muppet("evaluate", make_zoo(tmp_path), questions)
    assert outcome.code == 2
    assert "Make it ready with `muppet encode" in outcome.err


def test_score_prints_the_benchmark_s_numbers(tmp_path: Path, questions: Path) -> None:
    predictions = tmp_path / "predictions.json"
    support = {"q1": [["Zebra", 0], ["Lion", 0]], "q2": [["Lion", 0]]}
    answers = {"q1": "the zebrahouse", "q2": "yes", "q9": "what?"}
    predictions.write_text(json.dumps({"answer": answers, "sp": support}))
    outcome = muppet("score", predictions, questions, "--json")
    assert outcome.code == 0
    assert outcome.err == f"1 predictions are for no question of {questions}.\n"
    report = outcome.json
    assert report["questions"] == 2
    assert report["answer"]["em"] == 0.5
    assert report["support"]["em"] == 0.5
    assert report["joint"]["em"] == 0.5
    assert report["by_type"]["comparison"]["answer"]["em"] == 0.0


def test_info_tells_what_is_in_a_knowledge_base(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    facts = muppet("info", zoo, "--json").json
    assert (facts["documents"], facts["paragraphs"], facts["sources"]) == (2, 2, 1)
    assert facts["manifest"]["kind"] == "knowledge base"
    assert facts["config"]["corpus"]["language"] == "en"
    assert facts["by_source"] == {str(tmp_path / "zoo.jsonl"): 2}
    assert facts["interrupted"] is False
    lines = muppet("info", zoo).out.splitlines()
    assert lines[0].split() == ["documents", "2"]
    assert lines[-1].split() == ["2", str(tmp_path / "zoo.jsonl")]


def test_index_and_remove_print_what_they_did(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    rows = animals("lion", "owl")
    rows[0]["text"] = "The lion has moved."
    source = write_rows(tmp_path / "more.jsonl", [*rows, rows[1]])
    assert muppet("index", source, "--into", zoo, "--json").json == {
        "added": 1,
        "replaced": 1,
        "unchanged": 0,
        "repeated": 1,
        "broken": 0,
        "documents": 3,
        "paragraphs": 3,
        "displaced": 1,
        "displaced_first": f"'lion' of {tmp_path / 'zoo.jsonl'}, by {source}",
    }
    removed = muppet("remove", zoo, "owl", "lion", "owl", "--json").json
    assert removed == {"documents": 2, "paragraphs": 2}
    assert muppet("remove", zoo, "zebra").out == (
        f"{zoo}: 1 removed, and with them 1 paragraphs.\n"
    )


def test_index_for_people_is_one_sentence(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", animals("owl", "elk"))
    outcome = muppet("index", source, "--into", tmp_path / "kb")
    expected = f"{tmp_path}/kb: 2 added. It now holds 2 documents in 2 paragraphs.\n"
    assert (outcome.out, outcome.err) == (expected, "")


def test_files_of_other_kinds_in_a_folder_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "owl.txt").write_text("Owls sleep by day.")
    (folder / "owl.png").write_bytes(b"\x89PNG")
    outcome = muppet("index", folder, "--into", tmp_path / "kb")
    assert outcome.code == 0
    assert outcome.err == "Passed over, of other kinds: owl.png\n"
    for number in range(4):
        (folder / f"owl-{number}.png").write_bytes(b"\x89PNG")
    outcome = muppet("index", folder, "--into", tmp_path / "kb")
    assert outcome.err.endswith(" and 2 more\n")
