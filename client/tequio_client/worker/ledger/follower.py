"""Following the log without trusting the server of it.

Rules. At the start, the log's right edge before our first entry is built from tiles and proven
against a signed checkpoint, which must continue the stored one. Every entry is then parsed, its
signatures are verified and its hash is appended to the edge, before it is delivered. The edge's
root is compared with newer signed checkpoints: within `check_s` or `check_entries` of a delivery,
and with at most `unchecked` delivered entries unproven. A different root is a fork: LogForkedError,
and nothing more is delivered.

Tasks. Only `_feed` appends; it reads bundles up to the newest checkpoint, then the event stream
until that breaks. Only `_check` proves. A failure of either reaches the reader from `__anext__`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Self, TypeAlias

import structlog
import trio

from tequio_client.clock import BackOff
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import LogProofs, check_entry
from tequio_client.worker.ledger import last_checkpoint
from tequio_shared.errors import MalformedError, PeerError, RefusedError, TequioError
from tequio_shared.ids import Digest
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.log.merkle import Frontier, leaf_hash, verify_consistency
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.policy import NoQuorumError
from tequio_shared.log.tiles import next_range
from tequio_shared.statements.statement import Entry

log = structlog.get_logger(__name__)

FILE = last_checkpoint.CHECKPOINT_FILE
DRIFT = 2e-4
"""Rate at which an estimate of the ledger's clock expires: more than two quartz clocks drift."""
LAG_S = 15.0
"""Time that caches may serve an older checkpoint."""
_PAUSE_S = 0.25
"""Minimum pause between two checkpoints."""
_TRIES = 5
"""Wrong answers in a row, without one valid entry between them, before giving up."""
_UNREAD_ENTRIES = 64

OnProven: TypeAlias = Callable[[int, Checkpoint], Awaitable[None]]


class LedgerClock:
    """Estimate of the ledger's clock, which sets a round's deadlines; within one `trio.run`.

    A dated answer was sent before it arrived, so the ledger's clock has passed each date by now.
    The latest date, carried on by our own steady clock, is the best estimate. Before the first
    date, our own wall clock is used.
    """

    def __init__(self, wall_clock: Callable[[], int]) -> None:
        self._wall_clock = wall_clock
        self._ahead_ms: float | None = None  # of our steady clock
        self._noted_ms = 0.0  # by the steady clock

    def record_date(self, shown_ms: int) -> None:
        # With clocks this far apart the ledger would refuse our statements, so such a date is a
        # mistake of something between us, and following it would shift every deadline.
        if abs(shown_ms - self._wall_clock()) > CLOCK_SKEW_MS:
            return
        steady_ms = _steady_ms()
        ahead_ms = shown_ms - steady_ms
        if self._ahead_ms is None or ahead_ms > self._faded(steady_ms):
            self._ahead_ms, self._noted_ms = ahead_ms, steady_ms

    def now_ms(self) -> int:
        steady_ms = _steady_ms()
        if self._ahead_ms is None:
            return self._wall_clock()
        return int(steady_ms + self._faded(steady_ms))

    def _faded(self, steady_ms: float) -> float:
        return (self._ahead_ms or 0.0) - DRIFT * (steady_ms - self._noted_ms)


def _steady_ms() -> float:
    return trio.current_time() * 1000


class LogEdge:
    """Right edge of a growing log: one task appends, another proves; times are trio's."""

    def __init__(self, frontier: Frontier, at_s: float) -> None:
        self._frontier = frontier
        self._roots: dict[int, Digest] = {frontier.size: frontier.root()}  # from the proven one on
        self._appended = trio.Event()  # replaced by `until_unproven`
        self._moved_on = trio.Event()  # replaced by `until_less_unproven`
        self.proven = frontier.size
        """Size up to which the log follows from a signed root."""
        self.proven_at_s = at_s
        self.appended_at_s = 0.0

    @property
    def size(self) -> int:
        return self._frontier.size

    @property
    def unproven(self) -> int:
        return self.size - self.proven

    def root(self, size: int | None = None) -> Digest:
        """Compute the root at a size between `proven` and `size`, which is the default."""
        return self._roots[self.size if size is None else size]

    def append(self, leaf: bytes) -> None:
        self._frontier.append(leaf_hash(leaf))
        self.appended_at_s = trio.current_time()
        self._roots[self.size] = self._frontier.root()
        self._appended.set()

    def mark_proven(self, size: int) -> None:
        """Record that the log follows from a signed root up to `size`, at least `proven`."""
        if size > self.proven or size == self.size:
            self.proven_at_s = trio.current_time()
        for passed in range(self.proven, size):
            del self._roots[passed]
        self.proven = size
        self._moved_on.set()

    async def until_unproven(self, count: int) -> None:
        while self.unproven < count:
            self._appended = trio.Event()
            await self._appended.wait()

    async def until_less_unproven(self, count: int) -> None:
        while self.unproven >= count:
            self._moved_on = trio.Event()
            await self._moved_on.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerLimits:
    """Times in seconds, and counts of entries."""

    check_s: float = 2.0
    check_entries: int = 256
    unchecked: int = 1_024
    poll_s: float = 2.0
    """Pause between polls of the log without an event stream."""
    quiet_s: float = 20.0
    """Interval of checkpoints while no entry comes: the stream may be withholding some."""
    lag_s: float = LAG_S
    """Time that caches may serve an older checkpoint, or a stream may trail behind a newer one."""
    uncovered_s: float = 60.0
    """Time that entries may stay without a checkpoint that covers them."""


