"""The points book: every round that this key had a slot in, and what of it has been proven here.

Rules. A round is known by the log index of its roster, which rises with time and is the same in
every life. What a round came to is noted as soon as it is read, and counts only when its last
entry was proven to be in a log whose checkpoint this worker has checked: until then the row is
pending. A row that was proven is never changed again. What is not proven yet when the book is
opened is forgotten: the proof of an earlier life may never have come.

Amounts in micro-points, times in milliseconds since 1970 by the coordinator's clock, so that the
clock of this computer orders nothing. The book can be written anew from the ledger; what it alone
knows (device, tokens, energy, loss) is for eyes.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import structlog

from tequio_shared.errors import PeerError, TequioError, UserFacingError
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.log.notes import Checkpoint
from tequio_shared.round.proof import Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_shared.ids import PeerKey
    from tequio_shared.round.documents import Result, Roster, SlotResult

# --- A small SQLite file that the worker keeps beside its keys: opened, checked, written by one.
#
# Rules. A file that is damaged, of a newer program or of another owner is kept aside under
# another name, and a new one is begun: no book holds what cannot be had again or done without.
# What a transaction wrote is there after the process is killed, whole or not at all. One
# connection, one lock: calls may come from any thread, and block for milliseconds.

log = structlog.get_logger(__name__)

KEPT = 5
"""Files that were kept aside; the next one takes the place of the last."""
_BESIDE = ("-wal", "-shm")
_CACHE = "cache_size=-256"  # KiB; the system keeps the rest of the file at hand
_SETTINGS = ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=2000", _CACHE)


class BookError(TequioError):
    """The book cannot be read or written now: its disk is full, or it was damaged meanwhile."""


class _UnfitError(Exception):
    """The file is no book of ours."""


class BookFile:
    """One open book; `close` when done."""

    def __init__(self, path: Path, schema: str, *, version: int, owner: str = "") -> None:
        """Open or begin the book; raises BookError when its folder cannot be written."""
        self.path = path
        self.kept_aside: Path | None = None
        """Where the file lies that was there and did not fit."""
        self._lock = threading.Lock()
        self._sql = self._opened(schema, version, owner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._sql.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, all of it or nothing; raises BookError."""
        with self._lock:
            try:
                self._sql.execute("BEGIN IMMEDIATE")
                yield self._sql
                self._sql.execute("COMMIT")
            except sqlite3.Error as err:
                raise BookError(f"{self.path} cannot be written: {err}") from err
            finally:
                if self._sql.in_transaction:
                    with suppress(sqlite3.Error):
                        self._sql.execute("ROLLBACK")

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Read; raises BookError."""
        with self._lock:
            try:
                return self._sql.execute(query, values).fetchall()
            except sqlite3.Error as err:
                raise BookError(f"{self.path} cannot be read: {err}") from err

    def _opened(self, schema: str, version: int, owner: str) -> sqlite3.Connection:
        try:
            try:
                return _open(self.path, schema, version, owner)
            except (_UnfitError, sqlite3.DatabaseError) as err:
                if not self.path.exists() or _is_no_fault_of_the_file(err):
                    raise BookError(f"{self.path} cannot be used: {err}") from err
                self.kept_aside = _keep_aside(self.path)
                log.warning("kept a book aside", kept=str(self.kept_aside), why=str(err))
                return _open(self.path, schema, version, owner)
        except (_UnfitError, sqlite3.Error, OSError) as err:
            raise BookError(f"{self.path} cannot be used: {err}") from err


def _is_no_fault_of_the_file(err: Exception) -> bool:
    """Whether disk or folder refuse, which another file would not change."""
    return isinstance(err, sqlite3.OperationalError)


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
        raise _UnfitError(f"it is damaged: {sound}")
    (found,) = sql.execute("PRAGMA user_version").fetchone()
    if found > version:
        raise _UnfitError(f"a newer program wrote it (version {found})")
    if found < version:
        begin = "CREATE TABLE owner (name TEXT NOT NULL)"
        sql.executescript(f"BEGIN IMMEDIATE; {begin}; {schema}; PRAGMA user_version={version};")
        sql.execute("INSERT INTO owner VALUES (?)", (owner,))
        sql.execute("COMMIT")
    ((known,),) = sql.execute("SELECT name FROM owner").fetchall()
    if known != owner:
        raise _UnfitError(f"it is another's: {known}")


def _keep_aside(path: Path) -> Path:
    """Rename the file and what SQLite keeps beside it."""
    names = [path.with_name(f"{path.name}.kept-{number}") for number in range(1, KEPT + 1)]
    kept = next((name for name in names if not name.exists()), names[-1])
    path.replace(kept)
    for ending in _BESIDE:
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).replace(kept.with_name(kept.name + ending))
    return kept


# --- What a round that is over made of one key: pure, from its documents.

VERIFIED, REJECTED, PENDING = "verified", "rejected", "pending"
VOID, SILENT, NOT_SELECTED, NO_POINTS = "void", "silent", "not-selected", "no-points"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a round ended for one key; amounts in micro-points.

    `state` is `verified` for who earned something or had nothing to train, else `rejected`.
    `reason` says why training gave nothing: `void`, `silent`, `not-selected` or the reason of the
    rejection by its name in the protocol; `no-points` for who had nothing to train and earned
    nothing as a witness.
    """

    state: str
    reason: str = ""
    trained: int = 0
    witnessed: int = 0

    @property
    def micropoints(self) -> int:
        """All of it."""
        return self.trained + self.witnessed


