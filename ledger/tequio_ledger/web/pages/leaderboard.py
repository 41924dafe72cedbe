"""GET /leaderboard: which people or teams earned most in a day, in a week, or ever."""

from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger.service import Ledger
from tequio_ledger.store import leaders, ranking, read
from tequio_ledger.web.answers import snapshot
from tequio_ledger.web.pages import press, words
from tequio_ledger.web.pages.figures import DAY_MS
from tequio_ledger.web.pages.words import Mark
from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, from_text, to_text
from tequio_shared.limits import JSON_INTEGER

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
@press.by_turns
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
        ranked = ranking.count(connection)
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
    return press.page(request, "leaderboard.html", press.frame(request, ledger, published), view)


def _owners(connection: Connection, since_ms: int | None, after: int) -> list[LeaderRow]:
    found = leaders.owners(connection, since_ms, ROWS, after)
    return [
        replace(_row(connection, rank, one.key, one.micropoints, one.rounds), others=one.keys - 1)
        for rank, one in enumerate(found, after + 1)
    ]


def _teams(connection: Connection, since_ms: int | None, after: int) -> list[TeamRow]:
    found = leaders.teams(connection, since_ms, ROWS, after)
    return [
        TeamRow(rank=rank, name=one.name, micropoints=one.micropoints, keys=one.keys)
        for rank, one in enumerate(found, after + 1)
    ]


def _around(connection: Connection, text: str) -> list[LeaderRow]:
    key = PeerKey(from_text(text))
    near = ranking.around(connection, key, REACH)
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
    row = read.peer(connection, key)
    return LeaderRow(
        rank=rank,
        key=to_text(key),
        micropoints=micropoints,
        rounds=rounds,
        standing=words.standing(row.standing.standing if row else ""),
        is_sought=key == sought,
    )
