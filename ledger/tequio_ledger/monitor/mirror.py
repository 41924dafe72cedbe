"""The monitor's own copy of the log: every entry verified, and all derived rows computed again.

The copy has the tables of a ledger, so it is checked at a start as a ledger's are, and answers are
computed as a ledger computes them. A start begins at the last snapshot that the copy made itself
and found in the log. Entries are written only when they are under a signed root.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tequio_ledger.genesis import read_genesis
from tequio_ledger.log.log import AdmittedEntry, Integrity
from tequio_ledger.log.snapshots import newest_start
from tequio_ledger.store import derived, log_rows
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.database import Database, closed_on_error
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.log_rows import SignedHead, StoredCheckpoint
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import Digest, to_text
from tequio_shared.log import merkle
from tequio_shared.log.merkle import Frontier, leaf_hash
from tequio_shared.served.snapshot import SnapshotComparison
from tequio_shared.statements.network import LogSnapshot
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tequio_ledger.runtime import Clock
    from tequio_ledger.store.log_rows import StoredEntry
    from tequio_shared.log.notes import Checkpoint
    from tequio_shared.network.genesis import Genesis


STORED = 6
"""Snapshots whose bytes are stored: those that are due and wait for their statement, and two."""


class BadEntryError(PeerError):
    """An entry of the log does not verify, or does not follow from those before it."""

    def __init__(self, index: int, leaf: bytes, why: str) -> None:
        super().__init__(f"entry {index} {why}")
        self.index = index
        self.leaf = to_text(leaf)


class Mirror:
    """Owns the copy; made once the genesis is known."""

    def __init__(
        self, folder: Path, genesis: Genesis, fetch: Callable[[Digest], bytes], clock: Clock
    ) -> None:
        """Prepare the tables; raises UserFacingError."""
        self.database = Database(folder / "mirror.sqlite")
        self.database.migrate()
        self.genesis = genesis
        self._net = genesis.network_id
        self._fetch = fetch
        self.now_ms = clock
        self._blobs = BlobFolder(folder / "blobs", self.database, clock, 0)
        self._blobs.clean_up()  # makes or empties the folder of unfinished blobs
        with closed_on_error(self.database):
            start = newest_start(self.database, genesis, self._blobs, self._document)
        self.state = start.state
        self._integrity = Integrity(self._net, start.tree)
        self._snapshots = SnapshotComparison(self.state)
        self._stored: list[Digest] = []  # snapshots made since the start
        self.edge = start.tree.frontier
        self._head = SignedHead(origin=genesis.origin, size=0, root=merkle.EMPTY_ROOT, term=1)
        self.note = b""
        """The last checkpoint under which entries were written."""
        self.is_torn = False
        """True if memory may be ahead of the disk."""

    @property
    def size(self) -> int:
        """Number of entries read and verified."""
        return self._head.size

    @property
    def root(self) -> Digest:
        """Root over those entries."""
        return self._head.root

    def load(self) -> None:
        """Check the copy from the last snapshot on; raises UserFacingError, UnwritableError."""
        with self.database.translated_errors(), self.database.writer.begin() as connection:
            head = log_rows.read_head(connection)
            if head is None:
                log_rows.create_head(connection, self._head)
                return
            self._integrity.check(connection, head, self._fold)
            last = log_rows.read_last_checkpoint(connection)
        self._head, self.note = head, last.note if last else b""

    def extend(self, leaves: Sequence[bytes], edge: Frontier) -> None:
        """Verify entries that are under a signed root, and write them with their derived rows.

        `edge` is the tree with them. Raises BadEntryError, UnreachableError when a document is
        unavailable, and UnwritableError when our own disk is full: in the last two cases nothing
        was written, and `is_torn` is set: make a new mirror.
        """
        self.is_torn = True
        admitted: list[AdmittedEntry] = []
        changes = derived.Changes()
        for leaf in leaves:
            index = self.size + len(admitted)
            entry = self._apply(index, leaf)
            derived.derive(changes, index, entry, self.state)
            admitted.append(AdmittedEntry.of(entry, self._net, entry.statement.ts))
        head = replace(self._head, size=edge.size, root=edge.root())
        tree = self._integrity.tree
        for leaf in leaves:
            tree.append(leaf)
        with self.database.translated_errors(), self.database.writer.begin() as connection:
            first = self.size
            rows = [one.row(first + at) for at, one in enumerate(admitted)]
            log_rows.insert_entries(connection, rows)
            log_rows.write_tiles(connection, tree.pop_changed())
            derived.write(connection, changes, self.state)
            log_rows.swap_head(connection, self._head, head)
        self._head, self.edge = head, edge
        self.is_torn = False

    def store_checkpoint(self, checkpoint: Checkpoint, note: bytes, at_ms: int) -> None:
        """Store the checkpoint that covers all written entries; raises UnwritableError."""
        row = StoredCheckpoint(size=checkpoint.size, root=checkpoint.root, note=note, at_ms=at_ms)
        with self.database.translated_errors(), self.database.writer.begin() as connection:
            last = log_rows.read_last_checkpoint(connection)
            if last is None or last.size < checkpoint.size:
                log_rows.insert_checkpoint(connection, row)
        self.note = note

    def close(self) -> None:
        self.database.close()

    def _apply(self, index: int, leaf: bytes) -> Entry:
        step = "verify"
        try:
            entry = Entry.parse(leaf)
            entry.verify(self._net)
            step = "follow"
            self.state.apply(index, entry, entry.statement.ts)
            self._snapshots.record(index + 1, self._store_snapshot)
            if isinstance(entry.statement.body, LogSnapshot):
                self._check_snapshot(index, leaf, entry.statement.body)
        except (BadEntryError, UnwritableError):
            raise
        except KeyError as err:
            if step == "verify":
                raise
            raise BadEntryError(index, leaf, "names an unknown key or document") from err
        except (PeerError, RefusedError, RecursionError, UnicodeDecodeError) as err:
            raise BadEntryError(index, leaf, f"does not {step}: {err}") from err
        return entry

    def _fold(self, stored: StoredEntry, entry: Entry) -> None:
        self.edge.append(leaf_hash(stored.leaf))
        self.state.apply(stored.index, entry, stored.at_ms)
        self._snapshots.record(stored.index + 1)

    def _store_snapshot(self, raw: bytes) -> None:
        """Store the bytes at which a later start may begin, and delete those of older ones."""
        self._stored.append(self._blobs.put(raw))
        old = self._stored[:-STORED]
        self._blobs.delete(old, self.now_ms() + 1)
        del self._stored[:-STORED]

    def _check_snapshot(self, index: int, leaf: bytes, body: LogSnapshot) -> None:
        """Compare with this copy's own snapshot, whose bytes the next start begins at."""
        due = self._snapshots.differs(body)
        if due is not None:
            raise BadEntryError(
                index,
                leaf,
                f"names {body.state} as the state after {body.size} entries, which is "
                f"{to_text(due)}",
            )

    def _document(self, digest: Digest) -> bytes:
        """Read a document, fetched at first use; raises UnreachableError, PeerError."""
        try:
            return self._blobs.read(digest)
        except KeyError:
            raw = self._fetch(digest)
            self._blobs.put(raw)
            return raw


def stored_genesis(folder: Path) -> Genesis | None:
    """Read the genesis of the log that was watched from this folder; None the first time."""
    path = folder / "mirror.sqlite"
    if not path.exists():
        return None
    database = Database(path)
    try:
        database.migrate()
        return read_genesis(database)
    finally:
        database.close()
