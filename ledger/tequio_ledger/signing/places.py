"""Where a folder keeps the log's key, and who signs for the ledger that lives there.

A ledger whose key is in another process has the public key alone, in `log.pub`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_ledger.signing.memory import Memory
from tequio_ledger.signing.notary import Notary
from tequio_ledger.signing.remote import RemoteNotary
from tequio_ledger.store import files
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.keys import check_key
from tequio_shared.notes import from_base64, to_base64

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.folder import Folder
    from tequio_ledger.signing.notary import CheckpointSigner, Prove
    from tequio_shared.ids import PeerKey
    from tequio_shared.notes import Checkpoint

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
