"""The points database: every round in which this key had a slot, and which of them are proven.

Rules. A round is identified by the log index of its roster, which rises with time and is the same
after a restart. The outcome of a round is recorded as soon as it is read, but stays pending until
its last entry is proven to be in a log whose checkpoint this worker has checked. A proven row never
changes again. Outcomes that are unproven when the database is opened are dropped: their proof may
never have come.

Amounts are in GFLOP, times in milliseconds since 1970 by the coordinator's clock. The
database can be rebuilt from the ledger, except device, tokens, energy and loss, which are only
shown to the user.
"""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import structlog

from tequio_client import files
from tequio_shared.errors import PeerError, TequioError, UserFacingError
from tequio_shared.ids import PeerKey, digest_from_text, to_text
from tequio_shared.log.notes import Checkpoint
from tequio_shared.round.documents import Roster, RoundResult, SlotResult
from tequio_shared.round.proof import RejectionReason, Verdict

log = structlog.get_logger(__name__)

FILE = "points.sqlite"
VERSION = 2
VERIFIED, REJECTED, PENDING = "verified", "rejected", "pending"
VOID, SILENT, NOT_SELECTED, NO_POINTS = "void", "silent", "not-selected", "no-points"
NOT_AUDITED = "not-audited"
MAX_SET_ASIDE = 5
"""Most files set aside; the next one replaces the last."""
_BESIDE = ("-wal", "-shm")
_CACHE = "cache_size=-256"  # KiB; the operating system caches the rest of the file
_SETTINGS = ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=2000", _CACHE)


class DatabaseError(TequioError):
    """A database cannot be read or written: the disk is full, or the file was damaged meanwhile."""


class _UnfitError(Exception):
    """The file is damaged, of another version, or of another owner."""


class DatabaseFile:
    """A small SQLite file in the worker's folder; calls may come from any thread.

    An unusable file is set aside under another name, and a new one is created: nothing in such a
    file is irreplaceable. A transaction survives the death of the process as a whole or not at all.
    One connection, one lock: calls block for milliseconds.
    """

    def __init__(self, path: Path, schema: str, *, version: int, owner: str = "") -> None:
        """Open or create the file; raises DatabaseError when its folder cannot be written."""
        self.path = path
        self.set_aside_path: Path | None = None  # path of the unusable file that was set aside
        self._lock = threading.Lock()
        self._sql = self._opened(schema, version, owner)

    def close(self) -> None:
        with self._lock:
            self._sql.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run one transaction, rolled back on an error; raises DatabaseError."""
        with self._lock:
            try:
                self._sql.execute("BEGIN IMMEDIATE")
                yield self._sql
                self._sql.execute("COMMIT")
            except sqlite3.Error as err:
                raise DatabaseError(f"cannot write {self.path} ({err})") from err
            finally:
                if self._sql.in_transaction:
                    with suppress(sqlite3.Error):
                        self._sql.execute("ROLLBACK")

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._lock:
            try:
                return self._sql.execute(query, values).fetchall()
            except sqlite3.Error as err:
                raise DatabaseError(f"cannot read {self.path} ({err})") from err

    def _opened(self, schema: str, version: int, owner: str) -> sqlite3.Connection:
        try:
            try:
                return _open(self.path, schema, version, owner)
            except (_UnfitError, sqlite3.DatabaseError) as err:
                # An OperationalError is the fault of disk or folder: a new file would not help.
                if not self.path.exists() or isinstance(err, sqlite3.OperationalError):
                    raise DatabaseError(f"cannot open {self.path} ({err})") from err
                self.set_aside_path = _set_aside(self.path)
                log.warning("database set aside", aside=str(self.set_aside_path), why=str(err))
                return _open(self.path, schema, version, owner)
        except (_UnfitError, sqlite3.Error, OSError) as err:
            raise DatabaseError(f"cannot open {self.path} ({err})") from err


def _open(path: Path, schema: str, version: int, owner: str) -> sqlite3.Connection:
    sql = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _prepare(sql, schema, version, owner)
    except BaseException:
        sql.close()
        raise
    return sql


def _prepare(sql: sqlite3.Connection, schema: str, version: int, owner: str) -> None:
    sql.row_factory = sqlite3.Row
    for setting in _SETTINGS:
        sql.execute(f"PRAGMA {setting}")
    (sound,) = sql.execute("PRAGMA quick_check(1)").fetchone()
    if sound != "ok":
        raise _UnfitError(f"the file is damaged: {sound}")
    (found,) = sql.execute("PRAGMA user_version").fetchone()
    if found not in (0, version):
        raise _UnfitError(f"written by another version of Tequio (format {found})")
    if found == 0:
        begin = "CREATE TABLE owner (name TEXT NOT NULL)"
        sql.executescript(f"BEGIN IMMEDIATE; {begin}; {schema}; PRAGMA user_version={version};")
        sql.execute("INSERT INTO owner VALUES (?)", (owner,))
        sql.execute("COMMIT")
    ((known,),) = sql.execute("SELECT name FROM owner").fetchall()
    if known != owner:
        raise _UnfitError(f"belongs to another key: {known}")


def _set_aside(path: Path) -> Path:
    """Rename the file together with SQLite's journal files."""
    names = [path.with_name(f"{path.name}.kept-{number}") for number in range(1, MAX_SET_ASIDE + 1)]
    aside = next((name for name in names if not name.exists()), names[-1])
    files.move(path, aside)
    for ending in _BESIDE:
        with suppress(FileNotFoundError):
            files.move(path.with_name(path.name + ending), aside.with_name(aside.name + ending))
    return aside


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOutcome:
    """The outcome of a round for one key; amounts in GFLOP.

    `state` is `verified` if the key earned something or had nothing to train, else `rejected`.
    `reason` tells why training earned nothing: `void`, `silent`, `not-selected` or the protocol's
    name for the reason of the rejection; `no-points` if the key had nothing to train and earned
    nothing as a witness; `not-audited` if it was to audit besides, and no report of it counted.
    """

    state: str
    reason: str = ""
    trained: int = 0
    witnessed: int = 0
    received: int = 0
    """For the work of other keys."""
    audited_round: int = 0
    """Round of the contribution that the key repeated, if it trained nothing. Not stored."""

    @property
    def gflop(self) -> int:
        return self.trained + self.witnessed + self.received


