"""Going on from an older head: from where, at what price, and not on the ledger's word alone.

The log is that of a swarm in memory, served without a network; its proofs are the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from tequio_client.ledger.api import LedgerNetwork
from tequio_client.worker.rounds import catch_up, duties, join
from tequio_client.worker.rounds.catch_up import promoted_head
from tequio_client.worker.rounds.duties import MemberState, next_duty
from tequio_client.worker.rounds.join import EarlierStart, cheaper_start, nearest_start, start_after
from tequio_client.worker.store import trees
from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.transfer import Fetcher
from tequio_shared.api.runs import MeasuredAnswer, MeasuresAnswer, RoundAnswer
from tequio_shared.errors import PeerError
from tequio_shared.head.chain import AcceptedSet, Head
from tequio_shared.ids import Digest, HeadHash, sha256, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.log.merkle import leaf_hash, root, root_of_hashes
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.tiles import TILE_WIDTH
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.run import RunView, first_head
from tequio_shared.network.standing import KeyStatus
from tequio_shared.network.tiers import Tiers
from tequio_shared.statements.runs import (
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
)
from tests.support import memory_swarm as swarms
from tests.support.answers import filled
from tests.support.duty_swarm import DutySwarm
from tests.support.loopback import two_peers
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.node import Node
    from tequio_client.worker.swarm.peers import PeerNetwork
    from tequio_shared.ids import RunId


ROUNDS = 5


@pytest.fixture(scope="module")
def swarm() -> DutySwarm:
    """The log of a whole run."""
    made = DutySwarm(tiny_manifest(most=ROUNDS))
    for name in ("ana", "bo", "cleo"):
        made.join(name)
    made.run()
    return made


def heads_of(swarm: DutySwarm) -> list[Head]:
    """The promoted heads, in order; the first is the run's beginning."""
    promoted = [one.statement for one in swarm.entries]
    found = [
        promoted_head(swarm.manifest, one) for one in promoted if isinstance(one.body, HeadPromote)
    ]
    assert [one.round for one in found] == list(range(ROUNDS + 1))
    return found


class PaperLedger:
    """Serves the swarm's log as a ledger does."""

    def __init__(self, swarm: DutySwarm) -> None:
        self._leaves = swarm.leaves()
        self._hashes = [Digest(leaf_hash(leaf)) for leaf in self._leaves]
        self.rows = _rows(swarm)
        said = [one.statement for one in swarm.entries]
        measured = {one.round or 0 for one in said if isinstance(one.body, HeadMeasure)}
        self._measured = sorted(measured)

    async def checkpoint(self) -> Checkpoint:
        """The whole log."""
        size = len(self._leaves)
        return Checkpoint(origin=swarms.ORIGIN, size=size, root=root(self._leaves))

    async def entries(self, first: int, end: int) -> list[bytes]:
        """Some leaves."""
        return self._leaves[first:end]

    async def tile(self, level: int, index: int, width: int) -> list[Digest]:
        """Hashes of full subtrees."""
        step = TILE_WIDTH**level
        starts = [(index * TILE_WIDTH + at) * step for at in range(width)]
        return [Digest(root_of_hashes(self._hashes[at : at + step])) for at in starts]

    async def rounds(self, _: RunId, *, after: int, limit: int) -> tuple[RoundAnswer, ...]:
        """The rounds after that number."""
        return tuple([row for row in self.rows if row.round > after][:limit])

    async def measures(self, _: RunId, *, after: int, limit: int) -> MeasuresAnswer:
        """The measured heads after that round."""
        numbers = [number for number in self._measured if number > after]
        heads = [filled(MeasuredAnswer, round=number) for number in numbers[:limit]]
        return filled(MeasuresAnswer, heads=heads)


