"""Training data: token shards mapped from files, cut into windows and batches."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch

from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.head.head import LEAF_BYTES
from tequio_shared.log import merkle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import DTypeLike, NDArray
    from torch import Tensor

    from tequio_shared.head.contribution import RecordShape
    from tequio_shared.ids import Digest
    from tequio_shared.round.assignment import Order
    from tequio_shared.round.data import Corpus, HeldOutShard


_DTYPES = {1: "<u1", 2: "<u2", 4: "<u4"}
_TABLE_BYTES = 8  # of a held-out shard, per document: u32 tokens, u32 bytes of text


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """The shards at hand, and the order that says which sample is whose."""

    order: Order
    sequence: int
    window_samples: int
    vocab_size: int
    shards: Mapping[int, NDArray[np.generic]]

    @classmethod
    def open(
        cls, corpus: Corpus, paths: Iterable[tuple[int, Path]], *, seed: int, window_samples: int
    ) -> TrainingData:
        """Map shard files (index, path); raises UserFacingError when one is not as listed."""
        return cls(
            order=corpus.order(seed),
            sequence=corpus.sequence,
            window_samples=window_samples,
            vocab_size=corpus.tokenizer.vocab_size,
            shards={
                index: _mapped(path, corpus.train[index].size_bytes, corpus.token_bytes)
                for index, path in paths
            },
        )

    def samples(self, windows: Iterable[int]) -> Tensor:
        """Token ids of whole windows: int64 [samples, sequence + 1].

        Raises UserFacingError when a shard they need was not given, or has ids of no token.
        """
        places = [
            place for window in windows for place in self.order.places(window, self.window_samples)
        ]
        rows = np.empty((len(places), self.sequence + 1), np.int64)
        for row, place in zip(rows, places, strict=True):
            if place.shard not in self.shards:
                raise UserFacingError(f"the windows need shard {place.shard}, which is missing")
            first = place.sample * self.sequence
            row[:] = self.shards[place.shard][first : first + self.sequence + 1]
        if rows.max(initial=0) >= self.vocab_size:
            raise UserFacingError(
                f"the data has token id {rows.max()}, but only {self.vocab_size} are there"
            )
        return torch.from_numpy(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A held-out text: its tokens and its size in UTF-8 bytes."""

    tokens: NDArray[np.int64]
    text_bytes: int


def held_out_documents(
    path: Path, shard: HeldOutShard, token_bytes: int, vocab_size: int
) -> Iterator[Document]:
    """Read a held-out shard; raises UserFacingError when the file is not as listed."""
    raw = _mapped(path, shard.size_bytes, 1)
    table_bytes = shard.documents * _TABLE_BYTES
    table = np.frombuffer(raw[:table_bytes].tobytes(), "<u4").reshape(-1, 2)
    ids = raw[table_bytes:].view(_DTYPES[token_bytes])
    if int(table[:, 0].sum()) != shard.tokens:
        raise UserFacingError(f"{path}: the table of documents does not add up")
    if ids.max(initial=0) >= vocab_size:
        raise UserFacingError(f"{path} has ids of {vocab_size} or more, which are no tokens")
    at = 0
    for tokens, text_bytes in table.tolist():
        yield Document(tokens=ids[at : at + tokens].astype(np.int64), text_bytes=text_bytes)
        at += tokens


def _mapped(path: Path, size_bytes: int, token_bytes: int) -> NDArray[np.generic]:
    try:
        found = path.stat().st_size
        if found != size_bytes:
            raise UserFacingError(f"{path} has {found} bytes instead of {size_bytes}")
        return np.memmap(path, _DTYPES[token_bytes], "r")
    except OSError as err:
        raise UserFacingError(f"cannot read the shard {path}: {err}") from err


# --- Arrays in files: payloads that are read by chunks, and heads that are written leaf by leaf.

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


# --- Output files that appear complete, or not at all.


@contextlib.contextmanager
def complete(path: Path) -> Iterator[Path]:
    """Lend a name to write under; the file takes its own name when the block ends well."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write(path: Path, content: bytes | memoryview) -> None:
    """Write a whole file."""
    with complete(path) as part:
        part.write_bytes(content)


def zeros(path: Path, elements: int) -> NDArray[np.float32]:
    """Make a file of float32 zeros and map it for writing."""
    return np.memmap(path, "<f4", "w+", shape=(elements,))


def mapped(path: Path, dtype: DTypeLike, elements: int) -> NDArray[Any]:  # of that dtype
    """Map a file privately; raises ValueError when it has not so many elements."""
    array = np.memmap(path, dtype, "c")  # private: torch wants it writable
    if array.size != elements:
        raise ValueError(f"{path} has {array.size} elements instead of {elements}")
    return array
