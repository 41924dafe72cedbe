"""The right edge of a log that is read on, and how much of it follows from a signed root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_shared.merkle import leaf_hash

if TYPE_CHECKING:
    from tequio_shared.ids import Digest
    from tequio_shared.merkle import Frontier


class LogEdge:
    """One task appends, another says what is proven; times are trio's."""

    def __init__(self, frontier: Frontier, at_s: float) -> None:
        """Begin with an edge that was proven at that time."""
        self._frontier = frontier
        self._roots: dict[int, Digest] = {frontier.size: frontier.root()}  # from the proven one on
        self._appended = trio.Event()  # replaced by `until_unproven`
        self._moved_on = trio.Event()  # replaced by `until_less_unproven`
        self.proven = frontier.size
        """Up to this size it follows from a signed root."""
        self.proven_at_s = at_s
        self.appended_at_s = 0.0

    @property
    def size(self) -> int:
        """Entries appended."""
        return self._frontier.size

    @property
    def unproven(self) -> int:
        """Entries that do not follow from a signed root yet."""
        return self.size - self.proven

    def root(self, size: int | None = None) -> Digest:
        """The root at a size from the proven one on; at the present one if none is said."""
        return self._roots[self.size if size is None else size]

    def append(self, leaf: bytes) -> None:
        """Take the next entry."""
        self._frontier.append(leaf_hash(leaf))
        self.appended_at_s = trio.current_time()
        self._roots[self.size] = self._frontier.root()
        self._appended.set()

    def prove(self, size: int) -> None:
        """Note that it follows from a signed root up to that size, which is proven or beyond."""
        if size > self.proven or size == self.size:
            self.proven_at_s = trio.current_time()
        for passed in range(self.proven, size):
            del self._roots[passed]
        self.proven = size
        self._moved_on.set()

    async def until_unproven(self, count: int) -> None:
        """Wait until so many entries are not proven."""
        while self.unproven < count:
            self._appended = trio.Event()
            await self._appended.wait()

    async def until_less_unproven(self, count: int) -> None:
        """Wait until fewer entries than that are not proven."""
        while self.unproven >= count:
            self._moved_on = trio.Event()
            await self._moved_on.wait()
