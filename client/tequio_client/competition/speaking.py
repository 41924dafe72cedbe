"""Saying something in a competition with the key in a folder: documents first, then the word."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

import trio

from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.worker import endings
from tequio_client.worker.endings import first_of
from tequio_client.worker.ledger.outbox import Outbox

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.ids import PeerKey
    from tequio_shared.statement import Entry
    from tequio_shared.statements import Body


PATIENCE_S = 300.0
"""How long a ledger that does not take what we say is spoken to."""


class Speaker(Protocol):
    """Says words in competitions under one key, from a program without a loop of its own."""

    @property
    def key(self) -> PeerKey:
        """Whose words they are."""

    def say(self, body: Body, *documents: bytes) -> None:
        """Put the documents, then say it: when it returns, the ledger has both.

        Raises LedgerRefusedError when the ledger does not take it, UserFacingError for one away.
        """


class FolderSpeaker:
    """Speaks with the key in a folder, which the caller has locked."""

    def __init__(self, ledger: str, folder: Path) -> None:
        self._ledger, self._folder = ledger, folder
        self.key = identity.load_or_create(folder).key

    def say(self, body: Body, *documents: bytes) -> None:
        """See Speaker."""
        refused: BaseException | None = None
        with endings.reached(self._ledger):
            try:
                trio.run(partial(speak, self._ledger, self._folder, body, *documents))
            except* LedgerRefusedError as group:
                refused = first_of(group)
        if refused is not None:
            raise refused


async def speak(ledger: str, folder: Path, body: Body, *documents: bytes) -> Entry:
    """Put the documents, then say it; the folder is locked by the caller, its key registered here.

    Raises LedgerRefusedError when the ledger does not take it, and LedgerUnavailableError.
    """
    signer = identity.load_or_create(folder)
    async with LedgerApi(ledger) as api, Outbox(api, folder, signer) as outbox:
        with trio.move_on_after(PATIENCE_S):
            return await outbox.submit(body, documents=documents)
    raise LedgerUnavailableError(f"not said after {PATIENCE_S:.0f} s: run this again later")
