"""A worker's snapshot: its whole visible state in one value, shown to people only.

No program decides by it. Points in GFLOP, memory in MiB, times in milliseconds since 1970
unless the name says otherwise, energy in joules.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import msgspec

from tequio_client import ipc
from tequio_client.ipc.evaluator import EvaluationProgress
from tequio_client.ipc.facts import Count, MachineFacts, Name, Text
from tequio_client.ipc.preferences import Preferences


class LendingState(StrEnum):
    LENDING = "lending"
    FINISHING = "finishing"
    """Ends the current round, then stops."""
    WAITING = "waiting"
    """Would lend, but may not now; resumes automatically."""
    PAUSED = "paused"
    """Paused by the user, until resumed."""
    SNOOZED = "snoozed"
    """Paused by the user until a time or event; resumes automatically."""
    ATTENTION = "attention"
    """Cannot continue without a person."""


class LendingReason(StrEnum):
    """Code of the rule that decided; its values are in brackets.

    Programs send each other codes and values, never sentences: `ipc.texts` has the English ones and
    the app translates them. Where one reason has several causes, the value `fact` names the cause:
    `ipc.texts` has a sentence for each, and one for no fact.
    """

    LENDING = "lending"  # (fact: spare)
    LENDING_WHILE_USED = "lending-while-used"  # (share)
    LENDING_ANYWAY = "lending-anyway"
    """A rule speaks against it, and the user started it anyway."""
    NO_CONSENT = "no-consent"
    BY_HAND = "by-hand"  # (fact: finished, device)
    SNOOZED = "snoozed"
    UNTIL_GAME_CLOSES = "until-game-closes"  # (program, or fact: any)
    JUDGING = "judging"
    """Scores models for a competition, as offered in the preferences."""
    FINISHING = "finishing"  # (round)
    NO_RUNTIME = "no-runtime"
    """A package's runtime, which trains, is not installed yet."""
    TRAINER_BROKEN = "trainer-broken"  # (problem)
    LEDGER_UNKNOWN = "ledger-unknown"  # (address) (fact: none)
    LEDGER_AWAY = "ledger-away"  # (address)
    NO_SWARM = "no-swarm"  # (problem)
    NO_RUN = "no-run"  # (fact: open, fits, taken, ended; barred, with problem)
    PLUGIN = "plugin"  # (plugin, archive): the run's own code, which the user has not allowed
    QUARANTINED = "quarantined"  # (problem)
    OUTDATED = "outdated"  # (wanted, own): versions
    CLOCK = "clock"  # (minutes) that it is ahead (fact: behind)
    """The ledger refuses what this computer signs, because its clock is wrong."""
    NO_DEVICE = "no-device"  # (fact: small, with device and wanted, MiB)
    DISK = "disk"  # (free, wanted), GiB (fact: unknown; store, with used and most)
    BATTERY = "battery"
    BATTERY_UNKNOWN = "battery-unknown"  # (fact: saver, probe, starting)
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
    CANNOT_TELL = "cannot-tell"  # (fact: session, idle, fullscreen, game, programs, other-user)
    """Nothing tells whether somebody is at the computer."""
    OTHERS_GPU = "others-gpu"  # (device, percent)
    OTHERS_CPU = "others-cpu"  # (percent, below) (fact: unknown)
    GPU_MEMORY = "gpu-memory"  # (device, free, wanted), MiB
    GPU_UNKNOWN = "gpu-unknown"  # (fact: starting; load or memory, with device)
    SLOWED = "slowed"
    """Our own training steps take longer than before: another program needs the device."""


