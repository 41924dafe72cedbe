"""`Exchange` finds holders of trees and blobs, waits for them, and fetches each only once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.store.files import NoRoomError
from tequio_client.worker.store.trees import TreeRef, hash_bytes
from tequio_client.worker.swarm import transfer
from tequio_client.worker.swarm.transfer import TransferTimes
from tequio_shared.ids import sha256
from tests.support import memory_log
from tests.support.transfer_peers import AWAY, PAYLOAD, REF, paired

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.transfer_peers import TransferPeers


@pytest.mark.trio
async def test_a_tree_comes_from_its_likely_holder(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        assert await pair.exchange.fetch_tree(REF, pair.other) == {pair.other: len(PAYLOAD)}
        assert pair.ours.tree_path(REF.root).read_bytes() == PAYLOAD
        assert await pair.exchange.fetch_tree(REF, pair.other) == {}


@pytest.mark.trio
async def test_few_sources_are_remembered(
    swarm: TransferPeers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MOST_SOURCES", 1)
    contents = PAYLOAD, PAYLOAD[1:]
    async with LedgerApi(AWAY) as ledger, swarm.fetcher() as fetcher:
        exchange = transfer.Exchange(fetcher, ledger, lambda: ())
        for content, name in zip(contents, "ab", strict=True):
            source = await swarm.source(name, content, piece_bytes=REF.piece_bytes)
            await exchange.fetch_tree(hash_bytes(content, REF.piece_bytes).ref, source)
        assert exchange.received == {source: len(contents[1])}
        assert exchange.received_bytes == sum(map(len, contents))


@pytest.mark.trio
async def test_when_the_likely_holder_does_not_answer_others_are_asked(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        stranger = random.Random(2).randbytes(32)
        await pair.exchange.fetch_tree(REF, stranger)  # type: ignore[arg-type]  # any 32 bytes
        assert pair.ours.has_tree(REF.root)


@pytest.mark.trio
async def test_a_tree_that_no_peer_has_yet_is_waited_for(tmp_path: Path) -> None:
    times = TransferTimes(try_s=0.5, retry_s=0.1)
    async with paired(tmp_path, times=times) as pair, trio.open_nursery() as nursery:
        nursery.start_soon(pair.exchange.fetch_tree, REF, pair.other)
        await trio.sleep(1)
        assert not pair.ours.has_tree(REF.root)
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)


@pytest.mark.trio
async def test_asked_for_twice_at_once_a_tree_is_fetched_once(tmp_path: Path) -> None:
    came: list[int] = []
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)

        async def get() -> None:
            came.append(sum((await pair.exchange.fetch_tree(REF, pair.other)).values()))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(get)
            nursery.start_soon(get)
    assert sorted(came) == [0, len(PAYLOAD)]


@pytest.mark.trio
async def test_when_the_first_caller_gives_up_the_second_gets_the_tree(
    tmp_path: Path,
) -> None:
    async with paired(tmp_path) as pair:
        async with trio.open_nursery() as nursery:
            scope = trio.CancelScope()

            async def impatient() -> None:
                with scope:
                    await pair.exchange.fetch_tree(REF, pair.other)

            nursery.start_soon(impatient)
            await trio.sleep(0.2)
            nursery.start_soon(pair.exchange.fetch_tree, REF, pair.other)
            await trio.sleep(0.1)
            scope.cancel()
            pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        assert pair.ours.has_tree(REF.root)


@pytest.mark.trio
async def test_waiters_wake_for_fetched_trees_and_for_our_own(tmp_path: Path) -> None:
    own = hash_bytes(b"own" * 1_000, 1 << 10).ref
    async with paired(tmp_path) as pair, trio.open_nursery() as nursery:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        nursery.start_soon(pair.exchange.wait_for_trees, [REF.root, own.root])
        await pair.exchange.fetch_in_background(REF, pair.other)
        pair.ours.put_tree(b"own" * 1_000, own.piece_bytes)
        pair.exchange.wake_waiters()


@pytest.mark.trio
async def test_a_blob_comes_from_peers_while_the_ledger_is_away(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        name = pair.theirs.put_blob(b"a roster")
        assert await pair.exchange.fetch_blob(name) == b"a roster"
        assert pair.ours.has_blob(name)


@pytest.mark.trio
async def test_a_blob_comes_from_the_ledger_and_is_kept(tmp_path: Path) -> None:
    log = memory_log.MemoryLog.founded()
    name = sha256(b"a result")
    async with memory_log.serving(log) as server, paired(tmp_path, server.url) as pair:
        server.blobs[name] = b"a result"
        assert await pair.exchange.fetch_blob(name) == b"a result"
        assert pair.ours.get_blob(name) == b"a result"


@pytest.mark.trio
@pytest.mark.parametrize("is_away", [False, True])
async def test_a_blob_without_room_in_the_store_is_fetched_all_the_same(
    tmp_path: Path, *, is_away: bool
) -> None:
    log = memory_log.MemoryLog.founded()
    async with (
        memory_log.serving(log) as server,
        paired(tmp_path, AWAY if is_away else server.url) as pair,
    ):
        name = pair.theirs.put_blob(b"a roster")
        server.blobs[name] = b"a roster"
        pair.ours.set_quota(0)
        assert await pair.exchange.fetch_blob(name) == b"a roster"
        assert not pair.ours.has_blob(name)
        with pytest.raises(NoRoomError):
            await pair.exchange.fetch_blob_file(name)
        pair.ours.set_quota(100)
        path = await pair.exchange.fetch_blob_file(name)
        assert path.read_bytes() == b"a roster"


@pytest.mark.trio
async def test_what_is_wrong_with_a_tree_does_not_end_its_gatherer(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(PAYLOAD, REF.piece_bytes)
        wrong = TreeRef(root=REF.root, size_bytes=7, piece_bytes=3)
        with trio.move_on_after(0.5):
            await pair.exchange.fetch_in_background(wrong, pair.other)
        assert not pair.ours.has_tree(REF.root)
