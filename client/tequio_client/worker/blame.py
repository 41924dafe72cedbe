"""Blame: which peers gave wrong bytes, told in a bounded record, and not asked again for a while.

A connection is authenticated, so bytes that came over it are that peer's. But a name may be at
fault too: somebody can commit to a payload under the name of a tree of another shape, and whoever
then serves that tree honestly seems to lie. So a peer whose bytes did not fit is a suspect, dropped
from the fetch at hand; once the name was had from somebody, which shows that it can be had, its
suspects are liars.

Kept in memory: after a restart a liar has one more try.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
import trio

from tequio_shared.ids import peer_id_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.ids import Digest, PeerKey

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
