"""`import muppet`, as a program does: what its names are, and what they do."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import muppet
from muppet.domain import Broken
from muppet.errors import ArtifactError, ConfigError, CorpusError, QuestionError
from muppet.knowledge.write import remove_from
from random_model import Demo

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"
DEMO = Path(str(files("muppet") / "demo" / "paragraphs.jsonl"))


@pytest.fixture(scope="module")
def kb(demo: Demo) -> Iterator[muppet.Knowledge]:
    with muppet.open(demo.kb, reader=demo.reader) as opened:
        yield opened


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_importing_muppet_imports_nothing_heavy() -> None:
    loaded = set(run("import sys, muppet; print(' '.join(sys.modules))").split())
    assert "muppet" in loaded
    assert not loaded & {"numpy", "sqlite3", "click", "tantivy", "onnxruntime", "torch"}


@pytest.mark.parametrize("name", ["index", "encode"])
def test_packages_of_the_same_name_do_not_hide_a_function(name: str) -> None:
    program = (
        "import muppet\n"
        "from muppet.knowledge.encode import encode_knowledge\n"
        "import muppet.index.build, muppet.encode.encoder\n"
        f"print(callable(muppet.{name}), muppet.{name}.__module__)\n"
    )
    assert run(program) == "True muppet.facade.knowledge\n"


def test_every_name_is_there_with_its_documentation() -> None:
    assert set(muppet.__all__) <= set(dir(muppet))
    for name in muppet.__all__:
        assert getattr(muppet, name).__doc__, name
    with pytest.raises(AttributeError, match="opne"):
        getattr(muppet, "opne")  # noqa: B009 (a name that mypy would refuse)


def test_a_question_is_answered_with_its_evidence(kb: muppet.Knowledge) -> None:
    result = kb.ask(QUESTION)
    best = result.answers[0]
    assert [kb.paragraph(id_).id for id_ in best.chain] == list(best.chain)
    for one in best.support:
        assert kb.paragraph(one.paragraph).sentences[one.index]
    assert result.chain_of(best).hops[0].paragraph in result.ranks


def test_many_questions_are_answered_in_their_order(kb: muppet.Knowledge) -> None:
    seen: list[int] = []
    asked = [QUESTION, "Who led the Endurance expedition?"]
    results = kb.ask_many(asked, progress=lambda _s, done, _t, _note="": seen.append(done))
    assert [one.question for one in results] == asked
    assert seen == [2]
    assert kb.ask_many([]) == []


def test_chains_are_found_with_what_they_rest_on(kb: muppet.Knowledge) -> None:
    found = kb.search(QUESTION, chains=3)
    assert len(found.chains) == len(found.scores) == 3
    assert list(found.scores) == sorted(found.scores, reverse=True)
    for chain in found.chains:
        paragraphs = found.paragraphs_of(chain)
        assert len(paragraphs) == 2
        assert all(isinstance(one, muppet.Paragraph) for one in paragraphs)
    assert found.ranks == kb.ask(QUESTION).ranks
    assert kb.ask(QUESTION).scores[: len(found.scores)] == pytest.approx(found.scores)


@pytest.mark.parametrize("hops", [1, 3])
def test_the_number_of_hops_may_differ_from_call_to_call(kb: muppet.Knowledge, hops: int) -> None:
    assert {len(chain.hops) for chain in kb.search(QUESTION, hops=hops).chains} == {hops}
    assert {len(one.chain) for one in kb.ask(QUESTION, hops=hops).answers} == {hops}
    assert {len(chain.hops) for chain in kb.search(QUESTION).chains} == {2}


def test_more_chains_than_are_kept_by_default_may_be_wanted(kb: muppet.Knowledge) -> None:
    assert 45 < len(kb.search(QUESTION, chains=60).chains) <= 60


def test_threads_may_share_it(kb: muppet.Knowledge) -> None:
    alone = kb.search(QUESTION)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: kb.search(QUESTION), range(8)))
    assert all(one.chains == alone.chains for one in together)


def test_what_cannot_be_asked_or_read_is_refused(kb: muppet.Knowledge, tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="empty"):
        kb.ask(" ")
    with pytest.raises(QuestionError, match="the of"):
        kb.search("the of")
    with pytest.raises(QuestionError, match="is text, not None"):
        kb.ask(None)  # type: ignore[arg-type]
    with pytest.raises(QuestionError, match="takes a list"):
        kb.ask_many(QUESTION)
    with pytest.raises(QuestionError, match="At least 1"):
        kb.search(QUESTION, chains=0)
    with pytest.raises(ConfigError, match="hops"):
        kb.search(QUESTION, hops=0)
    for name in ("nowhere", "half \ud800"):
        with pytest.raises(QuestionError, match="no paragraph"):
            kb.paragraph(name)
    with pytest.raises(ArtifactError, match="nowhere"):
        muppet.open(tmp_path / "nowhere")


def test_what_has_been_closed_is_not_asked(demo: Demo) -> None:
    with muppet.open(demo.kb, reader=demo.reader) as closed:
        pass
    for ask in (closed.ask, closed.search, closed.paragraph):
        with pytest.raises(QuestionError, match="has been closed"):
            ask(QUESTION)
    with pytest.raises(QuestionError, match="has been closed"):
        len(closed)
    closed.close()


def test_what_cannot_open_a_knowledge_base_is_refused_at_once(demo: Demo) -> None:
    with pytest.raises(ConfigError, match="threads must be at least 1, not 0"):
        muppet.open(demo.kb, threads=0)
    with pytest.raises(ConfigError, match=r"must be a muppet.Config, not 'settings.toml'"):
        muppet.open(demo.kb, config="settings.toml")  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["id", "title", "text"])
def test_a_document_s_id_and_texts_are_texts(tmp_path: Path, field: str) -> None:
    document = muppet.Document(title="A row", source="table", place=3, id="5", text="Some text.")
    wrong = replace(document, **{field: 5})
    with pytest.raises(CorpusError, match=rf"Document 3 of 'table': its {field} must be text"):
        muppet.index(wrong, into=tmp_path / "kb")
    assert not (tmp_path / "kb").exists()


def test_what_is_not_encoded_is_searched_by_words_and_cannot_be_asked(tmp_path: Path) -> None:
    muppet.index(DEMO, into=tmp_path / "kb")
    with muppet.open(tmp_path / "kb") as kb:
        found = kb.search("Where is Grytviken?", chains=2)
        assert found.paragraphs_of(found.chains[0])[0].title == "Grytviken"
        assert [len(chain.hops) for chain in found.chains] == [1, 1]
        with pytest.raises(QuestionError, match="muppet encode"):
            kb.ask(QUESTION)


def test_files_and_documents_go_into_one_knowledge_base(demo: Demo, tmp_path: Path) -> None:
    into = str(tmp_path / "kb")
    (tmp_path / "note.txt").write_text("Zebras live in the zebra house of the zoo.")
    rest = [muppet.Document("Lion", "my program", 1, text="The lion lives beside the zebras.")]
    first = muppet.index(str(tmp_path / "note.txt"), into=into)
    assert (first.added, first.documents) == (1, 1)
    second = muppet.index([tmp_path / "note.txt", *rest], into=into)
    assert (second.added, second.unchanged, second.documents) == (1, 1, 2)
    assert muppet.encode(into, model=demo.encoder).encoded == 2
    with muppet.open(into, reader=demo.reader) as kb:
        assert len(kb) == 2
        titles = {one.title for one in kb.ask("Where do zebras live?").paragraphs.values()}
        assert titles == {"note", "Lion"}


def test_a_broken_row_is_an_error_unless_it_is_taken(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"title": "Zebra", "text": "A zebra."}\n{"title": \n')
    with pytest.raises(CorpusError, match=r"rows\.jsonl:2"):
        muppet.index(rows, into=tmp_path / "kb")
    taken: list[Broken] = []
    summary = muppet.index(rows, into=tmp_path / "kb", on_broken=taken.append)
    assert (summary.added, summary.broken) == (1, 1)
    assert [one.place for one in taken] == [2]


def test_the_facade_is_what_its_modules_define() -> None:
    knowledge = import_module("muppet.facade.knowledge")
    assert muppet.open is knowledge.open
    assert muppet.Knowledge is knowledge.Knowledge


def test_what_a_writer_does_meanwhile_is_found_by_who_has_it_open(
    demo: Demo, tmp_path: Path
) -> None:
    some = [
        muppet.Document(f"Isle {n}", "here", n, text=f"On isle {n} it rains.") for n in range(9)
    ]
    muppet.index(some, into=tmp_path / "kb")
    muppet.encode(tmp_path / "kb", model=demo.encoder)
    config = muppet.Config()
    for engine in ("bm25", "tfidf"):
        settings = replace(config, retrieve=replace(config.retrieve, engine=engine, hops=1))
        with muppet.open(tmp_path / "kb", config=settings) as kb:
            assert "Tram" not in titles(kb, "When does the tram leave?")
            tram = muppet.Document("Tram", engine, 1, id="tram", text="The tram leaves at eight.")
            muppet.index([tram], into=tmp_path / "kb")
            muppet.encode(tmp_path / "kb")
            assert "Tram" in titles(kb, "When does the tram leave?")
            assert "Tram" in titles(kb, "When does the tram leave?", hops=2)
        remove_from(tmp_path / "kb", ["tram"])


def titles(kb: muppet.Knowledge, question: str, hops: int | None = None) -> set[str]:
    found = kb.search(question, hops=hops)
    return {one.title for chain in found.chains for one in found.paragraphs_of(chain)}
