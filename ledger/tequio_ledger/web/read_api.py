"""GET /healthz and /v1/…: the network, its runs, rounds, keys and points, as JSON.

A handler either waits until every committed entry is published and reads the state, or reads rows
in a `snapshot`: its answer is true for the checkpoint that it names.
"""

from typing import Annotated

import msgspec
from starlette.responses import Response

from tequio_ledger import SOFTWARE
from tequio_ledger.ledger import Ledger
from tequio_ledger.store import queries, ranking
from tequio_ledger.store.queries import StoredRows
from tequio_ledger.web.answers import as_of, snapshot
from tequio_ledger.web.routing import Index, Limit, get, json_answer
from tequio_shared.api.admission import ConnectorsAnswer, InvitationsAnswer
from tequio_shared.api.competitions import CompetitionAnswer, CompetitionsAnswer
from tequio_shared.api.network import (
    HealthAnswer,
    NetworkAnswer,
    ReleasesAnswer,
    SnapshotsAnswer,
)
from tequio_shared.api.peers import (
    PeerAnswer,
    PeerRoundsAnswer,
    PeersAnswer,
    QuarantineAnswer,
    RankingAnswer,
    TeamAnswer,
)
from tequio_shared.api.runs import (
    MeasuresAnswer,
    NetworkNoticeAnswer,
    RoundAnswer,
    RoundsAnswer,
    RunAnswer,
    RunsAnswer,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import (
    Bytes32Text,
    MaybeBytes32Text,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
    key_from_text,
    to_text,
)
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.served import answers, competitions
from tequio_shared.served.rows import VerdictRules
from tequio_shared.served.state import key_rows

AfterRound = Annotated[int, msgspec.Meta(ge=-1, le=JSON_INTEGER)]
Reach = Annotated[int, msgspec.Meta(ge=0, le=100)]
_UNHEALTHY = 503


@get("/healthz")
async def get_health(ledger: Ledger) -> Response:
    """Report status ok, or with HTTP status 503 what keeps the ledger from working."""
    health = ledger.health()
    answer = HealthAnswer(health.status, health.detail)
    return json_answer(answer, 200 if health.status == "ok" else _UNHEALTHY)


@get("/v1/network")
async def get_network(ledger: Ledger) -> NetworkAnswer:
    """Describe the network and its keys."""
    genesis = ledger.genesis
    return NetworkAnswer(
        network_id=to_text(genesis.network_id),
        name=genesis.name,
        genesis=to_text(genesis.encode()),
        origin=genesis.origin,
        log_key=genesis.log_key,
        coordinator=genesis.coordinator,
        software=SOFTWARE,
        tiles_url=ledger.settings.tiles_url or None,
        as_of=as_of(ledger.published),
    )


@get("/v1/runs")
async def get_runs(ledger: Ledger, after: Index = 0, limit: Limit = 100) -> RunsAnswer:
    """List runs in the order in which they were opened, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    return answers.runs_page(ledger.state, after, limit, as_of(published))


@get("/v1/runs/{run}")
async def get_run(ledger: Ledger, run: Bytes32Text) -> RunAnswer:
    """Describe one run."""
    published = await ledger.sequencer.settled()
    return answers.run_answer(ledger.state, RunId(from_text(run)), as_of(published))


@get("/v1/runs/{run}/rounds")
def get_rounds(
    ledger: Ledger, run: Bytes32Text, after: Index = 0, limit: Limit = 100
) -> RoundsAnswer:
    """List rounds after a number."""
    with snapshot(ledger) as (connection, published):
        rows = StoredRows(connection)
        return answers.rounds_page(rows, RunId(from_text(run)), after, limit, as_of(published))


@get("/v1/runs/{run}/rounds/{number:int}")
def get_round(ledger: Ledger, run: Bytes32Text, number: int) -> RoundAnswer:
    """Describe one round."""
    if not 0 < number <= JSON_INTEGER:
        raise RefusedError("not-found", f"round numbers start at 1, so {number} is not one")
    with snapshot(ledger) as (connection, published):
        row = queries.round_row(connection, from_text(run), number)
    if row is None:
        raise RefusedError("not-found", f"the run has no round {number}")
    return answers.round_answer(row, as_of(published))


@get("/v1/peers")
def get_peers(ledger: Ledger, after: MaybeBytes32Text = "", limit: Limit = 100) -> PeersAnswer:
    """List keys in order of registration, after a key."""
    with snapshot(ledger) as (connection, published):
        rows, last = StoredRows(connection), key_from_text(after) if after else None
        return answers.peers_page(rows, last, limit, as_of(published))


@get("/v1/peers/{key}")
async def get_peer(ledger: Ledger, key: Bytes32Text) -> PeerAnswer:
    """Describe one key."""
    # From the state, and not from the tables: a worker that starts needs this answer, also from a
    # ledger whose tables are damaged.
    published = await ledger.sequencer.settled()
    peer = PeerKey(from_text(key))
    if peer not in ledger.state.peers:
        raise RefusedError("not-found", f"key {key} is not registered")
    return answers.peer_answer(key_rows(ledger.state, peer), as_of(published))


@get("/v1/teams/{team:int}")
async def get_team(ledger: Ledger, team: int, after: Index = 0, limit: Limit = 100) -> TeamAnswer:
    """Describe one team and list its members, after a rank."""
    published = await ledger.sequencer.settled()
    return answers.team_answer(ledger.state, team, after, limit, as_of(published))


@get("/v1/runs/{run}/measures")
def get_measures(
    ledger: Ledger, run: Bytes32Text, after: AfterRound = -1, limit: Limit = 100
) -> MeasuresAnswer:
    """List heads measured on held-out text by drawn members, after the head of a round."""
    run_id = RunId(from_text(run))
    rules = VerdictRules.of(ledger.state.run(run_id))
    with snapshot(ledger) as (connection, published):
        rows = StoredRows(connection)
        return answers.measures_page(rules, rows, run_id, after, limit, as_of(published))


@get("/v1/ranking")
def get_ranking(
    ledger: Ledger,
    around: MaybeBytes32Text = "",
    n: Reach = 3,
    after: Index | None = None,
    behind: MaybeBytes32Text = "",
    limit: Limit = 100,
) -> RankingAnswer:
    """List keys by points: those around a key, those behind a key, or those behind a place."""
    if bool(around) + bool(behind) + (after is not None) > 1:
        raise RefusedError("malformed", "give at most one of around, behind and after")
    with snapshot(ledger) as (connection, published):
        if around:
            rows = ranking.around(connection, key_from_text(around), n)
        elif behind:
            rows = ranking.behind(connection, key_from_text(behind), limit)
        else:
            rows = ranking.after(connection, after or 0, limit)
        ranked = ranking.count(connection)
    if rows is None:
        raise RefusedError("not-found", f"key {around or behind} is not registered")
    last = rows[-1].key if len(rows) == limit and not around else None
    return answers.ranking_answer(rows, last, ranked, as_of(published))


@get("/v1/peers/{key}/rounds")
def get_peer_rounds(
    ledger: Ledger, key: Bytes32Text, before: Index = JSON_INTEGER, limit: Limit = 100
) -> PeerRoundsAnswer:
    """List the finished rounds in which a key took part, the newest first."""
    peer = PeerKey(from_text(key))
    with snapshot(ledger) as (connection, published):
        if queries.key(connection, peer) is None:
            raise RefusedError("not-found", f"key {key} is not registered")
        rows = StoredRows(connection)
        return answers.peer_rounds_page(rows, peer, before, limit, as_of(published))


@get("/v1/quarantine")
def get_quarantine(ledger: Ledger, after: Index = 0, limit: Limit = 100) -> QuarantineAnswer:
    """List keys that are restricted or on probation, or appeal: the oldest standing first."""
    with snapshot(ledger) as (connection, published):
        return answers.quarantine_page(StoredRows(connection), after, limit, as_of(published))


@get("/v1/invitations")
async def get_invitations(
    ledger: Ledger, after: Index = 0, limit: Limit = 100
) -> InvitationsAnswer:
    """List invitations, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    return answers.invitations_page(ledger.state, after, limit, as_of(published))


@get("/v1/connectors")
async def get_connectors(ledger: Ledger) -> ConnectorsAnswer:
    """List the keys that may vouch for others."""
    published = await ledger.sequencer.settled()
    return answers.connectors_answer(ledger.state, as_of(published))


@get("/v1/notice")
async def get_notice(ledger: Ledger) -> NetworkNoticeAnswer:
    """Get the announcement to the whole network that is in force, if there is one."""
    published = await ledger.sequencer.settled()
    return answers.notice_answer(ledger.state, as_of(published))


@get("/v1/release")
async def get_release(ledger: Ledger) -> ReleasesAnswer:
    """List the releases of the software that organisers named, the newest first."""
    published = await ledger.sequencer.settled()
    return answers.releases_answer(ledger.state, as_of(published))


@get("/v1/snapshots")
async def get_snapshots(ledger: Ledger) -> SnapshotsAnswer:
    """List the newest snapshots of the state that the log names, the newest first."""
    published = await ledger.sequencer.settled()
    return answers.snapshots_answer(ledger.state, as_of(published))


@get("/v1/competitions")
async def get_competitions(
    ledger: Ledger, after: Index = 0, limit: Limit = 100
) -> CompetitionsAnswer:
    """List competitions in the order in which they were opened, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    return competitions.competitions_page(
        ledger.state, after, limit, as_of(published), now_ms=ledger.clock()
    )


@get("/v1/competitions/{competition}")
async def get_competition(ledger: Ledger, competition: Bytes32Text) -> CompetitionAnswer:
    """Describe one competition."""
    published = await ledger.sequencer.settled()
    wanted, now_ms = digest_from_text(competition), ledger.clock()
    now = competitions.competition_snapshot(ledger.state, wanted, now_ms)
    return competitions.competition_answer(now, as_of(published))
