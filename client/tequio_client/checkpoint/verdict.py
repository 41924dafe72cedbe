"""What a check of a folder came to: an exit status, and the sentences that say why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from tequio_shared.errors import TequioError


class Outcome(IntEnum):
    """The exit status."""

    IS_THE_HEAD = 0
    IS_NOT = 2
    CANNOT_TELL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One outcome, with what was found, a line each."""

    outcome: Outcome
    lines: tuple[str, ...]


class NotTheHeadError(TequioError):
    """What was looked at is not what the log says."""


class CannotTellError(TequioError):
    """Something that the check needs is not to be had."""
