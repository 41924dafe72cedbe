"""Where a folder keeps the log's key, and who signs for the ledger that lives there.

A ledger whose key is in another process has the public key alone, in `log.pub`.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tequio_ledger.signing.signer import Memory, Notary, WouldForkError
from tequio_ledger.store import files
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.keys import check_key
from tequio_shared.log.notes import KeyKind, VerifierKey, from_base64, open_checkpoint, to_base64

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.data_folder import Folder
    from tequio_ledger.signing.signer import CheckpointSigner, Prove
    from tequio_shared.ids import PeerKey
    from tequio_shared.log.notes import Checkpoint

# --- What the ledger and the process with the log's key say to each other: JSON, one line each
# way.

LINE_BYTES = 16_384
"""Longest line; a proof has 63 hashes at most."""


class Hello(Struct, frozen=True, forbid_unknown_fields=True, tag="hello"):
    """The question who it is, and what it signed last."""


class Sign(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="sign"):
    """Sign this; `old` is the size that the proof begins at, hashes are base64."""

    origin: str
    size: int
    root: str
    old: int
    proof: tuple[str, ...] = ()


Question = Hello | Sign


class Here(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="here"):
    """The public key, base64, and the size that was signed last."""

    key: str
    size: int


class Signed(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="signed"):
    """The signed note."""

    note: str


class Other(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="other"):
    """Another size was signed last: prove from there."""

    size: int


class Refused(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="refused"):
    """No, and why; `is_fork` when it would have been a second history."""

    reason: str
    is_fork: bool


Answer = Here | Signed | Other | Refused


# --- The log's key in another process: what the ledger asks it for, over its Unix socket.

ANSWER_S = 5.0


class RemoteNotary:
    """Asks `tequio-ledger sign`; its answers are checked before they count."""

    def __init__(self, path: Path, key: PeerKey | None = None) -> None:
        """Connect to nothing yet; without a key the signer's own word on it counts."""
        self._path = path
        self._key = key
        self._size = 0  # what it signed last, as far as we know

    @property
    def key(self) -> PeerKey:
        """The log's public key, asked for once; raises UserFacingError."""
        if self._key is None:
            here = self._ask(Hello())
            if not isinstance(here, Here):
                raise self._strange(f"{type(here).__name__} for a key")
            try:
                self._key = check_key(from_base64(here.key))
            except PeerError as err:
                raise self._strange(f"a key that is none ({err})") from err
            self._size = here.size
        return self._key

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Have it signed.

        Raises WouldForkError, UnwritableError when it is away or cannot write, and UserFacingError
        for answers that are none.
        """
        vkey = VerifierKey(name=checkpoint.origin, kind=KeyKind.LOG, key=self.key)
        answer = self._ask(self._request(checkpoint, prove))
        if isinstance(answer, Other):
            self._size = answer.size
            answer = self._ask(self._request(checkpoint, prove))
        if not isinstance(answer, Signed):
            raise self._strange(f"{type(answer).__name__} for a signature")
        note = answer.note.encode()
        try:
            signed = open_checkpoint(note, vkey).checkpoint
        except PeerError as err:
            raise self._strange(f"no signature of ours ({err})") from err
        if signed != checkpoint:
            raise self._strange(f"a signature over size {signed.size}")
        self._size = checkpoint.size
        return note

    def _request(self, checkpoint: Checkpoint, prove: Prove) -> Sign:
        is_growth = 0 < self._size < checkpoint.size
        return Sign(
            origin=checkpoint.origin,
            size=checkpoint.size,
            root=to_base64(checkpoint.root),
            old=self._size,
            proof=tuple(map(to_base64, prove(self._size))) if is_growth else (),
        )

    def _ask(self, question: Question) -> Here | Signed | Other:
        try:
            raw = self._talk(msgspec.json.encode(question))
            answer: Answer = msgspec.json.decode(raw, type=Answer)
        except OSError as err:
            raise UnwritableError(
                f"the signer at {self._path} does not answer ({err.strerror or err}): start "
                "`tequio-ledger sign` with that --socket"
            ) from err
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as err:
            raise self._strange(f"no answer ({err})") from err
        if isinstance(answer, Refused):
            raise (WouldForkError if answer.is_fork else UnwritableError)(answer.reason)
        return answer

    def _talk(self, line: bytes) -> bytes:
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as line_out:
            line_out.settimeout(ANSWER_S)
            line_out.connect(str(self._path))
            with contextlib.suppress(BrokenPipeError):  # it may refuse us unheard, and say why
                line_out.sendall(line + b"\n")
            with line_out.makefile("rb") as answers:
                return answers.readline(LINE_BYTES)

    def _strange(self, what: str) -> UserFacingError:
        return UserFacingError(f"what listens at {self._path} is no signer of ours: it gave {what}")


KEY = "log"
PUBLIC_KEY = "log.pub"
MEMORY = "log.signed"
_KEY_FILE_BYTES = 64


class Absent:
    """The key is elsewhere and nobody said where: enough for those who only read."""

    def __init__(self, key: PeerKey) -> None:
        self.key = key

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Sign nothing; raises UserFacingError."""
        del prove
        raise UserFacingError(
            f"the key of {checkpoint.origin} is in a process of its own: name its socket, --signer"
        )


