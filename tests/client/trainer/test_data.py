"""Output files appear complete, or not at all."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client import files
from tequio_client.trainer import prepared
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_broken_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "head"
    prepared.write(path, b"old")
    with pytest.raises(ZeroDivisionError), files.fresh_file(path) as part:
        part.write_bytes(bytes([1 // len(b"")]))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes in folders")
def test_what_is_no_file_is_not_replaced_by_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        pytest.raises(UserFacingError, match=r"pipe is not a file: choose another$"),
        files.fresh_file(pipe) as part,
    ):
        part.write_bytes(b"new")
    for write in (files.write_for_user, files.write_private):
        with pytest.raises(UserFacingError, match=r"pipe is not a file: choose another$"):
            write(pipe, b"new")
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_file_of_another_size_is_refused(tmp_path: Path) -> None:
    prepared.write(tmp_path / "head", bytes(12))
    assert prepared.map_array(tmp_path / "head", "<i4", 3).shape == (3,)
    with pytest.raises(ValueError, match="instead of 4"):
        prepared.map_array(tmp_path / "head", "<i4", 4)
