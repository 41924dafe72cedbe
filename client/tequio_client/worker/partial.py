"""A tree under way: pieces go in once they match their leaf hashes.

Two files: the content, sparse and at its full size from the start, and one byte per piece that
says whether it was written. The second is only a hint to the next life: what it claims is hashed
again, so a crash between the two writes, or a lost page, costs a piece and never a lie. Nothing
therefore waits for the disk but the end; every FLUSH_BYTES one writer brings along what is written,
so that the wait at the end is short.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, BinaryIO

from tequio_client import files
from tequio_client.worker.trees import hash_pieces
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.worker.trees import Tree

FLUSH_BYTES = 16 << 20


class Partial:
    """One tree that is being fetched; safe for several threads.

    Made by `Store.open_partial`. Disk errors come out as OSError; `Store` translates them.
    """

    def __init__(self, tree: Tree, *, content: Path, bits: Path) -> None:
        self.tree = tree
        self._lock = threading.Lock()  # guards files and positions
        self._flushing = threading.Lock()  # keeps the content open; taken before the other
        self._unflushed = 0
        self._have = bytearray(tree.ref.pieces)
        self._content = _open_sized(content, tree.ref.size_bytes)
        self._bits = _open_sized(bits, tree.ref.pieces)
        self._recheck()

    def held(self) -> bytes:
        """One byte per piece, 1 where it is here and was checked."""
        return bytes(self._have)

    @property
    def is_whole(self) -> bool:
        """Whether no piece is missing."""
        return 0 not in self._have

    def missing(self) -> list[int]:
        """List the pieces still to come, in order."""
        return [index for index, have in enumerate(self._have) if not have]

    def write(self, first: int, content: bytes | bytearray | memoryview) -> int:
        """Check and write whole pieces from `first`; returns how many bytes were new.

        Raises MalformedError, with nothing written, when one does not match its leaf hash or
        the length is not that of whole pieces.
        """
        ref = self.tree.ref
        count = -(-len(content) // ref.piece_bytes)
        start, length = ref.span(first, count)
        if first + count > ref.pieces or length != len(content):
            raise MalformedError(f"{len(content)} bytes are not {count} pieces from {first}")
        if hash_pieces(content, ref.piece_bytes) != self.tree.leaves[first : first + count]:
            raise MalformedError(f"a piece of {first}..{first + count - 1} is not its leaf hash")
        new = self._write_checked(first, count, start, content)
        self._flush_sometimes(new)
        return new

    def read(self, first: int, count: int) -> bytes | None:
        """Read checked pieces; None when one of them is still to come."""
        start, length = self.tree.ref.span(first, count)
        with self._lock:
            if not all(self._have[first : first + count]):
                return None
            return _read_at(self._content, start, length)

    def close(self) -> None:
        """Release the files."""
        with self._flushing, self._lock:
            self._content.close()
            self._bits.close()

    def _write_checked(
        self, first: int, count: int, start: int, content: bytes | bytearray | memoryview
    ) -> int:
        new = 0
        with self._lock:
            for index in range(first, first + count):
                new += 0 if self._have[index] else self.tree.ref.span(index, 1)[1]
            if new:
                _write_at(self._content, start, content)
                _write_at(self._bits, first, b"\x01" * count)
                self._have[first : first + count] = b"\x01" * count
        return new

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
