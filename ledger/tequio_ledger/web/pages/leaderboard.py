"""GET /leaderboard: who earned most in a day, in a week, or ever."""

from dataclasses import dataclass, replace
from typing import Annotated

from litestar import Response, get
from litestar.params import FromQuery, QueryParameter
from sqlalchemy import Connection

from tequio_ledger.store import history, ranking, read
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.pages import press, words
from tequio_ledger.web.pages.figures import DAY_MS
from tequio_ledger.web.pages.words import Mark
from tequio_ledger.web.problems import AnyRequest
from tequio_ledger.web.snapshot import snapshot
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, from_text, to_text
from tequio_shared.limits import JSON_INTEGER

ROWS, REACH = 50, 10
SPANS = {"24h": DAY_MS, "7d": 7 * DAY_MS, "all": None}
NAMES = {"24h": "24 hours", "7d": "7 days", "all": "All time"}
Place = Annotated[int, QueryParameter(ge=0, le=JSON_INTEGER)]


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
class Leaderboard:
    """Some places of one span."""

    span: str
    names: dict[str, str]
    rows: tuple[LeaderRow, ...]
    ranked: int
    around: str
    next: int | None


@get("/leaderboard")
@press.by_turns
def get_leaderboard(
    request: AnyRequest,
    ledger: GivenLedger,
    span: FromQuery[str] = "all",
    around: FromQuery[str] = "",
    after: Place = 0,
) -> Response[bytes]:
    """Show who earned most."""
    if span not in SPANS:
        raise RefusedError("malformed", f"the span is {span[:40]!r}; it can be {', '.join(SPANS)}")
    with snapshot(ledger.database) as (connection, published):
        rows = _rows(connection, ledger.clock(), span, around, after)
        ranked = ranking.count(connection)
    is_full = span == "all" and not around and len(rows) == ROWS
    view = Leaderboard(
        span=span,
        names=NAMES,
        rows=tuple(rows),
        ranked=ranked,
        around=around,
        next=after + ROWS if is_full else None,
    )
    return press.page(request, "leaderboard.html", press.frame(request, ledger, published), view)


def _rows(
    connection: Connection, now_ms: int, span: str, around: str, after: int
) -> list[LeaderRow]:
    length_ms = SPANS[span]
    if length_ms is not None:
        found = history.earners(connection, now_ms - length_ms, ROWS)
        return [
            replace(
                _row(connection, rank, one.key, one.micropoints, one.rounds), others=one.keys - 1
            )
            for rank, one in enumerate(found, 1)
        ]
    if not around:
        places = ranking.after(connection, after, ROWS)
        return [_row(connection, one.rank, one.key, one.micropoints, None) for one in places]
    key = PeerKey(from_text(around))
    near = ranking.around(connection, key, REACH)
    if near is None:
        raise RefusedError("not-found", f"the key {around} is not registered here")
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
