"""Fetching trees and blobs by their hash, from the store, peers, mirrors, and the ledger.

The way of one chunk: `Exchange.tree` wants a tree and lists likely sources; `Fetcher.fetch_tree`
makes one attempt with them; each source's task in the `FetchPool` takes a chunk from the
`ChunkQueue`, requests it through the `BlobClient` (of a mirror: `DataMirrors`), and gives it to the
store, which checks every piece against its leaf hash, and so against the Merkle root, before it
writes.

Names are hashes, so anybody will do as a source. One whose bytes do not match is dropped at once,
named in the report, and banned for a while (`PeerBans`).

A tree that fits one answer is fetched by one request. A larger one needs its leaf hashes first and
grows in a `PartialTree`, which survives cancellation and crashes; of a tree that is like others
that are here, only the pieces that differ are fetched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Self

import structlog
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.store.files import NoRoomError
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import MerkleBlob, PartialTree, TreeRef, hash_bytes
from tequio_client.worker.swarm.blob_server import PAYLOAD_BYTES
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.mirrors import DataMirrors, MirroredFile, Source
from tequio_client.worker.swarm.request_places import TRUSTED_PLACES
from tequio_client.worker.swarm.sources import (
    Chunk,
    ChunkQueue,
    FetchFailedError,
    FetchFrom,
    FetchPool,
    FetchProgress,
    FetchSources,
)
from tequio_client.worker.swarm.streams import SILENCE_S, BlobClient, NotWantedError, PeerBans
from tequio_shared.errors import MalformedError, PeerError, RefusedError, first_error
from tequio_shared.ids import Digest, PeerKey, sha256
from tequio_shared.limits import BLOB_BYTES

if TYPE_CHECKING:
    from tequio_client.worker.swarm.peers import PeerNetwork


log = structlog.get_logger(__name__)

REQUESTS_PER_SOURCE = 4
"""On their way to one source at once, at first: hides the round trip, and a slow source owes
little."""
MOST_REQUESTS = TRUSTED_PLACES
"""The same of a source that answers soon: 10 MiB fill a line of 1 Gbit/s over 80 ms."""
QUICK_S, SLOW_S = 0.4, 1.0
"""An answer sooner than the one lets its source have one more request on its way, an answer later
than the other one less."""
SOURCES_AT_A_TIME = 4
"""Connected peers that are added to the sources of a fetch at once.

Of a fetch that is late because all are busy, requests to all would make them busier.
"""
MOST_SOURCES = 4_096
"""Sources that are remembered with what they gave; the oldest go first."""
WAIT_S = 0.25
"""How often a source without a chunk to fetch checks whether another source is late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferTimes:
    """Patience of each step of a transfer before the next is tried."""

    hedge_s: float = 1.5
    """When an answer is this late, another source is asked for the same."""
    silence_s: float = SILENCE_S
    """A stream on which nothing arrives for this long is given up."""
    alone_s: float = 1.5
    """How long the likely holder is asked alone before all connected peers are."""
    try_s: float = 60.0
    """One attempt, with the sources of its time."""
    retry_s: float = 1.0
    """Pause after an attempt that failed."""
    poll_s: float = 1.0
    """How often connected peers are added to the sources, a few at a time."""


