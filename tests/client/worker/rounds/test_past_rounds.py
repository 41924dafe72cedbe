"""The last closed rounds: what is known of their contributions, and what stays in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.worker.rounds.past_rounds import PAST_ROUNDS, PastRounds
from tequio_client.worker.store.store import Store
from tequio_shared.ids import ZERO_DIGEST, ContributionId, sha256
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.round import RoundPhase
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import Digest
    from tequio_shared.round.round import RoundView

ROUNDS = PAST_ROUNDS + 2


@pytest.fixture(scope="module")
def played() -> tuple[Swarm, list[RoundView]]:
    """A swarm, and its closed rounds."""
    swarm = Swarm(seed=3, manifest=tiny_manifest(most=ROUNDS))
    for name in ("ana", "bo", "cleo"):
        swarm.volunteer(name)
    closed: list[RoundView] = []
    while len(closed) < ROUNDS:
        assert swarm.step()
        view = swarm.view.round
        if view is not None and view.phase is RoundPhase.OVER and view not in closed:
            assert view.accepted()
            closed.append(view)
    return swarm, closed


def stored(swarm: Swarm, closed: list[RoundView], folder: Path, quota_bytes: int) -> Store:
    """A store with the heads and payloads of these rounds, the last used first."""
    store = Store(folder / "store", quota_bytes=quota_bytes)
    for view in closed:
        assert view.head is not None
        weights = swarm.arithmetic.weights[view.head.weights_root]
        store.put_tree(weights.astype("<i4").tobytes(), PIECE_BYTES)
        for one in view.accepted().values():
            payload = swarm.arithmetic.payloads[one.header.payload_root]
            store.put_tree(payload, view.shape.group_bytes)
    return store


def test_a_past_contribution_is_found_with_all_that_an_audit_needs(
    played: tuple[Swarm, list[RoundView]], tmp_path: Path
) -> None:
    swarm, closed = played
    past = PastRounds(swarm.manifest, stored(swarm, closed, tmp_path, 10**9))
    past.record(closed[0])
    for slot, one in closed[0].accepted().items():
        found = past.find(closed[0].number, one.id)
        assert found is not None
        assert (found.base, found.k) == (closed[0].head, closed[0].k)
        assert (found.header, found.seal, found.slot) == (one.header, one.seal, slot)
        assert found.windows == closed[0].assignment[slot]
        assert found.trainer == closed[0].roster.members[slot].key
        assert found.feedback == ZERO_DIGEST
        weights = past.weights_path(found)
        assert weights is not None
        root = found.payload.root
        payload = Store(tmp_path / "store", quota_bytes=10**9).tree_path(root).read_bytes()
        assert payload == swarm.arithmetic.payloads[root]
        assert len(payload) == found.payload.size_bytes
    assert len(past.works(closed[0].number)) == len(closed[0].accepted())
    assert past.find(closed[0].number, ContributionId(sha256(b"another"))) is None
    assert past.find(closed[1].number, next(iter(closed[1].accepted().values())).id) is None


def test_the_last_four_rounds_are_kept_and_a_round_is_recorded_once(
    played: tuple[Swarm, list[RoundView]], tmp_path: Path
) -> None:
    swarm, closed = played
    past = PastRounds(swarm.manifest, stored(swarm, closed, tmp_path, 10**9))
    for view in (*closed, closed[-2], closed[-1]):
        past.record(view)
    kept = [view.number for view in closed if past.works(view.number)]
    assert kept == [view.number for view in closed[-PAST_ROUNDS:]]


def test_what_the_last_rounds_need_is_not_evicted_and_the_rest_is(
    played: tuple[Swarm, list[RoundView]], tmp_path: Path
) -> None:
    swarm, closed = played
    store = stored(swarm, closed, tmp_path, 10**9)
    past = PastRounds(swarm.manifest, store)
    for view in closed:
        past.record(view)
    store.set_quota(store.used_bytes)
    needed = {root for view in closed[-PAST_ROUNDS:] for root in roots_of(view)}
    older = {root for view in closed[:-PAST_ROUNDS] for root in roots_of(view)} - needed
    assert older
    # All that is unpinned gives way to other content.
    store.put_tree(bytes(store.used_bytes - sizes(store, needed)), PIECE_BYTES)
    assert all(store.has_tree(root) for root in needed)
    assert not any(store.has_tree(root) for root in older)
    past.release()
    store.put_tree(b"x" * (store.quota_bytes - 1), PIECE_BYTES)
    assert not any(store.has_tree(root) for root in needed)


def roots_of(view: RoundView) -> set[Digest]:
    assert view.head is not None
    return {view.head.weights_root, *(one.header.payload_root for one in view.accepted().values())}


def sizes(store: Store, roots: set[Digest]) -> int:
    found = [store.tree(root) for root in roots]
    return sum(tree.ref.size_bytes for tree in found if tree)


def test_without_room_the_oldest_rounds_go_first_and_work_goes_on(
    played: tuple[Swarm, list[RoundView]], tmp_path: Path
) -> None:
    swarm, closed = played
    head = 4 * swarm.manifest.layout.elements
    payloads = sum(
        len(swarm.arithmetic.payloads[one.header.payload_root])
        for one in closed[0].accepted().values()
    )
    # Room for the work at hand and two past rounds, not for three.
    store = Store(tmp_path / "store", quota_bytes=5 * head + 5 * payloads)
    past = PastRounds(swarm.manifest, store)
    for view in closed:
        assert view.head is not None
        weights = swarm.arithmetic.weights[view.head.weights_root].astype("<i4").tobytes()
        store.put_tree(weights, PIECE_BYTES)  # never refused: pins leave room for the next head
        for one in view.accepted().values():
            content = swarm.arithmetic.payloads[one.header.payload_root]
            store.put_tree(content, view.shape.group_bytes)
        past.record(view)
    store.put_tree(bytes(3 * head), PIECE_BYTES)
    latest = [past.weights_path(past.works(view.number)[0]) for view in closed[-PAST_ROUNDS:]]
    assert [path is not None for path in latest] == [False] * 4 + [True] * 2


def test_a_store_for_the_work_alone_keeps_no_past_round(
    played: tuple[Swarm, list[RoundView]], tmp_path: Path
) -> None:
    swarm, closed = played
    head = 4 * swarm.manifest.layout.elements
    store = Store(tmp_path / "store", quota_bytes=3 * head)
    past = PastRounds(swarm.manifest, store)
    for view in closed:
        past.record(view)
    store.put_tree(bytes(3 * head), PIECE_BYTES)
    assert past.weights_path(past.works(closed[-1].number)[0]) is None
