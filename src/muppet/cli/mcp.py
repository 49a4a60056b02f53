"""The command that answers agents: mcp."""

from pathlib import Path

import click

from muppet.config import load_config
from muppet.facade.knowledge import Knowledge


@click.command()
@click.argument("kb", type=click.Path(path_type=Path))
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="An exported encoder [default: the KB's last, else ours].",
)
@click.option("--reader", type=click.Path(path_type=Path), help="An exported reader.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Settings, as TOML.")
@click.option("--threads", default=2, show_default=True, type=click.IntRange(1, 256),
              help="Threads that read.")  # fmt: skip
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
