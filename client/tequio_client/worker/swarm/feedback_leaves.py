"""Serving single leaves of this worker's own error feedback, to the peers that may have them.

A leaf is one chunk of an error feedback, as bfloat16; its Merkle path shows that it is under the
root that a contribution names (docs/protocol.md, 11.5 and 14.3). An audit opens a sample of them.
All leaves of a contribution, before and after sending, would give its update without training, so
each run that the worker takes part in decides about the leaves of its own contributions.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import structlog

from tequio_client.worker.store.trees import hash_pieces, hash_tree_file
from tequio_shared.head.layout import CHUNK
from tequio_shared.ids import Digest, PeerKey
from tequio_shared.log import merkle

log = structlog.get_logger(__name__)

LEAF_BYTES = 2 * CHUNK
"""One chunk as bfloat16."""
CACHED_TREES = 2
"""Trees kept in memory: an audit opens leaves before and after sending. A model of a billion
parameters has 16 MB of hashes in each."""

MayOpen: TypeAlias = Callable[[PeerKey, Digest, int], bool]
"""True if the peer may have the leaf with that index under that root; asked in the event loop."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafSource:
    """The error feedback of one run."""

    may_open: MayOpen
    file_of: Callable[[Digest], Path | None]


class FeedbackLeaves:
    """Leaves of the files that a source finds by root, for the peers that it lets."""

    def __init__(self) -> None:
        self.sources: list[LeafSource] = []  # of the runs that the worker takes part in now
        self._trees: OrderedDict[Digest, list[Sequence[bytes]]] = OrderedDict()
        # Guards the trees. Held while a file is hashed: two requests must not both hash it.
        self._lock = threading.Lock()

    def may_open(self, peer: PeerKey, root: Digest, index: int) -> bool:
        return any(one.may_open(peer, root, index) for one in self.sources)

    def read(self, root: Digest, index: int) -> bytes | None:
        """The leaf and then its path; None if it is not here. Blocks.

        The first leaf of a file costs hashing all of it.
        """
        found = (one.file_of(root) for one in list(self.sources))
        path = next((one for one in found if one is not None), None)
        if path is None:
            return None
        try:
            tree = self._tree(root, path)
            if index >= len(tree[0]):
                return None
            with path.open("rb") as file:
                file.seek(index * LEAF_BYTES)
                leaf = file.read(LEAF_BYTES)
        except OSError as err:
            log.warning("error feedback not opened", error=str(err))
            return None
        # The file may have decayed since it was hashed, or be another: such a leaf proves nothing.
        if hash_pieces(leaf, LEAF_BYTES) != (tree[0][index],) or tree[-1] != [root]:
            log.warning("error feedback not opened: damaged file", root=root.hex()[:12])
            return None
        return leaf + b"".join(merkle.path_in(tree, index))

    def _tree(self, root: Digest, path: Path) -> list[Sequence[bytes]]:
        with self._lock:
            tree = self._trees.pop(root, None)
            if tree is None:
                with path.open("rb") as file:
                    tree = merkle.levels(hash_tree_file(file, LEAF_BYTES).leaves)
            self._trees[root] = tree
            while len(self._trees) > CACHED_TREES:
                self._trees.popitem(last=False)
            return tree
