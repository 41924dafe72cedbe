"""The line that says how far a build of data is, and how fast."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from tequio_client.dataset.build import BuildProgress
from tequio_client.dataset.census import Census

LINE_S = 60.0
"""Seconds between two lines where the output is not a terminal, such as a cluster's log file."""


class BuildSpeed:
    """Rows and tokens a second, since the first report: what was done before it does not count."""

    def __init__(self, jobs: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._jobs, self._clock = jobs, clock
        self._first: BuildProgress | None = None
        self._begun_s = 0.0

    def text(self, now: BuildProgress) -> str:
        """Give how far reading is, its speed, and that of each core."""
        if self._first is None:
            self._first, self._begun_s = now, self._clock()
        passed_s = max(self._clock() - self._begun_s, 1e-9)
        rows = (now.done - self._first.done) / passed_s
        tokens = (now.tokens - self._first.tokens) / passed_s
        return (
            f"{now.done:,} rows, {now.tokens:,} tokens ({rows:,.0f} rows/s, {tokens:,.0f} tokens/s,"
            f" {tokens / self._jobs:,.0f} tokens/s per core)"
        )


class ProgressLine:
    """Prints reports on the standard error: one line that changes, or a new one now and then."""

    def __init__(self, jobs: int) -> None:
        self._speed, self._printed_s = BuildSpeed(jobs), time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None
        self.read = ""
        """The last report on reading; empty if a build had read all rows before."""
        self.census: Census | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._bar.start()
            self._task = self._bar.add_task("", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def report(self, now: BuildProgress) -> None:
        """Print how far the build is, unless a line was printed a moment ago."""
        self.census = now.census or self.census
        if now.stage == "reading":
            text = self.read = self._speed.text(now)
        elif self._task is None and time.monotonic() - self._printed_s < LINE_S:
            return
        else:
            text = f"{now.done:,} of {now.total:,} documents"
        if self._task is not None:
            self._bar.update(
                self._task, description=f"{now.stage} {text}", total=now.total, completed=now.done
            )
        elif time.monotonic() - self._printed_s >= LINE_S:
            self._printed_s = time.monotonic()
            click.echo(f"{now.stage}: {text}", err=True)
