"""The web application: the addresses, who may use them, what is said when something is wrong."""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from muppet.errors import MuppetError, QuestionError
from muppet.pipeline import Muppet
from muppet.server.api import OUR_BUG, Api
from muppet.server.guard import Guard, error_response, json_response
from muppet.server.metrics import CONTENT_TYPE, Metrics
from muppet.server.schema import (
    BODIES,
    AttentionFound,
    ChainsFound,
    Health,
    KnowledgeBasesFound,
    ParagraphFound,
    Problem,
    ResultFound,
    problem_in_words,
)
from muppet.server.settings import ServerSettings
from muppet.server.worker import FullError, Worker

PAGE = {
    "/": ("index.html", "text/html"),
    "/app.js": ("app.js", "text/javascript"),
    "/draw.js": ("draw.js", "text/javascript"),
    "/style.css": ("style.css", "text/css"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_STREAM = (
    'event: hop\ndata: {"chain": [{"paragraph": "…", "title": "Ernest Shackleton"}]}\n\n'
    'event: reading\ndata: {"chain": []}\n\n'
    'event: answer\ndata: {"question": "…", "answers": […], …}\n\n'
)
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"description": "Not JSON"},
    401: {"description": "No token, or a wrong one"},
    404: {"description": "No such knowledge base, or paragraph"},
    408: {"description": "The request came too slowly"},
    413: {"description": "The request is too large"},
    421: {"description": "The server does not go by this name"},
    422: {"description": "A question or a field that cannot be used"},
    500: {"description": "Our bug"},
    503: {"description": "Too many questions wait; Retry-After says for how long"},
    504: {"description": "Not answered in time"},
}
BEARER = HTTPBearer(auto_error=False)
PROBLEMS = {status: {"model": Problem} | about for status, about in _PROBLEMS.items()}


def make_app(
    knowledge_bases: Mapping[str, Muppet], settings: ServerSettings | None = None
) -> FastAPI:
    """A server for these knowledge bases, by name; whoever opened them closes them after it."""
    settings, metrics = settings or ServerSettings(), Metrics()
    worker = Worker(knowledge_bases, settings.waiting, metrics.batch)
    metrics.watch_queue(lambda: worker.depth)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        worker.start()
        yield
        worker.close()

    app = FastAPI(
        title="Muppet",
        version=version("muppet"),
        description="Multi-hop question answering over one's own documents.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=PROBLEMS,
    )
    may = [Depends(_permission(settings.token))]
    _add_api(app, Api(knowledge_bases, worker, settings.seconds), may)
    _add_health(app, worker, metrics, may)
    _add_page(app)
    _add_errors(app)
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    return app


def _permission(token: str | None) -> Callable[[HTTPAuthorizationCredentials | None], None]:
    def permitted(
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],
    ) -> None:
        named = given.credentials.encode() if given else b""
        if token is not None and not secrets.compare_digest(named, token.encode()):
            raise HTTPException(
                401,
                "This server wants its token: send the header `Authorization: Bearer TOKEN`.",
                {"www-authenticate": "Bearer"},
            )

    return permitted


def _add_api(app: FastAPI, api: Api, may: list[Any]) -> None:
    def add(path: str, endpoint: Callable[..., Any], method: str, model: object) -> None:
        app.add_api_route(
            path, endpoint, methods=[method], dependencies=may, response_model=model,
            operation_id=endpoint.__name__,
        )  # fmt: skip

    add("/api/ask", api.ask, "POST", ResultFound)
    add("/api/search", api.search, "POST", ChainsFound)
    add("/api/attention", api.attention, "POST", AttentionFound)
    add("/api/paragraph/{id_:path}", api.paragraph, "GET", ParagraphFound)
    add("/api/knowledge", api.knowledge, "GET", KnowledgeBasesFound)
    app.add_api_route(
        "/api/ask/stream",
        api.stream,
        methods=["POST"],
        dependencies=may,
        response_model=None,
        response_class=Response,
        operation_id="stream",
        responses={200: {"content": {"text/event-stream": {"example": _STREAM}}}},
    )


def _add_health(app: FastAPI, worker: Worker, metrics: Metrics, may: list[Any]) -> None:
    @app.get("/healthz", response_model=Health)
    async def healthz() -> Response:
        """Whether the server runs."""
        return json_response({"status": "ok"})

    @app.get("/readyz", response_model=Health)
    async def readyz() -> Response:
        """Whether it would take a question now."""
        if worker.is_ready:
            return json_response({"status": "ready"})
        return error_response(503, "No question can be taken now.", retry=1)

    @app.get("/metrics", dependencies=may, response_class=Response,
             responses={200: {"content": {"text/plain": {}}}})  # fmt: skip
    def read_metrics() -> Response:
        """Requests, latencies, batches and the queue, for Prometheus."""
        return Response(metrics.text(), media_type=CONTENT_TYPE)


def _add_page(app: FastAPI) -> None:
    for path, (name, media_type) in PAGE.items():
        content = (files("muppet") / "web" / name).read_bytes()
        answer = _file(content, media_type)
        app.add_api_route(path, answer, include_in_schema=False, response_class=Response)


def _file(content: bytes, media_type: str) -> Callable[[], Response]:
    def answer() -> Response:
        return Response(content, headers={"cache-control": "no-cache"}, media_type=media_type)

    return answer


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return error_response(*problem_in_words(error.errors(), BODIES.get(request.url.path)))

    @app.exception_handler(MuppetError)
    async def wrong(_request: Request, error: MuppetError) -> Response:
        return error_response(422 if isinstance(error, QuestionError) else 503, str(error))

    @app.exception_handler(FullError)
    async def full(_request: Request, error: FullError) -> Response:
        message = f"Too many questions wait already. Ask again in {error.seconds} s."
        return error_response(503, message, retry=error.seconds)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        is_ours = error.detail != HTTPStatus(error.status_code).phrase
        path = request.url.path
        words = error.detail if is_ours else f"{request.method} {path}: {error.detail.lower()}."
        response = error_response(error.status_code, words)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def failed(_request: Request, _error: Exception) -> Response:
        return error_response(500, OUR_BUG)
