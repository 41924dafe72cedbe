"""The Merkle tree of RFC 6962: hashes, roots, proofs, and the compact right edge.

Every hash that a verifier accepts must be 32 bytes long. Sizes count leaves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import DIGEST_BYTES, Digest

EMPTY_ROOT = Digest(hashlib.sha256(b"").digest())


class Frontier:
    """The roots of the full subtrees along a growing tree's right edge, largest first.

    Appending is O(1) amortised, the root O(log n), and memory at most 63 hashes.
    """

    def __init__(self) -> None:
        self._size = 0
        self._edge: list[bytes] = []

    @classmethod
    def parse(cls, raw: bytes) -> Frontier:
        """Read `encode` back; raises MalformedError."""
        size = int.from_bytes(raw[:8], "big")
        if len(raw) != 8 + DIGEST_BYTES * size.bit_count():
            raise MalformedError(f"frontier of {len(raw)} bytes for {size} leaves")
        frontier = cls()
        frontier._size = size
        frontier._edge = [raw[at : at + DIGEST_BYTES] for at in range(8, len(raw), DIGEST_BYTES)]
        return frontier

    @property
    def size(self) -> int:
        return self._size

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash; raises MalformedError unless it has 32 bytes."""
        # One carry per set low bit of the size: each joins two full subtrees of equal height.
        node = _checked(leaf)
        carry = self._size
        while carry & 1:
            node = node_hash(self._edge.pop(), node)
            carry >>= 1
        self._edge.append(node)
        self._size += 1

    def root(self) -> Digest:
        """Hash the edge into the root over all leaves so far."""
        if not self._edge:
            return EMPTY_ROOT
        node = self._edge[-1]
        for left in reversed(self._edge[:-1]):
            node = node_hash(left, node)
        return Digest(node)

    def copy(self) -> Frontier:
        return Frontier.parse(self.encode())

    def encode(self) -> bytes:
        """Write the size as u64 big-endian, then the hashes, largest subtree first."""
        return self._size.to_bytes(8, "big") + b"".join(self._edge)


def leaf_hash(leaf: bytes) -> Digest:
    """SHA-256(0x00 + leaf)."""
    return Digest(hashlib.sha256(b"\x00" + leaf).digest())


def node_hash(left: bytes, right: bytes) -> Digest:
    """SHA-256(0x01 + left + right), of two 32-byte hashes."""
    return Digest(hashlib.sha256(b"\x01" + left + right).digest())


def root(leaves: Iterable[bytes]) -> Digest:
    """Hash leaves given as bytes into their root; no leaves give SHA-256("")."""
    return root_of_hashes([leaf_hash(leaf) for leaf in leaves])


def root_of_hashes(hashes: Sequence[bytes]) -> Digest:
    """Hash leaf hashes into their root; raises MalformedError unless each has 32 bytes."""
    if not hashes:
        return EMPTY_ROOT
    level: Sequence[bytes] = [_checked(leaf) for leaf in hashes]
    while len(level) > 1:
        level = _level_above(level)
    return Digest(level[0])


def inclusion_path(hashes: Sequence[bytes], index: int) -> list[Digest]:
    """Hashes that lead from the leaf with that index to the root (RFC 6962, 2.1.1); O(leaves)."""
    return path_in(levels(hashes), index)


def levels(hashes: Sequence[bytes]) -> list[Sequence[bytes]]:
    """All levels of a tree, its leaf hashes first and its root last, for many paths."""
    found: list[Sequence[bytes]] = [hashes]
    while len(found[-1]) > 1:
        found.append(_level_above(found[-1]))
    return found


def path_in(tree: Sequence[Sequence[bytes]], index: int) -> list[Digest]:
    """Inclusion path of a leaf in the levels of its tree; O(log leaves)."""
    if not 0 <= index < len(tree[0]):
        raise PeerError(f"leaf {index} lies outside a tree of {len(tree[0])}")
    path: list[Digest] = []
    for level in tree[:-1]:
        sibling = index ^ 1
        if sibling < len(level):  # a last odd node rises alone
            path.append(Digest(level[sibling]))
        index //= 2
    return path


