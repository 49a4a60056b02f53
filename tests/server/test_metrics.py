"""What Prometheus reads."""

import re

from fastapi.testclient import TestClient
from serving import QUESTIONS


def test_requests_latencies_batches_and_the_queue_are_counted(client: TestClient) -> None:
    client.post("/api/ask", json={"question": QUESTIONS[0]})
    client.post("/api/ask", json={"question": ""})
    client.get("/api/paragraph/Fram")
    client.get("/api/paragraph/Colin Archer")
    client.get("/nothing/at/all")
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    text = response.text
    for line in (
        'muppet_requests_total{route="/api/ask",status="200"} 1.0',
        'muppet_requests_total{route="/api/ask",status="422"} 1.0',
        'muppet_requests_total{route="/api/paragraph/{id_:path}",status="200"} 2.0',
        'muppet_requests_total{route="none",status="404"} 1.0',
        'muppet_request_seconds_count{route="/api/ask"} 2.0',
        'muppet_batch_questions_count{kind="ask"} 1.0',
        "muppet_queue_depth 0.0",
    ):
        assert f"\n{line}\n" in text
    assert re.search(r"^process_resident_memory_bytes \d", text, re.M)
    assert "nothing" not in text  # no address that anybody makes up becomes a counter


def test_health_needs_no_questions(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
