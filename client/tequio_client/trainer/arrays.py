"""Arrays in files: payloads that are read by chunks, and heads that are written leaf by leaf."""

from __future__ import annotations

import hashlib
import mmap
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tequio_shared import merkle
from tequio_shared.errors import MalformedError
from tequio_shared.head import LEAF_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_shared.ids import Digest
    from tequio_shared.records import RecordShape

_OPEN_FILES = 256  # payloads mapped at once; the others are opened for each read


class PayloadFiles:
    """The payloads of a set, for reading from any thread while the context is open.

    Raises MalformedError at once for a file that has not `chunks` records.
    """

    def __init__(self, paths: Sequence[Path], shape: RecordShape, chunks: int) -> None:
        self._paths = paths
        self._record_bytes = shape.record_bytes
        self._maps: list[mmap.mmap] = []
        size_bytes = chunks * shape.record_bytes
        for path in paths:
            if path.stat().st_size != size_bytes:
                raise MalformedError(f"{path.name}: {path.stat().st_size} bytes, not {size_bytes}")

    def __enter__(self) -> Self:
        for path in self._paths[:_OPEN_FILES]:
            with path.open("rb") as file:
                self._maps.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return self

    def __exit__(self, *_exc: object) -> None:
        for mapped in self._maps:
            mapped.close()

    def read(self, members: Sequence[int], first: int, stop: int) -> NDArray[np.uint8]:
        """Copy the records of chunks first..stop-1 of these payloads: uint8[P, c, R]."""
        begin, size = first * self._record_bytes, (stop - first) * self._record_bytes
        records = np.empty((len(members), size), np.uint8)
        for row, member in enumerate(members):
            if member < len(self._maps):
                part = self._maps[member][begin : begin + size]
                records[row] = np.frombuffer(part, np.uint8)
            else:
                records[row] = np.fromfile(self._paths[member], np.uint8, size, offset=begin)
        return records.reshape(len(members), stop - first, self._record_bytes)


class NewArray:
    """A little-endian array that is written in any order and appears under its name when complete.

    Parts must begin and end at leaf borders (1 MiB), save the last. Writing from many threads is
    safe as long as no part is written twice.
    """

    def __init__(self, path: Path, elements: int, dtype: np.dtype[Any]) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._dtype = dtype
        size_bytes = elements * dtype.itemsize
        self._leaves = [b""] * -(-size_bytes // LEAF_BYTES)
        with self._part.open("wb") as file:
            file.truncate(size_bytes)

    def write(self, first: int, values: NDArray[Any]) -> None:
        """Put `values` at element `first` and hash their leaves."""
        view = np.ascontiguousarray(values, self._dtype).view(np.uint8).data
        begin = first * self._dtype.itemsize
        with self._part.open("r+b") as file:
            file.seek(begin)
            file.write(view)
        for at in range(0, len(view), LEAF_BYTES):
            self._leaves[(begin + at) // LEAF_BYTES] = _leaf_hash(view[at : at + LEAF_BYTES])

    def root(self) -> Digest:
        """Root over the leaves; raises MalformedError while a part is missing."""
        return merkle.root_of_hashes(self._leaves)

    def publish(self) -> None:
        """Give the file its name, in the place of an older one."""
        self._part.replace(self._path)

    def discard(self) -> None:
        """Remove what was not published."""
        self._part.unlink(missing_ok=True)


def _leaf_hash(leaf: memoryview) -> bytes:
    """Hash like merkle.leaf_hash, without copying the megabyte."""
    state = hashlib.sha256(b"\x00")
    state.update(leaf)
    return state.digest()
