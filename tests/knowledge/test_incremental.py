"""Running `index` again adds what is new, replaces what changed, and leaves the rest alone."""

import json
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from muppet.config import Config, CorpusConfig, ReadConfig, RetrieveConfig
from muppet.corpus.sources import Sources
from muppet.domain import Broken, Document
from muppet.errors import CorpusError
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import IndexSummary, index_documents, remove_from


def document(id_: str | None, text: str, *, title: str = "", place: int = 1) -> Document:
    return Document(title or id_ or "", "here", place, id_, text)


def counts(summary: IndexSummary) -> tuple[int, int, int, int]:
    return summary.added, summary.replaced, summary.unchanged, summary.repeated


def found(kb: Path, question: str) -> list[str]:
    with KnowledgeBase(kb) as base:
        numbers = [hop.paragraph for hop in base.narrow(question, 10)]
        paragraphs = base.store.paragraphs(numbers)
        return [paragraphs[number].id for number in numbers]


def test_the_same_sources_again_change_nothing(tmp_path: Path) -> None:
    documents = [document("owl", "Owls hoot."), document("elk", "Elks bellow.")]
    assert counts(index_documents(tmp_path / "kb", documents)) == (2, 0, 0, 0)
    with KnowledgeBase(tmp_path / "kb") as kb:
        revision = kb.store.revision
    assert counts(index_documents(tmp_path / "kb", documents)) == (0, 0, 2, 0)
    with KnowledgeBase(tmp_path / "kb") as kb:
        assert kb.store.revision == revision  # so that indexes made from it stay good


def test_a_changed_document_is_replaced_and_a_new_one_added(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, [document("owl", "Owls hoot."), document("elk", "Elks bellow.")])
    changed = [document("owl", "Owls screech."), document("bee", "Bees hum.")]
    summary = index_documents(kb, changed)
    assert counts(summary) == (1, 1, 0, 0)
    assert (summary.documents, summary.paragraphs) == (3, 3)
    assert found(kb, "hoot") == []
    assert [found(kb, word) for word in ("screech", "hum", "bellow")] == [["owl"], ["bee"], ["elk"]]


def test_a_changed_title_counts_as_a_change(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, [document("1", "They hoot.", title="Owls")])
    renamed = document("1", "They hoot.", title="Barn owls")
    assert counts(index_documents(kb, [renamed])) == (0, 1, 0, 0)
    assert found(kb, "barn") == ["1"]


def test_a_removed_document_is_found_no_more(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, [document("owl", "Owls hoot."), document("elk", "Elks bellow.")])
    assert remove_from(kb, ["owl"]) == 1
    assert [found(kb, word) for word in ("hoot", "bellow")] == [[], ["elk"]]
    index_documents(kb, [document("owl", "Owls hoot.")])
    assert found(kb, "hoot") == ["owl"]


def test_nothing_is_removed_when_one_id_is_unknown(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, [document("owl", "Owls hoot."), document("elk", "Elks bellow.")])
    with pytest.raises(CorpusError, match="'oak'; nothing was removed"):
        remove_from(kb, ["elk", "oak"])
    assert found(kb, "bellow") == ["elk"]


