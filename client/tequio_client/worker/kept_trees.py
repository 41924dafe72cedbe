"""Trees kept in memory with their leaf hashes: those that were used last, within bounds."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_client.worker.trees import Tree
    from tequio_shared.ids import Digest

LISTS = 256
"""Leaf lists kept in memory."""
LEAVES = 1 << 17
"""And hashes in all of them together, about 10 MiB: the largest heads have many thousand each."""


class KeptTrees:
    """Owned by the store, and called under its lock."""

    def __init__(self) -> None:
        self._trees: OrderedDict[Digest, Tree] = OrderedDict()

    def get(self, root: Digest) -> Tree | None:
        """The tree of that root, if it is kept."""
        return self._trees.get(root)

    def keep(self, tree: Tree) -> Tree:
        """Keep it as the one used last; others go where there are too many. Gives it back."""
        self._trees[tree.ref.root] = tree
        self._trees.move_to_end(tree.ref.root)
        leaves = sum(len(kept.leaves) for kept in self._trees.values())
        while len(self._trees) > LISTS or (leaves > LEAVES and len(self._trees) > 1):
            _, gone = self._trees.popitem(last=False)
            leaves -= len(gone.leaves)
        return tree

    def drop(self, root: Digest) -> None:
        """Keep that one no longer."""
        self._trees.pop(root, None)