STARTABLE = frozenset(
    {
        LendingReason.BATTERY,
        LendingReason.BATTERY_UNKNOWN,
        LendingReason.SAVING_POWER,
        LendingReason.SCHEDULE,
        LendingReason.CANNOT_TELL,
        LendingReason.IN_USE,
        LendingReason.OTHERS_GPU,
        LendingReason.OTHERS_CPU,
        LendingReason.SLOWED,
    }
)
"""Reasons to wait that the user can overrule for once (`DesiredState.anyway`).

Not games and full screen, which are the user too; nor what costs money, harms the device or cannot
work: traffic limits, heat, memory and disk. Nor another user, whose games stay unseen.
"""
OTHER_USER = "other-user"
"""Name of the facts that another user's session hides."""
Value = str | int | float
LINE_BYTES = 1 << 16
"""Maximum length of a status line, newline included."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Result of the lending policy: lend, wait or stop, why, and until when."""

    state: LendingState
    reason: LendingReason
    values: Annotated[dict[str, Value], msgspec.Meta(max_length=4)] = {}
    until_ms: int | None = None
    """Expected end of this decision, milliseconds since 1970; None: unknown."""
    share_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    """Share of the time the trainer may compute; 0: it must not run."""
    may_transfer: bool = True
    """Bulk transfers are allowed; statements always are."""

    @property
    def may_compute(self) -> bool:
        return self.share_percent > 0

    @property
    def is_startable(self) -> bool:
        """True if the user can start lending anyway."""
        return self.reason in STARTABLE and self.values.get("fact") != OTHER_USER

    @property
    def is_probe_starting(self) -> bool:
        """True if nothing is known yet because the hardware probe has just started."""
        return self.values.get("fact") == "starting"


class Snooze(msgspec.Struct, frozen=True, kw_only=True):
    """A pause with an end."""

    until_ms: Count | None = None
    """None: until the game closes."""
    asked_ms: Count = 0
    """Time of the request by the same clock. It bounds the pause when the clock is set back."""
    game: Name = ""
    """The program whose end is awaited; empty: whichever game is running."""


class DesiredState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the user wants the worker to do, sent by a controller.

    Level-driven: a controller repeats it until the worker's snapshot contains it. With several
    controllers (app, command line) the highest number wins; each copies the state from the snapshot
    and numbers its own change one above that.
    """

    number: Count = 0
    lend: bool = False
    snooze: Snooze | None = None
    finish: bool = False
    """End the current round, then stop lending."""
    anyway: bool = False
    """Lend although a `STARTABLE` reason speaks against it, until the rules alone have allowed
    lending for a while, or the worker ends."""


class Status(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One worker's part in the swarm, as one JSON line per change and one every second.

    Shown to people only. Sizes in bytes, memory in MiB, times in seconds, points in GFLOP.
    """

    peer: Text
    """Peer id, `12D3Koo…`."""
    key: Text
    roles: tuple[Text, ...]
    run: Text = ""
    state: Text = ""
    round: int = 0
    duty: Text = ""
    """Current duty, one word."""
    head: Text = ""
    """Head whose weights are here, base64url."""
    head_round: int = -1
    peers: int = 0
    sent_bytes: int = 0
    """Content that others asked for."""
    received_bytes: int = 0
    """Verified content."""
    wire_sent_bytes: int = 0
    """Everything sent to peers: content, gossip, and what frames and encrypts them."""
    wire_received_bytes: int = 0
    sources: int = 0
    """Peers that sent verified bytes."""
    bad_sources: tuple[Text, ...] = ()
    """Peers that sent wrong bytes, with count and reason, latest first."""
    verdict: Text = ""
    """Result of the last closed round, from the log."""
    rounds_trained: int = 0
    proofs: int = 0
    tokens: int = 0
    compute_seconds: float = 0.0
    """Training, and repeating others' training for audits."""
    round_seconds: float = 0.0
    """Since it first took part in a round."""
    loss: float = 0.0
    """Training loss reported by our own trainer, nats per token."""
    resident_mb: int = 0
    trainer_resident_mb: int = 0
    device: Text = ""
    waiting: Text = ""
    """Reason for having nothing to do now, one sentence; empty: there is work."""
    problem: Text = ""
    """Problem that prevents work, one sentence; empty: none."""

    @property
    def compute_fraction(self) -> float:
        """Part of the time since the first round for which this worker computed."""
        return self.compute_seconds / self.round_seconds if self.round_seconds else 0.0


decode_status: Callable[[bytes], Status] = ipc.line_decoder(Status, LINE_BYTES, "a status")
UNDECIDED = Decision(state=LendingState.PAUSED, reason=LendingReason.NO_CONSENT)


