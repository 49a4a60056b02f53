"""The messages that docs/troubleshooting.md explains are messages of ours, word for word."""

import ast
import re
from pathlib import Path

import pytest
from pages import DOCS, ROOT

TEXT = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^\*\*`(.+?)`\*\*", TEXT, re.M)
HOLE = "…"


def strings_in(module: Path) -> list[str]:
    """The strings of a module, with a hole for what is computed."""
    found = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(re.sub(r"\{\w+\}", HOLE, node.value))
        elif isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.Constant) else HOLE for one in node.values]
            found.append("".join(map(str, parts)))
    return found


STRINGS = [one for module in (ROOT / "src").rglob("*.py") for one in strings_in(module)]


@pytest.mark.parametrize("message", QUOTED)
def test_a_message_is_said_somewhere(message: str) -> None:
    pattern = re.compile(".*".join(map(re.escape, message.strip(f"{HOLE} ").split(HOLE))), re.S)
    assert any(map(pattern.search, STRINGS))


def test_there_are_messages() -> None:
    assert len(QUOTED) > 10
