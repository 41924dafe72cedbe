"""Token buckets by name: the rate limit of each sender.

Pure bookkeeping with a clock that is passed in, and bounded: a forgotten sender counts as new, with
a full bucket. (The algorithm: Tanenbaum, Computer Networks, 5.4.2.)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

NAMES = 4_096
"""Default number of names that are remembered."""


class TokenBuckets:
    """Token buckets of one rate; `owe` may overdraw a bucket."""

    def __init__(self, per_s: float, most: float, *, names: int = NAMES) -> None:
        """Make buckets that hold `most` tokens and gain `per_s` tokens a second.

        Beyond `names` senders, the least recently used bucket is forgotten: the bound is on memory,
        and a flood of new names buys an attacker nothing but their full buckets.
        """
        self._per_s = per_s
        self._most = most
        self._names = names
        self._held: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()  # tokens, at

    def try_spend(self, name: Hashable, count: float, now_s: float, times: float = 1.0) -> bool:
        """Take all `count` tokens or none; return whether there were enough."""
        tokens = self._tokens(name, now_s, times)
        is_there = count <= tokens
        self._store(name, tokens - count if is_there else tokens, now_s)
        return is_there

    def spend_some(self, name: Hashable, count: int, now_s: float) -> int:
        """Take as many of `count` tokens as are there; return their number."""
        tokens = self._tokens(name, now_s, 1.0)
        taken = min(count, int(tokens))
        self._store(name, tokens - taken, now_s)
        return taken

    def spend(self, name: Hashable, count: float, now_s: float, times: float = 1.0) -> float:
        """Take tokens, into debt if need be; return the seconds until the sender may go on."""
        tokens = self._tokens(name, now_s, times) - count
        self._store(name, tokens, now_s)
        return max(-tokens, 0.0) / (self._per_s * times)

    def _tokens(self, name: Hashable, now_s: float, times: float) -> float:
        tokens, at_s = self._held.pop(name, (self._most * times, now_s))
        # A clock that jumps back adds nothing, rather than taking tokens away.
        return min(self._most * times, tokens + max(now_s - at_s, 0.0) * self._per_s * times)

    def _store(self, name: Hashable, tokens: float, now_s: float) -> None:
        self._held[name] = (tokens, now_s)
        if len(self._held) > self._names:
            self._held.popitem(last=False)
