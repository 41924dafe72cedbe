"""Polling of sources that may never answer, each from a thread of its own.

A driver call that hangs cannot be ended, only left alone. While it hangs, the answer of its own
source becomes unknown after `timeout_s`, and nothing else is delayed. At most one call is running
at any time, so a source that hangs permanently costs one thread and no more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tequio_shared.errors import TequioError

T = TypeVar("T")
NOT_POLLED = "has not been asked yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAnswer(Generic[T]):
    """Latest answer of a source; without a value it is unknown, and `error` holds the reason."""

    value: T | None = None
    error: str = ""
    took_ms: int = 0

    @property
    def is_ok(self) -> bool:
        return self.value is not None


class SourcePoller(Generic[T]):
    def __init__(
        self,
        source: Callable[[], T | None],
        *,
        timeout_s: float,
        on_answer: Callable[[], None] | None = None,
        on_end: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Both callbacks run in the thread: `on_answer` never after `close`, `on_end` last of all.

        `on_end` closes what the source holds open, since no other thread uses it any more.
        """
        self._source, self._timeout_s = source, timeout_s
        self._on_answer, self._on_end = on_answer or _nothing, on_end or _nothing
        self._clock = clock
        self._lock = threading.Condition()
        self._last: SourceAnswer[T] = SourceAnswer(error=NOT_POLLED)
        self._asked_at: float | None = None  # start of the running call
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def poll(self) -> None:
        """Ask again, unless the last call is still running."""
        with self._lock:
            if self._asked_at is not None or self._is_closed:
                return
            self._asked_at = self._clock()
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def latest(self) -> SourceAnswer[T]:
        """Read the last answer; unknown once the running call has exceeded its limit."""
        with self._lock:
            if self._asked_at is None:
                return self._last
            waited_s = self._clock() - self._asked_at
            if waited_s <= self._timeout_s:
                return self._last
            return SourceAnswer(
                error=f"no answer for {waited_s:.1f} s", took_ms=round(waited_s * 1e3)
            )

    def wait(self, timeout_s: float) -> None:
        """Return when no call is running, or after `timeout_s`."""
        with self._lock:
            self._lock.wait_for(lambda: self._asked_at is None, timeout_s)

    def close(self) -> None:
        """Stop asking; a call that hangs is left alone.

        The thread drops its references to the callbacks here: it must not be the last holder, whose
        release would run their destructors in the wrong thread.
        """
        with self._lock:
            self._is_closed = True
            self._on_answer = _nothing
            self._lock.notify_all()

    def _serve(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._asked_at is not None or self._is_closed)
                if self._is_closed:
                    break
            begun = self._clock()
            value, error = _outcome(self._source)
            answer = SourceAnswer(
                value=value, error=error, took_ms=round((self._clock() - begun) * 1_000)
            )
            with self._lock:
                self._last, self._asked_at = answer, None
                self._lock.notify_all()
                self._on_answer()
        self._on_end()


def _nothing() -> None:
    pass


def _outcome(source: Callable[[], T | None]) -> tuple[T | None, str]:
    try:
        value = source()
    except Exception as err:  # noqa: BLE001 - drivers raise what they like; it is shown as health
        message = str(err) if isinstance(err, TequioError) else f"{type(err).__name__}: {err}"
        return None, message[:512]
    return value, "" if value is not None else "does not know"