VOIDED = Outcome(state=REJECTED, reason=VOID)


def closed(roster: Roster, result: Result, key: PeerKey) -> Outcome:
    """What a closed round made of a key; raises PeerError when it had no slot there."""
    slot = next((at for at, member in enumerate(roster.members) if member.key == key), None)
    if slot is None or len(result.slots) != len(roster.members):
        raise PeerError("the round's documents have no slot of this key")
    row = result.slots[slot]
    reason = _reason(row, had_windows=roster.members[slot].share > 0)
    earned = row.trainer_micropoints + row.witness_micropoints
    return Outcome(
        state=VERIFIED if earned or reason in {"", NO_POINTS} else REJECTED,
        reason=reason,
        trained=row.trainer_micropoints,
        witnessed=row.witness_micropoints,
    )


def _reason(row: SlotResult, *, had_windows: bool) -> str:
    match row.verdict:
        case Verdict.ACCEPTED:
            return ""
        case Verdict.NOT_SELECTED:
            return NOT_SELECTED
        case Verdict.SILENT if had_windows:
            return SILENT
        case Verdict.SILENT:
            return "" if row.witness_micropoints else NO_POINTS
    try:
        return Reason(row.reason).name.lower().replace("_", "-")
    except ValueError:  # of a later version
        return f"reason-{row.reason}"


