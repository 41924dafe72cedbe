"""Snapshots of the state: where a start begins to read, and the writer that makes them.

Reading. The newest `log.snapshot` under the signed root names a blob by its hash: the state after a
number of entries. A start decodes it and folds the entries after it, so its cost does not depend on
the length of the log. The tree's right edge is read from the tiles, and the signed root proves it
together with those entries. Where a snapshot is missing, damaged, or of another version, the one
before it is tried, and at last the log is folded from entry 0: the log says why.

Writing. The writer is a reader, in a thread beside the sequencer: it begins at the newest snapshot
as a start does, folds the entries up to the size that is due, stores the bytes, and only then lets
the coordinator name them. So a snapshot is what the log gives, and nothing that the serving state
went through besides. Killed in between, a ledger has a blob that no statement names; it makes the
same one again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import structlog

from tequio_ledger.log import guard
from tequio_ledger.log.documents import DocumentCache, missing_document
from tequio_ledger.log.proofs import TileProofs
from tequio_ledger.log.sequencer import Sequencer
from tequio_ledger.runtime import run_in_thread
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import FAILURES
from tequio_shared.errors import MalformedError, RefusedError, TequioError
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.log.merkle import leaf_hash, verify_inclusion
from tequio_shared.log.tiles import TileTree
from tequio_shared.network.genesis import check_role
from tequio_shared.served import snapshot
from tequio_shared.served.state import State
from tequio_shared.statements.network import LogSnapshot
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tequio_ledger.log.guard import Published
    from tequio_ledger.log.sequencer import ChangeSignal
    from tequio_ledger.runtime import Clock
    from tequio_ledger.store.blobs import BlobFolder
    from tequio_ledger.store.database import Database
    from tequio_shared.network.genesis import Genesis
    from tequio_shared.network.run import Documents

KEPT = 2
"""Snapshots whose bytes are stored; a reader may still fetch the last but one."""
SLICE = 64
"""Entries that the writer folds before it pauses."""
BUSY = 0.25
"""Greatest part of the time in which the writer folds."""
CHECK_S = 5.0
"""Longest pause between two looks for a size that is due."""
RETRY_S = 60.0
"""Pause after a snapshot that could not be made."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldStart:
    """A state and the tree over the entries that it folded, to go on from."""

    state: State
    tree: TileTree
    documents: DocumentCache


class SnapshotUnusableError(TequioError):
    """A snapshot that the log names cannot be begun from; the sentence says why."""


def newest_start(
    database: Database,
    genesis: Genesis,
    blobs: BlobFolder,
    documents: Documents | None = None,
) -> FoldStart:
    """Begin at the newest usable snapshot under the signed root, or else before the first entry.

    The state reads `documents`, by default those of `blobs`. Raises UserFacingError when the signed
    checkpoint is damaged, UnwritableError.
    """
    cache = DocumentCache(blobs)
    read = documents or cache.read
    with database.translated_errors(), database.log_reader.begin() as connection:
        head = log_rows.read_head(connection)
        stored = log_rows.read_last_checkpoint(connection)
        published = guard.newest(stored, head, genesis.log_key) if head else guard.NOTHING
        for index, leaf in log_rows.last_snapshots(connection, published.size, KEPT):
            try:
                body = _proven(connection, genesis, published, index, leaf)
                state = _decoded(connection, genesis, cache, read, body)
                tree = TileTree.resume(body.size, partial(log_rows.read_tile, connection))
            except SnapshotUnusableError as err:
                log.warning("a snapshot cannot be used, so the start takes longer", why=str(err))
            else:
                log.info("begins at a snapshot", entries=body.size, of=published.size)
                return FoldStart(state=state, tree=tree, documents=cache)
    state = State(genesis, read, cache.size)
    return FoldStart(state=state, tree=TileTree(), documents=cache)


def _decoded(
    connection: Connection,
    genesis: Genesis,
    cache: DocumentCache,
    documents: Documents,
    body: LogSnapshot,
) -> State:
    """Decode the state that a statement names."""
    name = digest_from_text(body.state).hex()
    try:
        state, size = snapshot.decode(
            cache.read(digest_from_text(body.state)),
            genesis,
            documents,
            cache.size,
            arrival_ms=partial(log_rows.arrival_ms, connection),
            is_own=True,
        )
    except KeyError as err:
        raise SnapshotUnusableError(f"blob {name} is missing or damaged") from err
    except MalformedError as err:
        raise SnapshotUnusableError(f"blob {name}: {err}") from err
    if size != body.size:
        raise SnapshotUnusableError(f"blob {name} is a snapshot of {size} entries")
    return state


