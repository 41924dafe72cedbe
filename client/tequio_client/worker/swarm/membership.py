"""Staying connected: seeds from the ledger, other peers from them, and again after a loss.

The ledger is only needed to find the first peer; who is connected once learns of the others from
its peers and keeps their signed address records, so a dead seed or ledger splits nobody off.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_shared.addresses import RECORD_BYTES, AddressRecord, is_loopback, sign_addresses
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import peer_id_text, sha256

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from random import Random

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.peers import Announcement, PeerNetwork, PeerStream
    from tequio_client.worker.peers.topics import Judge
    from tequio_shared.ids import Digest, NetworkId, PeerKey, RunId
    from tequio_shared.keys import Signer

# --- The address book: the freshest signed address record of every peer we heard of.
#
# Whoever tells us of peers may lie in number only, for each record is signed by its own peer. So
# it is bounded how many records one source may bring, and how many may lie in one place; a full
# book makes room at the expense of whoever filled it. What the ledger names, and whom we were
# told to begin with, is never let go: no flood can leave us among strangers alone.

log = structlog.get_logger(__name__)

PEERS = 4_096
"""Records kept in all."""
OF_SOURCE = 512
"""Records kept of one source: the network address of the peer that told us."""
AT_PLACE = 64
"""Records kept whose first address lies in one network, or has one name."""
LOOPBACK_TIMES = 16
"""How much more may lie on this machine, and be told from it."""
LEDGER = "ledger"
"""The source whose records are never let go while they are current."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    record: AddressRecord
    source: str


class AddressBook:
    """Records by peer; what is too old is not given out. `clock` gives milliseconds since 1970."""

    def __init__(self, net: NetworkId, clock: Callable[[], int]) -> None:
        self._net = net
        self._clock = clock
        self._kept: dict[PeerKey, _Kept] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, record: AddressRecord, source: str) -> bool:
        """Keep the record if it verifies, is current and is news; say whether it was."""
        old = self._kept.get(record.author)
        if (old is not None and old.record.ts >= record.ts) or not self._has_room(record, source):
            return False
        try:
            record.verify(self._net)
        except PeerError as err:
            log.debug("an address record is refused", error=str(err))
            return False
        self._keep(record, source)
        return True

    def get(self, peer: PeerKey) -> AddressRecord | None:
        """Look one peer up; None when nothing current is known."""
        kept = self._kept.get(peer)
        is_good = kept is not None and kept.record.is_current(self._clock())
        return kept.record if kept is not None and is_good else None

    def current(self) -> tuple[AddressRecord, ...]:
        """List the records that are current; the others are forgotten."""
        now = self._clock()
        gone = [peer for peer, kept in self._kept.items() if not kept.record.is_current(now)]
        for peer in gone:
            log.debug("an address record is too old", peer=peer_id_text(peer))
            del self._kept[peer]
        return tuple(kept.record for kept in self._kept.values())

    def sample(self, most: int, rng: Random) -> tuple[AddressRecord, ...]:
        """Draw at most `most` current records."""
        current = self.current()
        return tuple(rng.sample(current, min(most, len(current))))

    def _has_room(self, record: AddressRecord, source: str) -> bool:
        """Whether the record is current, and its place not full of others."""
        if not record.is_current(self._clock()):
            return False
        place, most = record.place, AT_PLACE * _times(record.place)
        others = (kept for peer, kept in self._kept.items() if peer != record.author)
        return source == LEDGER or sum(kept.record.place == place for kept in others) < most

    def _keep(self, record: AddressRecord, source: str) -> None:
        old = self._kept.get(record.author)
        if old is not None and source != LEDGER:
            self._kept[record.author] = replace(old, record=record)
            return
        self._kept[record.author] = _Kept(record=record, source=source)
        of_source = sum(kept.source == source for kept in self._kept.values())
        if source != LEDGER and of_source > OF_SOURCE * _times(source):
            self._drop_oldest(source)
        if len(self._kept) > PEERS:
            self._drop_oldest(self._greediest())

    def _greediest(self) -> str:
        counts = Counter(kept.source for kept in self._kept.values() if kept.source != LEDGER)
        return counts.most_common(1)[0][0] if counts else LEDGER

    def _drop_oldest(self, source: str) -> None:
        theirs = (kept.record for kept in self._kept.values() if kept.source == source)
        del self._kept[min(theirs, key=lambda record: record.ts).author]


def _times(network: str) -> int:
    return LOOPBACK_TIMES if is_loopback(network) else 1


# --- Gossip: announcements of log entries to all peers of a network, and the exchange of
# addresses.
#
# Announcements of a run go over the topic `/tequio/<first 16 hex of the network id>/work/<first
# 16 hex of the run id>/1`. Delivery is best effort, and a reader sees each content once.
#
# Peer exchange, protocol /tequio/peers/1: the asker sends one empty frame, or one that holds its
# own address record; the answer is one frame: count u16, then that many records, each with its
# length u16 before it (big-endian); at most RECORDS of them.

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


