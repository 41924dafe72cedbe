"""Lanes: long-lived request streams to peers, shared by everything that is fetched.

A new stream costs more than two round trips, so lanes stay open. Several questions may be on
their way on one lane; answers come in order. Each lane has its own reading task, so the answer to
a question that was given up is still read, and the lane stays in step and is not lost.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import structlog
import trio

from tequio_client.worker.swarm.blob_server import PROTOCOL, Status
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import peer_id_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from random import Random

    from tequio_client.worker.peers import PeerNetwork, PeerStream
    from tequio_client.worker.store.store import Store
    from tequio_client.worker.swarm.blob_server import Request
    from tequio_shared.ids import Digest, PeerKey

# --- Blame: which peers gave wrong bytes, told in a bounded record, and not asked again for a
# while.
#
# A connection is authenticated, so bytes that came over it are that peer's. But a name may be at
# fault too: somebody can commit to a payload under the name of a tree of another shape, and
# whoever then serves that tree honestly seems to lie. So a peer whose bytes did not fit is a
# suspect, dropped from the fetch at hand; once the name was had from somebody, which shows that
# it can be had, its suspects are liars.
#
# Kept in memory: after a restart a liar has one more try.

log = structlog.get_logger(__name__)

FIRST_BAN_S = 300.0
"""How long a liar is not asked; twice as long each time."""
LONGEST_BAN_S = 6 * 3600.0
RECORDS = 64
"""Liars remembered; the oldest lie goes first."""
NAMES = 64
"""Names remembered that have suspects and were not had yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSource:
    """A peer that gave wrong bytes: what was wrong last, how often, until when it is not asked."""

    peer: PeerKey
    reason: str
    times: int
    until_s: float  # by the record's clock

    def __str__(self) -> str:
        return f"{peer_id_text(self.peer)} ({self.times}): {self.reason}"


class Blame:
    """One worker's record of liars."""

    def __init__(self, clock: Callable[[], float] = trio.current_time) -> None:
        self._clock = clock  # seconds
        self._liars: OrderedDict[PeerKey, BadSource] = OrderedDict()  # the last lie last
        self._suspects: OrderedDict[Digest, dict[PeerKey, str]] = OrderedDict()

    @property
    def liars(self) -> tuple[BadSource, ...]:
        """Who lied, the last one first."""
        return tuple(reversed(self._liars.values()))

    def is_banned(self, peer: PeerKey) -> bool:
        """Whether the peer is not to be asked now."""
        found = self._liars.get(peer)
        return found is not None and self._clock() < found.until_s

    def suspect(self, name: Digest, peer: PeerKey, reason: str) -> None:
        """The peer gave bytes that do not fit the name."""
        log.warning("a source lied", peer=peer_id_text(peer), reason=reason)
        self._suspects.setdefault(name, {})[peer] = reason
        while len(self._suspects) > NAMES:
            self._suspects.popitem(last=False)

    def had(self, name: Digest) -> None:
        """The name was had: its suspects are liars."""
        for peer, reason in self._suspects.pop(name, {}).items():
            self._ban(peer, reason)

    def _ban(self, peer: PeerKey, reason: str) -> None:
        before = self._liars.pop(peer, None)
        times = before.times + 1 if before else 1
        ban_s = min(FIRST_BAN_S * 2.0 ** min(times - 1, 16), LONGEST_BAN_S)
        self._liars[peer] = BadSource(
            peer=peer, reason=reason, times=times, until_s=self._clock() + ban_s
        )
        while len(self._liars) > RECORDS:
            self._liars.popitem(last=False)
        log.warning(
            "source not asked for a while", peer=peer_id_text(peer), reason=reason, for_s=ban_s
        )


LANES = 2
"""Streams to one peer."""
IDLE_S = 240.0
"""An unused lane is closed after this long; the server would do so a minute later."""
SILENCE_S = 20.0
"""A lane on which nothing arrives for this long, with a question open, is given up."""


class NotOkError(PeerError):
    """The peer answered, but not OK."""

    def __init__(self, status: Status) -> None:
        super().__init__(f"the peer answered {status.name}")
        self.status = status


class Lanes:
    """The lanes to all peers; `async with Lanes(network) as lanes`."""

    def __init__(self, network: PeerNetwork) -> None:
        self._network = network
        self._lanes: dict[PeerKey, list[Lane]] = {}
        self._opening: dict[PeerKey, trio.Lock] = {}
        self._nursery: trio.Nursery
        self.received_bytes = 0  # of answers since the start, those given up too

    async def __aenter__(self) -> Self:
        self._running = _nursery()
        self._nursery = await self._running.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        self._nursery.cancel_scope.cancel()
        await self._running.__aexit__(None, None, None)

    async def ask(self, peer: PeerKey, request: Request, *, timeout_s: float) -> memoryview:
        """Ask one question; returns the payload of the OK answer.

        Raises NotOkError for another status, PeerError when the peer fails or is too slow.
        """
        lane = await self._free_lane(peer)
        frame = await lane.ask(request, timeout_s=timeout_s)
        try:
            status = Status(frame[0])
        except (IndexError, ValueError) as err:
            raise MalformedError("an answer without a status") from err
        if status is not Status.OK:
            raise NotOkError(status)
        return memoryview(frame)[1:]

    def drop(self, peer: PeerKey) -> None:
        """Close the lanes to a peer; questions still open on them fail."""
        for lane in self._lanes.pop(peer, []):
            lane.end()

    async def _free_lane(self, peer: PeerKey) -> Lane:
        """Pick the lane with the fewest open questions; open one while all of few are busy."""
        async with self._opening.setdefault(peer, trio.Lock()):
            lanes = [lane for lane in self._lanes.get(peer, ()) if lane.is_open]
            busy = all(lane.questions for lane in lanes)
            if busy and len(lanes) < LANES:
                lanes.append(await self._open(peer))
            self._lanes[peer] = lanes
        return min(lanes, key=lambda lane: lane.questions)

    async def _open(self, peer: PeerKey) -> Lane:
        lane = Lane(await self._network.open_stream(peer, PROTOCOL), self._count)
        self._nursery.start_soon(lane.run)
        return lane

    def _count(self, size_bytes: int) -> None:
        self.received_bytes += size_bytes


