"""Following the log without trusting who serves it.

Rules. At the start the right edge of the log before our first entry is built from tiles and proven
against a signed checkpoint, which must continue the one that we remember. Every entry is then
parsed, its signatures verified, its hash appended to the edge, and only then handed on. The edge's
root is held against newer signed checkpoints: at the latest `CHECK_S` or `CHECK_ENTRIES` after an
entry was handed on, and never more than `UNCHECKED` entries are out unchecked. A root that differs
is a fork: LogForkedError, nothing more is handed on.

Tasks. `_feed` alone appends; it reads bundles up to the newest checkpoint, then the event stream
until that breaks. `_check` alone judges roots. Either one's failure reaches the reader as the
error that `__anext__` raises.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

import structlog
import trio

from tequio_client.ledger.api import ENTRIES_AT_ONCE
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import LogProofs, check_entry
from tequio_client.worker.ledger import last_checkpoint
from tequio_client.worker.ledger.backoff import BackOff
from tequio_shared.errors import MalformedError, PeerError, RefusedError, TequioError
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.log.merkle import Frontier, leaf_hash, verify_consistency
from tequio_shared.log.policy import NoQuorumError
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path
    from random import Random

    from tequio_client.ledger.api import LedgerApi, Network
    from tequio_shared.ids import Digest
    from tequio_shared.log.notes import Checkpoint

# --- The ledger's clock as far as it is known: by it a round's deadlines are set.
#
# Whatever the ledger dates was said no later than it arrived, so each date is a time that its
# clock has passed by now; the latest of them, moved on with our own steady clock, is the best
# guess. It forgets by `DRIFT`, more than two quartz clocks drift apart. Before the first date our
# own wall clock has to do.

DRIFT = 2e-4


class LedgerClock:
    """Milliseconds since 1970 as the ledger counts them; within one `trio.run`."""

    def __init__(self, wall_clock: Callable[[], int]) -> None:
        self._wall_clock = wall_clock
        self._ahead_ms: float | None = None  # of our steady clock
        self._noted_ms = 0.0  # by the steady clock

    def note(self, shown_ms: int) -> None:
        """Take note that the ledger's clock has shown this.

        A date far from our own clock is somebody else's mistake: with such a clock on either
        side no statement of ours would be taken.
        """
        if abs(shown_ms - self._wall_clock()) > CLOCK_SKEW_MS:
            return
        steady_ms = _steady_ms()
        ahead_ms = shown_ms - steady_ms
        if self._ahead_ms is None or ahead_ms > self._faded(steady_ms):
            self._ahead_ms, self._noted_ms = ahead_ms, steady_ms

    def now_ms(self) -> int:
        """Tell the time."""
        steady_ms = _steady_ms()
        if self._ahead_ms is None:
            return self._wall_clock()
        return int(steady_ms + self._faded(steady_ms))

    def _faded(self, steady_ms: float) -> float:
        return (self._ahead_ms or 0.0) - DRIFT * (steady_ms - self._noted_ms)


def _steady_ms() -> float:
    return trio.current_time() * 1000


# --- The right edge of a log that is read on, and how much of it follows from a signed root.


class LogEdge:
    """One task appends, another says what is proven; times are trio's."""

    def __init__(self, frontier: Frontier, at_s: float) -> None:
        """Begin with an edge that was proven at that time."""
        self._frontier = frontier
        self._roots: dict[int, Digest] = {frontier.size: frontier.root()}  # from the proven one on
        self._appended = trio.Event()  # replaced by `until_unproven`
        self._moved_on = trio.Event()  # replaced by `until_less_unproven`
        self.proven = frontier.size
        """Up to this size it follows from a signed root."""
        self.proven_at_s = at_s
        self.appended_at_s = 0.0

    @property
    def size(self) -> int:
        """Entries appended."""
        return self._frontier.size

    @property
    def unproven(self) -> int:
        """Entries that do not follow from a signed root yet."""
        return self.size - self.proven

    def root(self, size: int | None = None) -> Digest:
        """The root at a size from the proven one on; at the present one if none is said."""
        return self._roots[self.size if size is None else size]

    def append(self, leaf: bytes) -> None:
        """Take the next entry."""
        self._frontier.append(leaf_hash(leaf))
        self.appended_at_s = trio.current_time()
        self._roots[self.size] = self._frontier.root()
        self._appended.set()

    def prove(self, size: int) -> None:
        """Note that it follows from a signed root up to that size, which is proven or beyond."""
        if size > self.proven or size == self.size:
            self.proven_at_s = trio.current_time()
        for passed in range(self.proven, size):
            del self._roots[passed]
        self.proven = size
        self._moved_on.set()

    async def until_unproven(self, count: int) -> None:
        """Wait until so many entries are not proven."""
        while self.unproven < count:
            self._appended = trio.Event()
            await self._appended.wait()

    async def until_less_unproven(self, count: int) -> None:
        """Wait until fewer entries than that are not proven."""
        while self.unproven >= count:
            self._moved_on = trio.Event()
            await self._moved_on.wait()


