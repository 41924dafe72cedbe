"""A small ledger in memory behind a real socket: honest by default, and able to lie on demand.

It keeps the log, chains of statements and blobs, and serves the part of the HTTP API that clients
use. A test makes it lie by replacing its log, or with a `tamper` function over its replies.
"""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec
import trio

from tequio_shared.api.network import NetworkAnswer
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import (
    ZERO_DIGEST,
    Digest,
    NetworkId,
    PeerKey,
    RunId,
    digest_from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.keys import Signer
from tequio_shared.log.merkle import leaf_hash, root_of_hashes
from tequio_shared.log.notes import Checkpoint, KeyKind, VerifierKey, sign_checkpoint
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile, encode_bundle, parse_bundle
from tequio_shared.network.genesis import Genesis
from tequio_shared.statements.network import KeyRegister, MemberLeave
from tequio_shared.statements.runs import NetGenesis
from tequio_shared.statements.statement import Entry, check_work, make, sign, statement_id
from tests.support.answers import filled
from tests.support.authors import WORK_BITS, registration

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

ORIGIN = "log.test/net1"
LOG_SIGNER = Signer(bytes([11]) * 32)
COORDINATOR = Signer(bytes([12]) * 32)
NOW_MS = 1_700_000_000_000
RUN = RunId(bytes([5]) * 32)


def genesis() -> Genesis:
    """The genesis document of these tests' network."""
    vkey = VerifierKey(name=ORIGIN, kind=KeyKind.LOG, key=LOG_SIGNER.key)
    return Genesis(
        name="test",
        origin=ORIGIN,
        log_key=vkey.text(),
        coordinator=to_text(COORDINATOR.key),
        organisers=(to_text(COORDINATOR.key),),
        threshold=1,
        rules=to_text(bytes(32)),
        work_bits=WORK_BITS,
    )


NET: NetworkId = genesis().network_id


def chain_of(signer: Signer, count: int, *, salt: int = 0) -> list[Entry]:
    """A registration and then meaningless statements: a chain that a log accepts in this order."""
    prev, made = ZERO_DIGEST, []
    for seq in range(1, count + 1):
        statement = make(
            body=registration(NET, signer.key) if seq == 1 else MemberLeave(reason=seq),
            run=None if seq == 1 else RUN,
            author=signer.key,
            seq=seq,
            ts=NOW_MS + salt,
            exp=NOW_MS + salt + 60_000,
            prev=prev,
        )
        made.append(sign(NET, statement, signer))
        prev = statement.digest
    return made


@dataclass
class MemoryLog:
    """Entries, and indexes over them."""

    leaves: list[bytes] = field(default_factory=list)
    hashes: list[Digest] = field(default_factory=list)
    chains: dict[PeerKey, tuple[int, Digest]] = field(default_factory=dict)
    known: dict[Digest, int] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)  # problem code by type
    grown: trio.Event = field(default_factory=trio.Event)

    @classmethod
    def founded(cls) -> MemoryLog:
        """A log with only its genesis entry."""
        log = cls(chains={COORDINATOR.key: (0, ZERO_DIGEST)})
        body = NetGenesis(doc=to_text(genesis().encode()))
        statement = make(body=body, author=COORDINATOR.key, seq=1, ts=0, exp=1, prev=ZERO_DIGEST)
        log.append(sign(NET, statement, COORDINATOR))
        return log

    def copy(self) -> MemoryLog:
        """An independent copy of the log."""
        return replace(
            self,
            leaves=list(self.leaves),
            hashes=list(self.hashes),
            chains=dict(self.chains),
            known=dict(self.known),
        )

    def extend(self, entries: Iterable[Entry]) -> None:
        """Log entries without checks."""
        for entry in entries:
            self.append(entry)

    def append(self, entry: Entry) -> int:
        """Log one entry without checks; returns its index."""
        self.leaves.append(entry.leaf())
        self.hashes.append(leaf_hash(entry.leaf()))
        statement = entry.statement
        self.chains[statement.author] = (statement.seq, statement.digest)
        self.known[statement_id(NET, statement.raw)] = len(self.leaves) - 1
        self.grown.set()
        self.grown = trio.Event()
        return len(self.leaves) - 1

    def checkpoint(self) -> Checkpoint:
        """Size and root."""
        root = root_of_hashes(self.hashes)
        return Checkpoint(origin=ORIGIN, size=len(self.leaves), root=root)

    def submit(self, entry: Entry) -> dict[str, object]:
        """Check an entry by the rules of chains, and log it; returns the API's item for it."""
        name = statement_id(NET, entry.statement.raw)
        item: dict[str, object] = {"id": to_text(name)}
        if name in self.known:
            return {**item, "status": "known", "index": self.known[name]}
        try:
            self._admit(entry)
        except RefusedError as err:
            return {**item, "status": "refused", "code": err.code, "detail": str(err)}
        return {**item, "status": "logged", "index": self.append(entry)}

    def _admit(self, entry: Entry) -> None:
        statement = entry.statement
        check_work(statement, NET, WORK_BITS)
        entry.verify(NET)
        if statement.author not in self.chains and not isinstance(statement.body, KeyRegister):
            raise RefusedError("not-admitted", "not registered")
        seq, last = self.chains.get(statement.author, (0, ZERO_DIGEST))
        if statement.seq <= seq:
            raise RefusedError("equivocation", f"{statement.seq} after {seq}")
        if statement.prev != last:
            raise RefusedError("seq-gap", "prev is not the last logged statement")
        if code := self.refusals.get(statement.type):
            raise RefusedError(code, "as the test wants")

    def tile(self, tile: Tile) -> bytes:
        """The bytes of a tile; raises RefusedError("not-found")."""
        if not tile.exists(len(self.leaves)):
            raise RefusedError("not-found", tile.path())
        first = tile.index * TILE_WIDTH
        if tile.level == BUNDLE_LEVEL:
            return encode_bundle(self.leaves[first : first + tile.width])
        span = 1 << 8 * tile.level
        firsts = range(first * span, (first + tile.width) * span, span)
        return b"".join(root_of_hashes(self.hashes[at : at + span]) for at in firsts)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer; `end` sets how it ends: closed in order, cut short, or hanging."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    end: str = "close"  # close, cut, hang
    events: int | None = None  # stream the log's entries from this index


