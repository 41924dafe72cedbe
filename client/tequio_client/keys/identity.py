"""The key of this installation: its file, the forms that protect it, and all operations on it.

The file holds the 32-byte Ed25519 seed: sealed under a passphrase, wrapped by a random key in the
system's keyring, or unencrypted, which every display of the key states. The owner of the seed is
this peer, in the network and in the ledger. Beside the file lies a record of its public facts: the
public key, and the time of the last backup. No function destroys a key: a key file that is replaced
by a restored one stays under a second name. Functions block (on the disk, the keyring, and 0.2 s
for each passphrase) and raise IdentityError.

Both encrypted forms are AES-256-GCM: 8 bytes of format name, 16 that belong to the encrypting key,
12 of nonce, then the encrypted seed and its tag. Under a passphrase, scrypt derives that key, and
the 16 bytes are its salt; a wrapping key they name in the keyring. Each seed gets a fresh wrapping
key, so a key never sees the same nonce twice.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from tequio_client import files
from tequio_client.keys.state import IdentityError, KeyProtection, KeyRecord, KeyState
from tequio_client.keys.system_keyring import SystemKeyring
from tequio_shared.errors import MalformedError
from tequio_shared.ids import to_text
from tequio_shared.keys import SEED_BYTES, Signer

KEY_FILE = "identity.key"
RECORD = "identity.json"
SUCCESSOR = "successor"
"""Folder of a key that waits to follow, in that of the present one (`keys.successor`)."""
_ASIDE = "identity.key.old"
_MOST_ASIDE = 1_000
_MOST_BYTES = 4_096
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_SEALED_MAGIC = b"tqkey\x00\x00\x01"
_WRAPPED_MAGIC = b"tqwrap\x00\x01"
_SALT = slice(8, 24)  # or the name of the wrapping key
_NONCE = slice(24, 36)
_ENCRYPTED_BYTES = _NONCE.stop + SEED_BYTES + 16
_WRAPPING_BYTES = 32

# 64 MiB and about 0.2 s for each guess (RFC 7914, section 2).
_COST = 1 << 16
_BLOCK = 8
_PARALLEL = 1


class KeyStore:
    def __init__(
        self, folder: Path, now_ms: Callable[[], int], keyring: SystemKeyring | None = None
    ) -> None:
        self.folder = folder
        self.keyring = keyring or SystemKeyring()
        self._now_ms = now_ms

    def state(self) -> KeyState:
        """Read the public state; needs no secret."""
        protection = protection_of(self.folder)
        if protection is KeyProtection.ABSENT:
            return KeyState()
        record = self._record()
        if protection is KeyProtection.OPEN:
            key = to_text(load(self.folder).key)
            # A worker started by hand makes a key without a record of it.
            record = record if record.key == key else KeyRecord(key=key)
        return KeyState(protection=protection, record=record)

    def open(self, passphrase: str | None = None) -> Signer:
        """Read the key, and record its public half."""
        signer = load(self.folder, passphrase, self.keyring)
        self._record_key(signer)
        return signer

    def make(
        self, how: KeyProtection, passphrase: str | None = None, seed: bytes | None = None
    ) -> Signer:
        """Make a key where there is none, from `seed` if that was drawn already."""
        if protection_of(self.folder) is not KeyProtection.ABSENT:
            raise IdentityError("there", folder=str(self.folder))
        return self._write_key(seed or secrets.token_bytes(SEED_BYTES), how, passphrase)

    def restore(
        self, seed: bytes, way: str, how: KeyProtection, passphrase: str | None = None
    ) -> Signer:
        """Install the key of a backup (`words` or `file`); a different key is set aside."""
        before = self._set_aside()
        signer = self._write_key(seed, how, passphrase)
        # Compared without a passphrase, so only an unencrypted file can match.
        if before is not None and before.read_bytes() == signer.seed:
            files.delete(before)
        self.record_backup(signer, way)
        return signer

    def adopt(self, seed: bytes, how: KeyProtection, passphrase: str | None = None) -> Signer:
        """Install a new key in place of the present one, which is set aside."""
        self._set_aside()
        return self._write_key(seed, how, passphrase)

    def change_protection(
        self, how: KeyProtection, passphrase: str | None, old_passphrase: str | None
    ) -> None:
        """Change the protection of the same key, and of one that waits to follow it.

        If one cannot be written, both stay as they were. Old keyring entries are deleted
        afterwards. The waiting key changes first: if this is cut short, the same change can be
        made once more, and does the rest.
        """
        seeds, waiting = {self.folder: self.open(old_passphrase).seed}, self.folder / SUCCESSOR
        with suppress(IdentityError):  # there is none, or another passphrase protects it
            seeds = {waiting: load(waiting, old_passphrase, self.keyring).seed, **seeds}
        before = {folder: content for folder in seeds if (content := _read(folder)) is not None}
        try:
            for folder, seed in seeds.items():
                write(folder, seed, how, passphrase, self.keyring)
        except IdentityError:
            with suppress(OSError):  # the same change can be made once more, as above
                for folder, content in before.items():
                    files.write_private(folder / KEY_FILE, content)
            raise
        for content in before.values():
            if _has_form(content, _WRAPPED_MAGIC):
                with suppress(IdentityError):  # a leftover entry does no harm
                    self.keyring.delete(content[_SALT].hex())

    def record_backup(self, signer: Signer, way: str) -> None:
        self._write(KeyRecord(key=to_text(signer.key), backup_ms=self._now_ms(), backup=way))

    def _write_key(self, seed: bytes, how: KeyProtection, passphrase: str | None) -> Signer:
        write(self.folder, seed, how, passphrase, self.keyring)
        signer = Signer(seed)
        self._record_key(signer)
        return signer

    def _set_aside(self) -> Path | None:
        """Copy the present key file to a second name; None: there is none."""
        path = self.folder / KEY_FILE
        if not path.exists():
            return None
        try:
            for number in range(_MOST_ASIDE):
                aside = self.folder / f"{_ASIDE}{number or ''}"
                if not aside.exists():
                    files.write_private(aside, path.read_bytes())
                    return aside
        except OSError as err:
            raise _unusable(path, err) from err
        raise IdentityError("unusable", path=str(path), why=f"{_MOST_ASIDE} keys lie beside it")

    def _record(self) -> KeyRecord:
        try:
            return files.read_record(self.folder / RECORD, KeyRecord, _MOST_BYTES) or KeyRecord()
        except (OSError, MalformedError):
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
            raise _unusable(path, err) from err


def load_or_create(folder: Path) -> Signer:
    """Read the folder's key, or make one; the caller holds its lock. Raises IdentityError."""
    if protection_of(folder) is not KeyProtection.ABSENT:
        return load(folder)
    seed = secrets.token_bytes(SEED_BYTES)
    write(folder, seed, KeyProtection.OPEN)
    return Signer(seed)


