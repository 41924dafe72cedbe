"""GET /v1/ranking and a key's rounds: who earned what, as JSON."""

from typing import Annotated

from litestar import get
from litestar.params import FromPath, FromQuery, QueryParameter

from tequio_ledger.store import attended, ranking, read
from tequio_ledger.web.answers import as_of, attended_answer, ranked_answer
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.snapshot import snapshot
from tequio_shared.api.peers import AttendedAnswer, PeerRoundsAnswer, RankingAnswer
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, from_text, key_from_text, to_text
from tequio_shared.limits import JSON_INTEGER

Place = Annotated[int | None, QueryParameter(ge=0, le=JSON_INTEGER)]
Before = Annotated[int, QueryParameter(ge=0, le=JSON_INTEGER)]
Limit = Annotated[int, QueryParameter(ge=1, le=1000)]
Reach = Annotated[int, QueryParameter(ge=0, le=100)]


@get("/v1/ranking", sync_to_thread=True)
def get_ranking(
    ledger: GivenLedger,
    around: FromQuery[str] = "",
    n: Reach = 3,
    after: Place = None,
    behind: FromQuery[str] = "",
    limit: Limit = 100,
) -> RankingAnswer:
    """List keys by points: those about a key, those behind one, or those behind a place."""
    if bool(around) + bool(behind) + (after is not None) > 1:
        raise RefusedError("malformed", "ask for one of around, behind and after")
    with snapshot(ledger.database) as (connection, published):
        if around:
            rows = ranking.around(connection, key_from_text(around), n)
        elif behind:
            rows = ranking.behind(connection, key_from_text(behind), limit)
        else:
            rows = ranking.after(connection, after or 0, limit)
        ranked = ranking.count(connection)
    if rows is None:
        raise RefusedError("not-found", f"key {around or behind} is not registered")
    last = to_text(rows[-1].key) if len(rows) == limit and not around else None
    return RankingAnswer([ranked_answer(row) for row in rows], last, ranked, as_of(published))


@get("/v1/peers/{key:str}/rounds", sync_to_thread=True)
def get_peer_rounds(
    ledger: GivenLedger, key: FromPath[str], before: Before = JSON_INTEGER, limit: Limit = 100
) -> PeerRoundsAnswer:
    """List the rounds that a key was in and that are over, the newest first."""
    peer = PeerKey(from_text(key))
    with snapshot(ledger.database) as (connection, published):
        known = read.peer(connection, peer)
        rows = attended.rounds(connection, peer, before, limit) if known else []
    if known is None:
        raise RefusedError("not-found", f"key {key} is not registered")
    answers: list[AttendedAnswer] = [attended_answer(row) for row in rows]
    last = rows[-1].closed_index if len(rows) == limit else None
    return PeerRoundsAnswer(answers, last, as_of(published))
