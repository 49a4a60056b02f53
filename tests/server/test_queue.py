"""Many questions at once: what goes together, what waits, what is refused."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import httpx2
import pytest
from serving import QUESTIONS, GatedMuppet, running, until

from muppet.pipeline import Muppet
from muppet.server.app import make_app
from muppet.server.settings import ServerSettings


@contextmanager
def asking(address: str) -> Iterator["Asking"]:
    with ThreadPoolExecutor(20) as pool, httpx2.Client(base_url=address, timeout=60) as client:
        yield Asking(pool, client)


class Asking:
    """People who ask at the same time."""

    def __init__(self, pool: ThreadPoolExecutor, client: httpx2.Client) -> None:
        self._pool = pool
        self._client = client

    def ask(self, question: str) -> "Future[httpx2.Response]":
        return self._pool.submit(self._client.post, "/api/ask", json={"question": question})

    def depth(self) -> int:
        text = self._client.get("/metrics").text
        return int(text.partition("\nmuppet_queue_depth ")[2].partition(".")[0])

    def get(self, path: str) -> httpx2.Response:
        return self._client.get(path)


@pytest.fixture
def gated(muppet: Muppet) -> GatedMuppet:
    return GatedMuppet(muppet)


def test_questions_that_wait_are_answered_together_and_as_each_by_itself(
    muppet: Muppet, gated: GatedMuppet
) -> None:
    with running(make_app({"demo": gated})) as address, asking(address) as people:
        first = people.ask(QUESTIONS[0])
        until(lambda: gated.asked)
        rest = [people.ask(question) for question in QUESTIONS[1:]]
        until(lambda: people.depth() == len(rest))
        gated.gate.set()
        found = [one.result().json() for one in [first, *rest]]
        metrics = people.get("/metrics").text
    assert [len(batch) for batch in gated.asked] == [1, len(rest)]
    assert sorted(gated.asked[1]) == sorted(QUESTIONS[1:])
    assert 'muppet_batch_questions_count{kind="ask"} 2.0' in metrics
    assert 'muppet_batch_questions_sum{kind="ask"} 5.0' in metrics
    for question, content in zip(QUESTIONS, found, strict=True):
        alone = muppet.ask(question)
        assert content["question"] == question
        assert [one["text"] for one in content["answers"]] == [one.text for one in alone.answers]
        assert [one["probability"] for one in content["answers"]] == pytest.approx(
            [one.probability for one in alone.answers], rel=1e-3
        )


def test_questions_to_different_knowledge_bases_do_not_mix(muppet: Muppet) -> None:
    one, two = GatedMuppet(muppet), GatedMuppet(muppet)
    two.gate.set()
    with (
        running(make_app({"one": one, "two": two})) as address,
        httpx2.Client(base_url=address, timeout=60) as client,
        ThreadPoolExecutor(4) as pool,
    ):
        bodies = [
            {"question": QUESTIONS[n], "kb": kb} for n, kb in enumerate(["one", "two", "one"])
        ]
        answers = [pool.submit(client.post, "/api/ask", json=body) for body in bodies]
        until(lambda: one.asked)
        one.gate.set()
        assert [answer.result().status_code for answer in answers] == [200] * 3
    assert {q for batch in one.asked for q in batch} == {QUESTIONS[0], QUESTIONS[2]}
    assert two.asked == [[QUESTIONS[1]]]


def test_where_too_many_wait_the_next_is_told_when_to_come_back(gated: GatedMuppet) -> None:
    app = make_app({"demo": gated}, ServerSettings(waiting=2))
    with running(app) as address, asking(address) as people:
        under_way = [people.ask(QUESTIONS[0])]
        until(lambda: gated.asked)
        under_way += [people.ask(question) for question in QUESTIONS[1:3]]
        until(lambda: people.depth() == 2)
        refused = people.ask(QUESTIONS[3]).result()
        not_ready = people.get("/readyz")
        gated.gate.set()
        assert [one.result().status_code for one in under_way] == [200] * 3
        until(lambda: people.get("/readyz").status_code == 200)
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["error"].startswith("Too many questions wait already.")
    assert not_ready.status_code == 503


def test_a_question_that_takes_too_long_is_given_up_and_never_asked(gated: GatedMuppet) -> None:
    app = make_app({"demo": gated}, ServerSettings(seconds=0.5))
    with running(app) as address, asking(address) as people:
        late = [people.ask(QUESTIONS[0])]
        until(lambda: gated.asked)
        late.append(people.ask(QUESTIONS[1]))
        for one in late:
            assert one.result().status_code == 504
            assert one.result().json()["error"].startswith("There was no answer within 0.5 seconds")
        assert people.depth() == 0
        gated.gate.set()
    assert gated.asked == [[QUESTIONS[0]]]


def test_one_question_that_breaks_does_not_spoil_those_beside_it(gated: GatedMuppet) -> None:
    with running(make_app({"demo": gated})) as address, asking(address) as people:
        first = people.ask(QUESTIONS[0])
        until(lambda: gated.asked)
        others = [
            people.ask(question) for question in (QUESTIONS[1], "This breaks Fram", QUESTIONS[2])
        ]
        until(lambda: people.depth() == 3)
        gated.gate.set()
        codes = [one.result().status_code for one in [first, *others]]
        assert codes == [200, 200, 500, 200]
        assert "a bug of ours" in others[1].result().json()["error"]
        assert people.ask(QUESTIONS[3]).result().status_code == 200


def test_what_is_under_way_is_finished_before_the_server_ends(gated: GatedMuppet) -> None:
    with ThreadPoolExecutor(1) as pool:
        with running(make_app({"demo": gated})) as address:
            body = {"question": QUESTIONS[0]}
            answer = pool.submit(httpx2.post, f"{address}/api/ask", json=body, timeout=60)
            until(lambda: gated.asked)
            threading.Timer(0.5, gated.gate.set).start()
        assert gated.gate.is_set()  # the server had to wait for it
        assert answer.result().status_code == 200
