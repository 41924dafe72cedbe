"""GET, HEAD and PUT /v1/blobs/{sha256}: bytes by their digest.

A PUT is signed: `x-tequio-author` is the key, `x-tequio-ts` the time in milliseconds, and
`x-tequio-signature` the Ed25519 signature over `"tequio/v1/request" 0x00`, the network id, the
body's SHA-256 and the time as u64 big-endian. A request is good for 60 seconds either way;
sent again it changes nothing, for the name is the content.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

import msgspec
from litestar import Response, get, head, post, put
from litestar.di import NamedDependency
from litestar.exceptions import InternalServerException
from litestar.params import FromPath, SkipValidation
from litestar.response import Stream

from tequio_ledger import metrics
from tequio_ledger.ledger import Ledger
from tequio_ledger.log import admission
from tequio_ledger.log.sequencer import Known, Logged, Outcome, Refused
from tequio_ledger.state import State
from tequio_ledger.web.errors import AnyRequest, code_of
from tequio_ledger.web.limits import REGISTRATION, Doors, GivenDoors, network_of
from tequio_ledger.web.log_files import SECURITY, GivenLedger
from tequio_shared import keys
from tequio_shared.addresses import RECORD_BYTES, AddressRecord
from tequio_shared.api.log import PostedAnswer, PostedStatement
from tequio_shared.api.network import SeedsAnswer
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import (
    BLOB_BYTES,
    POST_BYTES,
    POST_STATEMENTS,
    Digest,
    PeerKey,
    from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.log.notes import NOTE_BYTES
from tequio_shared.log.tiles import parse_bundle
from tequio_shared.network.conduct import count_signatures
from tequio_shared.statements.network import FaultReport, KeyRegister
from tequio_shared.statements.statement import Entry, statement_id

# --- Request bodies and numbers of a request, read with limits.
#
# What is too large is refused before it is in memory, and what trickles is refused after a while:
# a half body holds no handler for ever.

PATIENCE_S = 30.0
SLOWEST_BYTES_S = 32 << 10
"""A body may take this long, and more if it is large, at the rate of a slow line."""
_DIGITS = 16  # enough for every number that a statement can hold


async def read_body(request: AnyRequest, most_bytes: int) -> bytes:
    """Read the whole body; raises RefusedError("too-large") past the limit."""
    return b"".join([chunk async for chunk in chunks(request, most_bytes)])


async def chunks(
    request: AnyRequest, most_bytes: int, patience_s: float = PATIENCE_S
) -> AsyncIterator[bytes]:
    """Read the body piece by piece.

    Raises RefusedError("too-large") past the limit, ("rate-limited") when it comes too slowly,
    MalformedError when it breaks off.
    """
    claimed_bytes(request, most_bytes)
    begun, size = asyncio.get_running_loop().time(), 0
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout_at(begun + patience_s + size / SLOWEST_BYTES_S):
                chunk = await anext(stream, None)
        except TimeoutError as err:
            metrics.RATE_LIMITED.labels(limit="slow body").inc()
            raise RefusedError("rate-limited", f"the body came too slowly: {size} bytes") from err
        except InternalServerException as err:  # what the framework calls a sender that went away
            raise MalformedError(f"the body broke off after {size} bytes") from err
        if chunk is None:
            return
        size += len(chunk)
        if size > most_bytes:
            raise RefusedError("too-large", f"a body of more than {most_bytes} bytes")
        yield chunk


def claimed_bytes(request: AnyRequest, most_bytes: int) -> int:
    """Read how large the body says that it is, the limit when it says nothing.

    Raises RefusedError("too-large") past the limit.
    """
    text = request.headers.get("content-length")
    claimed = most_bytes if text is None else natural(text)
    if claimed > most_bytes:
        raise RefusedError("too-large", f"a body of {claimed} bytes; {most_bytes} are allowed")
    return claimed


def natural(text: str) -> int:
    """Read a number of ASCII digits; raises MalformedError, also for too many digits."""
    if not (0 < len(text) <= _DIGITS and text.isascii() and text.isdigit()):
        raise MalformedError(f"not a number: {text[:60]!r}")
    return int(text)


REQUEST_PREFIX = b"tequio/v1/request\0"
WINDOW_MS = 60_000
_HEX = re.compile("[0-9A-Fa-f]{64}")  # bytes.fromhex would pass over spaces
_PIECE_BYTES = 1 << 18
_BINARY = "application/octet-stream"
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable", **SECURITY}


# Not sync_to_thread: Litestar wraps such a handler twice when others share its path.
@get("/v1/blobs/{name:str}")
async def get_blob(
    request: AnyRequest, ledger: GivenLedger, name: FromPath[str]
) -> Stream | Response[None]:
    """Give a blob, its hash checked."""
    digest = _digest(name)
    kept = {**_FOR_EVER, "etag": f'"{to_text(digest)}"'}
    if kept["etag"] in request.headers.get("if-none-match", "") and ledger.blobs.has(digest):
        return Response(None, status_code=304, headers=kept)
    try:
        file = await asyncio.to_thread(ledger.blobs.open, digest)
    except KeyError as err:
        raise RefusedError("not-found", f"no blob {name}") from err
    size = str(os.fstat(file.fileno()).st_size)
    headers = {**kept, "content-length": size}
    return Stream(_pieces(file), media_type=_BINARY, headers=headers)


@head("/v1/blobs/{name:str}", sync_to_thread=False)
def head_blob(ledger: GivenLedger, name: FromPath[str]) -> Response[None]:
    """Say whether a blob is here, and its size."""
    size = ledger.blobs.size(_digest(name))
    if size is None:
        raise RefusedError("not-found", f"no blob {name}")
    headers = {**_FOR_EVER, "content-type": _BINARY, "content-length": str(size)}
    return Response(None, headers=headers)


@put("/v1/blobs/{name:str}", status_code=201)
async def put_blob(
    request: AnyRequest, ledger: GivenLedger, doors: GivenDoors, name: FromPath[str]
) -> Response[None]:
    """Take a blob in: 201, or 200 when it is here already."""
    digest = _digest(name)
    doors.let_in(network_of(request), 1)
    author = _author(request, ledger, digest)
    if ledger.blobs.has(digest):
        return Response(None, status_code=200)
    await _take_in(request, ledger, digest, author)
    return Response(None, status_code=201)


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            yield piece


async def _take_in(request: AnyRequest, ledger: Ledger, digest: Digest, author: PeerKey) -> None:
    organisers = ledger.genesis.organiser_keys
    quota = None if author in organisers else ledger.settings.peer_quota_bytes
    claimed = claimed_bytes(request, BLOB_BYTES)
    begin = partial(ledger.blobs.begin, claimed_bytes=claimed, favoured=organisers)
    upload = await asyncio.to_thread(begin, digest, author, quota)
    try:
        async for chunk in chunks(request, BLOB_BYTES):
            await asyncio.to_thread(ledger.blobs.write, upload, chunk)
        await asyncio.to_thread(ledger.blobs.keep, upload, author)
    finally:
        await asyncio.to_thread(ledger.blobs.end, upload)


def _author(request: AnyRequest, ledger: Ledger, digest: Digest) -> PeerKey:
    """Check who sends this, before a byte of it is read."""
    author = key_from_text(request.headers.get("x-tequio-author", ""))
    ts = natural(request.headers.get("x-tequio-ts", ""))
    if abs(ledger.clock() - ts) > WINDOW_MS:
        raise RefusedError("expired", "the request is not from the last 60 seconds")
    if author not in ledger.state.peers:
        raise RefusedError("not-admitted", "this key is not registered")
    signature = from_text(request.headers.get("x-tequio-signature", ""), keys.SIGNATURE_BYTES)
    message = REQUEST_PREFIX + ledger.state.net + digest + ts.to_bytes(8, "big")
    keys.verify(author, signature, message)
    return author


def _digest(name: str) -> Digest:
    if _HEX.fullmatch(name):
        return Digest(bytes.fromhex(name))
    return Digest(from_text(name))


# --- GET and PUT /v1/seeds: where peers that can be dialled say they are, for a while.
#
# A record is signed by its peer (`tequio_shared.addresses`), is held in memory only, and is
# forgotten when it is too old to be current.

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


# --- POST /log/checkpoint: somebody shows a checkpoint that it holds, as this log signed it.
#
# Anybody may; only what bears our own signature counts. One that the log does not hold proves
# that entries were lost, and stops all signing.


@post("/log/checkpoint", status_code=204)
async def post_checkpoint(
    request: AnyRequest, ledger: GivenLedger, doors: GivenDoors
) -> Response[None]:
    """Hold a checkpoint against the log: 204 when the log contains it."""
    doors.let_in(network_of(request), 1)
    note = await read_body(request, NOTE_BYTES)
    if not await ledger.show(note):
        raise RefusedError("log-behind", ledger.guard.reason or "this log does not contain it")
    return Response(None, status_code=204)


# --- POST /v1/statements: a bundle of signed entries in, one answer for each out.


@post("/v1/statements", status_code=200)
async def post_statements(
    request: AnyRequest, ledger: GivenLedger, doors: GivenDoors
) -> PostedAnswer:
    """Log a bundle of entries; answers when they are on the disk under a signed checkpoint."""
    begun, network = time.perf_counter(), network_of(request)
    leaves = _leaves(await read_body(request, POST_BYTES))
    doors.let_in(network, len(leaves))
    check = _Check(ledger.state, ledger.clock(), doors, network)
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
        raise RefusedError("malformed", "an empty bundle")
    return leaves


@dataclass(slots=True)
class _Check:
    """Parses, screens and verifies, cheap things first; runs in a thread, only reads the state."""

    state: State
    now_ms: int
    doors: Doors
    network: str
    newcomers: set[PeerKey] = field(default_factory=set)  # registered earlier in this bundle

    def judge(self, leaf: bytes) -> Entry | Refused:
        """Give the entry of a leaf if it is sound, or what is wrong with it."""
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
        is_new = isinstance(body, KeyRegister)
        admission.screen(entry, self.state, self.now_ms, self.newcomers)
        more = (REGISTRATION if is_new else 1) * len(entry.signatures) - 1  # one is paid already
        more += count_signatures(body) if isinstance(body, FaultReport) else 0
        self.doors.let_in(self.network, more)
        entry.verify(self.state.net)
        self.doors.let_speak(author)
        if is_new:
            self.newcomers.add(author)


def _item(outcome: Outcome) -> PostedStatement:
    match outcome:
        case Logged(id=name, index=index):
            return PostedStatement(id=to_text(name), status="logged", index=index)
        case Known(id=name, index=index):
            return PostedStatement(id=to_text(name), status="known", index=index)
        case Refused(id=name, code=code, detail=detail):
            return PostedStatement(id=to_text(name), status="refused", code=code, detail=detail)
