"""What a look at a ledger found: how bad it is, what it is, and what to do."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable


RESTORE = "restore the folder from a backup"
"""What to do about most damage."""


class Grade(enum.IntEnum):
    """How bad it is; the worst one is the exit status of `doctor`."""

    OK = 0
    WARNING = 1
    """It works, and will not for long, or not as meant."""
    ERROR = 2
    """Something is damaged, or the ledger cannot do its work."""


class Finding(Struct, frozen=True, kw_only=True):
    """One line of the report."""

    check: str
    """Which check found it."""
    grade: Grade
    found: str
    to_do: str = ""
    """Empty when all is well."""


def ok(check: str, found: str) -> Finding:
    """Say that all is well."""
    return Finding(check=check, grade=Grade.OK, found=found)


def warning(check: str, found: str, to_do: str) -> Finding:
    """Say what will not go well for long."""
    return Finding(check=check, grade=Grade.WARNING, found=found, to_do=to_do)


def error(check: str, found: str, to_do: str) -> Finding:
    """Say what is damaged or keeps the ledger from its work."""
    return Finding(check=check, grade=Grade.ERROR, found=found, to_do=to_do)


def worst(findings: Iterable[Finding]) -> Grade:
    """Give the worst grade."""
    return max((finding.grade for finding in findings), default=Grade.OK)


def line(finding: Finding) -> str:
    """Write a finding for people."""
    text = f"{finding.grade.name.lower():8}{finding.check}: {finding.found}"
    return f"{text}; {finding.to_do}" if finding.to_do else text