def protection_of(folder: Path) -> KeyProtection:
    """Read how the folder's key is protected; raises IdentityError."""
    content = _read(folder)
    return KeyProtection.ABSENT if content is None else _form(folder, content)


def load(
    folder: Path, passphrase: str | None = None, keyring: SystemKeyring | None = None
) -> Signer:
    """Read the folder's key; raises IdentityError. The keyring is only used for a wrapped key."""
    path, content = folder / KEY_FILE, _read(folder)
    if content is None:
        raise IdentityError("gone", folder=str(folder))
    match _form(folder, content):
        case KeyProtection.OPEN:
            return Signer(content)
        case KeyProtection.KEYRING:
            wrapping = (keyring or SystemKeyring()).get(content[_SALT].hex())
            if wrapping is None:
                raise IdentityError("keyring-forgot", path=str(path))
            seed = _decrypted(content, wrapping)
            if seed is None:
                raise IdentityError("damaged", path=str(path))
            return Signer(seed)
        case _:
            if passphrase is None:
                raise IdentityError("passphrase-needed", path=str(path))
            return Signer(unseal(content, passphrase))


def write(
    folder: Path,
    seed: bytes,
    how: KeyProtection,
    passphrase: str | None = None,
    keyring: SystemKeyring | None = None,
) -> None:
    """Write the seed to the folder, replacing any other; raises IdentityError.

    The file is replaced last, so the previous file stays readable until then.
    """
    match how:
        case KeyProtection.OPEN:
            content = seed
        case KeyProtection.PASSPHRASE if passphrase is not None:
            content = seal(seed, passphrase)
        case KeyProtection.KEYRING:
            name, wrapping = secrets.token_bytes(16), secrets.token_bytes(_WRAPPING_BYTES)
            (keyring or SystemKeyring()).put(name.hex(), wrapping)
            content = _encrypted(_WRAPPED_MAGIC + name, wrapping, seed)
        case _:
            raise ValueError(f"a key cannot be kept as {how} without a passphrase")
    path = folder / KEY_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write_private(path, content)
    except OSError as err:
        raise _unusable(path, err) from err


