"""Progress of long work on screen: bars on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

LINE_INTERVAL_S = 5.0


class WorkProgress(Protocol):
    """Reports how far long work is."""

    def work(self, what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a piece of work of `total` steps; call the given function with the steps done."""


class NoProgress:
    """Reports nothing."""

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Do nothing."""
        del what, total
        yield lambda _: None


class ProgressBars:
    """Progress on a console; `with` starts and ends it.

    A console that is not a terminal, such as piped or logged output, gets a line
    every `line_every_s` seconds for work that is still going on, so that it never seems to hang.
    """

    def __init__(self, console: Console, line_every_s: float = LINE_INTERVAL_S) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._progress = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
        self._lines = None if console.is_terminal else ProgressLines(console, line_every_s)

    def __enter__(self) -> Self:
        if self._lines is None:
            self._progress.start()
        else:
            self._lines.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lines is None:
            self._progress.stop()
        else:
            self._lines.stop()

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Report one piece of work until the end of `with`."""
        if self._lines is None:
            task = self._progress.add_task(what, total=total)
            yield partial(self._progress.advance, task)
        else:
            with self._lines.work(what, total) as advance:
                yield advance


class ProgressLines:
    """Prints how far the work is, from a thread of its own: one step may take minutes."""

    def __init__(self, console: Console, every_s: float) -> None:
        self._console = console
        self._every_s = every_s
        self._works: list[_Work] = []  # the innermost last; appended and removed by `work` alone
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress lines", daemon=True)

    def start(self) -> None:
        """Begin to print."""
        self._thread.start()

    def stop(self) -> None:
        """Print no more."""
        self._ended.set()
        self._thread.join()

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Report one piece of work until the end of `with`."""
        one = _Work(what, total)
        self._works.append(one)
        try:
            yield one.advance
        finally:
            self._works.remove(one)

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            for one in tuple(self._works):
                self._console.print(one.line(), markup=False, highlight=False, soft_wrap=True)


class _Work:
    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._began_s = time.monotonic()

    def advance(self, steps: int) -> None:
        self._done += steps

    def line(self) -> str:
        percent = 100 * self._done // self._total if self._total else 100
        spent_s = time.monotonic() - self._began_s
        return f"{self._what}: {self._done:,} of {self._total:,} ({percent}%), {spent_s:.0f} s"
