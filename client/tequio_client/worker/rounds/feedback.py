"""The error feedback on disk: the part of this worker's updates that compression has held back.

Rules. The *settled* feedback is the one after the last contribution that counted, the *open* one
after the contribution whose round is not over. The open one replaces the settled one when its round
closes with the contribution accepted, and is deleted otherwise. Files of accepted contributions
stay for some rounds, as their audits open leaves of the feedback before and after sending.
A note says which file is which. It is replaced atomically, after the files it names are on the disk
and before files it no longer names are deleted, so a process killed between any two steps resumes
with the same state as one that was not.

A file is named by the root in the contribution's header (`feedback_root`, docs/protocol.md). A file
that does not match its name is dropped, and training continues without error feedback. So it does
when the log accepted a contribution whose feedback is not here (another disk, a restored backup):
a commitment that starts from any other feedback is refused.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import msgspec
import structlog

from tequio_client import files
from tequio_client.worker.lending.needs import FEEDBACK_ROUNDS
from tequio_client.worker.store.trees import check_own_file, hash_tree_file
from tequio_client.worker.swarm.feedback_leaves import LEAF_BYTES
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.head.contribution import HEADER_BYTES, ContributionHeader, contribution_id
from tequio_shared.ids import ZERO_DIGEST, Digest, RunId, digest_from_text, from_text, to_text

log = structlog.get_logger(__name__)

Parts: TypeAlias = tuple[tuple[str, int], ...]
"""Keys as text, ascending, each with its part in 1/1000."""
NOTE_FILE = "note.json"
_NAME_DIGITS = 16


class _Sent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An accepted contribution: its id, and roots of its feedback before and after sending.

    Empty roots: zeros.
    """

    round: int
    contribution: str
    before: str
    after: str


