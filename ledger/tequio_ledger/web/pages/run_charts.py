"""Charts of runs and rounds: losses, speed, points, the round as a ring, a timeline and votes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tequio_ledger.web.pages import text
from tequio_ledger.web.pages.charts import (
    AxisTitles,
    Chart,
    ChartBreak,
    ChartReading,
    as_bars,
    chart,
)
from tequio_ledger.web.pages.text import StatusLabel
from tequio_shared.ids import from_text
from tequio_shared.round.points import GFLOP_PER_POINT, points
from tequio_shared.wording import plural, short_count

if TYPE_CHECKING:
    from tequio_ledger.web.pages.round_view import RoundEntry, RoundRecord
    from tequio_ledger.web.pages.run_view import RunSnapshot, SlotSnapshot
    from tequio_shared.network.rollback import Rollback
    from tequio_shared.round.proof import WitnessFindings
    from tequio_shared.served.rows import RoundRow
    from tequio_shared.statements.runs import WitnessProof

# --- The Bloom filter of a witness proof: one square per bit.

MAX_DRAWN_BITS = 4_096
"""Larger filters are described in numbers only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomPicture:
    """One filter; `path` draws its set bits as unit squares, `across` to a row."""

    slot: int
    index: int
    items: int
    bits: int
    ones: int
    path: str
    across: int
    rows: int

    @property
    def fill(self) -> float:
        """Share of set bits."""
        return self.ones / self.bits if self.bits else 0.0


def bloom(slot: int, sent: RoundEntry[WitnessProof]) -> BloomPicture:
    raw = from_text(sent.body.bloom, None)
    bits = len(raw) * 8
    ones = [at for at in range(bits) if raw[at >> 3] >> (at & 7) & 1]
    is_drawn, across = bits <= MAX_DRAWN_BITS, math.isqrt(4 * bits) or 1
    return BloomPicture(
        slot=slot,
        index=sent.index,
        items=sent.body.count,
        bits=bits,
        ones=len(ones),
        path="".join(f"M{at % across} {at // across}h1v1h-1z" for at in ones) if is_drawn else "",
        across=across,
        rows=-(-bits // across) if is_drawn else 0,
    )


# --- The current round as a ring: one segment per member, filled as it does its duties.

SIZE = 220
_CENTRE = SIZE / 2
_RADII = (104.0, 84.0, 64.0)
"""Outer radii of the three bands: head stated, committed, witnessed."""
_BAND = 15.0
_GAP_RAD = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class RingSegment:
    """One member's part of one band; `tone` is done, due, or none without such a duty."""

    path: str
    tone: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRing:
    """The ring, and the same in a sentence; no segments outside a round."""

    segments: tuple[RingSegment, ...]
    summary: str


def round_ring(now: RunSnapshot) -> RoundRing:
    if not now.slots:
        return RoundRing(segments=(), summary="No round is in progress")
    segments = tuple(
        RingSegment(
            path=_arc(radius, at, len(now.slots)), tone=tone, caption=f"{slot.key}: {caption}"
        )
        for at, slot in enumerate(now.slots)
        for radius, (tone, caption) in zip(_RADII, _duties(slot), strict=True)
    )
    summary = (
        f"{now.stated} of {len(now.slots)} members stated their head, {now.committed} of "
        f"{now.trainers} trainers committed, {now.witnessed} of {now.elected} elected witnesses "
        "sent their proof"
    )
    return RoundRing(segments=segments, summary=summary)


def _duties(slot: SlotSnapshot) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str]]:
    return (
        ("done", "head stated") if slot.has_stated else ("due", "head not stated"),
        _duty(owed=slot.windows > 0, done=slot.has_committed, what="committed"),
        _duty(owed=slot.is_elected, done=slot.has_witnessed, what="witnessed"),
    )


def _duty(*, owed: bool, done: bool, what: str) -> tuple[str, str]:
    if done:
        return "done", what
    return ("due", f"not {what} yet") if owed else ("none", f"not {what}, and need not")


