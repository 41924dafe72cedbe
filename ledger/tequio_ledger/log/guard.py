"""Decides whether the ledger may sign: one that lost entries must not, as it would fork its log.

Rules: a folder that was restored from a backup is marked, and signs nothing until a person has
confirmed that nobody holds more of the log. A checkpoint with our signature that the log does not
contain (larger, or of other entries) proves that entries were lost, no matter who shows it or when:
from then on nothing is signed, even after a restart. The mark is a file in the folder, or a row in
a database that several processes share; there is none while all is well.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct

from tequio_ledger.log.proofs import root_at
from tequio_ledger.store import files, log_rows
from tequio_ledger.store.database import Database
from tequio_ledger.store.log_rows import SignedHead, StoredCheckpoint
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, PeerError, TequioError, UserFacingError
from tequio_shared.ids import Digest
from tequio_shared.log import merkle
from tequio_shared.log.notes import VerifierKey, open_checkpoint
from tequio_shared.network.genesis import Genesis

_MOST_BYTES = 1 << 17

log = structlog.get_logger(__name__)


def damaged_log(what: str) -> UserFacingError:
    """Make the error for a stored byte that is not what was written."""
    return UserFacingError(
        f"the stored log is damaged: {what}; nothing was signed: restore the data folder "
        "from a backup"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The signed state of the log that readers may see."""

    size: int
    root: Digest
    note: bytes


NOTHING = Published(size=0, root=merkle.EMPTY_ROOT, note=b"")


def newest(stored: StoredCheckpoint | None, head: SignedHead, log_key: str) -> Published:
    """Check a stored checkpoint: our signature, its row, and the log's head.

    Raises UserFacingError.
    """
    if stored is None:
        return NOTHING
    # A checkpoint behind the head is normal: the process was killed between commit and signature.
    # One ahead of it means that committed entries are gone.
    if stored.size > head.size:
        raise damaged_log(f"checkpoint {stored.size} is ahead of the log's {head.size} entries")
    # The row alone proves nothing: anyone with access to the database could have written it.
    try:
        checkpoint = open_checkpoint(stored.note, VerifierKey.parse(log_key)).checkpoint
    except PeerError as err:
        raise damaged_log(f"checkpoint {stored.size} is not signed by this log ({err})") from err
    if (checkpoint.size, checkpoint.root) != (stored.size, stored.root):
        raise damaged_log(f"checkpoint {stored.size} does not match its row")
    if stored.size == head.size and stored.root != head.root:
        raise damaged_log(f"checkpoint {stored.size} was signed over another root")
    return Published(size=stored.size, root=stored.root, note=stored.note)


class Cause(enum.Enum):
    """Reason why a ledger does not sign."""

    RESTORED = "restored"
    """The log comes from a backup; somebody may hold more of it."""
    LOST = "lost"
    """Somebody holds more of the log, or other entries."""
    MOVED = "moved"
    """The log continues in another database."""
    UNFINISHED = "unfinished"
    """The log has not been moved here completely."""


