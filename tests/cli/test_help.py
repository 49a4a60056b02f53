"""Help, completion, and a front door that stays light."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import muppet, muppet_process

from muppet import __version__
from muppet.cli.main import COMMANDS, cli
from muppet.config import Config, load_config


def test_help_lists_every_command_with_its_line() -> None:
    outcome = muppet("--help")
    assert outcome.code == 0
    for name, (_, line) in COMMANDS.items():
        assert any(
            shown.split(maxsplit=1) == [name, line]
            for shown in map(str.strip, outcome.out.splitlines())
        )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(name: str) -> None:
    outcome = muppet(name, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"Usage: muppet {name} ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_line_of_help_belongs_to_a_real_command(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help


def test_an_unknown_command_is_refused() -> None:
    outcome = muppet("serch")
    assert outcome.code == 2
    assert "serch" in outcome.err


def test_the_version_is_printed() -> None:
    assert muppet("--version").out == f"muppet, version {__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from muppet.cli.main import run\n"
        "sys.argv = ['muppet', '--help']\n"
        "try:\n"
        "    run()\n"
        "finally:\n"
        "    sys.stderr.write(' '.join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0
    loaded = set(done.stderr.split())
    assert "click" in loaded
    assert not loaded & {"torch", "tantivy", "numpy", "sqlite3", "onnxruntime"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_ask_for_completion(shell: str) -> None:
    outcome = muppet_process(environment=os.environ | {"_MUPPET_COMPLETE": f"{shell}_source"})
    assert outcome.code == 0
    assert "_MUPPET_COMPLETE" in outcome.out


def test_completion_knows_the_commands() -> None:
    asked = {"_MUPPET_COMPLETE": "bash_complete", "COMP_WORDS": "muppet se", "COMP_CWORD": "1"}
    assert muppet_process(environment=os.environ | asked).out == "plain,search\nplain,serve\n"


def test_config_prints_toml_that_can_be_given_back(tmp_path: Path) -> None:
    file = tmp_path / "all.toml"
    file.write_text(muppet("config").out, encoding="utf-8")
    assert load_config(file) == Config()
