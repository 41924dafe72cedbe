"""What a round that is over made of one key: pure, from its documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.errors import PeerError
from tequio_shared.proof import Reason, Verdict

if TYPE_CHECKING:
    from tequio_shared.documents import Result, Roster, SlotResult
    from tequio_shared.ids import PeerKey

VERIFIED, REJECTED, PENDING = "verified", "rejected", "pending"
VOID, SILENT, NOT_SELECTED, NO_POINTS = "void", "silent", "not-selected", "no-points"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a round ended for one key; amounts in micro-points.

    `state` is `verified` for who earned something or had nothing to train, else `rejected`.
    `reason` says why training gave nothing: `void`, `silent`, `not-selected` or the reason of the
    rejection by its name in the protocol; `no-points` for who had nothing to train and earned
    nothing as a witness.
    """

    state: str
    reason: str = ""
    trained: int = 0
    witnessed: int = 0

    @property
    def micropoints(self) -> int:
        """All of it."""
        return self.trained + self.witnessed


VOIDED = Outcome(state=REJECTED, reason=VOID)


def closed(roster: Roster, result: Result, key: PeerKey) -> Outcome:
    """What a closed round made of a key; raises PeerError when it had no slot there."""
    slot = next((at for at, member in enumerate(roster.members) if member.key == key), None)
    if slot is None or len(result.slots) != len(roster.members):
        raise PeerError("the round's documents have no slot of this key")
    row = result.slots[slot]
    reason = _reason(row, had_windows=roster.members[slot].share > 0)
    earned = row.trainer_micropoints + row.witness_micropoints
    return Outcome(
        state=VERIFIED if earned or reason in {"", NO_POINTS} else REJECTED,
        reason=reason,
        trained=row.trainer_micropoints,
        witnessed=row.witness_micropoints,
    )


def _reason(row: SlotResult, *, had_windows: bool) -> str:
    match row.verdict:
        case Verdict.ACCEPTED:
            return ""
        case Verdict.NOT_SELECTED:
            return NOT_SELECTED
        case Verdict.SILENT if had_windows:
            return SILENT
        case Verdict.SILENT:
            return "" if row.witness_micropoints else NO_POINTS
    try:
        return Reason(row.reason).name.lower().replace("_", "-")
    except ValueError:  # of a later version
        return f"reason-{row.reason}"
