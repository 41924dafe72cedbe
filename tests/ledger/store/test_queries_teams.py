"""Teams in the ledger: each round pays the team that a key is in at its close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from tequio_ledger.log.sequencer import Refused
from tequio_ledger.store import ranking
from tequio_ledger.store.models import CREDIT, PEER
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import MemberTeam, TeamDefine, TeamMember
from tests.ledger.log.test_coordinator import LedgerSwarm, drive

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.statements.statement import Entry
    from tests.support.signing_swarm import SigningPeer

LINK, OTHER = Signer(b"\x01" * 32), Signer(b"\x02" * 32)
DAY_MS = 86_400_000


def founding(swarm: LedgerSwarm, peer: SigningPeer, name: str, link: Signer = LINK) -> Entry:
    until = swarm.clock() + DAY_MS
    body = TeamDefine(
        team=0,
        name=name,
        invitation=to_text(link.key),
        until=until,
        most=5,
        goal=10**6,
        goal_until=until,
    )
    return peer.sign(body, swarm.clock())


def paid(swarm: LedgerSwarm, number: int) -> dict[bytes, set[int]]:
    """For which team a round paid each key."""
    with swarm.ledger.database.reader.begin() as connection:
        query = select(CREDIT.c.peer, CREDIT.c.team).where(CREDIT.c.round == number)
        found: dict[bytes, set[int]] = {}
        for peer, team in connection.execute(query):
            found.setdefault(peer, set()).add(team)
    return found


def test_a_round_pays_the_team_that_a_key_is_in_when_it_closes(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        one, two, three = swarm.peers[:3]
        await swarm.open()
        await swarm.play(one, two, three)
        await swarm.post([founding(swarm, one, "Oaxaca")])
        team = swarm.ledger.state.teams.of(one.key)
        await swarm.post([two.sign(MemberTeam(team=team), swarm.clock(), LINK)])
        await swarm.start_round(one, two, three)
        await swarm.post([two.sign(MemberTeam(team=0), swarm.clock())])
        await swarm.post([founding(swarm, two, "Puebla", OTHER)])
        puebla = swarm.ledger.state.teams.of(two.key)
        await swarm.post([three.sign(MemberTeam(team=team), swarm.clock(), LINK)])
        await swarm.post([peer.commit() for peer in (one, two, three)])
        await swarm.post([peer.prove() for peer in (one, two, three)])
        assert paid(swarm, 1)[one.key] == {0}
        assert paid(swarm, 2) == {one.key: {team}, two.key: {puebla}, three.key: {team}}
        remove = TeamMember(peer=to_text(three.key), to="removed")
        await swarm.post([one.sign(remove, swarm.clock())])
        await swarm.play(one, two, three)
        assert paid(swarm, 3)[three.key] == {0}
        with swarm.ledger.database.reader.begin() as connection:
            places = {row.team: row.gflop for row in ranking.teams(connection, None, 9)}
            rows = {
                row.key: row.team for row in connection.execute(select(PEER.c.key, PEER.c.team))
            }
        assert rows[three.key] == 0, "the row of a removed member is written again"
        assert (rows[one.key], rows[two.key]) == (team, puebla)
        state = swarm.ledger.state
        for index in (team, puebla):
            assert state.team_orders.of(index).gflop == places[index] > 0
            goal = state.teams.records[index].goal
            assert goal is not None
            assert goal.reached == places[index]

    drive(tmp_path, scenario)


def test_a_link_that_has_ended_is_refused_by_the_ledger_and_leaves_no_trace(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        one, two, three = swarm.peers[:3]
        await swarm.open()
        await swarm.play(one, two, three)
        await swarm.post([founding(swarm, one, "Oaxaca")])
        team = swarm.ledger.state.teams.of(one.key)
        swarm.clock.pass_ms(DAY_MS)
        for link, code in ((LINK, "invitation-ended"), (OTHER, "invitation-ended")):
            end = two.seq, two.last
            entry = two.sign(MemberTeam(team=team), swarm.clock(), link)
            (refused,) = await swarm.ledger.sequencer.submit([entry])
            assert isinstance(refused, Refused)
            assert refused.code == code
            two.seq, two.last = end
        assert swarm.ledger.state.types["member.team"] == 0
        assert swarm.ledger.state.teams.of(two.key) == 0

    drive(tmp_path, scenario)


def test_the_teams_are_known_after_a_restart(tmp_path: Path) -> None:
    async def begin(swarm: LedgerSwarm) -> None:
        one, two, three = swarm.peers[:3]
        await swarm.open()
        await swarm.play(one, two, three)
        await swarm.post([founding(swarm, one, "Oaxaca")])

    async def again(swarm: LedgerSwarm) -> None:
        (team,) = swarm.ledger.state.teams.records
        assert swarm.ledger.state.teams.of(swarm.peers[0].key) == team
        assert swarm.ledger.state.teams.name_of(team) == "Oaxaca"

    drive(tmp_path, begin)
    drive(tmp_path, again)
