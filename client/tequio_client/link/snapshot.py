"""Everything that a worker has to show, in one value. For eyes: nothing decides by it.

Points in micro-points, memory in MiB, times in milliseconds since 1970 unless the name says
otherwise, energy in joules.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from tequio_client.link.decision import Decision, Reason, State
from tequio_client.link.evaluating import Doing
from tequio_client.link.facts import Count, MachineFacts, Name
from tequio_client.link.preferences import Preferences
from tequio_client.link.status import Status
from tequio_client.link.wish import Wish

Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=4_096)]
UNDECIDED = Decision(state=State.PAUSED, reason=Reason.NO_CONSENT)


class TrainerShown(msgspec.Struct, frozen=True, kw_only=True):
    """The trainer process of one device."""

    device: Name = ""
    state: Annotated[str, msgspec.Meta(pattern="^(off|starting|idle|computing|stopping|broken)$")]
    """`off` says that the process is gone, and with it everything that it held of the device."""
    pid: Count = 0
    resident_mb: Count = 0
    step: Count = 0
    steps: Count = 0
    share_percent: Count = 0
    freed_ms: Count = 0
    """When the last process was gone, after it was told to stop."""
    freed_in_ms: Count = 0
    """How long that took."""


class JudgingShown(msgspec.Struct, frozen=True, kw_only=True):
    """The evaluator process, while it scores in a competition."""

    competition: Name
    doing: Doing
    entrant: Name = ""
    """Whose model it is at."""
    documents: Count = 0
    """Of that model, scored."""
    of_documents: Count = 0
    models: Count = 0
    """Scored, in all."""
    of_models: Count = 0
    pid: Count = 0
    resident_mb: Count = 0


class PointsShown(msgspec.Struct, frozen=True, kw_only=True):
    """Points of this key in the whole network, as its worker has read and checked them."""

    today: Count = 0
    """Verified since the last local midnight."""
    total: Count = 0
    """Verified: the log's proof was checked here."""
    pending: Count = 0
    """Rounds that were worked in and are not closed yet."""
    unverified: Count = 0
    """Points that the ledger says we have and whose entries were not checked yet."""
    rejected: Count = 0
    """Rounds that gave nothing, since the last local midnight."""
    rank: Count = 0
    """0: not known."""
    ranked: Count = 0
    """Keys that are ranked."""


class LineShown(msgspec.Struct, frozen=True, kw_only=True):
    """Traffic."""

    up_bytes_per_s: Count = 0
    down_bytes_per_s: Count = 0
    month_bytes: Count = 0
    month_cap_bytes: Count = 0
    """0: no cap."""


class DiskShown(msgspec.Struct, frozen=True, kw_only=True):
    """The store."""

    store_bytes: Count = 0
    cap_bytes: Count = 0
    free_bytes: Count = 0


class LedgerShown(msgspec.Struct, frozen=True, kw_only=True):
    """The connection with the ledger."""

    url: Text = ""
    is_reached: bool = False
    since_ms: Count = 0
    """Since when it is, or is not."""
    waiting: Count = 0
    """Statements of ours that it does not have yet."""
    problem: Text = ""
    size: Count = 0
    """Entries of the log that were read and checked."""


class RoundShown(msgspec.Struct, frozen=True, kw_only=True):
    """The round under way, as far as it is known: a run that nobody knows leaves this out."""

    run: Name = ""
    run_name: Name = ""
    number: Count = 0
    rounds: Count = 0
    """In all, by the run's rules; 0: not known."""
    role: Annotated[str, msgspec.Meta(pattern="^(trainer|witness|)$")] = ""
    """Ours in this round; empty: none yet."""
    opened_ms: Count = 0
    ends_ms: Count = 0
    """When its training is meant to end; 0: not known."""
    done_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    """Of our own work in it."""
    loss: float | None = None
    """Of our own training, nats per token."""
    bits_per_byte: float | None = None
    """Of the newest head, on the held-out set."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Something that wants a person."""

    kind: Annotated[
        str, msgspec.Meta(pattern="^(driver|key-backup|disk|update|ledger|device|standing|clock)$")
    ]
    text: Text = ""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One worker, now."""

    at_ms: Count = 0
    wish: Wish = Wish()
    preferences: Preferences = Preferences()
    decision: Decision = UNDECIDED
    status: Status | None = None
    """Our part in the swarm; None: not in it yet."""
    round: RoundShown | None = None
    """None: in no run yet."""
    trainers: Annotated[tuple[TrainerShown, ...], msgspec.Meta(max_length=33)] = ()
    judging: JudgingShown | None = None
    """None: nothing is scored now."""
    points: PointsShown = PointsShown()
    machine: MachineFacts = MachineFacts()
    line: LineShown = LineShown()
    disk: DiskShown = DiskShown()
    ledger: LedgerShown = LedgerShown()
    energy_today_j: float = 0.0
    energy_total_j: float = 0.0
    is_energy_measured: bool = False
    """Counted by the cards; otherwise reckoned from what they draw, or unknown (0)."""
    lending_since_ms: Count = 0
    """0: not lending."""
    activity: Count = 0
    """Number of the newest event; ask for what is new when it rises."""
    rounds: Count = 0
    """Changes of the points book; ask for points anew when it rises."""
    needs: Annotated[tuple[Need, ...], msgspec.Meta(max_length=16)] = ()
