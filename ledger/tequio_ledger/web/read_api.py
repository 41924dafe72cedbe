"""GET /healthz and /v1/…: the network, its runs, rounds, keys and points, as JSON.

A handler either waits until every committed entry is published and reads the state, or reads rows
in a `snapshot`: its answer is true for the checkpoint that it names.
"""

from itertools import islice
from typing import Annotated

import msgspec
from starlette.responses import Response

from tequio_ledger import SOFTWARE
from tequio_ledger.ledger import Ledger
from tequio_ledger.store import queries, ranking
from tequio_ledger.web.answers import (
    as_of,
    peer_answer,
    round_answer,
    run_answer,
    snapshot,
    standing_answer,
)
from tequio_ledger.web.routing import Index, Limit, get, json_answer
from tequio_shared.api.network import (
    ConnectorAnswer,
    ConnectorsAnswer,
    HealthAnswer,
    InvitationAnswer,
    InvitationsAnswer,
    NetworkAnswer,
)
from tequio_shared.api.peers import (
    AttendedAnswer,
    PeerAnswer,
    PeerRoundsAnswer,
    PeersAnswer,
    PeerStandingAnswer,
    QuarantineAnswer,
    RankedAnswer,
    RankingAnswer,
)
from tequio_shared.api.runs import (
    MeasureAnswer,
    MeasuredAnswer,
    MeasuresAnswer,
    RoundAnswer,
    RoundsAnswer,
    RunAnswer,
    RunsAnswer,
    SampleAnswer,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, RunId, from_text, key_from_text, peer_id_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.standing import Standing
from tequio_shared.network.tiers import Invitation
from tequio_shared.round import measures

AfterRound = Annotated[int, msgspec.Meta(ge=-1, le=JSON_INTEGER)]
Reach = Annotated[int, msgspec.Meta(ge=0, le=100)]
NAMED = (Standing.QUARANTINED, Standing.BANNED, Standing.SUSPECTED, Standing.PROBATION)
"""Standings that the quarantine list includes."""
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
        as_of=as_of(ledger.published),
    )


