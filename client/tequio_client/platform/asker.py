"""Asking something that may never answer, from a thread of its own.

A driver call that hangs cannot be ended, only left alone. Each source has one thread: while it
hangs, its own answer becomes unknown after `timeout_s` and nothing else is held up. There is never
more than one call under way, so a source that hangs for good costs one thread and no more.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from tequio_shared.errors import TequioError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
NOT_ASKED = "has not been asked yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """What a source said last; no value means that nobody knows, and `error` says why."""

    value: T | None = None
    error: str = ""
    took_ms: int = 0

    @property
    def is_ok(self) -> bool:
        """Whether there is a value."""
        return self.value is not None


class Asker(Generic[T]):
    """One source and its thread."""

    def __init__(
        self,
        source: Callable[[], T | None],
        *,
        timeout_s: float,
        on_answer: Callable[[], None] | None = None,
        on_end: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Both are called from the thread: `on_answer` never after `close`, `on_end` as its last.

        What the source holds open is to be closed by `on_end`, where nobody uses it any more.
        """
        self._source, self._timeout_s = source, timeout_s
        self._on_answer, self._on_end = on_answer or _nothing, on_end or _nothing
        self._clock = clock
        self._lock = threading.Condition()
        self._last: Answer[T] = Answer(error=NOT_ASKED)
        self._asked_at: float | None = None  # when the call under way began
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Ask again, unless the last call is still under way."""
        with self._lock:
            if self._asked_at is not None or self._is_closed:
                return
            self._asked_at = self._clock()
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def latest(self) -> Answer[T]:
        """The last answer, or none once a call has taken longer than it may."""
        with self._lock:
            if self._asked_at is None:
                return self._last
            waited_s = self._clock() - self._asked_at
            if waited_s <= self._timeout_s:
                return self._last
            return Answer(error=f"no answer for {waited_s:.1f} s", took_ms=round(waited_s * 1e3))

    def wait(self, timeout_s: float) -> None:
        """Return when no call is under way, or after so long."""
        with self._lock:
            self._lock.wait_for(lambda: self._asked_at is None, timeout_s)

    def close(self) -> None:
        """Ask nothing more; a call that hangs is left to itself.

        From now on the thread holds nothing of whoever wanted the answers: it must not be the one
        that lets go of them last, as they may belong to another thread.
        """
        with self._lock:
            self._is_closed = True
            self._on_answer = _nothing
            self._lock.notify_all()

    def _serve(self) -> None:
        while self._wait_asked():
            begun = self._clock()
            value, error = _outcome(self._source)
            answer = Answer(
                value=value, error=error, took_ms=round((self._clock() - begun) * 1_000)
            )
            with self._lock:
                self._last, self._asked_at = answer, None
                self._lock.notify_all()
                self._on_answer()
        self._on_end()

    def _wait_asked(self) -> bool:
        with self._lock:
            self._lock.wait_for(lambda: self._asked_at is not None or self._is_closed)
            return not self._is_closed


def _nothing() -> None:
    pass


def _outcome(source: Callable[[], T | None]) -> tuple[T | None, str]:
    try:
        value = source()
    except Exception as err:  # noqa: BLE001 - drivers raise what they like; it is shown as health
        said = str(err) if isinstance(err, TequioError) else f"{type(err).__name__}: {err}"
        return None, said[:512]
    return value, "" if value is not None else "does not know"
