"""Token buckets by name: how much each sender may still do now.

Pure bookkeeping under a clock that is given, and bounded: a sender that was forgotten counts as
new, with a full bucket. (The algorithm: Tanenbaum, Computer Networks, 5.4.2.)
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

NAMES = 4_096
"""Names remembered, if not said otherwise."""


class Buckets:
    """Token buckets of one rate; a bucket may be overdrawn by one owing."""

    def __init__(self, per_s: float, most: float, *, names: int = NAMES) -> None:
        """Make buckets that fill with so many tokens a second, and hold `most`.

        Beyond `names`, the bucket that was asked longest ago is forgotten.
        """
        self._per_s = per_s
        self._most = most
        self._names = names
        self._held: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()  # tokens, at

    def take(self, name: Hashable, count: float, now_s: float, times: float = 1.0) -> bool:
        """Take tokens, all or none; say whether they were there."""
        tokens = self._tokens(name, now_s, times)
        is_there = count <= tokens
        self._keep(name, tokens - count if is_there else tokens, now_s)
        return is_there

    def owe(self, name: Hashable, count: float, now_s: float, times: float = 1.0) -> float:
        """Take tokens in any case; say for how many seconds the sender now has to wait."""
        tokens = self._tokens(name, now_s, times) - count
        self._keep(name, tokens, now_s)
        return max(-tokens, 0.0) / (self._per_s * times)

    def _tokens(self, name: Hashable, now_s: float, times: float) -> float:
        tokens, at_s = self._held.pop(name, (self._most * times, now_s))
        return min(self._most * times, tokens + max(now_s - at_s, 0.0) * self._per_s * times)

    def _keep(self, name: Hashable, tokens: float, now_s: float) -> None:
        self._held[name] = (tokens, now_s)
        if len(self._held) > self._names:
            self._held.popitem(last=False)