def _rows(swarm: DutySwarm) -> list[RoundAnswer]:
    rows: dict[int, RoundAnswer] = {}
    for index, entry in enumerate(swarm.entries):
        number = entry.statement.round or 0
        match entry.statement.body:
            case RoundRoster(roster=name):
                rows[number] = filled(
                    RoundAnswer,
                    round=number,
                    outcome="open",
                    roster_index=index,
                    roster=name,
                    accepted=0,
                )
            case RoundOpen(head=head):
                change = {"opened_index": index, "head": head}
                rows[number] = msgspec.structs.replace(rows[number], **change)
            case RoundClose(accepted=accepted, result=result):
                change = {"closed_index": index, "accepted": accepted, "result": result}
                rows[number] = msgspec.structs.replace(rows[number], **change)
    return list(rows.values())


@dataclass(frozen=True)
class ReturningPeer:
    """A peer that returns to the swarm: its store, and the ledger that it asks."""

    swarm: DutySwarm
    ledger: PaperLedger
    store: Store

    @property
    def node(self) -> Node:
        """A node with only the parts that the choice needs."""
        swarm = self.swarm
        key = swarm.log_signer
        info = LedgerNetwork(id=swarm.net, genesis=swarm.genesis, log_key=key)  # type: ignore[arg-type]
        parts = SimpleNamespace(ledger=self.ledger, store=self.store, network_info=info)
        return cast("Node", parts)

    def store_weights(self, head: Head) -> None:
        """Store the weights of a head."""
        content = self.swarm.arithmetic.weights[head.weights_root].astype("<i4").tobytes()
        assert self.store.put_tree(content, PIECE_BYTES).root == head.weights_root

    async def choose(self, target: Head, *heads: Head, unread: int = 0) -> EarlierStart | None:
        """Choose a start from these known heads, with `unread` more entries in the log."""
        after = len(self.swarm.entries) + unread
        return await cheaper_start(self.node, self.swarm.manifest, target, after, heads)

    async def start(self, head: Head) -> EarlierStart:
        """Begin after that head."""
        rows = [row for row in self.ledger.rows if row.round > head.round]
        return await start_after(self.node, self.swarm.manifest, head, rows)


@pytest.fixture
def returner(swarm: DutySwarm, tmp_path: Path) -> ReturningPeer:
    store = Store(tmp_path / "store", quota_bytes=10**9)
    return ReturningPeer(swarm, PaperLedger(swarm), store)


@pytest.mark.trio
async def test_from_every_older_head_the_accepted_sets_lead_to_the_last(
    returner: ReturningPeer,
) -> None:
    heads = heads_of(returner.swarm)
    for base in heads[:-1]:
        view, closed = fold(returner.swarm, await returner.start(base))
        assert view.head == heads[-1]
        at = base.hash
        for head in heads[base.round + 1 :]:
            assert closed[at].round == head.round
            assert closed[at].set_root == head.set_root
            at = head.hash


def fold(swarm: DutySwarm, start: EarlierStart) -> tuple[RunView, dict[HeadHash, AcceptedSet]]:
    """Read the log from there to its end."""
    closed: dict[HeadHash, AcceptedSet] = {}
    for index in range(start.after + 1, len(swarm.entries)):
        statement = swarm.entries[index].statement
        if statement.run is None:
            continue
        start.view.apply(index, statement, 0, swarm.blobs.__getitem__)
        if isinstance(statement.body, RoundClose):
            assert start.view.round is not None
            found = start.view.round.accepted_set(index)
            closed[found.parent] = found
    return start.view, closed


@pytest.mark.trio
async def test_the_nearest_head_at_hand_is_gone_on_from(returner: ReturningPeer) -> None:
    heads = heads_of(returner.swarm)
    assert await returner.choose(heads[-1], *heads) is None  # none of them is here
    for head in (heads[0], heads[2]):
        returner.store_weights(head)
    start = await returner.choose(heads[-1], *heads)
    assert start is not None
    assert start.base == heads[2]
    returner.store_weights(heads[-1])
    assert await returner.choose(heads[-1], *heads) is None


