"""The log: the only code that extends the tree.

Rules: entries, tiles, derived rows and head go into one transaction, and the head is swapped only
if it is still the one that this process wrote last. A checkpoint is signed after the commit,
never before, and its row's key makes a second root for a size impossible. Whatever goes wrong in
a write is FatalLogError: the process must leave and load everything anew, since memory may be
ahead of the disk. Nothing is ever repaired in memory.

`Log.load` reads every entry, builds the whole tree again, and compares it with the stored tiles,
head and checkpoint: a changed byte anywhere is found before anything is signed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy.exc import DatabaseError

from tequio_ledger.store import log_rows
from tequio_ledger.store.engine import explain
from tequio_ledger.store.log_rows import Head, StoredCheckpoint, StoredEntry
from tequio_ledger.tree import Tree, count_tiles
from tequio_shared import merkle
from tequio_shared.errors import FatalLogError, PeerError, RefusedError, UserFacingError
from tequio_shared.notes import Checkpoint, VerifierKey, open_checkpoint, sign_checkpoint
from tequio_shared.statement import Entry, statement_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Connection

    from tequio_ledger.clock import Clock
    from tequio_ledger.store.engine import Database
    from tequio_ledger.tree import Tile
    from tequio_shared.genesis import Genesis
    from tequio_shared.ids import Digest, NetworkId
    from tequio_shared.keys import Signer

_CHECK_EVERY = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """An entry that passed admission, with what it is stored under."""

    entry: Entry
    leaf: bytes
    id: Digest
    at_ms: int
    """When the ledger took it."""

    @classmethod
    def of(cls, entry: Entry, net: NetworkId, at_ms: int) -> Admitted:
        """Name and pack an entry."""
        name = statement_id(net, entry.statement.raw)
        return cls(entry=entry, leaf=entry.leaf(), id=name, at_ms=at_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The signed state of the log that everybody may see."""

    size: int
    root: Digest
    note: bytes


class Log:
    """One open log. `append` belongs to the sequencer; `published` is for all to read."""

    def __init__(self, database: Database, genesis: Genesis, signer: Signer, clock: Clock) -> None:
        self._database = database
        self._net = genesis.network_id
        self._log_key = genesis.log_key
        self._signer = signer
        self._clock = clock
        self._tree = Tree()
        self._head = Head(origin=genesis.origin, size=0, root=merkle.EMPTY_ROOT, term=1)
        self.published = Published(size=0, root=merkle.EMPTY_ROOT, note=b"")

    @property
    def size(self) -> int:
        """How many entries are committed."""
        return self._head.size

    def load(self, take: Callable[[StoredEntry, Entry], None]) -> None:
        """Read and check everything there is, hand each entry on, and take office (a new term).

        Raises UserFacingError when a stored byte is not what was written.
        """
        try:
            with self._database.writer.begin() as connection:
                self._take_office(connection, _Check(self._net, self._tree, take))
        except DatabaseError as err:
            raise UserFacingError(explain(err, self._database.path)) from err
        self._sign()

    def find_index(self, statement_id: Digest) -> int | None:
        """Say where a statement stands in the log."""
        with self._database.reader.begin() as connection:
            return log_rows.find_index(connection, statement_id)

    def append(self, batch: Sequence[Admitted], derive: Callable[[Connection], None]) -> Published:
        """Commit a batch and sign the new checkpoint; returns it when both are on the disk.

        `derive` writes the derived rows in the same transaction.
        Raises FatalLogError: nothing of this object may be used afterwards.
        """
        try:
            self._commit(batch, derive)
            self._sign()
        except DatabaseError as err:
            raise FatalLogError(explain(err, self._database.path)) from err
        return self.published

    def _take_office(self, connection: Connection, check: _Check) -> None:
        stored = log_rows.read_head(connection)
        if stored is None:
            log_rows.create_head(connection, self._head)
            return
        if stored.origin != self._head.origin:
            raise UserFacingError(
                f"the database holds the log {stored.origin!r}, not {self._head.origin!r}: "
                "choose another folder or the old origin"
            )
        check.run(connection, stored)
        self._head = replace(stored, term=stored.term + 1)
        if not log_rows.swap_head(connection, stored, self._head):
            raise FatalLogError("the log's head changed while it was read")
        self._check_checkpoint(log_rows.read_last_checkpoint(connection))

    def _check_checkpoint(self, stored: StoredCheckpoint | None) -> None:
        if stored is None:
            return
        if stored.size > self.size:
            raise _damage(f"checkpoint {stored.size} is ahead of the log's {self.size} entries")
        try:
            checkpoint = open_checkpoint(stored.note, VerifierKey.parse(self._log_key)).checkpoint
        except PeerError as err:
            raise _damage(f"checkpoint {stored.size} is not ours ({err})") from err
        if (checkpoint.size, checkpoint.root) != (stored.size, stored.root):
            raise _damage(f"checkpoint {stored.size} is not what its row says")
        if stored.size < self.size:
            return
        if stored.root != self._head.root:
            raise _damage(f"checkpoint {stored.size} was signed over another root")
        self.published = Published(size=stored.size, root=stored.root, note=stored.note)

    def _commit(self, batch: Sequence[Admitted], derive: Callable[[Connection], None]) -> None:
        first = self.size
        for admitted in batch:
            self._tree.append(admitted.leaf)
        head = replace(self._head, size=self._tree.size, root=self._tree.root())
        tiles = self._tree.take_changed()
        with self._database.writer.begin() as connection:
            rows = [_stored(first + at, admitted) for at, admitted in enumerate(batch)]
            log_rows.insert_entries(connection, rows)
            log_rows.write_tiles(connection, tiles)
            derive(connection)
            if not log_rows.swap_head(connection, self._head, head):
                raise FatalLogError(
                    f"the log's head is no longer at size {first}, term {self._head.term}: "
                    "another process wrote to this database"
                )
        self._head = head

    def _sign(self) -> None:
        if self.published.size == self._head.size:
            return
        head = self._head
        checkpoint = Checkpoint(origin=head.origin, size=head.size, root=head.root)
        note = sign_checkpoint(checkpoint, self._signer)
        row = StoredCheckpoint(size=head.size, root=head.root, note=note, at_ms=self._clock())
        with self._database.writer.begin() as connection:
            log_rows.insert_checkpoint(connection, row)
        self.published = Published(size=head.size, root=head.root, note=note)