def _proven(
    connection: Connection, genesis: Genesis, published: Published, index: int, leaf: bytes
) -> LogSnapshot:
    """Read a statement that is in the signed log; its row alone proves nothing."""
    proofs = TileProofs(partial(log_rows.read_tile, connection), published.size)
    try:
        path = proofs.inclusion(index)
        verify_inclusion(leaf_hash(leaf), index, published.size, path, published.root)
        entry = Entry.parse(leaf)
        check_role(entry, genesis)
    except (TequioError, IndexError) as err:
        raise SnapshotUnusableError(f"entry {index} is not the one that was signed") from err
    body = entry.statement.body
    if not isinstance(body, LogSnapshot) or body.size > index:
        raise SnapshotUnusableError(f"entry {index} names no snapshot")
    return body


class SnapshotWriter:
    """Owned by the ledger; makes the snapshots that are due while this process writes the log."""

    def __init__(
        self,
        database: Database,
        genesis: Genesis,
        blobs: BlobFolder,
        changed: ChangeSignal,
        clock: Clock,
    ) -> None:
        self._database = database
        self._genesis = genesis
        self._blobs = blobs
        self._changed = changed
        self._clock = clock
        self.given_up: str | None = None
        """Sentence on why no more snapshots are made; None while they are."""

    async def run(self, holder: Callable[[], object]) -> NoReturn:
        """Make one snapshot after the other, until cancelled."""
        while True:
            sequencer = holder()
            if isinstance(sequencer, Sequencer) and sequencer.closed_for is None:
                await self._try(sequencer)
            await self._changed.wait(CHECK_S)

    async def _try(self, sequencer: Sequencer) -> None:
        try:
            await self._make_due(sequencer)
        except (TequioError, OSError, *FAILURES) as err:
            log.warning("no snapshot was made, so starts take longer", why=str(err))
            await asyncio.sleep(RETRY_S)

    async def _make_due(self, sequencer: Sequencer) -> None:
        signed = sequencer.log.published.size
        due = [size for size in sequencer.state.snapshots.due if size <= signed]
        if not due or self.given_up is not None:
            return
        since_s = time.monotonic()
        task = asyncio.current_task()
        # The thread looks at this from time to time: it outlives a caller that was cancelled.
        body = await run_in_thread(
            self.make, due[-1], BUSY, lambda: bool(task and task.cancelling())
        )
        await sequencer.state_snapshot(body)
        log.info("made a snapshot", entries=body.size, s=round(time.monotonic() - since_s, 1))
        old = [one.digest for one in sequencer.state.snapshots.stated[:-KEPT]]
        await run_in_thread(self._blobs.delete, old, self._clock() + 1)

    def make(
        self, size: int, busy: float = 1.0, is_over: Callable[[], bool] = lambda: False
    ) -> LogSnapshot:
        """Fold the first `size` entries, all signed, store their snapshot, and name it; blocks.

        `busy` is the part of the time in which it works; it gives up when `is_over`. Raises
        RefusedError when it is too large, TequioError and OSError.
        """
        state = self._folded(size, busy, is_over)
        raw = snapshot.encode(state, size)
        if len(raw) > BLOB_BYTES:
            # For good: the state grows, and each attempt would fold more entries.
            self.given_up = (
                f"the state after {size} entries has {len(raw)} bytes, of which at most "
                f"{BLOB_BYTES} can be stored: starts take longer the more entries follow, until a "
                "newer tequio-ledger makes a smaller one"
            )
            raise RefusedError("too-large", self.given_up)
        return LogSnapshot(
            layout=to_text(snapshot.layout()), size=size, state=to_text(self._blobs.put(raw))
        )

    def _folded(self, size: int, busy: float, is_over: Callable[[], bool]) -> State:
        start = newest_start(self._database, self._genesis, self._blobs)
        state, first = start.state, start.tree.size
        while first < size:
            since_s = time.monotonic()
            end = min(first + SLICE, size)
            # A short transaction for each slice: a long one would keep SQLite's journal growing.
            with self._database.translated_errors(), self._database.log_reader.begin() as rows:
                entries = list(log_rows.each_entry(rows, first, end))
            for stored in entries:
                entry = Entry.parse(stored.leaf)
                try:
                    state.apply(stored.index, entry, stored.at_ms)
                except KeyError as err:
                    raise missing_document(stored.index, entry.statement) from err
            first = end
            # The fold competes with the event loop for the interpreter's lock.
            time.sleep((time.monotonic() - since_s) * (1 / busy - 1))
            if is_over():
                raise RefusedError("read-only", "the ledger is stopping")
        return state
