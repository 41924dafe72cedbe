"""Commands about names, teams and keys that end, each from a ledger's address to the log."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from tequio_client.control_socket import WorkerCall, is_worker_running
from tequio_client.ipc.account import AccountQuestion
from tequio_client.ipc.control import Reply
from tequio_client.keys import successor
from tequio_client.keys.identity import KeyStore
from tequio_client.ledger.api import LedgerApi
from tequio_client.runtime import locked
from tequio_client.worker import shutdown
from tequio_client.worker.ledger import key_changes
from tequio_client.worker.ledger.outbox import SUBMIT_S, Outbox
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.ids import PeerKey
from tequio_shared.keys import SEED_BYTES, Signer

T = TypeVar("T")
R = TypeVar("R", bound="Reply")
WORKER_TIMEOUT_S = SUBMIT_S + 15
"""A worker reports after `SUBMIT_S` that the ledger accepts nothing."""


def new_seed() -> bytes:
    return secrets.token_bytes(SEED_BYTES)


def account(ledger: str, key: PeerKey) -> PeerAnswer:
    """Describe a key; raises RefusedError if it is not registered."""
    return shutdown.ask_ledger(ledger, lambda api: api.peer(key))


def carry_out(
    ledger: str,
    folder: Path,
    load: Callable[[], Signer],
    question: AccountQuestion,
    kind: type[R],
) -> R:
    """Do it through the folder's worker, if one is running, else with the key from `load`."""
    if is_worker_running(folder):
        return _through_worker(ledger, folder, question, kind)
    signer = load()

    async def answer(api: LedgerApi, outbox: Outbox) -> R:
        reply = await key_changes.answer(api, outbox, signer, question)
        if not isinstance(reply, kind):
            raise TypeError(f"{type(reply).__name__} answers {type(question).__name__}")
        return reply

    return _with_outbox(ledger, folder, signer, answer)


def _through_worker(ledger: str, folder: Path, question: AccountQuestion, kind: type[R]) -> R:
    deadline_s = time.monotonic() + WORKER_TIMEOUT_S
    with WorkerCall.to(folder) as call:
        used = call.snapshot().ledger.url
        if used.rstrip("/") != ledger.rstrip("/"):
            raise UserFacingError(
                f"the worker in {folder} uses the ledger {used}: give that as --ledger, or stop "
                "the worker"
            )
        return call.ask(question, kind, lambda: time.monotonic() > deadline_s)


def revoke(ledger: str, folder: Path, signer: Signer, key: PeerKey, *by: Signer) -> None:
    _with_outbox(ledger, folder, signer, lambda _, box: key_changes.revoke(box, key, *by))


def replace(
    ledger: str, store: KeyStore, former: PeerKey, by: Signer, passphrase: str | None
) -> Signer:
    """Replace a key by a new one, which is the folder's afterwards; returns it."""
    with locked(store.folder):
        made = successor.prepare(store, passphrase)
        shutdown.ask_ledger(
            ledger, partial(key_changes.replace, former=former, successor=made, by=by)
        )
        return successor.install(store, passphrase)


def _with_outbox(
    ledger: str, folder: Path, signer: Signer, send: Callable[[LedgerApi, Outbox], Awaitable[T]]
) -> T:
    async def work(api: LedgerApi) -> T:
        async with Outbox(api, folder, signer) as outbox:
            try:
                return await send(api, outbox)
            except TequioError as err:
                refusal = err
        # Raised out here: on its way through the outbox's nursery it would be wrapped in a group.
        raise refusal

    with locked(folder):
        return shutdown.ask_ledger(ledger, work)
