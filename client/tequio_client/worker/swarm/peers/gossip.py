"""Gossip: what is checked before the library sees a message, and the router as we set it up.

The library checks the signature over a message before it asks whether any topic accepts it, starts
a task for each message of a packet, and ends its whole service when a message names a key that
does not parse. So each packet is checked first: how many messages its forwarder may send, their
authors and lengths, and what else the topic knows without a signature.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, cast
from weakref import WeakKeyDictionary

import libp2p.pubsub.pubsub as _pubsub
import structlog
import trio
from libp2p.abc import IHost
from libp2p.custom_types import TProtocol
from libp2p.peer.id import ID
from libp2p.pubsub.gossipsub import PROTOCOL_ID_V11, PROTOCOL_ID_V12, GossipSub
from libp2p.pubsub.pb.rpc_pb2 import RPC, ControlMessage, Message
from libp2p.pubsub.pubsub import Pubsub

from tequio_client.worker.swarm.limits import RateLimiter
from tequio_client.worker.swarm.peers.stream import key_of
from tequio_shared.errors import MalformedError, SignatureInvalidError, TequioError
from tequio_shared.ids import PeerKey
from tequio_shared.limits import GOSSIP_BYTES

log = structlog.get_logger(__name__)

BACKLOG = 10_000
"""Gossip messages that may wait for our own reader."""
TOPIC_CHARACTERS = 64
"""Longest topic name; ours have 48."""
RPC_BYTES = 4 * GOSSIP_BYTES
"""Longest packet between two peers."""
SUBSCRIPTIONS = 64
"""Topics remembered of one peer; also topics that we have not joined yet."""
UNWANTED_BYTES = 4_096
"""Messages from this size on are worth telling neighbours that they need not send them again."""
VALIDATED = 128
"""Messages remembered with the result of their check; the library's duplicates are apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """One gossip message that passed its topic's check; `author` signed it at the wire."""

    author: PeerKey
    content: bytes


class TopicFilter(Protocol):
    """Filter of a topic's messages. Both methods run in the event loop: no I/O."""

    def screen(self, author: PeerKey, content: bytes) -> bool:
        """Decide in microseconds, before any signature is verified, whether to check it."""

    def check(self, author: PeerKey, content: bytes) -> bool:
        """Decide whether to forward a message of `author`; PeerError: no peer may send it."""


class GossipTopics:
    def __init__(self, host: IHost, limiter: RateLimiter, blame: Callable[[PeerKey], None]) -> None:
        self._limiter = limiter
        self._blame = blame
        self._filters: dict[str, TopicFilter] = {}
        self.pubsub = _new_pubsub(host, limiter.limits.repeat_topics_s)
        _TOPICS[host] = self
        # The library calls this function for each packet before anything else, by this name.
        _pubsub.maybe_consume_signed_record = _check_packet  # type: ignore[assignment, attr-defined]

    async def subscribe(
        self, topic: str, topic_filter: TopicFilter, nursery: trio.Nursery
    ) -> trio.MemoryReceiveChannel[Announcement]:
        """Join a topic; a reader that falls behind by BACKLOG messages loses the newest."""
        self._filters[topic] = topic_filter
        check = _safe_check(topic_filter.check, self._blame)
        self.pubsub.set_topic_validator(topic, check, False)  # noqa: FBT003
        # The filter comes first: a message between the two would pass unchecked.
        subscription = await self.pubsub.subscribe(topic)
        send, receive = trio.open_memory_channel[Announcement](BACKLOG)
        nursery.start_soon(_pump, subscription.get, send)
        return receive

    async def unsubscribe(self, topic: str) -> None:
        """Leave a topic; its reader gets nothing more."""
        self._filters.pop(topic, None)
        await self.pubsub.unsubscribe(topic)
        self.pubsub.remove_topic_validator(topic)

    def admit(self, forwarder: ID, packet: RPC) -> bool:
        """Strip a packet of what needs no check; whether to process the rest."""
        peer = key_of(forwarder)
        packet.ClearField("senderRecord")  # addresses that nobody asked for: we keep none of them
        control = packet.control
        # Control entries count as messages: each costs a look-up, and a packet holds thousands.
        count = len(packet.subscriptions)
        count += len(control.ihave) + len(control.iwant) + len(control.graft) + len(control.prune)
        if peer is None or (count and not self._limiter.allows_gossip(peer, count)):
            return False
        for prune in control.prune:
            del prune.peers[:]  # we decide whom to dial, not the peers of a peer
        topics = [one for one in packet.subscriptions if len(one.topicid) <= TOPIC_CHARACTERS]
        del packet.subscriptions[:]
        packet.subscriptions.extend(topics)
        # Messages that waited come in one packet: what the rate allows of it is taken.
        allowed = self._limiter.gossip_allowed(peer, len(packet.publish))
        wanted = [message for message in packet.publish[:allowed] if self._is_wanted(message)]
        del packet.publish[:]
        packet.publish.extend(wanted)
        return True

    def _is_wanted(self, message: Message) -> bool:
        # Most are repeats: each neighbour in the mesh sends each message.
        if self.pubsub.seen_messages.has(self.pubsub.get_message_id(message)):
            return False
        author = key_of(ID(message.from_id))
        message.ClearField("key")  # it is in `from_id`; one that does not parse ends the library
        if author is None or len(message.data) > GOSSIP_BYTES or len(message.topicIDs) != 1:
            return False
        topic_filter = self._filters.get(message.topicIDs[0])
        return topic_filter is not None and topic_filter.screen(author, message.data)


_TOPICS: WeakKeyDictionary[IHost, GossipTopics] = WeakKeyDictionary()