DEGREE = 16
"""Connections below which we open some."""
CHOSEN = 8
"""Connections that we opened ourselves, to peers of our choice, whoever else comes in."""
SWARM_AT_PLACE = 2
"""Of the peers that we choose at once, how many may be in one network."""
FIRST_PAUSE_S = 1.0
PAUSE_S = 60.0
SEED_PAUSE_S = 10.0
"""A ledger that was started again knows of no seed before each has told it where it is."""
LOOK_S = 1.0
"""How soon a connection is missed that was there."""
RECORD_EVERY_MS = 120_000
"""How often our own record is signed anew; it lives an hour."""


class Swarm:
    """Keeps us connected: one task, `run`."""

    def __init__(  # noqa: PLR0913 - composition
        self,
        *,
        network: PeerNetwork,
        exchange: PeerExchange,
        book: AddressBook,
        ledger: LedgerApi,
        signer: Signer,
        net: NetworkId,
        clock: Callable[[], int],
        rng: Random,
        bootstrap: Sequence[str] = (),
        is_seed: bool = False,
    ) -> None:
        self._network = network
        self._exchange = exchange
        self._book = book
        self._ledger = ledger
        self._signer = signer
        self._net = net
        self._clock = clock
        self._rng = rng
        self._bootstrap = tuple(bootstrap)
        self._is_seed = is_seed
        self._record: AddressRecord | None = None
        self._lost = trio.Event()

    async def run(self) -> None:
        """Connect, learn and reconnect until cancelled.

        After the first time each kind of work goes at its own pace: a peer or ledger that does not
        answer holds up nothing else.
        """
        works = (self._ask_ledger, self._bootstrapped, self._learn, self._widen)
        for work in works:
            await work()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._miss)
            for work in works:
                nursery.start_soon(self._again_and_again, work)

    async def _miss(self) -> None:
        """Notice who is gone: then every work begins anew with short pauses."""
        before = self._network.connected()
        while True:
            await trio.sleep(LOOK_S)
            connected = self._network.connected()
            if before - connected:
                lost, self._lost = self._lost, trio.Event()
                lost.set()
            before = connected

    async def _again_and_again(self, work: Callable[[], Awaitable[None]]) -> None:
        pause = FIRST_PAUSE_S
        while True:
            lost = self._lost
            with trio.move_on_after(pause * self._rng.uniform(0.8, 1.2)):
                await lost.wait()
            pause = min(pause * 1.5, SEED_PAUSE_S if self._is_seed else PAUSE_S)
            if lost.is_set():
                pause = FIRST_PAUSE_S
                await trio.sleep(pause * self._rng.uniform(0.8, 1.2))
            await work()

    async def _bootstrapped(self) -> None:
        async with trio.open_nursery() as nursery:
            for addr in self._bootstrap:
                nursery.start_soon(self._connect, addr)

    async def _learn(self) -> None:
        async with trio.open_nursery() as nursery:
            for peer in sorted(self._network.connected()):
                nursery.start_soon(self._learn_from, peer)

    async def _ask_ledger(self) -> None:
        """Learn the seeds; as a seed, say where we are."""
        try:
            if self._is_seed:
                await self._ledger.put_seed(self._own_record())
            records = await self._ledger.seeds(self._net)
        except (LedgerUnavailableError, RefusedError, PeerError) as err:
            log.warning("the ledger gives no seeds", error=str(err))
            return
        for record in records:
            if record.author != self._network.key:
                self._book.add(record, LEDGER)
                if (known := self._book.get(record.author)) is not None:
                    await self._reach(known)

    async def _learn_from(self, peer: PeerKey) -> None:
        try:
            await self._exchange.ask(peer, self._own_record())
        except PeerError as err:
            log.debug("no peer exchange", peer=peer_id_text(peer), error=str(err))

    async def _widen(self) -> None:
        """Connect to some of the peers that we know, until there are enough.

        Those that came in by themselves never count for those that we chose.
        """
        connected = self._network.connected()
        missing = max(DEGREE - len(connected), CHOSEN - len(self._network.chosen()))
        known = [one for one in self._book.current() if one.author != self._network.key]
        strangers = [one for one in known if one.author not in connected]
        async with trio.open_nursery() as nursery:
            for record in self._spread(strangers)[: max(missing, 0)]:
                nursery.start_soon(self._reach, record)

    def _spread(self, strangers: Sequence[AddressRecord]) -> list[AddressRecord]:
        """Mix, and keep a few of each network."""
        places: Counter[str] = Counter()
        found = []
        for record in self._rng.sample(strangers, len(strangers)):
            places[record.place] += 1
            if places[record.place] <= SWARM_AT_PLACE or is_loopback(record.place):
                found.append(record)
        return found

    async def _reach(self, record: AddressRecord) -> None:
        self._network.remember(record.author, record.addrs)
        if record.author in self._network.connected():
            return
        for addr in record.addrs:
            if await self._connect(addr):
                return

    async def _connect(self, addr: str) -> bool:
        try:
            await self._network.connect(addr)
        except PeerError as err:
            log.debug("not reached", address=addr, error=str(err))
            return False
        return True

    def _own_record(self) -> AddressRecord:
        now = self._clock()
        if self._record is None or now - self._record.ts > RECORD_EVERY_MS:
            self._record = sign_addresses(self._signer, self._net, self._network.addresses(), now)
        return self._record