def test_a_file_that_moves_keeps_its_document_and_changes_its_source(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    old, new = tmp_path / "old" / "docs", tmp_path / "new" / "docs"
    old.mkdir(parents=True)
    new.parent.mkdir()
    (old / "owl.txt").write_text("Owls hoot.")
    index_documents(kb, Sources([old]))
    old.rename(new)
    assert counts(index_documents(kb, Sources([new]))) == (0, 0, 1, 0)
    with KnowledgeBase(kb) as base:
        paragraph = base.store.paragraph("docs/owl.txt")
        assert paragraph is not None
        assert paragraph.source == str(new / "owl.txt")
        assert base.store.sources() == [(str(new / "owl.txt"), 1)]


def test_documents_of_one_title_are_numbered_and_keep_their_numbers(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    rows = [
        document(None, f"Report {word}.", title="Report") for word in ("alpha", "beta", "gamma")
    ]
    assert counts(index_documents(kb, [*rows, rows[1]])) == (3, 0, 0, 1)
    expected = [["Report"], ["Report (2)"], ["Report (3)"]]
    assert [found(kb, word) for word in ("alpha", "beta", "gamma")] == expected
    assert counts(index_documents(kb, [*rows, rows[0], rows[2]])) == (0, 0, 3, 2)
    assert [found(kb, word) for word in ("alpha", "beta", "gamma")] == expected


def test_a_number_that_is_somebody_s_own_title_is_passed_over(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    titles = [("Report", "alpha"), ("Report (2)", "beta"), ("Report", "gamma"), ("Report", "delta")]
    rows = [document(None, f"It says {word}.", title=title) for title, word in titles]
    index_documents(kb, rows)
    words = ("alpha", "beta", "gamma", "delta")
    expected = [["Report"], ["Report (2)"], ["Report (3)"], ["Report (4)"]]
    assert [found(kb, word) for word in words] == expected
    assert counts(index_documents(kb, rows)) == (0, 0, 4, 0)


def test_a_long_document_becomes_numbered_paragraphs(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    parts = ["Owls hoot at night.", "Owls sleep by day.", "Owls eat mice."]
    config = Config(corpus=CorpusConfig(min_words=1, max_words=10))
    summary = index_documents(kb, [document("owl", "\n\n".join(parts))], config=config)
    assert (summary.documents, summary.paragraphs) == (1, 3)
    with KnowledgeBase(kb) as base:
        for id_, text in zip(("owl", "owl#2", "owl#3"), parts, strict=True):
            paragraph = base.store.paragraph(id_)
            assert paragraph is not None
            assert (paragraph.id, paragraph.text, paragraph.document) == (id_, text, "owl")
        assert base.store.paragraph("owl#4") is None
    assert found(kb, "sleep") == ["owl#2"]
    assert counts(index_documents(kb, [document("owl", "\n\n".join(parts[:1]))])) == (0, 1, 0, 0)
    assert found(kb, "sleep") == []
    assert remove_from(kb, ["owl"]) == 1


def test_how_it_is_asked_may_change_and_is_remembered_once_all_is_indexed(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    made = Config(corpus=CorpusConfig(min_words=1, max_words=3))
    index_documents(kb, [document("owl", "Owls hoot.")], config=made)
    other = replace(made, read=ReadConfig(chains=2), retrieve=RetrieveConfig(hops=1))
    with pytest.raises(CorpusError):
        index_documents(kb, [Broken("a.txt", 1, "is empty")], config=other)
    with KnowledgeBase(kb) as base:
        assert base.config == made
    assert index_documents(kb, [document("owl", "Owls hoot.")], config=other).unchanged == 1
    with KnowledgeBase(kb) as base:
        assert base.config == other
    index_documents(kb, [document("elk", "Elks roam.")])
    with KnowledgeBase(kb) as base:
        assert base.config == other
    alone = Config(read=ReadConfig(longest=3))
    index_documents(kb, [document("elk", "Elks roam.")], config=alone)
    with KnowledgeBase(kb) as base:  # what it was made by stays; how it is asked is all new
        assert base.config == Config(corpus=made.corpus, read=ReadConfig(longest=3))


def test_settings_of_the_first_run_hold_for_all(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    config = Config(corpus=CorpusConfig(min_words=1, max_words=3))
    index_documents(kb, [document("owl", "Owls hoot.")], config=config)
    index_documents(kb, [document("elk", "One two three four five.")])
    with KnowledgeBase(kb) as base:
        assert base.config == config
        assert base.store.paragraph("elk#2") is not None


def test_how_it_is_asked_is_kept_only_where_somebody_chose_it(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    chosen = Config(corpus=CorpusConfig(min_words=1), read=ReadConfig(chains=2))
    index_documents(kb, [document("owl", "Owls hoot.")], config=chosen)
    kept = json.loads((kb / "manifest.json").read_text())["config"]
    assert kept["corpus"]["max_words"] == CorpusConfig().max_words
    assert (kept["retrieve"], kept["read"]) == ({}, {"chains": 2})
    with KnowledgeBase(kb) as base:
        assert base.config == chosen


@pytest.mark.parametrize("margin", [0, 0.3, 2.0, inf])
def test_a_margin_that_0_12_0_wrote_down_holds(tmp_path: Path, margin: float) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, [document("owl", "Owls hoot.")], config=Config(read=ReadConfig(chains=2)))
    manifest = json.loads((kb / "manifest.json").read_text())
    manifest["config"]["read"]["margin"] = margin
    (kb / "manifest.json").write_text(json.dumps(manifest))
    with KnowledgeBase(kb) as base:
        assert base.config.read == ReadConfig(chains=2, margin=margin)


def test_the_indexes_of_old_revisions_go(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    rows = [document(word, f"It says {word}.") for word in ("alpha", "beta", "gamma", "delta")]
    index_documents(kb, rows)
    with KnowledgeBase(kb) as base:
        assert len(base.narrow("alpha", 5, "tfidf")) == 1
        assert [path.name for path in kb.glob("tfidf-*")] == [f"tfidf-{base.store.revision}"]
    index_documents(kb, [replace(rows[0], text="It says omega now.")])
    assert list(kb.glob("tfidf-*")) == []
    with KnowledgeBase(kb) as base:
        assert len(base.narrow("omega", 5, "tfidf")) == 1