def _arc(radius: float, at: int, count: int) -> str:
    """Draw a segment of a band, clockwise from the top; a single one is a ring with a gap."""
    turn = 2 * math.pi / count
    gap = min(_GAP_RAD, turn / 4)
    first, last = at * turn + gap / 2, (at + 1) * turn - gap / 2
    large = int(last - first > math.pi)
    inner = radius - _BAND
    return (
        f"M{_at(radius, first)}A{radius:g},{radius:g} 0 {large} 1 {_at(radius, last)}"
        f"L{_at(inner, last)}A{inner:g},{inner:g} 0 {large} 0 {_at(inner, first)}Z"
    )


def _at(radius: float, angle: float) -> str:
    return f"{_CENTRE + radius * math.sin(angle):.1f},{_CENTRE - radius * math.cos(angle):.1f}"


SPAN_DAYS = 30


def went_back(rollbacks: Sequence[Rollback]) -> list[ChartBreak]:
    """Where lines over rounds begin again, as the model does."""
    return [
        ChartBreak(
            at=one.last_round + 0.5,
            caption=f"after round {one.last_round} the run went back to the head of round "
            f"{one.head_round}",
        )
        for one in rollbacks
    ]


def losses(rounds: Sequence[RoundRow], rollbacks: Sequence[Rollback] = ()) -> Chart:
    readings = [
        _reading(one, value, _nats)
        for one in rounds
        if (value := text.loss(one.loss_q16)) is not None and value > 0
    ]
    return chart(
        "loss",
        "Training loss",
        summary("The median loss that trainers claim", readings, "nats per token"),
        readings,
        AxisTitles("nats per token", "round"),
        from_zero=False,
        breaks=went_back(rollbacks),
    )


def rates(rounds: Sequence[RoundRow]) -> Chart:
    """Draw the accepted tokens per second of closed rounds, from opening to close."""
    readings = [
        _reading(one, value, _rate) for one in rounds if (value := tokens_per_s(one)) is not None
    ]
    return chart(
        "rate",
        "Tokens per second",
        summary("Accepted tokens per second", readings, "tokens/s"),
        readings,
        AxisTitles("tokens per second", "round"),
        from_zero=True,
    )


def tokens_per_s(one: RoundRow) -> float | None:
    """Give the accepted tokens per second of a closed round."""
    if one.outcome != "closed" or one.opened_ms is None or one.ended_ms is None:
        return None
    return one.tokens / max(one.ended_ms - one.opened_ms, 1) * 1_000


def points_per_day(by_day: dict[int, int], now_ms: int) -> Chart:
    """Draw the points of each of the last days, days without points included."""
    today = now_ms // text.DAY_MS
    first = max(today - SPAN_DAYS + 1, min(by_day, default=today) - 1)
    readings = [_day(day, by_day.get(day, 0), today) for day in range(first, today + 1)]
    total = sum(by_day.get(day, 0) for day in range(first, today + 1))
    summary = (
        f"{points(total)} points in {plural(len(readings), 'day')}"
        if total
        else "No points in these days"
    )
    made = chart(
        "points",
        "Points per day",
        f"{summary}; {points(by_day.get(today, 0))} today so far" if total else summary,
        readings if total else [],
        AxisTitles("points"),
        from_zero=True,
    )
    return as_bars(made)


def _day(number: int, gflop: int, today: int) -> ChartReading:
    label = text.day(number * text.DAY_MS)
    is_open = number == today
    value = gflop / GFLOP_PER_POINT
    return ChartReading(
        at=number,
        value=value,
        label=label,
        caption=f"{label}{', so far' if is_open else ''}: {_points(value)}",
        figure=_points,
        is_open=is_open,
    )


def _points(value: float) -> str:
    return f"{points(round(value * GFLOP_PER_POINT))} points"


def _nats(value: float) -> str:
    return f"{value:.4f} nats per token"


def _rate(value: float) -> str:
    return f"{short_count(value)} tokens/s"


def _reading(one: RoundRow, value: float, figure: Callable[[float], str]) -> ChartReading:
    return ChartReading(
        at=one.round,
        value=value,
        label=str(one.round),
        caption=f"round {one.round}: {figure(value)}",
        figure=figure,
    )