@dataclass
class LogServer:
    """Serves the log that is in `log`; `tamper` may change each reply."""

    log: MemoryLog
    url: str = ""
    tamper: Callable[[str, str, Reply], Reply] = lambda _method, _path, reply: reply
    blobs: dict[Digest, bytes] = field(default_factory=dict)
    seeds: list[bytes] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    sent_bytes: int = 0
    cut_events_after: int | None = None
    """Entries on one event stream before it is cut."""
    tiles_url: str | None = None
    """The mirror of tiles that the ledger names."""
    pause_s: float = 0.0
    """Time before each answer."""

    async def handle(self, stream: trio.SocketStream) -> None:
        """Answer one request and close."""
        async with stream:
            try:
                await self._handle(stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return

    async def _handle(self, stream: trio.SocketStream) -> None:
        method, path, body = await _request(stream)
        if not method:
            return
        self.requests.append(f"{method} {path}")
        await trio.sleep(self.pause_s)
        reply = self.tamper(method, path, self._answer(method, path, body))
        if reply.events is not None:
            await self._stream(stream, reply.events)
            return
        length = len(reply.body) + (reply.end != "close")
        await _send_head(stream, reply, {"content-length": str(length)})
        if method != "HEAD":
            await self._send(stream, reply.body)
        if reply.end == "hang":
            await trio.sleep_forever()

    async def _send(self, stream: trio.SocketStream, body: bytes) -> None:
        for at in range(0, len(body), 65_536):
            await stream.send_all(body[at : at + 65_536])
            self.sent_bytes += len(body[at : at + 65_536])

    async def _stream(self, stream: trio.SocketStream, position: int) -> None:
        await _send_head(stream, Reply(), {"content-type": "text/event-stream"})
        await stream.send_all(b": hello\r\n\r\n")
        sent = 0
        while sent != self.cut_events_after:
            if position >= len(self.log.leaves):
                await self.log.grown.wait()
                continue
            data = to_text(self.log.leaves[position])
            await stream.send_all(f"id: {position}\nevent: entry\ndata: {data}\n\n".encode())
            position, sent = position + 1, sent + 1

    def _answer(self, method: str, path: str, body: bytes) -> Reply:
        try:
            return self._route(method, path, body)
        except RefusedError as err:
            status = 404 if err.code == "not-found" else 409
            return problem(err.code, str(err), status)
        except PeerError as err:
            return problem("malformed", str(err), 400)

    def _route(self, method: str, path: str, body: bytes) -> Reply:
        name, _, query = path.partition("?")
        last = name.rpartition("/")[2]
        routes: tuple[tuple[str, Callable[[], Reply]], ...] = (
            ("/v1/network", lambda: _json(_network(self.tiles_url))),
            ("/log/checkpoint", lambda: _checkpoint(self.log)),
            ("/log/tile/", lambda: Reply(body=self.log.tile(Tile.parse(name[len("/log/") :])))),
            ("/v1/statements", lambda: self._submit(body)),
            ("/v1/events", lambda: Reply(events=int(query.removeprefix("after=")) + 1)),
            ("/v1/peers/", lambda: self._peer(key_from_text(last))),
            ("/v1/blobs/", lambda: self._blob(method, digest_from_text(last), body)),
            ("/v1/seeds", lambda: self._seed(method, body)),
        )
        for prefix, answer in routes:
            if name.startswith(prefix):
                return answer()
        raise RefusedError("not-found", name)

    def _submit(self, body: bytes) -> Reply:
        entries = [Entry.parse(leaf) for leaf in parse_bundle(body)]
        return _json({"items": [self.log.submit(entry) for entry in entries]})

    def _peer(self, key: PeerKey) -> Reply:
        if key not in self.log.chains:
            raise RefusedError("not-found", "no such key")
        seq, last = self.log.chains[key]
        answer = filled(
            PeerAnswer, key=to_text(key), registered_index=1, last_seq=seq, last_hash=to_text(last)
        )
        return _json({**msgspec.to_builtins(answer), "new_field": True})

    def _blob(self, method: str, digest: Digest, body: bytes) -> Reply:
        if method == "PUT":
            if sha256(body) != digest:
                raise RefusedError("malformed", "another hash")
            self.blobs[digest] = body
            return Reply(status=201)
        if digest not in self.blobs:
            raise RefusedError("not-found", "no such blob")
        return Reply(body=self.blobs[digest])

    def _seed(self, method: str, body: bytes) -> Reply:
        if method == "PUT":
            self.seeds.append(body)
            return Reply(status=204)
        return Reply(body=b'{"seeds":[' + b",".join(self.seeds) + b"]}")


@asynccontextmanager
async def serving(log: MemoryLog, *, port: int = 0) -> AsyncIterator[LogServer]:
    """Serve a log on the loopback device; the end of the block cuts open answers."""
    server = LogServer(log)
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(port, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        server.url = f"http://127.0.0.1:{port}"
        nursery.start_soon(trio.serve_listeners, server.handle, listeners)
        yield server
        nursery.cancel_scope.cancel()


def unused_url() -> str:
    """An address where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def problem(code: str, detail: str, status: int) -> Reply:
    """A refusal (RFC 9457)."""
    document = {"type": f"urn:tequio:problem:{code}", "title": code, "detail": detail}
    return replace(_json(document), status=status)


def _checkpoint(log: MemoryLog) -> Reply:
    return Reply(body=sign_checkpoint(log.checkpoint(), LOG_SIGNER))


def _network(tiles_url: str | None) -> NetworkAnswer:
    document = genesis()
    return filled(
        NetworkAnswer,
        network_id=to_text(document.network_id),
        genesis=to_text(document.encode()),
        origin=document.origin,
        log_key=document.log_key,
        coordinator=document.coordinator,
        software="memory",
        tiles_url=tiles_url,
    )


def _json(value: object) -> Reply:
    return Reply(body=msgspec.json.encode(value), headers={"content-type": "application/json"})


async def _send_head(stream: trio.SocketStream, reply: Reply, more: dict[str, str]) -> None:
    headers = {"connection": "close", **more, **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} x", *(f"{name}: {value}" for name, value in headers.items())]
    await stream.send_all("\r\n".join([*lines, "", ""]).encode())


async def _request(stream: trio.SocketStream) -> tuple[str, str, bytes]:
    raw = b""
    while b"\r\n\r\n" not in raw:
        chunk = await stream.receive_some(65_536)
        if not chunk:
            return "", "", b""
        raw += chunk
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("ascii").split("\r\n")
    method, path, _ = lines[0].split(" ")
    headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:])}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive_some(65_536)
    return method, path, body