FILE = "points.sqlite"
VERSION = 1
SCHEMA = """
CREATE TABLE round (
    number INTEGER PRIMARY KEY, run TEXT NOT NULL, run_name TEXT NOT NULL, round INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'pending', reason TEXT NOT NULL DEFAULT '',
    trained INTEGER NOT NULL DEFAULT 0, witnessed INTEGER NOT NULL DEFAULT 0,
    device TEXT NOT NULL DEFAULT '', tokens INTEGER NOT NULL DEFAULT 0,
    energy_j REAL NOT NULL DEFAULT 0, loss REAL,
    entry INTEGER, size INTEGER, root TEXT NOT NULL DEFAULT '', ending TEXT,
    UNIQUE (run, round)
);
CREATE INDEX round_run ON round (run, number);
CREATE INDEX round_at ON round (at_ms);
CREATE INDEX round_state ON round (state, entry, trained, witnessed);
CREATE TABLE gap (high INTEGER PRIMARY KEY, low INTEGER NOT NULL);
CREATE TABLE head (
    run TEXT NOT NULL, round INTEGER NOT NULL, bits_per_byte REAL NOT NULL,
    PRIMARY KEY (run, round)
);
CREATE TABLE mark (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_FORGET = (
    "UPDATE round SET entry = NULL, ending = NULL, reason = '', trained = 0, witnessed = 0 "
    "WHERE state = 'pending' AND ending IS NOT NULL"
)
_END = (
    "UPDATE round SET at_ms = ?, entry = ?, ending = ?, reason = ?, trained = ?, witnessed = ? "
    "WHERE number = ? AND state = 'pending'"
)
_SETTLE = (
    "UPDATE round SET state = ending, ending = NULL, size = ?, root = ? "
    "WHERE state = 'pending' AND ending IS NOT NULL AND entry < ?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A round in the book: the index of its roster, which run, which round, when."""

    number: int
    run: str
    run_name: str
    round: int
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What was done in a round, as this computer measured it."""

    device: str
    tokens: int
    loss: float | None = None


class PointsBook:
    """One key's book. Every method may raise BookError and be called from any thread."""

    def __init__(self, file: BookFile) -> None:
        self.file = file
        self.changes = 0
        """Rises with every change, for who wants to know whether to look again."""
        self.on_end: Callable[[Place, Outcome], None] = lambda _, __: None
        """Told how a round ended as soon as its end is read, in the event loop."""
        self._unproven: dict[int, int] = {}  # entry by number, of ends that were noted by `end`
        self.forget_unproven()

    @classmethod
    def opened(cls, folder: Path, key: PeerKey) -> Self:
        """Open the book of that key in a worker's folder; raises UserFacingError."""
        try:
            return cls(BookFile(folder / FILE, SCHEMA, version=VERSION, owner=to_text(key)))
        except BookError as err:
            raise UserFacingError(f"{err}: make room, or give another --dir") from err

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def forget_unproven(self) -> None:
        """Forget how rounds ended whose proof has not come; they are pending as before."""
        self._unproven = {}
        self._write(_FORGET)

    # --- what happened

    def begin(self, place: Place) -> None:
        """Note a round that we have a slot in; one that is there stays as it is."""
        self._write(
            "INSERT OR IGNORE INTO round (number, run, run_name, round, at_ms) "
            "VALUES (?, ?, ?, ?, ?)",
            place.number,
            place.run,
            place.run_name,
            place.round,
            place.at_ms,
        )

    def work(self, number: int, done: Work) -> None:
        """Note what was done in a round."""
        self._write(
            "UPDATE round SET device = ?, tokens = ?, loss = ? WHERE number = ?",
            done.device,
            done.tokens,
            done.loss,
            number,
        )

    def spend(self, number: int, joules: float) -> None:
        """Note that the work in a round took so much more energy."""
        self._write("UPDATE round SET energy_j = energy_j + ? WHERE number = ?", joules, number)

    def measured(self, run: str, number: int, bits_per_byte: float) -> None:
        """Note how good the head after a round is; measured again, the newer figure counts."""
        self._write("INSERT OR REPLACE INTO head VALUES (?, ?, ?)", run, number, bits_per_byte)

    def end(self, place: Place, entry: int, outcome: Outcome) -> None:
        """Note how a round ended, by that log entry; it counts when `prove` reaches the entry."""
        self.begin(place)
        self._write(_END, *_ending(place, entry, outcome))
        self._unproven[place.number] = entry

    def prove(self, size: int, checkpoint: Checkpoint) -> int:
        """The first `size` entries follow from that checkpoint; says how many rounds that ends."""
        proven = [number for number, entry in list(self._unproven.items()) if entry < size]
        if not proven:  # told with each checkpoint: the disk need not hear of it
            return 0
        ended = self._write(_SETTLE, checkpoint.size, to_text(checkpoint.root), size)
        for number in proven:
            self._unproven.pop(number, None)
        return ended

    def end_proven(
        self, place: Place, entry: int, outcome: Outcome, checkpoint: Checkpoint
    ) -> None:
        """Note how a round ended, by an entry that was proven on its own."""
        self.begin(place)
        with self.file.writing() as sql:
            sql.execute(_END, _ending(place, entry, outcome))
            sql.execute(
                "UPDATE round SET state = ending, ending = NULL, size = ?, root = ? "
                "WHERE number = ? AND state = 'pending'",
                (checkpoint.size, to_text(checkpoint.root), place.number),
            )
        self.changes += 1

    def is_settled(self, number: int) -> bool:
        """Whether the round of that number was proven."""
        found = self.file.rows(
            "SELECT 1 FROM round WHERE number = ? AND state != ?", number, PENDING
        )
        return bool(found)

    def verified(self, size: int) -> int:
        """What the entries below that log size were proven to give."""
        ((amount,),) = self.file.rows(
            "SELECT COALESCE(SUM(trained + witnessed), 0) FROM round "
            "WHERE state != 'pending' AND entry < ?",
            size,
        )
        return int(amount)

    # --- how far the ledger's list was looked through

    def gaps(self) -> list[tuple[int, int]]:
        """Log indices [low, high) whose rounds were not looked at yet, the newest first."""
        rows = self.file.rows("SELECT low, high FROM gap ORDER BY high DESC")
        return [(row["low"], row["high"]) for row in rows]

    def open_gap(self, high: int) -> None:
        """Rounds that ended below an index are to be looked at, down to where it was done last."""
        with self.file.writing() as sql:
            found = sql.execute("SELECT value FROM mark WHERE name = 'top'").fetchone()
            low = int(found["value"]) if found else 0
            if high > low:
                sql.execute("INSERT OR REPLACE INTO gap VALUES (?, ?)", (high, low))
                sql.execute("INSERT OR REPLACE INTO mark VALUES ('top', ?)", (str(high),))

    def narrow_gap(self, high: int, done: int) -> None:
        """Of the gap below `high`, all from index `done` on was looked at."""
        with self.file.writing() as sql:
            (low,) = sql.execute("SELECT low FROM gap WHERE high = ?", (high,)).fetchone()
            sql.execute("DELETE FROM gap WHERE high = ?", (high,))
            if done > low:
                sql.execute("INSERT OR REPLACE INTO gap VALUES (?, ?)", (done, low))

    def look_again(self) -> None:
        """Everything is to be looked at again; what was proven stays so."""
        with self.file.writing() as sql:
            sql.execute("DELETE FROM gap")
            sql.execute("DELETE FROM mark WHERE name = 'top'")

    def last_checked(self, origin: str) -> Checkpoint | None:
        """The newest checkpoint that single proofs were checked against."""
        found = self.file.rows("SELECT value FROM mark WHERE name = 'checkpoint'")
        if not found:
            return None
        size, _, root = found[0]["value"].partition(" ")
        return Checkpoint(origin=origin, size=int(size), root=digest_from_text(root))

    def remember_checked(self, checkpoint: Checkpoint) -> None:
        """Keep it, for the next one to continue it."""
        value = f"{checkpoint.size} {to_text(checkpoint.root)}"
        with self.file.writing() as sql:
            sql.execute("INSERT OR REPLACE INTO mark VALUES ('checkpoint', ?)", (value,))

    def _write(self, statement: str, *values: object) -> int:
        with self.file.writing() as sql:
            changed = sql.execute(statement, values).rowcount
        self.changes += changed > 0
        return changed


def _ending(place: Place, entry: int, outcome: Outcome) -> tuple[object, ...]:
    told = outcome.state, outcome.reason, outcome.trained, outcome.witnessed
    return place.at_ms, entry, *told, place.number
