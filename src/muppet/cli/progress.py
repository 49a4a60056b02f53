"""Long work shows rate and time left on stderr: live on a terminal, else a line now and then."""

import sys
import time

QUIET = 5.0
"""Seconds between lines where nobody watches a terminal."""


class ProgressLine:
    """A `Progress` for one command; `close` ends its line."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._stage = ""
        self._began = self._shown = 0.0
        self._width = self._first = self._done = 0
        self._ended = False

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        now = time.monotonic()
        again = stage != self._stage or done < self._done  # a stage may be gone through twice
        self._done = done
        if again:
            self.close()
            self._stage, self._began, self._shown = stage, now, now
            self._first = done  # what was done before does not count for the rate
            self._ended = False
            if not self._live:
                return
        is_end = total is not None and done >= total and (self._live or now - self._began > QUIET)
        is_last = is_end and not self._ended  # a file's bytes are all read before its last rows are
        if now - self._shown < (0.1 if self._live else QUIET) and not is_last:
            return
        self._shown, self._ended = now, is_end
        rate = (done - self._first) / (now - self._began) if now > self._began else 0.0
        self._write(f"{stage}: {_describe(done, total, rate)}{', ' + note if note else ''}")

    def close(self) -> None:
        """End the live line, so that what follows begins on its own."""
        if self._live and self._width:
            sys.stderr.write("\n")
            self._width = 0

    def _write(self, line: str) -> None:
        if self._live:
            sys.stderr.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()


def _describe(done: int, total: int | None, rate: float) -> str:
    parts = [f"{done:,}" if total is None else f"{done:,} of {max(total, done):,}"]
    if rate:
        parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s")
        if total is not None and total > done:
            parts.append(f"{_clock((total - done) / rate)} left")
    return ", ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
