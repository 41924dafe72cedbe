"""The signer of a ledger: with the key in its folder, or in another process.

A ledger whose key is in another process has the public key alone, in `log.pub`.
"""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import msgspec
from msgspec import Struct

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.signing.signer import (
    CheckpointSigner,
    Notary,
    Prove,
    SignatureMemory,
    WouldForkError,
)
from tequio_ledger.store import files
from tequio_ledger.store.files import UnwritableError
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import PeerKey
from tequio_shared.keys import check_key
from tequio_shared.log.notes import (
    Checkpoint,
    KeyKind,
    VerifierKey,
    from_base64,
    open_checkpoint,
    to_base64,
)

KEY = "log"
PUBLIC_KEY = "log.pub"
MEMORY = "log.signed"
ANSWER_S = 5.0
LINE_BYTES = 16_384
"""Longest line of the protocol; a proof has 63 hashes at most."""
_KEY_FILE_BYTES = 64

# --- The protocol between the ledger and the process with the log's key: one JSON line each way.


class Hello(Struct, frozen=True, forbid_unknown_fields=True, tag="hello"):
    """Ask for the key and the last size signed."""


class Sign(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="sign"):
    """Ask for a signature; `old` is the size where the proof begins, hashes are base64."""

    origin: str
    size: int
    root: str
    old: int
    proof: tuple[str, ...] = ()


Question = Hello | Sign


class Here(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="here"):
    """Give the public key, base64, and the last size signed."""

    key: str
    size: int


class Signed(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="signed"):
    """Give the signed note."""

    note: str


class Other(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="other"):
    """Say that another size was signed last, from which the proof must begin."""

    size: int


class SigningRefused(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag="refused"):
    """Refuse; `is_fork` if the signature would have created a second history."""

    reason: str
    is_fork: bool


Answer = Here | Signed | Other | SigningRefused


