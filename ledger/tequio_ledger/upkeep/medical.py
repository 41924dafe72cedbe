"""Checks of what a ledger has stored: entries, checkpoints, derived tables, blobs, times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import create_engine, select

from tequio_ledger.log import checkpoint
from tequio_ledger.log.integrity import Integrity
from tequio_ledger.log.proofs import root_at
from tequio_ledger.sequencing import needed
from tequio_ledger.sequencing.shelf import Shelf
from tequio_ledger.sequencing.timekeeper import WORTH_TELLING_MS
from tequio_ledger.state import State
from tequio_ledger.store import derived, log_rows
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.models import DERIVED, Base
from tequio_ledger.upkeep.findings import RESTORE, Finding, error, ok, warning
from tequio_shared.errors import FatalLogError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tequio_ledger.clock import Clock
    from tequio_ledger.folder import Folder
    from tequio_ledger.store.engine import Database
    from tequio_ledger.store.log_rows import Head, StoredEntry
    from tequio_shared.genesis import Genesis
    from tequio_shared.ids import Digest
    from tequio_shared.statement import Entry


def log(
    connection: Connection, folder: Folder, database: Database, genesis: Genesis, clock: Clock
) -> Iterator[Finding]:
    """Check all that follows from the log; raises UserFacingError when the log itself is damaged.

    `connection` is inside one transaction, so that a ledger that serves does not move under it.
    """
    head = log_rows.read_head(connection)
    if head is None:
        raise UserFacingError("the log has no head")
    blobs = BlobFolder(folder.blobs, database, clock, 0)
    broken = list(_documents(connection, blobs))
    yield from broken
    yield from _checkpoints(connection, head, genesis)
    if broken:  # without them the log cannot be folded
        return
    fold = _Fold(genesis, blobs)
    Integrity(genesis.network_id).check(connection, head, fold.take)
    yield ok("log", f"{head.size} entries, every byte as it was written")
    yield from fold.compare(connection)
    yield from _blobs(blobs)
    yield from _clock(connection, fold.latest_ms, clock())


def _documents(connection: Connection, blobs: BlobFolder) -> Iterator[Finding]:
    for index, digest in needed.documents(connection):
        if not _is_sound(blobs, digest):
            found = f"the document {digest.hex()} of entry {index} is missing or damaged"
            path = blobs.path(digest)
            yield error("documents", found, f"take {path.name} from a backup and put it at {path}")


def _checkpoints(connection: Connection, head: Head, genesis: Genesis) -> Iterator[Finding]:
    count = last = 0
    for stored in log_rows.each_checkpoint(connection):
        checkpoint.newest(stored, head, genesis.log_key)
        try:
            is_ours = root_at(connection, stored.size) == stored.root
        except FatalLogError:
            is_ours = False
        if not is_ours:
            found = f"checkpoint {stored.size} was signed over other entries"
            yield error("checkpoints", found, f"do not serve this ledger: {RESTORE}")
        count, last = count + 1, stored.size
    if last < head.size:
        found = f"entries {last} to {head.size - 1} have no checkpoint yet"
        yield warning("checkpoints", found, "start the ledger: it signs what is committed")
    yield ok("checkpoints", f"{count}, the last of {last} entries")


class _Fold:
    """The log folded again, and the rows that follow from it."""

    def __init__(self, genesis: Genesis, blobs: BlobFolder) -> None:
        self.latest_ms = 0
        """Latest time that the coordinator signed."""
        self._state = State(genesis, Shelf(blobs).read)
        self._changes = derived.Changes()
        self._coordinator = genesis.coordinator_key

    def take(self, stored: StoredEntry, entry: Entry) -> None:
        """Fold one entry."""
        self._state.apply(stored.index, entry, stored.at_ms)
        derived.derive(self._changes, stored.index, entry, self._state)
        if entry.statement.author == self._coordinator:
            self.latest_ms = max(self.latest_ms, entry.statement.ts)

    def compare(self, connection: Connection) -> Iterator[Finding]:
        """Hold the stored derived tables against those that follow."""
        engine = create_engine("sqlite://")
        Base.metadata.create_all(engine)
        with engine.begin() as fresh:
            derived.write(fresh, self._changes, self._state)
            for table in DERIVED:
                if _rows(connection, table) != _rows(fresh, table):
                    found = f"the table {table.__tablename__} does not follow from the log"
                    yield error("tables", found, "stop the ledger and run `tequio-ledger replay`")
        engine.dispose()
        yield ok("tables", "derived tables were compared with a replay")


def _rows(connection: Connection, table: type[Base]) -> list[tuple[object, ...]]:
    rows = connection.execute(select(table.__table__))
    return sorted((tuple(row) for row in rows), key=repr)


def _blobs(blobs: BlobFolder) -> Iterator[Finding]:
    rows, files = blobs.rows(), blobs.digests()
    for digest in sorted(rows.keys() - files):
        yield warning("blobs", f"the file of blob {digest.hex()} is missing", "put it again")
    for digest in sorted(files):
        if not _is_sound(blobs, digest):
            found = f"{blobs.path(digest)} is not what its name says"
            yield warning("blobs", found, "remove the file and put the blob again")
        elif digest not in rows:
            found = f"{blobs.path(digest)} is not counted"
            yield warning("blobs", found, "start the ledger anew: it counts what is there")
    yield ok("blobs", f"{len(files)} files were read and hashed")


def _clock(connection: Connection, latest_ms: int, now_ms: int) -> Iterator[Finding]:
    last = log_rows.read_last_checkpoint(connection)
    behind_ms = max(latest_ms, last.at_ms if last else 0) - now_ms
    if behind_ms > WORTH_TELLING_MS:
        found = f"the clock is {behind_ms // 1000} s behind the last signed time"
        yield error("clock", found, "set it right: rounds stand still until then")
    else:
        yield ok("clock", "it is not behind the last signed time")


def _is_sound(blobs: BlobFolder, digest: Digest) -> bool:
    try:
        blobs.open(digest).close()
    except KeyError:
        return False
    return True