VOIDED = RoundOutcome(state=REJECTED, reason=VOID)


def closed_outcome(roster: Roster, result: RoundResult, key: PeerKey) -> RoundOutcome:
    """Outcome of a closed round for a key.

    Raises PeerError when the key had no slot in it and received nothing. O(slots).
    """
    if len(result.slots) != len(roster.members):
        raise PeerError("the round's result has not one row for each slot")
    received = sum(row.received.get(key, 0) for row in result.slots)
    slot = next((at for at, member in enumerate(roster.members) if member.key == key), None)
    if slot is None and not received:
        raise PeerError("the round's documents have no slot of this key, and no points for it")
    if slot is None:
        return RoundOutcome(state=VERIFIED, received=received)
    row = result.slots[slot]
    audited_round = next((order.round for order in roster.audits if order.slot == slot), 0)
    reason = _reason(row, had_windows=roster.members[slot].share > 0)
    if reason == NO_POINTS and audited_round:
        reason = NOT_AUDITED
    earned = row.trainer_gflop + row.witness_gflop
    return RoundOutcome(
        state=VERIFIED if earned or reason in {"", NO_POINTS, NOT_AUDITED} else REJECTED,
        reason=reason,
        trained=row.trainer_gflop,
        witnessed=row.witness_gflop,
        received=received,
        audited_round=audited_round if row.verdict == Verdict.AUDITED else 0,
    )


def is_receiver(result: RoundResult, key: PeerKey) -> bool:
    """Return whether a commitment of that round gave the key points; O(slots)."""
    return any(key in row.received for row in result.slots)


def _reason(row: SlotResult, *, had_windows: bool) -> str:
    match row.verdict:
        case Verdict.ACCEPTED | Verdict.AUDITED:
            return ""
        case Verdict.NOT_SELECTED:
            return NOT_SELECTED
        case Verdict.SILENT if had_windows:
            return SILENT
        case Verdict.SILENT:
            return "" if row.witness_gflop else NO_POINTS
    try:
        return RejectionReason(row.reason).name.lower().replace("_", "-")
    except ValueError:  # of a later version
        return f"reason-{row.reason}"


