"""Leaves of an error feedback: opened to the peers that may have them, verified, or withheld."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
from tequio_client.worker.swarm.blob_server import BlobServer, BlobStatus
from tequio_client.worker.swarm.feedback_leaves import LEAF_BYTES, FeedbackLeaves, LeafSource
from tequio_client.worker.swarm.opened_leaves import (
    LeavesDue,
    LeavesWithheldError,
    feedback_tree,
    fetch_leaves,
)
from tequio_client.worker.swarm.streams import AnswerError, BlobClient
from tequio_shared.errors import PeerError
from tequio_shared.ids import PeerKey, sha256
from tests.support.attack_table import attack
from tests.support.transfer_peers import TransferPeers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tequio_client.worker.swarm.peers import PeerStream
    from tequio_shared.ids import Digest

pytestmark = pytest.mark.trio

CHUNKS = 11
FEEDBACK = random.Random(7).randbytes(CHUNKS * LEAF_BYTES)
TREE = hash_bytes(FEEDBACK, LEAF_BYTES).ref
SAMPLE = (2, 5, 10)


def leaf(index: int) -> bytes:
    return FEEDBACK[index * LEAF_BYTES : (index + 1) * LEAF_BYTES]


def within(seconds: float, *, first: float | None = None) -> LeavesDue:
    now = trio.current_time()
    return LeavesDue(first_by=now + (seconds if first is None else first), all_by=now + seconds)


class Opening:
    """A trainer's leaves, with a policy that counts its questions."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "feedback"
        self.file.write_bytes(FEEDBACK)
        self.asked: list[int] = []
        self.looked = 0
        self.leaves = FeedbackLeaves()
        shut = LeafSource(may_open=lambda *_: False, file_of=self._file_of)
        self.leaves.sources.append(shut)

    def _file_of(self, root: Digest) -> Path | None:
        self.looked += 1
        return self.file if root == TREE.root else None

    def open_to(self, auditor: PeerKey, sample: Sequence[int] = SAMPLE) -> None:
        """Let one peer have these leaves."""

        def may_open(peer: PeerKey, root: Digest, index: int) -> bool:
            self.asked.append(index)
            return peer == auditor and root == TREE.root and index in sample

        source = LeafSource(may_open=may_open, file_of=self._file_of)
        self.leaves.sources[:] = [source]


@pytest.fixture
def opening(tmp_path: Path) -> Opening:
    return Opening(tmp_path)


@pytest.fixture
async def trainer(swarm: TransferPeers, opening: Opening, tmp_path: Path) -> PeerKey:
    store = Store(tmp_path / "theirs", quota_bytes=10**9)
    return await swarm.joined(
        "trainer", lambda peers: BlobServer(peers, store, leaves=opening.leaves)
    )


@pytest.fixture
async def client(swarm: TransferPeers) -> AsyncIterator[BlobClient]:
    async with swarm.fetcher() as fetcher:
        yield fetcher.client


async def test_sampled_leaves_come_in_their_order(
    swarm: TransferPeers, opening: Opening, trainer: PeerKey, client: BlobClient, tmp_path: Path
) -> None:
    opening.open_to(swarm.network.key)
    out = tmp_path / "leaves"
    with trio.fail_after(30):
        await fetch_leaves(client, TREE, SAMPLE, [trainer], out, due=within(20))
    assert out.read_bytes() == b"".join(leaf(index) for index in SAMPLE)
    assert sorted(opening.asked) == list(SAMPLE)


async def test_nothing_is_opened_by_default_and_no_file_is_read_for_it(
    opening: Opening, trainer: PeerKey, client: BlobClient, tmp_path: Path
) -> None:
    with trio.fail_after(30), pytest.raises(LeavesWithheldError):
        await fetch_leaves(client, TREE, SAMPLE, [trainer], tmp_path / "leaves", due=within(0.5))
    assert not (tmp_path / "leaves").exists()
    assert opening.looked == 0


@attack("W23", layer="cli", ends="answered for the sampled leaves alone, and to the auditor alone")
async def test_a_peer_that_asks_for_all_leaves_gets_the_sampled_ones(
    swarm: TransferPeers, opening: Opening, trainer: PeerKey, client: BlobClient
) -> None:
    async def all_leaves() -> set[int]:
        got = set()
        for index in (*range(CHUNKS + 2), 2**32 - 1):
            with suppress(AnswerError):
                answer = bytes(await client.leaf(trainer, TREE.root, index, LEAF_BYTES))
                assert answer[:LEAF_BYTES] == leaf(index)
                got.add(index)
        return got

    with trio.fail_after(60):
        opening.open_to(swarm.network.key)
        assert await all_leaves() == set(SAMPLE)
        opening.open_to(trainer)  # another key's audit
        assert await all_leaves() == set()
        # A policy that names a leaf beyond the end opens nothing there.
        opening.open_to(swarm.network.key, [CHUNKS, 2**32 - 1])
        assert await all_leaves() == set()


