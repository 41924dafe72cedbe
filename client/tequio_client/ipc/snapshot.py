"""Everything that a worker has to show, in one value. For eyes: nothing decides by it.

Points in micro-points, memory in MiB, times in milliseconds since 1970 unless the name says
otherwise, energy in joules.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec

from tequio_client.ipc import codec
from tequio_client.ipc.evaluator import Doing
from tequio_client.ipc.facts import Count, MachineFacts, Name
from tequio_client.ipc.preferences import Preferences

# --- What the worker's manners came to: lend, wait or stop, why, until when, and what stopping
# costs.
#
# A reason is a code with its few values; `words` has the English sentence of each. Programs never
# send sentences to each other: each says them in its own language.


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


# --- What the volunteer wants to be true now, by hand: it may be said again at any time.
#
# Level-driven: whoever wishes repeats the wish until the worker shows it. Of several controllers
# (app, command line) the greater number counts; each takes over what the worker shows and numbers
# its own next wish one above that.


class Snooze(msgspec.Struct, frozen=True, kw_only=True):
    """A pause with an end."""

    until_ms: Count | None = None
    """None: until the game closes."""
    asked_ms: Count = 0
    """When it was asked, by the same clock; with a clock set back it lasts no longer than then."""
    game: Name = ""
    """The program that it waits for; empty: whichever game runs."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is wanted by hand."""

    number: Count = 0
    lend: bool = False
    snooze: Snooze | None = None
    finish: bool = False
    """End the round under way, then stop lending."""


# --- What a worker tells whoever started it: one JSON line per change, and one every second.
#
# Everything here is for eyes: nothing decides by it. Sizes in bytes, memory in MiB, times in
# seconds, points in micro-points.

LINE_BYTES = 1 << 16
Text = Annotated[str, msgspec.Meta(max_length=4_096)]


class Status(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One worker, now."""

    peer: Text
    """Peer id, `12D3Koo…`."""
    key: Text
    roles: tuple[Text, ...]
    run: Text = ""
    state: Text = ""
    round: int = 0
    duty: Text = ""
    """What it is doing, in a word."""
    head: Text = ""
    """Head whose weights it holds, base64url."""
    head_round: int = -1
    peers: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    sources: int = 0
    """Peers from which verified bytes came."""
    bad_sources: tuple[Text, ...] = ()
    """Peers that gave wrong bytes, how often and what was wrong; the last one first."""
    verdict: Text = ""
    """How the last closed round ended, as the log has it."""
    rounds_trained: int = 0
    proofs: int = 0
    tokens: int = 0
    train_seconds: float = 0.0
    elapsed_seconds: float = 0.0
    loss: float = 0.0
    """The trainer's own reading, nats per token."""
    resident_mb: int = 0
    trainer_resident_mb: int = 0
    device: Text = ""
    waiting: Text = ""
    """Why it has nothing to do at the moment, in one sentence; empty when it has."""
    problem: Text = ""
    """What keeps it from working, in words; empty when nothing does."""


_STATUS: msgspec.json.Decoder[Status] = msgspec.json.Decoder(Status)


def encode(status: Status) -> bytes:
    """Write one line, newline included."""
    return codec.encode(status)


def decode(line: bytes) -> Status:
    """Read a line; raises MalformedError."""
    return codec.decode(_STATUS, line, LINE_BYTES, "a status")


SnapshotText: TypeAlias = Annotated[str, msgspec.Meta(max_length=4_096)]
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

    url: SnapshotText = ""
    is_reached: bool = False
    since_ms: Count = 0
    """Since when it is, or is not."""
    waiting: Count = 0
    """Statements of ours that it does not have yet."""
    problem: SnapshotText = ""
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
    text: SnapshotText = ""


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
