"""GET and PUT /v1/seeds: where peers that can be dialled say they are, for a while.

A record is signed by its peer (`tequio_shared.addresses`), is held in memory only, and is
forgotten when it is too old to be current.
"""

from typing import TYPE_CHECKING

import msgspec
from litestar import Response, get, put
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from tequio_ledger.web.bodies import read_body
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest
from tequio_shared.addresses import RECORD_BYTES, AddressRecord
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey

RECORDS = 1_000


class SeedsAnswer(msgspec.Struct, frozen=True):
    """All current records as their peers signed them, the newest first."""

    seeds: list[msgspec.Raw]


class SeedBook:
    """The newest record of each peer; a bounded number of peers."""

    def __init__(self) -> None:
        self._records: dict[PeerKey, AddressRecord] = {}

    def put(self, record: AddressRecord, now_ms: int) -> None:
        """Hold a verified record; raises RefusedError when there are too many or it is old."""
        if not record.is_current(now_ms):
            raise RefusedError("expired", "the record's time is not now")
        held = self._records.get(record.author)
        if held is None and len(self.current(now_ms)) >= RECORDS:
            raise RefusedError("queue-full", "the list of seeds is full")
        if held is not None and held.ts > record.ts:
            raise RefusedError("expired", "a newer record of this peer is held")
        self._records[record.author] = record

    def current(self, now_ms: int) -> list[AddressRecord]:
        """Give what is current, newest first, and forget the rest."""
        self._records = {k: v for k, v in self._records.items() if v.is_current(now_ms)}
        return sorted(self._records.values(), key=lambda record: -record.ts)


GivenBook = NamedDependency[SkipValidation[SeedBook]]


@get("/v1/seeds", sync_to_thread=False)
def get_seeds(ledger: GivenLedger, book: GivenBook) -> SeedsAnswer:
    """List the peers that can be dialled."""
    return SeedsAnswer([msgspec.Raw(one.encode()) for one in book.current(ledger.clock())])


@put("/v1/seeds", status_code=204)
async def put_seed(request: AnyRequest, ledger: GivenLedger, book: GivenBook) -> Response[None]:
    """Hold a peer's record while it is current."""
    record = AddressRecord.parse(await read_body(request, RECORD_BYTES))
    record.verify()
    book.put(record, ledger.clock())
    return Response(None, status_code=204)
