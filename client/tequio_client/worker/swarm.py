"""Staying connected: seeds from the ledger, other peers from them, and again after a loss.

The ledger is only needed to find the first peer; who is connected once learns of the others from
its peers and keeps their signed address records, so a dead seed or ledger splits nobody off.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.worker.addressbook import LEDGER
from tequio_shared.addresses import AddressRecord, is_loopback, sign_addresses
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import peer_id_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from random import Random

    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.addressbook import AddressBook
    from tequio_client.worker.gossip import PeerExchange
    from tequio_client.worker.peers import PeerNetwork
    from tequio_shared.ids import NetworkId, PeerKey
    from tequio_shared.keys import Signer

log = structlog.get_logger(__name__)

DEGREE = 16
"""Connections below which we open some."""
CHOSEN = 8
"""Connections that we opened ourselves, to peers of our choice, whoever else comes in."""
AT_PLACE = 2
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
            if places[record.place] <= AT_PLACE or is_loopback(record.place):
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
