"""The kept order of a team's members equals a plain sort after every entry of a log."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, to_text
from tequio_shared.network.standing import Standing
from tequio_shared.served.state import State
from tequio_shared.served.team_order import TeamOrder
from tequio_shared.statements.network import StandingRelease
from tests.shared.network.test_key_links import RECOVERY, commit_badly, quarantined
from tests.shared.network.test_teams import TeamSwarm
from tests.support.tiny_run import signer
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.statements.statement import Entry


class OrderSwarm(TeamSwarm):
    """A swarm whose view is a ledger's state; each entry is followed by a comparison."""

    state: State
    compared = 0

    def _new_view(self) -> State:
        self.state = State(self.genesis, self.blobs.__getitem__)
        return self.state

    def _log(self, entry: Entry) -> None:
        super()._log(entry)
        self.compare()

    def compare(self) -> None:
        state = self.state
        for team in state.teams.records:
            order = state.team_orders.of(team)
            rows, gflop = plainly(state, team)
            assert list(order.page(0, 4_096)) == rows
            assert order.gflop == gflop
            assert list(order.page(1, 2)) == rows[1:3]
            self.compared += 1


def plainly(state: State, team: int) -> tuple[list[tuple[PeerKey, int, int]], int]:
    """Sort all members of a team."""
    record, earned = state.teams.records[team], Counter[PeerKey]()
    for key, gflop in record.earned.items():
        holder = state.links.holder(key)
        if not state.standings.is_restricted(holder):
            earned[holder] += gflop
    order = sorted(record.members.items(), key=lambda one: (-earned[one[0]], one[1], one[0]))
    return [(key, since, earned[key]) for key, since in order], earned.total()


@pytest.fixture
def swarm() -> OrderSwarm:
    made = OrderSwarm(*"abcdef")
    made.found("a")
    for name in "bcde":
        made.enter(name)
    made.run_rounds(2)
    return made


def order_of(swarm: OrderSwarm) -> list[tuple[PeerKey, int, int]]:
    return list(swarm.state.team_orders.of(swarm.team).page(0, 9))


def gflop_of(swarm: OrderSwarm) -> dict[PeerKey, int]:
    return {key: gflop for key, _, gflop in order_of(swarm)}


def test_rounds_put_those_first_who_earned_most(swarm: OrderSwarm) -> None:
    gflop = [one[2] for one in order_of(swarm)]
    assert gflop == sorted(gflop, reverse=True)
    assert gflop[0] > 0
    assert swarm.compared > 50


def test_points_of_a_member_that_left_stay_and_its_place_goes(swarm: OrderSwarm) -> None:
    before = swarm.state.team_orders.of(swarm.team).gflop
    swarm.leave("b")
    swarm.change("a", "c", "removed")
    assert swarm.them["b"].key not in [key for key, _, _ in order_of(swarm)]
    assert len(order_of(swarm)) == 3
    assert swarm.state.team_orders.of(swarm.team).gflop == before


def test_a_quarantine_takes_points_out_and_a_release_puts_them_back(swarm: OrderSwarm) -> None:
    one = swarm.them["d"]
    quarantined(swarm, one)
    order = swarm.state.team_orders.of(swarm.team)
    during = order.gflop
    assert order_of(swarm)[-1][0] == one.key
    assert order_of(swarm)[-1][2] == 0
    swarm.organise(StandingRelease(peer=to_text(one.key), reason=1))
    assert swarm.standings.of(one.key) is Standing.ACTIVE
    assert order.gflop > during


def test_a_revocation_brings_no_points_back_that_a_quarantine_took(swarm: OrderSwarm) -> None:
    one = swarm.them["d"]
    quarantined(swarm, one)
    during = swarm.state.team_orders.of(swarm.team).gflop
    swarm.revoke(one, one.key)
    assert swarm.state.team_orders.of(swarm.team).gflop == during


def test_a_fault_that_is_reported_after_the_revocation_takes_the_points_out(
    swarm: OrderSwarm,
) -> None:
    one = swarm.them["d"]
    report = commit_badly(swarm, one)
    swarm.revoke(one, one.key)
    swarm.volunteers.remove(one)
    assert gflop_of(swarm)[one.key] > 0
    swarm.post(swarm.them["a"], StatementDraft(report))
    while gflop_of(swarm)[one.key]:
        assert swarm.step()
    assert swarm.standings.of(one.key) is Standing.REVOKED


def test_a_successor_has_the_points_of_all_its_former_keys(swarm: OrderSwarm) -> None:
    paid = gflop_of(swarm)
    first = swarm.them["b"]
    swarm.bind(first, RECOVERY)
    swarm.revoke(first, first.key)
    assert gflop_of(swarm) == paid
    second = swarm.replace(first, "heir", RECOVERY)
    third = swarm.replace(second, "heir of the heir", RECOVERY)
    assert gflop_of(swarm)[third.key] == paid[first.key] > 0


def test_many_changes_in_any_order(swarm: OrderSwarm) -> None:
    chance = Random(11)
    swarm.found("f", "Puebla", signer("link of f"))
    acts: dict[str, Callable[[str], object]] = {
        "leave": swarm.leave,
        "join": lambda name: swarm.enter(name, team=min(swarm.network.teams.records)),
        "other": lambda name: swarm.enter(name, signer("link of f"), team=swarm.team),
        "replace": lambda name: swarm.them.__setitem__(
            name, swarm.replace(swarm.them[name], f"heir {len(swarm.entries)}")
        ),
        "rounds": lambda _name: swarm.run_rounds(1),
    }
    done = Counter[str]()
    for _ in range(80):
        kind = chance.choice(sorted(acts))
        try:
            acts[kind](chance.choice("bcde"))
            done[kind] += 1
        except RefusedError:
            continue
    assert done.keys() == acts.keys()


def test_a_page_reads_no_more_than_its_rows(
    swarm: OrderSwarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the order is made, a request looks at none of the team's members."""
    order = swarm.state.team_orders.of(swarm.team)
    monkeypatch.setattr(TeamOrder, "_count", None)
    monkeypatch.setattr(swarm.record, "members", None)
    assert swarm.state.team_orders.of(swarm.team) is order
    assert len(list(order.page(1, 2))) == 2