class LogFollower:
    """Reader of one log from any position; one `entries` call in each `async with`."""

    def __init__(
        self,
        ledger: LedgerApi,
        network: LedgerNetwork,
        folder: Path,
        *,
        rng: Random,
        limits: FollowerLimits | None = None,
        back_off: BackOff | None = None,
    ) -> None:
        self.on_proven: OnProven | None = None
        """Called after each check with the proven size and the signed checkpoint."""
        self._ledger = ledger
        self._network = network
        self._path = folder / FILE
        self._rng = rng
        self._limits = limits or FollowerLimits()
        self._stack = AsyncExitStack()
        self._back_off = back_off or BackOff(rng)
        self._out, self._in = trio.open_memory_channel[tuple[int, Entry]](_UNREAD_ENTRIES)
        self._failure: TequioError | None = None
        self._stream_scope = trio.CancelScope()  # written by _feed
        self._start = 0
        self._edge = LogEdge(Frontier(), 0.0)  # replaced by _begin; _feed appends, _check proves
        self._checking = trio.Lock()  # held while a checkpoint is checked; guards what follows
        self._signed: Checkpoint | None = None  # the newest one that was checked; on disk too
        self._note = b""  # the note that was checked last, or is being checked
        self._older_since_s: float | None = None  # start of a series of older checkpoints

    async def __aenter__(self) -> Self:
        self._nursery = await self._stack.enter_async_context(trio.open_nursery())
        self._stack.callback(self._nursery.cancel_scope.cancel)
        return self

    async def __aexit__(self, *exc: object) -> bool | None:
        return await self._stack.__aexit__(*exc)  # type: ignore[arg-type]  # the protocol's three

    @property
    def checked(self) -> int:
        """Entries of the log from its start that are known to belong to a signed checkpoint."""
        return self._edge.proven

    def entries(self, after: int = -1) -> AsyncIterator[tuple[int, Entry]]:
        """Iterate without end over (log index, entry) from `after + 1`; entries are verified.

        Entries of types that this version does not know are skipped. The iterator raises
        LogForkedError, PeerError when the ledger's answers stay wrong, LedgerRefusedError.
        """
        self._start = after + 1
        self._nursery.start_soon(self._run)
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[int, Entry]:
        """Wait for the next entry; raises the failure at once, and again on every later call."""
        if self._failure is None:
            try:
                return await self._in.receive()
            except trio.EndOfChannel:
                pass
        raise self._failure or StopAsyncIteration

    async def _run(self) -> None:
        """Read until cancelled, or until a failure that does not pass."""
        with self._out:
            await self._guard(self._begin)
            if self._failure is None:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._guard, self._check, nursery.cancel_scope)
                    nursery.start_soon(self._guard, self._feed, nursery.cancel_scope)

    async def _guard(
        self, work: Callable[[], Awaitable[None]], scope: trio.CancelScope | None = None
    ) -> None:
        """Store the error for the reader, which is another task, and stop."""
        try:
            await work()
        except TequioError as err:
            self._failure = err
            if isinstance(err, LogForkedError):
                # The evidence first: the ledger, once shown, may hide what it signed.
                await self._store_evidence(err)
                await self._send_stored()
            if scope is not None:
                scope.cancel()

    async def _begin(self) -> None:
        while True:
            try:
                return await self._prove_start()
            except LedgerUnavailableError as err:
                log.warning("log unavailable", error=str(err))
                await trio.sleep(self._back_off.next_s(err.retry_after_s))

    async def _prove_start(self) -> None:
        await self._send_stored()
        # Read first: the followers of other runs may store a newer one meanwhile.
        before = await trio.to_thread.run_sync(last_checkpoint.load_checkpoint, self._path)
        signed, note = await self._ledger.checkpoint_note()
        self._note = note
        if before is not None:
            if before.origin == signed.origin and before.size > signed.size:
                self._check_older(signed, before)
                raise LedgerUnavailableError(f"an older checkpoint, of {_text(signed)}")
            self._older_since_s = None
            await _check_stored(self._ledger, before, signed)
        if signed.size < self._start:
            raise LedgerUnavailableError(f"no checkpoint covers entry {self._start - 1} yet")
        frontier = await LogProofs(self._ledger, signed).frontier(self._start)
        await _check_continues(self._ledger, self._start, frontier.root(), signed)
        self._edge = LogEdge(frontier, trio.current_time())
        await self._store(signed, note)

    async def _send_stored(self) -> None:
        """Send the stored checkpoint: a ledger that lost entries must stop signing."""
        note = await trio.to_thread.run_sync(last_checkpoint.load_note, self._path)
        if note:
            try:
                await self._ledger.send_checkpoint(note)
            except (LedgerUnavailableError, LedgerRefusedError, PeerError) as err:
                log.info("ledger refused our checkpoint", error=str(err))

    async def _store_evidence(self, err: LogForkedError) -> None:
        """Store our last verified note together with the one that contradicts it."""
        before = await trio.to_thread.run_sync(last_checkpoint.load_note, self._path)
        if before and self._note:
            notes = before, self._note
            await last_checkpoint.store_evidence(
                self._path.parent, self._network.log_key, str(err), notes
            )

    async def _feed(self) -> None:
        wrong = 0
        while True:
            before = self._edge.size
            pause_s = self._limits.poll_s * self._rng.uniform(0.5, 1.0)
            try:
                await self._catch_up()
                self._back_off.reset()
                await self._stream()
            except LogForkedError:  # a PeerError too, but asking again would not mend it
                raise
            except LedgerUnavailableError as err:
                log.info("log unavailable, retrying", error=str(err))
                pause_s = max(pause_s, self._back_off.next_s(err.retry_after_s))
            except NoQuorumError as err:
                log.warning("log lacks cosignatures, retrying", error=str(err))
            except PeerError as err:
                # Counted without progress only: on a long log a bad cache may fail now and then.
                wrong = wrong + 1 if self._edge.size == before else 1
                if wrong == _TRIES:
                    raise
                log.warning("invalid answer of the ledger, retrying", error=str(err))
            await trio.sleep(pause_s)

    async def _catch_up(self) -> None:
        signed = await self._check_newest()
        while (size := self._edge.size) < signed.size:
            # Up to the end of a bundle: full ones are read once, and a mirror may have them.
            for leaf in await self._ledger.entries(*next_range(size, signed.size)):
                await self._append(leaf)

    async def _stream(self) -> None:
        """Read events until the stream breaks, or `_check` finds that it withholds entries."""
        with trio.CancelScope() as self._stream_scope:
            try:
                async with self._ledger.events(self._edge.size - 1) as events:
                    async for event in events:
                        if event.index != self._edge.size:
                            raise MalformedError(
                                f"event {event.index} where {self._edge.size} is next"
                            )
                        if uncovered := self._uncovered():
                            raise LedgerUnavailableError(uncovered)
                        await self._append(event.leaf)
            except LedgerRefusedError as err:  # bundles serve as well
                raise LedgerUnavailableError(str(err)) from err

    async def _append(self, leaf: bytes) -> None:
        """Verify one leaf, append and deliver it; then wait while too much is unproven."""
        entry = self._parse(leaf)
        index = self._edge.size
        self._edge.append(leaf)
        if entry is not None:
            await self._out.send((index, entry))
        await self._edge.until_less_unproven(self._limits.unchecked)

    def _parse(self, leaf: bytes) -> Entry | None:
        try:
            entry = Entry.parse(leaf)
        except RefusedError as err:
            # Appended to the edge all the same: its bytes count for the root.
            log.info("entry of a later version", index=self._edge.size, error=str(err))
            return None
        check_entry(self._edge.size, entry, self._network)
        return entry

    async def _check(self) -> None:
        wrong = 0
        while True:
            await self._until_due()
            try:
                await self._check_newest()
            except LogForkedError:
                raise
            except LedgerUnavailableError as err:
                # No lie: a ledger with too much to do answers late. `_stream` reads no further.
                log.info("no checkpoint available", error=str(err))
            except NoQuorumError as err:
                log.info("no checkpoint available", error=str(err))
                self._check_progress()
            except PeerError:
                wrong += 1
                if wrong == _TRIES:
                    raise
            else:
                wrong = 0
                self._check_progress()
            await trio.sleep(_PAUSE_S)

    async def _until_due(self) -> None:
        with trio.move_on_after(self._limits.quiet_s):
            await self._edge.until_unproven(1)
        with trio.move_on_after(self._limits.check_s):
            await self._edge.until_unproven(self._limits.check_entries)

    def _check_progress(self) -> None:
        """Bound the time of entries without a checkpoint, and of a checkpoint without entries."""
        now_s = trio.current_time()
        if self._signed and self._signed.size > self._edge.size:
            if now_s - self._edge.appended_at_s > self._limits.lag_s:
                self._stream_scope.cancel()  # it withholds entries: `_feed` reads bundles instead
            return
        if uncovered := self._uncovered():
            raise PeerError(uncovered)

    def _uncovered(self) -> str:
        """A sentence if entries have waited too long for a checkpoint, or nothing."""
        waited_s = trio.current_time() - self._edge.proven_at_s
        if not self._edge.unproven or waited_s <= self._limits.uncovered_s:
            return ""
        return f"no checkpoint covers entry {self._edge.size - 1} for {waited_s:.0f} s"

    async def _check_newest(self) -> Checkpoint:
        """Fetch a checkpoint and check it against the edge; raises LogForkedError."""
        async with self._checking:
            signed, note = await self._ledger.checkpoint_note()
            self._note = note
            last = self._signed
            if last is not None and signed.size < last.size:
                is_news = self._older_since_s is None
                self._check_older(signed, last)
                if is_news:
                    await self._send_stored()
                return last
            if last is not None and signed.size == last.size and signed.root != last.root:
                raise _forked(last.size, last.root, signed)
            self._older_since_s = None
            await self._prove(signed)
            if signed != last:
                await self._store(signed, note)
            if self.on_proven is not None:
                await self.on_proven(self._edge.proven, signed)
            return signed

    def _check_older(self, signed: Checkpoint, last: Checkpoint) -> None:
        """Tolerate a lagging cache for `lag_s`; a log that stays shorter is a fork."""
        now_s = trio.current_time()
        self._older_since_s = self._older_since_s or now_s
        if now_s - self._older_since_s > self._limits.lag_s:
            raise LogForkedError(f"the log has {_text(signed)} after {_text(last)}")

    async def _prove(self, signed: Checkpoint) -> None:
        """Compare the edge with a signed root, whichever of the two is larger."""
        size, root = self._edge.size, self._edge.root()
        if signed.size <= size:
            size, root = signed.size, self._edge.root(signed.size)
            if root != signed.root:
                raise _forked(size, root, signed)
        else:
            await _check_continues(self._ledger, size, root, signed)
            # Ahead of the edge there may be an earlier checkpoint that no entry has reached: two
            # checkpoints that both fit the edge could still contradict each other beyond it.
            if self._signed is not None and self._signed.size > size:
                await _check_continues(self._ledger, self._signed.size, self._signed.root, signed)
        self._edge.mark_proven(size)

    async def _store(self, signed: Checkpoint, note: bytes) -> None:
        await trio.to_thread.run_sync(last_checkpoint.store_checkpoint, self._path, signed, note)
        self._signed = signed


