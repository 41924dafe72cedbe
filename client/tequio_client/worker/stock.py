"""The stock of a store: what is there, how many bytes of how many allowed, what may go first.

Nothing here touches the disk, and nothing is safe for several threads: the store's lock is its.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.worker.store_files import Kind
    from tequio_shared.ids import Digest


class Stock:
    """Entries in the order of their use, at most `quota_bytes` of them."""

    def __init__(self, quota_bytes: int, where: str) -> None:
        self._given_bytes = quota_bytes
        self._aside_bytes = 0
        self._where = where  # for sentences
        self._sizes: OrderedDict[tuple[Kind, Digest], int] = OrderedDict()  # oldest use first
        self._pins: Counter[Digest] = Counter()
        self.used_bytes = 0

    def __contains__(self, entry: tuple[Kind, Digest]) -> bool:
        return entry in self._sizes

    @property
    def quota_bytes(self) -> int:
        """How much may be here."""
        return max(self._given_bytes - self._aside_bytes, 0)

    def set_aside(self, size_bytes: int) -> None:
        """Leave so much of the quota to others."""
        self._aside_bytes += size_bytes

    def limit(
        self,
        quota_bytes: int,
        *,
        may_go: Callable[[Digest], bool],
        let_go: Callable[[Kind, Digest], None],
    ) -> None:
        """Have another quota; the least recently used go until it is kept, as far as they may."""
        self._given_bytes = quota_bytes
        for kind, name in list(self._sizes):
            if self.used_bytes <= self.quota_bytes:
                return
            if may_go(name):
                let_go(kind, name)

    def add(self, kind: Kind, name: Digest, size_bytes: int) -> None:
        """Count an entry as used just now; one that is there gets the new size."""
        self.used_bytes += size_bytes - self._sizes.get((kind, name), 0)
        self._sizes[kind, name] = size_bytes
        self._sizes.move_to_end((kind, name))

    def drop(self, kind: Kind, name: Digest) -> None:
        """Count an entry no longer; none is no error."""
        self.used_bytes -= self._sizes.pop((kind, name), 0)

    def touch(self, kind: Kind, name: Digest) -> bool:
        """Count an entry as used just now; whether that changes the order."""
        entry = (kind, name)
        if entry not in self._sizes or next(reversed(self._sizes)) == entry:
            return False
        self._sizes.move_to_end(entry)
        return True

    def named(self, name: Digest) -> list[Kind]:
        """As what the name is here."""
        return [kind for kind, digest in self._sizes if digest == name]

    def pin(self, name: Digest) -> None:
        """Let this name never go until it was unpinned as often."""
        self._pins[name] += 1

    def unpin(self, name: Digest) -> None:
        """Take one pin away."""
        self._pins[name] -= 1
        if self._pins[name] <= 0:
            del self._pins[name]

    def is_pinned(self, name: Digest) -> bool:
        """Whether it must stay."""
        return name in self._pins

    def make_room(
        self,
        kind: Kind,
        name: Digest,
        size_bytes: int,
        *,
        may_go: Callable[[Digest], bool],
        let_go: Callable[[Kind, Digest], None],
    ) -> None:
        """Let the least recently used go until the entry fits; `let_go` must `drop` them.

        Raises UserFacingError when too little may go.
        """
        more = size_bytes - self._sizes.get((kind, name), 0)
        for old_kind, old in list(self._sizes):
            if self.used_bytes + more <= self.quota_bytes:
                return
            if old != name and may_go(old):
                let_go(old_kind, old)
        if self.used_bytes + more > self.quota_bytes:
            raise UserFacingError(
                f"the store in {self._where} may hold {_text(self.quota_bytes)} and needs "
                f"{_text(self.used_bytes + more)}; allow it more space"
            )


def _text(size_bytes: int) -> str:
    """Write a size for a person."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.1f} {unit}"
    return f"{size_bytes} bytes"
