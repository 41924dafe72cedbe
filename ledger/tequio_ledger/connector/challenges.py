"""Challenges that cost nothing to give: those that were used are kept, not those given."""

from __future__ import annotations

import hmac
import secrets
from collections import deque
from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from tequio_ledger.clock import Clock

LIFE_MS = 120_000
USED = 65_536
"""Most used ones that are remembered for their life."""
_TIME_BYTES = 8
_CHANCE_BYTES = 16
_MARK_BYTES = 32
_BYTES = _TIME_BYTES + _CHANCE_BYTES + _MARK_BYTES


class Challenges:
    """Gives challenges for a wish and takes each of them once; a restart ends them all."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(_MARK_BYTES)
        self._used: set[bytes] = set()
        self._order: deque[bytes] = deque()

    def give(self, wish: bytes) -> bytes:
        """Make a challenge for this wish alone."""
        end = (self._clock() + LIFE_MS).to_bytes(_TIME_BYTES, "big")
        head = end + secrets.token_bytes(_CHANCE_BYTES)
        return head + self._mark(head, wish)

    def take(self, challenge: bytes, wish: bytes) -> None:
        """Use it up; raises RefusedError for one that is not ours, too old, or was used."""
        head, mark = challenge[:-_MARK_BYTES], challenge[-_MARK_BYTES:]
        is_ours = len(challenge) == _BYTES and hmac.compare_digest(mark, self._mark(head, wish))
        if not is_ours or _end(challenge) < self._clock():
            raise RefusedError("expired", "this challenge does not count, or no longer: ask anew")
        self._forget()
        if challenge in self._used:
            raise RefusedError("expired", "this challenge was used: ask for another one")
        if len(self._order) >= USED:
            raise RefusedError("queue-full", "too many want to connect now: try again later")
        self._used.add(challenge)
        self._order.append(challenge)

    def _mark(self, head: bytes, wish: bytes) -> bytes:
        return hmac.digest(self._key, head + wish, "sha256")

    def _forget(self) -> None:
        while self._order and _end(self._order[0]) < self._clock():
            self._used.discard(self._order.popleft())


def _end(challenge: bytes) -> int:
    return int.from_bytes(challenge[:_TIME_BYTES], "big")
