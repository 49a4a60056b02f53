"""`python -m muppet` is `muppet`."""

from muppet.cli.main import run

run()
