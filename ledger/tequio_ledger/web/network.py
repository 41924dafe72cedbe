"""GET /v1/network, runs, rounds, peers: what the log says, as JSON."""

from itertools import islice
from typing import Annotated

from litestar import Response, get
from litestar.params import FromPath, FromQuery, QueryParameter

from tequio_ledger import SOFTWARE
from tequio_ledger.store import read
from tequio_ledger.web.answers import as_of, peer_answer, round_answer, run_answer
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.snapshot import snapshot
from tequio_shared.api.network import HealthAnswer, NetworkAnswer
from tequio_shared.api.peers import PeerAnswer, PeersAnswer
from tequio_shared.api.runs import RoundAnswer, RoundsAnswer, RunAnswer, RunsAnswer
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, RunId, from_text, key_from_text, to_text
from tequio_shared.limits import JSON_INTEGER

Limit = Annotated[int, QueryParameter(ge=1, le=1000)]
After = Annotated[int, QueryParameter(ge=0, le=JSON_INTEGER)]
_NOT_WELL = 503


@get("/healthz", sync_to_thread=False)
def get_health(ledger: GivenLedger) -> Response[HealthAnswer]:
    """Say that all is well, or with status 503 what keeps the ledger from its work."""
    health = ledger.health()
    answer = HealthAnswer(health.status, health.detail)
    return Response(answer, status_code=200 if health.status == "ok" else _NOT_WELL)


@get("/v1/network", sync_to_thread=False)
def get_network(ledger: GivenLedger) -> NetworkAnswer:
    """Say which network this is, under which keys."""
    genesis = ledger.genesis
    return NetworkAnswer(
        network_id=to_text(genesis.network_id),
        name=genesis.name,
        genesis=to_text(genesis.encode()),
        origin=genesis.origin,
        log_key=genesis.log_key,
        coordinator=genesis.coordinator,
        software=SOFTWARE,
        as_of=as_of(ledger.published),
    )


@get("/v1/runs")
async def get_runs(ledger: GivenLedger, after: After = 0, limit: Limit = 100) -> RunsAnswer:
    """List runs in the order in which they were opened, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    later = (run for run, index in ledger.state.opened.items() if index > after)
    runs = [run_answer(ledger.state, run, published) for run in islice(later, limit)]
    last = runs[-1].opened_index if len(runs) == limit else None
    return RunsAnswer(runs, last, as_of(published))


@get("/v1/runs/{run:str}")
async def get_run(ledger: GivenLedger, run: FromPath[str]) -> RunAnswer:
    """Describe one run."""
    published = await ledger.sequencer.settled()
    return run_answer(ledger.state, RunId(from_text(run)), published)


@get("/v1/runs/{run:str}/rounds", sync_to_thread=True)
def get_rounds(
    ledger: GivenLedger, run: FromPath[str], after: After = 0, limit: Limit = 100
) -> RoundsAnswer:
    """List rounds after a number."""
    with snapshot(ledger.database) as (connection, published):
        rows = read.rounds(connection, from_text(run), after, limit)
    last = rows[-1].round if len(rows) == limit else None
    return RoundsAnswer([round_answer(row, published) for row in rows], last, as_of(published))


@get("/v1/runs/{run:str}/rounds/{number:int}", sync_to_thread=True)
def get_round(ledger: GivenLedger, run: FromPath[str], number: FromPath[int]) -> RoundAnswer:
    """Describe one round."""
    if not 0 < number <= JSON_INTEGER:
        raise RefusedError("not-found", "no round has this number")
    with snapshot(ledger.database) as (connection, published):
        rows = read.rounds(connection, from_text(run), number - 1, 1)
    if not rows or rows[0].round != number:
        raise RefusedError("not-found", f"the run has no round {number}")
    return round_answer(rows[0], published)


@get("/v1/peers", sync_to_thread=True)
def get_peers(ledger: GivenLedger, after: FromQuery[str] = "", limit: Limit = 100) -> PeersAnswer:
    """List keys in order of registration, after a key."""
    with snapshot(ledger.database) as (connection, published):
        rows = read.peers(connection, key_from_text(after) if after else None, limit)
    last = to_text(rows[-1].key) if len(rows) == limit else None
    return PeersAnswer([peer_answer(row, published) for row in rows], last, as_of(published))


@get("/v1/peers/{key:str}", sync_to_thread=True)
def get_peer(ledger: GivenLedger, key: FromPath[str]) -> PeerAnswer:
    """Describe one key."""
    with snapshot(ledger.database) as (connection, published):
        row = read.peer(connection, PeerKey(from_text(key)))
    if row is None:
        raise RefusedError("not-found", f"key {key} is not registered")
    return peer_answer(row, published)
