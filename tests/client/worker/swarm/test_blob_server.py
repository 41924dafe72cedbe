"""A peer's requests are answered from the store, or refused without harm."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import hash_bytes
from tequio_client.worker.swarm.blob_server import (
    PROTOCOL,
    BlobOp,
    BlobRequest,
    BlobServer,
    BlobStatus,
    NoPayload,
    pack_bits,
    read_payload,
    unpack_bits,
    unpack_blob,
)
from tequio_client.worker.swarm.feedback_leaves import LEAF_BYTES, FeedbackLeaves, LeafSource
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import Digest, sha256
from tests.support.attackers import key_number
from tests.support.loopback import network, two_peers
from tests.support.partial_trees import open_partial

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.swarm.peers import PeerStream
    from tequio_shared.ids import PeerKey

CONTENT = bytes(range(256)) * 12_000  # 3 MB: three pieces of a megabyte
PIECE = 1 << 20
ABSENT = sha256(b"absent")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, quota_bytes=10**8)
    store.put_tree(CONTENT, PIECE)
    store.put_blob(b"blob")
    return store


TREE = hash_bytes(CONTENT, PIECE)


def request(
    op: BlobOp, first: int = 0, count: int = 0, name: Digest = TREE.ref.root
) -> BlobRequest:
    return BlobRequest(op=op, name=name, first=first, count=count)


def test_leaves_pieces_and_blobs_are_answered(store: Store) -> None:
    assert read_payload(store, request(BlobOp.LEAVES, 1, 2)) == b"".join(TREE.leaves[1:])
    assert read_payload(store, request(BlobOp.PIECES, 1, 1)) == CONTENT[PIECE : 2 * PIECE]
    assert read_payload(store, request(BlobOp.HELD)) == b""
    blob = read_payload(store, request(BlobOp.BLOB, 1, 2, sha256(b"blob")))
    size, part = unpack_blob(memoryview(blob))
    assert (size, bytes(part)) == (4, b"lo")


@pytest.mark.parametrize("op", list(BlobOp))
def test_what_is_not_here_is_missing(store: Store, op: BlobOp) -> None:
    with pytest.raises(NoPayload) as reason:
        read_payload(store, request(op, 0, 1, ABSENT))
    assert reason.value.status is BlobStatus.MISSING


@pytest.mark.parametrize(
    ("op", "first", "count"),
    [
        (BlobOp.PIECES, 0, 2),
        (BlobOp.PIECES, 3, 1),
        (BlobOp.PIECES, 0, 0),
        (BlobOp.PIECES, 2**32 - 1, 2**32 - 1),
        (BlobOp.LEAVES, 0, 4),
        (BlobOp.LEAVES, 0, 2**32 - 1),
        (BlobOp.BLOB, 0, PIECE + 1),
    ],
)
def test_more_than_an_answer_may_hold_is_refused(
    store: Store, op: BlobOp, first: int, count: int
) -> None:
    with pytest.raises(NoPayload) as reason:
        read_payload(store, request(op, first, count))
    assert reason.value.status is BlobStatus.REFUSED


def test_a_part_of_a_tree_says_which_pieces_it_has(tmp_path: Path) -> None:
    store = Store(tmp_path, quota_bytes=10**8)
    with open_partial(store, TREE) as partial:
        store.write_pieces(partial, 1, CONTENT[PIECE : 2 * PIECE])
        assert read_payload(store, request(BlobOp.HELD)) == bytes([0b0100_0000])
        with pytest.raises(NoPayload):
            read_payload(store, request(BlobOp.PIECES, 0, 1))


def test_what_was_damaged_on_our_disk_is_missing_not_served(store: Store) -> None:
    path = store.tree_path(TREE.ref.root)
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[PIECE + 7] ^= 1
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(NoPayload) as reason:
            read_payload(store, request(BlobOp.PIECES, 1, 1))
        assert reason.value.status is BlobStatus.MISSING
    assert not store.has_tree(TREE.ref.root)
    assert store.missing_bytes(TREE.ref) == PIECE


def test_a_request_has_one_spelling() -> None:
    raw = request(BlobOp.PIECES, 7, 9).encode()
    assert raw == b"\x02" + TREE.ref.root + bytes([0, 0, 0, 7, 0, 0, 0, 9])
    assert BlobRequest.parse(raw) == request(BlobOp.PIECES, 7, 9)


@pytest.mark.parametrize("raw", [b"", b"\x02", b"\x00" + bytes(40), b"\x09" + bytes(40), bytes(42)])
def test_bytes_that_are_not_a_request_are_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        BlobRequest.parse(raw)


@given(st.lists(st.booleans(), max_size=70))
def test_bits_survive_the_journey(held: list[bool]) -> None:
    assert unpack_bits(pack_bits(bytes(held)), len(held)) == held


@pytest.mark.trio
async def test_garbage_ends_the_stream_and_the_next_one_is_served(store: Store) -> None:
    async with two_peers() as (first, second):
        BlobServer(first, store)
        stream = await second.open_stream(first.key, PROTOCOL)
        await stream.send_frame(b"what?")
        with pytest.raises(PeerError):
            await stream.receive_frame(timeout_s=5)
        stream = await second.open_stream(first.key, PROTOCOL)
        await stream.send_frame(request(BlobOp.HELD).encode())
        assert await stream.receive_frame() == bytes([BlobStatus.OK])
        await stream.close()


@pytest.mark.trio
async def test_a_spent_upload_budget_says_busy_of_what_is_here(store: Store) -> None:
    async with two_peers() as (first, second):
        BlobServer(first, store, ByteBudget(1000, burst_bytes=1000))
        stream = await second.open_stream(first.key, PROTOCOL)
        with trio.fail_after(5):
            await stream.send_frame(request(BlobOp.BLOB, 0, 4, sha256(b"blob")).encode())
            assert (await stream.receive_frame())[0] == BlobStatus.OK
            other = await second.open_stream(first.key, PROTOCOL)
            await other.send_frame(request(BlobOp.PIECES, 2, 1).encode())
            await trio.sleep(0.5)
            await stream.send_frame(request(BlobOp.PIECES, 0, 1).encode())
            assert await stream.receive_frame() == bytes([BlobStatus.BUSY])
            await stream.send_frame(request(BlobOp.HELD, name=ABSENT).encode())
            assert await stream.receive_frame() == bytes([BlobStatus.MISSING])
        await other.drop()
        await stream.drop()


class OneRequest:
    """The stream of a peer that asks for one piece."""

    def __init__(self, peer: PeerKey, answers: list[BlobStatus]) -> None:
        self.peer = peer
        self._answers = answers
        self._requests = [request(BlobOp.PIECES, 0, 1).encode()]

    async def receive_frame(self, **_limits: float) -> bytes:
        """Give the request, and then the end of the stream."""
        await trio.lowlevel.checkpoint()
        if not self._requests:
            raise PeerError("it has left")
        return self._requests.pop()

    async def send_frame(self, status: bytes, _payload: bytes = b"", **_limits: float) -> None:
        """Record the answer."""
        await trio.lowlevel.checkpoint()
        self._answers.append(BlobStatus(status[0]))


@pytest.mark.trio
async def test_of_many_peers_that_ask_at_once_the_late_ones_are_told_busy(store: Store) -> None:
    async with network("ours") as ours:
        server = BlobServer(ours, store, ByteBudget(1000, burst_bytes=1000))
        answers: list[BlobStatus] = []

        async def serve(number: int) -> None:
            with suppress(PeerError):
                await server.serve(cast("PeerStream", OneRequest(key_number(number), answers)))

        with trio.fail_after(20):
            async with trio.open_nursery() as peers:
                for number in range(20):
                    peers.start_soon(serve, number)
    assert sorted(answers) == [BlobStatus.OK] + [BlobStatus.BUSY] * 19


@pytest.mark.trio
@pytest.mark.parametrize("may_transfer", [True, False])
async def test_leaves_of_an_audit_do_not_wait_behind_other_uploads(
    store: Store, tmp_path: Path, *, may_transfer: bool
) -> None:
    # A trainer that uploads its payload to many would seem to withhold them.
    feedback = tmp_path / "feedback"
    feedback.write_bytes(bytes(2 * LEAF_BYTES))
    root = hash_bytes(bytes(2 * LEAF_BYTES), LEAF_BYTES).ref.root
    leaves = FeedbackLeaves()
    leaves.sources.append(LeafSource(may_open=lambda *_: True, file_of=lambda _: feedback))
    async with two_peers() as (first, second):
        budget = ByteBudget(1000, burst_bytes=1000)
        BlobServer(first, store, budget, leaves).may_transfer = may_transfer
        budget.charge(60_000 if may_transfer else 0)
        stream = await second.open_stream(first.key, PROTOCOL)
        with trio.fail_after(5):
            await stream.send_frame(request(BlobOp.PIECES, 0, 1).encode())
            # Fetchers ask a busy peer several times a second: too often while somebody plays.
            status = BlobStatus.BUSY if may_transfer else BlobStatus.MISSING
            assert await stream.receive_frame() == bytes([status])
            await stream.send_frame(request(BlobOp.LEAF, 1, 1, root).encode())
            assert (await stream.receive_frame())[0] == BlobStatus.OK
        await stream.drop()


@pytest.mark.trio
async def test_a_peer_with_many_streams_gets_no_more_than_a_peer_with_one(
    store: Store,
) -> None:
    async with two_peers() as (first, greedy), network("modest") as modest:
        await modest.connect(first.addresses()[0])
        BlobServer(first, store, ByteBudget(1e6))
        piece = request(BlobOp.PIECES, 0, 1).encode()
        answered, begun = 0, trio.Event()

        async def ask(stream: PeerStream) -> None:
            nonlocal answered
            while True:
                await stream.send_frame(piece)
                await stream.receive_frame()
                answered += 1
                begun.set()

        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                for _ in range(12):
                    nursery.start_soon(ask, await greedy.open_stream(first.key, PROTOCOL))
                stream = await modest.open_stream(first.key, PROTOCOL)
                await begun.wait()
                before = answered
                await stream.send_frame(piece)
                assert (await stream.receive_frame())[0] == BlobStatus.OK
                assert answered - before <= 4
                nursery.cancel_scope.cancel()
