"""The log: the only code that extends the tree.

Rules: entries, tiles, derived rows and head go into one transaction, and the head is swapped only
if it is still the one that this process wrote last. A checkpoint is signed after the commit,
never before, and its row's key makes a second root for a size impossible; the guard is asked
before each signature. Before the commit the signer signs the last checkpoint again, which shows
that it answers. After a failed write this object must not be used: memory may be ahead of the disk.
Nothing is ever repaired in memory; the disk is read again.

`read`, `follow` and `load` check every stored byte after the snapshot at which they begin, and the
tree's right edge before it (`Integrity`), before anything is signed; `table_check` reads the older
entries while the ledger serves. `load`
starts a new term as well, in which this process is the log's writer; the others write nothing.
`follow` continues where the last call ended, so a follower can become the writer without reading
the log again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from tequio_ledger.log import guard as log_guard
from tequio_ledger.log.documents import missing_document
from tequio_ledger.log.guard import Guard, NotSigningError, Published, damaged_log
from tequio_ledger.log.proofs import stored_proofs
from tequio_ledger.runtime import Clock
from tequio_ledger.signing.signer import CheckpointSigner, WouldForkError
from tequio_ledger.store import files, log_rows
from tequio_ledger.store.database import FAILURES, Database
from tequio_ledger.store.files import UnwritableError
from tequio_ledger.store.log_rows import SignedHead, StoredCheckpoint, StoredEntry
from tequio_shared.errors import (
    FatalLogError,
    PeerError,
    RefusedError,
    UserFacingError,
)
from tequio_shared.ids import Digest, NetworkId, PeerKey
from tequio_shared.log import merkle
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.tiles import TileName, TileTree
from tequio_shared.network.genesis import Genesis
from tequio_shared.statements.statement import Entry, statement_id

Apply = Callable[[StoredEntry, Entry], None]
"""Called for each entry of the log once it is checked."""

_CHECK_EVERY = 4096
_ALL = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedEntry:
    """An entry that passed admission, with its id and its stored form."""

    entry: Entry
    leaf: bytes
    id: Digest
    at_ms: int
    """Time at which the ledger accepted it."""

    @classmethod
    def of(cls, entry: Entry, net: NetworkId, at_ms: int) -> AdmittedEntry:
        name = statement_id(net, entry.statement.raw)
        return cls(entry=entry, leaf=entry.leaf(), id=name, at_ms=at_ms)

    def row(self, index: int) -> StoredEntry:
        statement = self.entry.statement
        return StoredEntry(
            index=index,
            id=self.id,
            leaf=self.leaf,
            type=statement.type,
            author=statement.author,
            run=statement.run,
            round=statement.round,
            at_ms=self.at_ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """Entries of the log that have the ids, or the numbers, of entries that were sent since."""

    indices: Mapping[Digest, int] = field(default_factory=dict)
    """By id: who missed a receipt sends the same bytes again."""
    leaves: Mapping[tuple[PeerKey, int], bytes] = field(default_factory=dict)
    """By author and number, where the ids differ: recent ones only."""


class Log:
    """One open log. Only the sequencer calls `append`; anyone may read `published`."""

    def __init__(
        self,
        database: Database,
        genesis: Genesis,
        signer: CheckpointSigner,
        guard: Guard,
        clock: Clock,
        tree: TileTree | None = None,
    ) -> None:
        """Reading begins after the entries of `tree`, whose state the caller has."""
        self.database = database
        self._net = genesis.network_id
        self._log_key = genesis.log_key
        self._signer = signer
        self.guard = guard
        self._clock = clock
        self._integrity = Integrity(self._net, tree)
        self._head = SignedHead(origin=genesis.origin, size=0, root=merkle.EMPTY_ROOT, term=0)
        self.published = log_guard.NOTHING
        self.published_at_ms = 0
        """Time at which the newest checkpoint was signed, from its row."""

    @property
    def term(self) -> int:
        """Number of our term as the log's writer; 0 while this object only reads."""
        return self._head.term

    @property
    def size(self) -> int:
        """Number of committed entries."""
        return self._head.size

    def read(self, apply: Apply) -> None:
        """Read and check the whole log; pass the published entries to `apply`.

        Raises UserFacingError when a stored byte is not what was written.
        """

        # Every entry is checked, but committed entries without a signature are not passed on: a
        # reader could not verify them, and the next writer may never sign them.
        def apply_published(row: StoredEntry, entry: Entry) -> None:
            if row.index < self.published.size:
                apply(row, entry)

        try:
            with self.database.log_reader.begin() as connection:
                stored = log_rows.read_head(connection)
                if stored is not None:
                    self._find_published(connection, stored)
                    self._check(connection, stored, apply_published)
                    self._head = replace(stored, term=0)
        except FAILURES as err:
            raise UserFacingError(self.database.explain(err)) from err

    def follow(self, apply: Apply) -> None:
        """Read and check what was published since the last call, and pass it to `apply`.

        Raises UserFacingError when a stored byte is not what was written, UnwritableError when the
        database does not answer.
        """
        with self._readable(), self.database.log_reader.begin() as connection:
            stored = log_rows.read_head(connection)
            if stored is None:
                return
            before = self.published
            self._find_published(connection, stored)
            if self.published.size > before.size:
                self._integrity.extend(connection, self.published, apply)
            self._head = replace(stored, term=0, size=self.published.size, root=self.published.root)

    def load(self, apply: Apply) -> None:
        """Read and check the whole log, pass each entry to `apply`, and start a new term.

        Raises UserFacingError when a stored byte is not what was written, UnwritableError.
        """
        self.load_and_write(lambda _: nullcontext(apply))

    def load_and_write(
        self, writing: Callable[[Connection], AbstractContextManager[Apply]]
    ) -> None:
        """Load the log as `load` does, while `writing` writes in the same transaction."""
        # Before the term is written: a ledger that must not sign must not push out another
        # process that may.
        self.guard.check_before_leading(self.database)
        with self._readable():
            with self.database.log_writer.begin() as connection, writing(connection) as apply:
                self._start_term(connection, apply)
            self._sign()

    def find_earlier(self, entries: Iterable[Entry]) -> Earlier:
        """Find what is logged under the ids and numbers of entries; raises as `append` does."""
        indices, others = dict[Digest, int](), defaultdict[PeerKey, set[int]](set)
        with self.database.translated_errors(), self.database.log_reader.begin() as connection:
            for entry in entries:
                statement = entry.statement
                name = statement_id(self._net, statement.raw)
                index = log_rows.find_index(connection, name)
                if index is None:
                    others[statement.author].add(statement.seq)
                else:
                    indices[name] = index
            leaves = {
                (author, seq): leaf
                for author, numbers in others.items()
                for seq, leaf in log_rows.find_leaves(connection, author, numbers).items()
            }
        return Earlier(indices=indices, leaves=leaves)

    def append(
        self, batch: Sequence[AdmittedEntry], derive: Callable[[Connection], None]
    ) -> Published:
        """Commit a batch and sign the new checkpoint; returns it when both are on the disk.

        `derive` writes the derived rows in the same transaction.
        Raises UnwritableError or FatalLogError: nothing of this object may be used afterwards.
        """
        if not self._head.term:
            raise FatalLogError("a log that was only read cannot grow")
        with self.database.translated_errors():
            # Before the commit too: entries that may not, or cannot, be signed stay unlogged. With
            # them in the tables, nobody could read these until the signer is back.
            self._sign()
            self._commit(batch, derive)
            self._sign()
        return self.published

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Translate the database's errors to UnwritableError if they pass, else UserFacingError."""
        try:
            yield
        except FAILURES as err:
            why = self.database.failed_write(err)
            if not isinstance(why, UnwritableError):
                why = UserFacingError(str(why))
            raise why from err

    def _start_term(self, connection: Connection, apply: Apply) -> None:
        stored = log_rows.read_head(connection)
        if stored is None:
            self._head = replace(self._head, term=1)
            log_rows.create_head(connection, self._head)
            return
        self._check(connection, stored, apply)
        # The new term is what disarms a former writer that still believes it leads: its next swap
        # names the old term and changes no row.
        self._head = replace(stored, term=stored.term + 1)
        if not log_rows.swap_head(connection, stored, self._head):
            raise self.database.lost_lead("the log's head changed while it was read")
        self._find_published(connection, stored)

    def _check(self, connection: Connection, stored: SignedHead, apply: Apply) -> None:
        if stored.origin != self._head.origin:
            raise UserFacingError(
                f"the database holds the log {stored.origin!r}, not {self._head.origin!r}: "
                "choose another folder or the old origin"
            )
        self._integrity.check(connection, stored, apply)

    def _find_published(self, connection: Connection, head: SignedHead) -> None:
        stored = log_rows.read_last_checkpoint(connection)
        self.published = log_guard.newest(stored, head, self._log_key)
        self.published_at_ms = stored.at_ms if stored else 0

    def _commit(self, batch: Sequence[AdmittedEntry], derive: Callable[[Connection], None]) -> None:
        first, tree = self.size, self._integrity.tree
        for admitted in batch:
            tree.append(admitted.leaf)
        head = replace(self._head, size=tree.size, root=tree.root())
        tiles = tree.pop_changed()
        with self.database.log_writer.begin() as connection:
            # First, because it locks the head: of two writers one waits here, and then fails
            # before it has written a row.
            if not log_rows.swap_head(connection, self._head, head):
                raise self.database.lost_lead(
                    f"the log's head is no longer at size {first}, term {self._head.term}: "
                    "another process wrote to this database"
                )
            rows = [admitted.row(first + at) for at, admitted in enumerate(batch)]
            log_rows.insert_entries(connection, rows)
            log_rows.write_tiles(connection, tiles)
            derive(connection)
        self._head = head  # only now: until the commit the disk has the old one

    def _sign(self) -> None:
        """Sign the head, and store the checkpoint unless it is stored already."""
        self.guard.check()
        head = self._head
        if head.size == 0:
            return
        # Also when this size is signed already: the signer remembers what it signed last, and
        # refuses here if our log was rolled back behind that.
        note = self._signed(Checkpoint(origin=head.origin, size=head.size, root=head.root))
        if self.published.size == head.size:
            return
        row = StoredCheckpoint(size=head.size, root=head.root, note=note, at_ms=self._clock())
        with self.database.log_writer.begin() as connection:
            log_rows.insert_checkpoint(connection, row)
        self.published = Published(size=head.size, root=head.root, note=note)
        self.published_at_ms = row.at_ms

    def _signed(self, tree: Checkpoint) -> bytes:
        try:
            return self._signer.sign(tree, lambda old: self._prove(old, tree.size))
        except WouldForkError as err:
            raise NotSigningError(str(err)) from err
        except OSError as err:
            passing = UnwritableError if files.is_passing(err) else FatalLogError
            raise passing(f"the signature cannot be recorded: {err.strerror or err}") from err

    def _prove(self, old_size: int, size: int) -> list[Digest]:
        with self.database.log_reader.begin() as connection:
            return stored_proofs(connection, size).consistency(old_size)


