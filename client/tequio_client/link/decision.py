"""What the worker's manners came to: lend, wait or stop, why, until when, and what stopping costs.

A reason is a code with its few values; `words` has the English sentence of each. Programs never
send sentences to each other: each says them in its own language.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec


class State(StrEnum):
    """What the volunteer's computer does for the swarm now."""

    LENDING = "lending"
    FINISHING = "finishing"
    """Ends the round under way, then stops."""
    WAITING = "waiting"
    """Would lend, but may not now: goes on by itself."""
    PAUSED = "paused"
    """By hand; goes on when told."""
    SNOOZED = "snoozed"
    """By hand, and goes on by itself."""
    ATTENTION = "attention"
    """Cannot go on without a person."""


class Reason(StrEnum):
    """Why; the values that go with each are in brackets.

    Where one reason has several causes, the value `fact` says which: `words` has a sentence for
    each, and one for none.
    """

    LENDING = "lending"
    LENDING_WHILE_USED = "lending-while-used"  # (share)
    NO_CONSENT = "no-consent"
    BY_HAND = "by-hand"  # (fact: finished)
    SNOOZED = "snoozed"
    UNTIL_GAME_CLOSES = "until-game-closes"  # (program, or fact: any)
    JUDGING = "judging"
    """Scores models for a competition, as it offered."""
    FINISHING = "finishing"  # (round)
    TRAINER_BROKEN = "trainer-broken"  # (problem)
    KEY = "key"  # (problem)
    LEDGER_UNKNOWN = "ledger-unknown"  # (problem)
    LEDGER_AWAY = "ledger-away"  # (problem)
    NO_SWARM = "no-swarm"  # (problem)
    NO_RUN = "no-run"  # (fact: open, fits, ended; barred, with problem)
    QUARANTINED = "quarantined"  # (problem)
    NO_DEVICE = "no-device"  # (fact: small, with device and wanted, MiB)
    DISK = "disk"  # (free, wanted), GiB (fact: unknown; store, with used and most)
    BATTERY = "battery"
    BATTERY_UNKNOWN = "battery-unknown"  # (fact: saver, probe)
    SAVING_POWER = "saving-power"
    HOT = "hot"  # (device, degrees, limit)
    GAME = "game"  # (program)
    FULLSCREEN = "fullscreen"  # (program)
    FILM = "film"  # (program)
    EXCLUSIVE = "exclusive"  # (program)
    AFTER_GAME = "after-game"
    SCHEDULE = "schedule"  # (fact: never)
    QUOTA = "quota"  # (gb)
    METERED = "metered"  # (fact: unknown)
    IN_USE = "in-use"  # (minutes)
    CANNOT_TELL = "cannot-tell"  # (fact: session, idle, fullscreen, game, programs)
    """Nobody can say whether somebody is at the computer."""
    OTHERS_GPU = "others-gpu"  # (device, percent)
    OTHERS_CPU = "others-cpu"  # (percent) (fact: unknown)
    GPU_MEMORY = "gpu-memory"  # (device, free, wanted), MiB
    GPU_UNKNOWN = "gpu-unknown"  # (fact: load or memory, with device)
    SLOWED = "slowed"
    """Our own steps take longer than they did: somebody else needs the device."""


Value = str | int | float


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome, and the whole of it."""

    state: State
    reason: Reason
    values: Annotated[dict[str, Value], msgspec.Meta(max_length=4)] = {}
    until_ms: int | None = None
    """When that is over, if it is known: milliseconds since 1970."""
    share_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    """How much of the time the trainer may compute; 0: it must not run."""
    may_transfer: bool = True
    """Whether bulk transfers are allowed; statements always are."""

    @property
    def may_compute(self) -> bool:
        """Whether the trainer may run."""
        return self.share_percent > 0
