"""A tree: any byte string cut into pieces, named by the RFC 6962 root over them.

Heads, data shards and contribution payloads all travel as trees. The last piece may be shorter.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from tequio_shared.errors import MalformedError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.merkle import root_of_hashes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_META = struct.Struct("!4sQI")
_MAGIC = b"TQM1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRef:
    """What must be known of a tree to fetch it: its name and how it is cut.

    Raises MalformedError for an empty tree and for pieces of more than PIECE_BYTES.
    """

    root: Digest
    size_bytes: int
    piece_bytes: int

    def __post_init__(self) -> None:
        is_sound = self.size_bytes >= 1 and 1 <= self.piece_bytes <= PIECE_BYTES
        if not is_sound or len(self.root) != DIGEST_BYTES:
            raise MalformedError(f"no tree of {self.size_bytes} bytes cut at {self.piece_bytes}")

    @property
    def pieces(self) -> int:
        """How many pieces the tree has."""
        return -(-self.size_bytes // self.piece_bytes)

    def span(self, first: int, count: int) -> tuple[int, int]:
        """Offset and length in bytes of `count` pieces from `first`; cut at the tree's end."""
        start = first * self.piece_bytes
        return start, min(self.size_bytes, (first + count) * self.piece_bytes) - start

    def check_leaves(self, leaves: Sequence[bytes]) -> None:
        """Return if these are the tree's leaf hashes; raises MalformedError."""
        if len(leaves) != self.pieces or root_of_hashes(leaves) != self.root:
            raise MalformedError(f"leaf hashes do not lead to the root {self.root.hex()}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A tree's shape and its leaf hashes, which lead to its root."""

    ref: TreeRef
    leaves: tuple[bytes, ...]

    @classmethod
    def parse(cls, raw: bytes, root: Digest) -> Tree:
        """Read `encode` back and check it against the root; raises MalformedError."""
        if len(raw) < _META.size or raw[:4] != _MAGIC:
            raise MalformedError("not the description of a tree")
        _, size, piece = _META.unpack_from(raw)
        ref = TreeRef(root=root, size_bytes=size, piece_bytes=piece)
        leaves = split_leaves(raw[_META.size :])
        ref.check_leaves(leaves)
        return cls(ref=ref, leaves=leaves)

    def encode(self) -> bytes:
        """Magic, size u64, piece size u32 (big-endian), then the leaf hashes."""
        head = _META.pack(_MAGIC, self.ref.size_bytes, self.ref.piece_bytes)
        return head + b"".join(self.leaves)


def split_leaves(raw: bytes) -> tuple[bytes, ...]:
    """Cut joined leaf hashes apart; a remainder becomes a short one, which no root accepts."""
    return tuple(raw[at : at + DIGEST_BYTES] for at in range(0, len(raw), DIGEST_BYTES))


def cut_bytes(content: bytes, piece_bytes: int) -> Tree:
    """Hash bytes into a tree."""
    leaves = tuple(map(hash_piece, _pieces(memoryview(content), piece_bytes)))
    return _tree(leaves, len(content), piece_bytes)


def cut_file(file: BinaryIO, piece_bytes: int) -> Tree:
    """Hash an open file from where it stands to its end into a tree."""
    leaves, size = [], 0
    while piece := file.read(piece_bytes):
        leaves.append(hash_piece(memoryview(piece)))
        size += len(piece)
    return _tree(tuple(leaves), size, piece_bytes)


def hash_pieces(content: bytes | bytearray | memoryview, piece_bytes: int) -> tuple[bytes, ...]:
    """Leaf hashes of the pieces in `content`, which begins where a piece begins."""
    return tuple(map(hash_piece, _pieces(memoryview(content), piece_bytes)))


def hash_piece(piece: memoryview) -> bytes:
    """`merkle.leaf_hash` without a copy of the piece."""
    state = hashlib.sha256(b"\x00")
    state.update(piece)
    return state.digest()


def _pieces(content: memoryview, piece_bytes: int) -> Iterator[memoryview]:
    return (content[at : at + piece_bytes] for at in range(0, len(content), piece_bytes))


def _tree(leaves: tuple[bytes, ...], size_bytes: int, piece_bytes: int) -> Tree:
    ref = TreeRef(root=root_of_hashes(leaves), size_bytes=size_bytes, piece_bytes=piece_bytes)
    return Tree(ref=ref, leaves=leaves)
