"""The key file of this installation: made at first use, and readable only by its owner.

The file holds the 32-byte Ed25519 seed: sealed under a passphrase, wrapped by a key in the system's
keyring (`sealing`), or unencrypted, which every display of the key states. The owner of the seed is
this peer, in the network and in the ledger.
"""

from __future__ import annotations

import os
import secrets
import stat
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.keys.state import IdentityError, KeyProtection
from tequio_shared.keys import SEED_BYTES, Signer

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.keys.system_keyring import SystemKeyring


KEY_FILE = "identity.key"

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MOST_BYTES = 4_096


def load_or_create(folder: Path, passphrase: str | None = None) -> Signer:
    """Read the folder's key, or make one; raises IdentityError.

    The caller holds the folder's lock. With a passphrase, a new key is sealed under it.
    """
    try:
        if (folder / KEY_FILE).exists():
            return load(folder, passphrase)
    except OSError as err:
        raise _unusable(folder / KEY_FILE, err) from err
    seed = secrets.token_bytes(SEED_BYTES)
    write(
        folder,
        seed,
        KeyProtection.PASSPHRASE if passphrase is not None else KeyProtection.OPEN,
        passphrase,
    )
    return Signer(seed)


def protection_of(folder: Path) -> KeyProtection:
    """Read how the folder's key is protected; raises IdentityError."""
    path = folder / KEY_FILE
    try:
        return _kept(path, _read(path))
    except FileNotFoundError:
        return KeyProtection.ABSENT
    except OSError as err:
        raise _unusable(path, err) from err


def load(
    folder: Path, passphrase: str | None = None, keyring: SystemKeyring | None = None
) -> Signer:
    """Read the folder's key; raises IdentityError. The keyring is only used for a wrapped key."""
    path = folder / KEY_FILE
    try:
        content = _read(path)
    except FileNotFoundError as err:
        raise IdentityError("gone", folder=str(folder)) from err
    except OSError as err:
        raise _unusable(path, err) from err
    match _kept(path, content):
        case KeyProtection.OPEN:
            return Signer(content)
        case KeyProtection.KEYRING:
            return Signer(_unwrapped(path, content, keyring))
        case _:
            return Signer(_unsealed(path, content, passphrase))


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
    content = _content(seed, how, passphrase, keyring)
    path = folder / KEY_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write_private(path, content)
    except OSError as err:
        raise _unusable(path, err) from err


def keyring_slot(folder: Path) -> str:
    """Name the keyring entry for the folder's key; empty: none."""
    from tequio_client.keys import sealing  # noqa: PLC0415 - its library costs memory

    if protection_of(folder) is not KeyProtection.KEYRING:
        return ""
    return sealing.slot_of(_read(folder / KEY_FILE))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if os.name == "posix" and mode & _OTHERS:  # Windows keeps others out by the profile folder
            raise IdentityError("mode", path=str(path), mode=f"{stat.S_IMODE(mode):o}")
        return file.read(_MOST_BYTES)


def _kept(path: Path, content: bytes) -> KeyProtection:
    if len(content) == SEED_BYTES:
        return KeyProtection.OPEN
    from tequio_client.keys import sealing  # noqa: PLC0415 - as above

    if sealing.is_sealed(content):
        return KeyProtection.PASSPHRASE
    if sealing.is_wrapped(content):
        return KeyProtection.KEYRING
    raise IdentityError("size", path=str(path), size=len(content), due=SEED_BYTES)


def _unsealed(path: Path, content: bytes, passphrase: str | None) -> bytes:
    from tequio_client.keys import sealing  # noqa: PLC0415 - as above

    if passphrase is None:
        raise IdentityError("passphrase-needed", path=str(path))
    return sealing.unseal(content, passphrase)


def _unwrapped(path: Path, content: bytes, keyring: SystemKeyring | None) -> bytes:
    from tequio_client.keys import sealing  # noqa: PLC0415 - as above

    wrapping = _keyring(keyring).get(sealing.slot_of(content))
    if wrapping is None:
        raise IdentityError("keyring-forgot", path=str(path))
    try:
        return sealing.unwrap(content, wrapping)
    except sealing.UnwrapError as err:
        raise IdentityError("damaged", path=str(path)) from err


def _content(
    seed: bytes, how: KeyProtection, passphrase: str | None, keyring: SystemKeyring | None
) -> bytes:
    match how:
        case KeyProtection.OPEN:
            return seed
        case KeyProtection.PASSPHRASE if passphrase is not None:
            from tequio_client.keys import sealing  # noqa: PLC0415 - as above

            return sealing.seal(seed, passphrase)
        case KeyProtection.KEYRING:
            from tequio_client.keys import sealing  # noqa: PLC0415 - as above

            content, name, wrapping = sealing.wrap(seed)
            _keyring(keyring).put(name, wrapping)
            return content
        case _:
            raise ValueError(f"a key cannot be kept as {how} without a passphrase")


def _keyring(given: SystemKeyring | None) -> SystemKeyring:
    from tequio_client.keys.system_keyring import SystemKeyring  # noqa: PLC0415 - as above

    return given or SystemKeyring()


def _unusable(path: Path, err: OSError) -> IdentityError:
    return IdentityError("unusable", path=str(path), why=err.strerror or str(err))
