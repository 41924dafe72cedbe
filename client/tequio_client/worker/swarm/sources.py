"""Sources of one fetch: which of them are asked for what and when, and what each one sent.

`FetchPool` runs one task per source. Work is not assigned but pulled: a fast source takes more
chunks from the `ChunkQueue`, and a slow or dead one delays nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from random import Random
from typing import TypeAlias

import structlog
import trio

from tequio_client.worker.store.trees import PartialTree
from tequio_client.worker.swarm.blob_server import BlobStatus
from tequio_client.worker.swarm.mirrors import Source, source_text
from tequio_client.worker.swarm.streams import AnswerError
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import Digest
from tequio_shared.wording import plural

log = structlog.get_logger(__name__)

FetchFrom: TypeAlias = Callable[[Source], Awaitable[None]]
Chunk: TypeAlias = tuple[int, int]
"""Pieces in a row, requested at once: the first, and how many."""

MAX_ATTEMPTS = 6
"""Failures in a row before a source is given up."""
LONGEST_PAUSE_S = 4.0
"""Longest pause between two attempts at one source."""
LONGEST_MISSING_S = 20.0
"""The same for a source that answers that it does not have the content."""


@dataclass(slots=True)
class FetchProgress:
    """State of a fetch, at its end the result; changed by its tasks, all in one thread."""

    name: Digest
    bytes_by_source: Counter[Source] = field(default_factory=Counter)
    """Verified bytes."""
    bad_sources: dict[Source, str] = field(default_factory=dict)
    """Errors of the sources that sent wrong data."""
    asked: set[Source] = field(default_factory=set)
    seconds: float = 0.0
    """Time that it took; set at the end."""
    is_done: bool = False


class FetchFailedError(PeerError):
    """Not everything came in time; `progress` lists what came, which stays."""

    def __init__(self, progress: FetchProgress) -> None:
        super().__init__(
            f"could not fetch {progress.name.hex()} from {plural(len(progress.asked), 'source')} "
            f"in {progress.seconds:.0f} s ({len(progress.bad_sources)} sent wrong data)"
        )
        self.progress = progress


class FetchSources:
    """Likely holders of the content, in order of preference; more may be added meanwhile."""

    def __init__(self, sources: Iterable[Source] = (), *, may_grow: bool = True) -> None:
        self.known = list(dict.fromkeys(sources))  # only grows
        self.may_grow = may_grow  # False: a fetch may fail before its deadline
        self._changed = trio.Event()

    def add(self, source: Source) -> None:
        """Add a source; one that is there already changes nothing."""
        if source not in self.known:
            self.known.append(source)
            self._changed.set()
            self._changed = trio.Event()

    async def wait_longer_than(self, known: int) -> None:
        while len(self.known) <= known:
            await self._changed.wait()


class FetchPool:
    """One task per source, started as the sources grow; `fetch_from` is what each task does.

    With `hedge_s` sources start one after another, in order of preference, for what one source
    gives whole: the next one starts when one fails, or when none has been done for so long. All at
    once would fetch it as often as there are sources. A source that is not started costs nothing.

    `fetch_from` returns when its source has nothing more to give, raises MalformedError for wrong
    bytes (`drop` is told, and the source not asked again) and PeerError for a failure (it is tried
    again). `may_ask` tells whether a source is asked at all. With `hedge_s`, `until_ready` is
    awaited before each source.
    """

    def __init__(  # noqa: PLR0913 - composition
        self,
        sources: FetchSources,
        progress: FetchProgress,
        fetch_from: FetchFrom,
        *,
        until_ready: Callable[[], Awaitable[None]],
        hedge_s: float | None = None,
        may_ask: Callable[[Source], bool],
        drop: Callable[[Source, str], None],
        rng: Random,
    ) -> None:
        self._sources = sources
        self._progress = progress
        self._fetch_from = fetch_from
        self._until_ready = until_ready
        self._hedge_s = hedge_s
        self._may_ask = may_ask
        self._drop = drop
        self._rng = rng
        self._running = 0
        self._are_all_started = False
        self._failed = trio.Event()  # replaced whenever a source starts
        self._ended = trio.Event()

    async def run(self) -> None:
        """Return once the fetch is done, or no source is left and none will come."""
        if self._progress.is_done:
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._start_sources, nursery)
            await self._ended.wait()
            nursery.cancel_scope.cancel()

    async def _start_sources(self, nursery: trio.Nursery) -> None:
        known = 0
        while known < len(self._sources.known) or self._sources.may_grow:
            await self._sources.wait_longer_than(known)
            source = self._sources.known[known]
            known += 1
            if self._hedge_s is not None:
                await self._until_ready()
            if source not in self._progress.bad_sources and self._may_ask(source):
                self._progress.asked.add(source)
                self._running += 1
                self._failed = trio.Event()
                nursery.start_soon(self._run_source, source)
                await self._wait_for_the_next()
        self._are_all_started = True
        self._end_if_over()

    async def _wait_for_the_next(self) -> None:
        if self._hedge_s is None:
            # Tasks started in one step run in any order; the order of preference needs a step for
            # each.
            await trio.lowlevel.checkpoint()
        else:
            with trio.move_on_after(self._hedge_s):
                await self._failed.wait()

    async def _run_source(self, source: Source) -> None:
        try:
            await self._retry(source)
        except MalformedError as err:
            self._progress.bad_sources[source] = str(err)
            self._drop(source, str(err))
        self._running -= 1
        self._end_if_over()

    async def _retry(self, source: Source) -> None:
        """Fetch until done; while sources may be added, one that fails may still recover."""
        failures = 0
        while not self._progress.is_done and (failures < MAX_ATTEMPTS or self._sources.may_grow):
            before = self._progress.bytes_by_source[source]
            answer = await self._attempt(source)
            if self._progress.bytes_by_source[source] > before:
                failures = 0
            elif not (answer is BlobStatus.BUSY and failures):
                # A busy source counts as failing only once: it lives, and will have time again.
                failures += 1
            if not self._progress.is_done:
                # Jittered below: the retries of many fetchers must not meet at one server.
                is_missing = answer is BlobStatus.MISSING
                longest_s = LONGEST_MISSING_S if is_missing else LONGEST_PAUSE_S
                pause_s = min(longest_s, 0.1 * 2 ** min(failures, 8))
                await trio.sleep(pause_s * self._rng.uniform(0.5, 1.5))

    async def _attempt(self, source: Source) -> BlobStatus | None:
        """Fetch from the source once; returns its answer, None if it gave none."""
        try:
            await self._fetch_from(source)
        except PeerError as err:
            self._failed.set()
            if isinstance(err, MalformedError):
                raise  # no reason to try again
            log.debug("a source failed", source=source_text(source), error=str(err))
            return err.status if isinstance(err, AnswerError) else None
        return BlobStatus.OK

    def _end_if_over(self) -> None:
        if self._progress.is_done or (not self._running and self._are_all_started):
            self._ended.set()


@dataclass(slots=True, eq=False)
class _ChunkRequest:
    source: Source
    since_s: float
    """When it was sent; before that, since when it waits for its turn."""
    is_sent: bool = False


class ChunkQueue:
    """Chunks of a partial tree that are still to be fetched, and the sources that owe the others.

    `held` lists the pieces of one source; None is everything. The rarest chunk is fetched first, by
    what our sources hold, and among equals one by lot: so the many that begin to fetch a new head
    at one seed ask it for different chunks, and get the others from each other. A source that lies
    about what it holds only spoils the order. Near the end, idle sources get chunks that a slow one
    owes.
    """

    def __init__(
        self, partial: PartialTree, *, most_pieces: int, hedge_s: float, rng: Random
    ) -> None:
        self._partial = partial
        self._hedge_s = hedge_s
        self._todo = _chunks(partial.missing_pieces(), most_pieces)
        rng.shuffle(self._todo)
        # By piece, the sources that hold it but not everything: those with all change no order.
        self._holders = [0] * partial.tree.ref.pieces
        self._flying: dict[Chunk, list[_ChunkRequest]] = {}
        self._changed = trio.Event()  # replaced whenever a request ended

    def wants_from(self, held: list[bool] | None) -> bool:
        return any(_first_run(held, chunk) for chunk in (*self._todo, *self._flying))

    @contextmanager
    def holding(self, held: list[bool] | None) -> Iterator[None]:
        """Count the pieces of one source for this block, in which it is asked."""
        self._count(held, 1)
        try:
            yield
        finally:
            self._count(held, -1)

    def next_chunk(self, source: Source, held: list[bool] | None) -> Chunk | None:
        """Take the part that the source has of the rarest queued chunk, or a late chunk.

        Costs time in the number of queued chunks: 0.1 ms for each thousand, at 1 MiB a chunk.
        """
        at = self._rarest(held)
        run = None if at is None else _first_run(held, self._todo[at])
        if at is None or run is None:
            return self._late_chunk(source, held)
        self._todo[at : at + 1] = _without(self._todo[at], run)
        return run

    @contextmanager
    def requested(self, chunk: Chunk, source: Source) -> Iterator[Callable[[], bool]]:
        """Register a request of the chunk for this block; a failed one is queued again.

        The block gets a function to call when the request can be sent: False if it need not be.
        """
        request = _ChunkRequest(source, trio.current_time())
        self._flying.setdefault(chunk, []).append(request)
        is_written = False
        try:
            yield partial(self._may_send, chunk, request)
            is_written = True
        finally:
            self._end(chunk, request, is_written=is_written)

    async def wait_for_change(self, timeout_s: float) -> None:
        """Wait until a request ended, or `timeout_s`: one may have become late."""
        with trio.move_on_after(timeout_s):
            await self._changed.wait()

    def _count(self, held: list[bool] | None, step: int) -> None:
        for piece, is_held in enumerate(held or ()):
            if is_held:
                self._holders[piece] += step

    def _rarest(self, held: list[bool] | None) -> int | None:
        """Find the place in the queue of the rarest chunk of which the source has something."""
        # By its first piece: a chunk is one piece, except of small ones.
        begun = [at for at, (first, _) in enumerate(self._todo) if held is None or held[first]]
        if begun:
            return min(begun, key=lambda at: self._holders[self._todo[at][0]])
        return next((at for at, one in enumerate(self._todo) if _first_run(held, one)), None)

    def _late_chunk(self, source: Source, held: list[bool] | None) -> Chunk | None:
        """Find a chunk that other sources owe: one for longer than `hedge_s`, two for twice that.

        And so on, doubling: else a slow moment of our own line would fetch everything many times.
        With a limit instead, two slow sources that know of each other would hold a chunk back. A
        chunk that is here may still be listed while a slow disk writes it; to ask for it again
        would spin.
        """
        for chunk, requests in self._flying.items():
            is_asked = any(one.source == source for one in requests)
            is_wanted = not is_asked and self._is_wanted(chunk, requests)
            if is_wanted and _first_run(held, chunk) == chunk:
                return chunk
        return None

    def _may_send(self, chunk: Chunk, request: _ChunkRequest) -> bool:
        # While it waited for its turn, another source may have sent the chunk, or have begun to.
        sent = [one for one in self._flying.get(chunk, ()) if one.is_sent]
        if not self._is_wanted(chunk, sent):
            return False
        request.since_s, request.is_sent = trio.current_time(), True
        return True

    def _is_wanted(self, chunk: Chunk, requests: list[_ChunkRequest]) -> bool:
        """Check that the chunk is not here, and that all of these requests for it are late."""
        newest_s = max((one.since_s for one in requests), default=-inf)
        is_late = trio.current_time() - newest_s > self._hedge_s * 2 ** (len(requests) - 1)
        return is_late and not self._partial.has_pieces(*chunk)

    def _end(self, chunk: Chunk, request: _ChunkRequest, *, is_written: bool) -> None:
        requests = self._flying.get(chunk, [])
        if request in requests:
            requests.remove(request)
        # Written by one source: late requests of the same chunk are forgotten, and their bytes are
        # found to be here already.
        if is_written or not requests:
            self._flying.pop(chunk, None)
        if not is_written and not requests and not self._partial.has_pieces(*chunk):
            # First in the line again: it has waited longest, and the end of a tree waits for all.
            self._todo.insert(0, chunk)
        self._changed.set()
        self._changed = trio.Event()


def _chunks(missing: list[int], most: int) -> list[Chunk]:
    """Group neighbouring pieces, at most `most` in a chunk."""
    chunks: list[Chunk] = []
    for index in missing:
        first, count = chunks[-1] if chunks else (-1, 0)
        if first + count == index and count < most:
            chunks[-1] = (first, count + 1)
        else:
            chunks.append((index, 1))
    return chunks


def _first_run(held: list[bool] | None, chunk: Chunk) -> Chunk | None:
    """Find the first pieces of the chunk that are held without a gap; None when none is."""
    if held is None:
        return chunk
    first, end = chunk[0], chunk[0] + chunk[1]
    while first < end and not held[first]:
        first += 1
    count = 0
    while first + count < end and held[first + count]:
        count += 1
    return (first, count) if count else None


def _without(chunk: Chunk, run: Chunk) -> list[Chunk]:
    """Cut the chunk down to what lies before and after the run."""
    after = run[0] + run[1]
    left = [(chunk[0], run[0] - chunk[0]), (after, chunk[0] + chunk[1] - after)]
    return [(first, count) for first, count in left if count]
