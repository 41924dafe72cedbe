"""Merkle blobs: byte strings cut into pieces, named by the RFC 6962 root over them.

Heads, data shards and contribution payloads all travel as such trees. The last piece may be
shorter. `PartialTree` is one that is being fetched: a piece goes in once it matches its leaf hash.

A partial tree is two files: the content, sparse and at its full size from the start, and one byte
per piece that states whether it was written. The second is only a hint to the next start: what it
claims is hashed again then, so a crash between the two writes, or a lost page, costs a piece and
never a wrong one. Nothing therefore waits for the disk but the end; every FLUSH_BYTES one writer
flushes what is written, so that the wait at the end is short.
"""

from __future__ import annotations

import hashlib
import stat
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tequio_client import files
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.head.chain import Head
from tequio_shared.ids import DIGEST_BYTES, Digest, digest_from_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.log.merkle import root_of_hashes
from tequio_shared.round.manifest import Manifest

FLUSH_BYTES = 16 << 20

_META = struct.Struct("!4sQI")
_MAGIC = b"TQM1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRef:
    """A tree's root, size and piece size, to fetch it by; MalformedError if these make none."""

    root: Digest
    size_bytes: int
    piece_bytes: int

    def __post_init__(self) -> None:
        is_sound = self.size_bytes >= 1 and 1 <= self.piece_bytes <= PIECE_BYTES
        if not is_sound or len(self.root) != DIGEST_BYTES:
            raise MalformedError(f"no tree of {self.size_bytes} bytes cut at {self.piece_bytes}")

    @classmethod
    def of_file(cls, root: str, size_bytes: int) -> TreeRef:
        """The tree of a shard or base file, by the root in its manifest; raises MalformedError."""
        return cls(root=digest_from_text(root), size_bytes=size_bytes, piece_bytes=PIECE_BYTES)

    @property
    def pieces(self) -> int:
        return -(-self.size_bytes // self.piece_bytes)

    def span(self, first: int, count: int) -> tuple[int, int]:
        """Offset and length in bytes of `count` pieces from `first`; cut at the tree's end."""
        start = first * self.piece_bytes
        return start, min(self.size_bytes, (first + count) * self.piece_bytes) - start

    def check_leaves(self, leaves: Sequence[bytes]) -> None:
        """Return if these are the tree's leaf hashes; raises MalformedError."""
        if len(leaves) != self.pieces or root_of_hashes(leaves) != self.root:
            raise MalformedError(f"leaf hashes do not lead to the root {self.root.hex()}")


def head_refs(manifest: Manifest, head: Head) -> tuple[TreeRef, ...]:
    """The trees of a head: its weights, and the state beside them where the run keeps one.

    That of head 0 is zeros, which nobody has to fetch.
    """
    weights = weights_ref(manifest, head.weights_root)
    if not head.round or not manifest.aux_bytes:
        return (weights,)
    aux = TreeRef(root=head.aux_root, size_bytes=manifest.aux_bytes, piece_bytes=PIECE_BYTES)
    return weights, aux


def weights_ref(manifest: Manifest, root: Digest) -> TreeRef:
    return TreeRef(root=root, size_bytes=manifest.weights_bytes, piece_bytes=PIECE_BYTES)


def step_ref(manifest: Manifest, root: Digest) -> TreeRef:
    """The tree of the step that made a head, in a run with a down link."""
    return TreeRef(root=root, size_bytes=manifest.step_bytes, piece_bytes=PIECE_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class MerkleBlob:
    """A tree's shape and its leaf hashes, which lead to its root."""

    ref: TreeRef
    leaves: tuple[bytes, ...]

    @classmethod
    def parse(cls, raw: bytes, root: Digest) -> MerkleBlob:
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


def hash_bytes(content: bytes, piece_bytes: int) -> MerkleBlob:
    return _tree(hash_pieces(content, piece_bytes), len(content), piece_bytes)


def hash_tree_file(file: BinaryIO, piece_bytes: int) -> MerkleBlob:
    """Hash an open file from its position to its end into a tree."""
    leaves, size = [], 0
    while piece := file.read(piece_bytes):
        leaves.append(_hash_piece(memoryview(piece)))
        size += len(piece)
    return _tree(tuple(leaves), size, piece_bytes)


def hash_pieces(content: bytes | bytearray | memoryview, piece_bytes: int) -> tuple[bytes, ...]:
    """Leaf hashes of the pieces in `content`, which begins where a piece begins."""
    view = memoryview(content)
    starts = range(0, len(view), piece_bytes)
    return tuple(_hash_piece(view[at : at + piece_bytes]) for at in starts)


def _hash_piece(piece: memoryview) -> bytes:
    # `merkle.leaf_hash` joins prefix and piece, a copy of up to 1 MiB; two updates need none.
    state = hashlib.sha256(b"\x00")
    state.update(piece)
    return state.digest()


def _tree(leaves: tuple[bytes, ...], size_bytes: int, piece_bytes: int) -> MerkleBlob:
    ref = TreeRef(root=root_of_hashes(leaves), size_bytes=size_bytes, piece_bytes=piece_bytes)
    return MerkleBlob(ref=ref, leaves=leaves)


def check_own_file(path: Path) -> None:
    """Raise PeerError unless the path is a regular file with no other name; follows no link."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise PeerError(f"{path.name} is not a file of its own, but a link or a device")


class PartialTree:
    """One tree that is being fetched; safe for several threads. OSError passes."""

    def __init__(self, tree: MerkleBlob, *, content: Path, bits: Path) -> None:
        self.tree = tree
        self._lock = threading.Lock()  # guards files and positions
        # Held over an fsync, so that `close` waits for it and no reader does. Taken first.
        self._flushing = threading.Lock()
        self._unflushed = 0
        self._have = bytearray(tree.ref.pieces)
        self._content = _open_sized(content, tree.ref.size_bytes)
        self._bits = _open_sized(bits, tree.ref.pieces)
        self._recheck()

    def held_pieces(self) -> bytes:
        """One byte per piece, 1 where it is here and was checked."""
        return bytes(self._have)

    def has_pieces(self, first: int, count: int) -> bool:
        """Check that all of `count` pieces from `first` are here."""
        return 0 not in self._have[first : first + count]

    @property
    def is_whole(self) -> bool:
        return 0 not in self._have

    def missing_pieces(self) -> list[int]:
        return [index for index, have in enumerate(self._have) if not have]

    def write(self, first: int, content: bytes | bytearray | memoryview) -> int:
        """Check and write whole pieces from `first`; returns how many bytes were new.

        Raises MalformedError, with nothing written, when one does not match its leaf hash or
        the length is not that of whole pieces.
        """
        ref = self.tree.ref
        count = -(-len(content) // ref.piece_bytes)
        start, length = ref.span(first, count)
        if length != len(content):
            raise MalformedError(f"{len(content)} bytes are not {count} pieces from {first}")
        # Hashed outside the lock: sha256 releases the interpreter, and several writers hash at once
        if hash_pieces(content, ref.piece_bytes) != self.tree.leaves[first : first + count]:
            raise MalformedError(f"a piece of {first}..{first + count - 1} is not its leaf hash")
        new = self._write_checked(first, count, start, content)
        self._flush_sometimes(new)
        return new

    def read(self, first: int, count: int) -> bytes | None:
        start, length = self.tree.ref.span(first, count)
        with self._lock:
            return _read_at(self._content, start, length) if self.has_pieces(first, count) else None

    def close(self) -> None:
        with self._flushing, self._lock:
            self._content.close()
            self._bits.close()

    def _write_checked(
        self, first: int, count: int, start: int, content: bytes | bytearray | memoryview
    ) -> int:
        with self._lock:
            missing = [index for index in range(first, first + count) if not self._have[index]]
            if missing:
                # Content before bits: a bit without its content would be a claim that fails the
                # next start's check; content without its bit is only fetched again.
                _write_at(self._content, start, content)
                _write_at(self._bits, first, b"\x01" * count)
                self._have[first : first + count] = b"\x01" * count
        return sum(self.tree.ref.span(index, 1)[1] for index in missing)

    def _flush_sometimes(self, new_bytes: int) -> None:
        with self._lock:
            self._unflushed += new_bytes
            if self._unflushed < FLUSH_BYTES:
                return
            self._unflushed = 0
        with self._flushing:
            if not self._content.closed:
                files.sync(self._content)

    def _recheck(self) -> None:
        ref = self.tree.ref
        for index, claim in enumerate(_read_at(self._bits, 0, ref.pieces)):
            if claim:
                piece = _read_at(self._content, *ref.span(index, 1))
                sound = hash_pieces(piece, ref.piece_bytes) == (self.tree.leaves[index],)
                self._have[index] = sound


def _open_sized(path: Path, size_bytes: int) -> BinaryIO:
    path.touch()
    file = path.open("r+b", buffering=0)
    file.truncate(size_bytes)
    return file


def _read_at(file: BinaryIO, start: int, length: int) -> bytes:
    file.seek(start)
    return file.read(length)


def _write_at(file: BinaryIO, start: int, content: bytes | bytearray | memoryview) -> None:
    file.seek(start)
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]
