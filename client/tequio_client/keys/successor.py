"""A new key that waits to take the place of the folder's: on disk before anybody hears of it.

The log may have a replacement whose answer was lost, and the only copy of the new key must not be
lost with it. So the key lies in a folder of its own until the ledger has accepted it.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.keys import identity
from tequio_client.keys.state import KeyProtection
from tequio_shared.ids import to_text
from tequio_shared.keys import SEED_BYTES, Signer

if TYPE_CHECKING:
    from tequio_client.keys.identity import KeyStore


def prepare(store: KeyStore, passphrase: str | None = None) -> Signer:
    """The waiting key, or a new one, stored as the present one is; raises IdentityError.

    `passphrase` is that of the present key, if it is stored under one.
    """
    folder = store.folder / identity.SUCCESSOR
    state = store.state()
    if identity.protection_of(folder) is not KeyProtection.ABSENT:
        waiting = identity.load(folder, passphrase, store.keyring)
        if to_text(waiting.key) != state.record.key:
            return waiting
        discard(store.folder)  # it was installed, and the computer stopped before its removal
    how = state.protection
    seed = secrets.token_bytes(SEED_BYTES)
    identity.write(
        folder,
        seed,
        KeyProtection.OPEN if how is KeyProtection.ABSENT else how,
        passphrase,
        store.keyring,
    )
    return Signer(seed)


def install(store: KeyStore, passphrase: str | None = None) -> Signer:
    """Make the waiting key that of the folder; the former one is set aside."""
    folder = store.folder / identity.SUCCESSOR
    successor = identity.load(folder, passphrase, store.keyring)
    how = identity.protection_of(folder)
    store.adopt(successor.seed, how, passphrase)
    discard(store.folder)
    return successor


def discard(folder: Path) -> None:
    """Remove the waiting key, once it is installed."""
    files.delete(folder / identity.SUCCESSOR / identity.KEY_FILE)
