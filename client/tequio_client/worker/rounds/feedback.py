"""The error feedback on disk: the part of this worker's updates that compression has held back.

Rules. There are at most two files: the *settled* feedback, after the last contribution that
counted, and the *open* one, after the contribution whose round is not over. The open one replaces
the settled one when its round closes with the contribution accepted, and is deleted otherwise. A
note says which is which. It is replaced atomically, after the files it names are on the disk and
before files it no longer names are deleted, so a process killed between any two steps resumes with
the same state as one that was not.

A file is named by the root in the contribution's header (`feedback_root`, docs/protocol.md). A file
that does not match its name is dropped, and training continues without error feedback.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import structlog

from tequio_client import files
from tequio_client.worker.store.trees import check_own_file, hash_tree_file
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.head.contribution import HEADER_BYTES, ContributionHeader
from tequio_shared.head.layout import CHUNK
from tequio_shared.ids import DIGEST_BYTES, ZERO_DIGEST, Digest, RunId, from_text, to_text

log = structlog.get_logger(__name__)

NOTE_FILE = "note.json"
PIECE_BYTES = 2 * CHUNK
"""One chunk as bfloat16."""
_NAME_DIGITS = 16


class _Note(msgspec.Struct, forbid_unknown_fields=True):
    settled: str = ""  # root of the settled file; empty: none
    open: str = ""  # header of the contribution whose round is not over; empty: none


class ErrorFeedback:
    """The feedback of one run in its folder; methods block on the disk: call them in a thread.

    Raises UserFacingError when the folder cannot be used.
    """

    def __init__(self, folder: Path, run: RunId) -> None:
        self._folder = folder / _name(run)
        with _explain_disk_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._note = self._read_note()
            self._drop_damaged()
            self._clear()

    @property
    def path(self) -> Path | None:
        """File that the next contribution starts from; None: start from zeros."""
        return self._folder / self._note.settled if self._note.settled else None

    @property
    def open_header(self) -> ContributionHeader | None:
        """Header of the contribution whose round is not known to be over."""
        return _header(self._note.open)

    def store(self, left: Path, header: ContributionHeader) -> None:
        """Move a contribution's feedback file in, and keep it until its round is settled.

        Raises PeerError when the file does not match the header.
        """
        root = header.feedback_root
        with _explain_disk_errors(self._folder):
            if root != ZERO_DIGEST:
                if left.exists():
                    check_own_file(left)
                if not left.exists() or _root(left) != root:
                    raise PeerError("the trainer's error feedback does not match its header")
                # File first, note second: a note never names a file that is not there.
                files.sync_and_rename(left, self._folder / to_text(root))
            self._write(_Note(settled=self._note.settled, open=to_text(header.pack())))

    def settle(self, round_number: int, *, was_accepted: bool) -> None:
        """Record how a round ended; does nothing if no contribution to it is open."""
        header = self.open_header
        if header is None or header.round > round_number:
            return
        # A contribution of an earlier round was not accepted: its round would have settled it.
        settled = self._note.settled
        if was_accepted and header.round == round_number:
            root = header.feedback_root
            settled = "" if root == ZERO_DIGEST else to_text(root)
        with _explain_disk_errors(self._folder):
            self._write(_Note(settled=settled))

    def remove(self) -> None:
        """Delete the run's feedback, when the run has ended."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, note: _Note) -> None:
        files.write_for_user(self._folder / NOTE_FILE, msgspec.json.encode(note))
        self._note = note
        # Deleted only now that the note on disk no longer names them.
        self._clear()

    def _clear(self) -> None:
        header = self.open_header
        named = {NOTE_FILE, self._note.settled, to_text(header.feedback_root) if header else ""}
        for path in self._folder.iterdir():
            if path.name not in named:
                path.unlink()

    def _read_note(self) -> _Note:
        path = self._folder / NOTE_FILE
        try:
            note = msgspec.json.decode(path.read_bytes(), type=_Note)
            _header(note.open)
            if note.settled:
                from_text(note.settled, DIGEST_BYTES)
        except FileNotFoundError:
            return _Note()
        except (msgspec.MsgspecError, UnicodeDecodeError, MalformedError) as err:
            # Losing the feedback costs only a little accuracy, so training goes on.
            log.warning("error feedback dropped: damaged note", error=str(err))
            return _Note()
        return note

    def _drop_damaged(self) -> None:
        """Forget files that do not match their names; an open contribution is trained again."""
        header = self.open_header
        if self._note.settled and not self._is_sound(self._note.settled):
            log.warning("error feedback dropped: damaged file", run=self._folder.name)
            self._note.settled = ""
        keeps = header is not None and header.feedback_root != ZERO_DIGEST
        if header and keeps and not self._is_sound(to_text(header.feedback_root)):
            log.warning("open error feedback dropped: damaged file", round=header.round)
            self._note.open = ""

    def _is_sound(self, name: str) -> bool:
        path = self._folder / name
        return path.exists() and path.stat().st_size > 0 and to_text(_root(path)) == name


@contextmanager
def _explain_disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        raise UserFacingError(
            f"cannot store error feedback in {folder} ({err.strerror or err}): check its "
            "permissions and free space"
        ) from err


def remove_ended(folder: Path, ended: Iterable[RunId]) -> None:
    """Delete the feedback of runs that ended while the worker was stopped."""
    for run in ended:
        shutil.rmtree(folder / _name(run), ignore_errors=True)


def _name(run: RunId) -> str:
    return run.hex()[:_NAME_DIGITS]


def _header(text: str) -> ContributionHeader | None:
    return ContributionHeader.parse(from_text(text, HEADER_BYTES)) if text else None


def _root(path: Path) -> Digest:
    with path.open("rb") as file:
        return hash_tree_file(file, PIECE_BYTES).ref.root
