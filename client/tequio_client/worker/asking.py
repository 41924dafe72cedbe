"""Asking peers for content: within the budgets, over lanes that stay open, and who is to blame."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

import trio

from tequio_client.worker.blame import Blame
from tequio_client.worker.budget import ByteBudget
from tequio_client.worker.lanes import Lanes

if TYPE_CHECKING:
    from random import Random

    from tequio_client.worker.blobs import Request
    from tequio_client.worker.peers import PeerNetwork
    from tequio_client.worker.store import Store
    from tequio_shared.ids import Digest, PeerKey

IN_FLIGHT = 16
"""Requests for pieces on their way to all sources: bounds memory, 1 MiB each."""
DEPTH = 4
"""Requests on their way to one source."""
REQUEST_S = 120.0
"""Longest time for one answer; a silent stream is given up much sooner."""


class Asker:
    """What all fetches share; `async with Asker(...) as asker`."""

    def __init__(
        self,
        network: PeerNetwork,
        store: Store,
        *,
        rng: Random,
        download: ByteBudget | None = None,
        blame: Blame | None = None,
    ) -> None:
        self.store = store
        self.rng = rng
        self.blame = blame or Blame()
        self._budget = download or ByteBudget()
        self._lanes = Lanes(network)
        self._flight = trio.CapacityLimiter(IN_FLIGHT)
        self._stack = AsyncExitStack()

    @property
    def received_bytes(self) -> int:
        """What peers have answered since the start; above what was verified: waste."""
        return self._lanes.received_bytes

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._lanes)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def ask(self, peer: PeerKey, request: Request, *, expect_bytes: int = 0) -> memoryview:
        """Ask within the budgets; raises PeerError."""
        await self._budget.take(expect_bytes)
        return await self._lanes.ask(peer, request, timeout_s=REQUEST_S)

    async def ask_for_bytes(self, peer: PeerKey, request: Request, expect_bytes: int) -> memoryview:
        """`ask`, for an answer so large that only so many may be on their way."""
        async with self._flight:
            return await self.ask(peer, request, expect_bytes=expect_bytes)

    def accuse(self, name: Digest, peer: PeerKey, reason: str) -> None:
        """Close our streams to a source that gave wrong bytes for that name."""
        self._lanes.drop(peer)
        self.blame.suspect(name, peer, reason)
