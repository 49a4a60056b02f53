"""Progress while a question is answered, in the right order."""

import httpx2
import pytest
from fastapi.testclient import TestClient
from serving import HERE, QUESTIONS, GatedMuppet, events, running, until, untimed

from muppet.pipeline import Muppet
from muppet.server.app import make_app
from muppet.server.settings import ServerSettings


def test_each_hop_is_told_then_reading_then_the_answer(client: TestClient) -> None:
    response = client.post("/api/ask/stream", json={"question": QUESTIONS[0]})
    assert response.headers["content-type"].startswith("text/event-stream")
    found = events(response)
    assert [name for name, _ in found] == ["hop", "hop", "reading", "answer"]
    first, second = (content["chain"] for name, content in found if name == "hop")
    assert (len(first), len(second)) == (1, 2)
    answer = found[-1][1]
    best = [hop["paragraph"] for hop in answer["chains"][0]]
    assert [one["paragraph"] for one in second] == best
    whole = client.post("/api/ask", json={"question": QUESTIONS[0]}).json()
    assert untimed(answer) == untimed(whole)


def test_an_unknown_word_finds_nothing_and_says_so(client: TestClient) -> None:
    found = events(client.post("/api/ask/stream", json={"question": "Qwxzkjh?"}))
    assert [name for name, _ in found] == ["reading", "answer"]
    assert found[-1][1]["answers"] == []
    assert not found[-1][1]["is_known"]


@pytest.mark.parametrize(
    ("question", "seconds", "words"),
    [(QUESTIONS[0], 0.3, "no answer within 0.3"), ("This breaks Fram", 60, "a bug of ours")],
)
def test_what_goes_wrong_on_the_way_ends_the_stream_in_words(
    muppet: Muppet, question: str, seconds: float, words: str
) -> None:
    gated = GatedMuppet(muppet)
    if seconds > 1:
        gated.gate.set()
    app = make_app({"demo": gated}, ServerSettings(seconds=seconds))
    with TestClient(app, HERE) as client:
        found = events(client.post("/api/ask/stream", json={"question": question}))
        gated.gate.set()
    assert [name for name, _ in found] == ["error"]
    assert words in found[0][1]["error"]


def test_who_goes_away_is_not_waited_for(muppet: Muppet) -> None:
    gated = GatedMuppet(muppet)
    with running(make_app({"demo": gated})) as address, httpx2.Client(base_url=address) as client:
        with client.stream("POST", "/api/ask/stream", json={"question": QUESTIONS[0]}):
            until(lambda: gated.asked)
            with client.stream("POST", "/api/ask/stream", json={"question": QUESTIONS[1]}):
                assert "\nmuppet_queue_depth 1.0\n" in client.get("/metrics").text
            until(lambda: "\nmuppet_queue_depth 0.0\n" in client.get("/metrics").text)
        gated.gate.set()
        response = client.post("/api/ask", json={"question": QUESTIONS[2]}, timeout=60)
        assert response.status_code == 200
    assert gated.asked == [[QUESTIONS[0]], [QUESTIONS[2]]]
