"""Saying something in a competition with the key in a folder: documents first, then the word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_client import identity
from tequio_client.clock import now_ms
from tequio_client.ledger_api import LedgerApi, LedgerRefusedError, LedgerUnavailableError
from tequio_client.worker.outbox import Outbox

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.keys import Signer
    from tequio_shared.statement import Entry
    from tequio_shared.statements import Body

PATIENCE_S = 300.0
"""How long a ledger that does not take what we say is spoken to."""


async def speak(ledger: str, folder: Path, body: Body, *documents: bytes) -> Entry:
    """Put the documents, then say it; the folder is locked by the caller, its key registered here.

    Raises LedgerRefusedError when the ledger does not take it, and LedgerUnavailableError.
    """
    signer = identity.load_or_create(folder)
    async with LedgerApi(ledger) as api:
        network = await api.network()
        async with Outbox.on(api, network, folder, signer) as outbox:
            with trio.move_on_after(PATIENCE_S):
                if documents:
                    await _register(api, outbox, signer)
                for one in documents:
                    await api.put_blob(one, signer, now_ms())
                return await outbox.say(body)
    raise LedgerUnavailableError(f"not said after {PATIENCE_S:.0f} s: run this again later")


async def _register(api: LedgerApi, outbox: Outbox, signer: Signer) -> None:
    """A ledger keeps documents of keys that it knows."""
    try:
        await api.peer(signer.key)
    except LedgerRefusedError as err:
        if err.code != "not-found":
            raise
        await outbox.register()
