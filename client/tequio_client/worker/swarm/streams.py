"""The client side of /tequio/blob/1: requests to peers, over streams that stay open.

A fresh stream costs about 2.4 round trips and starts with a window of 256 KiB, so streams to a
peer are pooled and reused by all fetches. Several requests may be on their way on one stream;
answers come in order. `BlobClient` adds the budgets, and `PeerBans` remembers which peers sent
wrong bytes.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from weakref import WeakValueDictionary

import structlog
import trio

from tequio_client.worker.store.trees import TreeRef, split_leaves
from tequio_client.worker.swarm.blob_server import (
    PAYLOAD_BYTES,
    PROTOCOL,
    BlobOp,
    BlobRequest,
    BlobStatus,
    unpack_bits,
    unpack_blob,
)
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.request_places import RequestPlaces
from tequio_shared.errors import MalformedError, PeerError, TequioError
from tequio_shared.ids import DIGEST_BYTES, Digest, PeerKey, peer_id_text

if TYPE_CHECKING:
    from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream

log = structlog.get_logger(__name__)

REQUEST_S = 120.0
"""Longest time for one answer; a silent stream is given up much sooner."""
SILENCE_S = 20.0
"""A stream on which nothing arrives for this long, with a request open, is given up."""
IDLE_S = 240.0
"""An unused stream is closed after this long; the server would do so a minute later."""
STREAMS = 2
"""Streams to one peer. More hide no latency that requests in a row do not hide already."""

FIRST_BAN_S = 300.0
"""First ban of a peer that sent wrong bytes; each further one is twice as long."""
LONGEST_BAN_S = 6 * 3600.0
BANNED_PEERS = 64
"""Peers remembered for wrong bytes; the oldest goes first."""
SUSPECTED_NAMES = 64
"""Names remembered that have suspects and were not fetched yet."""


class BlobClient:
    """Requests of /tequio/blob/1 within the budgets; its `streams` must be entered.

    What is asked for is charged at once, and given back when it does not come. Callers await
    `until_paid` of the budget before: our own wait must not make a peer look late.

    All methods raise PeerError when the peer fails, AnswerError when it does not have the content,
    and MalformedError when the answer cannot be one.
    """

    def __init__(
        self,
        network: PeerNetwork,
        *,
        download: ByteBudget | None = None,
        silence_s: float = SILENCE_S,
    ) -> None:
        self.streams = StreamPool(network, silence_s=silence_s)
        self.budget = download or ByteBudget()
        # Over all fetches and peers: what is on its way has to fit into memory, however many
        # fetches are started at once.
        self._places = RequestPlaces(self.streams.close_peer)

    async def held(self, peer: PeerKey, ref: TreeRef) -> list[bool] | None:
        """Ask which pieces of the tree the peer has; None for all of them."""
        payload = await self.streams.request(peer, BlobRequest(op=BlobOp.HELD, name=ref.root))
        return unpack_bits(bytes(payload), ref.pieces) if payload else None

    async def pieces(
        self,
        peer: PeerKey,
        ref: TreeRef,
        first: int,
        count: int,
        may_send: Callable[[], bool],
    ) -> memoryview:
        """Fetch pieces, not yet verified; of the right length, or MalformedError.

        Raises NotWantedError unless `may_send` once the request has its place.
        """
        request = BlobRequest(op=BlobOp.PIECES, name=ref.root, first=first, count=count)
        _, expect_bytes = ref.span(first, count)
        payload = await self._fetch(peer, request, expect_bytes, may_send)
        if len(payload) != expect_bytes:
            raise MalformedError(f"{len(payload)} bytes where {expect_bytes} were asked for")
        return payload

    async def leaves(self, peer: PeerKey, ref: TreeRef) -> tuple[bytes, ...]:
        """Fetch all leaf hashes of the tree, not yet verified."""
        most = PAYLOAD_BYTES // DIGEST_BYTES
        leaves: list[bytes] = []
        for first in range(0, ref.pieces, most):
            count = min(most, ref.pieces - first)
            request = BlobRequest(op=BlobOp.LEAVES, name=ref.root, first=first, count=count)
            self.budget.charge(count * DIGEST_BYTES)
            leaves += split_leaves(bytes(await self.streams.request(peer, request)))
        return tuple(leaves)

    async def blob_part(self, peer: PeerKey, name: Digest, first: int) -> tuple[int, memoryview]:
        """Fetch the size of the blob, and its bytes from `first`, at most PAYLOAD_BYTES."""
        request = BlobRequest(op=BlobOp.BLOB, name=name, first=first, count=PAYLOAD_BYTES)
        return unpack_blob(await self._fetch(peer, request, PAYLOAD_BYTES))

    async def has_blob(self, peer: PeerKey, name: Digest) -> bool:
        """Ask whether the peer gives the blob now; False, too, if it fails."""
        try:
            await self.streams.request(peer, BlobRequest(op=BlobOp.BLOB, name=name))
        except PeerError:
            return False
        return True

    async def leaf(self, peer: PeerKey, root: Digest, index: int, leaf_bytes: int) -> memoryview:
        """Fetch a leaf of an error feedback and its inclusion path, not yet verified."""
        request = BlobRequest(op=BlobOp.LEAF, name=root, first=index, count=1)
        return await self._fetch(peer, request, leaf_bytes)

    async def _fetch(
        self,
        peer: PeerKey,
        request: BlobRequest,
        most_bytes: int,
        may_send: Callable[[], bool] = lambda: True,
    ) -> memoryview:
        self.budget.charge(most_bytes)
        came_bytes = 0
        try:
            async with self._places.taken(peer):
                if not may_send():
                    raise NotWantedError
                came_bytes = most_bytes  # what was asked for arrives, also if nobody waits for it
                answer = await self.streams.request(peer, request)
            came_bytes = len(answer)
        except PeerError:
            came_bytes = 0
            raise
        else:
            return answer
        finally:
            self.budget.charge(came_bytes - most_bytes)


class AnswerError(PeerError):
    """The peer answered without content: it does not have it, is busy, or refuses."""

    def __init__(self, status: BlobStatus) -> None:
        super().__init__(f"the peer answered {status.name}")
        self.status = status


class NotWantedError(TequioError):
    """The content came from elsewhere, or is about to."""


class StreamPool:
    """The request streams to all peers; `async with StreamPool(network) as streams`."""

    def __init__(self, network: PeerNetwork, *, silence_s: float = SILENCE_S) -> None:
        self._network = network
        self.silence_s = silence_s
        self._streams: dict[PeerKey, list[RequestStream]] = {}
        # Weak, and so of peers that are being asked only: there is no end of keys.
        self._opening: WeakValueDictionary[PeerKey, trio.Lock] = WeakValueDictionary()
        self._stack = AsyncExitStack()
        self._nursery: trio.Nursery  # of the reading tasks; there once entered
        self.received_bytes = 0  # of answers since the start, those given up too

    async def __aenter__(self) -> Self:
        self._nursery = await self._stack.enter_async_context(trio.open_nursery())
        return self

    async def __aexit__(self, *_error: object) -> None:
        # The error is not passed to the nursery, which would wrap it in an ExceptionGroup.
        self._nursery.cancel_scope.cancel()
        await self._stack.aclose()

    async def request(self, peer: PeerKey, request: BlobRequest) -> memoryview:
        """Send one request; returns the payload of an OK answer, raises AnswerError for another."""
        stream = await self._least_busy(peer)
        frame = await stream.request(request)
        try:
            status = BlobStatus(frame[0])
        except (IndexError, ValueError) as err:
            raise MalformedError("an answer without a status") from err
        if status is not BlobStatus.OK:
            raise AnswerError(status)
        return memoryview(frame)[1:]  # the payload is up to 1 MiB: not copied

    def close_peer(self, peer: PeerKey) -> None:
        """Close the streams to a peer; requests still open on them fail."""
        for stream in self._streams.pop(peer, []):
            stream.close()

    async def _least_busy(self, peer: PeerKey) -> RequestStream:
        """Pick the stream with the fewest open requests; open one while all of few are busy."""
        # One opening per peer at a time: ten fetches that start at once would otherwise each find
        # no stream, and open ten.
        async with self._opening.setdefault(peer, trio.Lock()):
            streams = [stream for stream in self._streams.get(peer, ()) if stream.is_open]
            if len(streams) < STREAMS and all(stream.open_requests for stream in streams):
                streams.append(await self._open(peer))
            self._streams[peer] = streams
        return min(streams, key=lambda stream: stream.open_requests)

    async def _open(self, peer: PeerKey) -> RequestStream:
        stream = RequestStream(await self._network.open_stream(peer, PROTOCOL), self)
        self._nursery.start_soon(self._run, peer, stream)
        return stream

    async def _run(self, peer: PeerKey, stream: RequestStream) -> None:
        await stream.run()
        if not any(one.is_open for one in self._streams.get(peer, ())):
            self._streams.pop(peer, None)


class RequestStream:
    """One stream of requests and answers of a pool; `run` must be running.

    The stream has a reading task of its own: a caller that gives up leaves its answer to that
    task, which still reads it. Were the caller the reader, each request that is given up would put
    the stream out of step and cost it.
    """

    def __init__(self, stream: PeerStream, pool: StreamPool) -> None:
        self._stream = stream
        self._pool = pool
        self._unanswered: deque[_PendingRequest] = deque()  # in the order of sending
        self._sent = trio.Event()  # replaced whenever nothing is unanswered
        self._sending = trio.Lock()
        self._scope = trio.CancelScope()
        self.is_open = True

    @property
    def open_requests(self) -> int:
        """Number of unanswered requests, those given up too."""
        return len(self._unanswered)

    async def request(self, request: BlobRequest) -> bytearray:
        """Send a request and wait for the answer frame; raises PeerError."""
        pending = _PendingRequest()
        with trio.move_on_after(REQUEST_S):
            await self._send(request, pending)
            await pending.done.wait()
        if pending.frame is None:
            raise PeerError("no answer in time" if self.is_open else "the stream to the peer ended")
        return pending.frame

    def close(self) -> None:
        """End `run`; requests still open fail."""
        self._scope.cancel()

    async def run(self) -> None:
        """Read answers until the stream ends, is idle for too long, or `close`."""
        try:
            with self._scope:
                await self._read_answers()
        except PeerError:
            pass  # reported by every open request, which has no frame
        finally:
            self.is_open = False
            for pending in self._unanswered:
                pending.done.set()
            await self._stream.drop()

    async def _send(self, request: BlobRequest, pending: _PendingRequest) -> None:
        async with self._sending:
            if not self.is_open:
                return
            # Not cancelled half-way: whether the request was sent would be unknown, and with it
            # to which request each later answer belongs. The timeout bounds the shield.
            with trio.CancelScope(shield=True):
                self._unanswered.append(pending)
                self._sent.set()
                try:
                    await self._stream.send_frame(request.encode(), timeout_s=10)
                except PeerError:
                    self.close()
                    raise

    async def _read_answers(self) -> None:
        while True:
            with trio.move_on_after(IDLE_S):
                await self._sent.wait()
            if not self._unanswered:
                return
            frame = await self._stream.receive_frame(timeout_s=self._pool.silence_s)
            self._pool.received_bytes += len(frame)
            pending = self._unanswered.popleft()
            pending.frame = frame
            pending.done.set()
            if not self._unanswered:
                self._sent = trio.Event()


class _PendingRequest:
    def __init__(self) -> None:
        self.done = trio.Event()
        self.frame: bytearray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerBan:
    """A peer that sent wrong bytes: what was wrong last, how often, and the end of its ban."""

    peer: PeerKey
    reason: str
    times: int
    until_s: float  # by the clock of PeerBans

    def __str__(self) -> str:
        return f"{peer_id_text(self.peer)} ({self.times}): {self.reason}"


class PeerBans:
    """Which peers sent wrong bytes and are not asked for a while; bounded.

    A connection is authenticated, so bytes that came over it are that peer's. But the name may be
    at fault: a peer can commit to a payload under the root of a tree of another shape, and every
    honest server of that tree then seems to send wrong bytes. So such a peer is a suspect, and
    dropped from the fetch at hand; once the name was fetched from another peer, which shows that
    right bytes exist, its suspects are banned.

    Kept in memory: after a restart a banned peer has one more try.
    """

    def __init__(self, clock: Callable[[], float] = trio.current_time) -> None:
        self._clock = clock  # seconds
        self._bans: OrderedDict[PeerKey, PeerBan] = OrderedDict()  # the newest last
        self._suspects: OrderedDict[Digest, dict[PeerKey, str]] = OrderedDict()

    @property
    def newest_first(self) -> tuple[PeerBan, ...]:
        """Peers that were ever banned, as far as they are remembered."""
        return tuple(reversed(self._bans.values()))

    def is_banned(self, peer: PeerKey) -> bool:
        ban = self._bans.get(peer)
        return ban is not None and self._clock() < ban.until_s

    def suspect(self, name: Digest, peer: PeerKey, reason: str) -> None:
        """Record that the peer sent bytes that do not fit the name."""
        log.warning("a source sent wrong data", peer=peer_id_text(peer), reason=reason)
        self._suspects.setdefault(name, {})[peer] = reason
        while len(self._suspects) > SUSPECTED_NAMES:
            self._suspects.popitem(last=False)

    def confirm(self, name: Digest) -> None:
        """The name was fetched: ban its suspects."""
        for peer, reason in self._suspects.pop(name, {}).items():
            self._ban(peer, reason)

    def _ban(self, peer: PeerKey, reason: str) -> None:
        before = self._bans.pop(peer, None)
        times = before.times + 1 if before else 1
        # The exponent is bounded as well: 2.0 ** times overflows for a peer that never stops.
        ban_s = min(FIRST_BAN_S * 2.0 ** min(times - 1, 16), LONGEST_BAN_S)
        until_s = self._clock() + ban_s
        self._bans[peer] = PeerBan(peer=peer, reason=reason, times=times, until_s=until_s)
        while len(self._bans) > BANNED_PEERS:
            self._bans.popitem(last=False)
        log.warning("a source is banned", peer=peer_id_text(peer), reason=reason, for_s=ban_s)