if TYPE_CHECKING:
    OnProven = Callable[[int, Checkpoint], Awaitable[None]]

log = structlog.get_logger(__name__)

FILE = last_checkpoint.FILE
CHECK_S = 2.0
CHECK_ENTRIES = 256
UNCHECKED = 1_024
POLL_S = 2.0
"""Pause between two looks at the log while there is no event stream."""
QUIET_S = 20.0
"""A checkpoint is fetched this often when no entry comes: a stream may withhold some."""
LAG_S = 15.0
"""How long caches may serve an older checkpoint, or a stream trail behind a newer one."""
UNCOVERED_S = 60.0
"""How long entries may stay without a checkpoint that covers them."""
_LOOK_S = 0.25
"""Least pause between two checkpoints."""
_TRIES = 5
"""Wrong answers in a row without one sound entry between them, then we give up."""
_HANDED = 64


class LogFollower:
    """Reads one log from any position; one reader, one `entries` call in each `async with`."""

    def __init__(self, ledger: LedgerApi, network: Network, folder: Path, *, rng: Random) -> None:
        self.on_proven: OnProven = _nobody
        """Told how many entries follow from which signed checkpoint, whenever one was judged."""
        self._ledger = ledger
        self._network = network
        self._path = folder / FILE
        self._rng = rng
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self._nursery = await stack.enter_async_context(trio.open_nursery())
            stack.callback(self._nursery.cancel_scope.cancel)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *exc: object) -> bool | None:
        return await self._stack.__aexit__(*exc)  # type: ignore[arg-type]  # the protocol's three

    def entries(self, after: int = -1) -> AsyncIterator[tuple[int, Entry]]:
        """Iterate over (log index, entry) from `after + 1` on, for ever; entries are verified.

        Entries of types that this version does not know are passed over. The iterator raises
        LogForkedError, PeerError when the ledger's answers stay wrong, LedgerRefusedError.
        """
        reading = _Reading(
            self._ledger, self._network, self._path, self._rng, after + 1, self.on_proven
        )
        self._nursery.start_soon(reading.run)
        return reading


