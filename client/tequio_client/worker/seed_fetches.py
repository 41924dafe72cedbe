"""Fetches of a seed: queues of trees, the newest heads of each run, and the runs it skipped."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import structlog
import trio

from tequio_client.worker.store.files import NoRoomError
from tequio_client.worker.store.store import Store
from tequio_client.worker.store.trees import TreeRef
from tequio_client.worker.swarm.transfer import Exchange
from tequio_shared.errors import first_error
from tequio_shared.ids import Digest, PeerKey, RunId
from tequio_shared.limits import MEASURED_HEADS
from tequio_shared.statements.runs import RoundRoster, RunClose
from tequio_shared.statements.statement import Statement

log = structlog.get_logger(__name__)

PATIENCE_S = 120.0
"""Longest time in which nothing of a tree comes; nobody may have kept an old one."""
NEWEST_HEADS = 2
"""Heads of a run that are held: with the one before, who fetches the newest has a whole round."""
HELD_MEASURED = MEASURED_HEADS + 1
"""Measured heads of a run that are held: those whose measures are open, and the one before them.

Members take rounds to measure a head, so the newest fine one is seldom among the newest.
"""


class FetchQueue:
    """A queue of trees to fetch, newest first, served by as many tasks as call `serve`.

    Beyond `most` the oldest are dropped, and so is a tree of which nothing comes for `PATIENCE_S`:
    a seed that reads a long log must not spend its time on old rounds whose contributions nobody
    has any more. Without `most`, such a tree waits behind all others.
    """

    def __init__(self, exchange: Exchange, store: Store, *, most: int | None) -> None:
        self._exchange = exchange
        self._store = store
        self._waiting: deque[tuple[TreeRef, PeerKey | None]] = deque(maxlen=most)
        self._was_added = trio.Event()  # replaced whenever a tree was queued

    @property
    def waiting(self) -> int:
        """Trees that nobody fetches yet."""
        return len(self._waiting)

    def add(self, ref: TreeRef, holder: PeerKey | None = None) -> None:
        """Queue a tree, and the peer that should have it.

        One that is in the store already costs only a look at the disk.
        """
        self._waiting.append((ref, holder))
        self._was_added.set()
        self._was_added = trio.Event()

    async def serve(self) -> None:
        while True:
            while not self._waiting:
                await self._was_added.wait()
            ref, holder = self._waiting.pop()
            comes = await _fetch(self._exchange, self._store, ref, holder)
            if not comes and self._waiting.maxlen is None:
                self._waiting.appendleft((ref, holder))


@dataclass(frozen=True, slots=True)
class _NewestHead:
    refs: Sequence[TreeRef]
    measured_round: int | None
    """The round of the head, if members measure it."""

    @property
    def roots(self) -> set[Digest]:
        return {ref.root for ref in self.refs}


class NewestHeads:
    """The newest heads of each run, in the store: when another is complete, the oldest goes.

    So a seed has what people want to talk with and export, and its store does not fill up with
    heads. Those that members measure go later, `HELD_MEASURED` at a time, and the newest fine one
    before them stays: a run whose model got worse goes back to it. `is_fine` tells if a round's
    head is one; None if nobody answers. The fetch of a head is finished once it has begun; those
    that are promoted meanwhile are left out, except the last. So a seed that is slower than the
    rounds has heads, too, and one that reads a long log fetches one head of each run. A head that
    nobody sends waits behind the others. `serve` is run by as many tasks as fetch at once. The
    newest of a run is pinned: it may be slow or over, and would be the first to go for what other
    runs bring.
    """

    def __init__(
        self,
        exchange: Exchange,
        store: Store,
        is_fine: Callable[[RunId, int], Awaitable[bool | None]],
    ) -> None:
        self._exchange = exchange
        self._store = store
        self._is_fine = is_fine
        self._due: dict[RunId, _NewestHead] = {}  # at most one entry a run; the newest last
        self._fetching: set[RunId] = set()
        self._held: defaultdict[RunId, list[_NewestHead]] = defaultdict(list)  # newest last
        self._pinned: dict[RunId, set[Digest]] = {}  # roots of the newest head that came
        self._protected: set[Digest] = set()  # roots, until their head is replaced
        self._changed = trio.Event()  # replaced whenever there may be something to fetch

    def put(
        self, run: RunId, refs: Sequence[TreeRef], *, measured_round: int | None = None
    ) -> None:
        """Name the trees of the run's newest head, and its round if members measure it."""
        replaced = self._due.pop(run, None)
        if replaced is not None and replaced not in self._held[run]:
            if any(map(self._store.has_part_of, replaced.roots)):  # from before a restart
                self._held[run].append(replaced)
            else:
                self._protected -= replaced.roots
        self._due[run] = _NewestHead(refs, measured_round)
        self._wake()

    def put_earlier(
        self, run: RunId, refs: Sequence[TreeRef], *, measured_round: int | None
    ) -> None:
        """Name a head from before a restart, oldest first, so that it goes when others come.

        Those that are measured may be on their way to the store.
        """
        is_measured = measured_round is not None
        if is_measured or any(self._store.has_part_of(ref.root) for ref in refs):
            self._held[run].append(_NewestHead(refs, measured_round))

    def protect(self, refs: Iterable[TreeRef]) -> None:
        """Leave trees in the store when the head that they are of is replaced."""
        self._protected.update(ref.root for ref in refs)

    async def serve(self) -> None:
        while True:
            run = next((one for one in reversed(self._due) if one not in self._fetching), None)
            if run is None:
                await self._changed.wait()
                continue
            head = self._due.pop(run)
            self._fetching.add(run)
            come = [await _fetch(self._exchange, self._store, ref) for ref in head.refs]
            if all(map(self._store.has_tree, head.roots)):
                await self._hold(run, head)
            elif not all(come) and run not in self._due:
                self._due = {run: head, **self._due}
            self._fetching.remove(run)
            self._wake()

    async def _hold(self, run: RunId, head: _NewestHead) -> None:
        # The one before the newest may make room: else a full store would get no newer one.
        for root in head.roots:
            self._store.pin(root)
        for root in self._pinned.pop(run, ()):
            self._store.unpin(root)
        self._pinned[run], held = head.roots, self._held[run]
        if head in held:  # the run went back to it
            held.remove(head)
        held.append(head)
        measured = [one for one in held if one.measured_round is not None]
        closed = measured[:-HELD_MEASURED]
        if head.measured_round is not None:
            closed = await self._newest_fine(run, closed)
        stay = held[-NEWEST_HEADS:] + measured[-HELD_MEASURED:] + closed
        gone = [one for one in held if one not in stay]
        held[:] = [one for one in held if one in stay]
        roots = [one.roots for one in held]
        for root in set[Digest]().union(*(one.roots for one in gone)).difference(*roots):
            if root not in self._protected:
                await trio.to_thread.run_sync(self._store.remove, root)
            self._protected.discard(root)

    async def _newest_fine(self, run: RunId, closed: list[_NewestHead]) -> list[_NewestHead]:
        """Find the newest fine one of heads that are measured no more; all, if nobody answers."""
        here = [one for one in closed if all(map(self._store.has_tree, one.roots))]
        for head in reversed(here):
            is_fine = await self._is_fine(run, head.measured_round or 0)
            if is_fine is None:
                return here
            if is_fine:
                return [head]
        return []

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


