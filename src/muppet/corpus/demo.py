"""The corpus that comes with the package: paragraphs and questions in our own words."""

import json
from importlib.resources import files
from pathlib import Path

from muppet.domain import Paragraph

DEMO = Path(str(files("muppet") / "demo"))


def demo_paragraphs() -> list[Paragraph]:
    lines = (DEMO / "paragraphs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Paragraph(row["title"], row["title"], tuple(row["sentences"])) for row in rows]