class Exchange:
    """Fetches trees and blobs for the whole worker; a fetch goes on until it succeeds."""

    def __init__(
        self, fetcher: Fetcher, ledger: LedgerApi, peers: Callable[[], Iterable[PeerKey]]
    ) -> None:
        self._store = fetcher.store
        self._fetcher = fetcher
        self._ledger = ledger
        self._peers = peers  # connected now, in random order
        self._under_way: dict[Digest, trio.Event] = {}
        self._arrived = trio.Event()  # replaced whenever a tree arrived
        self.received_bytes = 0  # verified, since the start
        self.received: Counter[Source] = Counter()  # of these, by source; of MOST_SOURCES

    async def fetch_tree(
        self,
        ref: TreeRef,
        holder: PeerKey | None = None,
        *,
        likely: Container[PeerKey] = (),
        like: Sequence[Digest] = (),
    ) -> Counter[Source]:
        """Return once the whole tree is in the store; concurrent calls share one fetch.

        `holder` is asked first, wherever it is, then those connected peers that are `likely` to
        have the tree, then the others.
        Pieces that it shares with the trees `like` it are not fetched when those are here.
        Returns the verified bytes by source that this call fetched: none when it was here.
        """
        fetched: Counter[Source] = Counter()
        while not self._store.has_tree(ref.root):
            if ref.root in self._under_way:
                await self._under_way[ref.root].wait()
                continue  # and check again: the other caller may have been cancelled
            self._under_way[ref.root] = trio.Event()
            try:
                fetched.update(await self._try_tree(ref, holder, likely, like))
            finally:
                self._under_way.pop(ref.root).set()
        return fetched

    async def fetch_in_background(self, ref: TreeRef, holder: PeerKey | None = None) -> None:
        """Fetch as `fetch_tree` does; errors of peers only go to the log, disk errors pass."""
        try:
            await self.fetch_tree(ref, holder)
        except* (PeerError, RefusedError) as group:
            log.warning("not fetched", root=ref.root.hex()[:12], error=str(first_error(group)))

    async def wait_for_trees(self, roots: Iterable[Digest]) -> None:
        """Return once all of these trees are in the store; other tasks fetch them."""
        missing = [root for root in roots if not self._store.has_tree(root)]
        while missing:
            await self._arrived.wait()
            missing = [root for root in missing if not self._store.has_tree(root)]

    async def wait_for_more(self, roots: Sequence[Digest], missing: int) -> int:
        """Return once fewer than `missing` of these trees are missing; returns how many are."""
        while (left := sum(not self._store.has_tree(root) for root in roots)) >= missing:
            await self._arrived.wait()
        return left

    async def fetch_blob(self, name: Digest) -> bytes:
        """Get the bytes of a blob from the store, the ledger, or a peer.

        The store has it afterwards, unless it has no room.
        """
        while True:
            content = await trio.to_thread.run_sync(self._store.get_blob, name)
            if content is None:
                content = await self._try_blob(name)
            if content is not None:
                return content

    async def fetch_blob_file(self, name: Digest) -> Path:
        """Get the path of a blob for a program that reads it; raises NoRoomError."""
        content = await self.fetch_blob(name)
        if not self._store.has_blob(name):
            await trio.to_thread.run_sync(self._store.put_blob, content)
        return self._store.blob_path(name)

    def wake_waiters(self) -> None:
        """Have callers of `wait_for_trees` check again: a tree is new in the store."""
        self._arrived.set()
        self._arrived = trio.Event()

    async def _try_tree(
        self,
        ref: TreeRef,
        holder: PeerKey | None,
        likely: Container[PeerKey],
        like: Sequence[Digest],
    ) -> Counter[Source]:
        """Make one attempt; returns the verified bytes by source."""
        # The holder is asked alone at first: it has the tree for certain, while most others are
        # still fetching it themselves. So are mirrors: what they give, no seed has to send.
        alone = [holder] if holder else self._fetcher.mirrors.files_of(ref.root)
        sources = FetchSources(alone)
        alone_s = self._fetcher.times.alone_s if alone else 0.0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._add_connected, sources, likely, alone_s)
            try:
                progress = await self._fetcher.fetch_tree(
                    ref, sources, timeout_s=self._fetcher.times.try_s, like=like
                )
                self.wake_waiters()
            except FetchFailedError as err:
                progress = err.progress
                log.warning("fetch failed; trying again", error=str(err))
                await trio.sleep(self._fetcher.times.retry_s)
            # Of a failed attempt too: its pieces were verified and stay.
            self._record(progress)
            nursery.cancel_scope.cancel()
        return progress.bytes_by_source

    async def _add_connected(
        self, sources: FetchSources, likely: Container[PeerKey], after_s: float
    ) -> None:
        """Add the peers that are connected, now and as they come, a few at a time."""
        await trio.sleep(after_s)
        while True:
            others = [peer for peer in self._peers() if peer not in sources.known]
            others.sort(key=lambda peer: peer not in likely)
            for peer in others[:SOURCES_AT_A_TIME]:
                sources.add(peer)
            await trio.sleep(self._fetcher.times.poll_s)

    async def _try_blob(self, name: Digest) -> bytes | None:
        """Make one attempt; None if it failed, or the blob has come into the store meanwhile."""
        # The ledger first: blobs are small documents, which it has as soon as they are named.
        try:
            content = await self._ledger.get_blob(name)
        except (LedgerUnavailableError, RefusedError, PeerError) as err:
            log.debug("the ledger does not give a blob", error=str(err))
            content = None
        if content is not None:
            await trio.to_thread.run_sync(self._put_blob, content)
            return content
        found: list[bytes] = []

        def put(content: bytes) -> None:
            found.append(content)
            self._put_blob(content)

        try:
            progress = await self._fetcher.fetch_blob(
                name, self._peers(), timeout_s=self._fetcher.times.try_s, put=put
            )
            self._record(progress)
        except FetchFailedError as err:
            log.warning("blob not found; trying again", error=str(err))
            await trio.sleep(self._fetcher.times.retry_s)
        return found[0] if found else None

    def _put_blob(self, content: bytes) -> None:
        # A roster or manifest can be read all the same, and is small.
        try:
            self._store.put_blob(content)
        except NoRoomError as err:
            log.warning("a blob is not kept", error=str(err))

    def _record(self, progress: FetchProgress) -> None:
        self.received_bytes += progress.bytes_by_source.total()
        self.received.update(progress.bytes_by_source)
        while len(self.received) > MOST_SOURCES:
            del self.received[next(iter(self.received))]


