"""A pool of sources: the peers that may have what is being fetched; it may grow meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tequio_shared.ids import PeerKey


class SourcePool:
    """Peers in order of preference; those added later are asked at once."""

    def __init__(self, peers: Iterable[PeerKey] = (), *, may_grow: bool = True) -> None:
        self._peers = list(dict.fromkeys(peers))
        self._changed = trio.Event()
        self.may_grow = may_grow

    @property
    def peers(self) -> tuple[PeerKey, ...]:
        """The peers so far."""
        return tuple(self._peers)

    def add(self, peer: PeerKey) -> None:
        """Add a source; one that is there already changes nothing."""
        if peer not in self._peers:
            self._peers.append(peer)
            self._wake()

    def close(self) -> None:
        """Say that no more will be added: a fetch may then fail before its deadline."""
        self.may_grow = False
        self._wake()

    async def wait_longer_than(self, known: int) -> None:
        """Return once there are more than `known` peers, or when no more will be added."""
        while len(self._peers) <= known and self.may_grow:
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