class Integrity:
    """One reading of the stored entries in order, which can continue when there are more.

    The tree is built on from where it begins, and compared with what is stored, so a changed byte
    is found before anything is signed, be it in an entry, a column, a tile, or the head. Costs one
    pass over the entries after `tree`; an edge that is not theirs leads to another root.
    """

    def __init__(self, net: NetworkId, tree: TileTree | None = None) -> None:
        self.tree = tree or TileTree()
        self._net = net

    def extend(self, connection: Connection, published: Published, apply: Apply) -> None:
        """Pass on the entries up to a checkpoint; raises UserFacingError as `check` does."""
        self._read(connection, published.size, apply)
        if self.tree.size != published.size:
            raise damaged_log(f"entry {self.tree.size} is missing")
        _check_tiles(connection, self.tree.pop_changed(), grown=True)
        if self.tree.root() != published.root:
            raise damaged_log(f"checkpoint {published.size} was signed over other entries")

    def check(self, connection: Connection, head: SignedHead, apply: Apply) -> None:
        """Check all entries and pass each to `apply`; raises UserFacingError at the first fault."""
        self._read(connection, _ALL, apply)
        if self.tree.size != head.size:
            raise damaged_log(
                f"the head counts {head.size} entries, but {self.tree.size} are there"
            )
        _check_tiles(connection, self.tree.pop_changed())
        # Tiles beyond the entries would be served, though no signature covers them.
        if log_rows.has_tiles_beyond(connection, head.size):
            raise damaged_log("there are tiles that no entry belongs to")
        if self.tree.root() != head.root:
            raise damaged_log("the head's root is not the root of the entries")

    def _read(self, connection: Connection, end: int, apply: Apply) -> None:
        for stored in log_rows.each_entry(connection, self.tree.size, end):
            self._check_entry(stored, apply)
            if self.tree.size % _CHECK_EVERY == 0:  # full tiles are dropped, so memory stays flat
                _check_tiles(connection, self.tree.pop_full())

    def _check_entry(self, stored: StoredEntry, apply: Apply) -> None:
        if stored.index != self.tree.size:
            raise damaged_log(f"entry {self.tree.size} is missing")
        self.tree.append(stored.leaf)
        try:
            entry = Entry.parse(stored.leaf)
            # The columns are outside the tree: a wrong author or id there would hide the entry
            # from every query while all hashes fit.
            if stored != AdmittedEntry.of(entry, self._net, stored.at_ms).row(stored.index):
                raise damaged_log(f"entry {stored.index} is filed under the wrong name")
            apply(stored, entry)
        except UnwritableError:  # a document that cannot be reached now says nothing of the entry
            raise
        except KeyError as err:
            raise missing_document(stored.index, entry.statement) from err
        except (PeerError, RefusedError) as err:
            if isinstance(err.__cause__, KeyError):  # the rules refuse an entry without it
                raise missing_document(stored.index, entry.statement) from err
            raise damaged_log(f"entry {stored.index} is not valid ({err})") from err


def _check_tiles(
    connection: Connection, tiles: Mapping[TileName, bytes], *, grown: bool = False
) -> None:
    """Compare tiles with the stored ones, which may have `grown` beyond them since."""
    for tile, data in tiles.items():
        stored = log_rows.read_tile(connection, tile) or b""
        if stored != data and not (grown and stored.startswith(data)):
            raise damaged_log(f"tile {tile[1]} of level {tile[0]} is not made of the entries")
