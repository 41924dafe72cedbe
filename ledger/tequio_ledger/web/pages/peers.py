"""GET /peers/{key}: one key: what it earned, in which rounds and why, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.state import State
from tequio_ledger.store import entries as store_entries
from tequio_ledger.store import queries
from tequio_ledger.store.queries import AttendedRow, StandingRow, TierRow
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import render, run_charts, text
from tequio_ledger.web.pages import text as pages_text
from tequio_ledger.web.pages.charts import Chart
from tequio_ledger.web.pages.entry_view import EntryLine, entry_line
from tequio_ledger.web.pages.round_view import SlotStory, ToldRounds, slot_stories
from tequio_ledger.web.pages.text import DAY_MS, Mark
from tequio_ledger.web.read_api import NAMED
from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import (
    Digest,
    PeerKey,
    RunId,
    from_text,
    key_from_peer_id,
    peer_id_text,
    to_text,
)
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.standing import describe_cause

# --- GET /leaderboard: which people or teams earned most in a day, in a week, or ever.

ROWS, REACH = 50, 10
SPANS = {"24h": DAY_MS, "7d": 7 * DAY_MS, "all": None}
NAMES = {"24h": "24 hours", "7d": "7 days", "all": "All time"}
BY = {"people": "People", "teams": "Teams"}
Place = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRow:
    """One key's place."""

    rank: int
    key: str
    micropoints: int
    rounds: int | None
    """Rounds that paid it in the span; not counted for all time."""
    standing: Mark
    is_sought: bool
    others: int = 0
    """Further keys of the same owner that are counted here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRow:
    """One team's place."""

    rank: int
    name: str
    micropoints: int
    keys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """Some places of one span, of people or of teams."""

    span: str
    names: dict[str, str]
    by: str
    kinds: dict[str, str]
    rows: tuple[LeaderRow, ...]
    teams: tuple[TeamRow, ...]
    ranked: int
    around: str
    next: int | None


@get("/leaderboard")
@render.by_turns
def get_leaderboard(
    request: Request,
    ledger: Ledger,
    span: str = "all",
    by: str = "people",
    around: str = "",
    after: Place = 0,
) -> Response:
    """Show who earned most."""
    if span not in SPANS:
        raise RefusedError("malformed", f"the span is {span[:40]!r}; it can be {', '.join(SPANS)}")
    if by not in BY:
        raise RefusedError("malformed", f"places are of {', '.join(BY)}, not {by[:40]!r}")
    length_ms = SPANS[span]
    since_ms = None if length_ms is None else ledger.clock() - length_ms
    rows: list[LeaderRow] = []
    teams: list[TeamRow] = []
    with snapshot(ledger.database) as (connection, published):
        if by == "teams":
            teams = _teams(connection, since_ms, after)
        elif around:
            rows = _around(connection, around)
        else:
            rows = _owners(connection, since_ms, after)
        ranked = queries.count(connection)
    is_full = not around and len(rows or teams) == ROWS
    view = Leaderboard(
        span=span,
        names=NAMES,
        by=by,
        kinds=BY,
        rows=tuple(rows),
        teams=tuple(teams),
        ranked=ranked,
        around=around,
        next=after + ROWS if is_full else None,
    )
    return render.page(request, "leaderboard.html", render.frame(request, ledger, published), view)


def _owners(connection: Connection, since_ms: int | None, after: int) -> list[LeaderRow]:
    found = queries.owners(connection, since_ms, ROWS, after)
    return [
        replace(_row(connection, rank, one.key, one.micropoints, one.rounds), others=one.keys - 1)
        for rank, one in enumerate(found, after + 1)
    ]


def _teams(connection: Connection, since_ms: int | None, after: int) -> list[TeamRow]:
    found = queries.teams(connection, since_ms, ROWS, after)
    return [
        TeamRow(rank=rank, name=one.name, micropoints=one.micropoints, keys=one.keys)
        for rank, one in enumerate(found, after + 1)
    ]


def _around(connection: Connection, text: str) -> list[LeaderRow]:
    key = PeerKey(from_text(text))
    near = queries.around(connection, key, REACH)
    if near is None:
        raise RefusedError("not-found", f"the key {text} is not registered here")
    return [_row(connection, one.rank, one.key, one.micropoints, None, key) for one in near]


def _row(
    connection: Connection,
    rank: int,
    key: PeerKey,
    micropoints: int,
    rounds: int | None,
    sought: PeerKey | None = None,
) -> LeaderRow:
    row = queries.peer(connection, key)
    return LeaderRow(
        rank=rank,
        key=to_text(key),
        micropoints=micropoints,
        rounds=rounds,
        standing=pages_text.standing(row.standing.standing if row else ""),
        is_sought=key == sought,
    )


ROUNDS, ENTRIES = 25, 8
Before = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingView:
    """How a key stands, and which entries say so."""

    mark: Mark
    why: str
    since: int
    evidence: tuple[int, ...]
    until_ms: int
    appeal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierView:
    """Who is behind a key, and which entry says so."""

    mark: Mark
    owner: str
    """Empty: the key itself."""
    run: str
    until_ms: int
    is_over: bool
    since: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendedView:
    """One round that the key was in and that is over."""

    run: str
    name: str
    round: int
    mark: Mark
    slot: SlotStory


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """Witness duty over all rounds: how often it was asked, answered, and what that earned."""

    asked: int
    sent: int
    micropoints: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerPage:
    """One key."""

    key: str
    peer_id: str
    office: str
    """What the genesis makes of the key: coordinator, organiser, or nothing."""
    registered_index: int
    statements: int
    micropoints: int
    rank: int | None
    ranked: int
    standing: StandingView
    tier: TierView
    team: str
    """Empty: none."""
    points: Chart
    rounds: tuple[AttendedView, ...]
    duty: Duty
    older: int | None
    is_first: bool
    entries: tuple[EntryLine, ...]