class Mark(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Content of the file `signing.json`."""

    cause: Cause
    size: int
    """Number of entries that the log had."""
    shown: str = ""
    """The checkpoint that the log does not contain, as it was signed."""
    shown_size: int = 0
    former: Mark | None = None
    """With MOVED: the mark before the move, which the target inherits."""


class NotSigningError(UserFacingError):
    """The guard forbids to sign."""


class Guard:
    """Allows or forbids signing: `check` before each signature, `judge` each checkpoint shown."""

    def __init__(self, path: Path, genesis: Genesis, database: Database) -> None:
        """Read the mark, in the database if that is shared; raises UserFacingError."""
        self._path = path
        self._database = database
        self._log_key = VerifierKey.parse(genesis.log_key)
        self.mark: Mark | None = None
        self.recall: Callable[[], list[bytes]] | None = None
        """Fetches the checkpoints that witnesses remember; raises NotSigningError.

        Called before a process signs for the first time; None without witnesses.
        """
        self.refresh()

    @property
    def reason(self) -> str | None:
        """Sentence that says why signing is forbidden and what to do; None while it is allowed."""
        return None if self.mark is None else explain(self.mark)

    def refresh(self) -> None:
        """Read the mark again: another process may have set it. Raises UnwritableError."""
        self.mark = mark_of(self._path, self._database)

    def check_before_leading(self, database: Database) -> None:
        """Compare the log with what its witnesses remember, then `check`; blocks.

        Raises NotSigningError, also when too few witnesses answer.
        """
        # A ledger that was rolled back to an old copy of its disk looks sound to itself: only
        # others can know of the entries that it lost.
        if self.recall is not None:
            for note in self.recall():
                try:
                    self.judge(note, NOTHING, database)
                except PeerError as err:  # proves nothing without our signature; ask the next one
                    log.warning("a witness's checkpoint is not signed by this log", why=str(err))
        self.check()

    def check(self) -> None:
        """Raise NotSigningError unless the log may be signed."""
        if self.reason is not None:
            raise NotSigningError(self.reason)

    def judge(self, note: bytes, published: Published, database: Database) -> bool:
        """Return whether the log contains a checkpoint; if not, forbid signing from now on.

        Blocks. Raises PeerError when it is not a checkpoint with our signature, so that strangers
        cannot stop the ledger with invented ones.
        """
        shown = open_checkpoint(note, self._log_key).checkpoint
        with database.reader.begin() as connection:
            last = log_rows.read_last_checkpoint(connection)  # another process may be ahead
            is_covered = last is not None and shown.size <= last.size
            if is_covered and root_at(connection, shown.size) == shown.root:
                return True
        size = max(published.size, last.size if last else 0)
        stop = Mark(cause=Cause.LOST, size=size, shown=note.decode(), shown_size=shown.size)
        self._stop(stop)
        return False

    def confirm(self) -> None:
        """Remove the mark: a person confirms that nobody holds more. Raises NotSigningError."""
        # Only that one: no person can confirm away a proof that entries were lost.
        if self.mark is not None and self.mark.cause is not Cause.RESTORED:
            raise NotSigningError(explain(self.mark))
        if self._database.is_shared:
            with self._database.translated_errors(), self._database.writer.begin() as connection:
                log_rows.delete_mark(connection)
        else:
            self._path.unlink(missing_ok=True)
            files.sync_folder(self._path.parent)
        self.mark = None

    def _stop(self, mark: Mark) -> None:
        if self.mark is not None and self.mark.cause is not Cause.RESTORED:
            return  # the first proof stays: a later one must not overwrite the evidence
        self.mark = mark  # before it is stored: even if the disk fails, nothing more is signed
        log.error("stopped signing", reason=self.reason)
        try:
            store_mark(self._path, self._database, mark)
        except (OSError, TequioError) as err:
            why = files.explain(err, self._path) if isinstance(err, OSError) else str(err)
            log.error("the reason could not be stored", error=why)  # noqa: TRY400 - the sentence says it


def explain(mark: Mark) -> str:
    """Explain in one sentence why nothing is signed, and what to do."""
    return f"{describe(mark)}: {remedy(mark)}"


def describe(mark: Mark) -> str:
    """Explain why nothing is signed."""
    return _TEXTS[mark.cause][0].format(size=mark.size, shown_size=mark.shown_size)


def remedy(mark: Mark) -> str:
    """Name what a person can do about it."""
    return _TEXTS[mark.cause][1]


_TEXTS = {
    Cause.RESTORED: (
        "this ledger was restored from a backup of {size} entries and signs nothing yet",
        "when its clients have shown what they hold, stop it and run "
        "`tequio-ledger restore --confirm`",
    ),
    Cause.MOVED: (
        "this log was moved to another database when it had {size} entries",
        "serve that one with its --database",
    ),
    Cause.UNFINISHED: (
        "moving a log of {size} entries to this database was interrupted",
        "run the same `tequio-ledger move` again",
    ),
    Cause.LOST: (
        "somebody holds a checkpoint of {shown_size} entries with this log's signature that this "
        "log of {size} entries does not contain, so entries were lost and nothing is signed",
        "restore a newer backup, or found a network under another origin",
    ),
}


def mark_of(path: Path, database: Database) -> Mark | None:
    """Read the mark of a ledger, in its database if that is shared; raises TequioError.

    With a shared database, a file in the folder concerns only the folder's former database.
    """
    if not database.is_shared:
        return read_mark(path)
    with database.translated_errors(), database.reader.begin() as connection:
        row = log_rows.read_mark(connection)
    return None if row is None else decode_mark(row)


def decode_mark(row: bytes) -> Mark:
    return msgspec.json.decode(row, type=Mark)


def read_mark(path: Path) -> Mark | None:
    """Read the mark; None when there is none. Raises UserFacingError."""
    try:
        with path.open("rb") as file:
            return encoding.read(file.read(_MOST_BYTES), Mark)
    except FileNotFoundError:
        return None
    except (OSError, MalformedError) as err:
        raise UserFacingError(
            f"{path} cannot be read ({err}), so nothing is signed: restore the folder again"
        ) from err


def store_mark(path: Path, database: Database, mark: Mark) -> None:
    """Forbid signing; durable when this returns. Raises OSError, TequioError."""
    # In a shared database, because each process of the ledger has a folder of its own: a mark in
    # one folder would not stop the others.
    if not database.is_shared:
        write_mark(path, mark)
        return
    with database.translated_errors(), database.writer.begin() as connection:
        log_rows.write_mark(connection, msgspec.json.encode(mark))


def write_mark(path: Path, mark: Mark) -> None:
    """Mark a folder; durable when this returns. Raises OSError."""
    files.write_file(path, msgspec.json.encode(mark))
