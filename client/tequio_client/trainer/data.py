"""Files of the trainer: token shards, mapped arrays, and outputs that are complete or absent."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import DTypeLike, NDArray
    from torch import Tensor

    from tequio_shared.round.assignment import DataOrder
    from tequio_shared.round.manifest import Corpus, HeldOutShard


_DTYPES = {1: "<u1", 2: "<u2", 4: "<u4"}
_TABLE_BYTES = 8  # of a held-out shard, per document: u32 tokens, u32 bytes of text


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """The shards of a task, and the order that assigns samples to windows."""

    order: DataOrder
    sequence: int
    window_samples: int
    vocab_size: int
    shards: Mapping[int, NDArray[np.generic]]

    @classmethod
    def open(
        cls, corpus: Corpus, paths: Iterable[tuple[int, Path]], *, seed: int, window_samples: int
    ) -> TrainingData:
        """Map shard files (index, path); raises UserFacingError for one of a wrong size."""
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

        Raises UserFacingError when a shard is missing, or has ids beyond the vocabulary.
        """
        places = [
            place
            for window in windows
            for place in self.order.window_samples(window, self.window_samples)
        ]
        rows = np.empty((len(places), self.sequence + 1), np.int64)
        for row, place in zip(rows, places, strict=True):
            if place.shard not in self.shards:
                raise UserFacingError(
                    f"shard {place.shard} is missing, and the assigned windows need it"
                )
            first = place.sample * self.sequence
            row[:] = self.shards[place.shard][first : first + self.sequence + 1]
        if rows.max(initial=0) >= self.vocab_size:
            raise UserFacingError(
                f"the data has token id {rows.max()}, but the vocabulary ends at "
                f"{self.vocab_size - 1}"
            )
        return torch.from_numpy(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutDocument:
    """A held-out text."""

    tokens: NDArray[np.int64]
    text_bytes: int


def held_out_documents(
    path: Path, shard: HeldOutShard, token_bytes: int, vocab_size: int
) -> Iterator[HeldOutDocument]:
    """Read a held-out shard; raises UserFacingError for a file that differs from its entry."""
    raw = _mapped(path, shard.size_bytes, 1)
    table_bytes = shard.documents * _TABLE_BYTES
    table = np.frombuffer(raw[:table_bytes].tobytes(), "<u4").reshape(-1, 2)
    ids = raw[table_bytes:].view(_DTYPES[token_bytes])
    if int(table[:, 0].sum()) != shard.tokens:
        raise UserFacingError(f"{path} is damaged: its table does not list {shard.tokens} tokens")
    if ids.max(initial=0) >= vocab_size:
        raise UserFacingError(
            f"{path} has token id {ids.max()}, but the vocabulary ends at {vocab_size - 1}"
        )
    at = 0
    for tokens, text_bytes in table.tolist():
        yield HeldOutDocument(tokens=ids[at : at + tokens].astype(np.int64), text_bytes=text_bytes)
        at += tokens


def _mapped(path: Path, size_bytes: int, token_bytes: int) -> NDArray[np.generic]:
    try:
        found = path.stat().st_size
        if found != size_bytes:
            raise UserFacingError(f"{path} has {found} bytes instead of {size_bytes}")
        return np.memmap(path, _DTYPES[token_bytes], "r")
    except OSError as err:
        raise UserFacingError(f"cannot read the shard {path}: {err}") from err


@contextlib.contextmanager
def atomic_output(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which becomes `path` when the block ends without an exception."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write(path: Path, content: bytes | memoryview) -> None:
    with atomic_output(path) as part:
        part.write_bytes(content)


def map_zeros(path: Path, elements: int) -> NDArray[np.float32]:
    """Create a file of float32 zeros and map it for writing."""
    return np.memmap(path, "<f4", "w+", shape=(elements,))


def map_array(path: Path, dtype: DTypeLike, elements: int) -> NDArray[Any]:  # of that dtype
    """Map a file; changes stay in memory. Raises ValueError unless it has `elements` elements."""
    array = np.memmap(path, dtype, "c")  # copy on write: torch needs a writable array
    if array.size != elements:
        raise ValueError(f"{path} has {array.size} elements instead of {elements}")
    return array
