"""What a server allows: how much, how long, from whom."""

from dataclasses import dataclass

from muppet.bounds import require_at_least

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`waiting` questions may queue; a request may have `body` bytes and take `seconds`.

    With a `token`, everything but the page and its health must name it. With `hosts`, only
    requests to one of these names are answered: so no page of another site can reach a server on
    this machine by giving its own name our address.
    """

    waiting: int = 64
    body: int = 65_536
    seconds: float = 60.0
    token: str | None = None
    hosts: tuple[str, ...] = LOOPBACK

    def __post_init__(self) -> None:
        require_at_least("serve.waiting", self.waiting, 1)
        require_at_least("serve.body", self.body, 1)
        require_at_least("serve.seconds", self.seconds, 0)
