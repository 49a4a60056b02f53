"""What surrounds every request: limits, the host's name, security headers, counting."""

import asyncio
import json
import time

from fastapi import Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from muppet.server.metrics import Metrics
from muppet.server.settings import ServerSettings
from muppet.wire import Json, error_to_json

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_HEADER_BYTES = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_NOT_STORED = (b"cache-control", b"no-store")


def json_response(content: Json, status: int = 200, retry: int | None = None) -> Response:
    """As `--json` prints it: plain ASCII, so that any string there is can be said."""
    headers = {} if retry is None else {"retry-after": str(retry)}
    return Response(json.dumps(content), status, headers, "application/json")


def error_response(status: int, message: str, retry: int | None = None) -> Response:
    return json_response(error_to_json(message), status, retry)


class Guard:
    """An ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def guarded_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_ours(message["headers"])
            await send(message)

        try:
            if refusal := self._refusal(scope):
                await refusal(scope, receive, guarded_send)
                return
            await self._app(scope, self._limited(receive), guarded_send)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._metrics.request(route, status, time.perf_counter() - began)

    def _refusal(self, scope: Scope) -> Response | None:
        """What can be refused before anything of the body has come."""
        headers = dict(scope["headers"])
        name = _hostname(headers.get(b"host", b"").decode("latin-1"))
        if self._settings.hosts and name not in self._settings.hosts:
            return error_response(
                421,
                f"This server does not answer to the name {name!r}, only to "
                f"{', '.join(self._settings.hosts)}. Name others with `muppet serve --host`.",
            )
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self._settings.body:
            return error_response(413, self._too_large())
        return None

    def _limited(self, receive: Receive) -> Receive:
        """The body's parts, as long as there are not too many and they do not come too late."""
        left, is_whole = self._settings.body, False
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.seconds

        async def limited() -> Message:
            nonlocal left, is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as error:
                raise HTTPException(408, "The request did not come in time.") from error
            left -= len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if left < 0:
                raise HTTPException(413, self._too_large())
            return message

        return limited

    def _too_large(self) -> str:
        return f"The request is larger than {self._settings.body:,} bytes, which is all we take."


def _with_ours(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    is_told = any(name == b"cache-control" for name, _ in headers)
    return [*headers, *_HEADER_BYTES, *([] if is_told else [_NOT_STORED])]


def _hostname(host: str) -> str:
    """Of a Host header, without its port; IPv6 without its brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if ":" in host else host.lower()
