"""The tensors of a frozen base as its Safetensors files have them, widened to binary32 by rows.

The library gives numpy no bfloat16, so headers are read here; the library has looked at each file
before, and its bytes are those that the run's manifest names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open

from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_KINDS: dict[str, str] = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_LENGTH_BYTES = 8
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTensor:
    """One tensor, where its bytes lie; `sides` are its rows and the numbers in each."""

    name: str
    shape: tuple[int, ...]
    kind: str
    path: Path
    start: int

    @property
    def sides(self) -> tuple[int, int]:
        """A vector is one row."""
        whole = int(np.prod(self.shape, dtype=np.int64))
        rows = self.shape[0] if len(self.shape) > 1 else 1
        return rows, whole // max(rows, 1)

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All rows in order, some at a time: the number of the first, and their values."""
        rows, columns = self.sides
        dtype = np.dtype(_KINDS[self.kind])
        stored: NDArray[Any] = np.memmap(self.path, dtype, "r", self.start, (rows, columns))
        step = max(_BLOCK // max(columns, 1), 1)
        for first in range(0, rows, step):
            yield first, _widened(stored[first : first + step], self.kind)


def read(files: Sequence[Path]) -> tuple[BaseTensor, ...]:
    """List every tensor of floating-point numbers, ascending; raises MalformedError."""
    found = [one for path in files for one in _of_file(path)]
    return tuple(sorted(found, key=lambda one: one.name.encode()))


def _of_file(path: Path) -> Iterator[BaseTensor]:
    try:
        with safe_open(path, framework="numpy"):
            pass  # the library checks that offsets lie inside and do not overlap
    except SafetensorError as err:
        raise MalformedError(f"{path.name} of the base cannot be read: {err}") from err
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        header = json.loads(file.read(length))
    for name, said in header.items():
        if name != "__metadata__" and said["dtype"] in _KINDS and 0 not in said["shape"]:
            yield BaseTensor(
                name=name,
                shape=tuple(said["shape"]),
                kind=said["dtype"],
                path=path,
                start=_LENGTH_BYTES + length + said["data_offsets"][0],
            )


def _widened(stored: NDArray[Any], kind: str) -> NDArray[np.float32]:
    if kind == "BF16":  # the upper half of a binary32
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32)
