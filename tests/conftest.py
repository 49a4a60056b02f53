"""Tests never reach the network, and hypothesis behaves the same on every machine."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from random_model import Demo

settings.register_profile(
    "muppet", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("muppet")

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(Path(__file__).parent))  # for `tiny_bert` and the like


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """torch's threads get in each other's way where tests run side by side."""
    torch = sys.modules.get("torch")  # only where a test has imported it: that takes seconds
    before = torch.get_num_threads() if torch else 0
    if torch:
        torch.set_num_threads(1)
    yield
    if torch:
        torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections leave this machine only in a user's hands."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:  # noqa: ANN401 (any address family)
        host = address[0] if isinstance(address, tuple) else "localhost"
        if host not in ("localhost", "127.0.0.1", "::1"):
            pytest.fail(f"A test tried to reach {address}.")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> "Demo":
    """Made once for all tests that only ask: they must leave it as it is."""
    from random_model import write_demo  # imports torch

    return write_demo(tmp_path_factory.mktemp("demo"))
