"""Requests that nobody would think of, made from the schema: no 500, and answers as described."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import BaseModel
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from serving import QUESTIONS, running

from muppet.pipeline import Muppet
from muppet.server.app import make_app
from muppet.server.schema import (
    BODIES,
    AttentionFound,
    ChainsFound,
    KnowledgeBasesFound,
    ParagraphFound,
    ResultFound,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(make_app({}).openapi())
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}


def test_what_each_address_wants_to_be_sent_is_known() -> None:
    paths = make_app({}).openapi()["paths"]
    assert set(BODIES) == {path for path, methods in paths.items() if "post" in methods}


@pytest.fixture(scope="module")
def address(muppet: Muppet) -> Iterator[str]:
    with running(make_app({"kb": muppet, "other": muppet})) as running_at:
        yield running_at


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("label", OPERATIONS)
def test_any_request_gets_an_answer_as_described(
    address: str, label: str, mode: GenerationMode
) -> None:
    operation = OPERATIONS[label]
    has_input = operation.body or operation.path_parameters or operation.query
    if mode is GenerationMode.NEGATIVE and not has_input:
        return  # nothing of it can be wrong

    @settings(
        max_examples=30 if has_input else 2,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:  # noqa: ANN401 (schemathesis has its own types)
        case.call_and_validate(base_url=address, checks=CHECKS)

    ask()


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        (ResultFound, "/api/ask", {"question": QUESTIONS[0]}),
        (ResultFound, "/api/ask", {"question": "Qwxzkjh?"}),
        (ChainsFound, "/api/search", {"question": QUESTIONS[0]}),
        (AttentionFound, "/api/attention", {"question": QUESTIONS[0], "chain": ["Fram"]}),
        (ParagraphFound, "/api/paragraph/Fram", None),
        (KnowledgeBasesFound, "/api/knowledge", None),
    ],
)
def test_the_schema_describes_what_wire_writes_field_by_field(
    client: TestClient, kind: type[BaseModel], path: str, body: object
) -> None:
    response = client.post(path, json=body) if body else client.get(path)
    assert response.status_code == 200
    found = kind.model_validate(response.json(), strict=True)
    assert found.model_dump() == response.json()
