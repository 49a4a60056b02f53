"""Questions to begin with: what the page offers under its ask box."""

import json
from pathlib import Path

from muppet.corpus.demo import DEMO
from muppet.knowledge.open import KnowledgeBase

FILE = "examples.txt"
MOST = 6


def examples_of(knowledge: KnowledgeBase) -> list[str]:
    """Those in KB/examples.txt, one a line; for the demo corpus its own; else none."""
    own = knowledge.directory / FILE
    if own.is_file():
        lines = own.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.strip() for line in lines if line.strip()][:MOST]
    if not any(Path(source).parent == DEMO for source, _ in knowledge.store.sources()):
        return []
    questions = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
    return [item["question"] for item in questions[:MOST]]
