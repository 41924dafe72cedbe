"""Commands about names and keys that end, each from a ledger's address to the log."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio

from tequio_client.keys import successor
from tequio_client.keys.identity import KeyStore
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.runtime import locked
from tequio_client.worker import shutdown
from tequio_client.worker.ledger import key_changes
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey
from tequio_shared.keys import SEED_BYTES, Signer

T = TypeVar("T")


def new_seed() -> bytes:
    return secrets.token_bytes(SEED_BYTES)


def account(ledger: str, key: PeerKey) -> PeerAnswer:
    """Describe a key; raises RefusedError if it is not registered."""
    return _at_ledger(ledger, lambda api: api.peer(key))


def bind_recovery(
    ledger: str, folder: Path, signer: Signer, recovery: Signer, former: Signer | None
) -> None:
    others = (recovery,) if former is None else (recovery, former)
    _with_outbox(ledger, folder, signer, lambda box: key_changes.bind_recovery(box, *others))


def set_name(ledger: str, folder: Path, signer: Signer, name: str) -> None:
    _with_outbox(ledger, folder, signer, lambda box: key_changes.set_name(box, name))


def revoke(ledger: str, folder: Path, signer: Signer, key: PeerKey, *by: Signer) -> None:
    _with_outbox(ledger, folder, signer, lambda box: key_changes.revoke(box, key, *by))


def replace(
    ledger: str, store: KeyStore, former: PeerKey, by: Signer, passphrase: str | None
) -> Signer:
    """Replace a key by a new one, which is the folder's afterwards; returns it."""
    with locked(store.folder):
        made = successor.prepare(store, passphrase)
        _at_ledger(ledger, partial(key_changes.replace, former=former, successor=made, by=by))
        return successor.install(store, passphrase)


def _with_outbox(
    ledger: str, folder: Path, signer: Signer, send: Callable[[Outbox], Awaitable[None]]
) -> None:
    async def work(api: LedgerApi) -> None:
        refusal: RefusedError | None = None
        async with Outbox(api, folder, signer) as outbox:
            try:
                await send(outbox)
            except LedgerRefusedError as err:
                refusal = err
        # Raised out here: on its way through the outbox's nursery it would be wrapped in a group.
        if refusal is not None:
            raise refusal

    with locked(folder):
        _at_ledger(ledger, work)


def _at_ledger(ledger: str, work: Callable[[LedgerApi], Awaitable[T]]) -> T:
    async def run() -> T:
        async with LedgerApi(ledger) as api:
            return await work(api)

    with shutdown.explain_unreachable_ledger(ledger):
        return trio.run(run)
