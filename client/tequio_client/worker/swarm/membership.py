"""Staying connected: address records of peers, their exchange, and the choice of connections.

The ledger is only needed to find the first peer. A connected worker learns of other peers from its
own and stores their signed address records, so a dead seed or ledger does not split the network.

Peer exchange, protocol /tequio/peers/1: the asker sends one frame, empty or with its own address
record; the answer is one frame: count u16, then that many records, each preceded by its length u16
(big-endian); at most RECORDS of them.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import structlog
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.swarm.dials import LEDGER_SOURCE, Claim, Reach, has_reach, reach_of_url
from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream
from tequio_shared.addresses import RECORD_BYTES, AddressRecord, is_loopback, sign_addresses
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import NetworkId, PeerKey, peer_id_text
from tequio_shared.keys import Signer

log = structlog.get_logger(__name__)

TARGET_CONNECTIONS = 16
"""Number of connections below which more are opened."""
MIN_CHOSEN_PEERS = 8
"""Connections that we opened to peers of our choice, however many others come in."""
CHOSEN_PER_NETWORK = 2
"""Peers in one network among those that we choose at once."""
POLL_S = 1.0
"""Interval of checks for lost connections."""
HEAD_START_S = 3.0
"""At the start, each kind of work has this long before the next one begins."""
EXCHANGES = 4
"""Peers asked for address records at a time, other ones each time: news spreads all the same."""
RECORD_EVERY_MS = 120_000
"""Interval at which our own record is signed again; it is valid for an hour."""

PEERS_PROTOCOL = "/tequio/peers/1"
MAX_RECORDS = 64
"""Maximum address records in one answer."""
EXCHANGE_S = 20.0
_U16 = struct.Struct("!H")
_ANSWER_BYTES = 2 + MAX_RECORDS * (2 + RECORD_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconnectPauses:
    """Pauses between two rounds of each kind of work, in seconds; each grows by half."""

    first_s: float = 1.0
    after_loss_s: float = 1.0
    longest_s: float = 60.0
    longest_of_seed_s: float = 10.0
    """A ledger that was restarted knows of no seed before each has sent its address again."""


class Membership:
    """Keeps this peer connected to the network: one task, `run`."""

    def __init__(  # noqa: PLR0913 - composition
        self,
        *,
        network: PeerNetwork,
        ledger: LedgerApi,
        signer: Signer,
        net: NetworkId,
        clock: Callable[[], int],
        rng: Random,
        bootstrap: Sequence[str] = (),
        is_seed: bool = False,
        pauses: ReconnectPauses | None = None,
    ) -> None:
        self._network = network
        self._book = AddressRecords(net, clock, is_chosen=network.is_chosen)
        self._exchange = PeerExchange(network, self._book, rng=rng)
        self._ledger = ledger
        self._signer = signer
        self._net = net
        self._clock = clock  # milliseconds since 1970
        self._rng = rng
        self._bootstrap = tuple(bootstrap)
        self._is_seed = is_seed
        self._pauses = pauses or ReconnectPauses()
        self._record: AddressRecord | None = None
        self._lost = trio.Event()  # replaced whenever a connection of our choice was lost

    async def run(self) -> None:
        """Connect, learn and reconnect until cancelled.

        Each kind of work runs at its own pace: a peer or ledger that does not answer delays
        nothing else.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._notice_losses)
            # In this order: each finds the peers that the next one asks.
            works = (
                self._ask_ledger,
                self._connect_bootstrap,
                self._exchange_records,
                self._widen,
            )
            for work in works:
                was_done = trio.Event()
                nursery.start_soon(self._repeat, work, was_done)
                with trio.move_on_after(HEAD_START_S):
                    await was_done.wait()

    async def _notice_losses(self) -> None:
        # Polled: the library does not report a lost connection. Peers that connect to us come and
        # go all the time; those of our choice keep us in the network.
        before = self._network.outbound_peers()
        while True:
            await trio.sleep(POLL_S)
            chosen = self._network.outbound_peers()
            if before - chosen:
                lost, self._lost = self._lost, trio.Event()
                lost.set()
            before = chosen

    async def _repeat(self, work: Callable[[], Awaitable[None]], was_done: trio.Event) -> None:
        """Repeat the work with growing pauses, short again after a loss."""
        pause_s = self._pauses.first_s
        longest_s = self._pauses.longest_of_seed_s if self._is_seed else self._pauses.longest_s
        while True:
            lost = self._lost
            await work()
            was_done.set()
            with trio.move_on_after(pause_s * self._rng.uniform(0.8, 1.2)):
                await lost.wait()
            pause_s = min(pause_s * 1.5, longest_s)
            if lost.is_set():
                # Still a pause, and a jittered one: when a hub dies, all its peers lose it at once.
                pause_s = self._pauses.after_loss_s
                await trio.sleep(pause_s * self._rng.uniform(0.8, 1.2))

    async def _connect_bootstrap(self) -> None:
        async with trio.open_nursery() as nursery:
            for addr in self._bootstrap:
                nursery.start_soon(self._connect, addr)

    async def _exchange_records(self) -> None:
        async with trio.open_nursery() as nursery:
            peers = sorted(self._network.connected_peers())
            for peer in self._rng.sample(peers, min(EXCHANGES, len(peers))):
                nursery.start_soon(self._exchange_with, peer)

    async def _ask_ledger(self) -> None:
        """Learn the seeds, and connect to some of them; a seed also sends its own address."""
        try:
            if self._is_seed:
                # Repeated with every request: a ledger keeps seeds in memory, and forgets them when
                # it restarts.
                await self._ledger.put_seed(self._own_record())
            records = await self._ledger.seeds(self._net)
        except (LedgerUnavailableError, RefusedError, PeerError) as err:
            log.warning("no seeds from the ledger", error=str(err))
            return
        reach = await reach_of_url(self._ledger.url, public_only=self._network.public_only)
        seeds = [one for one in records if one.author != self._network.key]
        for record in seeds:
            self._book.add(record, LEDGER_SOURCE, reach)
        await self._connect_to_some(seeds, TARGET_CONNECTIONS)

    async def _exchange_with(self, peer: PeerKey) -> None:
        try:
            await self._exchange.ask(peer, self._own_record())
        except PeerError as err:
            log.debug("no peer exchange", peer=peer_id_text(peer), error=str(err))

    async def _widen(self) -> None:
        """Connect to some of the known peers, until there are enough connections.

        Inbound connections never count for those that we chose: an attacker that fills all our
        connections would otherwise decide whom we see.
        """
        missing = max(
            TARGET_CONNECTIONS - len(self._network.connected_peers()),
            MIN_CHOSEN_PEERS - len(self._network.outbound_peers()),
        )
        known = [one for one in self._book.current() if one.author != self._network.key]
        await self._connect_to_some(known, max(missing, 0))

    async def _connect_to_some(self, known: Sequence[AddressRecord], most: int) -> None:
        """Dial some of those that are not connected, all at once; a few of each network."""
        connected = self._network.connected_peers()
        strangers = [one for one in known if one.author not in connected]
        places: Counter[str] = Counter()
        found = []
        for record in self._rng.sample(strangers, len(strangers)):
            places[record.network_place] += 1
            is_first = places[record.network_place] <= CHOSEN_PER_NETWORK
            if is_first or is_loopback(record.network_place):
                found.append(record.author)
        async with trio.open_nursery() as nursery:
            for peer in found[:most]:
                nursery.start_soon(self._connect_to, peer)

    async def _connect_to(self, peer: PeerKey) -> None:
        claim = self._book.claim(peer)
        if claim is not None:
            try:
                await self._network.connect_claimed(peer, claim)
            except PeerError as err:
                log.debug("not reached", error=str(err))

    async def _connect(self, addr: str) -> None:
        try:
            await self._network.connect(addr)
        except PeerError as err:
            log.debug("not reached", address=addr, error=str(err))

    def _own_record(self) -> AddressRecord:
        now, addrs, record = self._clock(), self._network.addresses(), self._record
        # Also when the clock was set back: peers take no record from the future.
        if record is None or abs(now - record.ts) > RECORD_EVERY_MS or record.addrs != addrs:
            record = self._record = sign_addresses(self._signer, self._net, addrs, now)
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBounds:
    peers: int = 4_096
    per_source: int = 512
    """Records from one source: the network address of the peer that sent them."""
    per_network: int = 64
    """Records whose first address lies in one network, or has one name."""
    loopback_times: int = 16
    """Factor on the bounds for records of this machine, and from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptRecord:
    record: AddressRecord
    source: str
    reach: Reach
    """The smallest that its addresses may have, by where the record came from."""


class AddressRecords:
    """The freshest signed address record of every known peer; old ones are not given out.

    A peer that gives records can only lie in their number, for each is signed by its own author.
    So bounds hold how many one source may bring, and how many may lie in one place; a full book
    makes room at the expense of the source that brought most. Records that the ledger names are
    never dropped, nor those of peers that `is_chosen`: no flood can leave us among an attacker's
    peers alone. `clock` gives milliseconds since 1970.
    """

    def __init__(
        self,
        net: NetworkId,
        clock: Callable[[], int],
        bounds: RecordBounds | None = None,
        is_chosen: Callable[[PeerKey], bool] = lambda _: False,
    ) -> None:
        self._net = net
        self._clock = clock
        self._bounds = bounds or RecordBounds()
        self._is_chosen = is_chosen
        self._kept: dict[PeerKey, _KeptRecord] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, record: AddressRecord, source: str, reach: Reach = Reach.PUBLIC) -> bool:
        """Store the record if it verifies, is current and newer than ours; True if stored.

        `reach` is the smallest that the source may name.
        """
        old = self._kept.get(record.author)
        # Older ones are refused from any source: a replayed record would move its author back
        # to an address that it has left.
        if (old is not None and old.record.ts >= record.ts) or not self._has_room(record, source):
            return False
        # The signature last: it costs most, and a flood of old records must not cost it.
        try:
            record.verify(self._net)
        except PeerError as err:
            log.debug("an address record is refused", error=str(err))
            return False
        self._store(record, source, reach)
        return True

    def get(self, peer: PeerKey) -> AddressRecord | None:
        kept = self._kept.get(peer)
        return kept.record if kept and kept.record.is_current(self._clock()) else None

    def claim(self, peer: PeerKey) -> Claim | None:
        """The addresses at which the peer may be dialled, and on whose word."""
        if (record := self.get(peer)) is None:
            return None
        kept = self._kept[peer]
        return Claim(addrs=record.addrs, source=kept.source, reach=kept.reach)

    def current(self) -> tuple[AddressRecord, ...]:
        """List the records that are current, and forget the others."""
        now = self._clock()
        gone = [peer for peer, kept in self._kept.items() if not kept.record.is_current(now)]
        for peer in gone:
            log.debug("an address record is too old", peer=peer_id_text(peer))
            del self._kept[peer]
        return tuple(kept.record for kept in self._kept.values())

    def sample(self, most: int, rng: Random, reach: Reach) -> tuple[AddressRecord, ...]:
        """Choose records to give to a peer that would dial addresses of that reach on our word.

        Passes over all records.
        """
        current = [one for one in self.current() if self._may_pass_on(one, reach)]
        return tuple(rng.sample(current, min(most, len(current))))

    def _may_pass_on(self, record: AddressRecord, reach: Reach) -> bool:
        """False if the peer would dial an address that we do not: we would vouch for a stranger."""
        ours = self._kept[record.author].reach
        theirs = (addr for addr in record.addrs if has_reach(addr, reach))
        return ours <= reach or all(has_reach(addr, ours) for addr in theirs)

    def _has_room(self, record: AddressRecord, source: str) -> bool:
        """Check that the record is current and its place not full.

        Passes over all records, unless it came from the ledger.
        """
        if not record.is_current(self._clock()):
            return False
        if source == LEDGER_SOURCE:
            return True
        place = record.network_place
        most = self._bounds.per_network * self._times(place)
        others = (kept for peer, kept in self._kept.items() if peer != record.author)
        return sum(kept.record.network_place == place for kept in others) < most

    def _store(self, record: AddressRecord, source: str, reach: Reach) -> None:
        old = self._kept.get(record.author)
        if old is not None:
            # The same addresses, signed again: from afar, that takes no reach away.
            if old.record.addrs == record.addrs:
                reach = min(reach, old.reach)
            # News of a known peer stays with the source that brought it first: else a peer could
            # move others' records to its own account, and push them out with its next ones.
            if source != LEDGER_SOURCE:
                self._kept[record.author] = replace(old, record=record, reach=reach)
                return
        self._kept[record.author] = _KeptRecord(record=record, source=source, reach=reach)
        of_source = sum(kept.source == source for kept in self._kept.values())
        if source != LEDGER_SOURCE and of_source > self._bounds.per_source * self._times(source):
            self._drop_oldest(source)
        if len(self._kept) > self._bounds.peers:
            self._drop_oldest(self._greediest())

    def _greediest(self) -> str:
        counts = Counter(
            kept.source for kept in self._kept.values() if kept.source != LEDGER_SOURCE
        )
        return counts.most_common(1)[0][0] if counts else LEDGER_SOURCE

    def _drop_oldest(self, source: str) -> None:
        theirs = [kept.record for kept in self._kept.values() if kept.source == source]
        # At most one for each connection that we opened.
        strangers = [one for one in theirs if not self._is_chosen(one.author)]
        del self._kept[min(strangers or theirs, key=lambda record: record.ts).author]

    def _times(self, network: str) -> int:
        return self._bounds.loopback_times if is_loopback(network) else 1


class PeerExchange:
    def __init__(self, network: PeerNetwork, book: AddressRecords, *, rng: Random) -> None:
        self._network = network
        self._book = book
        self._rng = rng
        network.find_claim = book.claim
        network.serve(PEERS_PROTOCOL, self.serve)

    async def serve(self, stream: PeerStream) -> None:
        """Answer one request; raises PeerError when the peer fails or breaks the protocol."""
        with trio.move_on_after(EXCHANGE_S):
            offered = await stream.receive_frame(most_bytes=RECORD_BYTES)
            if offered:
                self._add([AddressRecord.parse(bytes(offered))], stream.peer)
            reach = self._network.reach_of(stream.peer)
            records = self._book.sample(MAX_RECORDS, self._rng, reach)
            await stream.send_frame(pack_records(records))

    async def ask(self, peer: PeerKey, own: AddressRecord | None = None) -> int:
        """Exchange addresses with a peer; returns how many were new. Raises PeerError."""
        stream = await self._network.open_stream(peer, PEERS_PROTOCOL)
        try:
            await stream.send_frame(own.encode() if own else b"")
            answer = await stream.receive_frame(most_bytes=_ANSWER_BYTES)
        finally:
            await stream.drop()
        news = self._add(parse_records(bytes(answer)), peer)
        log.debug("addresses exchanged", news=news, known=len(self._book))
        return news

    def _add(self, records: Sequence[AddressRecord], giver: PeerKey) -> int:
        """Add records; returns how many were new. PeerError above the limit."""
        if not self._network.limiter.allows_records(giver, len(records)):
            raise PeerError("too many address records")
        # Counted by network, not by key: an attacker makes as many keys as it likes, but has few
        # networks.
        source, reach = self._network.network_of(giver), self._network.reach_of(giver)
        others = [one for one in records if one.author != self._network.key]
        return sum(self._book.add(one, source, reach) for one in others)


def pack_records(records: Sequence[AddressRecord]) -> bytes:
    """Write an answer of at most RECORDS records."""
    encoded = [record.encode() for record in records[:MAX_RECORDS]]
    parts = [_U16.pack(len(encoded))]
    for raw in encoded:
        parts += (_U16.pack(len(raw)), raw)
    return b"".join(parts)


def parse_records(answer: bytes) -> list[AddressRecord]:
    """Read `pack_records` back; raises MalformedError. The records are not yet verified."""
    try:
        (count,) = _U16.unpack_from(answer)
        if count > MAX_RECORDS:
            raise MalformedError(f"{count} records where {MAX_RECORDS} are allowed")
        records, at = [], _U16.size
        for _ in range(count):
            (size,) = _U16.unpack_from(answer, at)
            at += _U16.size + size
            records.append(AddressRecord.parse(answer[at - size : at]))
    except struct.error as err:
        raise MalformedError("an answer of address records that is cut short") from err
    if at != len(answer):
        raise MalformedError(f"{len(answer) - at} bytes after the last record")
    return records
