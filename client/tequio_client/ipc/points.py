"""Questions about what this computer did and earned: rounds, points, losses, rank and events.

Points are GFLOP, times are in milliseconds since 1970. Lists are bounded, newest or best first.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from tequio_client.ipc.facts import MAX_ROWS, Count, Name, RowLimit


class AskPoints(msgspec.Struct, frozen=True, kw_only=True, tag="points"):
    """Ask for our rounds with numbers below `before`, newest first."""

    before: Count | None = None
    since_ms: Count = 0
    run: Name = ""
    device: Name = ""
    limit: RowLimit = 100


class PointsRow(msgspec.Struct, frozen=True, kw_only=True):
    """One round in which we had a duty."""

    number: Count
    """Row number; rises."""
    run: Name
    run_name: Name
    round: Count
    at_ms: Count
    state: Annotated[str, msgspec.Meta(pattern="^(pending|verified|rejected)$")]
    reason: Name = ""
    """Reason for no points: `not-selected`, `silent`, `void`, or the reason of the rejection."""
    gflop: Count = 0
    trained: Count = 0
    """Part of `gflop` for training."""
    witnessed: Count = 0
    """Part of `gflop` for witnessing."""
    received: Count = 0
    """Part of `gflop` for the work of other keys, which share their points."""
    device: Name = ""
    tokens: Count = 0
    energy_j: float = 0.0
    entry: Count | None = None
    """Log index of the round's end."""
    size: Count | None = None
    """Size of the signed checkpoint that the proof was checked against."""
    root: Name = ""
    """Root of that checkpoint, base64url."""


class PointsReply(msgspec.Struct, frozen=True, kw_only=True, tag="points"):
    """Rounds, newest first."""

    rows: Annotated[tuple[PointsRow, ...], msgspec.Meta(max_length=MAX_ROWS)]
    has_more: bool = False


class AskSeries(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """Ask for our points over time, in equal steps from `since_ms` (0: from our first round)."""

    since_ms: Count = 0
    step_ms: Annotated[int, msgspec.Meta(ge=60_000, le=10**11)] = 86_400_000
    run: Name = ""
    device: Name = ""


class PointsSeries(msgspec.Struct, frozen=True, kw_only=True, tag="series"):
    """Sums by step, oldest first; the last step may still be running."""

    since_ms: Count
    step_ms: Count
    verified: Annotated[tuple[Count, ...], msgspec.Meta(max_length=10_000)]
    energy_j: Annotated[tuple[float, ...], msgspec.Meta(max_length=10_000)] = ()


class AskRanking(msgspec.Struct, frozen=True, kw_only=True, tag="ranking"):
    """Ask for the keys that rank next to ours."""

    around: Annotated[int, msgspec.Meta(ge=0, le=50)] = 3


class RankRow(msgspec.Struct, frozen=True, kw_only=True):
    rank: Count
    key: Name
    name: Name = ""
    """The public name; empty: none."""
    gflop: Count
    is_ours: bool = False


class RankingReply(msgspec.Struct, frozen=True, kw_only=True, tag="ranking"):
    """Keys around ours, best first."""

    rows: Annotated[tuple[RankRow, ...], msgspec.Meta(max_length=MAX_ROWS)]
    ranked: Count = 0


class AskLosses(msgspec.Struct, frozen=True, kw_only=True, tag="losses"):
    """Ask for our own loss and the held-out bits per byte of a run, by round."""

    run: Name
    limit: RowLimit = MAX_ROWS


class LossRow(msgspec.Struct, frozen=True, kw_only=True):
    round: Count
    loss: float | None = None
    """Our own training loss, nats per token."""
    bits_per_byte: float | None = None
    """Loss of the head on the held-out set."""


class LossesReply(msgspec.Struct, frozen=True, kw_only=True, tag="losses"):
    """Rounds, oldest first."""

    rows: Annotated[tuple[LossRow, ...], msgspec.Meta(max_length=MAX_ROWS)]


class AskActivity(msgspec.Struct, frozen=True, kw_only=True, tag="activity"):
    """Ask for events with numbers below `before`, newest first."""

    before: Count | None = None
    limit: RowLimit = 100


class ActivityRow(msgspec.Struct, frozen=True, kw_only=True):
    """One event as a code with its values; the receiver has the words (`ipc.texts`)."""

    number: Count
    at_ms: Count
    code: Name
    level: Annotated[str, msgspec.Meta(pattern="^(info|good|warning|error)$")] = "info"
    values: Annotated[dict[str, str | int | float], msgspec.Meta(max_length=8)] = {}


class ActivityReply(msgspec.Struct, frozen=True, kw_only=True, tag="activity"):
    """Events, newest first."""

    rows: Annotated[tuple[ActivityRow, ...], msgspec.Meta(max_length=MAX_ROWS)]
    has_more: bool = False


PointsQuestion: TypeAlias = AskPoints | AskSeries | AskLosses | AskRanking | AskActivity
PointsAnswer: TypeAlias = PointsReply | PointsSeries | LossesReply | RankingReply | ActivityReply