def open_signer(
    folder: Folder, socket: Path | None = None, key: PeerKey | None = None
) -> CheckpointSigner:
    """Give who signs for a ledger: at that socket, or by the key in its folder, made at first use.

    With a `key` the signer at the socket is believed for that one only. Raises UserFacingError.
    """
    if socket is not None:
        if folder.holds_key(KEY):
            raise UserFacingError(
                f"{folder.key_file(KEY)} is here, so the signer at {socket} guards nothing: move "
                "it to the signer's folder, with log.signed"
            )
        return RemoteNotary(socket, key)
    public = _public(folder.path / PUBLIC_KEY)
    if public is not None and not folder.holds_key(KEY):
        return Absent(public)
    if not folder.holds_key(KEY):
        begin_memory(folder)  # before the key: none that is made here is ever without it
    return Notary(folder.signer(KEY), folder.path / MEMORY)


def open_keeper(folder: Folder, origin: str, *, is_first: bool) -> Notary:
    """Give who holds the key of that folder and log; a key that is made here begins with a memory.

    A key without its memory may have signed anything, so it signs nothing unless somebody says
    that it never did. Raises UserFacingError, also when it signed another log.
    """
    if forgot(folder) and not is_first:
        raise UserFacingError(
            f"{folder.key_file(KEY)} is here without {folder.path / MEMORY}, which knows what it "
            "signed last: bring that back, or say --first if this key has never signed anything"
        )
    begin_memory(folder)
    notary = Notary(folder.signer(KEY), folder.path / MEMORY)
    if notary.last is not None and notary.last.origin != origin:
        raise UserFacingError(
            f"the key in {folder.path} signs the log {notary.last.origin!r}, not {origin!r}: say "
            "its own --origin, or choose another --dir"
        )
    return notary


def forgot(folder: Folder) -> bool:
    """Whether a folder holds the key and nothing that says what it signed."""
    return folder.holds_key(KEY) and not (folder.path / MEMORY).exists()


def begin_memory(folder: Folder) -> None:
    """Keep that the key signed nothing yet, where nothing is kept; raises UserFacingError."""
    Memory(folder.path / MEMORY).begin()


def note_key(folder: Folder, key: PeerKey) -> None:
    """Keep the public key of a log whose key is elsewhere; raises UserFacingError."""
    path = folder.path / PUBLIC_KEY
    if folder.holds_key(KEY) or path.exists():
        return
    try:
        files.write_file(path, to_base64(key).encode() + b"\n")
    except OSError as err:
        raise UserFacingError(files.explain(err, path)) from err


def public_key(folder: Folder) -> PeerKey | None:
    """Give the log's public key as the folder knows it; None without any. UserFacingError."""
    return folder.signer(KEY).key if folder.holds_key(KEY) else _public(folder.path / PUBLIC_KEY)


def key_path(folder: Folder) -> Path:
    """Say where the folder keeps the log's key, or the public half that it has of it."""
    public = folder.path / PUBLIC_KEY
    return public if public.exists() and not folder.holds_key(KEY) else folder.key_file(KEY)


def _public(path: Path) -> PeerKey | None:
    try:
        with path.open("rb") as file:
            return check_key(from_base64(file.read(_KEY_FILE_BYTES).decode("ascii").strip()))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, PeerError) as err:
        raise UserFacingError(f"the key file {path} cannot be read: {err}") from err
