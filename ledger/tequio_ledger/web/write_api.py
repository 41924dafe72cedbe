"""Uploads to the ledger: statements, blobs by their digest, seeds, and checkpoints to compare.

A PUT of a blob is signed: `x-tequio-author` is the key, `x-tequio-ts` the time in milliseconds, and
`x-tequio-signature` the Ed25519 signature over `"tequio/v1/request" 0x00`, the network id, the
body's SHA-256 and the time as u64 big-endian. A request is valid for 60 seconds before and after
its time. Replaying it changes nothing: the name of a blob is its hash.

Seeds are signed address records of peers that can be dialled (`tequio_shared.addresses`). They are
held in memory only, and dropped when they are too old.
"""

import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import BinaryIO

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tequio_ledger import metrics
from tequio_ledger.ledger import Ledger
from tequio_ledger.log.sequencer import Known, Logged, Outcome, Refused
from tequio_ledger.web.errors import code_of
from tequio_ledger.web.limits import (
    REGISTRATION_COST,
    StatementLimiter,
    content_length,
    network_of,
    parse_natural,
    read_body,
    read_chunks,
)
from tequio_ledger.web.log_files import OCTETS, PERMANENT
from tequio_ledger.web.routing import get, head, post, put
from tequio_shared import keys
from tequio_shared.addresses import RECORD_BYTES, AddressRecord
from tequio_shared.api.answer import PAGE_ROWS
from tequio_shared.api.network import PostedAnswer, PostedStatement, SeedsAnswer
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import Digest, PeerKey, from_text, key_from_text, sha256, to_text
from tequio_shared.limits import BLOB_BYTES, POST_BYTES, POST_STATEMENTS, STATEMENT_BYTES
from tequio_shared.log.notes import NOTE_BYTES
from tequio_shared.log.tiles import parse_bundle
from tequio_shared.network.conduct import count_signatures
from tequio_shared.round import fold
from tequio_shared.round.round import RoundView
from tequio_shared.served import admission
from tequio_shared.served.state import State
from tequio_shared.statements.network import FaultReport
from tequio_shared.statements.runs import HeadAttest
from tequio_shared.statements.statement import REGISTRATIONS, Entry, statement_id

REQUEST_PREFIX = b"tequio/v1/request\0"
REQUEST_WINDOW_MS = 60_000
MAX_RECORDS = 1_000
"""Address records held at once, at most."""
_HEX = re.compile("[0-9A-Fa-f]{64}")  # bytes.fromhex alone would allow spaces
_PIECE_BYTES = 1 << 18
_NEVER_FIRST = 1  # any index but that of the genesis


@post("/v1/statements")
async def post_statements(
    request: Request, ledger: Ledger, limiter: StatementLimiter
) -> PostedAnswer:
    """Log a bundle of entries; answers once they are stored under a signed checkpoint."""
    begun, network = time.perf_counter(), network_of(request)
    leaves = _leaves(await read_body(request, POST_BYTES))
    limiter.charge_address(network, len(leaves))
    ledger.sequencer.timekeeper.check()  # before the times of statements are compared with it
    check = _Check(ledger.state, ledger.clock(), limiter, network)
    checked = await asyncio.to_thread(lambda: [check.judge(leaf) for leaf in leaves])
    sound = [entry for entry in checked if isinstance(entry, Entry)]
    outcomes = iter(await ledger.sequencer.submit(sound) if sound else ())
    items = [_item(next(outcomes) if isinstance(e, Entry) else e) for e in checked]
    _count(items, time.perf_counter() - begun)
    return PostedAnswer(items)


def _count(items: list[PostedStatement], seconds: float) -> None:
    became = Counter((item.status, item.code or "") for item in items)
    for (outcome, code), number in became.items():
        metrics.STATEMENTS.labels(outcome=outcome, code=code).inc(number)
    if any(item.index is not None for item in items):
        metrics.RECEIPT_S.observe(seconds)


def _leaves(raw: bytes) -> list[bytes]:
    try:
        leaves = parse_bundle(raw, POST_STATEMENTS)
    except MalformedError as err:
        raise RefusedError("malformed", str(err)) from err
    if not leaves:
        raise RefusedError("malformed", "the bundle is empty")
    return leaves


