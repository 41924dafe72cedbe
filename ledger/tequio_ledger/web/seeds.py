"""GET and PUT /v1/seeds: where peers that can be dialled say they are, for a while.

A record is signed by the peer, is held in memory only, and is forgotten after ten minutes.
"""

import msgspec
from litestar import Response, get, put
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from tequio_ledger.web.bodies import read_body
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest
from tequio_shared import canonical, keys
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, from_text, key_from_text

RECORD_PREFIX = b"tequio/v1/peer\0"
LIFE_MS = 600_000
RECORDS = 1_000
_RECORD_BYTES = 4_096
_ADDRESSES = 8


class AddressRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a peer says it can be dialled."""

    addrs: tuple[str, ...]
    author: str
    ts: int


class SignedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record's canonical bytes and the signature over prefix, network id and them."""

    record: str
    signature: str


class SeedsAnswer(msgspec.Struct, frozen=True):
    """All records that are not too old, the newest first."""

    seeds: list[SignedRecord]


class SeedBook:
    """The newest record of each peer; a bounded number of peers."""

    def __init__(self) -> None:
        self._records: dict[PeerKey, tuple[int, SignedRecord]] = {}

    def put(self, author: PeerKey, ts: int, record: SignedRecord) -> None:
        """Hold a record; raises RefusedError when there are too many or it is old."""
        held = self._records.get(author)
        if held is None and len(self._records) >= RECORDS:
            raise RefusedError("queue-full", "the list of seeds is full")
        if held is not None and held[0] > ts:
            raise RefusedError("expired", "a newer record of this peer is held")
        self._records[author] = (ts, record)

    def list(self, now_ms: int) -> list[SignedRecord]:
        """Give what is not too old, newest first, and forget the rest."""
        fresh = {k: v for k, v in self._records.items() if v[0] > now_ms - LIFE_MS}
        self._records = fresh
        return [record for _, record in sorted(fresh.values(), key=lambda v: -v[0])]


GivenBook = NamedDependency[SkipValidation[SeedBook]]


@get("/v1/seeds", sync_to_thread=False)
def get_seeds(ledger: GivenLedger, book: GivenBook) -> SeedsAnswer:
    """List the peers that can be dialled."""
    return SeedsAnswer(book.list(ledger.clock()))


@put("/v1/seeds", status_code=204)
async def put_seed(request: AnyRequest, ledger: GivenLedger, book: GivenBook) -> Response[None]:
    """Hold a peer's record for ten minutes."""
    raw = await read_body(request, 2 * _RECORD_BYTES)
    signed = canonical.decode(raw, SignedRecord, 2 * _RECORD_BYTES)
    content = from_text(signed.record, None)
    record = canonical.decode(content, AddressRecord, _RECORD_BYTES)
    author = key_from_text(record.author)
    if author not in ledger.state.peers:
        raise RefusedError("not-admitted", "this key is not registered")
    if not ledger.clock() - LIFE_MS < record.ts <= ledger.clock() + LIFE_MS // 10:
        raise RefusedError("expired", "the record's time is not now")
    if len(record.addrs) > _ADDRESSES:
        raise RefusedError("too-large", f"more than {_ADDRESSES} addresses")
    signature = from_text(signed.signature, keys.SIGNATURE_BYTES)
    keys.verify(author, signature, RECORD_PREFIX + ledger.state.net + content)
    book.put(author, record.ts, signed)
    return Response(None, status_code=204)
