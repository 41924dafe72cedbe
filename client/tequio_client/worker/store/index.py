"""Index of a store, in memory: sizes, order of use, pins, quota, and recent leaf hashes."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.worker.store.files import Kind
    from tequio_client.worker.store.trees import MerkleBlob
    from tequio_shared.ids import Digest

CACHED_TREES = 256
"""Leaf lists kept in memory."""
CACHED_LEAVES = 1 << 17
"""And hashes in all of them together, about 10 MiB: the largest heads have many thousand each."""


class StoreIndex:
    """Entries in the order of their use, at most `quota_bytes` of them.

    `may_evict` decides which names may go, beyond those that are pinned; `evict` deletes one and
    must call `drop`. Both methods that evict walk the entries from the oldest use on, which costs
    time in the number of entries (some thousands at most) and only when the quota is reached.
    """

    def __init__(
        self,
        quota_bytes: int,
        where: str,
        *,
        may_evict: Callable[[Digest], bool],
        evict: Callable[[Kind, Digest], None],
    ) -> None:
        self._given_bytes = quota_bytes
        self._aside_bytes = 0
        self._where = where  # for sentences
        self._may_evict = may_evict
        self._evict = evict
        self._sizes: OrderedDict[tuple[Kind, Digest], int] = OrderedDict()  # oldest use first
        self._pins: Counter[Digest] = Counter()
        self.used_bytes = 0

    def __contains__(self, entry: tuple[Kind, Digest]) -> bool:
        return entry in self._sizes

    @property
    def quota_bytes(self) -> int:
        """How much may be here."""
        return max(self._given_bytes - self._aside_bytes, 0)

    def reserve(self, size_bytes: int) -> None:
        """Leave that much of the quota to others."""
        self._aside_bytes += size_bytes

    def set_quota(self, quota_bytes: int) -> None:
        """Change the quota; the least recently used go until it is met, as far as they may."""
        self._given_bytes = quota_bytes
        self._evict_until(0)

    def make_room(self, kind: Kind, name: Digest, size_bytes: int) -> None:
        """Evict the least recently used until the entry fits.

        Raises UserFacingError when too little may go.
        """
        more = size_bytes - self._sizes.get((kind, name), 0)
        self._evict_until(more, keep=name)
        if self.used_bytes + more > self.quota_bytes:
            raise UserFacingError(
                f"the store in {self._where} may hold {_size_text(self.quota_bytes)} and needs "
                f"{_size_text(self.used_bytes + more)}; allow it more space"
            )

    def add(self, kind: Kind, name: Digest, size_bytes: int) -> None:
        """Count an entry as used just now; one that is there gets the new size."""
        self.used_bytes += size_bytes - self._sizes.get((kind, name), 0)
        self._sizes[kind, name] = size_bytes
        self._sizes.move_to_end((kind, name))

    def drop(self, kind: Kind, name: Digest) -> None:
        """Count an entry no longer; an unknown one changes nothing."""
        self.used_bytes -= self._sizes.pop((kind, name), 0)

    def touch(self, kind: Kind, name: Digest) -> bool:
        """Count an entry as used just now; whether that changes the order."""
        entry = (kind, name)
        if entry not in self._sizes or next(reversed(self._sizes)) == entry:
            return False
        self._sizes.move_to_end(entry)
        return True

    def kinds_of(self, name: Digest) -> list[Kind]:
        """The kinds under which the name is here."""
        return [kind for kind, digest in self._sizes if digest == name]

    def pin(self, name: Digest) -> None:
        """Protect the name from eviction until it was unpinned as often."""
        self._pins[name] += 1

    def unpin(self, name: Digest) -> None:
        """Take one pin away."""
        self._pins[name] -= 1
        if self._pins[name] <= 0:
            del self._pins[name]

    def may_evict(self, name: Digest) -> bool:
        """Check that the name is neither pinned nor in use by the store."""
        return name not in self._pins and self._may_evict(name)

    def _evict_until(self, more_bytes: int, keep: Digest | None = None) -> None:
        for kind, name in list(self._sizes):
            if self.used_bytes + more_bytes <= self.quota_bytes:
                return
            # `keep` is the entry that grows: evicting it to make room for itself would lose it.
            if name != keep and self.may_evict(name):
                self._evict(kind, name)


class TreeCache:
    """The trees used last, with their leaf hashes, within bounds."""

    def __init__(self) -> None:
        self._trees: OrderedDict[Digest, MerkleBlob] = OrderedDict()

    def get(self, root: Digest) -> MerkleBlob | None:
        """The tree of that root, if it is cached."""
        return self._trees.get(root)

    def put(self, tree: MerkleBlob) -> None:
        """Cache the tree as the one used last; the oldest go where there are too many."""
        self._trees[tree.ref.root] = tree
        self._trees.move_to_end(tree.ref.root)
        leaves = sum(len(cached.leaves) for cached in self._trees.values())
        # The newest stays even when it alone is over the bound: a fetch of it needs its leaves.
        while len(self._trees) > CACHED_TREES or (leaves > CACHED_LEAVES and len(self._trees) > 1):
            _, gone = self._trees.popitem(last=False)
            leaves -= len(gone.leaves)

    def drop(self, root: Digest) -> None:
        """Forget the tree; an unknown one changes nothing."""
        self._trees.pop(root, None)


def _size_text(size_bytes: int) -> str:
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.1f} {unit}"
    return f"{size_bytes} bytes"
