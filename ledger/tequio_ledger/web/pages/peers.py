"""GET /leaderboard, /teams/{team}, /peers/{key} and /quarantine: points, rounds and standing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.ledger import Ledger
from tequio_ledger.store import entries, queries, ranking
from tequio_ledger.store.queries import StoredRows
from tequio_ledger.web.answers import as_of, snapshot
from tequio_ledger.web.pages import audit_view, render, run_charts
from tequio_ledger.web.pages.round_view import (
    RoundReader,
    RoundRecord,
    SlotOutcome,
    slot_outcome,
)
from tequio_ledger.web.pages.tallies import PLACES, Tallies
from tequio_ledger.web.pages.text import DAY_MS
from tequio_ledger.web.routing import ID_FORM, Index, get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import (
    Digest,
    MaybeBytes32Text,
    PeerKey,
    RunId,
    key_from_text,
    parse_key,
    peer_id_text,
    to_text,
)
from tequio_shared.limits import JSON_INTEGER, NAME_CHARS
from tequio_shared.names import NameRegistry
from tequio_shared.served import answers
from tequio_shared.served.rows import AttendedRound

ROWS, NEIGHBOURS = 50, 10
ROUNDS, ENTRIES = 25, 8
QUARANTINE_ROWS = 100
SPANS_MS = {"24h": DAY_MS, "7d": 7 * DAY_MS, "all": None}
SPAN_NAMES = {"24h": "24 hours", "7d": "7 days", "all": "All time"}
RANKINGS = {"people": "People", "teams": "Teams"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRow:
    rank: int
    key: PeerKey
    gflop: int
    standing: str
    rounds: int | None = None
    """Rounds in the span that paid it; None for all time."""
    others: int = 0
    """Further keys of the same owner, whose points count here."""


@get("/leaderboard")
@render.in_queue
def get_leaderboard(  # noqa: PLR0913, PLR0917 - a request's parameters have names
    request: Request,
    ledger: Ledger,
    tallies: Tallies,
    span: str = "all",
    by: str = "people",
    around: MaybeBytes32Text = "",
    after: Index = 0,
) -> Response:
    """List the top earners, people or teams, or the neighbours of the key `around`."""
    if span not in SPANS_MS:
        raise RefusedError("malformed", f"unknown span {span[:40]!r}: use {', '.join(SPANS_MS)}")
    if by not in RANKINGS:
        raise RefusedError("malformed", f"unknown ranking {by[:40]!r}: use {', '.join(RANKINGS)}")
    length_ms = SPANS_MS[span]
    rows: list[LeaderRow] = []
    owners: Sequence[ranking.Owner] = ()
    teams: list[tuple[int, ranking.Team, str]] = []
    counted: int | None = None
    if by == "teams":
        best = tallies.teams(length_ms)
        found, counted = best.found[after : after + ROWS + 1], best.size
        name_of = ledger.state.teams.name_of
        teams = [(rank, one, name_of(one.team)) for rank, one in enumerate(found, after + 1)]
    elif not around:
        first = tallies.owners(length_ms)
        owners, counted = first.found[after : after + ROWS + 1], first.size
    with snapshot(ledger) as (connection, published):
        if by == "people" and around:
            rows = _around(connection, around)
        else:
            rows = _owners(connection, owners, after)
        ranked = ranking.count(connection)
    is_full = len(rows or teams) >= ROWS
    is_last = is_full and counted is not None and after + ROWS >= PLACES
    has_more = len(rows or teams) > ROWS
    return render.page(
        request,
        ledger,
        published,
        "leaderboard.html",
        span=span,
        names=SPAN_NAMES,
        by=by,
        kinds=RANKINGS,
        rows=rows[:ROWS],
        teams=teams[:ROWS],
        ranked=ranked,
        around=around,
        after=after,
        counted=counted,
        most=PLACES if is_last else None,
        next=after + ROWS if has_more and not is_last else None,
    )


@get("/teams/{team:int}")
async def get_team(request: Request, ledger: Ledger, team: int, after: Index = 0) -> Response:
    """Show a team: its owner, goal and points, and its members, the best first."""
    published = await ledger.sequencer.settled()
    # Here and not in a thread: rounds that close meanwhile would change what is read.
    found = answers.team_answer(ledger.state, team, after, ROWS, as_of(published))
    name = ledger.state.teams.name_of(team)

    def make() -> Response:
        return render.page(request, ledger, published, "team.html", team=found, name=name)

    return await render.enqueue(request, make)


def _owners(connection: Connection, owners: Sequence[ranking.Owner], after: int) -> list[LeaderRow]:
    return [
        LeaderRow(
            rank=rank,
            key=one.key,
            gflop=one.gflop,
            standing=_standing(connection, one.key),
            rounds=one.rounds,
            others=one.keys - 1,
        )
        for rank, one in enumerate(owners, after + 1)
    ]


def _around(connection: Connection, key_text: str) -> list[LeaderRow]:
    near = ranking.around(connection, key_from_text(key_text), NEIGHBOURS)
    if near is None:
        raise RefusedError("not-found", f"no key {key_text} is registered in this network")
    return [
        LeaderRow(
            rank=one.rank,
            key=one.key,
            gflop=one.gflop,
            standing=_standing(connection, one.key),
        )
        for one in near
    ]


def _standing(connection: Connection, key: PeerKey) -> str:
    row = queries.key(connection, key)
    return row.standing.standing if row else ""


@get("/peers/{key}")
@render.in_queue
def get_peer(
    request: Request, ledger: Ledger, reader: RoundReader, key: str, before: Index = JSON_INTEGER
) -> Response:
    """Show a key, given as base64url, as its peer id or by its public name."""
    state, now_ms = ledger.state, ledger.clock()
    peer = named_key(state.names, key)
    with snapshot(ledger) as (connection, published):
        row = queries.key(connection, peer)
        if row is None:
            raise RefusedError("not-found", f"no key {to_text(peer)} is registered in this network")
        rows = StoredRows(connection).attended(peer, before, ROUNDS + 1)
        rounds = list(_attended(connection, ledger, reader, rows[:ROUNDS]))
        since_ms = now_ms - run_charts.SPAN_DAYS * DAY_MS
        by_day = queries.points_per_day_of(connection, since_ms, peer)
        first = queries.first_attended(connection, peer)
        newest = entries.entries_before(connection, ledger.published.size, ENTRIES, peer)
        near = ranking.around(connection, peer, 0) if row.peer.gflop else None
        ranked = ranking.count(connection)
    accounts = (view.accounts.earned for view in state.runs.values())
    return render.page(
        request,
        ledger,
        published,
        "peer.html",
        key=to_text(peer),
        peer_id=peer_id_text(peer),
        name=row.peer.name,
        role=_role(ledger, peer),
        peer=row,
        rank=next((one.rank for one in near or () if one.key == peer), None),
        ranked=ranked,
        team=state.teams.of(peer),
        team_name=state.teams.name_of(state.teams.of(peer)),
        points=run_charts.points_per_day(by_day, now_ms),
        rounds=[_line(peer, one) for one in rounds],
        audits=audit_view.peer_audits(
            peer, ((one.run, one.name, one.row.round, one.record) for one in rounds)
        ),
        proofs_asked=state.asked[peer],
        proofs_sent=state.proofs[peer],
        proofs_gflop=sum(one[peer].witness for one in accounts if peer in one),
        first=_first(ledger, first) if first else None,
        older=rows[-2].closed_index if len(rows) > ROUNDS else None,
        is_first=before == JSON_INTEGER,
        entries=newest,
    )


def named_key(names: NameRegistry, text: str) -> PeerKey:
    """Parse a key in any of its notations, or give that of a name.

    Raises MalformedError, or RefusedError for a name that nobody has.
    """
    if len(text) > NAME_CHARS:  # so no name can stand for another key
        return parse_key(text)
    found = names.holder(text)
    if found is None:
        raise RefusedError(
            "not-found",
            f"nobody is called {text!r} in this network; the id of a key has {ID_FORM}",
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRound:
    """A finished round in which a key took part; `name` is that of its run."""

    row: AttendedRound
    run: RunId
    name: str
    record: RoundRecord


def _attended(
    connection: Connection, ledger: Ledger, reader: RoundReader, rows: Sequence[AttendedRound]
) -> Iterator[PastRound]:
    for row in rows:
        run = RunId(Digest(row.run))
        name = ledger.state.run(run).manifest.name
        try:
            record = reader.read(connection, run, row.round)
        except RefusedError:  # a lost document of one round takes no other from the page
            continue
        yield PastRound(row=row, run=run, name=name, record=record)


def _first(ledger: Ledger, row: AttendedRound) -> tuple[str, str, int]:
    """Give run, its name, and the number of the first round of a key."""
    run = RunId(Digest(row.run))
    return to_text(run), ledger.state.run(run).manifest.name, row.round


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerLine:
    """A finished round on the page of a key."""

    row: AttendedRound
    name: str
    """Of the run."""
    slot: SlotOutcome | None
    """None if the key was not in the roster: it received points."""
    authors: tuple[str, ...]
    """Keys whose commitments gave it points."""


def _line(key: PeerKey, past: PastRound) -> PeerLine:
    members, result = past.record.roster.keys, past.record.result
    slot = next((at for at, one in members.items() if one == key), None)
    rows = result.slots if result else ()
    return PeerLine(
        row=past.row,
        name=past.name,
        slot=None if slot is None else slot_outcome(past.record, slot),
        authors=tuple(to_text(members[at]) for at, row in enumerate(rows) if key in row.received),
    )


def _role(ledger: Ledger, key: PeerKey) -> str:
    if key == ledger.genesis.coordinator_key:
        return "coordinator"
    return "organiser" if key in ledger.genesis.organiser_keys else ""


@get("/quarantine")
@render.in_queue
def get_quarantine(request: Request, ledger: Ledger, after: Index = 0) -> Response:
    """List restricted keys and open appeals with reason, evidence and term, oldest first."""
    with snapshot(ledger) as (connection, published):
        rows = StoredRows(connection).standings(after, QUARANTINE_ROWS + 1)
    return render.page(
        request,
        ledger,
        published,
        "quarantine.html",
        rows=rows[:QUARANTINE_ROWS],
        after=after,
        next=rows[-2].since if len(rows) > QUARANTINE_ROWS else None,
    )
