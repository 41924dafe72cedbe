"""Output files appear complete, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client import files
from tequio_client.trainer import prepared

if TYPE_CHECKING:
    from pathlib import Path


def test_a_broken_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "head"
    prepared.write(path, b"old")
    with pytest.raises(ZeroDivisionError), files.fresh_file(path) as part:
        part.write_bytes(bytes([1 // len(b"")]))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_another_size_is_refused(tmp_path: Path) -> None:
    prepared.write(tmp_path / "head", bytes(12))
    assert prepared.map_array(tmp_path / "head", "<i4", 3).shape == (3,)
    with pytest.raises(ValueError, match="instead of 4"):
        prepared.map_array(tmp_path / "head", "<i4", 4)
