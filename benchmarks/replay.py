"""A network's forward passes, recorded while it works and run again by themselves."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Recorded:
    """A session that remembers what it was asked to run."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401
        self.session = session
        self.runs: list[tuple[Sequence[str] | None, dict[str, Any]]] = []
        self._ends: list[int] = []

    def run(self, names: Sequence[str] | None, fields: dict[str, Any]) -> list[Any]:
        self.runs.append((names, fields))
        found: list[Any] = self.session.run(names, fields)
        return found

    def mark(self) -> None:
        """What is run from here on belongs to another question."""
        self._ends.append(len(self.runs))

    def again(self, threads: int) -> float:
        """Seconds that all runs take by themselves, so many of one question at once."""
        ends = [*self._ends, len(self.runs)]
        with ThreadPoolExecutor(threads) as pool:
            began = time.perf_counter()
            for first, end in zip([0, *ends], ends, strict=False):
                list(pool.map(lambda run: self.session.run(*run), self.runs[first:end]))
            return time.perf_counter() - began


class Stopwatch:
    """How long a function's calls take in all, and how many items they were given first."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0
        self.items = 0

    def __call__(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        self.items += len(given[0])
        began = time.perf_counter()
        try:
            return self._function(*given, **named)
        finally:
            self.seconds += time.perf_counter() - began
