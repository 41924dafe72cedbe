"""A libp2p host as we want it: Noise alone, Yamux alone, every handler guarded."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import structlog
from libp2p import new_host
from libp2p.crypto.ed25519 import create_new_key_pair
from libp2p.crypto.x25519 import create_new_key_pair as create_noise_key_pair
from libp2p.network.config import ConnectionConfig
from libp2p.security.noise.transport import PROTOCOL_ID as NOISE
from libp2p.security.noise.transport import Transport as Noise

from tequio_client.worker.peers import entrance, fixes
from tequio_client.worker.peers.foreign import is_foreign, shielded
from tequio_client.worker.peers.identity import key_of
from tequio_client.worker.swarm.limits import CONNECTIONS
from tequio_shared.errors import MalformedError, SignatureInvalidError, TequioError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from libp2p.abc import IHost, INetStream
    from libp2p.network.swarm import Swarm
    from multiaddr import Multiaddr

    from tequio_client.worker.swarm.limits import Door
    from tequio_shared.ids import PeerKey

    Handler = Callable[[INetStream], Awaitable[None]]

log = structlog.get_logger(__name__)

HANDSHAKE_S = 10


def make(seed: bytes, listen: list[Multiaddr], announce: list[Multiaddr], door: Door) -> IHost:
    """Make a host that does not run yet."""
    fixes.install()
    pair = create_new_key_pair(seed)
    host = new_host(
        key_pair=pair,
        listen_addrs=listen,
        announce_addrs=announce or None,
        muxer_preference="YAMUX",
        # Noise alone: the default also takes plaintext
        sec_opt={NOISE: Noise(pair, noise_privkey=create_noise_key_pair().private_key)},
        connection_config=ConnectionConfig(
            max_connections=CONNECTIONS,
            high_watermark=CONNECTIONS,  # nobody is pruned: the door lets in fewer
            low_watermark=0,
            min_connections=0,
            inbound_upgrade_timeout=HANDSHAKE_S,
        ),
    )
    entrance.guard(host, door)
    return host


def guarded(body: Handler, blame: Callable[[PeerKey], None]) -> Handler:
    """Wrap a handler: its stream is closed after it, or reset; who sent garbage is blamed."""

    async def handler(stream: INetStream) -> None:
        try:
            await body(stream)
            await stream.close()  # not reset: the last bytes may be in flight
        except Exception as err:  # noqa: BLE001 - an error here would end the host
            await _dropped(stream, err, blame)

    return handler


def guard_negotiation(host: IHost, blame: Callable[[PeerKey], None]) -> None:
    """Guard what the library does with a new stream before any handler has it."""
    network = cast("Swarm", host.get_network())
    negotiate = network.common_stream_handler

    async def guarded_negotiation(stream: INetStream) -> None:
        try:
            await negotiate(stream)
        except Exception as err:  # noqa: BLE001 - an error here would end the host
            await _dropped(stream, err, blame)

    network.set_stream_handler(guarded_negotiation)


async def _dropped(stream: INetStream, err: Exception, blame: Callable[[PeerKey], None]) -> None:
    peer = key_of(stream.muxed_conn.peer_id)
    if isinstance(err, TequioError | OSError | EOFError) or is_foreign(err):
        log.debug("a stream ended", protocol=stream.get_protocol(), error=str(err) or repr(err))
    else:
        log.error("a stream handler failed", protocol=stream.get_protocol(), exc_info=err)
    with shielded(2):
        try:
            await stream.reset()
        except Exception as reset_err:  # noqa: BLE001 - the stream is thrown away
            log.debug("a stream could not be reset", error=repr(reset_err))
    if peer is not None and _is_garbage(err):
        blame(peer)


def _is_garbage(err: Exception) -> bool:
    """Whether no honest program sends what led to this error."""
    is_unparsed = type(err).__name__ == "DecodeError"  # of protobuf, which the library reads with
    return isinstance(err, MalformedError | SignatureInvalidError) or is_unparsed
