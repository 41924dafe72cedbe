"""The peer store that libp2p gets: connected peers only, and no address that a peer claimed.

The library's own store keeps a key, protocols and a signed record of every peer that ever
connected, 5 to 6 KB each, and dials whatever address a peer claimed in identify or in gossip as
soon as something opens a stream to a peer that has left. We decide whom to dial: the store knows
the one address that is being dialled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from libp2p.peer.envelope import Envelope
from libp2p.peer.id import ID
from libp2p.peer.peerdata import PeerData
from libp2p.peer.peerstore import PeerStore, PeerStoreError
from multiaddr import Multiaddr


class ConnectedPeers(PeerStore):
    """A store of the peers that `is_connected`, and of ourselves."""

    def __init__(self, own: ID) -> None:
        super().__init__()
        self.is_connected: Callable[[ID], bool] = lambda _: False  # replaced once there is a swarm
        self._own = own
        self._dialled: dict[ID, Multiaddr] = {}
        self.peer_data_map = _ConnectedOnly(self._is_known)

    @contextmanager
    def dialling(self, peer: ID, addr: Multiaddr) -> Iterator[None]:
        """Give the library this one address of the peer during the block."""
        self._dialled[peer] = addr
        try:
            yield
        finally:
            del self._dialled[peer]

    def addrs(self, peer_id: ID) -> list[Multiaddr]:
        if peer_id not in self._dialled:
            raise PeerStoreError("we are not dialling this peer")
        return [self._dialled[peer_id]]

    def add_addrs(self, peer_id: ID, addrs: Sequence[Multiaddr], ttl: int = 0) -> None:
        """Do nothing: an address is a claim of the peer."""

    def consume_peer_record(self, envelope: Envelope, ttl: int) -> bool:
        """Do nothing: a record holds claimed addresses. True, so that its packet is processed."""
        return True

    def _is_known(self, peer: ID) -> bool:
        return peer == self._own or peer in self._dialled or self.is_connected(peer)


class _ConnectedOnly(dict[ID, PeerData]):
    """Drops what the library notes about a peer that is not connected.

    Also when it comes too late: identify ends after its peer has left. A new peer costs one pass
    over those that are remembered, which are as many as there are connections.
    """

    def __init__(self, is_known: Callable[[ID], bool]) -> None:
        super().__init__()
        self._is_known = is_known

    def setdefault(self, peer: ID, data: PeerData) -> PeerData:
        if peer in self:
            return self[peer]
        if self._is_known(peer):
            for gone in [one for one in self if not self._is_known(one)]:
                del self[gone]
            self[peer] = data
        return data
