"""Output files that appear complete, or not at all."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import DTypeLike, NDArray


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
