"""examples/ holds what docs/quickstart.md says of it, and the answers to its own questions."""

import json
import re
from pathlib import Path

import pytest
from command_line import muppet
from pages import ROOT

from muppet.corpus.sources import Sources, supported
from muppet.domain import Broken
from muppet.knowledge.open import KnowledgeBase

TOWN = ROOT / "examples" / "harbour-town"
FILES = [path for path in TOWN.rglob("*") if path.is_file()]
QUESTIONS = json.loads((ROOT / "examples" / "harbour-town-questions.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder as a knowledge base, without vectors."""
    kb = tmp_path_factory.mktemp("town") / "kb"
    assert muppet("index", TOWN, "--into", kb, "--skip-bad").code == 0
    return kb


def test_the_folder_is_small_and_has_every_kind_of_file_that_is_read() -> None:
    assert len(FILES) == 30
    assert sum(path.stat().st_size for path in FILES) < 300_000
    kinds = {*re.findall(r"\.\w+", supported())}
    assert kinds - {suffix for path in FILES for suffix in path.suffixes} == set()


def test_three_files_are_as_bad_as_they_are_meant_to_be() -> None:
    sources = Sources([TOWN])
    broken = [Path(one.source).name for one in sources if isinstance(one, Broken)]
    assert broken == ["letter from 1887.txt", "notes for later.txt"]
    assert [path.name for path in sources.skipped] == ["harbour.png"]


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked["_id"])
def test_a_question_needs_two_of_the_files(asked: dict[str, object], town: Path) -> None:
    answer, facts, context = (asked[key] for key in ("answer", "supporting_facts", "context"))
    assert isinstance(answer, str)
    assert isinstance(facts, list)
    assert isinstance(context, list)
    with KnowledgeBase(town) as kb:
        for title, sentences in context:
            there = kb.store.by_title(title).values()
            assert tuple(sentences) in [one.sentences for one in there], f"{title} has changed"
            assert len({one.source for one in there}) == 1
    texts = {title: "".join(sentences) for title, sentences in context}
    assert len(texts) == 2
    assert {title for title, _ in facts} == texts.keys()
    assert [answer in f"{title} {text}" for title, text in texts.items()].count(True) == 1
    cited = "".join(dict(context)[title][number] for title, number in facts)
    assert answer in cited or answer in texts
