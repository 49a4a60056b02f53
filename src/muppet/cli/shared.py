"""What several commands need."""

import sys
from pathlib import Path

from muppet.errors import QuestionError


def from_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise QuestionError(f"The question on standard input is not UTF-8 ({error}).") from error


def shown(source: str) -> str:
    """A source as seen from here, if it is below."""
    here = Path.cwd()
    return str(Path(source).relative_to(here)) if Path(source).is_relative_to(here) else source
