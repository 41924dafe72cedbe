"""The library's gossip router as we set it up: what it forgets, what it keeps too much of."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, cast

import trio
from libp2p.pubsub.gossipsub import PROTOCOL_ID_V11, PROTOCOL_ID_V12, GossipSub
from libp2p.pubsub.pubsub import Pubsub

from tequio_shared.ids import GOSSIP_BYTES

if TYPE_CHECKING:
    from libp2p.abc import IHost
    from libp2p.custom_types import TProtocol
    from libp2p.peer.id import ID
    from libp2p.pubsub.pb.rpc_pb2 import Message

RPC_BYTES = 4 * GOSSIP_BYTES
"""Longest packet between two peers."""
SUBSCRIPTIONS = 64
"""Topics of which it is remembered that a peer takes them: also such as we do not take yet."""
VALIDATED = 128
"""Messages of which it is remembered whether they passed; the library's duplicates are apart."""
SAID_AGAIN_S = 30.0


def new_pubsub(host: IHost) -> Pubsub:
    """Make the gossip service of a host, not yet running."""
    router = _Router(
        [PROTOCOL_ID_V12, PROTOCOL_ID_V11],
        degree=6,
        degree_low=4,
        degree_high=10,
        heartbeat_interval=1,
        adaptive_gossip_enabled=False,
        spam_protection_enabled=False,  # its 10 messages a second drop honest bursts
        eclipse_protection_enabled=False,
    )
    router.equivocation_detection = _Blank()
    router.recent_message_deliveries = defaultdict(_NoTimes)
    return Pubsub(
        host,
        router,
        max_inbound_rpc_size=RPC_BYTES,
        max_subscriptions_per_peer=SUBSCRIPTIONS,
        validation_cache_size=VALIDATED,
    )


class _Router(GossipSub):
    """Says again which topics we take; the library says it once, and may lose even that.

    It writes its greeting before it counts the peer as one to tell, so a topic joined in between
    is in neither; a full queue drops the news in silence; and who reopens its stream to us has
    forgotten what we said. A peer that does not know never sends us a message.
    """

    async def run(self) -> None:
        """Run, and say our topics to everybody every SAID_AGAIN_S."""
        self.manager.run_daemon_task(self._keep_said)
        await super().run()

    def add_peer(self, peer_id: ID, protocol_id: TProtocol | None) -> None:
        """Take a peer, and say our topics once it can be written to."""
        super().add_peer(peer_id, protocol_id)
        self.manager.run_task(self._say, peer_id)

    async def _keep_said(self) -> None:
        while True:
            await trio.sleep(SAID_AGAIN_S)
            for peer_id in list(self.peer_protocol):
                await self._say(peer_id)

    async def _say(self, peer_id: ID) -> None:
        pubsub = cast("Pubsub", self.pubsub)
        if pubsub.topic_ids:
            self.send_rpc(peer_id, pubsub.get_hello_packet())


class _Blank(dict[bytes, "Message"]):
    """Where the library keeps a thousand messages whole, each with the packet it came in.

    To see whether an author uses a number twice: those are duplicates to it before they get there.
    """

    def __setitem__(self, key: bytes, message: Message) -> None:
        """Keep nothing."""


class _NoTimes(list[float]):
    """Where the library notes when it sent each message, for a setting that we do not use."""

    def append(self, at_s: float) -> None:
        """Note nothing."""