@pytest.mark.parametrize("damage", ["one bit", "cut", "gone"])
async def test_a_damaged_file_is_not_opened(
    swarm: TransferPeers,
    opening: Opening,
    trainer: PeerKey,
    client: BlobClient,
    tmp_path: Path,
    damage: str,
) -> None:
    opening.open_to(swarm.network.key)
    if damage == "gone":
        opening.file.unlink()
    else:
        cut = FEEDBACK[: 6 * LEAF_BYTES]
        opening.file.write_bytes(cut if damage == "cut" else b"\xff" + FEEDBACK[1:])
    with trio.fail_after(30), pytest.raises(LeavesWithheldError):
        await fetch_leaves(client, TREE, SAMPLE, [trainer], tmp_path / "leaves", due=within(0.5))


async def test_a_file_that_decays_after_it_was_hashed_is_not_opened_either(
    opening: Opening,
) -> None:
    assert opening.leaves.read(TREE.root, 3) is not None
    opening.file.write_bytes(FEEDBACK[: 3 * LEAF_BYTES] + bytes(len(FEEDBACK) - 3 * LEAF_BYTES))
    assert opening.leaves.read(TREE.root, 2) is not None
    assert opening.leaves.read(TREE.root, 3) is None


@attack("W23", layer="cli", ends="withheld: a leaf that is not under the root counts for nothing")
@pytest.mark.parametrize("lie", ["leaf", "path", "short", "long", "other leaf", "empty"])
async def test_wrong_bytes_are_withheld_leaves_at_once(
    swarm: TransferPeers, client: BlobClient, tmp_path: Path, lie: str
) -> None:
    honest = Opening(tmp_path).leaves

    async def serve(stream: PeerStream) -> None:
        while True:
            request = await stream.receive_frame()
            index = int.from_bytes(request[33:37], "big")
            right = honest.read(TREE.root, index) or b""
            other = honest.read(TREE.root, 0) or b""
            wrong = {
                "leaf": b"\x00" + right[1:],
                "path": right[:-1] + bytes([right[-1] ^ 1]),
                "short": right[:-32],
                "long": right + bytes(32),
                "other leaf": other,
                "empty": b"",
            }[lie]
            await stream.send_frame(bytes([BlobStatus.OK]), wrong)

    liar = await swarm.crooked("liar", serve)
    with trio.fail_after(20), pytest.raises(LeavesWithheldError):
        await fetch_leaves(client, TREE, SAMPLE, [liar], tmp_path / "leaves", due=within(60))
    assert not (tmp_path / "leaves").exists()


async def test_leaves_of_another_size_of_tree_are_refused(
    swarm: TransferPeers, opening: Opening, trainer: PeerKey, client: BlobClient, tmp_path: Path
) -> None:
    opening.open_to(swarm.network.key)
    larger = feedback_tree(TREE.root, 2 * CHUNKS)
    with trio.fail_after(20), pytest.raises(LeavesWithheldError):
        await fetch_leaves(client, larger, SAMPLE, [trainer], tmp_path / "leaves", due=within(60))


async def test_a_trainer_that_learns_late_of_its_audit_is_asked_again(
    swarm: TransferPeers, opening: Opening, trainer: PeerKey, client: BlobClient, tmp_path: Path
) -> None:
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def learn() -> None:
            await trio.sleep(0.5)
            opening.open_to(swarm.network.key)

        with trio.fail_after(30):
            await fetch_leaves(client, TREE, SAMPLE, [trainer], tmp_path / "leaves", due=within(20))


async def test_a_peer_that_nobody_can_reach_withholds(client: BlobClient, tmp_path: Path) -> None:
    nobody = PeerKey(sha256(b"no address"))
    with trio.fail_after(20), pytest.raises(LeavesWithheldError) as withheld:
        await fetch_leaves(client, TREE, SAMPLE, [nobody], tmp_path / "leaves", due=within(0.5))
    assert isinstance(withheld.value, PeerError)


async def test_leaves_on_a_slow_line_are_not_withheld(
    swarm: TransferPeers, opening: Opening, trainer: PeerKey, client: BlobClient, tmp_path: Path
) -> None:
    # Five jurors ask at once: what had not come after a third of the time counted as withheld.
    opening.open_to(swarm.network.key, SAMPLE[:1])
    out = tmp_path / "leaves"

    async def open_later() -> None:
        await trio.sleep(2)
        opening.open_to(swarm.network.key)

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(open_later)
            await fetch_leaves(client, TREE, SAMPLE, [trainer], out, due=within(20, first=1))
    assert out.read_bytes() == b"".join(leaf(index) for index in SAMPLE)