class _Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    settled: str = ""  # root of the settled file; empty: none
    open: str = ""  # header of the contribution whose round is not over; empty: none
    open_before: str = ""  # root of the feedback that it started with; empty: zeros
    open_parts: Parts = ()  # of its points, for other keys
    ended: int = 0  # the last round that is known to have ended
    past: tuple[_Sent, ...] = ()  # ascending rounds


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
    def start(self) -> Digest:
        """Root of the feedback that the next contribution starts with; ZERO_DIGEST: zeros."""
        return _root_of(self._note.settled)

    @property
    def path(self) -> Path | None:
        """File that the next contribution starts with; None: start from zeros."""
        return self._folder / self._note.settled if self._note.settled else None

    @property
    def open_header(self) -> ContributionHeader | None:
        """Header of the contribution whose round is not known to be over."""
        return _header(self._note.open)

    @property
    def open_start(self) -> Digest | None:
        """Root that this contribution started with; None if the feedback that it left is lost."""
        header = self.open_header
        is_there = header is not None and self._has(header.feedback_root)
        return _root_of(self._note.open_before) if is_there else None

    @property
    def open_parts(self) -> Parts:
        """Parts of this contribution's points, for other keys."""
        return self._note.open_parts

    @property
    def ended_round(self) -> int:
        """The last round that is known to have ended."""
        return self._note.ended

    def roots_of(self, round_number: int, contribution: str) -> tuple[Digest, ...]:
        """Roots of the feedback before and after that contribution; () if it cannot be audited."""
        return tuple(
            _root_of(name)
            for one in self._note.past
            if (one.round, one.contribution) == (round_number, contribution)
            for name in (one.before, one.after)
        )

    def file(self, root: Digest) -> Path | None:
        """File of this root, if it is of an accepted contribution that may still be audited."""
        name = to_text(root)
        if not any(name in (one.before, one.after) for one in self._note.past):
            return None
        path = self._folder / name
        return path if path.exists() else None

    def store(
        self, left: Path, header: ContributionHeader, before: Digest, parts: Parts = ()
    ) -> None:
        """Move a contribution's feedback file in, and keep it until its round is settled.

        `before` is the root that its training started with, `parts` those of its points. Raises
        PeerError when the file does not match the header.
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
            opened = msgspec.structs.replace(
                self._note,
                open=to_text(header.pack()),
                open_before=_name_of(before),
                open_parts=parts,
            )
            self._write(opened)

    def settle(
        self, round_number: int, accepted: Digest | None, *, is_audited: bool = False
    ) -> None:
        """Record how a round ended: the feedback root of this key's accepted work; None: none.

        `is_audited`: work that was not accepted may be audited all the same, so its files stay.
        Does nothing for a round that is known to have ended.
        """
        header, note = self.open_header, self._note
        if round_number <= note.ended:
            return
        settled, past = note.settled, note.past
        sent = header if header is not None and header.round == round_number else None
        if accepted is not None:
            # If what was accepted is not what is here, the next commitment must start from zeros.
            is_known = sent is not None and sent.feedback_root == accepted and self._has(accepted)
            settled = _name_of(accepted) if is_known else ""
            is_audited = is_known
        if sent is not None and is_audited:
            past = (*past, _sent(sent, note.open_before))
        # A contribution of an earlier round was not accepted: its round would have settled it.
        is_over = header is None or header.round <= round_number
        left = _Note() if is_over else note
        with _explain_disk_errors(self._folder):
            self._write(
                _Note(
                    settled=settled,
                    open=left.open,
                    open_before=left.open_before,
                    open_parts=left.open_parts,
                    ended=round_number,
                    past=tuple(one for one in past if one.round > round_number - FEEDBACK_ROUNDS),
                )
            )

    def start_over(self) -> None:
        """Forget the settled feedback: the log accepted other work since, or refuses this one."""
        with _explain_disk_errors(self._folder):
            self._write(msgspec.structs.replace(self._note, settled=""))

    def remove(self) -> None:
        """Delete the run's feedback, when the run has ended."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, note: _Note) -> None:
        files.write_for_user(self._folder / NOTE_FILE, msgspec.json.encode(note))
        self._note = note
        # Deleted only now that the note on disk no longer names them.
        self._clear()

    def _clear(self) -> None:
        note, header = self._note, self.open_header
        named = {NOTE_FILE, note.settled, note.open_before}
        named |= {name for one in note.past for name in (one.before, one.after)}
        if header is not None:
            named.add(to_text(header.feedback_root))
        for path in self._folder.iterdir():
            if path.name not in named:
                files.delete(path)

    def _has(self, root: Digest) -> bool:
        return root == ZERO_DIGEST or (self._folder / to_text(root)).exists()

    def _read_note(self) -> _Note:
        path = self._folder / NOTE_FILE
        try:
            note = files.read_record(path, _Note) or _Note()
            _header(note.open)
            for name in (note.settled, note.open_before):
                _root_of(name)
            for one in note.past:
                _root_of(one.before), _root_of(one.after)
        except MalformedError as err:
            # Losing the feedback costs only a little accuracy, so training goes on.
            log.warning("error feedback dropped: damaged note", error=str(err))
            return _Note()
        return note

    def _drop_damaged(self) -> None:
        """Delete files that do not match their names; an open contribution is trained again.

        Past files are hashed when a leaf of them is asked for.
        """
        header, settled = self.open_header, self._note.settled
        if settled and not self._is_sound(settled):
            log.warning("error feedback dropped: damaged file", run=self._folder.name)
            files.delete(self._folder / settled)
            self._note = msgspec.structs.replace(self._note, settled="")
        if header is None or header.feedback_root == ZERO_DIGEST:
            return
        name = to_text(header.feedback_root)
        # The note still names it: if the log accepts its contribution, nothing settled counts.
        if not self._is_sound(name):
            log.warning("open error feedback dropped: damaged file", round=header.round)
            files.delete(self._folder / name)

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


def open_payloads(folder: Path) -> set[Digest]:
    """Roots of the contributions of all runs whose rounds are not known to be over."""
    found = set()
    for path in folder.glob(f"*/{NOTE_FILE}"):
        with suppress(MalformedError, UserFacingError, OSError):  # told when its run is joined
            header = _header((files.read_record(path, _Note) or _Note()).open)
            if header is not None:
                found.add(header.payload_root)
    return found


def _name(run: RunId) -> str:
    return run.hex()[:_NAME_DIGITS]


def _name_of(root: Digest) -> str:
    return "" if root == ZERO_DIGEST else to_text(root)


def _root_of(name: str) -> Digest:
    return digest_from_text(name) if name else ZERO_DIGEST


def _header(text: str) -> ContributionHeader | None:
    return ContributionHeader.parse(from_text(text, HEADER_BYTES)) if text else None


def _sent(header: ContributionHeader, before: str) -> _Sent:
    return _Sent(
        round=header.round,
        contribution=to_text(contribution_id(header.pack())),
        before=before,
        after=_name_of(header.feedback_root),
    )


def _root(path: Path) -> Digest:
    with path.open("rb") as file:
        return hash_tree_file(file, LEAF_BYTES).ref.root
