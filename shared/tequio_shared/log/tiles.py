"""Tiles and bundles: the files as which a log is served (c2sp.org/tlog-tiles).

A tile holds up to 256 consecutive hashes of one level of the tree; a bundle holds the leaves under
a tile of level 0. Level l of the tiles is level 8*l of the binary tree, and only full tiles feed
the level above.

Proofs from tiles (RFC 6962, section 2.1). A tile holds 256 neighbouring nodes of one level, so any
node over a full subtree is at most 128 hashes of one tile, folded. Every hash of a proof is
MTH(D[a:b]) of a range of entries, and a range that begins at a multiple of the next power of two
falls into such nodes. `inclusion_ranges` and `consistency_ranges` name the ranges, `tiles_of` the
tiles that must be available, and `range_hash` computes a range once they are: the ledger reads them
from its database, the client over HTTP. Tiles are not trusted: a proof made of wrong ones does not
verify against a signed root. A proof costs O(log n) hashes in a log of n entries.

Reading. A reader goes from bundle to bundle (`next_range`), adds their leaves to its own tree
(`TileTree`), compares the served tiles with its own, and compares its root with a checkpoint that
the log and enough witnesses signed (`open_signed`). The tree holds only what is unfinished: at most
255 hashes for each level of tiles, however long the log is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.limits import ENTRY_BYTES
from tequio_shared.log import merkle
from tequio_shared.log.merkle import node_hash
from tequio_shared.log.notes import SignedCheckpoint, VerifierKey, open_checkpoint

if TYPE_CHECKING:
    from tequio_shared.log.policy import Policy


TILE_WIDTH = 256
"""Hashes in a full tile, leaves in a full bundle."""
TILE_HEIGHT = 8
"""Levels of the binary tree in one level of tiles."""
BUNDLE_LEVEL = -1
"""The level of bundles, written `entries` in paths."""

_TOP_LEVEL = 63
_GROUP = 1000
_LENGTH_BYTES = 2
_PATH = re.compile(
    r"tile/(?P<level>entries|0|[1-9][0-9]?)/"
    r"(?P<index>(?:x[0-9]{3}/){0,6}[0-9]{3})"
    r"(?:\.p/(?P<width>[1-9][0-9]{0,2}))?"
)
TileName: TypeAlias = tuple[int, int]
"""Level and number of a tile."""
Range: TypeAlias = tuple[int, int]
"""First entry, and the one after the last."""
Node: TypeAlias = tuple[int, int]
"""Level and number of a full subtree: over 2^level entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """The name of a tile, or of a bundle if `level` is `BUNDLE_LEVEL`."""

    level: int
    index: int
    width: int = TILE_WIDTH

    @classmethod
    def parse(cls, path: str) -> Tile:
        """Read a path such as `tile/0/x001/067.p/17`; raises MalformedError."""
        match = _PATH.fullmatch(path)
        if match is None:
            raise MalformedError(f"invalid tile path {path[:120]!r}")
        level = BUNDLE_LEVEL if match["level"] == "entries" else int(match["level"])
        index = int(match["index"].replace("x", "").replace("/", ""))
        tile = cls(level=level, index=index, width=int(match["width"] or TILE_WIDTH))
        # Leading zeros or a width of 256 would name one tile twice, and caches would hold it twice.
        if level > _TOP_LEVEL or tile.path() != path:
            raise MalformedError(f"not the canonical path of a tile: {path[:120]!r}")
        return tile

    def path(self) -> str:
        groups = [f"{self.index % _GROUP:03}"]
        rest = self.index // _GROUP
        while rest:
            groups.append(f"x{rest % _GROUP:03}")
            rest //= _GROUP
        level = "entries" if self.level == BUNDLE_LEVEL else self.level
        partial = "" if self.width == TILE_WIDTH else f".p/{self.width}"
        return f"tile/{level}/{'/'.join(reversed(groups))}{partial}"

    @property
    def most_bytes(self) -> int:
        """Size that its file has at most."""
        part = _LENGTH_BYTES + ENTRY_BYTES if self.level == BUNDLE_LEVEL else DIGEST_BYTES
        return self.width * part

    def exists(self, size: int) -> bool:
        """Return whether a log of that size has this tile, as its last partial or a former one."""
        return self.index * TILE_WIDTH + self.width <= hashes_at(self.level, size)


