"""One folder's key and all operations on it: make, open, change protection, back up, restore.

Beside the key file lies a record of its public facts: the public key, and the time of the last
backup. No method destroys a key: a key file that is replaced stays under a second name. Methods
block (on the disk, the keyring, and 0.2 s for each passphrase) and raise IdentityError.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from tequio_client import files
from tequio_client.keys import identity
from tequio_client.keys.state import IdentityError, KeyProtection, KeyRecord, KeyState
from tequio_client.keys.system_keyring import SystemKeyring
from tequio_shared.ids import to_text
from tequio_shared.keys import SEED_BYTES, Signer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


RECORD = "identity.json"
_ASIDE = "identity.key.old"
_MOST_ASIDE = 1_000
_MOST_BYTES = 4_096


class KeyStore:
    """Owner of the folder's key file and its record."""

    def __init__(
        self, folder: Path, now_ms: Callable[[], int], keyring: SystemKeyring | None = None
    ) -> None:
        self.folder = folder
        self.keyring = keyring or SystemKeyring()
        self._now_ms = now_ms

    def state(self) -> KeyState:
        """Read the public state; needs no secret."""
        kept = identity.protection_of(self.folder)
        return KeyState(
            protection=kept, record=KeyRecord() if kept is KeyProtection.ABSENT else self._record()
        )

    def open(self, passphrase: str | None = None) -> Signer:
        """Read the key, and record its public half."""
        signer = identity.load(self.folder, passphrase, self.keyring)
        self._record_key(signer)
        return signer

    def make(
        self, how: KeyProtection, passphrase: str | None = None, seed: bytes | None = None
    ) -> Signer:
        """Make a key where there is none, from `seed` if that was drawn already."""
        if identity.protection_of(self.folder) is not KeyProtection.ABSENT:
            raise IdentityError("there", folder=str(self.folder))
        return self._write_key(seed or secrets.token_bytes(SEED_BYTES), how, passphrase)

    def restore(
        self, seed: bytes, way: str, how: KeyProtection, passphrase: str | None = None
    ) -> Signer:
        """Install the key of a backup (`words` or `file`); a different key is set aside."""
        before = self._set_aside()
        signer = self._write_key(seed, how, passphrase)
        if before is not None and self._is_same(before, signer):
            before.unlink(missing_ok=True)
        self.record_backup(signer, way)
        return signer

    def change_protection(
        self, how: KeyProtection, passphrase: str | None, old_passphrase: str | None
    ) -> None:
        """Change the protection of the same key; the old keyring entry is deleted afterwards."""
        signer, slot = self.open(old_passphrase), identity.keyring_slot(self.folder)
        identity.write(self.folder, signer.seed, how, passphrase, self.keyring)
        if slot:
            with suppress(IdentityError):  # a leftover entry does no harm
                self.keyring.delete(slot)

    def record_backup(self, signer: Signer, way: str) -> None:
        """Record that the key was backed up now."""
        self._write(KeyRecord(key=to_text(signer.key), backup_ms=self._now_ms(), backup=way))

    def _write_key(self, seed: bytes, how: KeyProtection, passphrase: str | None) -> Signer:
        identity.write(self.folder, seed, how, passphrase, self.keyring)
        signer = Signer(seed)
        self._record_key(signer)
        return signer

    def _set_aside(self) -> Path | None:
        """Copy the present key file to a second name; None: there is none."""
        path = self.folder / identity.KEY_FILE
        if not path.exists():
            return None
        try:
            for number in range(_MOST_ASIDE):
                aside = self.folder / f"{_ASIDE}{number or ''}"
                if not aside.exists():
                    files.write_private(aside, path.read_bytes())
                    return aside
        except OSError as err:
            why = err.strerror or str(err)
            raise IdentityError("unusable", path=str(path), why=why) from err
        raise IdentityError("unusable", path=str(path), why=f"{_MOST_ASIDE} keys lie beside it")

    def _is_same(self, aside: Path, signer: Signer) -> bool:
        """Compare without a passphrase, so only an unencrypted file can match."""
        return aside.read_bytes() == signer.seed

    def _record(self) -> KeyRecord:
        try:
            with (self.folder / RECORD).open("rb") as file:
                return msgspec.json.decode(file.read(_MOST_BYTES), type=KeyRecord)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return KeyRecord()  # unknown, like a key that was never backed up

    def _record_key(self, signer: Signer) -> None:
        """Write a new record unless there is one about this key."""
        key = to_text(signer.key)
        if self._record().key != key:
            self._write(KeyRecord(key=key))

    def _write(self, record: KeyRecord) -> None:
        path = self.folder / RECORD
        try:
            files.write_private(path, msgspec.json.encode(record))
        except OSError as err:
            why = err.strerror or str(err)
            raise IdentityError("unusable", path=str(path), why=why) from err
