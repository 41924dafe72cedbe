"""GET /leaderboard, /peers/{key} and /quarantine: keys, their points, rounds and standing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.state import State
from tequio_ledger.store import entries, queries, ranking
from tequio_ledger.store.queries import AttendedRow, StandingRow, TierRow
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import render, run_charts, text
from tequio_ledger.web.pages.entry_view import entry_line
from tequio_ledger.web.pages.round_view import RoundReader, SlotOutcome, slot_outcomes
from tequio_ledger.web.pages.text import DAY_MS, StatusLabel
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

ROWS, NEIGHBOURS = 50, 10
SPANS_MS = {"24h": DAY_MS, "7d": 7 * DAY_MS, "all": None}
SPAN_NAMES = {"24h": "24 hours", "7d": "7 days", "all": "All time"}
RANKINGS = {"people": "People", "teams": "Teams"}
Place = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRow:
    """One key's place."""

    rank: int
    key: str
    micropoints: int
    rounds: int | None
    """Rounds in the span that paid it; None for all time."""
    standing: StatusLabel
    is_sought: bool
    others: int = 0
    """Further keys of the same owner, whose points count here."""


@get("/leaderboard")
@render.in_queue
def get_leaderboard(
    request: Request,
    ledger: Ledger,
    span: str = "all",
    by: str = "people",
    around: str = "",
    after: Place = 0,
) -> Response:
    """List the top earners, people or teams, or the neighbours of the key `around`."""
    if span not in SPANS_MS:
        raise RefusedError("malformed", f"unknown span {span[:40]!r}: use {', '.join(SPANS_MS)}")
    if by not in RANKINGS:
        raise RefusedError("malformed", f"unknown ranking {by[:40]!r}: use {', '.join(RANKINGS)}")
    length_ms = SPANS_MS[span]
    since_ms = None if length_ms is None else ledger.clock() - length_ms
    rows: list[LeaderRow] = []
    teams: list[tuple[int, ranking.Team]] = []
    with snapshot(ledger.database) as (connection, published):
        if by == "teams":
            teams = list(enumerate(ranking.teams(connection, since_ms, ROWS, after), after + 1))
        elif around:
            rows = _around(connection, around)
        else:
            rows = _owners(connection, since_ms, after)
        ranked = ranking.count(connection)
    return render.page(
        request,
        ledger,
        published,
        "leaderboard.html",
        span=span,
        names=SPAN_NAMES,
        by=by,
        kinds=RANKINGS,
        rows=rows,
        teams=teams,
        ranked=ranked,
        around=around,
        next=after + ROWS if not around and len(rows or teams) == ROWS else None,
    )


def _owners(connection: Connection, since_ms: int | None, after: int) -> list[LeaderRow]:
    found = ranking.owners(connection, since_ms, ROWS, after)
    return [
        replace(_row(connection, rank, one.key, one.micropoints, one.rounds), others=one.keys - 1)
        for rank, one in enumerate(found, after + 1)
    ]


def _around(connection: Connection, key_text: str) -> list[LeaderRow]:
    key = PeerKey(from_text(key_text))
    near = ranking.around(connection, key, NEIGHBOURS)
    if near is None:
        raise RefusedError("not-found", f"the key {key_text} is not registered here")
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
        standing=text.standing(row.standing.standing if row else ""),
        is_sought=key == sought,
    )