class Fetcher:
    """One attempt at a time from given sources, into its store; `async with Fetcher(...)`."""

    def __init__(
        self,
        network: PeerNetwork,
        store: Store,
        *,
        rng: Random,
        download: ByteBudget | None = None,
        bans: PeerBans | None = None,
        times: TransferTimes | None = None,
    ) -> None:
        self.store = store
        self.times = times or TransferTimes()
        self.bans = bans or PeerBans()
        self.client = BlobClient(network, download=download, silence_s=self.times.silence_s)
        self.mirrors = DataMirrors(download=download, silence_s=self.times.silence_s)
        self._network, self._rng = network, rng

    @property
    def read_bytes(self) -> int:
        """Bytes received since the start: all that peers sent, and what came from mirrors."""
        return self._network.limiter.read_bytes + self.mirrors.read_bytes

    async def __aenter__(self) -> Self:
        await self.client.streams.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.client.streams.__aexit__(*error)
        with trio.CancelScope(shield=True):
            await self.mirrors.aclose()

    async def held(self, source: Source, ref: TreeRef) -> list[bool] | None:
        """Ask which pieces of the tree a source has; None for all. Raises PeerError."""
        if isinstance(source, MirroredFile):
            return None
        return await self.client.held(source, ref)

    async def pieces(
        self,
        source: Source,
        ref: TreeRef,
        first: int,
        count: int,
        may_send: Callable[[], bool] = lambda: True,
    ) -> bytes | memoryview:
        """Fetch pieces from a source, not yet verified; raises PeerError.

        Raises NotWantedError unless `may_send` at its turn.
        """
        if isinstance(source, MirroredFile):
            return await self.mirrors.pieces(source, ref, first, count, may_send)
        return await self.client.pieces(source, ref, first, count, may_send)

    async def fetch_tree(
        self,
        ref: TreeRef,
        sources: FetchSources | Iterable[Source],
        *,
        timeout_s: float,
        like: Iterable[Digest] = (),
    ) -> FetchProgress:
        """Return once the whole tree is in the store.

        `like` names trees that may have pieces in common with it; those here are not fetched.
        Raises FetchFailedError when the sources do not give it in time (for a plain list of
        peers: or when all of them were given up), UserFacingError when the disk is full.
        """
        progress = FetchProgress(ref.root)
        if not self.store.has_tree(ref.root):
            if ref.size_bytes <= PAYLOAD_BYTES:
                fetch = self._fetch_small(ref, _sources(sources), progress)
            else:
                fetch = self._fetch_chunks(ref, _sources(sources), progress, tuple(like))
            await self._in_time(fetch, progress, timeout_s)
        return progress

    async def fetch_blob(
        self,
        name: Digest,
        sources: FetchSources | Iterable[Source],
        *,
        timeout_s: float,
        most_bytes: int = BLOB_BYTES,
        put: Callable[[bytes], object] | None = None,
    ) -> FetchProgress:
        """Return once the blob, at most `most_bytes`, is in the store; raises FetchFailedError.

        With `put`, that gets the right bytes, in a thread, and the store does not.
        """
        progress = FetchProgress(name)
        if not self.store.has_blob(name):
            put = put or self.store.put_blob
            fetch = self._fetch_blob(name, _sources(sources), progress, most_bytes, put)
            await self._in_time(fetch, progress, timeout_s)
        return progress

    async def _in_time(
        self, fetch: Awaitable[None], progress: FetchProgress, timeout_s: float
    ) -> None:
        started_s = trio.current_time()
        with trio.move_on_after(timeout_s):
            await fetch
        progress.seconds = trio.current_time() - started_s
        if not progress.is_done:
            raise FetchFailedError(progress)
        # Only now: until right bytes were seen, the name itself may be the lie (`PeerBans`).
        self.bans.confirm(progress.name)
        log.debug("fetched", name=progress.name.hex(), seconds=round(progress.seconds, 3))

    async def _fetch_small(
        self, ref: TreeRef, sources: FetchSources, progress: FetchProgress
    ) -> None:
        """Fetch a tree by one request: its content alone shows whether the root is right."""

        # No leaf hashes are asked for first: they would double the round trips of a small tree.
        async def get(source: Source) -> bytes:
            return bytes(await self.pieces(source, ref, 0, ref.pieces))

        def put(content: bytes) -> None:
            if hash_bytes(content, ref.piece_bytes).ref != ref:
                raise MalformedError(f"{len(content)} bytes that are not the tree {ref.root.hex()}")
            self.store.put_tree(content, ref.piece_bytes)

        await self._fetch_whole(sources, progress, get, put)

    async def _fetch_blob(
        self,
        name: Digest,
        sources: FetchSources,
        progress: FetchProgress,
        most_bytes: int,
        put: Callable[[bytes], object],
    ) -> None:
        """Fetch a blob from one source after the other: only its end shows whether it is right."""

        def check_and_put(content: bytes) -> None:
            if sha256(content) != name:
                raise MalformedError(f"{len(content)} bytes that are not the blob {name.hex()}")
            put(content)

        async def get(source: Source) -> bytes:
            if isinstance(source, MirroredFile):
                raise PeerError("mirrors have no blobs")
            return await _whole_blob(self.client, source, name, most_bytes)

        await self._fetch_whole(sources, progress, get, check_and_put)

    async def _fetch_whole(
        self,
        sources: FetchSources,
        progress: FetchProgress,
        get: Callable[[Source], Awaitable[bytes]],
        put: Callable[[bytes], None],
    ) -> None:
        """Get the content from one source after the other, until one fits and is `put`."""

        async def fetch_from(source: Source) -> None:
            content = await get(source)
            await trio.to_thread.run_sync(put, content)
            if not progress.is_done:  # a second one in time counts for nothing
                progress.bytes_by_source[source] += len(content)
            progress.is_done = True

        await self._run_pool(sources, progress, fetch_from, hedge_s=self.times.hedge_s)

    async def _fetch_chunks(
        self, ref: TreeRef, sources: FetchSources, progress: FetchProgress, like: tuple[Digest, ...]
    ) -> None:
        """Fetch a tree by its pieces, into a partial tree that outlives this attempt."""
        tree = await trio.to_thread.run_sync(self.store.tree, ref.root)
        if tree is None:
            tree = await self._fetch_leaves(ref, sources, progress)
        if tree is None:
            return
        try:
            partial = await trio.to_thread.run_sync(self.store.acquire_partial, tree)
        except RefusedError:  # another fetch has completed it meanwhile
            progress.is_done = True
            return
        try:
            await trio.to_thread.run_sync(self.store.copy_pieces, partial, like)
            chunks = ChunkFetch(self, partial, progress, self._rng)
            await self._run_pool(sources, progress, chunks.fetch_from)
        finally:
            # Shielded: a partial tree that is not released could never be evicted, or completed.
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self.store.release_partial, ref.root)

    async def _fetch_leaves(
        self, ref: TreeRef, sources: FetchSources, progress: FetchProgress
    ) -> MerkleBlob | None:
        """Fetch the leaf hashes and check them; None when no source gave them."""
        found: list[MerkleBlob] = []
        # A separate progress, as leaf hashes do not count as verified bytes of the tree; yet a
        # source that is bad here is not asked for pieces either.
        own = FetchProgress(ref.root, bad_sources=progress.bad_sources, asked=progress.asked)

        async def fetch_from(source: Source) -> None:
            if isinstance(source, MirroredFile):
                leaves = await self.mirrors.leaves(source, ref)
            else:
                leaves = await self.client.leaves(source, ref)
            await trio.to_thread.run_sync(ref.check_leaves, leaves)
            found.append(MerkleBlob(ref=ref, leaves=leaves))
            own.is_done = True

        await self._run_pool(sources, own, fetch_from, hedge_s=self.times.hedge_s)
        return found[0] if found else None

    async def _run_pool(
        self,
        sources: FetchSources,
        progress: FetchProgress,
        fetch_from: FetchFrom,
        hedge_s: float | None = None,
    ) -> None:
        def may_ask(source: Source) -> bool:
            return isinstance(source, MirroredFile) or not self.bans.is_banned(source)

        def drop(source: Source, reason: str) -> None:
            if isinstance(source, MirroredFile):
                self.mirrors.drop(source, reason)
                return
            # Its other streams as well: what is still on its way from this peer is not worth
            # reading.
            self.client.streams.close_peer(source)
            self.bans.suspect(progress.name, source, reason)

        pool = FetchPool(
            sources,
            progress,
            fetch_from,
            until_ready=self.client.budget.until_paid,
            hedge_s=hedge_s,
            may_ask=may_ask,
            drop=drop,
            rng=self._rng,
        )
        await pool.run()


