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
