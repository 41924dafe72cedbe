"""Gossip topics: what is looked at before the library takes a message, and what passes then.

The library checks the signature over a message before it asks whether anybody wants it, makes a
task for each message of a packet, and ends its whole service when a message names a key that does
not parse. So each packet is looked at first: how many messages its forwarder may send, who the
authors are, how long the messages, and whatever else the topic knows without a signature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

import libp2p.pubsub.pubsub as _pubsub
import structlog
import trio
from libp2p.peer.id import ID
from libp2p.pubsub.utils import maybe_consume_signed_record

from tequio_client.worker.peers.identity import key_of
from tequio_client.worker.peers.router import new_pubsub
from tequio_shared.errors import MalformedError, SignatureInvalidError, TequioError
from tequio_shared.ids import GOSSIP_BYTES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from libp2p.abc import IHost
    from libp2p.pubsub.pb.rpc_pb2 import RPC, Message

    from tequio_client.worker.swarm.limits import Door
    from tequio_shared.ids import PeerKey

log = structlog.get_logger(__name__)

BACKLOG = 10_000
"""Gossip messages that may wait for our own reader."""
TOPIC_CHARACTERS = 64
"""Longest topic name; ours have 48."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """One gossip message that passed its topic's check; `author` signed it at the wire."""

    author: PeerKey
    content: bytes


class Judge(Protocol):
    """What a topic takes. Both are called in the event loop: no I/O."""

    def screen(self, author: PeerKey, content: bytes) -> bool:
        """Whether to look further, before any signature is verified: microseconds."""

    def check(self, author: PeerKey, content: bytes) -> bool:
        """Whether to pass the message on; `author` signed it. PeerError: nobody may send such."""


class Topics:
    """The gossip of one host."""

    def __init__(self, host: IHost, door: Door, blame: Callable[[PeerKey], None]) -> None:
        self._door = door
        self._blame = blame
        self._judges: dict[str, Judge] = {}
        self.pubsub = new_pubsub(host)
        _TOPICS[host] = self
        _pubsub.maybe_consume_signed_record = _look_at  # type: ignore[assignment, attr-defined]

    async def subscribe(
        self, topic: str, judge: Judge, nursery: trio.Nursery
    ) -> trio.MemoryReceiveChannel[Announcement]:
        """Join a topic; a reader that falls behind by BACKLOG messages loses the newest.

        Who only passes messages on closes the channel.
        """
        self._judges[topic] = judge
        check = _safe_check(judge.check, self._blame)
        self.pubsub.set_topic_validator(topic, check, False)  # noqa: FBT003
        subscription = await self.pubsub.subscribe(topic)
        send, receive = trio.open_memory_channel[Announcement](BACKLOG)
        nursery.start_soon(_pump, subscription.get, send)
        return receive

    def admit(self, forwarder: ID, packet: RPC) -> bool:
        """Strip a packet of what nobody needs to look at; say whether to look at the rest."""
        peer = key_of(forwarder)
        control = packet.control
        count = len(packet.publish) + len(packet.subscriptions)
        count += len(control.ihave) + len(control.iwant) + len(control.graft) + len(control.prune)
        if peer is None or (count and not self._door.takes_gossip(peer, count)):
            return False
        for prune in control.prune:
            del prune.peers[:]  # whom to dial is for us to say
        topics = [one for one in packet.subscriptions if len(one.topicid) <= TOPIC_CHARACTERS]
        del packet.subscriptions[:]
        packet.subscriptions.extend(topics)
        wanted = [message for message in packet.publish if self._is_wanted(message)]
        del packet.publish[:]
        packet.publish.extend(wanted)
        return True

    def _is_wanted(self, message: Message) -> bool:
        author = key_of(ID(message.from_id))
        message.ClearField("key")  # it is in `from_id`; one that does not parse ends the library
        if author is None or len(message.data) > GOSSIP_BYTES or len(message.topicIDs) != 1:
            return False
        judge = self._judges.get(message.topicIDs[0])
        return judge is not None and judge.screen(author, message.data)


_TOPICS: WeakKeyDictionary[IHost, Topics] = WeakKeyDictionary()


def _look_at(packet: RPC, host: IHost, forwarder: ID) -> bool:
    """Stand where the library looks at each packet first; no: the packet is passed over."""
    topics = _TOPICS.get(host)
    if topics is not None and not topics.admit(forwarder, packet):
        return False
    return maybe_consume_signed_record(packet, host, forwarder)


async def _pump(
    receive: Callable[[], Awaitable[Message]], out: trio.MemorySendChannel[Announcement]
) -> None:
    """Move messages to the large queue at once: the library's own loses what it cannot hold.

    Once the reader has left, they are taken and forgotten: passing them on goes on without it.
    """
    while True:
        message = await receive()
        author = key_of(ID(message.from_id))
        if author is None:
            continue
        try:
            out.send_nowait(Announcement(author=author, content=message.data))
        except trio.WouldBlock:
            log.warning("a gossip message was lost, our reader is behind", backlog=BACKLOG)
        except trio.BrokenResourceError:
            pass  # the reader has left


def _safe_check(
    check: Callable[[PeerKey, bytes], bool], blame: Callable[[PeerKey], None]
) -> Callable[[ID, Message], bool]:
    def validate(forwarder: ID, message: Message) -> bool:
        try:
            author = key_of(ID(message.from_id))
            return author is not None and check(author, message.data)
        except (MalformedError, SignatureInvalidError) as err:  # no honest peer passes that on
            log.debug("gossip refused", error=str(err))
            if (peer := key_of(forwarder)) is not None:
                blame(peer)
        except TequioError as err:
            log.debug("gossip refused", error=str(err))
        except Exception:  # an error here would end the process by way of libp2p
            log.exception("a gossip check failed")
        return False

    return validate