def _sources(sources: FetchSources | Iterable[Source]) -> FetchSources:
    return sources if isinstance(sources, FetchSources) else FetchSources(sources, may_grow=False)


async def _whole_blob(client: BlobClient, peer: PeerKey, name: Digest, most_bytes: int) -> bytes:
    """Fetch a blob from one source, unchecked."""
    size, part = await client.blob_part(peer, name, 0)
    # Before anything else is fetched: the size is the peer's word, and memory is ours.
    if size > most_bytes:
        raise MalformedError(f"a blob of {size} bytes where {most_bytes} are allowed")
    # Only the first answer's size counts: a source that changes it later sends bytes that do not
    # match the name, and is suspected for that.
    parts = {0: part}
    todo = list(range(PAYLOAD_BYTES, size, PAYLOAD_BYTES))

    async def pull() -> bool:
        if not todo:
            return False
        first = todo.pop(0)
        await client.budget.until_paid()
        _, parts[first] = await client.blob_part(peer, name, first)
        return True

    await pull_in_parallel(pull)
    return b"".join(parts[first] for first in sorted(parts))


class ChunkFetch:
    """Fetches the missing chunks of one partial tree; `fetch_from` runs for several sources."""

    def __init__(
        self, fetcher: Fetcher, partial: PartialTree, progress: FetchProgress, rng: Random
    ) -> None:
        self._fetcher = fetcher
        self._partial, self._progress = partial, progress
        self._ref = partial.tree.ref
        most_pieces = PAYLOAD_BYTES // self._ref.piece_bytes
        self._queue = ChunkQueue(
            partial, most_pieces=most_pieces, hedge_s=fetcher.times.hedge_s, rng=rng
        )
        self._progress.is_done = partial.is_whole
        self._turn = trio.Lock()

    async def fetch_from(self, source: Source) -> None:
        """Fetch from one source until the tree is done, or it has nothing more of it."""
        held = await self._fetcher.held(source, self._ref)

        async def pull() -> bool:
            while not self._progress.is_done and self._queue.wants_from(held):
                # One at a time, so that every fetch gets its share of the budget, however many
                # sources it has.
                async with self._turn:
                    await self._fetcher.client.budget.until_paid()
                    chunk = self._queue.next_chunk(source, held)
                if chunk is None:  # all that it holds is on its way from others
                    await self._queue.wait_for_change(WAIT_S)
                elif self._partial.has_pieces(*chunk):  # another fetch of this tree brought it
                    self._progress.is_done = self._partial.is_whole
                elif await self._fetch(source, chunk):
                    return True
            return False

        with self._queue.holding(held):
            await pull_in_parallel(pull)

    async def _fetch(self, source: Source, chunk: Chunk) -> bool:
        """Fetch a chunk; False if nobody wanted it from this source any more at its turn."""
        with suppress(NotWantedError), self._queue.requested(chunk, source) as may_send:
            try:
                content = await self._fetcher.pieces(source, self._ref, *chunk, may_send)
                # Counts only pieces that were still missing, so that a hedged chunk that two
                # sources send is not credited twice.
                new_bytes = await trio.to_thread.run_sync(
                    self._fetcher.store.write_pieces, self._partial, chunk[0], content
                )
                self._progress.bytes_by_source[source] += new_bytes
            finally:
                self._progress.is_done = self._partial.is_whole
            return True
        return False


