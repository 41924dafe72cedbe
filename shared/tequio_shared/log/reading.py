"""Reading a log: the tree that a ledger, monitor or client builds from the bundles it fetches.

A reader goes from bundle to bundle (`next_piece`), adds their leaves to its own tree (`TileTree`),
compares the served tiles with its own, and compares its root with a checkpoint that the log and
enough witnesses signed (`open_signed`). The tree holds only what is unfinished: at most 255 hashes
for each level of tiles, however long the log is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tequio_shared.ids import Digest
from tequio_shared.log import merkle
from tequio_shared.log.notes import SignedCheckpoint, VerifierKey, open_checkpoint
from tequio_shared.log.tile_proofs import TILE_HEIGHT, TileName
from tequio_shared.log.tiles import TILE_WIDTH

if TYPE_CHECKING:
    from tequio_shared.log.policy import Policy


class TileTree:
    """A growing tree as tiles; records which of them changed since they were last collected."""

    def __init__(self) -> None:
        self._frontier = merkle.Frontier()
        self._edge: list[list[Digest]] = []  # per level, the hashes of its unfinished tile
        self._full: dict[TileName, bytes] = {}
        self._grown: set[int] = set()  # levels whose unfinished tile changed

    @property
    def size(self) -> int:
        return self._frontier.size

    def append(self, leaf: bytes) -> None:
        """Add one leaf; costs O(1) hashes amortised."""
        node, at = merkle.leaf_hash(leaf), self.size
        self._frontier.append(node)
        self._push(0, node, at)

    def root(self) -> Digest:
        return self._frontier.root()

    def pop_full(self) -> dict[TileName, bytes]:
        """Return each tile that became full since the last call."""
        full, self._full = self._full, {}
        return full

    def pop_changed(self) -> Mapping[TileName, bytes]:
        """Return each tile that grew since the last call, from its first hash on."""
        changed = self.pop_full()
        for level in self._grown:
            if self._edge[level]:
                number = self.size >> TILE_HEIGHT * (level + 1)
                changed[level, number] = b"".join(self._edge[level])
        self._grown.clear()
        return changed

    def _push(self, level: int, node: Digest, at: int) -> None:
        if level == len(self._edge):
            self._edge.append([])
        hashes = self._edge[level]
        hashes.append(node)
        self._grown.add(level)
        if len(hashes) == TILE_WIDTH:
            self._full[level, at // TILE_WIDTH] = b"".join(hashes)
            self._edge[level] = []
            self._push(level + 1, merkle.root_of_hashes(hashes), at // TILE_WIDTH)


def count_tiles(size: int) -> int:
    """Count the tiles of a tree of that size, unfinished ones included."""
    count, nodes = 0, size
    while nodes:
        count += -(-nodes // TILE_WIDTH)
        nodes //= TILE_WIDTH
    return count


def next_range(first: int, size: int) -> tuple[int, int]:
    """Range to read next after `first` entries: the rest of their bundle, up to the log's size."""
    return first, min(size, first - first % TILE_WIDTH + TILE_WIDTH)


def extend_frontier(edge: merkle.Frontier, leaves: Iterable[bytes]) -> merkle.Frontier:
    """Copy a tree's right edge and append these leaves."""
    grown = edge.copy()
    for leaf in leaves:
        grown.append(merkle.leaf_hash(leaf))
    return grown


def open_signed(
    note: bytes, log_key: VerifierKey, policy: Policy | None = None
) -> SignedCheckpoint:
    """Read a checkpoint that the log signed and, with a policy, enough witnesses cosigned.

    Raises as `notes.open_checkpoint` and `Policy.open` do.
    """
    return open_checkpoint(note, log_key) if policy is None else policy.open(note, log_key)