class JudgingView(EvaluationProgress, frozen=True, kw_only=True):
    """The evaluator process while it scores for a competition."""

    competition: Name
    pid: Count = 0


class PointsView(msgspec.Struct, frozen=True, kw_only=True):
    """Points of this key in the whole network, as read and checked by its worker."""

    today: Count = 0
    """GFLOP verified since the last local midnight."""
    total: Count = 0
    """GFLOP verified: this worker checked the log's proof."""
    pending: Count = 0
    """Rounds with our work that are not closed yet."""
    unverified: Count = 0
    """GFLOP reported by the ledger whose entries were not checked yet."""
    unvested: Count = 0
    """GFLOP of `total` that a quarantine would still take, as the ledger says."""
    forfeited: Count = 0
    """GFLOP that rounds paid and that were lost since; not in `total`."""
    rejected: Count = 0
    """Rounds without points since the last local midnight."""
    rank: Count = 0
    """0: unknown."""
    ranked: Count = 0
    """Number of keys in the ranking."""
    per_day: Count = 0
    """GFLOP forecast at the pace of the last rounds; 0: too few of them, or none lately."""


class TrafficView(msgspec.Struct, frozen=True, kw_only=True):
    up_bytes_per_s: Count = 0
    down_bytes_per_s: Count = 0
    month_bytes: Count = 0
    month_cap_bytes: Count = 0
    """0: no cap."""
    cap_reached_ms: Count = 0
    """When the cap is reached at the present rate; 0: not this month, or not known yet."""


class DiskView(msgspec.Struct, frozen=True, kw_only=True):
    store_bytes: Count = 0
    working_bytes: Count = 0
    """Taken by working files and error feedback, beside the store."""
    cap_bytes: Count = 0
    free_bytes: Count = 0


class LedgerView(msgspec.Struct, frozen=True, kw_only=True):
    url: Text = ""
    is_reached: bool = False
    since_ms: Count = 0
    """Time of the last change between reachable and unreachable."""
    waiting: Count = 0
    """Our statements that are not logged yet."""
    problem: Text = ""
    size: Count = 0
    """Log entries that were read and checked."""
    announcement: Text = ""
    """Announcement of the organisers to the whole network, proven from the log; empty: none."""
    announcement_entry: Count = 0
    """Log index of the announcement; also the next, its time."""
    announced_ms: Count = 0

    @property
    def announcement_key(self) -> str:
        """Name of the announcement, to remember that it was told or dismissed; empty: none."""
        told = self.announcement
        return f"network {self.announced_ms} {self.announcement_entry}" if told else ""


class ReachState(StrEnum):
    UNKNOWN = "unknown"
    REACHABLE = "reachable"
    UNREACHABLE = "unreachable"


class RouterPort(StrEnum):
    """Result of asking the router for an open port."""

    OFF = "off"
    """Not asked for."""
    SEARCHING = "searching"
    OPEN = "open"
    NO_ROUTER = "no-router"
    """No router answered."""
    REFUSED = "refused"
    NESTED = "nested"
    """The router has no public address itself: another one, or the provider, is in between."""


class ReachabilityView(msgspec.Struct, frozen=True, kw_only=True):
    """Reachability of this computer for other peers."""

    state: ReachState = ReachState.UNKNOWN
    addresses: Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)] = ()
    """Confirmed by other peers: `host port`."""
    networks: Count = 0
    """Networks from which peers have tried."""
    is_own_address: bool = False
    """Others see this computer's own address: no router is in between, but maybe a firewall."""
    port: Count = 0
    """The TCP port on which the worker listens."""
    router: RouterPort = RouterPort.OFF
    router_problem: Text = ""
    """Answer of a router that refused."""
    keeps_ports: bool | None = None
    """True if the router leaves connections their ports, so that a seed can introduce us to a
    member that cannot be dialled either; None: not known."""