def summary(what: str, readings: Sequence[ChartReading], unit: str) -> str:
    """Describe a series of rounds in a sentence."""
    if not readings:
        return "No round has closed yet"
    first, last = readings[0], readings[-1]
    if len(readings) == 1:
        return f"{what} was {_short(last.value)} {unit} in round {last.label}"
    least, most = (pick(one.value for one in readings) for pick in (min, max))
    return (
        f"{what}: from {_short(first.value)} in round {first.label} to {_short(last.value)} {unit} "
        f"in round {last.label}, between {_short(least)} and {_short(most)}"
    )


def _short(value: float) -> str:
    return short_count(value) if value >= 100 else f"{value:.3g}"  # noqa: PLR2004


# --- The timeline of a round: its phases as bands, its statements as ticks.

_LEFT, _RIGHT = 4, 716


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseBand:
    kind: str
    left: float
    width: float
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineTick:
    at: float
    kind: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTimeline:
    """The phases of a round, and the statements logged in them, in pixels."""

    bands: tuple[PhaseBand, ...]
    marks: tuple[TimelineTick, ...]
    summary: str


def timeline(record: RoundRecord, now_ms: int) -> RoundTimeline:
    """Lay a round out from its roster to its end, or to now if it is not over."""
    kinds = (("Stating heads", "attest"), ("Training", "train"), ("Witnessing", "witness"))
    begins = [one.at_ms for one in (record.rostered, record.opened, record.witnessed) if one]
    ends = [*begins[1:], record.ended.at_ms if record.ended else max(now_ms, begins[-1])]
    phases = list(zip(kinds, begins, ends, strict=False))
    first, last = phases[0][1], phases[-1][2]
    scale = (_RIGHT - _LEFT) / max(last - first, 1)

    def place(at_ms: int) -> float:
        return round(_LEFT + (min(max(at_ms, first), last) - first) * scale, 1)

    bands = [
        PhaseBand(
            kind=kind,
            left=place(begin),
            width=round(max((end - begin) * scale, 1), 1),
            caption=f"{name}: {text.duration(end - begin)}",
        )
        for (name, kind), begin, end in phases
    ]
    marks = [
        TimelineTick(
            at=place(at_ms), kind=kind, caption=f"{caption}, {text.duration(at_ms - first)} in"
        )
        for at_ms, kind, caption in _logged(record)
    ]
    summary = "; ".join(band.caption for band in bands)
    return RoundTimeline(bands=tuple(bands), marks=tuple(marks), summary=summary)


def _logged(record: RoundRecord) -> list[tuple[int, str, str]]:
    """List time (ms), kind and meaning of each statement."""
    kinds: tuple[tuple[Mapping[int, RoundEntry[Any]], str, str], ...] = (  # Any: of each type
        (record.attests, "attest", "states its head"),
        (record.commits, "train", "commits"),
        (record.proofs, "witness", "sends its proof"),
    )
    return [
        (one.at_ms, kind, f"slot {slot} {what}")
        for entries, kind, what in kinds
        for slot, one in entries.items()
    ]


# --- The votes of a round: a row for each witness, a column for each contribution.

_VOUCHED = StatusLabel("yes", "ok", "vouched for it")
_LEFT_OUT = StatusLabel("–", "off", "did not vouch for it")
_OWN = StatusLabel("own", "off", "its own")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRow:
    """One witness's votes; `index` is the entry of its proof."""

    slot: int
    key: str
    index: int | None
    votes: tuple[StatusLabel, ...]


def votes(record: RoundRecord) -> list[VoteRow]:
    """List the votes on each contribution, in the order of slots."""
    return [
        VoteRow(
            slot=witness,
            key=record.roster.members[witness].peer,
            index=sent.index if sent else None,
            votes=tuple(
                _vote(witness, slot, record.findings[witness]) for slot in sorted(record.commits)
            )
            if sent
            else (),
        )
        for witness in record.elected
        for sent in (record.proofs.get(witness),)
    ]


def _vote(witness: int, slot: int, findings: WitnessFindings) -> StatusLabel:
    if slot in findings.vouched:
        return _VOUCHED
    if slot in findings.rejected:
        return StatusLabel("no", "danger", f"refused it: {text.reason(findings.rejected[slot])}")
    return _OWN if slot == witness else _LEFT_OUT
