"""The rules that the suite holds our own code to: Windows', for files that are moved or deleted."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

from tests.support.windows_rules import windows_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def _rules() -> Iterator[None]:
    """Also where this file is run by itself, without the suite's fixture."""
    with windows_rules():
        yield


def as_ours(call: Callable[..., object]) -> Callable[..., object]:
    """Give the function the name of one of our modules."""
    assert isinstance(call, FunctionType)
    return FunctionType(call.__code__, {**call.__globals__, "__name__": "tequio_client.example"})


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path, target: Path) -> None:
    path.replace(target)


def rename(path: Path, target: Path) -> None:
    path.rename(target)


def test_what_is_open_is_neither_deleted_nor_moved_nor_replaced(tmp_path: Path) -> None:
    held, other = tmp_path / "held", tmp_path / "other"
    other.write_bytes(b"x")
    with held.open("wb"):
        for call, paths in ((delete, (held,)), (replace, (held, other)), (replace, (other, held))):
            with pytest.raises(PermissionError, match="open as"):
                as_ours(call)(*paths)
    as_ours(replace)(held, other)
    as_ours(delete)(other)
    assert not list(tmp_path.iterdir())


def test_what_is_mapped_counts_after_it_was_closed(tmp_path: Path) -> None:
    held = tmp_path / "held"
    held.write_bytes(bytes(4096))
    with held.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        file.close()
        with pytest.raises(PermissionError, match="it is"):
            as_ours(delete)(held)
    as_ours(delete)(held)


def test_a_folder_stays_while_a_file_in_it_is_open(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with (folder / "file").open("wb"), pytest.raises(PermissionError, match="open as"):
        as_ours(rename)(folder, tmp_path / "elsewhere")


def test_a_rename_replaces_nothing(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.write_bytes(b"x")
    with pytest.raises(FileExistsError, match="183"):
        as_ours(rename)(one, other)


def test_others_code_keeps_the_rules_of_its_system(tmp_path: Path) -> None:
    held = tmp_path / "held"
    with held.open("wb"):
        os.replace(held, tmp_path / "moved")  # noqa: PTH105 - the call itself
        delete(tmp_path / "moved")
