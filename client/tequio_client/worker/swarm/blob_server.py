"""The protocol /tequio/blob/1, and serving the store to peers over it.

A stream carries requests one way and answers, in the same order, the other. All integers are
big-endian; every message is one frame.

    request = op u8 | name 32 bytes | first u32 | count u32
    answer  = status u8 | payload

    op 1 LEAVES   payload: `count` leaf hashes of the tree from leaf `first`, 32 bytes each
    op 2 PIECES   payload: `count` pieces from `first`, joined; at most PAYLOAD_BYTES
    op 3 BLOB     payload: size of the blob u64, then its bytes from `first`, at most `count`
    op 4 HELD     payload: one bit per piece, the first piece the highest bit of the first byte;
                  nothing when the tree is here whole
    op 5 LEAF     payload: leaf `first` of an error feedback, 8192 bytes, and its inclusion path;
                  `count` is 1. MISSING too if the peer may not have it

    status 0 OK | 1 MISSING, not here | 2 BUSY, try later or elsewhere | 3 REFUSED, do not ask so

Only an OK answer has a payload. A small tree is fetched by one PIECES request for all of it: its
content alone shows whether it has the right root. A request that does not parse ends the stream.
Pieces are hashed now and then before they are served: a peer that sends wrong bytes is banned by
the peers that it sent them to.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakValueDictionary

import trio

from tequio_client.worker.store.store import Store
from tequio_client.worker.swarm.feedback_leaves import FeedbackLeaves
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import DIGEST_BYTES, Digest, PeerKey
from tequio_shared.limits import PIECE_BYTES

if TYPE_CHECKING:
    from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream

ReadPart: TypeAlias = Callable[[Digest, int, int], tuple[int, bytes] | None]
"""Reads the size of a blob and its bytes from an offset, at most that many; None: not here."""

PROTOCOL = "/tequio/blob/1"
PAYLOAD_BYTES = PIECE_BYTES
"""Most bytes of content in one answer."""
IDLE_S = 300.0
"""A stream without requests is closed after this long."""
SEND_S = 60.0
QUEUE_S = 5.0
"""Above this wait for the upload budget the answer is BUSY."""
READERS = 4
"""Answers that are read from the disk at once, over all peers."""
PEER_ANSWERS = 2
"""Answers to one peer that are read, wait for the budget or are sent at once. A peer with many
streams gets no larger share than a peer with two, and a peer that reads none holds two in memory.
"""

_REQUEST = struct.Struct("!B32sII")
_SIZE = struct.Struct("!Q")


class BlobOp(IntEnum):
    LEAVES = 1
    PIECES = 2
    BLOB = 3
    HELD = 4
    LEAF = 5


class BlobStatus(IntEnum):
    OK = 0
    MISSING = 1
    BUSY = 2
    REFUSED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobRequest:
    """One request about the tree or blob `name`; `first` and `count` as the op says."""

    op: BlobOp
    name: Digest
    first: int = 0
    count: int = 0

    @classmethod
    def parse(cls, raw: bytes) -> BlobRequest:
        try:
            op, name, first, count = _REQUEST.unpack(raw)
            return cls(op=BlobOp(op), name=Digest(name), first=first, count=count)
        except (struct.error, ValueError) as err:
            raise MalformedError(f"not a request: {raw[:8].hex()}") from err

    def encode(self) -> bytes:
        return _REQUEST.pack(self.op, self.name, self.first, self.count)


class NoPayload(Exception):  # noqa: N818 - an answer without a payload, not an error
    """The request gets this status, and no payload."""

    def __init__(self, status: BlobStatus) -> None:
        super().__init__(status.name)
        self.status = status


class BlobServer:
    """Answers peers from the store, within an upload budget."""

    def __init__(
        self,
        network: PeerNetwork,
        store: Store,
        upload: ByteBudget | None = None,
        leaves: FeedbackLeaves | None = None,
        more_blobs: ReadPart | None = None,
    ) -> None:
        """`more_blobs` has blobs that are not in the store, such as chunks of releases."""
        self._store = store
        self._leaves = leaves or FeedbackLeaves()
        self._more_blobs = more_blobs
        self._upload = upload or ByteBudget()
        self.may_transfer = True
        """False: all but audits, whose leaves nobody else has, get MISSING."""
        self.withheld: set[Digest] = set()
        """Payloads of this worker to which the log has no commitment yet, as far as it was read.

        The ledger learns them before it logs one, and could let a peer fetch the payload and commit
        first: this worker's would then be the copy. Its answer alone proves no place in the log.
        """
        self._readers = trio.CapacityLimiter(READERS)
        # Weak, and so of peers with open streams only: strangers choose the keys.
        self._shares: WeakValueDictionary[PeerKey, trio.CapacityLimiter] = WeakValueDictionary()
        self.sent_bytes = 0  # of payloads, since the start
        network.serve(PROTOCOL, self.serve)

    async def serve(self, stream: PeerStream) -> None:
        """Answer one peer's requests until its stream ends; raises PeerError then."""
        share = self._shares.setdefault(stream.peer, trio.CapacityLimiter(PEER_ANSWERS))
        while True:
            # Requests are bounded to their one size; a longer frame ends the stream unread.
            raw = await stream.receive_frame(most_bytes=_REQUEST.size, timeout_s=IDLE_S)
            request = BlobRequest.parse(bytes(raw))
            try:
                # One share over all streams of a peer, taken before the disk and the budget: both
                # serve in order of arrival, and a hundred streams would hold all of their queue.
                async with share:
                    await self._send_payload(stream, request)
            except NoPayload as reason:
                await stream.send_frame(bytes([reason.status]), timeout_s=SEND_S)

    async def _send_payload(self, stream: PeerStream, request: BlobRequest) -> None:
        # Not part of `serve`, which would hold the payload until the next request comes.
        payload = await self._payload(stream.peer, request)
        await stream.send_frame(bytes([BlobStatus.OK]), payload, timeout_s=SEND_S)
        self.sent_bytes += len(payload)

    async def _payload(self, peer: PeerKey, request: BlobRequest) -> bytes:
        if request.op is not BlobOp.LEAF:
            self._check_may_send(request)
        try:
            if request.op is BlobOp.LEAF:
                payload = await self._leaf(peer, request)
            else:
                payload = await trio.to_thread.run_sync(
                    read_payload, self._store, request, self._more_blobs, limiter=self._readers
                )
        # Our own disk fails: the peer is not at fault, and others may serve it.
        except UserFacingError as err:
            raise NoPayload(BlobStatus.BUSY) from err
        # Leaves go first: nobody else has them, and late ones look as if they were withheld.
        if request.op is BlobOp.LEAF:
            self._upload.charge(len(payload))
        else:
            self._check_may_send(request)  # others of a burst may have taken the budget meanwhile
            await self._upload.acquire(len(payload))
        return payload

    def _check_may_send(self, request: BlobRequest) -> None:
        # MISSING before BUSY: a busy source is asked again soon and often, one without it is not.
        is_of_tree = request.op is not BlobOp.BLOB
        is_here = request.name not in self.withheld and self._store.has_part_of(request.name)
        if not self.may_transfer or (is_of_tree and not is_here):
            raise NoPayload(BlobStatus.MISSING)
        # Told at once that we are busy, the peer asks elsewhere; a late answer would arrive after
        # its deadline, and the upload would be wasted.
        if self._upload.wait_s() > QUEUE_S:
            raise NoPayload(BlobStatus.BUSY)

    async def _leaf(self, peer: PeerKey, request: BlobRequest) -> bytes:
        if request.count != 1:
            raise NoPayload(BlobStatus.REFUSED)
        # Asked before anything is read: a stranger must not make us hash a file. One that may not
        # have a leaf gets the same answer as for a root that is not here.
        if not self._leaves.may_open(peer, request.name, request.first):
            raise NoPayload(BlobStatus.MISSING)
        payload = await trio.to_thread.run_sync(
            self._leaves.read, request.name, request.first, limiter=self._readers
        )
        if payload is None:
            raise NoPayload(BlobStatus.MISSING)
        return payload


