"""Measuring a device: a child trains a small model on it for a few seconds, and says how fast."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import trio

from tequio_client.link.questions import Benchmark
from tequio_client.worker.handed_down import trainer_environment
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

MEASURE_S = 120.0
"""Longest; it takes seconds where nothing is wrong."""


async def measured(device: str, folder: Path) -> Benchmark:
    """Measure; raises RefusedError with what went wrong."""
    command = [sys.executable, "-m", "tequio_client.trainer.benchmark", device]
    with trio.move_on_after(MEASURE_S):
        done = await trio.run_process(
            command,
            env=trainer_environment(folder),
            stdin=subprocess.DEVNULL,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise RefusedError("not-measured", f"{device} could not be measured: {said[-1]}")
        return msgspec.json.decode(done.stdout, type=Benchmark)
    raise RefusedError("not-measured", f"{device} gave no figures in {MEASURE_S:.0f} s")
