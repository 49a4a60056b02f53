"""A knowledge base that is open while others write, or while parts of it are taken away."""

import shutil
from pathlib import Path

from muppet.domain import Document
from muppet.knowledge.lock import write_lock
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import index_documents

ISLES = [Document(f"Isle {n}", "here", n, text=f"On isle {n} it rains.") for n in range(9)]
TRAM = Document("Tram", "here", 10, id="tram", text="The tram leaves at eight.")


def test_a_lexical_index_that_is_gone_is_not_replaced_by_an_empty_one(tmp_path: Path) -> None:
    index_documents(tmp_path / "kb", ISLES)
    with KnowledgeBase(tmp_path / "kb") as opened:
        assert opened.narrow("isle", 20)
        shutil.rmtree(tmp_path / "kb" / "bm25")
        opened.narrow("isle", 20)
        assert not (tmp_path / "kb" / "bm25").exists()
    index_documents(tmp_path / "kb", [TRAM])
    with KnowledgeBase(tmp_path / "kb") as again:
        assert len(again.narrow("isle", 20)) == len(ISLES)


def test_while_somebody_writes_the_old_index_answers(tmp_path: Path) -> None:
    index_documents(tmp_path / "kb", ISLES)
    with KnowledgeBase(tmp_path / "kb") as opened:
        before = opened.narrow("isle 3 rains", 20, "tfidf")
        assert before
        index_documents(tmp_path / "kb", [TRAM])
        with write_lock(tmp_path / "kb"):
            assert opened.narrow("isle 3 rains", 20, "tfidf")
            assert not opened.narrow("tram", 20, "tfidf")
        assert opened.narrow("tram", 20, "tfidf")