@dataclass(slots=True)
class _Check:
    """Parses, screens and verifies, cheap checks first; runs in a thread, only reads the state."""

    state: State
    now_ms: int
    limiter: StatementLimiter
    network: str
    newcomers: set[PeerKey] = field(default_factory=set)  # registered earlier in this bundle

    def judge(self, leaf: bytes) -> Entry | Refused:
        """Return the entry of a leaf if it is valid, else the reason to refuse it."""
        name = sha256(leaf)
        try:
            entry = Entry.parse(leaf)
            name = statement_id(self.state.net, entry.statement.raw)
            self._verify(entry)
        except (PeerError, RefusedError) as err:
            return Refused(id=name, code=code_of(err), detail=str(err))
        return entry

    def _verify(self, entry: Entry) -> None:
        author, body = entry.statement.author, entry.statement.body
        is_new = isinstance(body, REGISTRATIONS)
        admission.screen(entry, self.state, self.now_ms, self.newcomers)
        more = (REGISTRATION_COST if is_new else 1) * len(
            entry.signatures
        ) - 1  # one is paid already
        more += count_signatures(body) if isinstance(body, FaultReport) else 0
        self.limiter.charge_address(self.network, more)
        entry.verify(self.state.net)
        try:
            self.limiter.charge_key(author)
        except RefusedError:
            if not self._is_due_attestation(entry):
                raise
        if is_new:
            self.newcomers.add(author)
        if isinstance(body, HeadAttest):
            current = self._round_of(entry)
            if current is not None:
                fold.verify_lot(current, author, body)  # here, where others can be served meanwhile

    def _round_of(self, entry: Entry) -> RoundView | None:
        """Give the round in progress that a statement is about."""
        statement = entry.statement
        current = self.state.round_of(statement.run) if statement.run else None
        return current if current is not None and current.number == statement.round else None

    def _is_due_attestation(self, entry: Entry) -> bool:
        """True for an attestation that could be logged next: once for each member and round.

        Others offer it too. A member that used up its own tokens would make them all sign that an
        honest ledger refused it (docs/protocol.md, 6.8).
        """
        statement, current = entry.statement, self._round_of(entry)
        if current is None or not isinstance(statement.body, HeadAttest):
            return False
        try:
            self.state.check(_NEVER_FIRST, entry)
            fold.check_attestation(current, statement.author, statement.body)
        except RefusedError:
            return False
        return True


def _item(outcome: Outcome) -> PostedStatement:
    match outcome:
        case Logged(id=name, index=index):
            return PostedStatement(id=to_text(name), status="logged", index=index)
        case Known(id=name, index=index):
            return PostedStatement(id=to_text(name), status="known", index=index)
        case Refused(id=name, code=code, detail=detail):
            return PostedStatement(id=to_text(name), status="refused", code=code, detail=detail)


@get("/v1/blobs/{name}")
async def get_blob(request: Request, ledger: Ledger, name: str) -> Response:
    """Return a blob, its hash checked."""
    digest = _digest(name)
    kept = {**PERMANENT, "etag": f'"{to_text(digest)}"'}
    is_held = kept["etag"] in request.headers.get("if-none-match", "")
    if is_held and await asyncio.to_thread(ledger.blobs.has, digest):
        return Response(None, status_code=304, headers=kept)
    try:
        file = await asyncio.to_thread(ledger.blobs.open, digest)
    except KeyError as err:
        raise RefusedError("not-found", f"no blob {name}") from err
    headers = {**kept, "content-length": str(os.fstat(file.fileno()).st_size)}
    return StreamingResponse(_pieces(file), media_type=OCTETS, headers=headers)


@head("/v1/blobs/{name}")
async def head_blob(ledger: Ledger, name: str) -> Response:
    """Report whether the ledger has a blob, and its size."""
    size = await asyncio.to_thread(ledger.blobs.size, _digest(name))
    if size is None:
        raise RefusedError("not-found", f"no blob {name}")
    headers = {**PERMANENT, "content-type": OCTETS, "content-length": str(size)}
    return Response(None, headers=headers)


@put("/v1/blobs/{name}", status=201)
async def put_blob(
    request: Request, ledger: Ledger, limiter: StatementLimiter, name: str
) -> Response:
    """Store a blob: 201, or 200 if it is stored already."""
    digest = _digest(name)
    limiter.charge_address(network_of(request), 1)
    author = _author(request, ledger, digest)
    limiter.charge_key(author)
    renew = partial(ledger.blobs.renew, digest, author, ledger.genesis.organiser_keys)
    if await asyncio.to_thread(renew):
        return Response(None, status_code=200)
    await _receive_blob(request, ledger, digest, author)
    return Response(None, status_code=201)


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            yield piece


async def _receive_blob(request: Request, ledger: Ledger, digest: Digest, author: PeerKey) -> None:
    organisers = ledger.genesis.organiser_keys
    quota, most = None, BLOB_BYTES
    if author not in organisers:
        # Nobody else publishes more than small documents, the scores that it was drawn for, and
        # evidence from the committee that it sits in.
        quota, state = ledger.settings.peer_quota_bytes, ledger.state
        drawn = state.competitions.most_bytes(author), state.most_evidence_bytes(author)
        most = max(STATEMENT_BYTES, *drawn)
    claimed = content_length(request, most)
    begin = partial(ledger.blobs.begin_upload, claimed_bytes=claimed, favoured=organisers)
    upload = await asyncio.to_thread(begin, digest, author, quota)
    try:
        async for chunk in read_chunks(request, most):
            await asyncio.to_thread(ledger.blobs.write, upload, chunk)
        await asyncio.to_thread(ledger.blobs.store, upload)
    finally:
        await asyncio.to_thread(ledger.blobs.end_upload, upload)


