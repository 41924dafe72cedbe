"""GET /map and /runs/{run}/map: a run's present round as it happens, each member at its place.

All of it follows from the public log: who is in the roster, what each member has stated since, and
what the last round made. Nothing is known here about addresses, countries or devices.

Costs, for each run that a page shows: the entries of its present round and of the one before (which
is cached once its head is canonical), and the rows of the last `STRIP_ROUNDS` rounds. So a view
costs as much as the roster is long, and the same after ten rounds as after a million; like every
page it is rendered at most once a second for all who look at it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import queries
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import render, text
from tequio_ledger.web.pages.round_view import RoundReader, RoundRecord
from tequio_ledger.web.pages.run_view import RunSnapshot, run_snapshot
from tequio_ledger.web.pages.runs import RoundLine, round_line, sorted_runs
from tequio_ledger.web.pages.text import StatusLabel
from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, RunId, from_text
from tequio_shared.network.standing import Standing
from tequio_shared.round.measures import bits_per_byte, perplexity
from tequio_shared.round.proof import Verdict
from tequio_shared.served.rows import MeasuredHead, RoundRow

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_shared.served.state import State

MAX_MAPS = 4
"""Runs on one page; further ones are linked."""
MAX_NAMED = 48
"""Members of a roster that are drawn with their names; more are drawn as small squares."""
STRIP_ROUNDS = 16
MAX_STREAMS = 12
"""Lines of the picture in which contributions flow into a head."""
BAR_HEIGHT = 44
"""Of the bar of the highest bits per byte, in pixels."""
PAUSE_MS, DENSE_PAUSE_MS = 1_000, 4_000
"""Least time between two refreshes of an open page, with few members and with many."""

STATIONS: Mapping[str, StatusLabel] = {
    "unstated": StatusLabel("Head not stated", "wait", "In the roster; has not stated its head."),
    "stated": StatusLabel("Head stated", "busy", "Has the model, and nothing to train yet."),
    "training": StatusLabel("Training", "busy", "Trains on its windows, or audits other work."),
    "committed": StatusLabel("Committed", "ok", "Its contribution is fixed by its signed hash."),
    "witnessed": StatusLabel("Proof sent", "ok", "Drawn by lot, it checked the contributions."),
    "accepted": StatusLabel("Accepted", "ok", "A quorum of witnesses vouched for its work."),
}
"""Places along the round, in their order."""
ASIDE: Mapping[str, StatusLabel] = {
    "unselected": text.VERDICTS[Verdict.NOT_SELECTED],
    "rejected": text.VERDICTS[Verdict.REJECTED],
    "silent": text.VERDICTS[Verdict.SILENT],
    "quarantined": text.STANDINGS[Standing.QUARANTINED],
    "absent": StatusLabel("Absent", "off", "It left, or had not stated a head in time."),
}
"""Places beside it, shown when somebody is there."""
_OUTCOMES = {
    Verdict.ACCEPTED: "accepted",
    Verdict.AUDITED: "accepted",
    Verdict.NOT_SELECTED: "unselected",
    Verdict.REJECTED: "rejected",
    Verdict.SILENT: "silent",
}
_BARRED = frozenset({Standing.QUARANTINED, Standing.BANNED, Standing.REVOKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberMark:
    """A member at its place; `entry` is what brought it there."""

    slot: int
    key: str
    station: str
    entry: int
    is_elected: bool
    """True for a witness that was drawn by lot."""

    @property
    def caption(self) -> str:
        """Describe its place in words."""
        label = STATIONS.get(self.station) or ASIDE[self.station]
        elected = ", elected witness" if self.is_elected else ""
        return f"Slot {self.slot}: {label.word.lower()}{elected}, entry {self.entry:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapStation:
    """A place with the members that are there, by slot."""

    name: str
    label: StatusLabel
    members: tuple[MemberMark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseStep:
    """A phase of the round, and the entry that began it."""

    word: str
    state: Literal["done", "now", "next"]
    entry: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeHead:
    """The outcome of a round that ended."""

    round: int
    outcome: StatusLabel
    ended_index: int
    committed: int
    counts: tuple[tuple[StatusLabel, int], ...]
    """Members by verdict, without those of which there are none."""
    accepted: tuple[MemberMark, ...]
    head: str
    """Empty until it is canonical, and if the round made none."""
    promoted_index: int | None
    awaits_head: bool
    """True while its head is being computed and stated."""

    @property
    def streams(self) -> tuple[str, ...]:
        """SVG paths, each from the left edge of a square of 100 to the middle of the right one."""
        count = min(len(self.accepted), MAX_STREAMS)
        heights = (round(100 * (at + 0.5) / count, 1) for at in range(count))
        return tuple(f"M0 {y}C55 {y} 45 50 100 50" for y in heights)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundBar:
    """A past round; with the quality of the head that it made, if that was measured."""

    line: RoundLine
    value: float | None
    """In bits per byte."""
    perplexity: float | None
    """Of a token."""
    height: int
    """Of its bar, from zero; in pixels."""
    entry: int | None
    """The measurement that is the median."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMap:
    """A run on the map; `record` is its present round, or the last one; None before the first."""

    now: RunSnapshot
    record: RoundRecord | None
    steps: tuple[PhaseStep, ...]
    stations: tuple[MapStation, ...]
    aside: tuple[MapStation, ...]
    made: MadeHead | None
    bars: tuple[RoundBar, ...]

    @property
    def members(self) -> int:
        return len(self.record.roster.members) if self.record else 0

    @property
    def is_dense(self) -> bool:
        return self.members > MAX_NAMED

    @property
    def last_measured(self) -> RoundBar | None:
        return next((bar for bar in reversed(self.bars) if bar.value is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStandings:
    """Members that can do nothing in the round: by the entry that barred them, and by leave."""

    barred: Mapping[PeerKey, int]
    absent: frozenset[PeerKey]


def member_standings(state: State, run: RunId) -> MemberStandings:
    """Copy what the log says about members of the present roster; O(roster)."""
    view = state.run(run)
    keys = view.round.roster.keys.values() if view.round else ()
    records = {key: state.standings.records[key] for key in keys if key in state.standings.records}
    return MemberStandings(
        barred={key: one.since for key, one in records.items() if one.standing in _BARRED},
        absent=frozenset(view.absent),
    )


def run_map(
    now: RunSnapshot,
    standings: MemberStandings,
    record: RoundRecord | None,
    past: RoundRecord | None,
    bars: Sequence[RoundBar] = (),
) -> RunMap:
    """Place the members of a round; `past` is the round before, None if there was none."""
    marks = _marks(record, standings) if record else ()
    ended = record if record and record.ended else past
    made = _made_head(ended, now, now.number - (ended is past)) if ended else None
    return RunMap(
        now=now,
        record=record,
        steps=_steps(record) if record else (),
        stations=_stations(STATIONS, marks),
        aside=tuple(one for one in _stations(ASIDE, marks) if one.members),
        made=made,
        bars=tuple(bars),
    )


def _stations(
    labels: Mapping[str, StatusLabel], marks: Sequence[MemberMark]
) -> tuple[MapStation, ...]:
    members: dict[str, list[MemberMark]] = {name: [] for name in labels}
    for one in marks:
        if one.station in members:
            members[one.station].append(one)
    return tuple(
        MapStation(name=name, label=labels[name], members=tuple(found))
        for name, found in members.items()
    )


def _marks(record: RoundRecord, standings: MemberStandings) -> tuple[MemberMark, ...]:
    elected = frozenset(record.elected)
    due = frozenset(record.roster.assignment)
    auditors = frozenset(order.slot for order in record.roster.audits)
    marks: list[MemberMark] = []
    for slot, key in record.roster.keys.items():
        station, entry = _place(
            record,
            slot,
            has_work=slot in due,
            is_auditor=slot in auditors,
            has_left=key in standings.absent,
        )
        if key in standings.barred:
            station, entry = "quarantined", standings.barred[key]
        member = record.roster.members[slot].peer
        marks.append(
            MemberMark(
                slot=slot, key=member, station=station, entry=entry, is_elected=slot in elected
            )
        )
    return tuple(marks)


def _place(
    record: RoundRecord, slot: int, *, has_work: bool, is_auditor: bool, has_left: bool
) -> tuple[str, int]:
    """Give a member's station, and the entry that brought it there."""
    if record.closed and record.result and (has_work or is_auditor):
        verdict = Verdict(record.result.slots[slot].verdict)
        if has_work or verdict is Verdict.AUDITED:
            return _OUTCOMES[verdict], record.closed.index
    last = record.proofs.get(slot) or record.reports.get(slot) or record.commits.get(slot)
    if last is not None:
        return ("witnessed" if slot in record.proofs else "committed"), last.index
    stated = record.attests.get(slot)
    if has_left or (stated is None and record.opened):
        return "absent", (record.opened or record.rostered).index
    if stated is None:
        return "unstated", record.rostered.index
    if record.opened and (has_work or is_auditor):
        over = record.witnessed or record.ended
        return ("silent", over.index) if over else ("training", record.opened.index)
    return "stated", stated.index


def _steps(record: RoundRecord) -> tuple[PhaseStep, ...]:
    begun = (record.rostered, record.opened, record.witnessed, record.ended)
    last = "Void" if record.voided else "Closed" if record.closed else "Next head"
    words = ("Stating heads", "Training", "Witnessing", last)
    latest = max(at for at, one in enumerate(begun) if one is not None)

    def state_of(at: int) -> Literal["done", "now", "next"]:
        return "now" if at == latest else "done" if at < latest else "next"

    return tuple(
        PhaseStep(word=word, state=state_of(at), entry=one.index if one else None)
        for at, (word, one) in enumerate(zip(words, begun, strict=True))
    )


def _made_head(record: RoundRecord, now: RunSnapshot, number: int) -> MadeHead | None:
    ended, result = record.ended, record.result
    if ended is None:
        return None
    is_given_up = now.is_given_up(number)
    closed = text.GIVEN_UP_LABEL if is_given_up else text.OUTCOMES["closed"]
    verdicts = [Verdict(one.verdict) for one in result.slots] if result else []
    labels = [(text.VERDICTS[one], verdicts.count(one)) for one in _OUTCOMES]
    keys = record.roster.members
    accepted = tuple(
        MemberMark(
            slot=slot,
            key=keys[slot].peer,
            station="accepted",
            entry=ended.index,
            is_elected=slot in record.elected,
        )
        for slot, verdict in enumerate(verdicts)
        if verdict is Verdict.ACCEPTED
    )
    return MadeHead(
        round=number,
        outcome=closed if record.closed else text.OUTCOMES["void"],
        ended_index=ended.index,
        committed=len(record.commits),
        # A slot without work has the verdict of one that did not commit.
        counts=tuple((label, count) for label, count in labels if count and label.tone != "off"),
        accepted=accepted,
        head=record.promoted.body.head if record.promoted else "",
        promoted_index=record.promoted.index if record.promoted else None,
        awaits_head=bool(accepted) and not (record.promoted or is_given_up),
    )


def round_bars(
    now: RunSnapshot, rounds: Sequence[RoundRow], heads: Sequence[MeasuredHead]
) -> list[RoundBar]:
    """Pair past rounds, ascending, with the measured heads among those that they made."""
    measured = {one.round: one for one in heads}
    values = {one.round: bits_per_byte(one.median) for one in heads}
    shown = [values[row.round] for row in rounds if row.round in values]
    scale = BAR_HEIGHT / (max(shown, default=0.0) or 1.0)
    return [
        RoundBar(
            line=round_line(row, now.state, given_up=now.is_given_up(row.round)),
            value=values.get(row.round),
            perplexity=perplexity(one.median) if (one := measured.get(row.round)) else None,
            height=max(round(values[row.round] * scale), 1) if row.round in values else 0,
            entry=_median_entry(measured[row.round]) if row.round in measured else None,
        )
        for row in rounds
    ]


def _median_entry(head: MeasuredHead) -> int:
    return next(row.entry for row in head.rows if row.said == head.median)


def _read(
    connection: Connection, reader: RoundReader, now: RunSnapshot, standings: MemberStandings
) -> RunMap:
    run = RunId(from_text(now.id))
    rounds = queries.last_rounds(connection, run, STRIP_ROUNDS)
    heads = queries.last_measured_heads(connection, run, STRIP_ROUNDS)
    bars = round_bars(now, rounds, heads)
    record, past = (
        _round(connection, reader, run, number) for number in (now.number, now.number - 1)
    )
    return run_map(now, standings, record, past, bars)


def _round(
    connection: Connection, reader: RoundReader, run: RunId, number: int
) -> RoundRecord | None:
    """Read a round; None if there is no such round."""
    if number < 1:
        return None
    try:
        return reader.read(connection, run, number)
    except RefusedError:  # not every number has a roster: a run that ends skips to its last one
        return None


async def _answer(
    request: Request,
    ledger: Ledger,
    reader: RoundReader,
    shown: Sequence[RunSnapshot],
    others: Sequence[RunSnapshot],
    *,
    is_one: bool,
) -> Response:
    standings = [member_standings(ledger.state, RunId(from_text(one.id))) for one in shown]

    def make() -> Response:
        with snapshot(ledger) as (connection, published):
            maps = [_read(connection, reader, *each) for each in zip(shown, standings, strict=True)]
        is_dense = any(one.is_dense for one in maps)
        return render.page(
            request,
            ledger,
            published,
            "map.html",
            maps=maps,
            others=others,
            is_one=is_one,
            max_named=MAX_NAMED,
            pause_ms=DENSE_PAUSE_MS if is_dense else PAUSE_MS,
        )

    return await render.enqueue(request, make)


@get("/map")
async def get_map(request: Request, ledger: Ledger, reader: RoundReader) -> Response:
    """Show the present rounds of the newest runs that go on, or else the newest run."""
    await ledger.sequencer.settled()
    listed = sorted_runs(ledger.state)
    current = [one for one in listed if not one.is_over] or listed[:1]
    shown, others = current[:MAX_MAPS], current[MAX_MAPS:]
    return await _answer(request, ledger, reader, shown, others, is_one=False)


@get("/runs/{run}/map")
async def get_run_map(request: Request, ledger: Ledger, reader: RoundReader, run: str) -> Response:
    """Show the present round of one run, or its last one."""
    await ledger.sequencer.settled()
    now = run_snapshot(ledger.state, RunId(from_text(run)))
    return await _answer(request, ledger, reader, [now], (), is_one=True)
