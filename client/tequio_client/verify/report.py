"""Findings of a check of a log: each names its place, what was expected and what was there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator


class AuditGrade(Enum):
    """How a finding weighs; the value is the exit status that it leads to."""

    MISSING = 3
    """Something was unavailable, so something could not be checked."""
    MISMATCH = 2
    """Something is not what it must be."""


EXIT_SOUND = 0
STYLES = {AuditGrade.MISMATCH: "bold red", AuditGrade.MISSING: "yellow"}
"""How findings are printed on a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlace:
    """Where in the log: keys and run ids in base64url; None where a field does not apply."""

    entry: int | None = None
    run: str | None = None
    round: int | None = None
    peer: str | None = None

    def parts(self) -> Iterator[str]:
        """The known fields, each as name and value."""
        for name in ("entry", "run", "round", "peer"):
            value = getattr(self, name)
            if value is not None:
                yield f"{name} {value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """One finding. `what` is a short name of what was checked."""

    grade: AuditGrade
    what: str
    place: LogPlace = field(default_factory=LogPlace)
    detail: str = ""
    expected: str | None = None
    found: str | None = None

    def line(self) -> str:
        """The finding in one line."""
        where = ", ".join(self.place.parts())
        text = f"{self.grade.name.lower()}: {self.what}" + (f" at {where}" if where else "")
        if self.detail:
            text += f": {self.detail}"
        if self.expected is not None or self.found is not None:
            text += f"; expected {self.expected}, found {self.found}"
        return text


@dataclass(slots=True)
class AuditReport:
    """All findings, and how much was checked; every check writes to it."""

    findings: list[AuditFinding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    def mismatch(
        self,
        what: str,
        place: LogPlace,
        detail: str = "",
        *,
        expected: object = None,
        found: object = None,
    ) -> None:
        """Record that something is not what it must be."""
        self._add(AuditGrade.MISMATCH, what, place, detail, (expected, found))

    def missing(self, what: str, place: LogPlace, detail: str = "") -> None:
        """Record that something was unavailable."""
        self._add(AuditGrade.MISSING, what, place, detail, (None, None))

    @property
    def exit_code(self) -> int:
        """Exit status: 0 all is sound, 2 something does not match, 3 something is missing."""
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

    def encode(self) -> bytes:
        """The report as JSON."""
        rows = [
            {
                "grade": one.grade.name.lower(),
                "what": one.what,
                "entry": one.place.entry,
                "run": one.place.run,
                "round": one.place.round,
                "peer": one.place.peer,
                "detail": one.detail,
                "expected": one.expected,
                "found": one.found,
            }
            for one in self.findings
        ]
        whole = {"exit": self.exit_code, "checked": dict(self.checked), "findings": rows}
        return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"

    def _add(
        self,
        grade: AuditGrade,
        what: str,
        place: LogPlace,
        detail: str,
        pair: tuple[object, object],
    ) -> None:
        expected, found = (None if one is None else str(one) for one in pair)
        finding = AuditFinding(
            grade=grade, what=what, place=place, detail=detail, expected=expected, found=found
        )
        self.findings.append(finding)