def _check_packet(packet: RPC, host: IHost, forwarder: ID) -> bool:
    """Replaces the library's first check of each packet; False: the packet is ignored."""
    topics = _TOPICS.get(host)
    return topics is None or topics.admit(forwarder, packet)


async def _pump(
    receive: Callable[[], Awaitable[Message]], out: trio.MemorySendChannel[Announcement]
) -> None:
    """Move messages to the large queue at once: the library's own loses what it cannot hold.

    Once the reader has left they are dropped; the library forwards them all the same.
    """
    while True:
        try:
            message = await receive()
        except trio.EndOfChannel:
            return  # we have left the topic
        author = key_of(ID(message.from_id))
        if author is None:
            continue
        try:
            out.send_nowait(Announcement(author=author, content=message.data))
        except trio.WouldBlock:
            log.warning("a gossip message was lost: our reader is behind", backlog=BACKLOG)
        except trio.BrokenResourceError:
            pass  # the reader has left


def _safe_check(
    check: Callable[[PeerKey, bytes], bool], blame: Callable[[PeerKey], None]
) -> Callable[[ID, Message], bool]:
    def validate(forwarder: ID, message: Message) -> bool:
        try:
            author = key_of(ID(message.from_id))
            return author is not None and check(author, message.data)
        except (MalformedError, SignatureInvalidError) as err:  # no honest peer forwards that
            log.debug("gossip refused", error=str(err))
            if (peer := key_of(forwarder)) is not None:
                blame(peer)
        except TequioError as err:
            log.debug("gossip refused", error=str(err))
        except Exception:  # an error here would end the process by way of libp2p
            log.exception("a gossip check failed")
        return False

    return validate


def _new_pubsub(host: IHost, repeat_s: float) -> Pubsub:
    """Make the gossip service of a host, not yet running."""
    router = RepeatingRouter(
        [PROTOCOL_ID_V12, PROTOCOL_ID_V11],
        degree=6,
        degree_low=4,
        degree_high=10,
        heartbeat_interval=1,  # the default of 120 s leaves a mesh broken for minutes
        adaptive_gossip_enabled=False,
        spam_protection_enabled=False,  # its 10 messages a second drop honest bursts
        eclipse_protection_enabled=False,
    )
    router.repeat_s = repeat_s
    # Its weights are all zero and it limits nobody, but each second it goes over all peers and
    # topics. Floods and wrong messages end before the library sees them.
    router.scorer = None
    router.equivocation_detection = _DroppingDict()
    router.recent_message_deliveries = defaultdict(_DroppingList)
    return Pubsub(
        host,
        router,
        max_inbound_rpc_size=RPC_BYTES,
        max_subscriptions_per_peer=SUBSCRIPTIONS,
        validation_cache_size=VALIDATED,
    )


class RepeatingRouter(GossipSub):
    """Repeats which topics we have joined; the library sends it once, and may lose even that.

    It writes its greeting before it counts the peer as one to inform, so a topic joined in between
    is in neither; a full queue drops the news silently; and a peer that reopens its stream to us
    has forgotten our topics. A peer that does not know them never sends us a message.
    """

    repeat_s: float

    async def run(self) -> None:
        self.manager.run_daemon_task(self._repeat_topics)
        await super().run()

    def add_peer(self, peer_id: ID, protocol_id: TProtocol | None) -> None:
        """Add a peer, and send it our topics once it can be written to."""
        super().add_peer(peer_id, protocol_id)
        # Twice is harmless, never is not: the greeting that the library sends may be lost.
        self.manager.run_task(self._send_topics, peer_id)

    async def _emit_idontwant_for_message(self, msg_id: bytes, topic_ids: Iterable[str]) -> None:
        """Keep neighbours from sending a long message again; a short one costs less than the news.

        GossipSub 1.2 asks for a threshold; the library has none.
        """
        message = self.mcache.get(msg_id)
        if message is not None and len(message.data) >= UNWANTED_BYTES:
            await super()._emit_idontwant_for_message(msg_id, topic_ids)

    async def _emit_control_msgs(
        self,
        peers_to_graft: dict[ID, list[str]],
        peers_to_prune: dict[ID, list[str]],
        peers_to_gossip: dict[ID, dict[str, list[bytes]]],
    ) -> None:
        """Send each peer its own control entries; the library adds those of the peers before it."""
        for peer in {**peers_to_graft, **peers_to_prune, **peers_to_gossip}:
            control = ControlMessage()
            for topic in peers_to_graft.get(peer, ()):
                control.graft.add(topicID=topic)
            for topic in peers_to_prune.get(peer, ()):
                control.prune.add(topicID=topic)
            for topic, messages in peers_to_gossip.get(peer, {}).items():
                control.ihave.add(topicID=topic, messageIDs=messages)
            await self.emit_control_message(control, peer)

    async def _repeat_topics(self) -> None:
        while True:
            await trio.sleep(self.repeat_s)
            for peer_id in list(self.peer_protocol):
                await self._send_topics(peer_id)

    async def _send_topics(self, peer_id: ID) -> None:
        pubsub = cast("Pubsub", self.pubsub)
        if pubsub.topic_ids:
            self.send_rpc(peer_id, pubsub.get_hello_packet())


class _DroppingDict(dict[bytes, "Message"]):
    """In place of a dict in which the library holds a thousand messages, each with its packet.

    It serves to see whether an author uses a number twice; such messages are dropped as duplicates
    before they get there.
    """

    def __setitem__(self, key: bytes, message: Message) -> None:
        """Drop the message."""


class _DroppingList(list[float]):
    """In place of the list of times of each message, for a setting that we do not use."""

    def append(self, at_s: float) -> None:
        """Drop the time."""
