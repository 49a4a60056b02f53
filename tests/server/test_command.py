"""`muppet serve`: what it refuses, and a whole life of a server process."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from serving import QUESTIONS

from muppet.cli.main import run

MUPPET = str(Path(sys.executable).with_name("muppet"))


def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> str:
    monkeypatch.setattr(sys, "argv", ["muppet", "serve", *map(str, arguments)])
    with pytest.raises(SystemExit) as leaving:
        run()
    assert leaving.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("muppet: ")
    assert err.count("\n") == 1
    return err


def test_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kb: Path
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "muppet.server.run", raising=False)
    assert "pip install --editable '.[serve]'" in refused(monkeypatch, capsys, kb)


def test_two_knowledge_bases_need_two_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kb: Path
) -> None:
    words = refused(monkeypatch, capsys, kb, f"demo={kb}")
    assert "Two knowledge bases would be called demo" in words


def test_a_taken_port_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kb: Path, reader: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = refused(monkeypatch, capsys, kb, "--reader", reader, "--port", port)
    assert f"Cannot listen at 127.0.0.1, port {port}" in words


def test_what_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert str(tmp_path / "none") in refused(monkeypatch, capsys, tmp_path / "none")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_server_starts_answers_and_ends_when_told(
    kb: Path, reader: Path, sign: signal.Signals
) -> None:
    command = [MUPPET, "serve", f"a={kb}", f"b={kb}", "--reader", reader, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        line = process.stdout.readline().decode()
        found = re.match(r"Muppet answers at (http://127\.0\.0\.1:\d+) ", line)
        assert found, process.stderr.read().decode()
        body = {"question": QUESTIONS[0], "kb": "b"}
        response = httpx2.post(f"{found[1]}/api/ask", json=body, timeout=60)
        assert response.status_code == 200
        process.send_signal(sign)
        assert process.wait(30) == 0
        assert process.stderr.read() == b""
