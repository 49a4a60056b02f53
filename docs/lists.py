"""A hook of mkdocs: a list may follow a line of text at once, as it may on GitHub."""

import re
from typing import Any

ITEM = re.compile(r"(?:[-*]|\d+\.) ")


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401 (what mkdocs passes)
    """The page with the blank line before each list that Python's Markdown wants."""
    lines: list[str] = []
    is_code = False
    for line in markdown.split("\n"):
        before = lines[-1] if lines else ""
        follows_text = before.strip() and not before.startswith(" ") and not ITEM.match(before)
        if ITEM.match(line) and follows_text and not is_code:
            lines.append("")
        is_code ^= line.startswith("```")
        lines.append(line)
    return "\n".join(lines)
