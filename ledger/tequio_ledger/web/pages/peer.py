"""GET /peers/{key}: one key: what it earned, in which rounds and why, and how it stands."""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.service import Ledger
from tequio_ledger.state import State
from tequio_ledger.store import attended, entry_rows, history, ranking, read
from tequio_ledger.store.attended import AttendedRow
from tequio_ledger.store.read import StandingRow, TierRow
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import press, series, words
from tequio_ledger.web.pages.chart import Chart
from tequio_ledger.web.pages.entry_line import EntryLine, entry_line
from tequio_ledger.web.pages.figures import DAY_MS
from tequio_ledger.web.pages.slot_story import SlotStory, slot_stories
from tequio_ledger.web.pages.told_rounds import ToldRounds
from tequio_ledger.web.pages.words import Mark
from tequio_ledger.web.routing import get
from tequio_shared.causes import words_of
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
@press.by_turns
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
    return press.page(request, "peer.html", press.frame(request, ledger, published), view)


def standing_view(row: StandingRow) -> StandingView:
    """Say how a key stands."""
    return StandingView(
        mark=words.standing(row.standing),
        why=words_of(row.cause),
        since=row.since,
        evidence=row.evidence,
        until_ms=row.until,
        appeal=row.appeal,
    )


def _view(
    connection: Connection, ledger: Ledger, told: ToldRounds, key: PeerKey, before: int
) -> PeerPage:
    row = read.peer(connection, key)
    if row is None:
        raise RefusedError("not-found", f"the key {to_text(key)} is not registered here")
    now_ms = ledger.clock()
    rows = attended.rounds(connection, key, before, ROUNDS)
    rounds = tuple(_attended(connection, ledger, told, key, one) for one in rows)
    by_day = history.points_per_day(connection, now_ms - series.SPAN_DAYS * DAY_MS, key)
    entries = entry_rows.before(connection, ledger.published.size, ENTRIES, key)
    return PeerPage(
        key=to_text(key),
        peer_id=peer_id_text(key),
        office=_office(ledger, key),
        registered_index=row.registered_index,
        statements=row.last_seq,
        micropoints=row.micropoints,
        rank=_rank(connection, key) if row.micropoints else None,
        ranked=ranking.count(connection),
        standing=standing_view(row.standing),
        tier=_tier(key, row.tier, now_ms),
        team=ledger.state.teams.of(key),
        points=series.points_per_day(by_day, now_ms),
        rounds=rounds,
        duty=_duty(ledger.state, key),
        older=rows[-1].closed_index if len(rows) == ROUNDS else None,
        is_first=before == JSON_INTEGER,
        entries=tuple(entry_line(one) for one in entries),
    )


def _tier(key: PeerKey, row: TierRow, now_ms: int) -> TierView:
    return TierView(
        mark=words.tier(row.tier),
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
    around = ranking.around(connection, key, 0) or []
    return next((one.rank for one in around if one.key == key), None)


def _office(ledger: Ledger, key: PeerKey) -> str:
    if key == ledger.genesis.coordinator_key:
        return "coordinator"
    return "organiser" if key in ledger.genesis.organiser_keys else ""