def hashes_at(level: int, size: int) -> int:
    """Count the hashes of a tile level, or the leaves, in a log of `size` entries."""
    return size >> (TILE_HEIGHT * max(level, 0))


def new_tiles(old_size: int, size: int) -> list[Tile]:
    """List the tiles to write when a log grows, level by level, each at its new width."""
    tiles: list[Tile] = []
    level = 0
    while hashes_at(level, size):
        old, new = hashes_at(level, old_size), hashes_at(level, size)
        last = (new - 1) // TILE_WIDTH
        if new > old:
            tiles += [
                Tile(level=level, index=index, width=min(TILE_WIDTH, new - index * TILE_WIDTH))
                for index in range(old // TILE_WIDTH, last + 1)
            ]
        level += 1
    return tiles


def encode_bundle(leaves: Iterable[bytes]) -> bytes:
    """Join leaves, each after its length as u16 big-endian.

    Raises RefusedError("too-large") for a leaf above `ENTRY_BYTES`.
    """
    return b"".join(_framed(leaf) for leaf in leaves)


def parse_bundle(raw: bytes, most: int = TILE_WIDTH) -> list[bytes]:
    """Split a bundle of at most `most` leaves; raises MalformedError."""
    leaves: list[bytes] = []
    at = 0
    while at < len(raw):
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(raw[at:start], "big")
        if at > len(raw) or start > len(raw):
            raise MalformedError(f"bundle ends inside leaf {len(leaves)}")
        if len(leaves) == most:
            raise MalformedError(f"bundle of more than {most} leaves")
        leaves.append(raw[start:at])
    return leaves


def _framed(leaf: bytes) -> bytes:
    if len(leaf) > ENTRY_BYTES:
        raise RefusedError(
            "too-large", f"entry of {len(leaf)} bytes; at most {ENTRY_BYTES} are allowed"
        )
    return len(leaf).to_bytes(_LENGTH_BYTES, "big") + leaf


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """Ranges whose hashes prove an entry, sibling first; raises IndexError outside the log."""
    if not 0 <= index < size:
        raise IndexError(f"entry {index} of {size}")
    ranges: list[Range] = []
    first, end = 0, size
    while (count := end - first) > 1:
        # RFC 6962 splits at the largest power of two below the size.
        middle = first + (1 << (count - 1).bit_length() - 1)
        if index < middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((first, middle))
            first = middle
    ranges.reverse()
    return ranges


def consistency_ranges(old_size: int, size: int) -> list[Range]:
    """Ranges whose hashes prove that the log of `old_size` is the beginning of this one.

    Raises IndexError unless 1 <= old_size <= size.
    """
    if not 1 <= old_size <= size:
        raise IndexError(f"old size {old_size} of {size}")
    ranges: list[Range] = []
    first, end = 0, size
    # While the old tree may still be a subtree of the new one, the verifier has its hash already.
    is_whole = True
    while old_size != end:
        middle = first + (1 << (end - first - 1).bit_length() - 1)
        if old_size <= middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((first, middle))
            first, is_whole = middle, False
    if not is_whole:
        ranges.append((first, end))
    return ranges[::-1]


def edge_nodes(size: int) -> list[Node]:
    """Full subtrees along the right edge of a log, the largest first."""
    return nodes_of((0, size))


def nodes_of(span: Range) -> list[Node]:
    """Full subtrees that together cover a range, the largest first."""
    first, end = span
    nodes: list[Node] = []
    while first < end:
        level = (end - first).bit_length() - 1
        nodes.append((level, first >> level))
        first += 1 << level
    return nodes


def tile_of(node: Node) -> TileName:
    """The tile that holds the hashes below a node."""
    level, index = node
    tile_level, rest = divmod(level, TILE_HEIGHT)
    return tile_level, (index << rest) // TILE_WIDTH


def span_in_tile(node: Node) -> Range:
    """Range of the hashes in its tile that make up a node."""
    level, index = node
    rest = level % TILE_HEIGHT
    first = (index << rest) % TILE_WIDTH
    return first, first + (1 << rest)


def tiles_of(ranges: Iterable[Range]) -> list[TileName]:
    """Tiles that the hashes of these ranges are computed from, each named once."""
    return list(dict.fromkeys(tile_of(node) for span in ranges for node in nodes_of(span)))


def tiles_over(index: int, size: int) -> list[TileName]:
    """Tiles over an entry and along the right edge: everything its inclusion proof can need.

    At most two per level, and cheaper to name than `tiles_of` its ranges.
    """
    names: list[TileName] = []
    level, nodes = 0, size
    while nodes:
        over, last = (index >> TILE_HEIGHT * level) // TILE_WIDTH, nodes // TILE_WIDTH
        if over < last:
            names.append((level, over))
        if nodes % TILE_WIDTH:
            names.append((level, last))
        level, nodes = level + 1, last
    return names


def range_hash(span: Range, node: Callable[[Node], Digest]) -> Digest:
    """Hash a range that is not empty; `node` returns the hash of a full subtree."""
    *left, last = nodes_of(span)
    found = node(last)
    for one in reversed(left):
        found = node_hash(node(one), found)
    return found


def tile_width(tile: TileName, size: int) -> int:
    """Number of hashes that a tile has in a log of that size (0 to 256)."""
    level, number = tile
    return max(0, min(TILE_WIDTH, hashes_at(level, size) - number * TILE_WIDTH))


def is_full(tile: TileName, size: int) -> bool:
    level, number = tile
    return (number + 1) << TILE_HEIGHT * (level + 1) <= size


class TileTree:
    """A growing tree as tiles; records which of them changed since they were last collected."""

    def __init__(self) -> None:
        self._frontier = merkle.Frontier()
        self._edge: list[list[Digest]] = []  # per level, the hashes of its unfinished tile
        self._full: dict[TileName, bytes] = {}
        self._grown: set[int] = set()  # levels whose unfinished tile changed

    @classmethod
    def resume(cls, size: int, read_tile: Callable[[TileName], bytes | None]) -> TileTree:
        """Build the right edge of `size` entries from tiles, unverified: O(log n) of them.

        A wrong tile makes another root, at this size and at every later one. Raises MalformedError
        for a missing or too short tile.
        """
        tree = cls()
        nodes = edge_nodes(size)
        tiles = {name: read_tile(name) or b"" for name in map(tile_of, nodes)}
        for level in range(TILE_HEIGHT):
            if not hashes_at(level, size):
                break
            name = level, hashes_at(level, size) // TILE_WIDTH
            raw = tiles.get(name, b"")[: DIGEST_BYTES * tile_width(name, size)]
            if len(raw) < DIGEST_BYTES * tile_width(name, size):
                raise MalformedError(f"tile {name[1]} of level {level} has {len(raw)} bytes")
            tree._edge.append(
                [Digest(raw[at : at + DIGEST_BYTES]) for at in range(0, len(raw), DIGEST_BYTES)]
            )
        hashes = b"".join(tree._node(node) for node in nodes)
        tree._frontier = merkle.Frontier.parse(size.to_bytes(8, "big") + hashes)
        return tree

    def _node(self, node: Node) -> Digest:
        """Hash a full subtree of the right edge."""
        first, end = span_in_tile(node)
        return merkle.root_of_hashes(self._edge[tile_of(node)[0]][first:end])

    @property
    def size(self) -> int:
        return self._frontier.size

    @property
    def frontier(self) -> merkle.Frontier:
        """A copy of the right edge."""
        return self._frontier.copy()

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


def next_range(first: int, size: int) -> tuple[int, int]:
    """Range to read next after `first` entries: the rest of their bundle, up to the log's size."""
    return first, min(size, first - first % TILE_WIDTH + TILE_WIDTH)


def extend_frontier(edge: merkle.Frontier, leaves: Iterable[bytes]) -> merkle.Frontier:
    grown = edge.copy()
    for leaf in leaves:
        grown.append(merkle.leaf_hash(leaf))
    return grown


def open_signed(
    note: bytes, log_key: VerifierKey, policy: Policy | None = None, *, now_s: int | None = None
) -> SignedCheckpoint:
    """Read a checkpoint that the log signed and, with a policy, enough witnesses cosigned.

    With the time, lately. Raises as `notes.open_checkpoint` and `Policy.open` do.
    """
    if policy is None:
        return open_checkpoint(note, log_key)
    return policy.open(note, log_key, now_s=now_s)