def _read(folder: Path) -> bytes | None:
    """Read the key file; None if there is none. Raises IdentityError."""
    path = folder / KEY_FILE
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            # Windows keeps others out by the profile folder.
            if os.name == "posix" and mode & _OTHERS:
                raise IdentityError("mode", path=str(path), mode=f"{stat.S_IMODE(mode):o}")
            return file.read(_MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as err:
        raise _unusable(path, err) from err


def _form(folder: Path, content: bytes) -> KeyProtection:
    if len(content) == SEED_BYTES:
        return KeyProtection.OPEN
    if is_sealed(content):
        return KeyProtection.PASSPHRASE
    if _has_form(content, _WRAPPED_MAGIC):
        return KeyProtection.KEYRING
    path = str(folder / KEY_FILE)
    raise IdentityError("size", path=path, size=len(content), due=SEED_BYTES)


def _unusable(path: Path, err: OSError) -> IdentityError:
    return IdentityError("unusable", path=str(path), why=err.strerror or str(err))


def is_sealed(content: bytes) -> bool:
    """Recognise the output of `seal` by its size and first bytes."""
    return _has_form(content, _SEALED_MAGIC)


def _has_form(content: bytes, magic: bytes) -> bool:
    return len(content) == _ENCRYPTED_BYTES and content.startswith(magic)


def seal(seed: bytes, passphrase: str) -> bytes:
    """Seal a seed under a passphrase, with fresh salt and nonce."""
    salt = secrets.token_bytes(16)
    return _encrypted(_SEALED_MAGIC + salt, _derived(passphrase, salt), seed)


def unseal(content: bytes, passphrase: str) -> bytes:
    """Open the output of `seal`; raises IdentityError for another passphrase or damage."""
    found = _decrypted(content, _derived(passphrase, content[_SALT]))
    if found is None:
        raise IdentityError("passphrase-wrong")
    return found


def _derived(passphrase: str, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415 - costs memory

    kdf = Scrypt(salt=salt, length=32, n=_COST, r=_BLOCK, p=_PARALLEL)
    return kdf.derive(passphrase.encode())


def _encrypted(head: bytes, key: bytes, seed: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as above

    nonce = secrets.token_bytes(12)
    return head + nonce + AESGCM(key).encrypt(nonce, seed, head + nonce)


def _decrypted(content: bytes, key: bytes) -> bytes | None:
    """Decrypt the seed; None for another key, also one of an impossible length, or damage."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as above
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as above

    try:
        head, encrypted = content[: _NONCE.stop], content[_NONCE.stop :]
        return AESGCM(key).decrypt(content[_NONCE], encrypted, head)
    except (InvalidTag, ValueError):
        return None