class _Check:
    """Builds the tree of the stored entries and compares it with all that is stored beside."""

    def __init__(
        self, net: NetworkId, tree: Tree, take: Callable[[StoredEntry, Entry], None]
    ) -> None:
        self._net = net
        self._tree = tree
        self._take = take

    def run(self, connection: Connection, head: Head) -> None:
        """Raise UserFacingError at the first thing that does not fit."""
        for stored in log_rows.each_entry(connection):
            self._check_entry(stored)
            if self._tree.size % _CHECK_EVERY == 0:
                _check_tiles(connection, self._tree.take_full())
        if self._tree.size != head.size:
            raise _damage(f"the head counts {head.size} entries, but {self._tree.size} are there")
        _check_tiles(connection, self._tree.take_changed())
        if log_rows.count_tiles(connection) != count_tiles(head.size):
            raise _damage("there are tiles that no entry belongs to")
        if self._tree.root() != head.root:
            raise _damage("the head's root is not the root of the entries")

    def _check_entry(self, stored: StoredEntry) -> None:
        if stored.index != self._tree.size:
            raise _damage(f"entry {self._tree.size} is missing")
        self._tree.append(stored.leaf)
        try:
            entry = Entry.parse(stored.leaf)
            if stored != _stored(stored.index, Admitted.of(entry, self._net, stored.at_ms)):
                raise _damage(f"entry {stored.index} is filed under the wrong name")
            self._take(stored, entry)
        except (PeerError, RefusedError) as err:
            raise _damage(f"entry {stored.index} does not hold ({err})") from err


def _check_tiles(connection: Connection, tiles: Mapping[Tile, bytes]) -> None:
    for tile, data in tiles.items():
        if log_rows.read_tile(connection, tile) != data:
            raise _damage(f"tile {tile[1]} of level {tile[0]} is not made of the entries")


def _stored(index: int, admitted: Admitted) -> StoredEntry:
    statement = admitted.entry.statement
    return StoredEntry(
        index=index,
        id=admitted.id,
        leaf=admitted.leaf,
        type=statement.type,
        author=statement.author,
        run=statement.run,
        round=statement.round,
        at_ms=admitted.at_ms,
    )


def _damage(what: str) -> UserFacingError:
    return UserFacingError(
        f"the stored log is damaged: {what}; nothing was signed: restore the data folder"
    )
