"""Teams: a key says which one it earns for, and each round pays the one it is in at its close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from tequio_ledger.log.sequencer import Refused
from tequio_ledger.store import ranking
from tequio_ledger.store.models import Credit
from tequio_shared.statements.network import MemberTeam
from tests.ledger.log.test_coordinator import LedgerSwarm, drive

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.statements.statement import Entry
    from tests.support.signing_swarm import SigningPeer


def team_statement(swarm: LedgerSwarm, peer: SigningPeer, team: str) -> Entry:
    return peer.sign(MemberTeam(team=team), swarm.clock())


def paid(swarm: LedgerSwarm, number: int) -> dict[bytes, set[str]]:
    """For which team a round paid each key."""
    with swarm.ledger.database.reader.begin() as connection:
        query = select(Credit.peer, Credit.team).where(Credit.round == number)
        found: dict[bytes, set[str]] = {}
        for peer, team in connection.execute(query):
            found.setdefault(peer, set()).add(team)
    return found


def test_a_round_pays_the_team_that_a_key_is_in_when_it_closes(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        one, two, three = swarm.peers[:3]
        await swarm.open()
        await swarm.post(
            [team_statement(swarm, one, "oaxaca"), team_statement(swarm, two, "oaxaca")]
        )
        await swarm.start_round(one, two, three)
        await swarm.post(
            [team_statement(swarm, two, "puebla-2"), team_statement(swarm, three, "oaxaca")]
        )
        await swarm.post([peer.commit() for peer in (one, two, three)])
        await swarm.post([peer.prove() for peer in (one, two, three)])
        assert paid(swarm, 1) == {
            one.key: {"oaxaca"},
            two.key: {"puebla-2"},
            three.key: {"oaxaca"},
        }
        await swarm.post([team_statement(swarm, one, "")])
        await swarm.play(one, two, three)
        assert paid(swarm, 2)[one.key] == {""}
        with swarm.ledger.database.reader.begin() as connection:
            places = {team.name: team.gflop for team in ranking.teams(connection, None, 9)}
        earned = {peer.key: swarm.ledger.state.gflop(peer.key) for peer in (one, two, three)}
        assert places["puebla-2"] == earned[two.key], "what was earned before it left is its own"
        assert earned[three.key] < places["oaxaca"] < earned[one.key] + earned[three.key]

    drive(tmp_path, scenario)


def test_a_word_that_changes_nothing_is_refused(tmp_path: Path) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        peer = swarm.peers[0]
        for team, once_more in (("", False), ("oaxaca", True), ("puebla", True), ("", True)):
            if once_more:
                await swarm.post([team_statement(swarm, peer, team)])
            end = peer.seq, peer.last
            (refused,) = await swarm.ledger.sequencer.submit([team_statement(swarm, peer, team)])
            assert isinstance(refused, Refused)
            assert refused.code == "already-said"
            peer.seq, peer.last = end
        assert swarm.ledger.state.teams.of(peer.key) == ""

    drive(tmp_path, scenario)


def test_the_teams_are_known_after_a_restart(tmp_path: Path) -> None:
    async def begin(swarm: LedgerSwarm) -> None:
        await swarm.open()
        await swarm.post([team_statement(swarm, swarm.peers[0], "oaxaca")])

    async def again(swarm: LedgerSwarm) -> None:
        assert swarm.ledger.state.teams.of(swarm.peers[0].key) == "oaxaca"

    drive(tmp_path, begin)
    drive(tmp_path, again)