class SkippedRuns:
    """Runs whose documents were missing, as when the ledger was away; due at their next rounds."""

    def __init__(self) -> None:
        self._rosters: dict[RunId, Statement | None] = {}  # the last one since the run was added
        self._was_seen = trio.Event()  # replaced whenever a roster was seen

    def add(self, run: RunId) -> None:
        """Add a run, or have one that is due wait for its next round."""
        self._rosters[run] = None

    def pop(self, run: RunId) -> Statement | None:
        """Remove a run; returns the roster of its round."""
        return self._rosters.pop(run, None)

    def see(self, run: RunId, statement: Statement) -> None:
        """Make the run due if this is its roster, and remove it if this is its end."""
        if isinstance(statement.body, RunClose):
            self.pop(run)
        elif isinstance(statement.body, RoundRoster) and run in self._rosters:
            self._rosters[run] = statement
            self._was_seen.set()
            self._was_seen = trio.Event()

    async def wait_for_due(self) -> RunId:
        """Return a run that is due, once there is one."""
        while True:
            for run, roster in self._rosters.items():
                if roster is not None:
                    return run
            await self._was_seen.wait()


async def _fetch(
    exchange: Exchange, store: Store, ref: TreeRef, holder: PeerKey | None = None
) -> bool:
    """Fetch a tree while some of it comes; False if nothing came for `PATIENCE_S`.

    A tree that the store has no room for is not tried again.
    """
    while True:
        missing = await trio.to_thread.run_sync(store.missing_bytes, ref)
        with trio.move_on_after(PATIENCE_S) as patience:
            try:
                await exchange.fetch_in_background(ref, holder)
            except* NoRoomError as group:
                log.warning("no room", root=ref.root.hex()[:12], error=str(first_error(group)))
        if not patience.cancelled_caught:
            return True
        if await trio.to_thread.run_sync(store.missing_bytes, ref) >= missing:
            return False