async def read_continued(ledger: LedgerApi, path: Path) -> tuple[Checkpoint, bytes]:
    """Get the newest checkpoint and its note, and store it; for programs that ask now and then.

    Raises LogForkedError, with the evidence below the file's folder, unless the log continues the
    stored checkpoint. An older one is asked for again, for `LAG_S`: a cache may have served it.
    """
    before = await trio.to_thread.run_sync(last_checkpoint.load_checkpoint, path)
    signed, note = await ledger.checkpoint_note()
    if before is not None:
        with trio.move_on_after(LAG_S):
            while signed.size < before.size:
                await trio.sleep(_PAUSE_S)
                signed, note = await ledger.checkpoint_note()
        try:
            await _check_stored(ledger, before, signed)
        except LogForkedError as err:
            stored = await trio.to_thread.run_sync(last_checkpoint.load_note, path)
            log_key = (await ledger.network()).log_key
            await last_checkpoint.store_evidence(path.parent, log_key, str(err), (stored, note))
            raise
    await trio.to_thread.run_sync(last_checkpoint.store_checkpoint, path, signed, note)
    return signed, note


async def _check_stored(ledger: LedgerApi, before: Checkpoint, signed: Checkpoint) -> None:
    if before.origin != signed.origin or before.size > signed.size:
        raise LogForkedError(
            f"{signed.origin} has {_text(signed)}, but before {before.origin} had {_text(before)}"
        )
    await _check_continues(ledger, before.size, before.root, signed)


async def _check_continues(ledger: LedgerApi, size: int, root: Digest, signed: Checkpoint) -> None:
    """Raise LogForkedError unless the signed log begins with the one of that size and root."""
    if size == 0:
        return
    proof = await LogProofs(ledger, signed).consistency(size)
    try:
        verify_consistency(size, root, signed.size, signed.root, proof)
    except PeerError as err:
        raise _forked(size, root, signed) from err


def _forked(size: int, root: Digest, signed: Checkpoint) -> LogForkedError:
    return LogForkedError(
        f"the log forked: its first {size} entries have root {root.hex()}, "
        f"which the signed {_text(signed)} does not continue"
    )


def _text(checkpoint: Checkpoint) -> str:
    return f"size {checkpoint.size} with root {checkpoint.root.hex()}"