def _author(request: Request, ledger: Ledger, digest: Digest) -> PeerKey:
    """Verify the author of an upload before any byte of its body is read."""
    author = key_from_text(request.headers.get("x-tequio-author", ""))
    ts = parse_natural(request.headers.get("x-tequio-ts", ""))
    if abs(ledger.clock() - ts) > REQUEST_WINDOW_MS:
        raise RefusedError(
            "expired",
            "x-tequio-ts differs from the ledger's clock by more than 60 s: check your clock",
        )
    if author not in ledger.state.peers:
        raise RefusedError("not-admitted", "this key is not registered")
    ledger.state.links.check(author)
    signature = from_text(request.headers.get("x-tequio-signature", ""), keys.SIGNATURE_BYTES)
    message = REQUEST_PREFIX + ledger.state.net + digest + ts.to_bytes(8, "big")
    keys.verify(author, signature, message)
    return author


def _digest(name: str) -> Digest:
    if _HEX.fullmatch(name):
        return Digest(bytes.fromhex(name))
    return Digest(from_text(name))


@post("/log/checkpoint", status=204)
async def post_checkpoint(request: Request, ledger: Ledger, limiter: StatementLimiter) -> Response:
    """Compare a checkpoint with the log: 204 when the log contains it.

    Anyone may send one; only checkpoints with this log's own signature count. One that the log
    does not contain proves that entries were lost, and stops all signing.
    """
    limiter.charge_address(network_of(request), 1)
    note = await read_body(request, NOTE_BYTES)
    if not await ledger.judge_checkpoint(note):
        raise RefusedError(
            "log-behind", ledger.guard.reason or "this log does not contain the checkpoint"
        )
    return Response(None, status_code=204)


@dataclass(frozen=True, slots=True)
class _HeldRecord:
    record: AddressRecord
    raw: bytes
    network: str


class SeedStore:
    """The newest record of each peer, for a bounded number of peers.

    A key costs nothing, so one address could fill the book: when it is full, the address with the
    most records loses the oldest of them.
    """

    def __init__(self) -> None:
        self._held: dict[PeerKey, _HeldRecord] = {}

    def put(self, record: AddressRecord, network: str, now_ms: int) -> None:
        """Store a verified record; raises RefusedError if it is old or the book is full."""
        if not record.is_current(now_ms):
            raise RefusedError(
                "expired", "the time of the record is too far from now: check your clock"
            )
        held = self._held.get(record.author)
        if held is not None and held.record.ts > record.ts:
            raise RefusedError("expired", "the ledger has a newer record of this peer")
        self._drop_expired(now_ms)
        if held is None and len(self._held) >= MAX_RECORDS:
            self._make_room(network)
        self._held[record.author] = _HeldRecord(record, record.encode(), network)

    def current(self, now_ms: int) -> list[bytes]:
        """List at most `PAGE_ROWS` current records: one of each address, then another of each.

        Of each address the newest come first. All of them would be megabytes in one answer.
        """
        self._drop_expired(now_ms)
        by_network: dict[str, list[bytes]] = {}
        for one in sorted(self._held.values(), key=lambda one: -one.record.ts):
            by_network.setdefault(one.network, []).append(one.raw)
        rows = zip_longest(*by_network.values())
        return [raw for row in rows for raw in row if raw is not None][:PAGE_ROWS]

    def _drop_expired(self, now_ms: int) -> None:
        self._held = {k: v for k, v in self._held.items() if v.record.is_current(now_ms)}

    def _make_room(self, network: str) -> None:
        counts = Counter(one.network for one in self._held.values())
        greediest, most = counts.most_common(1)[0]
        if counts[network] >= most:
            raise RefusedError("queue-full", "the list of seeds is full: try again later")
        theirs = (key for key, one in self._held.items() if one.network == greediest)
        del self._held[min(theirs, key=lambda key: self._held[key].record.ts)]


@get("/v1/seeds")
async def get_seeds(ledger: Ledger, seeds: SeedStore) -> SeedsAnswer:
    """List the address records of peers that can be dialled."""
    return SeedsAnswer([msgspec.Raw(raw) for raw in seeds.current(ledger.clock())])


@put("/v1/seeds", status=204)
async def put_seed(
    request: Request, ledger: Ledger, limiter: StatementLimiter, seeds: SeedStore
) -> Response:
    """Store a peer's address record while it is current."""
    record = AddressRecord.parse(await read_body(request, RECORD_BYTES))
    network = network_of(request)
    limiter.charge_address(network, 1)
    record.verify(ledger.state.net)
    seeds.put(record, network, ledger.clock())
    return Response(None, status_code=204)