@pytest.mark.trio
async def test_a_way_that_costs_more_than_the_head_is_not_gone(
    returner: ReturningPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = heads_of(returner.swarm)
    returner.store_weights(heads[0])
    assert await returner.choose(heads[-1], heads[0]) is not None
    assert await returner.choose(heads[-1], heads[0], unread=10_000) is None
    monkeypatch.setattr(join, "MAX_REPLAYED", ROUNDS - 1)
    assert await returner.choose(heads[-1], heads[0]) is None


@pytest.mark.trio
async def test_a_head_that_the_log_does_not_name_is_no_base(returner: ReturningPeer) -> None:
    heads = heads_of(returner.swarm)
    strange = replace(heads[2], hash=HeadHash(sha256(b"our own mistake")))
    returner.store_weights(strange)
    assert await returner.choose(heads[-1], strange) is None
    with pytest.raises(PeerError, match="does not start from the head"):
        await returner.start(strange)


@pytest.mark.trio
@pytest.mark.parametrize("field", ["roster_index", "opened_index"])
async def test_where_the_ledger_points_is_read_from_the_log(
    returner: ReturningPeer, field: str
) -> None:
    base, rows = heads_of(returner.swarm)[2], returner.ledger.rows
    for wrong in (0, 5, getattr(rows[3], field)):
        rows[2] = msgspec.structs.replace(rows[2], **{field: wrong})
        with pytest.raises(PeerError):
            await returner.start(base)


def behind(swarm: DutySwarm) -> tuple[RunView, MemberState, Head]:
    """A view of the whole run but its end, by somebody who holds head 2; and the last head."""
    heads = heads_of(swarm)
    view, closed = FullRunView.opened(swarm.net, swarm.manifest, KeyStatus(), Tiers()), {}
    promoted = 0
    for index, entry in enumerate(swarm.entries):
        statement = entry.statement
        if statement.run is not None and promoted <= ROUNDS:
            view.apply(index, statement, 0, swarm.blobs.__getitem__)
        if isinstance(statement.body, RoundClose) and view.round is not None:
            found = view.round.accepted_set(index)
            closed[found.parent] = found
        promoted += isinstance(statement.body, HeadPromote)
    assert view.head == heads[-1]
    return view, MemberState(key=swarm.members[0].key, held=heads[2], closed=closed), heads[-1]


def test_replaying_goes_before_fetching_unless_it_is_dear(swarm: DutySwarm) -> None:
    view, own, last = behind(swarm)
    assert next_duty(view, own) == duties.AdvanceDuty(own.closed[heads_of(swarm)[2].hash])
    dear = replace(own, is_replay_costlier=lambda goal: goal == last)
    assert next_duty(view, dear) == duties.FetchDuty(last)
    stuck = replace(own, stuck=[heads_of(swarm)[2].hash])
    assert next_duty(view, stuck) == duties.FetchDuty(last)
    on_its_way = heads_of(swarm)[4]
    both = replace(own, fetching=on_its_way, is_replay_costlier=lambda goal: goal == on_its_way)
    assert next_duty(view, both) == duties.FetchDuty(on_its_way)


def test_who_is_behind_the_run_says_nothing(swarm: DutySwarm) -> None:
    view, own, last = behind(swarm)
    late = replace(own, held=last, is_behind=True)
    assert isinstance(next_duty(view, late), duties.WaitDuty)
    assert isinstance(next_duty(view, replace(late, held=None)), duties.FetchDuty)


def test_what_is_missing_decides_what_is_dear(swarm: DutySwarm, tmp_path: Path) -> None:
    _, own, last = behind(swarm)
    rounds = [one for one in own.closed.values() if one.round > 2]
    store, refs = Store(tmp_path, quota_bytes=10**9), trees.head_refs(swarm.manifest, last)
    payloads = [one for closed in rounds for one in catch_up.payload_refs(closed)]
    assert {ref.root for ref in payloads} <= set(swarm.arithmetic.payloads)
    assert sum(one.size_bytes for one in payloads) < refs[0].size_bytes
    assert not catch_up.is_replay_costlier(refs, payloads, store.missing_bytes)
    assert catch_up.is_replay_costlier(refs, payloads * 5_000, store.missing_bytes)
    for one in payloads:
        store.put_tree(swarm.arithmetic.payloads[one.root], one.piece_bytes)
    assert not catch_up.is_replay_costlier(refs, payloads * 5_000, store.missing_bytes)
    store.put_tree(swarm.arithmetic.weights[last.weights_root].astype("<i4").tobytes(), PIECE_BYTES)
    assert not catch_up.is_replay_costlier(refs, payloads, store.missing_bytes)
    store.remove(payloads[0].root)
    assert catch_up.is_replay_costlier(refs, payloads, store.missing_bytes)


def test_the_first_head_is_where_the_log_says(swarm: DutySwarm) -> None:
    assert to_text(first_head(swarm.manifest).hash) == to_text(heads_of(swarm)[0].hash)


@pytest.mark.trio
async def test_when_nobody_has_the_present_head_the_nearest_that_somebody_has_will_do(
    returner: ReturningPeer, tmp_path: Path
) -> None:
    heads, theirs = heads_of(returner.swarm), Store(tmp_path / "theirs", quota_bytes=10**9)
    manifest, target = returner.swarm.manifest, heads[-1]
    async with two_peers() as (there, here):
        BlobServer(there, theirs)
        async with Fetcher(here, returner.store, rng=Random(1)) as fetcher:
            node = _connected(returner, here, fetcher)
            nearest = partial(nearest_start, node, manifest, probe_s=0.5)
            assert await nearest(target) is None  # nobody has any
            other = replace(returner, store=theirs)
            for head in (heads[1], heads[3]):
                other.store_weights(head)
            start = await nearest(target)
            assert start is not None
            assert start.base == heads[3]
            view, closed = fold(returner.swarm, start)
            assert view.head == target
            assert {one.round for one in closed.values()} == {4, 5}
            other.store_weights(target)
            assert await nearest(target) is None
            assert await nearest(heads[0]) is None


@pytest.mark.trio
async def test_a_round_that_never_opened_does_not_hide_the_head_before_it(tmp_path: Path) -> None:
    made = DutySwarm(tiny_manifest(most=6))
    for name in ("ana", "bo", "cleo"):
        made.join(name)
    made.run_rounds(3)
    away, made.members = made.members, []
    while not made.view.voided:
        assert made.step()
    made.members = away
    made.run()
    heads, target = made.view.heads, made.view.head
    assert (4 in heads, target) == (False, heads[6])
    store = Store(tmp_path / "store", quota_bytes=10**9)
    returner = ReturningPeer(made, PaperLedger(made), store)
    returner.store_weights(heads[3])
    async with two_peers() as (_, here), Fetcher(here, store, rng=Random(1)) as fetcher:
        node = _connected(returner, here, fetcher)
        start = await nearest_start(node, made.manifest, heads[6], probe_s=0.1)
    assert start is not None
    assert start.base == heads[3]
    view, closed = fold(made, start)
    assert view.head == target
    assert {one.round for one in closed.values()} == {5, 6}


@pytest.mark.trio
async def test_attestations_after_a_promotion_do_not_hide_its_head(tmp_path: Path) -> None:
    crowd, heads = DutySwarm(tiny_manifest(most=3)), list[Head]()
    for at in range(30):
        crowd.join(f"member {at}")
    while len(heads) < 3:
        assert crowd.step()
        if crowd.view.head is not None and crowd.view.head not in heads:
            heads.append(crowd.view.head)
    store = Store(tmp_path / "store", quota_bytes=10**9)
    returner = ReturningPeer(crowd, PaperLedger(crowd), store)
    returner.store_weights(heads[1])
    async with two_peers() as (_, here), Fetcher(here, store, rng=Random(1)) as fetcher:
        node = _connected(returner, here, fetcher)
        start = await nearest_start(node, crowd.manifest, heads[2], probe_s=0.1)
    assert start is not None
    assert start.base == heads[1]


def _connected(returner: ReturningPeer, network: PeerNetwork, fetcher: Fetcher) -> Node:
    parts = vars(returner.node) | {"network": network, "fetcher": fetcher, "rng": Random(2)}
    return cast("Node", SimpleNamespace(**parts))
