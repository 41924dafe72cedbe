"""Points for other keys in a real ledger: its rows, rankings, answers and pages."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from tequio_ledger.log.sequencer import Refused
from tequio_ledger.replay import replay
from tequio_ledger.store import ranking
from tequio_ledger.store.models import ATTENDED, CREDIT
from tequio_ledger.store.queries import StoredRows
from tequio_shared.ids import to_text
from tequio_shared.limits import JSON_INTEGER, WHOLE_PARTS
from tequio_shared.network.standing import Standing
from tequio_shared.round.points import points
from tequio_shared.statements.network import FaultReport, KeyRevoke, MemberName
from tests.ledger.log.test_coordinator import RULES, LedgerSwarm
from tests.ledger.log.test_sequencer_keys import stored, wrong_rows
from tests.ledger.log.test_sequencer_standing import leave_under_an_old_number
from tests.ledger.store.test_queries_teams import founding
from tests.ledger.test_replay import rows
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.page_reader import PageReader
from tests.support.signing_swarm import SigningPeer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.statements.statement import Entry

pytestmark = pytest.mark.usefixtures("either_database")


async def shared_rounds(ledger: Ledger, clock: VirtualClock) -> tuple[LedgerSwarm, SigningPeer]:
    """Two rounds in which the first peer gives points to the second, and to one that is away."""
    swarm = LedgerSwarm(ledger, clock)
    await swarm.open()
    owner = SigningPeer("owner", ledger, RULES.run_id)
    await swarm.post([owner.register(clock())])
    swarm.peers[0].parts = {owner.key: 600, swarm.peers[1].key: 100}
    for _ in range(2):
        await swarm.play(*swarm.peers[:3])
    return swarm, owner


def test_rows_follow_shared_points_and_a_replay_derives_the_same(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:

        async def run() -> tuple[LedgerSwarm, SigningPeer]:
            async with running(ledger):
                return await shared_rounds(ledger, clock)

        swarm, owner = asyncio.run(run())
        author, other = swarm.peers[:2]
        with ledger.database.reader.begin() as connection:
            paid = connection.execute(select(CREDIT).where(CREDIT.c.kind == "received")).all()
            attended = connection.scalars(
                select(ATTENDED.c.closed_index).where(ATTENDED.c.peer == owner.key)
            ).all()
            listed = StoredRows(connection).attended(owner.key, JSON_INTEGER, 9)
            trained = connection.scalars(
                select(CREDIT.c.gflop).where(
                    CREDIT.c.kind == "trainer", CREDIT.c.peer == author.key
                )
            ).all()
        assert {one.author for one in paid} == {author.key}
        received = [one.gflop for one in paid if one.peer == owner.key]
        assert len(received) == len(attended) == len(listed) == 2
        assert sorted(one.gflop for one in listed) == sorted(received)
        whole = sum(trained) + sum(one.gflop for one in paid)
        assert sum(received) in (whole * 600 // WHOLE_PARTS, whole * 600 // WHOLE_PARTS - 1)
        row = stored(ledger, owner.key)
        assert (row.peer.gflop, row.peer.received, row.peer.unvested) == (sum(received),) * 3
        assert row.standing.standing == Standing.NEWCOMER
        assert stored(ledger, other.key).peer.received > 0
        assert wrong_rows(ledger) is None
        before, size = rows(ledger), ledger.log.size
        _check_pages(ledger, swarm, owner)
    assert replay(make_settings(tmp_path)) == size
    with opened(make_settings(tmp_path), clock) as ledger:
        assert rows(ledger) == before


def _check_pages(ledger: Ledger, swarm: LedgerSwarm, owner: SigningPeer) -> None:
    reader, gflop = PageReader(ledger), stored(ledger, owner.key).peer.gflop
    page = reader.get(f"/peers/{to_text(owner.key)}")
    assert f"{points(gflop)} of its points are for the work of other keys" in page.text
    assert page.text.count("These points were shared by") == 2
    assert (
        "Part of these points was shared by"
        in reader.get(f"/peers/{to_text(swarm.peers[1].key)}").text
    )
    assert "It shared points with" in reader.get(f"/peers/{to_text(swarm.peers[0].key)}").text
    shown = reader.get(f"/runs/{to_text(RULES.run_id)}/rounds/1")
    with ledger.database.reader.begin() as connection:
        credited = connection.execute(select(CREDIT).where(CREDIT.c.round == 1)).all()
    assert f"Points paid {points(sum(one.gflop for one in credited))}" in shown.text
    given = next(one.gflop for one in credited if one.peer == owner.key)
    assert f"and {points(given)} to" in shown.text


def test_a_quarantine_of_the_author_takes_what_it_gave_from_rows_and_rankings(
    tmp_path: Path,
) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:

        async def run() -> tuple[LedgerSwarm, SigningPeer]:
            async with running(ledger):
                swarm, owner = await shared_rounds(ledger, clock)
                assert any(one.key == owner.key for one in _earners(ledger))
                await leave_under_an_old_number(swarm, swarm.peers[0])
                return swarm, owner

        swarm, owner = asyncio.run(run())
        author = stored(ledger, swarm.peers[0].key)
        assert author.standing.standing == Standing.QUARANTINED
        row = stored(ledger, owner.key)
        assert (row.peer.gflop, row.peer.received, row.peer.unvested) == (0, 0, 0)
        assert row.peer.forfeited > 0
        assert row.standing.standing == Standing.NEWCOMER
        assert not any(one.key == owner.key for one in _earners(ledger))
        assert wrong_rows(ledger) is None


def test_a_gift_that_is_forfeited_takes_no_revoked_receiver_off_the_leaderboards(
    tmp_path: Path,
) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        stranger, honest = swarm.peers[:2]
        await leave_under_an_old_number(swarm, stranger)
        await swarm.post([revocation(swarm, honest)])

    with played(tmp_path, scenario) as (ledger, swarm):
        honest = swarm.peers[1].key
        row = stored(ledger, honest)
        assert row.peer.forfeited > 0
        assert (row.standing.standing, row.standing.is_restricted) == (Standing.REVOKED, False)
        assert honest in [one.key for one in _earners(ledger)]
        team = row.peer.team
        assert _teams(ledger) == {team: ledger.state.team_orders.of(team).gflop}


def test_a_quarantine_after_a_revocation_takes_the_key_off_the_leaderboards(
    tmp_path: Path,
) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        other, cheat = swarm.peers[:2]
        at = cheat.seq, cheat.last
        two = []
        for name in ("oaxaca", "puebla"):
            two.append(cheat.sign(MemberName(name=name), swarm.clock()))
            cheat.seq, cheat.last = at
        report = FaultReport(leaves=tuple(to_text(one.leaf()) for one in two), piece="")
        # In one batch: the coordinator states the quarantine after the revocation.
        await swarm.post([other.sign(report, swarm.clock()), revocation(swarm, cheat)])

    with played(tmp_path, scenario) as (ledger, swarm):
        cheat = swarm.peers[1].key
        row = stored(ledger, cheat)
        assert (row.standing.standing, row.standing.is_restricted) == (Standing.REVOKED, True)
        assert row.peer.gflop == row.peer.received  # which is for the work of another key
        assert row.peer.forfeited > 0
        assert cheat not in [one.key for one in _earners(ledger)]
        assert _teams(ledger) == {}
        assert ledger.state.team_orders.of(row.peer.team).gflop == 0
        before, size = rows(ledger), ledger.log.size
    assert replay(make_settings(tmp_path)) == size
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        assert rows(ledger) == before


def revocation(swarm: LedgerSwarm, peer: SigningPeer) -> Entry:
    return peer.sign(KeyRevoke(peer=to_text(peer.key)), swarm.clock())


@contextmanager
def played(
    folder: Path, scenario: Callable[[LedgerSwarm], Awaitable[None]]
) -> Iterator[tuple[Ledger, LedgerSwarm]]:
    """A ledger after shared rounds, one for the receiver's new team, and what a test does then."""
    clock = VirtualClock()
    with opened(make_settings(folder), clock) as ledger:

        async def run() -> LedgerSwarm:
            async with running(ledger):
                swarm, _ = await shared_rounds(ledger, clock)
                await swarm.post([founding(swarm, swarm.peers[1], "Oaxaca")])
                await swarm.play(*swarm.peers[:3])
                await scenario(swarm)
                return swarm

        yield ledger, asyncio.run(run())
        assert wrong_rows(ledger) is None


def _teams(ledger: Ledger) -> dict[int, int]:
    with ledger.database.reader.begin() as connection:
        return {one.team: one.gflop for one in ranking.teams(connection, None, 9)}


def _earners(ledger: Ledger) -> list[ranking.Owner]:
    with ledger.database.reader.begin() as connection:
        return ranking.owners(connection, 0, 50)


def test_a_ledger_refuses_a_commitment_for_a_key_that_is_not_registered(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:

        async def run() -> None:
            async with running(ledger):
                swarm = LedgerSwarm(ledger, clock)
                await swarm.open()
                stranger = SigningPeer("stranger", ledger, RULES.run_id)
                await swarm.start_round(*swarm.peers[:3])
                swarm.peers[0].parts = {stranger.key: 1}
                (outcome,) = await ledger.sequencer.submit([swarm.peers[0].commit()])
                assert isinstance(outcome, Refused)
                assert outcome.code == "wrong-parts"
                assert stranger.key not in ledger.state.peers

        asyncio.run(run())
