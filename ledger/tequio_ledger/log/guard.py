"""May this ledger sign? A ledger that lost entries must not: it would fork its log.

Rules: a folder that was restored from a backup is marked, and signs nothing until a person has
confirmed that nobody holds more of the log. A checkpoint under our own signature that the log
does not hold (larger, or of other entries) is proof that entries were lost, whoever shows it and
whenever: from then on nothing is signed, also after a restart. The mark is a file in the folder,
or a row in a database that several processes share; there is none while all is well.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Protocol

import msgspec
import structlog
from msgspec import Struct

from tequio_ledger.log.checkpoint import NOTHING
from tequio_ledger.log.proofs import root_at
from tequio_ledger.store import files, log_rows
from tequio_shared.errors import PeerError, TequioError, UserFacingError
from tequio_shared.notes import VerifierKey, open_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.log.checkpoint import Published
    from tequio_ledger.store.engine import Database
    from tequio_shared.genesis import Genesis


_MOST_BYTES = 1 << 17

log = structlog.get_logger(__name__)


class Recall(Protocol):
    """What others remember of the log."""

    def notes(self) -> list[bytes]:
        """Give the checkpoints that they keep; raises NotSigningError when too few answer."""


class Cause(enum.Enum):
    """Why a ledger does not sign."""

    RESTORED = "restored"
    """It comes from a backup; somebody may hold more of the log."""
    LOST = "lost"
    """Somebody does."""
    MOVED = "moved"
    """It goes on in another database."""
    UNFINISHED = "unfinished"
    """Not all of it has been moved here yet."""


class Mark(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the file in the folder says."""

    cause: Cause
    size: int
    """Entries that the log had."""
    shown: str = ""
    """The checkpoint that the log does not hold, as it was signed."""
    shown_size: int = 0
    former: Mark | None = None
    """With MOVED: why nothing was signed here before that; the target inherits it."""


class NotSigningError(UserFacingError):
    """The guard forbids to sign."""


class Guard:
    """Knows whether to sign; `check` before each signature, `judge` what strangers show."""

    def __init__(self, path: Path, genesis: Genesis, database: Database | None = None) -> None:
        """Read the mark, in the database if that is shared; raises UserFacingError."""
        self._path = path
        self._database = database if database and database.is_shared else None
        self._log_key = VerifierKey.parse(genesis.log_key)
        self.mark: Mark | None = None
        self.recall: Recall | None = None
        """Asked before a process signs for the first time; None: there are no witnesses."""
        self.refresh()
        self.seen = 0
        """Checkpoints shown so far that the log does hold."""
        self.seen_size = 0
        """Size of the largest of them."""

    @property
    def reason(self) -> str | None:
        """Why nothing may be signed, and the way out; None while it may."""
        return None if self.mark is None else explain(self.mark)

    def refresh(self) -> None:
        """Read the mark anew: another process may have set it. Raises UnwritableError."""
        self.mark = mark_of(self._path, self._database)

    def check_office(self, database: Database) -> None:
        """Hold the log against what its witnesses remember, then `check`; blocks.

        Raises NotSigningError, also when too few witnesses answer.
        """
        if self.recall is not None:
            for note in self.recall.notes():
                try:
                    self.judge(note, NOTHING, database)
                except PeerError as err:
                    log.warning("what a witness keeps is not ours", why=str(err))
        self.check()

    def check(self) -> None:
        """Raise NotSigningError unless the log may be signed."""
        if self.reason is not None:
            raise NotSigningError(self.reason)

    def judge(self, note: bytes, published: Published, database: Database) -> bool:
        """Say whether the log holds a checkpoint; if not, sign nothing from here on.

        Blocks. Raises PeerError when it is not a checkpoint under our signature.
        """
        shown = open_checkpoint(note, self._log_key).checkpoint
        with database.reader.begin() as connection:
            last = log_rows.read_last_checkpoint(connection)  # another process may be ahead of us
            held = last is not None and shown.size <= last.size
            if held and root_at(connection, shown.size) == shown.root:
                self.seen += 1
                self.seen_size = max(self.seen_size, shown.size)
                return True
        size = max(published.size, last.size if last else 0)
        stop = Mark(cause=Cause.LOST, size=size, shown=note.decode(), shown_size=shown.size)
        self._stop(stop)
        return False

    def confirm(self) -> None:
        """Take the mark away: a person says that nobody holds more. Raises NotSigningError."""
        if self.mark is not None and self.mark.cause is not Cause.RESTORED:
            raise NotSigningError(explain(self.mark))
        if self._database is None:
            self._path.unlink(missing_ok=True)
            files.sync_folder(self._path.parent)
        else:
            with self._database.passing_errors(), self._database.writer.begin() as connection:
                log_rows.delete_mark(connection)
        self.mark = None

    def _stop(self, mark: Mark) -> None:
        if self.mark is not None and self.mark.cause is not Cause.RESTORED:
            return
        self.mark = mark  # first: whatever the disk says, nothing more is signed
        log.error("stopped signing", reason=self.reason)
        try:
            self._keep(mark)
        except (OSError, TequioError) as err:
            why = files.explain(err, self._path) if isinstance(err, OSError) else str(err)
            log.error("the reason could not be kept", error=why)  # noqa: TRY400 - the sentence says it

    def _keep(self, mark: Mark) -> None:
        if self._database is None:
            write_mark(self._path, mark)
            return
        with self._database.passing_errors(), self._database.writer.begin() as connection:
            log_rows.write_mark(connection, msgspec.json.encode(mark))


