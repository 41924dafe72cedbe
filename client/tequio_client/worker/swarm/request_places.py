"""Places for requests for content: what is on its way has to fit into memory, from any source.

A source that sends nothing, or a byte now and then, keeps a request open for minutes, and a key of
the peer network costs nothing. So a few such sources must not take the places of all others:

1. A source is trusted with several requests at once after an answer that came soon, until one
   fails or comes late. Any other has one request on its way.
2. Trusted sources have places of their own.
3. A request that is open for much longer than answers usually take, while others wait for a place,
   is given up with all of its source's. Where nothing is answered at all, our own line may be the
   slow one: the patience doubles each time, so that an answer gets through.

A request costs time in the number of those that wait, some hundreds at most.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from tequio_shared.errors import PeerError
from tequio_shared.ids import PeerKey

TRUSTED_PLACES, OTHER_PLACES = 10, 6
"""Requests on their way to trusted sources, and to others; with 1 MiB each, 16 MiB of memory."""
SOON_S = 10.0
"""An answer that took no longer came soon; also the least patience."""
LONGEST_S = 120.0
_TIMES_USUAL = 4.0
_NEWEST_SHARE = 0.2
_CHECK_S = 1.0
_TRUSTED_KEPT = 1_024


@dataclass(slots=True, eq=False)
class _PlacedRequest:
    source: PeerKey
    turn: trio.Event = field(default_factory=trio.Event)
    is_trusted: bool = False
    since_s: float = 0.0
    is_given_up: bool = False


class RequestPlaces:
    """Gives each request its place, in the order of arrival where two have room."""

    def __init__(self, give_up: Callable[[PeerKey], None]) -> None:
        """`give_up` has every open request to a source fail."""
        self._give_up = give_up
        self._open: list[_PlacedRequest] = []
        self._waiting: list[_PlacedRequest] = []
        self._trusted: OrderedDict[PeerKey, None] = OrderedDict()  # the newest last
        self._usual_s = 0.0
        self._patience_s = SOON_S

    @asynccontextmanager
    async def taken(self, source: PeerKey) -> AsyncIterator[None]:
        """Wait for a place, and have it for the block, in which the answer comes.

        A PeerError of the block ends the trust in the source.
        """
        request = _PlacedRequest(source)
        self._waiting.append(request)
        self._admit()
        try:
            while not request.turn.is_set():
                with trio.move_on_after(_CHECK_S):
                    await request.turn.wait()
                self._end_late()
            try:
                yield
            except PeerError:
                self._trusted.pop(source, None)
                raise
            self._record(source, trio.current_time() - request.since_s)
        finally:
            for held in (self._waiting, self._open):
                if request in held:
                    held.remove(request)
            self._admit()

    def _admit(self) -> None:
        taken = Counter(one.is_trusted for one in self._open)
        asked = {one.source for one in self._open}
        for request in list(self._waiting):
            is_trusted = request.source in self._trusted
            if taken[is_trusted] >= (TRUSTED_PLACES if is_trusted else OTHER_PLACES):
                continue
            if not is_trusted and request.source in asked:
                continue
            taken[is_trusted] += 1
            asked.add(request.source)
            self._waiting.remove(request)
            request.is_trusted, request.since_s = is_trusted, trio.current_time()
            self._open.append(request)
            request.turn.set()

    def _record(self, source: PeerKey, took_s: float) -> None:
        self._usual_s += _NEWEST_SHARE * (took_s - self._usual_s)
        self._patience_s = min(max(_TIMES_USUAL * self._usual_s, SOON_S), LONGEST_S)
        self._trusted.pop(source, None)
        if took_s <= SOON_S:
            self._trusted[source] = None
            if len(self._trusted) > _TRUSTED_KEPT:
                self._trusted.popitem(last=False)

    def _end_late(self) -> None:
        latest_s = trio.current_time() - self._patience_s
        late = [one for one in self._open if one.since_s < latest_s and not one.is_given_up]
        if not late or not self._waiting:
            return
        self._patience_s = min(2 * self._patience_s, LONGEST_S)
        for request in late:
            request.is_given_up = True
        for source in {one.source for one in late}:
            self._trusted.pop(source, None)
            self._give_up(source)