class Lane:
    """One stream of questions and answers; `run` must be running.

    `count` is told the size of each answer.
    """

    def __init__(self, stream: PeerStream, count: Callable[[int], None]) -> None:
        self._stream = stream
        self._count = count
        self._open: deque[_Question] = deque()  # asked, in order, not yet answered
        self._asked = trio.Event()
        self._sending = trio.Lock()
        self._scope = trio.CancelScope()
        self.is_open = True

    @property
    def questions(self) -> int:
        """How many questions are open, given up ones too."""
        return len(self._open)

    async def ask(self, request: Request, *, timeout_s: float) -> bytearray:
        """Ask and wait for the answer frame; raises PeerError."""
        question = _Question()
        with trio.move_on_after(timeout_s):
            await self._send(request, question)
            await question.done.wait()
        if question.frame is None:
            raise PeerError("no answer in time" if self.is_open else "the stream to the peer ended")
        return question.frame

    def end(self) -> None:
        """Give the lane up."""
        self._scope.cancel()

    async def run(self) -> None:
        """Read answers until the stream ends, the lane is idle too long, or `end`."""
        try:
            with self._scope:
                await self._read_answers()
        except PeerError:
            pass  # every open question learns it below
        finally:
            self.is_open = False
            for question in self._open:
                question.done.set()
            await self._stream.drop()

    async def _send(self, request: Request, question: _Question) -> None:
        async with self._sending:
            if not self.is_open:
                return
            # Not cancelled half-way: whether it was sent would be unknown, and with it the order.
            with trio.CancelScope(shield=True):
                self._open.append(question)
                self._asked.set()
                try:
                    await self._stream.send_frame(request.encode(), timeout_s=10)
                except PeerError:
                    self.end()
                    raise

    async def _read_answers(self) -> None:
        while True:
            with trio.move_on_after(IDLE_S):
                await self._asked.wait()
            if not self._open:
                return
            frame = await self._stream.receive_frame(timeout_s=SILENCE_S)
            self._count(len(frame))
            question = self._open.popleft()
            question.frame = frame
            question.done.set()
            if not self._open:
                self._asked = trio.Event()


class _Question:
    def __init__(self) -> None:
        self.done = trio.Event()
        self.frame: bytearray | None = None


@asynccontextmanager
async def _nursery() -> AsyncIterator[trio.Nursery]:
    async with trio.open_nursery() as nursery:
        yield nursery


# --- Asking peers for content: within the budgets, over lanes that stay open, and who is to
# blame.

IN_FLIGHT = 16
"""Requests for pieces on their way to all sources: bounds memory, 1 MiB each."""
DEPTH = 4
"""Requests on their way to one source."""
REQUEST_S = 120.0
"""Longest time for one answer; a silent stream is given up much sooner."""


class Asker:
    """What all fetches share; `async with Asker(...) as asker`."""

    def __init__(
        self,
        network: PeerNetwork,
        store: Store,
        *,
        rng: Random,
        download: ByteBudget | None = None,
        blame: Blame | None = None,
    ) -> None:
        self.store = store
        self.rng = rng
        self.blame = blame or Blame()
        self._budget = download or ByteBudget()
        self._lanes = Lanes(network)
        self._flight = trio.CapacityLimiter(IN_FLIGHT)
        self._stack = AsyncExitStack()

    @property
    def received_bytes(self) -> int:
        """What peers have answered since the start; above what was verified: waste."""
        return self._lanes.received_bytes

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._lanes)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def ask(self, peer: PeerKey, request: Request, *, expect_bytes: int = 0) -> memoryview:
        """Ask within the budgets; raises PeerError."""
        await self._budget.take(expect_bytes)
        return await self._lanes.ask(peer, request, timeout_s=REQUEST_S)

    async def ask_for_bytes(self, peer: PeerKey, request: Request, expect_bytes: int) -> memoryview:
        """`ask`, for an answer so large that only so many may be on their way."""
        async with self._flight:
            return await self.ask(peer, request, expect_bytes=expect_bytes)

    def accuse(self, name: Digest, peer: PeerKey, reason: str) -> None:
        """Close our streams to a source that gave wrong bytes for that name."""
        self._lanes.drop(peer)
        self.blame.suspect(name, peer, reason)