@get("/peers/{key}")
@render.by_turns
def get_peer(
    request: Request,
    ledger: Ledger,
    told: ToldRounds,
    key: str,
    before: Before = JSON_INTEGER,
) -> Response:
    """Show a key, given as base64url or as its peer id."""
    peer = key_from_peer_id(key) if key.startswith("12D3Koo") else PeerKey(from_text(key))
    with snapshot(ledger.database) as (connection, published):
        view = _view(connection, ledger, told, peer, before)
    return render.page(request, "peer.html", render.frame(request, ledger, published), view)


def standing_view(row: StandingRow) -> StandingView:
    """Say how a key stands."""
    return StandingView(
        mark=text.standing(row.standing),
        why=describe_cause(row.cause),
        since=row.since,
        evidence=row.evidence,
        until_ms=row.until,
        appeal=row.appeal,
    )


def _view(
    connection: Connection, ledger: Ledger, told: ToldRounds, key: PeerKey, before: int
) -> PeerPage:
    row = queries.peer(connection, key)
    if row is None:
        raise RefusedError("not-found", f"the key {to_text(key)} is not registered here")
    now_ms = ledger.clock()
    rows = queries.rounds(connection, key, before, ROUNDS)
    rounds = tuple(_attended(connection, ledger, told, key, one) for one in rows)
    by_day = queries.points_per_day(connection, now_ms - run_charts.SPAN_DAYS * DAY_MS, key)
    entries = store_entries.before(connection, ledger.published.size, ENTRIES, key)
    return PeerPage(
        key=to_text(key),
        peer_id=peer_id_text(key),
        office=_office(ledger, key),
        registered_index=row.registered_index,
        statements=row.last_seq,
        micropoints=row.micropoints,
        rank=_rank(connection, key) if row.micropoints else None,
        ranked=queries.count(connection),
        standing=standing_view(row.standing),
        tier=_tier(key, row.tier, now_ms),
        team=ledger.state.teams.of(key),
        points=run_charts.points_per_day(by_day, now_ms),
        rounds=rounds,
        duty=_duty(ledger.state, key),
        older=rows[-1].closed_index if len(rows) == ROUNDS else None,
        is_first=before == JSON_INTEGER,
        entries=tuple(entry_line(one) for one in entries),
    )


def _tier(key: PeerKey, row: TierRow, now_ms: int) -> TierView:
    return TierView(
        mark=text.tier(row.tier),
        owner="" if row.owner == key else to_text(row.owner),
        run="" if row.run is None else to_text(row.run),
        until_ms=row.until,
        is_over=0 < row.until <= now_ms,
        since=row.since,
    )


def _attended(
    connection: Connection, ledger: Ledger, told: ToldRounds, key: PeerKey, row: AttendedRow
) -> AttendedView:
    run = RunId(Digest(row.run))
    story = told.story(connection, run, row.round)
    slot = next(at for at, one in story.roster.keys.items() if one == key)
    return AttendedView(
        run=to_text(run),
        name=ledger.state.run(run).manifest.name,
        round=row.round,
        mark=Mark("Closed", "ok") if row.outcome == "closed" else Mark("Void", "warn"),
        slot=slot_stories(story)[slot],
    )


def _duty(state: State, key: PeerKey) -> Duty:
    accounts = (view.accounts.earned for view in state.runs.values())
    earned = [account[key] for account in accounts if key in account]
    return Duty(
        asked=state.asked[key],
        sent=state.proofs[key],
        micropoints=sum(one.witness for one in earned),
    )


def _rank(connection: Connection, key: PeerKey) -> int | None:
    around = queries.around(connection, key, 0) or []
    return next((one.rank for one in around if one.key == key), None)


def _office(ledger: Ledger, key: PeerKey) -> str:
    if key == ledger.genesis.coordinator_key:
        return "coordinator"
    return "organiser" if key in ledger.genesis.organiser_keys else ""


# --- GET /quarantine: who is not simply at work, since when, why, and until when.

QUARANTINE_ROWS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRow:
    """One key that is suspected, quarantined, on probation or banned."""

    key: str
    standing: StandingView


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinePage:
    """Some of them, the longest first."""

    rows: tuple[HeldRow, ...]
    next: int | None


@get("/quarantine")
@render.by_turns
def get_quarantine(request: Request, ledger: Ledger, after: Before = 0) -> Response:
    """List them."""
    with snapshot(ledger.database) as (connection, published):
        rows = queries.standings(connection, NAMED, after, QUARANTINE_ROWS)
    view = QuarantinePage(
        rows=tuple(HeldRow(key=to_text(row.key), standing=standing_view(row)) for row in rows),
        next=rows[-1].since if len(rows) == QUARANTINE_ROWS else None,
    )
    return render.page(request, "quarantine.html", render.frame(request, ledger, published), view)
