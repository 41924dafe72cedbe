"""The caches and temporary files of a child: bounded, and deleted when they are too large."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.worker.children import process
from tequio_client.worker.children.evaluator import evaluator_program
from tequio_client.worker.children.process import ChildProcess, ChildProgram, is_larger
from tequio_client.worker.children.trainer import trainer_program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.trio
async def test_a_child_that_fills_its_cache_is_ended_and_the_cache_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CACHE_BYTES", 1 << 20)
    monkeypatch.setattr(process, "CACHE_CHECK_S", 0.05)
    fills = (
        "import os, sys, time\nos.makedirs('deep/er')\n"
        "open('deep/er/file', 'wb').write(bytes(1 << 21))\ntime.sleep(60)"
    )
    cache = tmp_path / "cache"
    cache.mkdir()
    code = f"import os\nos.chdir({str(cache)!r})\n{fills}"
    program = ChildProgram(
        command=(sys.executable, "-c", code), environment={}, line_bytes=100, cache=cache
    )
    child = ChildProcess(program)
    child.allow()
    with trio.fail_after(30):
        reason = await child.run_once(list, lambda _: None)
    assert reason is not None
    assert "caches and temporary files" in reason
    assert list(cache.iterdir()) == []


def test_files_count_as_well_as_bytes(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "file").write_bytes(bytes(8192))
    assert not is_larger(tmp_path, 1 << 20, 10)
    assert is_larger(tmp_path, 1 << 20, 9)
    assert is_larger(tmp_path, 5 * 4096, 10)
    assert not is_larger(tmp_path / "none", 0, 0)


def test_a_system_that_counts_no_blocks_tells_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("os.lstat", lambda _: SimpleNamespace(st_size=5_000))  # Windows
    assert is_larger(tmp_path, 4_999, 10)
    assert not is_larger(tmp_path, 5_000, 10)


def test_trainer_and_evaluator_share_no_cache(tmp_path: Path) -> None:
    trainer, evaluator = trainer_program(tmp_path), evaluator_program(tmp_path)
    assert trainer.cache != evaluator.cache
    for name in ("NUMBA_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TMPDIR"):
        one, other = trainer.environment[name], evaluator.environment[name]
        assert one.startswith(str(trainer.cache))
        assert other.startswith(str(evaluator.cache))