ROUNDS, ENTRIES = 25, 8
Before = Annotated[int, msgspec.Meta(ge=0, le=JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingView:
    """Standing of a key, and the entries behind it."""

    mark: StatusLabel
    why: str
    since: int
    evidence: tuple[int, ...]
    until_ms: int
    appeal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierView:
    """Tier and owner of a key, and the entry behind them."""

    mark: StatusLabel
    owner: str
    """Empty if the owner is the key itself."""
    run: str
    until_ms: int
    is_over: bool
    since: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendedView:
    """One finished round in which the key took part."""

    run: str
    name: str
    round: int
    mark: StatusLabel
    slot: SlotOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessDuty:
    """Witness duty in all rounds: proofs asked for and sent, and the points for them."""

    asked: int
    sent: int
    micropoints: int


@get("/peers/{key}")
@render.in_queue
def get_peer(
    request: Request, ledger: Ledger, reader: RoundReader, key: str, before: Before = JSON_INTEGER
) -> Response:
    """Show a key, given as base64url or as its peer id."""
    peer = key_from_peer_id(key) if key.startswith("12D3Koo") else PeerKey(from_text(key))
    now_ms = ledger.clock()
    with snapshot(ledger.database) as (connection, published):
        row = queries.peer(connection, peer)
        if row is None:
            raise RefusedError("not-found", f"the key {to_text(peer)} is not registered here")
        rows = queries.rounds(connection, peer, before, ROUNDS)
        rounds = [_attended(connection, ledger, reader, peer, one) for one in rows]
        since_ms = now_ms - run_charts.SPAN_DAYS * DAY_MS
        by_day = queries.points_per_day(connection, since_ms, peer)
        newest = entries.entries_before(connection, ledger.published.size, ENTRIES, peer)
        rank = _rank(connection, peer) if row.micropoints else None
        ranked = ranking.count(connection)
    return render.page(
        request,
        ledger,
        published,
        "peer.html",
        key=to_text(peer),
        peer_id=peer_id_text(peer),
        office=_office(ledger, peer),
        registered_index=row.registered_index,
        statements=row.last_seq,
        micropoints=row.micropoints,
        rank=rank,
        ranked=ranked,
        standing=standing_view(row.standing),
        tier=_tier(peer, row.tier, now_ms),
        team=ledger.state.teams.of(peer),
        points=run_charts.points_per_day(by_day, now_ms),
        rounds=rounds,
        duty=_duty(ledger.state, peer),
        older=rows[-1].closed_index if len(rows) == ROUNDS else None,
        is_first=before == JSON_INTEGER,
        entries=[entry_line(one) for one in newest],
    )


def standing_view(row: StandingRow) -> StandingView:
    return StandingView(
        mark=text.standing(row.standing),
        why=describe_cause(row.cause),
        since=row.since,
        evidence=row.evidence,
        until_ms=row.until,
        appeal=row.appeal,
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
    connection: Connection, ledger: Ledger, reader: RoundReader, key: PeerKey, row: AttendedRow
) -> AttendedView:
    run = RunId(Digest(row.run))
    story = reader.read(connection, run, row.round)
    slot = next(at for at, one in story.roster.keys.items() if one == key)
    return AttendedView(
        run=to_text(run),
        name=ledger.state.run(run).manifest.name,
        round=row.round,
        mark=StatusLabel("Closed", "ok")
        if row.outcome == "closed"
        else StatusLabel("Void", "warn"),
        slot=slot_outcomes(story)[slot],
    )


def _duty(state: State, key: PeerKey) -> WitnessDuty:
    accounts = (view.accounts.earned for view in state.runs.values())
    earned = [account[key] for account in accounts if key in account]
    return WitnessDuty(
        asked=state.asked[key],
        sent=state.proofs[key],
        micropoints=sum(one.witness for one in earned),
    )


def _rank(connection: Connection, key: PeerKey) -> int | None:
    around = ranking.around(connection, key, 0) or []
    return next((one.rank for one in around if one.key == key), None)


def _office(ledger: Ledger, key: PeerKey) -> str:
    if key == ledger.genesis.coordinator_key:
        return "coordinator"
    return "organiser" if key in ledger.genesis.organiser_keys else ""


QUARANTINE_ROWS = 100


@get("/quarantine")
@render.in_queue
def get_quarantine(request: Request, ledger: Ledger, after: Before = 0) -> Response:
    """List restricted keys with reason, evidence and term, the oldest restriction first."""
    with snapshot(ledger.database) as (connection, published):
        rows = queries.standings(connection, NAMED, after, QUARANTINE_ROWS)
    return render.page(
        request,
        ledger,
        published,
        "quarantine.html",
        rows=[(to_text(row.key), standing_view(row)) for row in rows],
        next=rows[-1].since if len(rows) == QUARANTINE_ROWS else None,
    )
