"""A child process that computes lets other programs go first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import trio

from tequio_client.platform import child
from tequio_client.platform.sandbox import OFF, VARIABLE

BELOW_NORMAL = 0x4000
NICENESS = 10
pytestmark = pytest.mark.trio


def is_low(pid: int) -> bool:
    """True once the process, and on Linux its session, has a low priority."""
    if sys.platform == "win32":
        return psutil.Process(pid).nice() == BELOW_NORMAL
    session = Path(f"/proc/{pid}/autogroup")  # absent on other systems, and in some kernels
    if session.exists() and session.read_text("ascii").split()[-1] != str(NICENESS):
        return False
    return psutil.Process(pid).nice() >= NICENESS


@pytest.mark.parametrize(
    "module",
    ["tequio_client.trainer", "tequio_client.competition", "tequio_client.trainer.private"],
)
async def test_a_program_that_computes_lets_others_go_first(module: str) -> None:
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, VARIABLE: OFF},
        **child.start_options(),
    )
    try:
        with trio.fail_after(30):
            while not is_low(process.pid):
                assert process.poll() is None
                await trio.sleep(0.01)
    finally:
        process.kill()
        await process.wait()


async def test_a_session_is_lowered_once_the_kernel_takes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two trainers that start at once ask it at once, and it takes one such request in 100 ms."""
    waits: list[float] = []
    real, busy = Path.write_text, [True, True, False]

    def write_text(path: Path, *given: str) -> int:
        if busy.pop(0):
            raise BlockingIOError
        return real(path, *given)

    monkeypatch.setattr(Path, "write_text", write_text)
    monkeypatch.setattr("tequio_client.platform.child.time.sleep", waits.append)
    child._lower_session(tmp_path / "autogroup")  # noqa: SLF001 - as root it succeeds at once
    assert (tmp_path / "autogroup").read_text("ascii") == str(NICENESS)
    assert len(waits) == 2
    assert min(waits) >= 0.1