class CurrentRoundView(msgspec.Struct, frozen=True, kw_only=True):
    """The current round; values that are unknown keep their defaults."""

    run: Name = ""
    run_name: Name = ""
    number: Count = 0
    rounds: Count = 0
    """Total by the run's rules; 0: unknown."""
    role: Annotated[str, msgspec.Meta(pattern="^(trainer|witness|)$")] = ""
    """Our role in this round; empty: none yet."""
    opened_ms: Count = 0
    ends_ms: Count = 0
    """Planned end of training; 0: unknown."""
    done_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    """Progress of our own work in the round."""
    loss: float | None = None
    """Our own training loss, nats per token."""
    bits_per_byte: float | None = None
    """Loss of the newest head on the held-out set."""
    perplexity: float | None = None
    """Of the same head, per token; None: unknown, or too large for a float."""
    state: Name = ""
    """State of the run, in the protocol's word."""
    head_round: int = -1
    """Round of the head whose weights are here; -1: none is."""
    announcement: Text = ""
    """Text of the organisers for the volunteers of the run; empty: none."""
    announcement_entry: Count = 0
    """Log index of the announcement."""
    pause_reason: Text = ""
    """Reason of the run's pause, as its organisers state it; empty: none."""


class AuditsView(msgspec.Struct, frozen=True, kw_only=True):
    """Audits that concern this key. A round of 0 means none since the worker started."""

    ordered_round: Count = 0
    """Round of the contribution that this key repeats in the current round."""
    is_running: bool = False
    """The trainer is repeating it now."""
    declined_round: Count = 0
    """The last round in which this key declined its audit."""
    declined_of: Count = 0
    """Round of the contribution that it should have repeated."""
    declined_reason: Name = ""
    """Code of the reason, see `ipc.texts.DECLINED_AUDIT_TEXTS`."""
    warned_round: Count = 0
    """Round of our newest contribution whose audit was clear but had figures near the limits."""


class TrainerView(msgspec.Struct, frozen=True, kw_only=True):
    """A device that is lent, or was: its trainer, the decision about it, and its round."""

    device: Name = ""
    """Id of the device, as in `MachineFacts.gpus`; `cpu` is the processor."""
    decision: Decision = UNDECIDED
    round: CurrentRoundView | None = None
    """None: in no run."""
    audits: AuditsView = AuditsView()
    state: Annotated[str, msgspec.Meta(pattern="^(off|starting|idle|computing|stopping|broken)$")]
    """`off`: the process has ended and has released its device memory."""
    pid: Count = 0
    resident_mb: Count = 0
    step: Count = 0
    steps: Count = 0
    share_percent: Count = 0
    sandbox: Name = ""
    """Names what confines the process, in words; empty until the first one has started."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a worker shows to its controllers."""

    at_ms: Count = 0
    wish: DesiredState = DesiredState()
    preferences: Preferences = Preferences()
    decision: Decision = UNDECIDED
    """For the whole computer: that of a device that computes, or else of the most able one."""
    status: Status | None = None
    """None: in no run yet. Of one device, like `round` and `audits`: the one of `decision`."""
    round: CurrentRoundView | None = None
    """None: in no run yet."""
    audits: AuditsView = AuditsView()
    trainers: Annotated[tuple[TrainerView, ...], msgspec.Meta(max_length=33)] = ()
    """Every device that was lent since the worker started."""
    judging: JudgingView | None = None
    """None: no model is being scored."""
    points: PointsView = PointsView()
    machine: MachineFacts = MachineFacts()
    has_session: bool = True
    """False: the worker runs without an app, and knows nothing about games or who is there."""
    is_probe_starting: bool = False
    """True at first: the probe has not had time to answer, so nothing is wrong with it yet."""
    line: TrafficView = TrafficView()
    disk: DiskView = DiskView()
    ledger: LedgerView = LedgerView()
    reach: ReachabilityView = ReachabilityView()
    energy_today_j: float = 0.0
    energy_total_j: float = 0.0
    is_energy_measured: bool = False
    """True: counted by the cards; otherwise estimated from their power draw, or unknown (0)."""
    activity: Count = 0
    """Number of the newest event; a controller asks for new events when it rises."""
    rounds: Count = 0
    """Number of changes to the points database; a controller asks for points again when it rises.
    """
