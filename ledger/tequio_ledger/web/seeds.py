"""GET and PUT /v1/seeds: where peers that can be dialled say they are, for a while.

A record is signed by its peer (`tequio_shared.addresses`), is held in memory only, and is
forgotten when it is too old to be current.
"""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from litestar import Response, get, put
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from tequio_ledger.web.bodies import read_body
from tequio_ledger.web.doors import GivenDoors, network_of
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest
from tequio_shared.addresses import RECORD_BYTES, AddressRecord
from tequio_shared.api.network import SeedsAnswer
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey

RECORDS = 1_000


@dataclass(frozen=True, slots=True)
class _Held:
    """A record, its bytes, and the network address that brought it."""

    record: AddressRecord
    raw: bytes
    network: str


class SeedBook:
    """The newest record of each peer; a bounded number of peers.

    A key costs nothing, so one address could fill the book: when it is full, whoever brought the
    most records gives the oldest of them up.
    """

    def __init__(self) -> None:
        self._held: dict[PeerKey, _Held] = {}

    def put(self, record: AddressRecord, network: str, now_ms: int) -> None:
        """Hold a verified record; raises RefusedError when there is no room or it is old."""
        if not record.is_current(now_ms):
            raise RefusedError("expired", "the record's time is not now")
        held = self._held.get(record.author)
        if held is not None and held.record.ts > record.ts:
            raise RefusedError("expired", "a newer record of this peer is held")
        if held is None and len(self.current(now_ms)) >= RECORDS:
            self._make_room(network)
        self._held[record.author] = _Held(record, record.encode(), network)

    def current(self, now_ms: int) -> list[bytes]:
        """Give what is current, newest first, and forget the rest."""
        self._held = {k: v for k, v in self._held.items() if v.record.is_current(now_ms)}
        return [one.raw for one in sorted(self._held.values(), key=lambda one: -one.record.ts)]

    def _make_room(self, network: str) -> None:
        counts = Counter(one.network for one in self._held.values())
        greediest, most = counts.most_common(1)[0]
        if counts[network] >= most:
            raise RefusedError("queue-full", "the list of seeds is full")
        theirs = (key for key, one in self._held.items() if one.network == greediest)
        del self._held[min(theirs, key=lambda key: self._held[key].record.ts)]


GivenBook = NamedDependency[SkipValidation[SeedBook]]


@get("/v1/seeds", sync_to_thread=False)
def get_seeds(ledger: GivenLedger, book: GivenBook) -> SeedsAnswer:
    """List the peers that can be dialled."""
    return SeedsAnswer([msgspec.Raw(raw) for raw in book.current(ledger.clock())])


@put("/v1/seeds", status_code=204)
async def put_seed(
    request: AnyRequest, ledger: GivenLedger, doors: GivenDoors, book: GivenBook
) -> Response[None]:
    """Hold a peer's record while it is current."""
    record = AddressRecord.parse(await read_body(request, RECORD_BYTES))
    network = network_of(request)
    doors.let_in(network, 1)
    record.verify(ledger.state.net)
    book.put(record, network, ledger.clock())
    return Response(None, status_code=204)