SCHEMA = """
CREATE TABLE round (
    number INTEGER PRIMARY KEY, run TEXT NOT NULL, run_name TEXT NOT NULL, round INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'pending', reason TEXT NOT NULL DEFAULT '',
    trained INTEGER NOT NULL DEFAULT 0, witnessed INTEGER NOT NULL DEFAULT 0,
    received INTEGER NOT NULL DEFAULT 0,
    device TEXT NOT NULL DEFAULT '', tokens INTEGER NOT NULL DEFAULT 0,
    energy_j REAL NOT NULL DEFAULT 0, loss REAL,
    entry INTEGER, size INTEGER, root TEXT NOT NULL DEFAULT '', ending TEXT,
    UNIQUE (run, round)
);
CREATE INDEX round_run ON round (run, number);
CREATE INDEX round_at ON round (at_ms);
CREATE INDEX round_state ON round (state, entry, trained, witnessed, received);
CREATE TABLE earned (run TEXT PRIMARY KEY, first INTEGER NOT NULL, gflop INTEGER NOT NULL);
CREATE TRIGGER round_settled AFTER UPDATE OF state ON round
WHEN old.state = 'pending' AND new.state != 'pending'
AND new.trained + new.witnessed + new.received > 0
BEGIN
    INSERT INTO earned VALUES (new.run, new.round, new.trained + new.witnessed + new.received)
    ON CONFLICT (run) DO UPDATE
    SET first = MIN(first, excluded.first), gflop = gflop + excluded.gflop;
END;
CREATE TABLE gap (high INTEGER PRIMARY KEY, low INTEGER NOT NULL);
CREATE TABLE head (
    run TEXT NOT NULL, round INTEGER NOT NULL, bits_per_byte REAL NOT NULL,
    PRIMARY KEY (run, round)
);
CREATE TABLE mark (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_FORGET = (
    "UPDATE round SET entry = NULL, ending = NULL, reason = '', trained = 0, witnessed = 0, "
    "received = 0 WHERE state = 'pending' AND ending IS NOT NULL AND (?1 = '' OR run = ?1)"
)
_END = (
    "UPDATE round SET at_ms = ?, entry = ?, ending = ?, reason = ?, trained = ?, witnessed = ?, "
    "received = ? WHERE number = ? AND state = 'pending'"
)
_SETTLE = (
    "UPDATE round SET state = ending, ending = NULL, size = ?, root = ? "
    "WHERE state = 'pending' AND ending IS NOT NULL AND entry < ? AND run = ?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlace:
    """A round as the database identifies it; `number` is the log index of its roster."""

    number: int
    run: str
    run_name: str
    round: int
    at_ms: int


class PointsDatabase:
    """The points database of one key. Any method may raise DatabaseError, on any thread."""

    def __init__(self, file: DatabaseFile) -> None:
        self.file = file
        self.changes = 0  # count of changes, for callers that cache results
        self.on_end: Callable[[RoundPlace, RoundOutcome], None] = lambda _, __: None
        """Called in the event loop when the end of a round is read."""
        self._unproven: dict[int, tuple[str, int]] = {}
        """Run and log index of the last entry, by round; set by `record_end`."""
        self.forget_unproven()

    @classmethod
    def opened(cls, folder: Path, key: PeerKey) -> Self:
        """Open the database of that key in a worker's folder; raises UserFacingError."""
        try:
            return cls(DatabaseFile(folder / FILE, SCHEMA, version=VERSION, owner=to_text(key)))
        except DatabaseError as err:
            raise UserFacingError(f"{err}: free some space, or choose another --dir") from err

    def close(self) -> None:
        self.file.close()

    def forget_unproven(self, run: str = "") -> None:
        """Drop a run's outcomes (all) that were never proven; their rounds are pending again."""
        kept = {number: one for number, one in self._unproven.items() if run not in ("", one[0])}
        self._unproven = kept
        self._write(_FORGET, run)

    def add_round(self, place: RoundPlace) -> None:
        """Add a round in which this key has a slot; an existing row stays as it is."""
        self._write(
            "INSERT OR IGNORE INTO round (number, run, run_name, round, at_ms) "
            "VALUES (?, ?, ?, ?, ?)",
            *dataclasses.astuple(place),
        )

    def record_work(self, number: int, device: str, tokens: int, loss: float | None) -> None:
        """Record the work done in a round, as measured on this computer."""
        query = "UPDATE round SET device = ?, tokens = ?, loss = ? WHERE number = ?"
        self._write(query, device, tokens, loss, number)

    def add_energy(self, number: int, joules: float) -> None:
        self._write("UPDATE round SET energy_j = energy_j + ? WHERE number = ?", joules, number)

    def record_measurement(self, run: str, number: int, bits_per_byte: float) -> None:
        """Record the measured loss of the head after a round; a later measurement replaces it."""
        self._write("INSERT OR REPLACE INTO head VALUES (?, ?, ?)", run, number, bits_per_byte)

    def record_end(self, place: RoundPlace, entry: int, outcome: RoundOutcome) -> None:
        """Record the outcome of a round, which is pending until its last entry is proven."""
        self.add_round(place)
        self._write(_END, *_ending(place, entry, outcome))
        self._unproven[place.number] = place.run, entry

    def mark_proven(self, run: str, size: int, checkpoint: Checkpoint) -> int:
        """Mark the first `size` log entries as proven; returns how many rounds that settles.

        Only rounds of that run: each run has its reader of the log, which proves what it has read.
        """
        # Called for each checkpoint, so the disk is left alone if no round is waiting.
        waiting = list(self._unproven.items())
        proven = [number for number, (of, entry) in waiting if of == run and entry < size]
        if not proven:
            return 0
        ended = self._write(_SETTLE, checkpoint.size, to_text(checkpoint.root), size, run)
        for number in proven:
            self._unproven.pop(number, None)
        return ended

    def record_proven_end(
        self, place: RoundPlace, entry: int, outcome: RoundOutcome, checkpoint: Checkpoint
    ) -> None:
        """Record the outcome of a round whose last entry was proven on its own."""
        self.add_round(place)
        with self.file.writing() as sql:
            sql.execute(_END, _ending(place, entry, outcome))
            sql.execute(
                "UPDATE round SET state = ending, ending = NULL, size = ?, root = ? "
                "WHERE number = ? AND state = 'pending'",
                (checkpoint.size, to_text(checkpoint.root), place.number),
            )
        self.changes += 1

    def is_settled(self, number: int) -> bool:
        query = "SELECT 1 FROM round WHERE number = ? AND state != ?"
        return bool(self.file.rows(query, number, PENDING))

    def verified_below(self, size: int) -> int:
        """Proven GFLOP of rounds that ended below that log size."""
        ((amount,),) = self.file.rows(
            "SELECT COALESCE(SUM(trained + witnessed + received), 0) FROM round "
            "WHERE state != 'pending' AND entry < ?",
            size,
        )
        return int(amount)

    def gaps(self) -> list[tuple[int, int]]:
        """Ranges of log indices [low, high) whose rounds are not checked yet, the newest first."""
        rows = self.file.rows("SELECT low, high FROM gap ORDER BY high DESC")
        return [(row["low"], row["high"]) for row in rows]

    def open_gap(self, high: int) -> None:
        """Add the range below `high`, down to where the last range began, as not checked yet."""
        with self.file.writing() as sql:
            found = sql.execute("SELECT value FROM mark WHERE name = 'top'").fetchone()
            low = int(found["value"]) if found else 0
            if high > low:
                sql.execute("INSERT OR REPLACE INTO gap VALUES (?, ?)", (high, low))
                sql.execute("INSERT OR REPLACE INTO mark VALUES ('top', ?)", (str(high),))

    def narrow_gap(self, high: int, done: int) -> None:
        """Mark the range [done, high) as checked."""
        with self.file.writing() as sql:
            (low,) = sql.execute("SELECT low FROM gap WHERE high = ?", (high,)).fetchone()
            sql.execute("DELETE FROM gap WHERE high = ?", (high,))
            if done > low:
                sql.execute("INSERT OR REPLACE INTO gap VALUES (?, ?)", (done, low))

    def read_below(self, former: PeerKey) -> int:
        """Log index below which the rounds of a key whose place this one took were read."""
        found = self.file.rows("SELECT value FROM mark WHERE name = ?", f"below:{to_text(former)}")
        return int(found[0]["value"]) if found else 0

    def store_read_below(self, former: PeerKey, index: int) -> None:
        mark = f"below:{to_text(former)}", str(index)
        with self.file.writing() as sql:
            sql.execute("INSERT OR REPLACE INTO mark VALUES (?, ?)", mark)

    def reopen_all(self) -> None:
        with self.file.writing() as sql:
            sql.execute("DELETE FROM gap")
            sql.execute("DELETE FROM mark WHERE name = 'top' OR name GLOB 'below:*'")

    def last_checkpoint(self, origin: str) -> Checkpoint | None:
        """The newest checkpoint used to prove single rounds."""
        found = self.file.rows("SELECT value FROM mark WHERE name = 'checkpoint'")
        if not found:
            return None
        size, _, root = found[0]["value"].partition(" ")
        return Checkpoint(origin=origin, size=int(size), root=digest_from_text(root))

    def store_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint, which the next one must continue."""
        value = f"{checkpoint.size} {to_text(checkpoint.root)}"
        with self.file.writing() as sql:
            sql.execute("INSERT OR REPLACE INTO mark VALUES ('checkpoint', ?)", (value,))

    def _write(self, statement: str, *values: object) -> int:
        with self.file.writing() as sql:
            changed = sql.execute(statement, values).rowcount
        self.changes += changed > 0
        return changed


def _ending(place: RoundPlace, entry: int, outcome: RoundOutcome) -> tuple[object, ...]:
    earned = outcome.trained, outcome.witnessed, outcome.received
    return place.at_ms, entry, outcome.state, outcome.reason, *earned, place.number
