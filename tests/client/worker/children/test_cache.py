"""The caches and temporary files of a child: bounded, and deleted when they are too large."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn

import pytest
import trio

from tequio_client import files
from tequio_client.worker.children import process
from tequio_client.worker.children.evaluator import evaluator_program
from tequio_client.worker.children.process import ChildProcess, ChildProgram, is_larger
from tequio_client.worker.children.trainer import isolated_program, trainer_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


DEEP = """
import os
os.chdir({folder!r})
for _ in range({depth}):
    os.mkdir('deep' * 50)
    os.chdir('deep' * 50)
"""
FILLS = """
import os, time
os.makedirs({folder!r} + '/deep/er')
open({folder!r} + '/deep/er/file', 'wb').write(bytes(1 << 21))
time.sleep({stays_s})
"""


async def filled(fills: Path, stays_s: int, *, work_bytes: int, depth: int = 0) -> str:
    """Have a child of the folders `cache` and `work` write 2 MiB into one; returns how it ended.

    `depth`: as many folders inside one another.
    """
    for name in ("cache", "work"):
        (fills.parent / name).mkdir()
        (fills.parent / name / "small").write_bytes(b"kept")
    places = {"folder": str(fills), "depth": depth, "stays_s": stays_s}
    program = ChildProgram(
        command=(sys.executable, "-c", (DEEP + FILLS).format(**places)),
        environment={},
        line_bytes=100,
        cache=fills.parent / "cache",
        work=fills.parent / "work",
    )
    child = ChildProcess(program)
    child.work_bytes = work_bytes
    child.allow()
    with trio.fail_after(30):
        reason = await child.run_once(list, lambda _: None)
    assert reason is not None
    return reason


@pytest.fixture
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "CACHE_BYTES", 1 << 20)
    monkeypatch.setattr(process, "CACHE_CHECK_S", 0.05)


@pytest.mark.trio
@pytest.mark.usefixtures("_narrow")
@pytest.mark.parametrize(
    ("full", "other", "work_bytes", "what"),
    [
        ("cache", "work", 1 << 22, "caches and temporary files"),
        ("work", "cache", 0, "working files"),
    ],
)
async def test_a_child_that_fills_the_disk_is_ended_and_that_folder_alone_emptied(
    tmp_path: Path, full: str, other: str, work_bytes: int, what: str
) -> None:
    reason = await filled(tmp_path / full, 60, work_bytes=work_bytes)
    assert reason.startswith(f"its {what} took more than")
    assert list((tmp_path / full).iterdir()) == []
    assert (tmp_path / other / "small").read_bytes() == b"kept"


@pytest.mark.trio
@pytest.mark.usefixtures("_narrow")
async def test_the_working_files_of_a_run_may_take_what_it_needs(tmp_path: Path) -> None:
    assert await filled(tmp_path / "work", 1, work_bytes=1 << 21) == "exit status 0"
    assert (tmp_path / "work" / "deep" / "er" / "file").stat().st_size == 1 << 21


def test_files_count_as_well_as_bytes(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "file").write_bytes(bytes(8192))
    assert not is_larger(tmp_path, 1 << 20, 10)
    assert is_larger(tmp_path, 1 << 20, 9)
    assert is_larger(tmp_path, 5 * 4096, 10)
    assert not is_larger(tmp_path / "none", 0, 0)


@pytest.fixture
def _deep(tmp_path: Path) -> Iterator[None]:
    """Delete folders too deep for pytest, should a test leave them."""
    yield
    subprocess.run(["/bin/rm", "-rf", tmp_path], check=True)


@pytest.mark.trio
@pytest.mark.usefixtures("_narrow", "_deep")
async def test_folders_too_deep_to_be_counted_end_a_child_and_are_deleted(tmp_path: Path) -> None:
    reason = await filled(tmp_path / "work", 60, work_bytes=1 << 22, depth=1_200)
    assert reason.endswith("or cannot be counted")
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.usefixtures("_deep")
def test_a_deep_cache_of_an_earlier_runs_code_is_deleted(tmp_path: Path) -> None:
    program = trainer_program(tmp_path, device="cpu")
    old = isolated_program(program, tmp_path, "cpu", "old").cache
    assert old is not None
    subprocess.run([sys.executable, "-c", DEEP.format(folder=str(old), depth=1_200)], check=True)
    new = isolated_program(program, tmp_path, "cpu", "new").cache
    assert {*(tmp_path / "cache").iterdir()} == {program.cache, new}


@pytest.mark.usefixtures("_deep")
def test_files_are_counted_however_deep_they_lie(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(1 << 16))
    place = tmp_path
    for _ in range(1_100):
        place /= "d"
        place.mkdir()
    place /= "file"
    place.write_bytes(bytes(1 << 16))
    assert files.folder_bytes(tmp_path) >= 2 << 16
    assert files.folder_bytes(tmp_path / "none") == 0


def test_too_many_files_open_here_do_not_make_a_folder_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: str) -> NoReturn:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), folder)

    (tmp_path / "file").touch()
    monkeypatch.setattr("os.scandir", refuse)
    assert not is_larger(tmp_path, 1 << 20, 10)


def test_a_system_that_counts_no_blocks_tells_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("os.lstat", lambda _: SimpleNamespace(st_size=5_000))  # Windows
    assert is_larger(tmp_path, 4_999, 10)
    assert not is_larger(tmp_path, 5_000, 10)


def test_a_trainers_working_files_are_watched(tmp_path: Path) -> None:
    program = trainer_program(tmp_path, device="cuda:1")
    assert program.work == tmp_path / "work" / "cuda-1"
    assert isolated_program(program, tmp_path, "cuda:1", "code").work == program.work


def test_trainer_and_evaluator_share_no_cache(tmp_path: Path) -> None:
    trainer, evaluator = trainer_program(tmp_path), evaluator_program(tmp_path)
    assert trainer.cache != evaluator.cache
    for name in ("NUMBA_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TMPDIR"):
        one, other = trainer.environment[name], evaluator.environment[name]
        assert one.startswith(str(trainer.cache))
        assert other.startswith(str(evaluator.cache))
