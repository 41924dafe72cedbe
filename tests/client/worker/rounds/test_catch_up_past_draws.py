"""Draws before our view began: who restarts learns what is still wanted of it, from the log."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from tequio_client.ledger.api import LedgerNetwork
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.catch_up import MAX_ENTRIES, add_past_draws
from tequio_client.worker.rounds.duties import MemberState, next_duty
from tequio_client.worker.store.store import Store
from tequio_shared.head.chain import NextHead
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.network.run import RunView
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.statements.runs import RoundOpen
from tests.client.worker.rounds.test_join import PaperLedger, heads_of
from tests.support.duty_swarm import DutySwarm
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.worker.node import Node
    from tequio_shared.head.chain import Head
    from tequio_shared.ids import Digest
    from tequio_shared.round.measures import MeasureDraw
    from tests.support.duty_swarm import DutyMember


pytestmark = pytest.mark.trio


@pytest.fixture(scope="module")
def swarm() -> DutySwarm:
    """The log of a whole run that measures every second head."""
    made = swarm_of(most=5)
    made.run()
    return made


def swarm_of(most: int) -> DutySwarm:
    rules = msgspec.structs.replace(tiny_manifest(most=most), measure=MeasureRules(every=2))
    made = DutySwarm(rules)
    for name in ("ana", "bo", "cleo"):
        made.join(name)
    return made


class ReturningMember:
    """A member that returns to the swarm with some heads in its store."""

    def __init__(self, swarm: DutySwarm, folder: Path, member: DutyMember) -> None:
        self.swarm, self.key = swarm, member.key
        self.store = Store(folder / "store", quota_bytes=10**9)
        self.ledger = PaperLedger(swarm)
        self.read: list[Digest] = []
        info = LedgerNetwork(id=swarm.net, genesis=swarm.genesis, log_key=swarm.log_signer)  # type: ignore[arg-type]
        self.node = cast(
            "Node",
            SimpleNamespace(
                ledger=self.ledger,
                store=self.store,
                network_info=info,
                signer=member.voice.signer,
                exchange=SimpleNamespace(fetch_blob=self._blob),
            ),
        )

    async def _blob(self, name: Digest) -> bytes:
        self.read.append(name)
        return self.swarm.blobs[name]

    def store_weights(self, *heads: Head) -> None:
        """Store the weights of these heads."""
        for head in heads:
            content = self.swarm.arithmetic.weights[head.weights_root].astype("<i4").tobytes()
            self.store.put_tree(content, PIECE_BYTES)

    async def come_back(self, after: int, heads: Sequence[Head]) -> RunView:
        """Start after that entry, with these heads known."""
        head = self.swarm.view.head
        assert head is not None
        coming = NextHead(round=head.round, parent=head.parent, set_root=head.set_root)
        view = RunView.light(self.swarm.net, self.swarm.manifest, head=None, next_head=coming)
        await add_past_draws(self.node, view, after, heads)
        return view


def drawn_for(swarm: DutySwarm, head: Head) -> tuple[MeasureDraw, DutyMember]:
    """The draw as the whole log has it, and a member that it fell on."""
    again = swarm.replay()
    draw = next(one for one in again.draws.open if one.head == head)
    return draw, next(one for one in swarm.members if one.key in draw.drawn)


def opened(swarm: DutySwarm, round_number: int) -> int:
    """Where a round was opened."""
    return next(
        index
        for index, one in enumerate(swarm.entries)
        if isinstance(one.statement.body, RoundOpen) and one.statement.round == round_number
    )


async def test_who_comes_back_computes_the_draw_that_it_missed_and_measures(
    swarm: DutySwarm, tmp_path: Path
) -> None:
    heads = heads_of(swarm)
    draw, member = drawn_for(swarm, heads[2])
    back = ReturningMember(swarm, tmp_path, member)
    back.store_weights(heads[2])
    view = await back.come_back(opened(swarm, 4), heads)
    assert [(one.head, one.drawn) for one in view.draws.open] == [(draw.head, draw.drawn)]
    assert len(back.read) == 1, "the roster of one round"
    own = MemberState(
        key=member.key, held=None, closed={}, has_weights=lambda head: head == heads[2]
    )
    assert next_duty(view, own) == duties.MeasureDuty(heads[2], is_drawn=True)
    assert isinstance(next_duty(view, replace(own, has_weights=lambda _: False)), duties.WaitDuty)


async def test_several_draws_that_are_still_open_are_all_found(
    swarm: DutySwarm, tmp_path: Path
) -> None:
    heads = heads_of(swarm)
    member = next(
        one
        for one in swarm.members
        if all(one.key in drawn_for(swarm, heads[at])[0].drawn for at in (0, 2))
    )
    back = ReturningMember(swarm, tmp_path, member)
    back.store_weights(heads[0], heads[1], heads[2])
    view = await back.come_back(opened(swarm, 4), heads)
    assert [one.head.round for one in view.draws.open] == [0, 2]


async def test_draws_whose_measures_are_closed_are_left_out_and_void_rounds_close_none(
    tmp_path: Path,
) -> None:
    swarm = swarm_of(most=10)
    swarm.run_rounds(3)
    away, swarm.members = swarm.members, []
    while not swarm.view.voided:
        assert swarm.step()
    swarm.members = away
    while swarm.step():  # also the measures after the run's end
        pass
    assert [one.head.round for one in swarm.view.draws.open] == [2, 6, 8, 10], "round 4 was void"
    heads = [swarm.view.heads[number] for number in (0, 2, 6)]
    drawn = {one.head.round: one.drawn for one in swarm.replay().draws.open}
    for at, member in enumerate(swarm.members):
        back = ReturningMember(swarm, tmp_path / str(at), member)
        back.store_weights(*heads)
        view = await back.come_back(len(swarm.entries), heads)
        mine = [number for number in (2, 6) if member.key in drawn[number]]
        assert [one.head.round for one in view.draws.open] == mine


async def test_what_is_of_no_use_is_not_looked_for(swarm: DutySwarm, tmp_path: Path) -> None:
    heads = heads_of(swarm)
    draw, member = drawn_for(swarm, heads[2])
    back = ReturningMember(swarm, tmp_path / "drawn", member)
    assert not (await back.come_back(opened(swarm, 4), heads)).draws.open, "no weights"
    back.store_weights(heads[1], heads[2])
    before = opened(swarm, 3) - 1
    assert not (await back.come_back(before, heads)).draws.open, "the view will see it"
    assert back.read == []
    others = [one for one in swarm.members if one.key not in draw.drawn]
    for at, one in enumerate([*others, swarm.join("new")]):
        away = ReturningMember(swarm, tmp_path / str(at), one)
        away.store_weights(heads[2])
        assert not (await away.come_back(opened(swarm, 4), heads)).draws.open, "not drawn"
    swarm.members.pop()


async def test_a_ledger_that_lies_about_the_rounds_makes_no_draw(
    swarm: DutySwarm, tmp_path: Path
) -> None:
    heads = heads_of(swarm)
    _, member = drawn_for(swarm, heads[2])
    back = ReturningMember(swarm, tmp_path, member)
    back.store_weights(heads[2])
    honest = list(back.ledger.rows)
    row = next(one for one in honest if one.round == 3)
    lies: dict[str, dict[str, object]] = {
        "another round": {
            "roster_index": honest[0].roster_index,
            "opened_index": honest[0].opened_index,
        },
        "in the middle": {"roster_index": row.roster_index + 1},
        "before its promotion": {"opened_index": row.roster_index + 1},
        "too long": {"roster_index": row.roster_index - MAX_ENTRIES},
        "beyond the log": {"roster_index": 10_000, "opened_index": 10_001},
    }
    for name, lie in lies.items():
        told = msgspec.structs.replace(row, **lie)
        back.ledger.rows = [told if one is row else one for one in honest]
        view = await back.come_back(10**6, heads)
        assert not view.draws.open, name
    back.ledger.rows = []
    assert not (await back.come_back(10**6, heads)).draws.open, "no such round"
