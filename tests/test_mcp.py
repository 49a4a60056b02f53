"""Tools for agents, by the real client of the protocol's own SDK, over a real process's pipes."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from muppet.cli.main import cli
from random_model import Demo

mcp = pytest.importorskip("mcp", reason="the mcp SDK is not installed: pip install -e '.[mcp]'")

MUPPET = str(Path(sys.executable).with_name("muppet"))
QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"
MODES = ["auto", "legacy"]
"""The newest form of the protocol, and the handshake that older agents begin with."""


def talk(arguments: list[str], use: Callable[[Any], Awaitable[Any]], mode: str = "auto") -> Any:  # noqa: ANN401 (whatever `use` makes)
    """What a client makes of a server that is started for it, and ended after it."""

    async def main() -> Any:  # noqa: ANN401
        server = mcp.StdioServerParameters(command=MUPPET, args=["mcp", *arguments])
        async with mcp.Client(server, mode=mode, read_timeout_seconds=120) as client:
            return await use(client)

    return asyncio.run(main())


def call(demo: Demo, *calls: tuple[str, dict[str, object]]) -> list[Any]:
    """The results of some tools, called one after another."""

    async def use(client: Any) -> list[Any]:  # noqa: ANN401
        return [await client.call_tool(name, given) for name, given in calls]

    found: list[Any] = talk([str(demo.kb), "--reader", str(demo.reader)], use)
    return found


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_is_told_what_each_tool_does_takes_and_gives(demo: Demo, mode: str) -> None:
    async def use(client: Any) -> Any:  # noqa: ANN401
        return (await client.list_tools()).tools, client.instructions

    tools, instructions = talk([str(demo.kb)], use, mode)
    assert [tool.name for tool in tools] == ["search", "ask", "read"]
    assert "no single paragraph" in " ".join(instructions.split())
    for tool in tools:
        assert tool.title
        assert len(tool.description) > 60
        assert "\n    " not in tool.description
        assert tool.annotations.read_only_hint
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]
        assert tool.output_schema["properties"]
    takes = {tool.name: tool.input_schema["required"] for tool in tools}
    assert takes == {"search": ["question"], "ask": ["question"], "read": ["paragraph"]}


def test_tools_answer_what_the_command_line_prints_as_json(demo: Demo) -> None:
    def printed(*arguments: str) -> Any:  # noqa: ANN401
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0
        return json.loads(done.stdout)

    search, ask = call(
        demo, ("search", {"question": QUESTION, "chains": 2}), ("ask", {"question": QUESTION})
    )
    expected = printed("search", str(demo.kb), QUESTION, "--top", "2", "--json")
    assert search.structured_content["chains"] == expected["chains"]
    assert search.structured_content["scores"] == expected["scores"]
    expected = printed("ask", str(demo.kb), QUESTION, "--reader", str(demo.reader), "--json")
    assert ask.structured_content["is_known"] == expected["is_known"]
    assert ask.structured_content["answers"] == expected["answers"]
    for result in (search, ask):
        assert not result.is_error
        assert json.loads(result.content[0].text) == result.structured_content


def test_a_paragraph_that_was_named_can_be_read(demo: Demo) -> None:
    async def use(client: Any) -> Any:  # noqa: ANN401
        given = {"question": QUESTION, "chains": 1, "hops": 1}
        ((hop,),) = (await client.call_tool("search", given)).structured_content["chains"]
        return hop, await client.call_tool("read", {"paragraph": hop["paragraph"]})

    hop, read = talk([str(demo.kb)], use)
    assert read.structured_content["text"] == hop["text"]
    assert "".join(read.structured_content["sentences"]) == hop["text"]


def test_what_is_wrong_is_told_in_words_and_the_server_stays(demo: Demo) -> None:
    *refused, fine = call(
        demo,
        ("ask", {"question": " "}),
        ("search", {"question": "the of"}),
        ("search", {"question": QUESTION, "chains": 0}),
        ("search", {"question": QUESTION, "hops": 9}),
        ("read", {"paragraph": "nowhere"}),
        ("read", {}),
        ("search", {"question": QUESTION}),
    )
    assert all(one.is_error for one in refused)
    words = [one.content[0].text for one in refused]
    parts = ["empty", "nothing to search for", "chains", "hops", "no paragraph", "paragraph"]
    for text, part in zip(words, parts, strict=True):
        assert part in text
    assert not fine.is_error


def test_a_knowledge_base_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [MUPPET, "mcp", str(tmp_path / "nowhere")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("muppet: ")
    assert done.stderr.count("\n") == 1


def test_without_the_sdk_the_command_says_what_to_install(demo: Demo) -> None:
    program = (
        "import sys\n"
        "sys.modules['mcp'] = None\n"
        f"sys.argv = ['muppet', 'mcp', {str(demo.kb)!r}]\n"
        "from muppet.cli.main import run\n"
        "run()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "muppet: Answering agents needs mcp, which is not installed: "
        "in the directory of Muppet's source, pip install --editable '.[mcp]'.\n"
    )
