"""The whole system, with networks that nobody has trained: what it says is well-formed."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from muppet.config import Config, ReadConfig
from muppet.corpus.sources import Sources
from muppet.domain import Result, SentenceRef
from muppet.errors import ArtifactError, QuestionError
from muppet.knowledge.encode import encode_knowledge
from muppet.knowledge.write import index_documents
from muppet.pipeline import Muppet, open_muppet
from muppet.read.calibrate import Calibration
from muppet.read.reader import write_calibration
from random_model import write_model, write_reader

QUESTIONS = [
    "Which Norwegian sea captain founded the whaling station where Ernest Shackleton is buried?",
    "Who led the expedition of the ship Endurance?",
    "Is Grytviken older than Ernest Shackleton?",
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("models")
    write_model(directory / "encoder")
    write_reader(directory / "reader")
    return directory


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Path:
    directory = tmp_path_factory.mktemp("pipeline") / "kb"
    index_documents(directory, Sources([Path(str(files("muppet") / "demo" / "paragraphs.jsonl"))]))
    encode_knowledge(directory, models / "encoder")
    return directory


@pytest.fixture(scope="module")
def muppet(kb: Path, models: Path) -> Iterator[Muppet]:
    with open_muppet(kb, reader=models / "reader") as opened:
        yield opened


def told(result: Result) -> list[tuple[str, float, tuple[str, ...], tuple[SentenceRef, ...]]]:
    return [(one.text, one.probability, one.chain, one.support) for one in result.answers]


def test_answers_are_the_source_s_own_characters_in_a_chain_that_was_found(muppet: Muppet) -> None:
    for result in muppet.ask_many(QUESTIONS):
        assert 1 <= len(result.answers) <= 5
        for answer in result.answers:
            chain = result.chain_of(answer)
            paragraphs = {result.paragraphs[n].id: result.paragraphs[n] for n in chain.paragraphs}
            assert 0 <= answer.probability <= 1
            assert all(one.paragraph in paragraphs for one in answer.support)
            if answer.span:
                paragraph = paragraphs[answer.span.paragraph]
                text = paragraph.title if answer.span.in_title else paragraph.text
                assert text[answer.span.start : answer.span.end] == answer.text


def test_many_questions_get_the_answers_that_each_gets_by_itself(muppet: Muppet) -> None:
    seen: list[int] = []
    together = muppet.ask_many(
        QUESTIONS * 6, lambda _stage, done, _total, _note="": seen.append(done)
    )
    assert seen == [16, 18]
    for question, result in zip(QUESTIONS, together, strict=False):
        alone = told(muppet.ask(question))
        assert [one[0] for one in told(result)] == [one[0] for one in alone]
        assert [one[1] for one in told(result)] == pytest.approx(
            [one[1] for one in alone], rel=1e-3
        )


def test_only_the_best_chains_are_read_and_a_chain_s_own_score_may_count(
    kb: Path, models: Path
) -> None:
    config = Config(read=ReadConfig(chains=1))
    with open_muppet(kb, config=config, reader=models / "reader") as one:
        result = one.ask(QUESTIONS[0])
    assert {result.chain_of(answer) for answer in result.answers} == {result.chains[0]}
    config = Config(read=ReadConfig(chains=8, chain_weight=1000.0))
    with open_muppet(kb, config=config, reader=models / "reader") as heavy:
        found = heavy.ask(QUESTIONS[0])
    assert found.chain_of(found.answers[0]) == found.chains[0]


def test_a_calibrated_reader_says_what_is_a_guess(kb: Path, tmp_path: Path) -> None:
    reader = write_reader(tmp_path / "reader")
    with open_muppet(kb, reader=reader) as before:
        assert before.ask(QUESTIONS[0]).is_known  # it does not know better
    write_calibration(reader, Calibration(temperature=2.0, bias=-3.0, threshold=0.5))
    with open_muppet(kb, reader=reader) as after:
        result = after.ask(QUESTIONS[0])
        assert not result.is_known
        assert result.answers[0].probability < 0.5
    write_calibration(reader, replace(Calibration(), bias=100.0, threshold=0.5))
    with open_muppet(kb, reader=reader) as sure:
        assert sure.ask(QUESTIONS[0]).is_known


def test_a_damaged_calibration_is_named(kb: Path, tmp_path: Path) -> None:
    reader = write_reader(tmp_path / "reader")
    (reader / "calibration.json").write_text('{"warmth": 3}')
    with pytest.raises(ArtifactError, match=r"calibration\.json is damaged"):
        open_muppet(kb, reader=reader)


def test_what_is_no_question_is_refused(muppet: Muppet) -> None:
    with pytest.raises(QuestionError):
        muppet.ask_many([QUESTIONS[0], "  "])
    assert muppet.ask_many([]) == []


def test_the_sentences_that_retrieval_matched_are_support_the_sooner(
    kb: Path, models: Path
) -> None:
    config = Config(read=ReadConfig(chains=1, match_weight=1000.0))
    with open_muppet(kb, config=config, reader=models / "reader") as heavy:
        for result in heavy.ask_many(QUESTIONS):
            answer = result.answers[0]
            hops = result.chain_of(answer).hops
            found = {
                SentenceRef(result.paragraphs[hop.paragraph].id, hop.sentence or 0) for hop in hops
            }
            assert found <= set(answer.support)
