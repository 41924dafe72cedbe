"""Findings of a check of a log, and its progress on screen.

A finding names its place, what was expected and what was there.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tequio_shared.errors import UserFacingError
from tequio_shared.log.notes import Checkpoint
from tequio_shared.round.points import points
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from rich.console import Console


class AuditGrade(Enum):
    """Weight of a finding; the value is the exit status that it leads to."""

    MISSING = 3
    """Something was unavailable, so something could not be checked."""
    MISMATCH = 2
    """Something is not what it must be."""
    SUSPECTED = 4
    """Somebody claims, under a signature, that the ledger did wrong; the log cannot tell."""


EXIT_SOUND = 0
LINE_INTERVAL_S = 5.0
STYLES = {
    AuditGrade.MISMATCH: "bold red",
    AuditGrade.MISSING: "yellow",
    AuditGrade.SUSPECTED: "yellow",
}
"""Styles of findings on a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlace:
    """Place in the log: keys and run ids in base64url; None where a field does not apply."""

    entry: int | None = None
    run: str | None = None
    round: int | None = None
    peer: str | None = None


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One finding. `what` is a short name of what was checked."""

    grade: AuditGrade
    what: str
    place: LogPlace
    detail: str = ""
    expected: str | None = None
    found: str | None = None

    def line(self) -> str:
        place = {name: value for name, value in asdict(self.place).items() if value is not None}
        where = ", ".join(f"{name} {value}" for name, value in place.items())
        text = f"{self.grade.name.lower()}: {self.what}" + (f" at {where}" if where else "")
        if self.detail:
            text += f": {self.detail}"
        if self.expected is not None or self.found is not None:
            text += f"; expected {self.expected}, found {self.found}"
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTotals:
    """Audits by repeated training (docs/auditing.md) in a log, and its points in GFLOP."""

    repeated: int
    """Contributions whose training an auditor repeated, or that it was not given."""
    reports: int
    declined: int
    not_done: int
    """Contributions that their auditors convicted."""
    withheld: int
    contradicted: int
    """Audits that the other auditors contradicted."""
    vested: int
    unvested: int
    forfeited: int

    def lines(self) -> tuple[str, str]:
        """Write the totals in two lines."""
        return (
            f"Audits by repeated training: {plural(self.repeated, 'contribution')} in "
            f"{plural(self.reports, 'report')}, and {plural(self.declined, 'audit')} declined. "
            f"Not done: {self.not_done:,}; withheld: {self.withheld:,}; audits contradicted by "
            f"the others: {self.contradicted:,}.",
            f"Points: {points(self.vested)} vested, {points(self.unvested)} still vesting, "
            f"{points(self.forfeited)} forfeited.",
        )


@dataclass(slots=True)
class LogReport:
    """All findings, and how much was checked; every check writes to it."""

    findings: list[AuditFinding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    """Remarks on what the auditor brought; they say nothing about the ledger."""
    totals: AuditTotals | None = None
    """None: the log was not read."""
    checkpoint: Checkpoint | None = None
    """The last one that an audit read to, and whose root the entries make."""

    def mismatch(
        self,
        what: str,
        place: LogPlace,
        detail: str = "",
        *,
        expected: object = None,
        found: object = None,
    ) -> None:
        pair = (None if one is None else str(one) for one in (expected, found))
        self.findings.append(AuditFinding(AuditGrade.MISMATCH, what, place, detail, *pair))

    def missing(self, what: str, place: LogPlace, detail: str = "") -> None:
        self.findings.append(AuditFinding(AuditGrade.MISSING, what, place, detail))

    def suspect(self, what: str, place: LogPlace, detail: str) -> None:
        self.findings.append(AuditFinding(AuditGrade.SUSPECTED, what, place, detail))

    def compare(
        self, what: str, place: LogPlace, detail: str, pairs: Mapping[str, tuple[object, object]]
    ) -> bool:
        """Record a mismatch for each pair of expected and found that differs; True for none."""
        wrong = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        for name, (expected, found) in wrong.items():
            self.mismatch(f"{what}, {name}", place, detail, expected=expected, found=found)
        return not wrong

    @property
    def exit_code(self) -> int:
        """Exit status: 0, or the least value of a finding's grade."""
        return min((finding.grade.value for finding in self.findings), default=EXIT_SOUND)

    def check(self, what: str, advice: str) -> None:
        """Raise UserFacingError for the worst finding, if there is one.

        `what` was read, and `advice` says what to do when it does not hold.
        """
        if not self.findings:
            return
        worst = min(self.findings, key=lambda one: one.grade.value)
        if worst.grade is AuditGrade.MISSING:
            raise UserFacingError(
                f"{what} could not be read completely ({worst.line()}): run this again"
            )
        raise UserFacingError(f"{what} cannot be trusted ({worst.line()}): {advice}")

    def verdict(self, what: str) -> str:
        """Sum up the check of `what` in a sentence."""
        if self.exit_code == AuditGrade.MISMATCH.value:
            return f"This {what} does not pass: see the findings above."
        if self.exit_code == AuditGrade.MISSING.value:
            return "No error was found, but some parts were unavailable and unchecked."
        if self.exit_code == AuditGrade.SUSPECTED.value:
            return "Everything that can be checked holds; the claims above cannot be."
        return "Everything holds."

    def print_findings(self, console: Console) -> None:
        for one in self.findings:
            style = STYLES[one.grade]
            console.print(one.line(), style=style, markup=False, highlight=False, soft_wrap=True)
        for remark in self.remarks:
            console.print(remark, markup=False, highlight=False, soft_wrap=True)

    def encode(self) -> bytes:
        rows = [
            {"grade": one.grade.name.lower(), "what": one.what}
            | asdict(one.place)
            | {"detail": one.detail, "expected": one.expected, "found": one.found}
            for one in self.findings
        ]
        whole: dict[str, object] = {"exit": self.exit_code, "checked": dict(self.checked)}
        if self.totals is not None:
            whole["audits"] = asdict(self.totals)
        whole |= {"findings": rows, "remarks": self.remarks}
        return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


class WorkProgress(Protocol):
    def work(self, what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a piece of work of `total` steps; call the given function with the steps done."""


class NoProgress:
    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
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
        self._line_every_s = line_every_s
        self._ended = threading.Event()
        # A thread of its own: one step may take minutes.
        thread = threading.Thread(target=self._print_lines, name="progress lines", daemon=True)
        self._lines = None if console.is_terminal else thread

    def __enter__(self) -> Self:
        (self._lines or self._progress).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._lines is None:
            self._progress.stop()
        else:
            self._lines.join()

    @contextmanager
    def work(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Report one piece of work until the end of `with`."""
        task = self._progress.add_task(what, total=total)
        if self._lines is not None:
            self._print_line(f"{what}...")
        try:
            yield partial(self._progress.advance, task)
        finally:
            if self._lines is not None:
                self._progress.remove_task(task)

    def _print_lines(self) -> None:
        while not self._ended.wait(self._line_every_s):
            for task in self._progress.tasks:
                steps = f"{task.completed:,.0f} of {task.total or 0:,.0f}"
                percent = int(100 * task.completed // task.total) if task.total else 100
                line = f"{task.description}: {steps} ({percent}%), {task.elapsed or 0:.0f} s"
                self._print_line(line)

    def _print_line(self, line: str) -> None:
        self._progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
