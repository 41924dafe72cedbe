"""Gossip: announcements of log entries to all peers of a network, and the exchange of addresses.

Announcements of a run go over the topic `/tequio/<first 16 hex of the network id>/work/<first 16
hex of the run id>/1`. Delivery is best effort, and a reader sees each content once.

Peer exchange, protocol /tequio/peers/1: the asker sends one empty frame, or one that holds its own
address record; the answer is one frame: count u16, then that many records, each with its length
u16 before it (big-endian); at most RECORDS of them.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_shared.addresses import RECORD_BYTES, AddressRecord
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import sha256

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from random import Random

    from tequio_client.worker.addressbook import AddressBook
    from tequio_client.worker.peers import Announcement, PeerNetwork, PeerStream
    from tequio_client.worker.peers.topics import Judge
    from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId

log = structlog.get_logger(__name__)

PEERS_PROTOCOL = "/tequio/peers/1"
RECORDS = 64
SEEN = 16_384
"""Contents remembered so that each is given out once."""
EXCHANGE_S = 20.0
_U16 = struct.Struct("!H")
_ANSWER_BYTES = 2 + RECORDS * (2 + RECORD_BYTES)


def topic_of(network_id: NetworkId, run: RunId) -> str:
    """Name the topic of a run's work announcements."""
    return f"/tequio/{network_id.hex()[:16]}/work/{run.hex()[:16]}/1"


class Gossip:
    """Announcements of one run; made by `join`."""

    def __init__(
        self,
        network: PeerNetwork,
        topic: str,
        received: trio.MemoryReceiveChannel[Announcement],
    ) -> None:
        self._network = network
        self._topic = topic
        self._received = received
        self._seen: OrderedDict[Digest, None] = OrderedDict()

    @classmethod
    async def join(
        cls, network: PeerNetwork, network_id: NetworkId, run: RunId, judge: Judge
    ) -> Gossip:
        """Join the run's topic. What the judge does not take is not passed on."""
        topic = topic_of(network_id, run)
        return cls(network, topic, await network.subscribe(topic, judge))

    @classmethod
    async def relay(
        cls, network: PeerNetwork, network_id: NetworkId, run: RunId, judge: Judge
    ) -> None:
        """Pass on what the judge takes, for as long as the network is open; keep nothing of it."""
        (await network.subscribe(topic_of(network_id, run), judge)).close()

    async def announce(self, entry: bytes) -> None:
        """Tell everybody; raises RefusedError above GOSSIP_BYTES."""
        await self._network.publish(self._topic, entry)

    async def receive(self) -> Announcement:
        """Wait for the next announcement whose content was not received before, ours too."""
        while True:
            announcement = await self._received.receive()
            if self._is_new(sha256(announcement.content)):
                return announcement

    def _is_new(self, content: Digest) -> bool:
        if content in self._seen:
            self._seen.move_to_end(content)
            return False
        self._seen[content] = None
        if len(self._seen) > SEEN:
            self._seen.popitem(last=False)
        return True


class PeerExchange:
    """Gives out address records from the book, and asks other peers for theirs."""

    def __init__(self, network: PeerNetwork, book: AddressBook, *, rng: Random) -> None:
        self._network = network
        self._book = book
        self._rng = rng
        network.serve(PEERS_PROTOCOL, self.serve)

    async def serve(self, stream: PeerStream) -> None:
        """Answer one question; raises PeerError when the peer fails or breaks the protocol."""
        with trio.move_on_after(EXCHANGE_S):
            offered = await stream.receive_frame(most_bytes=RECORD_BYTES)
            if offered:
                self._learn([AddressRecord.parse(bytes(offered))], stream.peer)
            await stream.send_frame(pack_records(self._book.sample(RECORDS, self._rng)))

    async def ask(self, peer: PeerKey, own: AddressRecord | None = None) -> int:
        """Ask a peer for the addresses it knows, telling it ours; returns how many were news.

        Raises PeerError when the peer fails or sends what is not an answer.
        """
        async with _stream(self._network, peer) as stream:
            await stream.send_frame(own.encode() if own else b"")
            answer = await stream.receive_frame(most_bytes=_ANSWER_BYTES)
        news = self._learn(parse_records(bytes(answer)), peer)
        log.debug("addresses exchanged", news=news, known=len(self._book))
        return news

    def _learn(self, records: Sequence[AddressRecord], told_by: PeerKey) -> int:
        """Put records in the book; says how many were news. PeerError when there are too many."""
        if not self._network.door.takes_records(told_by, len(records)):
            raise PeerError("too many address records")
        source = self._network.place_of(told_by)
        others = [one for one in records if one.author != self._network.key]
        news = [one for one in others if self._book.add(one, source)]
        for record in news:
            self._network.remember(record.author, record.addrs)
        return len(news)


@asynccontextmanager
async def _stream(network: PeerNetwork, peer: PeerKey) -> AsyncIterator[PeerStream]:
    stream = await network.open_stream(peer, PEERS_PROTOCOL)
    try:
        yield stream
    finally:
        await stream.drop()


def pack_records(records: Sequence[AddressRecord]) -> bytes:
    """Write an answer of at most RECORDS records."""
    encoded = [record.encode() for record in records[:RECORDS]]
    parts = [_U16.pack(len(encoded))]
    for raw in encoded:
        parts += (_U16.pack(len(raw)), raw)
    return b"".join(parts)


def parse_records(answer: bytes) -> list[AddressRecord]:
    """Read `pack_records` back; raises MalformedError. The records are not yet verified."""
    try:
        (count,) = _U16.unpack_from(answer)
        if count > RECORDS:
            raise MalformedError(f"{count} records where {RECORDS} are allowed")
        records, at = [], _U16.size
        for _ in range(count):
            (size,) = _U16.unpack_from(answer, at)
            at += _U16.size + size
            records.append(AddressRecord.parse(answer[at - size : at]))
    except struct.error as err:
        raise MalformedError("an answer that is cut short") from err
    if at != len(answer):
        raise MalformedError(f"{len(answer) - at} bytes after the last record")
    return records
