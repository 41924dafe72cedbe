"""Serving single leaves of this worker's own error feedback, to the peers that may have them.

A leaf is one chunk of an error feedback, as bfloat16; its Merkle path shows that it is under the
root that a contribution names (docs/protocol.md, 11.5 and 14.3). An audit opens a sample of them.
All leaves of a contribution, before and after sending, would give its update without training, so
`may_open` decides for each leaf, and refuses everybody until it is replaced.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
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


def nobody(_peer: PeerKey, _root: Digest, _index: int) -> bool:
    return False


class FeedbackLeaves:
    """Leaves of the files that `file_of` finds by root, for the peers that `may_open` lets."""

    def __init__(self) -> None:
        self.may_open: MayOpen = nobody
        self.file_of: Callable[[Digest], Path | None] = lambda _: None
        self._trees: OrderedDict[Digest, list[Sequence[bytes]]] = OrderedDict()
        # Guards the trees. Held while a file is hashed: two requests must not both hash it.
        self._lock = threading.Lock()

    def read(self, root: Digest, index: int) -> bytes | None:
        """The leaf and then its path; None if it is not here. Blocks.

        The first leaf of a file costs hashing all of it.
        """
        path = self.file_of(root)
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
