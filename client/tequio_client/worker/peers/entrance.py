"""Where connections come in: counted, slowed down, and let go when they end.

Takes the place of the library's own counting, which never gives a place back before the host ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import structlog
import trio
from libp2p.io.abc import ReadWriteCloser
from libp2p.network.connection.raw_connection import RawConnection
from libp2p.network.exceptions import SwarmException

from tequio_client.worker.peers.foreign import shielded
from tequio_client.worker.peers.identity import key_of
from tequio_client.worker.swarm.limits import SMALL_BYTES
from tequio_shared.addresses import network_of

if TYPE_CHECKING:
    from libp2p.abc import IHost, IMuxedConn, IRawConnection
    from libp2p.network.connection.swarm_connection import SwarmConn
    from libp2p.network.swarm import Swarm
    from libp2p.stream_muxer.yamux.yamux import Yamux
    from multiaddr import Multiaddr

    from tequio_client.worker.swarm.limits import Door

log = structlog.get_logger(__name__)

READ_BYTES = 1 << 18
"""Largest read of a socket: the library asks for as much as the peer says that it will send."""
LONGEST_PAUSE_S = 5.0


def guard(host: IHost, door: Door) -> None:
    """Put the door before a host that does not run yet."""
    swarm = cast("Swarm", host.get_network())
    upgrade_out, add = swarm.upgrade_outbound_raw_conn, swarm.add_conn

    async def take_in(conn: ReadWriteCloser, maddr: Multiaddr) -> None:
        await _take_in(swarm, door, conn, maddr)

    async def dialled(raw: IRawConnection, *args: object, **names: object) -> object:
        raw.stream = Metered(raw.stream, door)  # type: ignore[attr-defined]  # a RawConnection
        return await upgrade_out(raw, *args, **names)  # type: ignore[arg-type]  # as it came

    async def add_known(muxed: IMuxedConn, direction: str = "unknown") -> SwarmConn:
        key = key_of(muxed.peer_id)
        if key is None or door.is_out(key):
            await cast("Yamux", muxed).secured_conn.close()
            raise SwarmException("a key of another kind, or a peer that is kept out")
        return await add(muxed, direction)

    swarm._handle_inbound_connection = take_in  # type: ignore[method-assign, assignment]  # noqa: SLF001 - in its place
    swarm.upgrade_outbound_raw_conn = dialled  # type: ignore[method-assign, assignment]
    swarm.add_conn = add_known  # type: ignore[method-assign, assignment]


async def _take_in(swarm: Swarm, door: Door, conn: ReadWriteCloser, maddr: Multiaddr) -> None:
    """Hold an inbound connection from its first byte to its end."""
    remote = conn.get_remote_address()
    try:
        with door.arrived(remote[0] if remote else "") as arrival:
            raw = RawConnection(Metered(conn, door), initiator=False)
            muxed = await swarm.upgrade_inbound_raw_conn(raw, maddr)
            arrival.show_key()
            await cast("Yamux", muxed).event_closed.wait()
    except Exception as err:  # noqa: BLE001 - whatever a stranger's bytes can bring about in libp2p
        log.debug("a connection was not taken in", remote=remote, error=str(err) or repr(err))
    finally:
        with shielded(1):
            await conn.close()


class Metered(ReadWriteCloser):
    """A socket that reads and writes no faster than its address may."""

    def __init__(self, conn: ReadWriteCloser, door: Door) -> None:
        self._conn = conn
        self._door = door
        remote = conn.get_remote_address()
        self._network = network_of(remote[0] if remote else "")

    async def read(self, n: int | None = None) -> bytes:
        """Read some bytes; none at the end."""
        came = await self._conn.read(READ_BYTES if n is None else min(n, READ_BYTES))
        await self._pay(max(len(came), SMALL_BYTES), is_ours=False)
        return came

    async def write(self, data: bytes) -> None:
        """Write all of it."""
        await self._pay(max(len(data), SMALL_BYTES), is_ours=True)
        await self._conn.write(data)

    async def close(self) -> None:
        """Close the socket."""
        await self._conn.close()

    def get_remote_address(self) -> tuple[str, int] | None:
        """Say where the other end is."""
        return self._conn.get_remote_address()

    async def _pay(self, size_bytes: int, *, is_ours: bool) -> None:
        delay_s = self._door.delay_s(self._network, size_bytes, is_ours=is_ours)
        if delay_s:
            await trio.sleep(min(delay_s, LONGEST_PAUSE_S))
