"""Getting things by name: from our store, from real peers over the loopback, from the ledger."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger_api import LedgerApi
from tequio_client.worker import exchange as exchanges
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.transfer import Exchange
from tequio_client.worker.swarm.transfer import Fetcher
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef, cut_bytes
from tequio_shared.ids import sha256
from tests.support import memory_log
from tests.support.loopback import two_peers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tequio_shared.ids import PeerKey

pytestmark = pytest.mark.trio
CONTENT = random.Random(5).randbytes(300_000)
REF = cut_bytes(CONTENT, 1 << 16).ref
AWAY = memory_log.unused_url()


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Our exchange and store, and the store that the other peer serves."""

    exchange: Exchange
    ours: Store
    theirs: Store
    other: PeerKey


@asynccontextmanager
async def paired(folder: Path, ledger: str = AWAY) -> AsyncIterator[Pair]:
    ours, theirs = (Store(folder / name, quota_bytes=10**9) for name in ("ours", "theirs"))
    async with two_peers() as (there, here), LedgerApi(ledger) as api:
        BlobServer(there, theirs)
        async with Fetcher(here, ours, rng=random.Random(1)) as fetcher:
            exchange = Exchange(store=ours, fetcher=fetcher, ledger=api, peers=here.connected)
            with trio.fail_after(20):
                yield Pair(exchange=exchange, ours=ours, theirs=theirs, other=there.key)


async def test_a_tree_comes_from_whom_it_is_said_to_be_at(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(CONTENT, REF.piece_bytes)
        assert await pair.exchange.tree(REF, pair.other) == {pair.other: len(CONTENT)}
        assert pair.ours.tree_path(REF.root).read_bytes() == CONTENT
        assert await pair.exchange.tree(REF, pair.other) == {}


async def test_when_the_likely_holder_does_not_answer_others_are_asked(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(CONTENT, REF.piece_bytes)
        stranger = random.Random(2).randbytes(32)
        await pair.exchange.tree(REF, stranger)  # type: ignore[arg-type]  # any 32 bytes
        assert pair.ours.has_tree(REF.root)


async def test_a_tree_that_nobody_has_yet_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "TRY_S", 0.5)
    monkeypatch.setattr(exchanges, "RETRY_S", 0.1)
    async with paired(tmp_path) as pair, trio.open_nursery() as nursery:
        nursery.start_soon(pair.exchange.tree, REF, pair.other)
        await trio.sleep(1)
        assert not pair.ours.has_tree(REF.root)
        pair.theirs.put_tree(CONTENT, REF.piece_bytes)


async def test_asked_for_twice_at_once_a_tree_is_fetched_once(tmp_path: Path) -> None:
    came: list[int] = []
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(CONTENT, REF.piece_bytes)

        async def get() -> None:
            came.append(sum((await pair.exchange.tree(REF, pair.other)).values()))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(get)
            nursery.start_soon(get)
    assert sorted(came) == [0, len(CONTENT)]


async def test_when_the_first_who_asked_gives_up_the_second_still_gets_it(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        async with trio.open_nursery() as nursery:
            scope = trio.CancelScope()

            async def impatient() -> None:
                with scope:
                    await pair.exchange.tree(REF, pair.other)

            nursery.start_soon(impatient)
            await trio.sleep(0.2)
            nursery.start_soon(pair.exchange.tree, REF, pair.other)
            await trio.sleep(0.1)
            scope.cancel()
            pair.theirs.put_tree(CONTENT, REF.piece_bytes)
        assert pair.ours.has_tree(REF.root)


async def test_who_waits_learns_of_fetched_trees_and_of_our_own(tmp_path: Path) -> None:
    own = cut_bytes(b"own" * 1_000, 1 << 10).ref
    async with paired(tmp_path) as pair, trio.open_nursery() as nursery:
        pair.theirs.put_tree(CONTENT, REF.piece_bytes)
        nursery.start_soon(pair.exchange.wait_for, [REF.root, own.root])
        await pair.exchange.gather(REF, pair.other)
        pair.ours.put_tree(b"own" * 1_000, own.piece_bytes)
        pair.exchange.note_local()


async def test_a_blob_comes_from_peers_while_the_ledger_is_away(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        name = pair.theirs.put_blob(b"a roster")
        assert await pair.exchange.blob(name) == b"a roster"
        assert pair.ours.has_blob(name)


async def test_a_blob_comes_from_the_ledger_and_is_kept(tmp_path: Path) -> None:
    log = memory_log.MemoryLog.founded()
    name = sha256(b"a result")
    async with memory_log.serving(log) as server, paired(tmp_path, server.url) as pair:
        server.blobs[name] = b"a result"
        assert await pair.exchange.blob(name) == b"a result"
        assert pair.ours.get_blob(name) == b"a result"


async def test_what_is_wrong_with_a_tree_does_not_end_its_gatherer(tmp_path: Path) -> None:
    async with paired(tmp_path) as pair:
        pair.theirs.put_tree(CONTENT, REF.piece_bytes)
        wrong = TreeRef(root=REF.root, size_bytes=7, piece_bytes=3)
        with trio.move_on_after(0.5):
            await pair.exchange.gather(wrong, pair.other)
        assert not pair.ours.has_tree(REF.root)
