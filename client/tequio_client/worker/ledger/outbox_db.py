"""The outbox on disk: statements that wait, every copy signed of them, and where the chain ends.

One SQLite file, synced before each method returns, so a process killed between any two steps
finds what it promised. A draft is a statement without number; a copy is a draft signed under one.
A draft may have several copies, since one that was sent may yet be logged after the next was made.

Two rules here keep the worker from ever contradicting itself, whatever was lost or restored:

- A number is used once. `used` only grows, it grows in the transaction that stores the signed copy,
  and nothing is sent before that transaction is on disk.
- One statement of a type per round. The body that a run's newest round got is kept, by type (table
  `word`), also when its draft is done or given up; another body for it is refused.

Methods block: call them from a thread, one at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from tequio_client import files
from tequio_client.runtime import NETWORK_FILE
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError, UserFacingError
from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId, to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.statements.runs import (
    AuditReport,
    HeadAttest,
    HeadMeasure,
    WitnessProof,
    WorkCommit,
)
from tequio_shared.statements.statement import BODIES, VERSION, Body, Entry, Statement

B = TypeVar("B", bound="HeadAttest | HeadMeasure | WorkCommit | WitnessProof | AuditReport")

FILE = "outbox.sqlite"
MOST_DRAFTS = 1_000
"""Most drafts that wait; a worker with more has a ledger that accepts nothing."""

_PRAGMAS = ("synchronous=EXTRA", "fullfsync=ON", "foreign_keys=ON", "cache_size=-256")
"""EXTRA syncs the folder too: after a power failure a rollback journal that is back from the dead
would undo a transaction whose statement was sent already. On macOS only fullfsync reaches the disk
itself."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS chain (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    net BLOB NOT NULL,
    author BLOB NOT NULL,
    used INTEGER NOT NULL,    -- highest number ever signed
    seq INTEGER NOT NULL,     -- last logged number, 0 for none
    last BLOB NOT NULL        -- digest of the last logged statement
);
CREATE TABLE IF NOT EXISTS draft (
    ticket INTEGER PRIMARY KEY AUTOINCREMENT,   -- order of submission; 0: registration of the key
    type TEXT NOT NULL,
    body BLOB NOT NULL,
    run BLOB,
    round INTEGER
);
CREATE TABLE IF NOT EXISTS copy (
    seq INTEGER NOT NULL,
    ticket INTEGER NOT NULL REFERENCES draft ON DELETE CASCADE,
    leaf BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS word (
    type TEXT NOT NULL,
    run BLOB NOT NULL,
    round INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (type, run)
);
"""
NUMBER_GAP = 1_000
"""Numbers passed over when the ledger has statements of this key that the file does not know."""
REGISTRATION = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnChain:
    """Where the chain of this key's statements ends."""

    used: int
    """Highest number ever signed; the next one is above it."""
    seq: int
    """Number of the last logged statement, 0 for none."""
    last: Digest
    """Digest of the last logged statement, zero for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentStatement:
    """A draft: a statement in its place in the order, not signed yet."""

    ticket: int
    body: Body
    run: RunId | None
    round: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCopy:
    """A draft as it was signed once."""

    ticket: int
    entry: Entry


class OutboxDb:
    """The database of one folder, which the caller has locked."""

    def __init__(
        self, path: Path, net: NetworkId, author: PeerKey, most_drafts: int = MOST_DRAFTS
    ) -> None:
        """Open or create it; raises UserFacingError when it is not for this network.

        The file of another key is set aside under the key's name, and one of this key taken back.
        That of a network which the key did not enter is deleted.
        """
        self._path, self._most_drafts = path, most_drafts
        with self._explained():
            self._swap_files(net, author)
            self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            for pragma in _PRAGMAS:
                self._base.execute(f"PRAGMA {pragma}")
            with self._transaction():
                self._create(net, author)
            (found,) = self._base.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(" ".join(found.split()))

    def close(self) -> None:
        self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def chain(self) -> OwnChain:
        with self._explained():
            used, seq, last = self._base.execute("SELECT used, seq, last FROM chain").fetchone()
        return OwnChain(used=used, seq=seq, last=Digest(last))

    def drafts(self, most: int = MOST_DRAFTS) -> list[UnsentStatement]:
        query = "SELECT ticket, type, body, run, round FROM draft ORDER BY ticket LIMIT ?"
        with self._explained():
            return [_draft(*row) for row in self._base.execute(query, (most,))]

    def count_drafts(self) -> int:
        with self._explained():
            return int(self._base.execute("SELECT count(*) FROM draft").fetchone()[0])

    def copies(self) -> list[SignedCopy]:
        with self._explained():
            rows = self._base.execute("SELECT ticket, leaf FROM copy ORDER BY rowid").fetchall()
            return [SignedCopy(ticket=ticket, entry=Entry.parse(leaf)) for ticket, leaf in rows]

    def add(self, body: Body, run: RunId | None, round: int | None) -> int:  # noqa: A002 - the protocol's word
        """Append a draft and return its ticket, or that of the same one already waiting.

        Raises RefusedError: "already-said" and "too-late" for what would be a second statement
        about a round, "queue-full" when too many wait.
        """
        same = (body.TYPE, encoding.encode(body), run, round)
        with self._transaction():
            found = self._base.execute(
                "SELECT ticket FROM draft WHERE type = ? AND body = ? AND run IS ? AND round IS ?",
                same,
            ).fetchone()
            # Before the check of the round: a caller that was cancelled, or a worker that was
            # killed, submits the same body again and must get its place in the queue back.
            if found:
                return int(found[0])
            if self._base.execute("SELECT count(*) FROM draft").fetchone()[0] >= self._most_drafts:
                raise RefusedError(
                    "queue-full", f"{self._most_drafts} statements wait to be logged"
                )
            if round is not None:
                self._claim_round(*same)
            row = self._base.execute(
                "INSERT INTO draft (type, body, run, round) VALUES (?, ?, ?, ?)", same
            )
            return row.lastrowid or 0

    def submitted(self, body_type: type[B], run: RunId, round: int) -> B | None:  # noqa: A002 - the protocol's word
        """The body that was submitted for that round, answered or not; None if there was none."""
        query = "SELECT body FROM word WHERE type = ? AND run = ? AND round = ?"
        with self._explained():
            row = self._base.execute(query, (body_type.TYPE, run, round)).fetchone()
            return None if row is None else encoding.decode(row[0], body_type, STATEMENT_BYTES)

    def _claim_round(self, type_: str, body: bytes, run: RunId | None, round_: int | None) -> None:
        """Let this be the one statement of its type about the round; within a transaction."""
        before = self._base.execute(
            "SELECT max(round) FROM word WHERE type = ? AND run = ?", (type_, run)
        ).fetchone()[0]
        # Earlier rounds are closed to this type as well, so one row per run and type is enough,
        # and a clock or a log that went backwards cannot make the worker speak twice.
        if before is not None and before >= (round_ or 0):
            code = "already-said" if before == round_ else "too-late"
            raise RefusedError(code, f"{type_} of round {before} was submitted before")
        self._base.execute(
            "REPLACE INTO word (type, run, round, body) VALUES (?, ?, ?, ?)",
            (type_, run, round_, body),
        )

    def add_registration(self, body: Body) -> int:
        """Put the registration of the key before everything else, once; returns its ticket."""
        with self._transaction():
            self._base.execute(
                "INSERT OR IGNORE INTO draft (ticket, type, body) VALUES (?, ?, ?)",
                (REGISTRATION, body.TYPE, encoding.encode(body)),
            )
        return REGISTRATION

    def is_registering(self) -> bool:
        query = "SELECT count(*) FROM draft WHERE ticket = ?"
        with self._explained():
            return bool(self._base.execute(query, (REGISTRATION,)).fetchone()[0])

    def record(self, copies: Sequence[SignedCopy]) -> None:
        """Store signed copies; from here on their numbers are used, and they may be sent."""
        rows = [(copy.entry.statement.seq, copy.ticket, copy.entry.leaf()) for copy in copies]
        with self._transaction():
            self._base.executemany("INSERT INTO copy (seq, ticket, leaf) VALUES (?, ?, ?)", rows)
            highest = max(seq for seq, _, _ in rows)
            self._base.execute("UPDATE chain SET used = max(used, ?)", (highest,))

    def settle(self, copies: Sequence[SignedCopy]) -> None:
        """Record that these were logged, in this order: their drafts are done."""
        with self._transaction():
            # The chain moves on in the transaction that deletes the draft: after a crash between
            # the two the draft would be signed again.
            for copy in copies:
                self._move_on(copy.entry.statement)
                self._base.execute("DELETE FROM draft WHERE ticket = ?", (copy.ticket,))

    def note_logged(self, statement: Statement) -> None:
        """Record that a statement was logged that was signed under a number of `use_number`."""
        with self._transaction():
            self._move_on(statement)

    def _move_on(self, statement: Statement) -> None:
        self._base.execute("UPDATE chain SET seq = ?, last = ?", (statement.seq, statement.digest))

    def drop(self, ticket: int) -> None:
        """Give a draft up; its numbers stay used."""
        with self._transaction():
            self._base.execute("DELETE FROM draft WHERE ticket = ?", (ticket,))

    def withdraw(self, body: Body) -> int | None:
        """Give up a statement of no run; returns its ticket, None if it has a copy or is gone."""
        with self._transaction():
            row = self._base.execute(
                "SELECT ticket FROM draft WHERE type = ? AND body = ? AND run IS NULL "
                "AND ticket NOT IN (SELECT ticket FROM copy)",
                (body.TYPE, encoding.encode(body)),
            ).fetchone()
            if row is not None:
                self._base.execute("DELETE FROM draft WHERE ticket = ?", row)
        return None if row is None else int(row[0])

    def adopt(self, seq: int, last: Digest) -> None:
        """Continue from a statement of this key that the file does not know, well above it."""
        # The file may be an old backup, and later copies may have been signed and sent that nobody
        # has logged yet. Two different statements under one number would be held against this key
        # permanently; a gap in the numbers costs nothing.
        with self._transaction():
            self._base.execute(
                "UPDATE chain SET seq = ?, last = ?, used = max(used, ?)",
                (seq, last, seq + NUMBER_GAP),
            )

    def use_number(self) -> int:
        """Use up a number, for a statement that is signed here and sent by another program."""
        with self._transaction():
            self._base.execute(
                "UPDATE chain SET used = CASE WHEN last = ? THEN 1 ELSE used + 1 END", (bytes(32),)
            )
            return int(self._base.execute("SELECT used FROM chain").fetchone()[0])

    def _swap_files(self, net: NetworkId, author: PeerKey) -> None:
        """Have the file at our path belong to this key, after a key was replaced or restored."""
        # Each key has its own chain: continuing another one's would sign under wrong numbers, and
        # forgetting our own could sign two statements under one number.
        mine, known = _aside(self._path, author), self._owner(net)
        if known not in (None, author):
            files.move(self._path, _aside(self._path, known))
        if mine.exists() and not self._path.exists():
            files.move(mine, self._path)
            self._owner(net)

    def _owner(self, net: NetworkId) -> PeerKey | None:
        """Read the key of the file; None if there is none, or it is not readable.

        Deletes a file of another network that the key did not enter; raises UserFacingError if it
        may have entered that one.
        """
        if not self._path.exists():
            return None
        row = None
        with closing(sqlite3.connect(self._path)) as base, suppress(sqlite3.DatabaseError):
            row = base.execute("SELECT net, author, used, seq FROM chain").fetchone()
        if row is None:
            return None
        found, author, used, seq = row
        if found == net:
            return PeerKey(author)
        # An invitation that is refused, or a person who does not wait for the work of a new key,
        # must not tie the folder to that network. Number 1 may be signed again without a fault.
        if seq or used > 1 or self._is_folder_of(NetworkId(found)):
            raise UserFacingError(f"{self._path} belongs to another network: use another folder")
        files.delete(self._path)
        return None

    def _is_folder_of(self, net: NetworkId) -> bool:
        """Return whether a worker that ran in the folder has tied it to that network."""
        try:
            return (self._path.parent / NETWORK_FILE).read_text("utf-8").strip() == to_text(net)
        except FileNotFoundError:
            return False

    def _create(self, net: NetworkId, author: PeerKey) -> None:
        for table in _SCHEMA.split(";\n"):
            self._base.execute(table)
        self._base.execute(
            "INSERT OR IGNORE INTO chain VALUES (1, ?, ?, 0, 0, ?)", (net, author, bytes(32))
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._explained():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._base.execute("COMMIT")
            finally:
                # Also after a failed COMMIT, which on a full disk leaves the transaction open.
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.IntegrityError, OSError) as err:
            raise UserFacingError(
                f"{self._path} cannot be used ({err}): check the disk's space and the file's owner"
            ) from err
        except (sqlite3.Error, MalformedError, KeyError, ValueError) as err:
            raise UserFacingError(
                f"{self._path} is damaged ({err}): move it away to go on; statements that "
                "waited in it are lost, those that the ledger has are not"
            ) from err


def _aside(path: Path, author: PeerKey) -> Path:
    return path.with_name(f"{path.name}.{author.hex()[:16]}")


def _draft(
    ticket: int, type_: str, body: bytes, run: bytes | None, round_: int | None
) -> UnsentStatement:
    return UnsentStatement(
        ticket=ticket,
        body=encoding.decode(body, BODIES[type_, VERSION], STATEMENT_BYTES),
        run=None if run is None else RunId(run),
        round=round_,
    )