def verify_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], expected_root: bytes
) -> None:
    """Return if the leaf with this hash has this index in the tree of that size and root.

    Raises PeerError if the proof does not show it, MalformedError if a hash has another size.
    """
    if not 0 <= index < size:
        raise PeerError(f"leaf {index} lies outside a tree of {size}")
    # Below `inner` the path turns as the index's bits do; above it, along the right edge, every
    # sibling is on the left. So the length of an honest proof is known before one hash is made.
    inner = (index ^ (size - 1)).bit_length()
    border = (index >> inner).bit_count()
    _check_proof(proof, inner + border)
    _check_root(_path_root(_checked(leaf), proof, inner, index), expected_root)


def verify_consistency(
    old_size: int, old_root: bytes, size: int, expected_root: bytes, proof: Sequence[bytes]
) -> None:
    """Return if the tree of `old_size` and `old_root` is a prefix of the other.

    Old size 0 is refused: every tree extends the empty one, so the proof would show nothing.
    Raises PeerError if the proof does not show it, MalformedError if a hash has another size.
    """
    if not 1 <= old_size <= size:
        raise PeerError(f"no consistency proof goes from size {old_size} to size {size}")
    if old_size == size:
        _check_proof(proof, 0)
        _check_root(old_root, expected_root)
        return
    # The largest full subtree on the old tree's right edge is where both paths begin.
    shift = (old_size & -old_size).bit_length() - 1
    inner = ((old_size - 1) ^ (size - 1)).bit_length() - shift
    border = ((old_size - 1) >> (inner + shift)).bit_count()
    is_power = old_size == 1 << shift
    _check_proof(proof, inner + border + (not is_power))
    # An old tree that is one full subtree is the seed itself: the proof would repeat `old_root`.
    seed, path = (old_root, proof) if is_power else (proof[0], proof[1:])
    mask = (old_size - 1) >> shift
    _check_root(_old_root(seed, path, inner, mask), old_root)
    _check_root(_path_root(seed, path, inner, mask), expected_root)


def _old_root(seed: bytes, path: Sequence[bytes], inner: int, mask: int) -> bytes:
    node = seed
    for bit, sibling in enumerate(path[:inner]):
        if mask >> bit & 1:
            node = node_hash(sibling, node)
    return _fold_left(node, path[inner:])


def _path_root(seed: bytes, path: Sequence[bytes], inner: int, mask: int) -> bytes:
    node = seed
    for bit, sibling in enumerate(path[:inner]):
        node = node_hash(sibling, node) if mask >> bit & 1 else node_hash(node, sibling)
    return _fold_left(node, path[inner:])


def _fold_left(node: bytes, siblings: Sequence[bytes]) -> bytes:
    for sibling in siblings:
        node = node_hash(sibling, node)
    return node


def _level_above(level: Sequence[bytes]) -> list[bytes]:
    """Pair up; a last odd node rises unchanged, which is RFC 6962's split at powers of two."""
    above: list[bytes] = [node_hash(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
    if len(level) & 1:
        above.append(level[-1])
    return above


def _checked(node: bytes) -> bytes:
    if len(node) != DIGEST_BYTES:
        raise MalformedError(f"hash of {len(node)} bytes, expected {DIGEST_BYTES}")
    return node


def _check_proof(proof: Sequence[bytes], expected: int) -> None:
    if len(proof) != expected:
        raise PeerError(f"proof of {len(proof)} hashes, expected {expected}")
    for node in proof:
        _checked(node)


def _check_root(found: bytes, expected: bytes) -> None:
    if found != _checked(expected):
        raise PeerError(f"the proof leads to {found.hex()}, not to {expected.hex()}")