def read_payload(store: Store, request: BlobRequest, more_blobs: ReadPart | None = None) -> bytes:
    """Read the payload of the answer; blocks. Raises NoPayload without one."""
    payload = _READ[request.op](store, request)
    if payload is None and request.op is BlobOp.BLOB and more_blobs is not None:
        payload = _packed(more_blobs(request.name, request.first, request.count))
    if payload is None:
        raise NoPayload(BlobStatus.MISSING)
    return payload


def pack_bits(held: bytes) -> bytes:
    """One byte per piece to one bit per piece, highest first."""
    packed = bytearray(-(-len(held) // 8))
    for index, have in enumerate(held):
        if have:
            packed[index // 8] |= 0x80 >> index % 8
    return bytes(packed)


def unpack_bits(packed: bytes, pieces: int) -> list[bool]:
    """Read `pack_bits` back; raises MalformedError unless it has a bit for each piece."""
    if len(packed) != -(-pieces // 8):
        raise MalformedError(f"{len(packed)} bytes of bits for {pieces} pieces")
    return [bool(packed[index // 8] & 0x80 >> index % 8) for index in range(pieces)]


def unpack_blob(payload: memoryview) -> tuple[int, memoryview]:
    """Split a BLOB answer into the size of the blob and a part of it; raises MalformedError."""
    if len(payload) < _SIZE.size:
        raise MalformedError("a blob answer without the size of the blob")
    return _SIZE.unpack_from(payload)[0], payload[_SIZE.size :]


def _leaves(store: Store, request: BlobRequest) -> bytes | None:
    if request.count * DIGEST_BYTES > PAYLOAD_BYTES:
        raise NoPayload(BlobStatus.REFUSED)
    tree = store.tree(request.name)
    if tree is None:
        return None
    if request.first + request.count > tree.ref.pieces:
        raise NoPayload(BlobStatus.REFUSED)
    return b"".join(tree.leaves[request.first : request.first + request.count])


def _pieces(store: Store, request: BlobRequest) -> bytes | None:
    tree = store.tree(request.name)
    if tree is None:
        return None
    inside = request.count > 0 and request.first + request.count <= tree.ref.pieces
    # Checked before anything is read: 41 bytes of request must not make us read a whole tree.
    if not inside or tree.ref.span(request.first, request.count)[1] > PAYLOAD_BYTES:
        raise NoPayload(BlobStatus.REFUSED)
    return store.sound_pieces(request.name, request.first, request.count)


def _blob(store: Store, request: BlobRequest) -> bytes | None:
    if request.count > PAYLOAD_BYTES:
        raise NoPayload(BlobStatus.REFUSED)
    return _packed(store.read_blob(request.name, request.first, request.count))


def _packed(found: tuple[int, bytes] | None) -> bytes | None:
    return None if found is None else _SIZE.pack(found[0]) + found[1]


def _held(store: Store, request: BlobRequest) -> bytes | None:
    held = store.held_pieces(request.name)
    if held is None:
        return None
    return b"" if all(held) else pack_bits(held)


_READ: Mapping[BlobOp, Callable[[Store, BlobRequest], bytes | None]] = {
    BlobOp.LEAVES: _leaves,
    BlobOp.PIECES: _pieces,
    BlobOp.BLOB: _blob,
    BlobOp.HELD: _held,
    BlobOp.LEAF: lambda _store, _request: None,  # never in the store, where anyone may read
}