async def pull_in_parallel(pull: Callable[[], Awaitable[bool]]) -> None:
    """Repeat pulls from one source, several side by side, until they return False: nothing is left.

    There are REQUESTS_PER_SOURCE of them, and up to MOST_REQUESTS while one takes less than
    QUICK_S: on a fast line with a long way, few requests leave the line idle. After a PeerError
    each ends with the pull it is in, since one that gets BUSY says nothing about what is on its
    way; then it is raised. MalformedError ends all at once and goes before other errors: wrong
    bytes get a source banned, a failure does not.
    """
    errors: list[PeerError] = []
    running = REQUESTS_PER_SOURCE
    async with trio.open_nursery() as nursery:

        async def run() -> None:
            nonlocal running
            begun_s = trio.current_time()
            with _put_in(errors, nursery.cancel_scope):
                while not errors and await pull():
                    took_s = trio.current_time() - begun_s
                    begun_s += took_s
                    if took_s < QUICK_S and running < MOST_REQUESTS:
                        running += 1
                        nursery.start_soon(run)
                    elif took_s > SLOW_S and running > REQUESTS_PER_SOURCE:
                        running -= 1
                        return

        for _ in range(REQUESTS_PER_SOURCE):
            nursery.start_soon(run)
    if errors:
        raise errors[0]


@contextmanager
def _put_in(errors: list[PeerError], scope: trio.CancelScope) -> Iterator[None]:
    """Put an error of the block in the list; wrong bytes go first, and end the scope."""
    try:
        yield
    except MalformedError as err:
        errors.insert(0, err)
        scope.cancel()
    except PeerError as err:
        errors.append(err)
