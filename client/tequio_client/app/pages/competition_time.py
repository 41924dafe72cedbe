"""How far a competition is at a time: its stage, what comes next, and when. Pure.

The ledger's phase decides; within one the dates of the rules say what is going on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_client.link.competitions import CompetitionRow


class Stage(StrEnum):
    """What goes on."""

    ANNOUNCED = "announced"
    OPEN = "open"
    OVER = "over"
    """The deadline is over and the ledger has not said so yet."""
    CLOSED = "closed"
    DRAWN = "drawn"
    SCORED = "scored"
    """The texts are open, and evaluators score."""
    CHALLENGED = "challenged"
    """Scores may be challenged."""
    DECIDED = "decided"
    ENDED = "ended"
    """There will be no ranking, and nothing more to come."""


OVER = (Stage.DECIDED, Stage.ENDED)
TO_JOIN = (Stage.ANNOUNCED, Stage.OPEN)
"""While it helps to join a side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A competition at one time."""

    stage: Stage
    next_ms: int | None
    """When the stage ends by the rules; None: nobody knows, or that time is over."""
    done: float
    """How far along its dates: -1 before the first, 0 at it, 1 at the second, and so on."""


def dates(row: CompetitionRow) -> tuple[int, ...]:
    """Its dates in their order."""
    return row.opens_ms, row.deadline_ms, row.draw_ms, row.scored_ms, row.result_ms


def moment(row: CompetitionRow, now_ms: int) -> Moment:
    """How far it is."""
    stage = _stage(row, now_ms)
    ends = {
        Stage.ANNOUNCED: row.opens_ms,
        Stage.OPEN: row.deadline_ms,
        Stage.CLOSED: row.draw_ms,
        Stage.DRAWN: row.scored_ms,
        Stage.SCORED: row.scored_ms,
        Stage.CHALLENGED: row.result_ms,
    }
    end_ms = ends.get(stage)
    is_ahead = end_ms is not None and end_ms > now_ms
    return Moment(stage=stage, next_ms=end_ms if is_ahead else None, done=_done(row, stage, now_ms))


def _stage(row: CompetitionRow, now_ms: int) -> Stage:
    if row.is_void:
        return Stage.ENDED
    if row.phase == "open":
        began = Stage.OPEN if now_ms < row.deadline_ms else Stage.OVER
        return began if now_ms >= row.opens_ms else Stage.ANNOUNCED
    if row.phase == "revealed":
        return Stage.SCORED if now_ms < row.scored_ms else Stage.CHALLENGED
    return Stage(row.phase)


def _done(row: CompetitionRow, stage: Stage, now_ms: int) -> float:
    """By the clock, but never beyond what the ledger has said."""
    ends = {Stage.OPEN: 1, Stage.OVER: 1, Stage.CLOSED: 2, Stage.DRAWN: 3}
    if stage is Stage.ENDED and row.phase == "drawn":
        ends[stage] = 3
    most, at = ends.get(stage, 4), dates(row)
    if stage is Stage.DECIDED:
        return float(most)
    if stage is Stage.ANNOUNCED:
        return -1.0
    passed = sum(now_ms >= one for one in at) - 1
    if passed < 0:
        return 0.0
    if passed >= most:
        return float(most)
    part = (now_ms - at[passed]) / max(at[passed + 1] - at[passed], 1)
    return passed + part
