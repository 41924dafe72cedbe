"""Noticing that a peer has fallen silent, which the library does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import structlog
import trio
from libp2p.host.ping import PingService

from tequio_client.worker.peers.identity import id_of
from tequio_shared.ids import peer_id_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from libp2p.abc import IHost, INetConn
    from libp2p.security.noise.io import NoiseTransportReadWriter
    from libp2p.security.secure_session import SecureSession
    from libp2p.stream_muxer.yamux.yamux import Yamux

    from tequio_client.worker.swarm.limits import PeerLimits
    from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

NEW_S = 5.0
"""Between two looks for peers that are new."""


class Watch:
    """Pings every connected peer that says nothing, and lets go of those that answer nothing."""

    def __init__(
        self,
        host: IHost,
        limits: PeerLimits,
        connected: Callable[[], set[PeerKey]],
        disconnect: Callable[[PeerKey], Awaitable[None]],
    ) -> None:
        self._host = host
        self._ping = PingService(host)
        self._limits = limits
        self._connected = connected
        self._disconnect = disconnect
        self._watched: set[PeerKey] = set()

    async def run(self) -> None:
        """Watch until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                for peer in self._connected() - self._watched:
                    self._watched.add(peer)
                    nursery.start_soon(self._watch, peer)
                await trio.sleep(min(NEW_S, self._limits.ping_every_s))

    async def _watch(self, peer: PeerKey) -> None:
        misses, heard = 0, self._heard(peer)
        while peer in self._connected() and misses < self._limits.ping_misses:
            await trio.sleep(self._limits.ping_every_s)
            spoke = self._heard(peer) > heard
            misses = 0 if spoke or await self._answers(peer) else misses + 1
            heard = self._heard(peer)
        if misses:
            log.info("a silent peer is let go", peer=peer_id_text(peer))
        await self._disconnect(peer)
        self._watched.discard(peer)

    async def _answers(self, peer: PeerKey) -> bool:
        """Whether the peer answered a ping, or sent anything else meanwhile."""
        before = self._heard(peer)
        with trio.move_on_after(self._limits.ping_wait_s):
            try:
                await self._ping.ping(id_of(peer), 1)
            except Exception as err:  # noqa: BLE001 - libp2p fails in many ways on a dead connection
                log.debug("a ping failed", peer=peer_id_text(peer), error=repr(err))
            else:
                return True
        return self._heard(peer) > before

    def _heard(self, peer: PeerKey) -> int:
        connections = self._host.get_network().get_connections(id_of(peer))
        return sum(_messages_read(connection) for connection in connections)


def _messages_read(connection: INetConn) -> int:
    """How many encrypted messages came in: the receiving cipher's nonce."""
    secured = cast("Yamux", connection.muxed_conn).secured_conn
    noise = cast("NoiseTransportReadWriter", cast("SecureSession", secured).conn)
    nonce: int = noise.noise_state.noise_protocol.cipher_state_decrypt.n
    return nonce