class RemoteNotary:
    """The client of `tequio-ledger sign`; checks its answers before they count."""

    def __init__(self, path: Path, key: PeerKey | None = None) -> None:
        """Do not connect yet; without `key`, the key that the signer names is believed."""
        self._path = path
        self._key = key
        self._size = 0  # the last size signed, as far as we know

    @property
    def key(self) -> PeerKey:
        """The log's public key, requested once; raises UserFacingError."""
        if self._key is None:
            here = self._ask(Hello())
            if not isinstance(here, Here):
                raise self._invalid(f"{type(here).__name__} for a key")
            try:
                self._key = check_key(from_base64(here.key))
            except PeerError as err:
                raise self._invalid(f"an invalid key ({err})") from err
            self._size = here.size
        return self._key

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Have a checkpoint signed.

        Raises WouldForkError, UnwritableError when the signer does not answer or cannot write, and
        UserFacingError for invalid answers.
        """
        vkey = VerifierKey(name=checkpoint.origin, kind=KeyKind.LOG, key=self.key)
        answer = self._ask(self._request(checkpoint, prove))
        # We guessed the size that was signed last, to save a round trip; it tells the right one.
        if isinstance(answer, Other):
            self._size = answer.size
            answer = self._ask(self._request(checkpoint, prove))
        if not isinstance(answer, Signed):
            raise self._invalid(f"{type(answer).__name__} for a signature")
        note = answer.note.encode()
        try:
            signed = open_checkpoint(note, vkey).checkpoint
        except PeerError as err:
            raise self._invalid(f"an invalid signature ({err})") from err
        if signed != checkpoint:
            raise self._invalid(f"a signature over size {signed.size}")
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
            raw = self._exchange(msgspec.json.encode(question))
            answer: Answer = encoding.read(raw, Answer)
        except OSError as err:
            raise UnwritableError(
                f"the signer at {self._path} does not answer ({err.strerror or err}): start "
                "`tequio-ledger sign` with that --socket"
            ) from err
        except MalformedError as err:
            raise self._invalid(f"an invalid answer ({err})") from err
        if isinstance(answer, SigningRefused):
            raise (WouldForkError if answer.is_fork else UnwritableError)(answer.reason)
        return answer

    def _exchange(self, line: bytes) -> bytes:
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as signer:
            signer.settimeout(ANSWER_S)
            signer.connect(str(self._path))
            # A signer that does not let us ask closes its side at once, and still sends a reason.
            with contextlib.suppress(BrokenPipeError):
                signer.sendall(line + b"\n")
            with signer.makefile("rb") as answers:
                return answers.readline(LINE_BYTES)

    def _invalid(self, what: str) -> UserFacingError:
        return UserFacingError(
            f"the program that listens at {self._path} is not this log's signer: it sent {what}"
        )


class AbsentSigner:
    """A signer that signs nothing, for readers of a log whose key is elsewhere."""

    def __init__(self, key: PeerKey) -> None:
        self.key = key

    def sign(self, checkpoint: Checkpoint, prove: Prove) -> bytes:
        """Sign nothing; raises UserFacingError."""
        del prove
        raise UserFacingError(
            f"the key of {checkpoint.origin} is in a process of its own: name its socket with "
            "--signer"
        )


def open_signer(
    folder: DataFolder, socket: Path | None = None, key: PeerKey | None = None
) -> CheckpointSigner:
    """Make the signer of a ledger: at a socket, or with the key in its folder, made at first use.

    With `key`, the signer at the socket must have that one. Raises UserFacingError.
    """
    if socket is not None:
        if folder.holds_key(KEY):
            raise UserFacingError(
                f"{folder.key_file(KEY)} exists, so the signer at {socket} does not protect it: "
                "move it to the signer's folder, with log.signed"
            )
        return RemoteNotary(socket, key)
    public = _public(folder.path / PUBLIC_KEY)
    if public is not None and not folder.holds_key(KEY):
        return AbsentSigner(public)
    if not folder.holds_key(KEY):
        begin_memory(folder)  # before the key, so that no key is ever made without its memory
    return Notary(folder.signer(KEY), folder.path / MEMORY)


def open_notary(folder: DataFolder, origin: str, *, is_first: bool) -> Notary:
    """Open the key of a log in the folder of `tequio-ledger sign`, made at first use.

    A key without its memory may have signed anything, so it signs nothing unless `is_first` says
    that it never signed. Raises UserFacingError, also when the key signed another log.
    """
    if has_no_memory(folder) and not is_first:
        raise UserFacingError(
            f"{folder.key_file(KEY)} exists without {folder.path / MEMORY}, which records what it "
            "signed last: restore that file, or use --first if this key has never signed anything"
        )
    begin_memory(folder)
    notary = Notary(folder.signer(KEY), folder.path / MEMORY)
    if notary.last is not None and notary.last.origin != origin:
        raise UserFacingError(
            f"the key in {folder.path} signs the log {notary.last.origin!r}, not {origin!r}: use "
            "that --origin, or choose another --dir"
        )
    return notary


def has_no_memory(folder: DataFolder) -> bool:
    """Return whether a folder has the key but no record of what it signed."""
    return folder.holds_key(KEY) and not (folder.path / MEMORY).exists()


def begin_memory(folder: DataFolder) -> None:
    """Record that the key signed nothing yet, unless there is a record; raises UserFacingError."""
    SignatureMemory(folder.path / MEMORY).begin()


def store_public_key(folder: DataFolder, key: PeerKey) -> None:
    """Store the public key of a log whose key is elsewhere; raises UserFacingError."""
    path = folder.path / PUBLIC_KEY
    if folder.holds_key(KEY) or path.exists():
        return
    with files.explained(path):
        files.write_file(path, to_base64(key).encode() + b"\n")


def public_key(folder: DataFolder) -> PeerKey | None:
    """Read the log's public key in the folder; None without one. Raises UserFacingError."""
    return folder.signer(KEY).key if folder.holds_key(KEY) else _public(folder.path / PUBLIC_KEY)


def key_path(folder: DataFolder) -> Path:
    """Give the path of the log's key, or of its public half if the key is elsewhere."""
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
