"""What programs ask, and are told."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from serving import HERE, QUESTIONS, untimed

from muppet.domain import Document
from muppet.errors import QuestionError
from muppet.knowledge.encode import encode_knowledge
from muppet.knowledge.write import index_documents, remove_from
from muppet.pipeline import Muppet, open_muppet
from muppet.server.app import make_app
from muppet.server.settings import ServerSettings
from muppet.text.questions import question_from
from muppet.wire import result_to_json
from random_model import write_model


def told(client: TestClient, path: str, body: Any, status: int) -> str:  # noqa: ANN401
    response = client.post(path, json=body)
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error"}
    return str(response.json()["error"])


def test_an_answer_is_what_the_command_line_prints(client: TestClient, muppet: Muppet) -> None:
    found = client.post("/api/ask", json={"question": f"  {QUESTIONS[0]}\n"}).json()
    expected = result_to_json(muppet.ask(QUESTIONS[0]))
    assert untimed(found) == untimed(json.loads(json.dumps(expected)))
    assert set(found["seconds"]) == {"retrieve", "read"}


def test_chains_come_ranked_and_only_as_many_as_wanted(client: TestClient) -> None:
    found = client.post("/api/search", json={"question": QUESTIONS[0], "top": 3}).json()
    assert len(found["chains"]) == len(found["scores"]) == 3
    assert found["scores"] == sorted(found["scores"], reverse=True)
    assert [len(chain) for chain in found["chains"]] == [2, 2, 2]


def test_a_paragraph_is_found_by_its_id(client: TestClient) -> None:
    found = client.get("/api/paragraph/Endurance (1912 ship)").json()
    assert found["title"] == "Endurance (1912 ship)"
    assert "".join(found["sentences"]) == found["text"]
    missing = client.get("/api/paragraph/no/such%23one")
    assert missing.status_code == 404
    assert missing.json() == {"error": "There is no paragraph 'no/such#one' in demo."}


def test_attention_is_a_share_of_each_word_in_its_order(client: TestClient) -> None:
    body = {"question": "Who designed the ship Fram?", "chain": ["Fram"]}
    found = client.post("/api/attention", json=body).json()
    assert " ".join(one["word"] for one in found["question"]) == "Who designed the ship Fram ?"
    assert found["chain"][0]["words"][0]["word"] == "Fram"
    for words in (found["question"], found["chain"][0]["words"]):
        assert sum(one["share"] for one in words) == pytest.approx(1, abs=1e-4)


def test_the_demo_corpus_has_questions_to_begin_with(client: TestClient) -> None:
    (one,) = client.get("/api/knowledge").json()["knowledge_bases"]
    assert (one["name"], one["documents"], one["paragraphs"]) == ("demo", 62, 62)
    assert QUESTIONS[0] in one["examples"]


def test_a_knowledge_base_may_have_questions_of_its_own(muppet: Muppet, kb: Path) -> None:
    (kb / "examples.txt").write_text("Who?\n\n  And where is Fram?  \n")
    try:
        with TestClient(make_app({"demo": muppet}), HERE) as client:
            (one,) = client.get("/api/knowledge").json()["knowledge_bases"]
    finally:
        (kb / "examples.txt").unlink()
    assert one["examples"] == ["Who?", "And where is Fram?"]


def test_several_knowledge_bases_are_asked_by_name(muppet: Muppet) -> None:
    with TestClient(make_app({"one": muppet, "two": muppet}), HERE) as client:
        body = {"question": QUESTIONS[1]}
        default, named = (client.post("/api/ask", json=body | more).json()
                          for more in ({}, {"kb": "two"}))  # fmt: skip
        assert untimed(default) == untimed(named)
        assert client.get("/api/paragraph/Fram?kb=two").status_code == 200
        words = told(client, "/api/ask", body | {"kb": "three"}, 404)
        assert words == "There is no knowledge base 'three' here, only one, two."
        assert client.get("/api/paragraph/Fram?kb=three").status_code == 404


@pytest.mark.parametrize("path", ["/api/ask", "/api/search", "/api/ask/stream"])
@pytest.mark.parametrize("question", ["", " \n", "?!", "what is the", "x" * 5001, "\ud800 ship"])
def test_what_is_no_question_is_refused_in_the_words_of_the_command_line(
    client: TestClient, path: str, question: str
) -> None:
    with pytest.raises(QuestionError) as expected:
        question_from(question)
    response = client.post(
        path,
        content=json.dumps({"question": question}),
        headers={"content-type": "application/json"},
    )
    assert response.status_code == 422
    assert response.json() == {"error": str(expected.value)}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"quesion": "Who?"}, "Unknown field quesion. Did you mean question?"),
        ({"question": "Who?", "xyz": 1}, "Unknown field xyz. Known: kb, question."),
        ({}, "The field question is missing."),
        ({"question": 7}, "question cannot be 7: input should be a valid string."),
        ([], "The body must be a JSON object"),
        ("Who?", "The body must be a JSON object"),
        ({"question": "Who?", "top": 0}, "Unknown field top. Known: kb, question."),
        ({"question": "Who?", "\ud800": 0}, ""),
    ],
)
def test_what_is_wrong_with_a_request_is_said(client: TestClient, body: Any, words: str) -> None:  # noqa: ANN401
    response = client.post(
        "/api/ask", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    assert response.status_code == 422
    assert response.json()["error"].startswith(words)


@pytest.mark.parametrize("body", [b'{"question":', b"\xff\xfe", b"[" * 50_000, b"9" * 6_000, b"\0"])
def test_what_is_not_json_is_refused(client: TestClient, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    response = client.post("/api/ask", content=body, headers=headers)
    assert response.status_code in (400, 422)
    assert set(response.json()) == {"error"}


def test_top_has_its_limits(client: TestClient) -> None:
    for top in (0, -1, 1001, 1.5, "3", None, True):
        assert "top" in told(client, "/api/search", {"question": "Fram?", "top": top}, 422)


def test_a_large_request_is_refused_whether_it_says_so_or_not(muppet: Muppet) -> None:
    settings = ServerSettings(body=1000)
    with TestClient(make_app({"demo": muppet}, settings), HERE) as client:
        said = client.post("/api/ask", content=b"x" * 1001)
        silent = client.post("/api/ask", content=iter([b"x" * 600, b"x" * 600]))
    for response in (said, silent):
        assert response.status_code == 413
        assert "larger than 1,000 bytes" in response.json()["error"]


def test_a_token_is_asked_for_where_there_is_something_to_read(muppet: Muppet) -> None:
    app = make_app({"demo": muppet}, ServerSettings(token="sésame"))
    with TestClient(app, HERE) as client:
        body = {"question": QUESTIONS[1]}
        for given in (None, "Bearer wrong", "Basic c8Op", "Bearer "):
            headers = {"authorization": given} if given else {}
            refused = client.post("/api/ask", json=body, headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert "token" in refused.json()["error"]
        for path in ("/api/knowledge", "/api/paragraph/Fram", "/metrics"):
            assert client.get(path).status_code == 401
        for path in ("/", "/app.js", "/healthz", "/readyz", "/openapi.json"):
            assert client.get(path).status_code == 200


def test_the_right_token_opens(muppet: Muppet) -> None:
    with TestClient(make_app({"demo": muppet}, ServerSettings(token="sesame")), HERE) as client:
        headers = {"authorization": "Bearer sesame"}
        assert client.get("/api/knowledge", headers=headers).status_code == 200
        response = client.post("/api/ask", json={"question": QUESTIONS[1]}, headers=headers)
        assert response.status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", ""])
def test_a_server_on_this_machine_answers_to_no_other_name(client: TestClient, host: str) -> None:
    response = client.get("/api/knowledge", headers={"host": host})
    assert response.status_code == 421
    assert "does not answer to the name" in response.json()["error"]


@pytest.mark.parametrize("host", ["localhost:8321", "127.0.0.1", "[::1]:8321", "LOCALHOST"])
def test_it_answers_to_its_own_names(client: TestClient, host: str) -> None:
    assert client.get("/healthz", headers={"host": host}).status_code == 200


def test_every_answer_tells_the_browser_to_be_careful(client: TestClient) -> None:
    for path in ("/", "/style.css", "/healthz", "/nothing", "/api/knowledge"):
        response = client.get(path, headers={"origin": "https://other.example"})
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_other_sites_may_not_ask(client: TestClient) -> None:
    asked = {"origin": "https://other.example", "access-control-request-method": "POST"}
    response = client.options("/api/ask", headers=asked)
    assert response.status_code == 405
    assert "access-control-allow-origin" not in response.headers


def test_what_is_not_there_is_said(client: TestClient) -> None:
    assert client.get("/nothing").json() == {"error": "GET /nothing: not found."}
    assert client.get("/api/ask").status_code == 405


def test_the_schema_has_examples_and_names_every_problem(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    asked = schema["components"]["schemas"]["AskBody"]
    assert asked["properties"]["question"]["examples"]
    assert asked["additionalProperties"] is False
    for path in ("/api/ask", "/api/search", "/api/ask/stream"):
        responses = schema["paths"][path]["post"]["responses"]
        assert {"200", "400", "401", "413", "422", "503", "504"} <= set(responses)
        assert schema["paths"][path]["post"]["description"]


def test_nothing_of_the_page_comes_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/app.js", "/draw.js", "/style.css", "/icon.svg"):
        text = client.get(path).text.replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"https?:|[\"'(]//", text), path
    assert client.get("/docs").status_code == 404


def test_what_is_indexed_while_the_server_runs_is_found(tmp_path: Path, reader: Path) -> None:
    kb = tmp_path / "kb"
    ferry = Document("Ferry", "here", 1, text="The ferry to Elsewhere leaves at seven.")
    tram = Document("Tram", "here", 2, text="The tram leaves at eight.")
    index_documents(kb, [ferry])
    encode_knowledge(kb, write_model(tmp_path / "encoder"))

    def documents_and_titles(client: TestClient) -> tuple[int, set[str]]:
        (known,) = client.get("/api/knowledge").json()["knowledge_bases"]
        body = {"question": "When does the tram leave?"}
        chains = client.post("/api/search", json=body).json()["chains"]
        return known["documents"], {hop["title"] for chain in chains for hop in chain}

    with (
        open_muppet(kb, reader=reader, threads=1) as opened,
        TestClient(make_app({"kb": opened}), HERE) as client,
    ):
        documents, titles = documents_and_titles(client)
        assert (documents, "Tram" in titles) == (1, False)
        index_documents(kb, [tram])
        encode_knowledge(kb)
        documents, titles = documents_and_titles(client)
        assert (documents, "Tram" in titles) == (2, True)
        remove_from(kb, [id_ for id_ in opened.knowledge.store.document_ids() if "Tram" in id_])
        documents, titles = documents_and_titles(client)
        assert (documents, "Tram" in titles) == (1, False)