@get("/v1/runs")
async def get_runs(ledger: Ledger, after: Index = 0, limit: Limit = 100) -> RunsAnswer:
    """List runs in the order in which they were opened, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    later = (run for run, index in ledger.state.opened.items() if index > after)
    runs = [run_answer(ledger.state, run, published) for run in islice(later, limit)]
    last = runs[-1].opened_index if len(runs) == limit else None
    return RunsAnswer(runs, last, as_of(published))


@get("/v1/runs/{run}")
async def get_run(ledger: Ledger, run: str) -> RunAnswer:
    """Describe one run."""
    published = await ledger.sequencer.settled()
    return run_answer(ledger.state, RunId(from_text(run)), published)


@get("/v1/runs/{run}/rounds")
def get_rounds(ledger: Ledger, run: str, after: Index = 0, limit: Limit = 100) -> RoundsAnswer:
    """List rounds after a number."""
    with snapshot(ledger.database) as (connection, published):
        rows = queries.read_rounds(connection, from_text(run), after, limit)
    last = rows[-1].round if len(rows) == limit else None
    return RoundsAnswer([round_answer(row, published) for row in rows], last, as_of(published))


@get("/v1/runs/{run}/rounds/{number:int}")
def get_round(ledger: Ledger, run: str, number: int) -> RoundAnswer:
    """Describe one round."""
    if not 0 < number <= JSON_INTEGER:
        raise RefusedError("not-found", f"round numbers start at 1, so {number} is not one")
    with snapshot(ledger.database) as (connection, published):
        rows = queries.read_rounds(connection, from_text(run), number - 1, 1)
    if not rows or rows[0].round != number:
        raise RefusedError("not-found", f"the run has no round {number}")
    return round_answer(rows[0], published)


@get("/v1/peers")
def get_peers(ledger: Ledger, after: str = "", limit: Limit = 100) -> PeersAnswer:
    """List keys in order of registration, after a key."""
    with snapshot(ledger.database) as (connection, published):
        rows = queries.peers(connection, key_from_text(after) if after else None, limit)
    last = to_text(rows[-1].key) if len(rows) == limit else None
    return PeersAnswer([peer_answer(row, published) for row in rows], last, as_of(published))


@get("/v1/peers/{key}")
def get_peer(ledger: Ledger, key: str) -> PeerAnswer:
    """Describe one key."""
    with snapshot(ledger.database) as (connection, published):
        row = queries.peer(connection, PeerKey(from_text(key)))
    if row is None:
        raise RefusedError("not-found", f"key {key} is not registered")
    return peer_answer(row, published)


@get("/v1/runs/{run}/measures")
def get_measures(
    ledger: Ledger, run: str, after: AfterRound = -1, limit: Limit = 100
) -> MeasuresAnswer:
    """List heads measured on held-out text by drawn members, after the head of a round."""
    with snapshot(ledger.database) as (connection, published):
        heads = queries.measured_heads_after(connection, from_text(run), after, limit)
    last = heads[-1].round if len(heads) == limit else None
    return MeasuresAnswer([_measured_answer(head) for head in heads], last, as_of(published))


def _measured_answer(head: queries.MeasuredHead) -> MeasuredAnswer:
    shown = head.shown
    sample = measures.sample_of(shown.said) if shown else None
    return MeasuredAnswer(
        round=head.round,
        head=to_text(head.head),
        millibits=head.median.millibits,
        size_bytes=head.median.size_bytes,
        tokens=head.median.tokens,
        measures=[
            MeasureAnswer(
                entry=row.entry,
                peer=to_text(row.peer),
                millibits=row.said.millibits,
                size_bytes=row.said.size_bytes,
                tokens=row.said.tokens,
                is_outlier=row.is_outlier,
            )
            for row in head.rows
        ],
        sample=SampleAnswer(
            entry=shown.entry, peer=to_text(shown.peer), prompt=sample.prompt, text=sample.text
        )
        if shown and sample
        else None,
    )


@get("/v1/ranking")
def get_ranking(
    ledger: Ledger,
    around: str = "",
    n: Reach = 3,
    after: Index | None = None,
    behind: str = "",
    limit: Limit = 100,
) -> RankingAnswer:
    """List keys by points: those around a key, those behind a key, or those behind a place."""
    if bool(around) + bool(behind) + (after is not None) > 1:
        raise RefusedError("malformed", "give at most one of around, behind and after")
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
    page = [
        RankedAnswer(rank=row.rank, key=to_text(row.key), micropoints=row.micropoints)
        for row in rows
    ]
    return RankingAnswer(page, last, ranked, as_of(published))


@get("/v1/peers/{key}/rounds")
def get_peer_rounds(
    ledger: Ledger, key: str, before: Index = JSON_INTEGER, limit: Limit = 100
) -> PeerRoundsAnswer:
    """List the finished rounds in which a key took part, the newest first."""
    peer = PeerKey(from_text(key))
    with snapshot(ledger.database) as (connection, published):
        known = queries.peer(connection, peer)
        rows = queries.rounds(connection, peer, before, limit) if known else []
    if known is None:
        raise RefusedError("not-found", f"key {key} is not registered")
    last = rows[-1].closed_index if len(rows) == limit else None
    page = [
        AttendedAnswer(
            run=to_text(row.run),
            round=row.round,
            roster_index=row.roster_index,
            closed_index=row.closed_index,
            outcome=row.outcome,
            micropoints=row.micropoints,
        )
        for row in rows
    ]
    return PeerRoundsAnswer(page, last, as_of(published))


@get("/v1/quarantine")
def get_quarantine(ledger: Ledger, after: Index = 0, limit: Limit = 100) -> QuarantineAnswer:
    """List keys that are quarantined, banned, suspected or on probation, the oldest first."""
    with snapshot(ledger.database) as (connection, published):
        rows = queries.standings(connection, NAMED, after, limit)
    held = [
        PeerStandingAnswer(
            key=to_text(row.key), peer_id=peer_id_text(row.key), standing=standing_answer(row)
        )
        for row in rows
    ]
    last = rows[-1].since if len(rows) == limit else None
    return QuarantineAnswer(held, last, as_of(published))


@get("/v1/invitations")
async def get_invitations(
    ledger: Ledger, after: Index = 0, limit: Limit = 100
) -> InvitationsAnswer:
    """List invitations, after the entry that opened one."""
    published = await ledger.sequencer.settled()
    known = ledger.state.tiers.invitations
    later = ((key, one) for key, one in known.items() if one.index > after)
    page = [_invitation_answer(key, one) for key, one in islice(later, limit)]
    last = page[-1].index if len(page) == limit else None
    return InvitationsAnswer(page, last, as_of(published))


@get("/v1/connectors")
async def get_connectors(ledger: Ledger) -> ConnectorsAnswer:
    """List the keys that may vouch for others."""
    published = await ledger.sequencer.settled()
    known = sorted(ledger.state.tiers.connectors.items())
    page = [ConnectorAnswer(key=to_text(key), until=until) for key, until in known]
    return ConnectorsAnswer(page, as_of(published))


def _invitation_answer(key: PeerKey, one: Invitation) -> InvitationAnswer:
    return InvitationAnswer(
        invitation=to_text(key),
        index=one.index,
        uses=one.uses,
        used=one.used,
        until=one.until,
        run=None if one.run is None else to_text(one.run),
        closed=one.closed,
        revoked=one.revoked,
    )