class _Reading:
    """One pass over the log: where it stands, and what of it is proven."""

    def __init__(
        self,
        ledger: LedgerApi,
        network: Network,
        path: Path,
        rng: Random,
        start: int,
        on_proven: OnProven,
    ) -> None:
        self._ledger = ledger
        self._network = network
        self._path = path
        self._rng = rng
        self._back_off = BackOff(rng)
        self._out, self._in = trio.open_memory_channel[tuple[int, Entry]](_HANDED)
        self._failure: TequioError | None = None
        self._stream_scope = trio.CancelScope()  # written by _feed
        self._start = start
        self._on_proven = on_proven
        self._edge = LogEdge(Frontier(), 0.0)  # replaced by _begin; _feed appends, _check proves
        self._looking = trio.Lock()  # held while a checkpoint is judged; the rest is its holder's
        self._signed: Checkpoint | None = None  # the newest one judged; on disk too
        self._judged = b""  # the note that was judged last, or is being judged
        self._older_since_s: float | None = None  # when checkpoints began to be older than before

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[int, Entry]:
        """Wait for the next entry; raises what was found wrong, at once and ever after."""
        if self._failure is None:
            try:
                return await self._in.receive()
            except trio.EndOfChannel:
                pass
        raise self._failure or StopAsyncIteration

    async def run(self) -> None:
        """Read until cancelled, or until something is wrong for good."""
        with self._out:
            await self._guard(self._begin)
            if self._failure is None:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._guard, self._check, nursery.cancel_scope)
                    nursery.start_soon(self._guard, self._feed, nursery.cancel_scope)

    async def _guard(
        self, work: Callable[[], Awaitable[None]], scope: trio.CancelScope | None = None
    ) -> None:
        """Keep the error for the reader, who is another task, and stop."""
        try:
            await work()
        except TequioError as err:
            self._failure = err
            if isinstance(err, LogForkedError):
                await self._accuse(err)
                await self._show()
            if scope is not None:
                scope.cancel()

    # --- the start

    async def _begin(self) -> None:
        while True:
            try:
                return await self._prove_start()
            except LedgerUnavailableError as err:
                log.warning("cannot read the log yet", error=str(err))
                await trio.sleep(self._back_off.next_s(err.retry_after_s))

    async def _prove_start(self) -> None:
        await self._show()
        signed, note = await self._ledger.checkpoint_note()
        self._judged = note
        await self._check_memory(signed)
        if signed.size < self._start:
            raise LedgerUnavailableError(f"no checkpoint covers entry {self._start - 1} yet")
        frontier = await LogProofs(self._ledger, signed.size).frontier(self._start)
        await self._check_continues(self._start, frontier.root(), signed)
        self._edge = LogEdge(frontier, trio.current_time())
        await self._sign_off(signed, note)

    async def _show(self) -> None:
        """Show what we keep of the log: a ledger that lost entries must not sign any more."""
        note = await trio.to_thread.run_sync(last_checkpoint.recall_note, self._path)
        if note:
            try:
                await self._ledger.show_checkpoint(note)
            except (LedgerUnavailableError, LedgerRefusedError, PeerError) as err:
                log.info("the ledger did not take our checkpoint", error=str(err))

    async def _accuse(self, err: LogForkedError) -> None:
        """Keep what we remember of the log beside what it showed us now."""
        kept = await trio.to_thread.run_sync(last_checkpoint.recall_note, self._path)
        if kept and self._judged:
            notes = kept, self._judged
            await last_checkpoint.keep(self._path.parent, self._network.log_key, str(err), notes)

    async def _check_memory(self, signed: Checkpoint) -> None:
        before = await trio.to_thread.run_sync(last_checkpoint.recall, self._path)
        if before is None:
            return
        if before.origin != signed.origin or before.size > signed.size:
            raise LogForkedError(
                f"{signed.origin} shows {_shown(signed)}; "
                f"before, {before.origin} showed {_shown(before)}"
            )
        await self._check_continues(before.size, before.root, signed)

    async def _check_continues(self, size: int, root: Digest, signed: Checkpoint) -> None:
        """Raise LogForkedError unless the signed log begins with the one of that size and root."""
        if size == 0:
            return
        proof = await LogProofs(self._ledger, signed.size).consistency(size)
        try:
            verify_consistency(size, root, signed.size, signed.root, proof)
        except PeerError as err:
            raise _forked(size, root, signed) from err

    # --- reading on

    async def _feed(self) -> None:
        wrong = 0
        while True:
            before = self._edge.size
            pause_s = POLL_S * self._rng.uniform(0.5, 1.0)
            try:
                await self._catch_up()
                self._back_off.reset()
                await self._stream()
            except LogForkedError:
                raise
            except LedgerUnavailableError as err:
                log.info("log not at hand; reading on soon", error=str(err))
                pause_s = max(pause_s, self._back_off.next_s(err.retry_after_s))
            except NoQuorumError as err:
                log.warning("the log is not vouched for; reading on soon", error=str(err))
            except PeerError as err:
                wrong = wrong + 1 if self._edge.size == before else 1
                if wrong == _TRIES:
                    raise
                log.warning("the ledger's answer does not hold; asking again", error=str(err))
            await trio.sleep(pause_s)

    async def _catch_up(self) -> None:
        """Read bundles up to the newest checkpoint."""
        signed = await self._look()
        while (size := self._edge.size) < signed.size:
            end = min(size + ENTRIES_AT_ONCE, signed.size)
            for leaf in await self._ledger.entries(size, end):
                await self._take(leaf)

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
                        await self._take(event.leaf)
            except LedgerRefusedError as err:  # bundles will do
                raise LedgerUnavailableError(str(err)) from err

    async def _take(self, leaf: bytes) -> None:
        """Verify one leaf, append it and hand it on, unless too much is unproven."""
        entry = self._parse(leaf)
        index = self._edge.size
        self._edge.append(leaf)
        if entry is not None:
            await self._out.send((index, entry))
        await self._edge.until_less_unproven(UNCHECKED)

    def _parse(self, leaf: bytes) -> Entry | None:
        try:
            entry = Entry.parse(leaf)
        except RefusedError as err:
            log.info("entry of a later version", index=self._edge.size, error=str(err))
            return None
        check_entry(self._edge.size, entry, self._network)
        return entry

    # --- judging

    async def _check(self) -> None:
        wrong = 0
        while True:
            await self._until_due()
            try:
                await self._look()
                wrong = 0
            except LogForkedError:
                raise
            except (LedgerUnavailableError, NoQuorumError) as err:
                log.info("no checkpoint to check against", error=str(err))
            except PeerError:
                wrong += 1
                if wrong == _TRIES:
                    raise
            self._check_progress()
            await trio.sleep(_LOOK_S)

    async def _until_due(self) -> None:
        with trio.move_on_after(QUIET_S):
            await self._edge.until_unproven(1)
        with trio.move_on_after(CHECK_S):
            await self._edge.until_unproven(CHECK_ENTRIES)

    def _check_progress(self) -> None:
        """Neither entries without a checkpoint nor a checkpoint without its entries may last."""
        now_s = trio.current_time()
        if self._signed and self._signed.size > self._edge.size:
            if now_s - self._edge.appended_at_s > LAG_S:
                self._stream_scope.cancel()
            return
        waited_s = now_s - self._edge.proven_at_s
        if self._edge.unproven and waited_s > UNCOVERED_S:
            raise PeerError(
                f"no checkpoint covers entry {self._edge.size - 1} for {waited_s:.0f} s"
            )

    async def _look(self) -> Checkpoint:
        """Fetch a checkpoint and judge it; raises LogForkedError."""
        async with self._looking:
            signed, note = await self._ledger.checkpoint_note()
            self._judged = note
            last = self._signed
            if last is not None and signed.size < last.size:
                is_news = self._older_since_s is None
                self._check_older(signed, last)
                if is_news:
                    await self._show()
                return last
            if last is not None and signed.size == last.size and signed.root != last.root:
                raise _forked(last.size, last.root, signed)
            self._older_since_s = None
            await self._prove(signed)
            if signed != last:
                await self._sign_off(signed, note)
            await self._on_proven(self._edge.proven, signed)
            return signed

    def _check_older(self, signed: Checkpoint, last: Checkpoint) -> None:
        """Let caches lag a while; a log that stays shorter than it was is a fork."""
        now_s = trio.current_time()
        self._older_since_s = self._older_since_s or now_s
        if now_s - self._older_since_s > LAG_S:
            raise LogForkedError(f"the log shows {_shown(signed)} after {_shown(last)}")

    async def _prove(self, signed: Checkpoint) -> None:
        """Hold what we appended against a signed root, both ways round."""
        size, root = self._edge.size, self._edge.root()
        if signed.size <= size:
            size, root = signed.size, self._edge.root(signed.size)
            if root != signed.root:
                raise _forked(size, root, signed)
        else:
            await self._check_continues(size, root, signed)
            if self._signed is not None and self._signed.size > size:
                await self._check_continues(self._signed.size, self._signed.root, signed)
        self._edge.prove(size)

    async def _sign_off(self, signed: Checkpoint, note: bytes) -> None:
        await trio.to_thread.run_sync(last_checkpoint.remember, self._path, signed, note)
        self._signed = signed


async def _nobody(_size: int, _checkpoint: Checkpoint) -> None:
    """Tell nobody."""


def _forked(size: int, root: Digest, signed: Checkpoint) -> LogForkedError:
    return LogForkedError(
        f"the log forked: its first {size} entries have root {root.hex()}, "
        f"which the signed {_shown(signed)} does not continue"
    )


def _shown(checkpoint: Checkpoint) -> str:
    return f"size {checkpoint.size} with root {checkpoint.root.hex()}"
