"""The command that answers agents: mcp."""

from pathlib import Path

import click

from muppet.cli.shared import (
    config_option,
    kb_argument,
    model_option,
    reader_option,
    threads_option,
)
from muppet.config import load_config
from muppet.facade.knowledge import Knowledge


@click.command()
@kb_argument
@model_option
@reader_option
@config_option
@threads_option
def mcp(
    kb: Path, model: Path | None, reader: Path | None, config_file: Path | None, threads: int
) -> None:
    """Serve KB to an agent over standard input and output, by the Model Context Protocol.

    Its tools are search, ask and read. An agent starts this command itself; in its settings that
    is, for example, {"mcpServers": {"muppet": {"command": "muppet", "args": ["mcp", "/path/kb"]}}}.
    """
    config = load_config(config_file) if config_file else None
    with Knowledge(kb, config, model=model, reader=reader, threads=threads) as knowledge:
        from muppet.mcp import mcp_server  # seconds: after what may be wrong with the rest

        mcp_server(knowledge).run("stdio")