def explain(mark: Mark) -> str:
    """Say in one sentence why nothing is signed, and the way out."""
    return f"{what(mark)}: {way_out(mark)}"


def what(mark: Mark) -> str:
    """Say why nothing is signed."""
    if mark.cause is Cause.RESTORED:
        return (
            f"this ledger was restored from a backup of {mark.size} entries and signs nothing yet"
        )
    if mark.cause is Cause.MOVED:
        return f"this log was moved to another database when it had {mark.size} entries"
    if mark.cause is Cause.UNFINISHED:
        return f"a log of {mark.size} entries was not moved here to its end"
    return (
        f"somebody holds a checkpoint of {mark.shown_size} entries under this log's signature that "
        f"this log of {mark.size} entries does not contain, so entries were lost and nothing is "
        "signed"
    )


def way_out(mark: Mark) -> str:
    """Say what a person can do."""
    if mark.cause is Cause.RESTORED:
        return (
            "when its clients have shown what they hold, stop it and run "
            "`tequio-ledger restore --confirm`"
        )
    if mark.cause is Cause.MOVED:
        return "serve that one, by its --database"
    if mark.cause is Cause.UNFINISHED:
        return "run the same `tequio-ledger move` again"
    return "restore a newer backup, or found a network under another origin"


def mark_of(path: Path, database: Database | None) -> Mark | None:
    """Read the mark of a ledger, in its database if that is shared; raises TequioError.

    The file of a folder that has one says no more than why its own database signs nothing.
    """
    if database is None or not database.is_shared:
        return read_mark(path)
    with database.passing_errors(), database.reader.begin() as connection:
        row = log_rows.read_mark(connection)
    return None if row is None else msgspec.json.decode(row, type=Mark)


def read_mark(path: Path) -> Mark | None:
    """Read the mark; None when there is none. Raises UserFacingError."""
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MOST_BYTES), type=Mark)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as err:
        raise UserFacingError(
            f"{path} cannot be read ({err}), so nothing is signed: restore the folder anew"
        ) from err


def write_mark(path: Path, mark: Mark) -> None:
    """Mark a folder; durable when this returns. Raises OSError."""
    files.write_file(path, msgspec.json.encode(mark))
