"""The pieces of a large tree, shared out among sources that may each have only some of them.

Work is shared by pulling: each source has a few requests on their way and takes the next when one
is answered, so fast ones do more. Near the end idle sources also ask for what a slow one still
owes.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.shutdown import first_of
from tequio_client.worker.store.trees import Tree, cut_bytes, split_leaves
from tequio_client.worker.swarm.blob_server import (
    PAYLOAD_BYTES,
    Op,
    Request,
    Status,
    unpack_bits,
    unpack_blob,
)
from tequio_client.worker.swarm.streams import DEPTH, Asker, NotOkError
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import BLOB_BYTES, DIGEST_BYTES, Digest, peer_id_text, sha256

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.store.store import Store
    from tequio_client.worker.store.trees import Partial, TreeRef
    from tequio_shared.ids import PeerKey

# --- A crew: one task for each source, and the turns in which they go ahead.

log = structlog.get_logger(__name__)

HEDGE_S = 1.5
"""When the first answer is this late, another source is asked as well."""
ATTEMPTS = 6
"""A source that fails this often in a row is given up."""


class Crew:
    """One task per source, started as the pool grows; ends when done or when none is left."""

    def __init__(
        self,
        asker: Asker,
        pool: SourcePool,
        tally: Tally,
        work: Callable[[PeerKey], Awaitable[None]],
    ) -> None:
        self._asker = asker
        self._pool = pool
        self._tally = tally
        self._work = work
        self._at_work = 0
        self._idle = trio.Event()

    async def run(self) -> None:
        """Return once the tally is done, or no source is left and none will come."""
        if self._tally.is_done:
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hire, nursery)
            await self._idle.wait()
            nursery.cancel_scope.cancel()

    async def _hire(self, nursery: trio.Nursery) -> None:
        known = 0
        while True:
            for peer in self._pool.peers[known:]:
                if peer in self._tally.bad or self._asker.blame.is_banned(peer):
                    continue
                self._tally.asked.add(peer)
                self._at_work += 1
                nursery.start_soon(self._employ, peer)
                await trio.lowlevel.checkpoint()  # the scheduler knows no order, preference does
            known = len(self._pool.peers)
            if not self._pool.may_grow:
                break
            await self._pool.wait_longer_than(known)
        self._look_for_end()

    async def _employ(self, peer: PeerKey) -> None:
        try:
            await self._keep_trying(peer)
        except MalformedError as err:
            self._tally.bad[peer] = str(err)
            self._asker.accuse(self._tally.name, peer, str(err))
        self._at_work -= 1
        self._look_for_end()

    async def _keep_trying(self, peer: PeerKey) -> None:
        """Work until done; while the pool may grow, a source that fails may still recover."""
        failures = 0
        while not self._tally.is_done and (failures < ATTEMPTS or self._pool.may_grow):
            before = self._tally.by_source.get(peer, 0)
            is_busy = await self._try(peer)
            came = self._tally.by_source.get(peer, 0) > before
            failures = 0 if came else failures + (0 if is_busy and failures else 1)
            if not self._tally.is_done:
                pause = min(4.0, 0.1 * 2 ** min(failures, 8))
                await trio.sleep(pause * self._asker.rng.uniform(0.5, 1.5))

    async def _try(self, peer: PeerKey) -> bool:
        """Let the source work; whether it said that it is busy. Raises MalformedError."""
        try:
            await self._work(peer)
        except MalformedError:
            raise
        except PeerError as err:
            log.debug("a source failed", peer=peer_id_text(peer), error=str(err))
            return isinstance(err, NotOkError) and err.status is Status.BUSY
        return False

    def _look_for_end(self) -> None:
        if self._tally.is_done or (not self._at_work and not self._pool.may_grow):
            self._idle.set()


class Turns:
    """Lets one source go ahead; the next when it fails, or after HEDGE_S."""

    def __init__(self) -> None:
        self._next_at = -math.inf
        self._failed = trio.Event()

    async def wait(self) -> None:
        """Wait for our turn."""
        while (left := self._next_at - trio.current_time()) > 0:
            with trio.move_on_after(left):
                await self._failed.wait()
        self._next_at = trio.current_time() + HEDGE_S

    def passing_on(
        self, work: Callable[[PeerKey], Awaitable[None]]
    ) -> Callable[[PeerKey], Awaitable[None]]:
        """Wrap the work: when it fails, the next need not wait any longer."""

        async def guarded(peer: PeerKey) -> None:
            try:
                await work(peer)
            except PeerError:
                self._next_at = -math.inf
                self._failed.set()
                self._failed = trio.Event()
                raise

        return guarded


class PieceJob:
    """The pieces of one tree, shared among sources in units of at most PAYLOAD_BYTES."""

    def __init__(self, asker: Asker, partial: Partial, tally: Tally) -> None:
        self._asker = asker
        self._partial = partial
        self._tally = tally
        self._ref = partial.tree.ref
        self._todo = _units(partial.missing(), PAYLOAD_BYTES // self._ref.piece_bytes)
        self._flying: dict[tuple[int, int], list[tuple[PeerKey, float]]] = {}
        self._changed = trio.Event()
        self._tally.is_done = not self._todo

    async def work(self, peer: PeerKey) -> None:
        """Fetch from one source until the tree is done, or it has nothing more of it.

        Raises MalformedError when it lies, PeerError when it fails.
        """
        held = await self._held_by(peer)
        errors: list[PeerError] = []
        async with trio.open_nursery() as nursery:

            async def one() -> None:
                try:
                    await self._pull(peer, held)
                except PeerError as err:
                    errors.append(err)
                    nursery.cancel_scope.cancel()

            for _ in range(DEPTH):
                nursery.start_soon(one)
        if errors:
            raise next((err for err in errors if isinstance(err, MalformedError)), errors[0])

    async def _held_by(self, peer: PeerKey) -> list[bool] | None:
        """Which pieces the source has; None for all of them."""
        payload = await self._asker.ask(peer, Request(op=Op.HELD, name=self._ref.root))
        return unpack_bits(bytes(payload), self._ref.pieces) if payload else None

    async def _pull(self, peer: PeerKey, held: list[bool] | None) -> None:
        while not self._tally.is_done and self._has_use(held):
            unit = self._choose(peer, held)
            if unit is not None and self._is_here(unit):
                self._tally.is_done = self._partial.is_whole  # another fetch brought it
                continue
            if unit is None:
                with trio.move_on_after(0.25):
                    await self._changed.wait()
                continue
            await self._fetch(peer, unit)

    def _has_use(self, held: list[bool] | None) -> bool:
        return any(_first_run(held, unit) for unit in (*self._todo, *self._flying))

    def _choose(self, peer: PeerKey, held: list[bool] | None) -> tuple[int, int] | None:
        for at, unit in enumerate(self._todo):
            run = _first_run(held, unit)
            if run is not None:
                self._todo[at : at + 1] = _without(unit, run)
                return run
        return self._late_unit(peer, held)

    def _late_unit(self, peer: PeerKey, held: list[bool] | None) -> tuple[int, int] | None:
        """One that a single other source owes for longer than HEDGE_S."""
        for unit, carriers in self._flying.items():
            (carrier, since), *others = carriers
            late = trio.current_time() - since > HEDGE_S
            wanted = late and not others and not self._is_here(unit)
            if carrier != peer and wanted and _first_run(held, unit) == unit:
                return unit
        return None

    async def _fetch(self, peer: PeerKey, unit: tuple[int, int]) -> None:
        carriage = (peer, trio.current_time())
        self._flying.setdefault(unit, []).append(carriage)
        written = False
        try:
            await self._fetch_unit(peer, unit)
            written = True
        finally:
            self._land(unit, carriage, is_written=written)

    async def _fetch_unit(self, peer: PeerKey, unit: tuple[int, int]) -> None:
        first, count = unit
        request = Request(op=Op.PIECES, name=self._ref.root, first=first, count=count)
        _, expect = self._ref.span(first, count)
        payload = await self._asker.ask_for_bytes(peer, request, expect)
        if len(payload) != expect:
            raise MalformedError(f"{len(payload)} bytes where {expect} were asked for")
        new = await trio.to_thread.run_sync(
            self._asker.store.write_pieces, self._partial, first, payload
        )
        self._tally.add(peer, new)

    def _land(
        self, unit: tuple[int, int], carriage: tuple[PeerKey, float], *, is_written: bool
    ) -> None:
        carriers = self._flying.get(unit, [])
        if carriage in carriers:
            carriers.remove(carriage)
        if is_written or not carriers:
            self._flying.pop(unit, None)
        if not is_written and not carriers and not self._is_here(unit):
            self._todo.insert(0, unit)
        self._tally.is_done = self._partial.is_whole
        self._changed.set()
        self._changed = trio.Event()

    def _is_here(self, unit: tuple[int, int]) -> bool:
        first, count = unit
        return all(self._partial.held()[first : first + count])


def _units(missing: list[int], most: int) -> list[tuple[int, int]]:
    """Group neighbouring pieces, at most `most` in a unit, as (first, count)."""
    units: list[tuple[int, int]] = []
    for index in missing:
        first, count = units[-1] if units else (-1, 0)
        if first + count == index and count < most:
            units[-1] = (first, count + 1)
        else:
            units.append((index, 1))
    return units


def _first_run(held: list[bool] | None, unit: tuple[int, int]) -> tuple[int, int] | None:
    """Find the first pieces of the unit that are held without a gap; None when none is."""
    if held is None:
        return unit
    first, end = unit[0], unit[0] + unit[1]
    while first < end and not held[first]:
        first += 1
    count = 0
    while first + count < end and held[first + count]:
        count += 1
    return (first, count) if count else None


def _without(unit: tuple[int, int], run: tuple[int, int]) -> list[tuple[int, int]]:
    """Cut the unit down to what lies before and after the run."""
    after = run[0] + run[1]
    left = [(unit[0], run[0] - unit[0]), (after, unit[0] + unit[1] - after)]
    return [(first, count) for first, count in left if count]


# --- A pool of sources: the peers that may have what is being fetched; it may grow meanwhile.


class SourcePool:
    """Peers in order of preference; those added later are asked at once."""

    def __init__(self, peers: Iterable[PeerKey] = (), *, may_grow: bool = True) -> None:
        self._peers = list(dict.fromkeys(peers))
        self._changed = trio.Event()
        self.may_grow = may_grow

    @property
    def peers(self) -> tuple[PeerKey, ...]:
        """The peers so far."""
        return tuple(self._peers)

    def add(self, peer: PeerKey) -> None:
        """Add a source; one that is there already changes nothing."""
        if peer not in self._peers:
            self._peers.append(peer)
            self._wake()

    def close(self) -> None:
        """Say that no more will be added: a fetch may then fail before its deadline."""
        self.may_grow = False
        self._wake()

    async def wait_longer_than(self, known: int) -> None:
        """Return once there are more than `known` peers, or when no more will be added."""
        while len(self._peers) <= known and self.may_grow:
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


# --- What a fetch has brought so far, and the report that it becomes.


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchReport:
    """What a fetch did: verified bytes by source, sources that lied and how, and the time.

    `copied_bytes` are those that were taken from trees that were here already.
    """

    name: Digest
    bytes_by_source: Mapping[PeerKey, int]
    bad_sources: Mapping[PeerKey, str]
    copied_bytes: int
    seconds: float


class FetchFailedError(PeerError):
    """Nobody gave all of it in time; `report` says what came. What came is kept."""

    def __init__(self, message: str, report: FetchReport) -> None:
        super().__init__(message)
        self.report = report


@dataclass(slots=True)
class Tally:
    """One fetch under way; written by whoever works for it, all in one thread."""

    name: Digest
    started: float = field(default_factory=trio.current_time)
    by_source: dict[PeerKey, int] = field(default_factory=dict)
    bad: dict[PeerKey, str] = field(default_factory=dict)
    asked: set[PeerKey] = field(default_factory=set)
    copied_bytes: int = 0
    is_done: bool = False

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return trio.current_time() - self.started

    def add(self, peer: PeerKey, size_bytes: int) -> None:
        """Count verified bytes."""
        self.by_source[peer] = self.by_source.get(peer, 0) + size_bytes

    def report(self) -> FetchReport:
        """Say how it stands."""
        return FetchReport(
            name=self.name,
            bytes_by_source=dict(self.by_source),
            bad_sources=dict(self.bad),
            copied_bytes=self.copied_bytes,
            seconds=self.seconds,
        )


# --- What one source gives as a whole: small trees, blobs, and the leaf hashes of large trees.


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


# --- Fetching trees and blobs by their hash from several peers at once (protocol /tequio/blob/1).
#
# Every piece is checked as it arrives, so any peer will do as a source; one whose bytes do not
# match is dropped at once, named in the report, and not asked again for a while (`blame`).
#
# A tree that fits one answer is fetched by one request (`whole`). A larger one needs its leaf
# hashes first and grows in a `Partial` by `pieces`, which survives cancellation and crashes; of a
# tree that is like others that are here only the pieces that differ are fetched.

__all__ = ["FetchFailedError", "FetchReport", "Fetcher"]


class Fetcher(Asker):
    """Fetches into its store; `async with Fetcher(...) as fetcher`."""

    async def fetch_tree(
        self,
        ref: TreeRef,
        sources: SourcePool | Iterable[PeerKey],
        *,
        timeout_s: float,
        like: Iterable[Digest] = (),
    ) -> FetchReport:
        """Return once the whole tree is in the store.

        `like` names trees that may have pieces in common with it; those here are not fetched.
        Raises FetchFailedError when the sources do not give it in time (for a plain list of
        peers: or when all of them were given up), UserFacingError when the disk is full.
        """
        tally = Tally(ref.root)
        if not self.store.has_tree(ref.root):
            if ref.size_bytes <= PAYLOAD_BYTES:
                fetch = fetch_whole(self, ref, _pool(sources), tally)
            else:
                fetch = self._fetch_pieces(ref, _pool(sources), tally, tuple(like))
            await self._in_time(fetch, tally, timeout_s)
        return tally.report()

    async def fetch_blob(
        self,
        name: Digest,
        sources: SourcePool | Iterable[PeerKey],
        *,
        timeout_s: float,
        most_bytes: int = BLOB_BYTES,
    ) -> FetchReport:
        """Return once the blob, at most `most_bytes`, is in the store; raises FetchFailedError."""
        tally = Tally(name)
        if not self.store.has_blob(name):
            fetch = fetch_blob(self, name, _pool(sources), tally, most_bytes)
            await self._in_time(fetch, tally, timeout_s)
        return tally.report()

    async def _in_time(self, fetch: Awaitable[None], tally: Tally, timeout_s: float) -> None:
        with trio.move_on_after(timeout_s):
            await fetch
        if not tally.is_done:
            raise FetchFailedError(
                f"{tally.name.hex()} was not to be had from {len(tally.asked)} sources "
                f"in {tally.seconds:.0f} s; {len(tally.bad)} of them lied",
                tally.report(),
            )
        self.blame.had(tally.name)
        log.debug("fetched", name=tally.name.hex(), seconds=round(tally.seconds, 3))

    async def _fetch_pieces(
        self, ref: TreeRef, pool: SourcePool, tally: Tally, like: tuple[Digest, ...]
    ) -> None:
        tree = await trio.to_thread.run_sync(self.store.tree, ref.root)
        if tree is None:
            tree = await fetch_leaves(self, ref, pool, tally)
        if tree is None:
            return
        try:
            partial = await trio.to_thread.run_sync(self.store.enter_partial, tree)
        except RefusedError:  # another fetch has completed it meanwhile
            tally.is_done = True
            return
        try:
            await self._complete(partial, pool, tally, like)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self.store.leave_partial, ref.root)

    async def _complete(
        self, partial: Partial, pool: SourcePool, tally: Tally, like: tuple[Digest, ...]
    ) -> None:
        tally.copied_bytes = await trio.to_thread.run_sync(self.store.copy_pieces, partial, like)
        job = PieceJob(self, partial, tally)
        await Crew(self, pool, tally, job.work).run()


def _pool(sources: SourcePool | Iterable[PeerKey]) -> SourcePool:
    return sources if isinstance(sources, SourcePool) else SourcePool(sources, may_grow=False)


# --- Getting things by their name: from the store, from peers that should have them, from the
# ledger.
#
# Names are hashes, so it does not matter who gives the bytes. The likely holder is asked first;
# the others join in when it does not answer soon.

ALONE_S = 1.5
"""How long the likely holder is asked alone before the others are asked too."""
TRY_S = 60.0
RETRY_S = 1.0
POLL_S = 1.0
"""How often the pool is filled with peers that have come since."""


class Exchange:
    """One place to ask for trees and blobs; a fetch goes on until it succeeds or is cancelled."""

    def __init__(
        self,
        *,
        store: Store,
        fetcher: Fetcher,
        ledger: LedgerApi,
        peers: Callable[[], Iterable[PeerKey]],
    ) -> None:
        self._store = store
        self._fetcher = fetcher
        self._ledger = ledger
        self._peers = peers  # connected now, most useful first
        self._under_way: dict[Digest, trio.Event] = {}
        self._came = trio.Event()  # replaced whenever a tree came
        self.received: Counter[PeerKey] = Counter()  # verified bytes by source

    async def tree(
        self, ref: TreeRef, holder: PeerKey | None = None, *, like: Sequence[Digest] = ()
    ) -> Counter[PeerKey]:
        """Return once the whole tree is in the store; asked for twice, it is fetched once.

        Pieces that it shares with the trees `like` it are not fetched when those are here.
        Returns the verified bytes by source that this call fetched: none when it was here.
        """
        came: Counter[PeerKey] = Counter()
        while not self._store.has_tree(ref.root):
            if ref.root in self._under_way:
                await self._under_way[ref.root].wait()
                continue
            self._under_way[ref.root] = trio.Event()
            try:
                came.update(await self._try_tree(ref, holder, like))
            finally:
                self._under_way.pop(ref.root).set()
        return came

    async def gather(self, ref: TreeRef, holder: PeerKey | None = None) -> None:
        """`tree`, for a task in the background: what is wrong with the peers only goes to the log.

        UserFacingError passes: a full disk does not mend itself.
        """
        try:
            await self.tree(ref, holder)
        except* (PeerError, RefusedError) as group:
            log.warning("not fetched", root=ref.root.hex()[:12], error=str(first_of(group)))

    async def wait_for(self, roots: Iterable[Digest]) -> None:
        """Return once all of these trees are in the store; somebody else fetches them."""
        missing = [root for root in roots if not self._store.has_tree(root)]
        while missing:
            await self._came.wait()
            missing = [root for root in missing if not self._store.has_tree(root)]

    async def wait_for_more(self, roots: Sequence[Digest], missing: int) -> int:
        """Return once fewer than so many of these trees are missing; says how many are."""
        while (left := sum(not self._store.has_tree(root) for root in roots)) >= missing:
            await self._came.wait()
        return left

    async def blob(self, name: Digest) -> bytes:
        """The bytes of a blob: ours, the ledger's, or some peer's."""
        while True:
            content = await trio.to_thread.run_sync(self._store.get_blob, name)
            if content is not None:
                return content
            await self._try_blob(name)

    def note_local(self) -> None:
        """A tree was put into the store by ourselves."""
        self._came.set()
        self._came = trio.Event()

    # --- private

    async def _try_tree(
        self, ref: TreeRef, holder: PeerKey | None, like: Sequence[Digest]
    ) -> Mapping[PeerKey, int]:
        """Fetch for a while; returns the verified bytes by source."""
        pool = SourcePool([holder] if holder else self._peers())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._widen, pool, ALONE_S if holder else POLL_S)
            try:
                report = await self._fetcher.fetch_tree(ref, pool, timeout_s=TRY_S, like=like)
                self.note_local()
            except FetchFailedError as err:
                report = err.report
                log.warning("fetch failed; trying again", error=str(err))
                await trio.sleep(RETRY_S)
            self._note(report)
            nursery.cancel_scope.cancel()
        return report.bytes_by_source

    async def _widen(self, pool: SourcePool, after_s: float) -> None:
        """Let the peers that are connected join the search, now and as they come."""
        await trio.sleep(after_s)
        while True:
            for peer in self._peers():
                pool.add(peer)
            await trio.sleep(POLL_S)

    async def _try_blob(self, name: Digest) -> None:
        try:
            content = await self._ledger.get_blob(name)
        except (LedgerUnavailableError, RefusedError, PeerError) as err:
            log.debug("blob not had from the ledger", error=str(err))
            content = None
        if content is not None:
            await trio.to_thread.run_sync(self._store.put_blob, content)
            return
        try:
            self._note(await self._fetcher.fetch_blob(name, list(self._peers()), timeout_s=TRY_S))
        except FetchFailedError as err:
            log.warning("blob not found; trying again", error=str(err))
            await trio.sleep(RETRY_S)

    def _note(self, report: FetchReport) -> None:
        for peer, size in report.bytes_by_source.items():
            self.received[peer] += size
