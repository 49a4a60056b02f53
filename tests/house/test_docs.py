"""docs/cli.md is what `--help` prints. Write it anew: python docs/write_cli.py > docs/cli.md."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_command_line_reference_is_what_help_prints() -> None:
    script = ROOT / "docs" / "write_cli.py"
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert (ROOT / "docs" / "cli.md").read_text() == printed.stdout
