"""Lets the tests of our pages import `pages`, and `command_line` from the tests of commands."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]
