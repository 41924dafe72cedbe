"""The one mouth of a program's key: whoever speaks here, one outbox is open at a time.

A chain of statements has one writer. Who takes part in a run holds the outbox open for as long as
that lasts; others speak through the one that is held, and open it for a moment while nobody holds
it. Whoever comes to hold it, or stops, cuts short who is speaking just then: what was said lies in
the outbox's file, and saying it again through the next one joins it.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from tequio_client import clock
from tequio_client.worker.outbox import Outbox
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi, Network
    from tequio_shared.keys import Signer
    from tequio_shared.statements import Body

SAYING_S = 60.0
"""How long who speaks waits; what the ledger has not by then stays in the outbox."""
_SAID = "already-said"


class Mouth:
    """Speaks under one key, whose folder the caller has locked."""

    def __init__(self, ledger: LedgerApi, folder: Path, signer: Signer) -> None:
        self._ledger, self._folder, self._signer = ledger, folder, signer
        self._lock = trio.Lock()  # of the outbox's file
        self._held: Outbox | None = None  # owned by `held`
        self._speeches: set[trio.CancelScope] = set()

    @asynccontextmanager
    async def held(self, network: Network) -> AsyncIterator[Outbox]:
        """Have the outbox open for long; raises as the outbox does."""
        self._cut_short()
        async with self._lock, Outbox.on(self._ledger, network, *self._whose) as outbox:
            self._held = outbox
            self._cut_short()
            try:
                yield outbox
            finally:
                self._held = None
                self._cut_short()

    async def say(self, body: Body, documents: Sequence[bytes] = ()) -> bool:
        """Put the documents, then say it; whether it was new. Returns when the ledger has all.

        Raises RefusedError when the ledger does not take it, and what the outbox raises.
        """
        while True:
            with trio.CancelScope() as speech:
                self._speeches.add(speech)
                try:
                    refused = await self._say(body, documents)
                finally:
                    self._speeches.discard(speech)
            if not speech.cancelled_caught:
                break
        if refused is not None and refused.code != _SAID:
            raise refused
        return refused is None

    @property
    def _whose(self) -> tuple[Path, Signer]:
        return self._folder, self._signer

    def _cut_short(self) -> None:
        for speech in self._speeches:
            speech.cancel()

    async def _say(self, body: Body, documents: Sequence[bytes]) -> RefusedError | None:
        if self._held is not None:
            return await self._through(self._held, body, documents)
        async with self._lock:
            network = await self._ledger.network()
            async with Outbox.on(self._ledger, network, *self._whose) as outbox:
                return await self._through(outbox, body, documents)

    async def _through(
        self, outbox: Outbox, body: Body, documents: Sequence[bytes]
    ) -> RefusedError | None:
        """Say it; why not, as a value: an outbox that closes would wrap an error."""
        try:
            if documents:
                await outbox.become_known()
            for document in documents:
                await self._ledger.put_blob(document, self._signer, clock.now_ms())
            await outbox.say(body)
        except RefusedError as err:
            return err
        return None
