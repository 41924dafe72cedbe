"""What is changed in libp2p itself before the first host; for one version of it only."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

import libp2p.network.swarm as _swarm
import libp2p.protocol_muxer.multiselect_communicator as _communicator
import libp2p.pubsub.pubsub as _pubsub
from libp2p.exceptions import ParseError
from libp2p.network.auto_connector import AutoConnector
from libp2p.pubsub.rpc_queue import RpcQueue
from libp2p.utils import read_varint_prefixed_bytes_limited

from tequio_client.worker.peers import yamux
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from libp2p.io.abc import Reader

LIBP2P_VERSION = "0.8.1"
RPC_QUEUE = 1024
"""Gossip messages that may wait for one peer; the library's 32 overflow in silence."""
SUBSCRIPTION_QUEUE = 4096
NEGOTIATION_BYTES = 1024
"""Longest line of a negotiation; the library would wait for as many bytes as the peer names."""

_queue_init = RpcQueue.__init__


def install() -> None:
    """Change the library; RefusedError when it is another version."""
    version = importlib.metadata.version("libp2p")
    if version != LIBP2P_VERSION:
        raise RefusedError("libp2p-version", f"libp2p {version}; made for {LIBP2P_VERSION} only")
    _swarm._HAPPY_EYEBALLS_DELAY = 0.02  # noqa: SLF001 - else every connect waits 250 ms
    _pubsub.SUBSCRIPTION_CHANNEL_SIZE = SUBSCRIPTION_QUEUE
    _communicator.read_delim = _read_line  # type: ignore[attr-defined]
    yamux.install()
    AutoConnector.maybe_connect = _no_dialling  # type: ignore[method-assign]
    RpcQueue.__init__ = _larger_queue  # type: ignore[method-assign]


async def _read_line(reader: Reader) -> bytes:
    line = await read_varint_prefixed_bytes_limited(reader, NEGOTIATION_BYTES)
    if not line.endswith(b"\n"):
        raise ParseError("a line of a negotiation without its end")
    return line[:-1]


def _larger_queue(self: RpcQueue, *args: int, **kwargs: int) -> None:
    _queue_init(self, *args, **kwargs)
    self._queue.max_size = RPC_QUEUE


async def _no_dialling(self: AutoConnector) -> None:
    """Do nothing: whom to dial is for us to say; a peer that was dropped stays dropped."""
