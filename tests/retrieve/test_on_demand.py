"""A knowledge base that is asked before it is encoded finds what it would find afterwards."""

import shutil
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from muppet.config import RetrieveConfig
from muppet.corpus.sources import Sources
from muppet.errors import ConfigError, QuestionError
from muppet.knowledge.encode import encode_knowledge
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import index_documents
from muppet.retrieve.on_demand import OnDemand
from muppet.retrieve.retriever import open_retriever

DEMO = Path(str(files("muppet") / "demo" / "paragraphs.jsonl"))
QUESTIONS = [
    "Which Norwegian sea captain founded the whaling station where Ernest Shackleton is buried?",
    "Where is the museum?",
]
SETTINGS = RetrieveConfig(narrow=(8, 16), widths=(4,))
Chains = list[list[tuple[tuple[int, ...], tuple[int | None, ...], float]]]


def chains(kb: Path, model: Path, config: RetrieveConfig) -> tuple[Chains, int]:
    """What the questions find, and how many paragraphs were encoded for that."""
    with KnowledgeBase(kb) as knowledge:
        retriever = open_retriever(knowledge, model, config)
        found = [
            [(tuple(o.chain.paragraphs), tuple(o.chain.sentences), o.score) for o in one.chains]
            for one in retriever.retrieve_many(QUESTIONS)
        ]
        made = len(retriever.vectors) if isinstance(retriever.vectors, OnDemand) else 0
        return found, made


@pytest.mark.parametrize("encoded", [0, 30])
def test_what_is_found_is_what_an_encoded_one_finds(
    tmp_path: Path, model: Path, encoded: int
) -> None:
    lines = DEMO.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "first.jsonl").write_text("".join(lines[:30]), encoding="utf-8")
    (tmp_path / "rest.jsonl").write_text("".join(lines[30:]), encoding="utf-8")
    part, whole = tmp_path / "part", tmp_path / "whole"
    index_documents(part, Sources([tmp_path / "first.jsonl"]))
    if encoded:
        encode_knowledge(part, model, threads=1)
    index_documents(part, Sources([tmp_path / "rest.jsonl"]))
    shutil.copytree(part, whole)
    encode_knowledge(whole, model, threads=1)
    expected, _ = chains(whole, model, SETTINGS)
    found, made = chains(part, model, replace(SETTINGS, on_demand=True))
    assert all(expected)
    for one, other in zip(found, expected, strict=True):
        assert [chain[:2] for chain in one] == [chain[:2] for chain in other]
        assert [chain[2] for chain in one] == pytest.approx([chain[2] for chain in other], abs=1e-4)
    assert 0 < made < len(lines) - encoded  # only what the searches looked at


def test_a_knowledge_base_without_vectors_says_how_it_can_be_asked(tmp_path: Path) -> None:
    index_documents(tmp_path / "kb", Sources([DEMO]))
    refused = pytest.raises(QuestionError, match=r"or set retrieve\.on_demand")
    with KnowledgeBase(tmp_path / "kb") as knowledge, refused:
        open_retriever(knowledge)


def test_the_whole_source_cannot_be_searched_on_demand() -> None:
    with pytest.raises(ConfigError, match="cannot be encoded on demand"):
        RetrieveConfig(pools=("question", "all"), on_demand=True)
