"""What a server counts, in the text that Prometheus reads."""

from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
SIZES = (1, 2, 4, 8, 16)


class Metrics:
    """The counters of one server: two in one process do not mix."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "muppet_requests", "Requests, by what they asked for and how they ended.",
            ["route", "status"], registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "muppet_request_seconds", "How long requests took.",
            ["route"], buckets=SECONDS, registry=self._registry,
        )  # fmt: skip
        self._batches = Histogram(
            "muppet_batch_questions", "Questions that were answered together.",
            ["kind"], buckets=SIZES, registry=self._registry,
        )  # fmt: skip
        self._depth = Gauge("muppet_queue_depth", "Questions that wait.", registry=self._registry)

    def watch_queue(self, depth: Callable[[], int]) -> None:
        self._depth.set_function(depth)

    def request(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, kind: str, questions: int) -> None:
        self._batches.labels(kind).observe(questions)

    def text(self) -> bytes:
        return generate_latest(self._registry)
