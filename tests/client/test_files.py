"""Folders that strangers' code wrote into are emptied wherever they lie, and again after a kill."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tequio_client import files

if TYPE_CHECKING:
    from collections.abc import Iterator

SHM = Path("/dev/shm")  # noqa: S108 - a disk other than that of tmp_path


def fill(folder: Path) -> None:
    for place in (folder, folder / "one", folder / "one" / "two", folder / "three"):
        place.mkdir(exist_ok=True)
        (place / "file").write_bytes(b"left by strangers")


@pytest.fixture
def other_disk(tmp_path: Path) -> Iterator[Path]:
    if not SHM.is_dir() or SHM.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second disk")
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        yield Path(folder)


def test_a_folder_that_leads_to_another_disk_is_emptied(tmp_path: Path, other_disk: Path) -> None:
    link = tmp_path / "work"
    link.symlink_to(other_disk)
    fill(link)
    files.empty_folder(link)
    assert list(other_disk.iterdir()) == []
    assert list(tmp_path.iterdir()) == [link]


@pytest.mark.parametrize("deleted", range(4))
def test_an_emptying_that_is_cut_off_leaves_files_in_the_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deleted: int
) -> None:
    """Elsewhere nobody would count them, nor delete them with the rest."""
    folder, left = tmp_path / "cache", [deleted]
    fill(folder)

    def cut_off(path: Path) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        path.unlink()

    with monkeypatch.context() as patch:
        patch.setattr(files, "delete", cut_off)
        with pytest.raises(KeyboardInterrupt):
            files.empty_folder(folder)
    assert sum(path.is_file() for path in folder.rglob("*")) == 4 - deleted
    assert list(tmp_path.iterdir()) == [folder]
    files.empty_folder(folder)
    assert list(folder.iterdir()) == []
