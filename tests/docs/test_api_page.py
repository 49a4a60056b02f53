"""docs/api.md says what the package and the server really offer."""

import dataclasses
import inspect
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from pages import DOCS, blocks

import muppet
from muppet.cli.main import cli
from muppet.server.app import make_app
from muppet.server.schema import ResultFound

PAGE = DOCS / "api.md"
TEXT = PAGE.read_text(encoding="utf-8")
SIGNATURES = re.findall(r"^#### `(muppet|kb)\.(\w+)(\(.*\))`$", TEXT, re.M)
TYPES = dict(re.findall(r"^\| `([A-Z]\w+)` \| (.+) \|$", TEXT, re.M))
SCHEMA = make_app({}).openapi()


def parameters(function: Callable[..., object]) -> str:
    """As Python writes them, without types; a function's default by its name."""
    plain = []
    for one in inspect.signature(function).parameters.values():
        default = one.default.__name__ if callable(one.default) else repr(one.default)
        told = one.name if one.default is one.empty else f"{one.name}={default}"
        if one.kind is one.KEYWORD_ONLY and "*" not in plain:
            plain.append("*")
        plain += [] if one.name == "self" else [told]
    return f"({', '.join(plain)})"


@pytest.mark.parametrize(("owner", "name", "written"), SIGNATURES, ids=lambda text: text)
def test_a_signature_is_the_function_s_own(owner: str, name: str, written: str) -> None:
    function = getattr(muppet if owner == "muppet" else muppet.Knowledge, name)
    assert written == parameters(function)


def test_every_public_name_and_method_is_there() -> None:
    functions = {name for name in muppet.__all__ if inspect.isfunction(getattr(muppet, name))}
    assert {name for owner, name, _ in SIGNATURES if owner == "muppet"} == functions
    methods = {name for name in vars(muppet.Knowledge) if not name.startswith("_")}
    assert {name for owner, name, _ in SIGNATURES if owner == "kb"} == methods
    assert {*TYPES} == {*muppet.__all__} - functions - {"Knowledge", "MuppetError"}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_these_parts_and_no_other(name: str) -> None:
    kind = getattr(muppet, name)
    parts = {field.name for field in dataclasses.fields(kind)}
    parts |= {name for name in vars(kind) if not name.startswith("_")}
    assert {*re.findall(r"`(\w+)", TYPES[name])} == parts


def test_the_addresses_and_what_they_take_are_the_server_s() -> None:
    written = {
        (method, path): {*re.findall(r"`(\w+)`", takes)}
        for method, path, takes in re.findall(r"^\| `([A-Z]+) (/\S+)` \|(.*?)\|", TEXT, re.M)
    }
    assert written == {
        (method.upper(), path): fields_of(operation)
        for path, operations in SCHEMA["paths"].items()
        for method, operation in operations.items()
    }


def fields_of(operation: dict[str, Any]) -> set[str]:
    """The fields of a request's body, or else what its address takes behind a ?."""
    asked = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}
    if "requestBody" not in operation:
        return asked
    (content,) = operation["requestBody"]["content"].values()
    name = content["schema"]["$ref"].rpartition("/")[2]
    return {*SCHEMA["components"]["schemas"][name]["properties"]}


def test_the_statuses_are_the_server_s() -> None:
    answers = SCHEMA["paths"]["/api/ask"]["post"]["responses"]
    assert re.findall(r"^\| (\d+) \|", TEXT, re.M) == sorted({*answers} - {"200"})


def test_the_json_it_shows_is_what_is_answered_and_what_agents_start() -> None:
    answer, settings = (json.loads(one.text) for one in blocks(PAGE) if one.language == "json")
    ResultFound.model_validate(answer)
    ours = settings["mcpServers"]["muppet"]
    assert ours["command"] == "muppet"
    assert ours["args"][0] in cli.list_commands(cli.make_context("muppet", ["info"]))
