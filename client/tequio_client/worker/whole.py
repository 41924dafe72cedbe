"""What one source gives as a whole: small trees, blobs, and the leaf hashes of large trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_client.worker.asking import DEPTH
from tequio_client.worker.blobs import PAYLOAD_BYTES, Op, Request, unpack_blob
from tequio_client.worker.crew import Crew, Turns
from tequio_client.worker.tally import Tally
from tequio_client.worker.trees import Tree, cut_bytes, split_leaves
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import DIGEST_BYTES, Digest, sha256

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tequio_client.worker.asking import Asker
    from tequio_client.worker.sources import SourcePool
    from tequio_client.worker.store import Store
    from tequio_client.worker.trees import TreeRef
    from tequio_shared.ids import PeerKey


async def fetch_whole(asker: Asker, ref: TreeRef, pool: SourcePool, tally: Tally) -> None:
    """One request for the whole tree; its content alone shows whether the root is right."""
    turns = Turns()

    async def work(peer: PeerKey) -> None:
        await turns.wait()
        request = Request(op=Op.PIECES, name=ref.root, count=ref.pieces)
        content = bytes(await asker.ask_for_bytes(peer, request, ref.size_bytes))
        await trio.to_thread.run_sync(_keep_whole, asker.store, ref, content)
        if not tally.is_done:
            tally.add(peer, ref.size_bytes)
        tally.is_done = True

    await Crew(asker, pool, tally, turns.passing_on(work)).run()


def _keep_whole(store: Store, ref: TreeRef, content: bytes) -> None:
    if len(content) != ref.size_bytes or cut_bytes(content, ref.piece_bytes).ref != ref:
        raise MalformedError(f"{len(content)} bytes that are not the tree {ref.root.hex()}")
    store.put_tree(content, ref.piece_bytes)


async def fetch_blob(
    asker: Asker, name: Digest, pool: SourcePool, tally: Tally, most_bytes: int
) -> None:
    """Fetch a blob of at most so many bytes from one source after the other."""
    turns = Turns()

    async def work(peer: PeerKey) -> None:
        await turns.wait()
        content = await _blob_from(asker, peer, name, most_bytes)
        await trio.to_thread.run_sync(_keep_blob, asker.store, name, content)
        if not tally.is_done:
            tally.add(peer, len(content))
        tally.is_done = True

    await Crew(asker, pool, tally, turns.passing_on(work)).run()


async def _blob_from(asker: Asker, peer: PeerKey, name: Digest, most_bytes: int) -> bytes:
    """Fetch a blob from one source, unchecked: only its end shows whether it is right."""
    parts: dict[int, memoryview] = {}

    async def part(first: int) -> int:
        request = Request(op=Op.BLOB, name=name, first=first, count=PAYLOAD_BYTES)
        size, parts[first] = unpack_blob(await asker.ask_for_bytes(peer, request, PAYLOAD_BYTES))
        return size

    size = await part(0)
    if size > most_bytes:
        raise MalformedError(f"a blob of {size} bytes where {most_bytes} are allowed")
    await _in_parallel(part, range(PAYLOAD_BYTES, size, PAYLOAD_BYTES))
    return b"".join(parts[first] for first in sorted(parts))


async def _in_parallel(job: Callable[[int], Awaitable[int]], items: Iterable[int]) -> None:
    """Run the job for each item, DEPTH at a time; the first PeerError ends it."""
    todo, errors = list(reversed(list(items))), list[PeerError]()

    async def worker() -> None:
        try:
            while todo and not errors:
                await job(todo.pop())
        except PeerError as err:
            errors.append(err)

    async with trio.open_nursery() as nursery:
        for _ in range(DEPTH):
            nursery.start_soon(worker)
    if errors:
        raise errors[0]


def _keep_blob(store: Store, name: Digest, content: bytes) -> None:
    if sha256(content) != name:
        raise MalformedError(f"{len(content)} bytes that are not the blob {name.hex()}")
    store.put_blob(content)


async def fetch_leaves(asker: Asker, ref: TreeRef, pool: SourcePool, tally: Tally) -> Tree | None:
    """Fetch the leaf hashes and check them; None when no source gave them."""
    turns, found = Turns(), list[Tree]()
    gathered = Tally(ref.root, bad=tally.bad, asked=tally.asked)

    async def work(peer: PeerKey) -> None:
        await turns.wait()
        leaves = await _leaves_from(asker, peer, ref)
        await trio.to_thread.run_sync(ref.check_leaves, leaves)
        found.append(Tree(ref=ref, leaves=leaves))
        gathered.is_done = True

    await Crew(asker, pool, gathered, turns.passing_on(work)).run()
    return found[0] if found else None


async def _leaves_from(asker: Asker, peer: PeerKey, ref: TreeRef) -> tuple[bytes, ...]:
    most = PAYLOAD_BYTES // DIGEST_BYTES
    leaves: list[bytes] = []
    for first in range(0, ref.pieces, most):
        count = min(most, ref.pieces - first)
        request = Request(op=Op.LEAVES, name=ref.root, first=first, count=count)
        payload = await asker.ask(peer, request, expect_bytes=count * DIGEST_BYTES)
        leaves += split_leaves(bytes(payload))
    return tuple(leaves)
