"""Measuring a device: a child trains a small model on it for a few seconds, and says how fast."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import trio

from tequio_client.link.questions import Benchmark
from tequio_client.names import cleaned
from tequio_client.worker.handed_down import trainer_environment
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

BENCHMARK = (sys.executable, "-m", "tequio_client.trainer.benchmark")
MEASURE_S = 120.0
"""Longest; it takes seconds where nothing is wrong."""
_TAIL_BYTES = 1 << 16
"""Kept of what it says: the figures are its last line, after whatever its libraries print."""
_SAID_CHARACTERS = 1_000


async def measured(device: str, folder: Path) -> Benchmark:
    """Measure; raises RefusedError with what went wrong."""
    with trio.move_on_after(MEASURE_S):
        code, figures, said = await _run((*BENCHMARK, device), trainer_environment(folder))
        if code:
            why = cleaned(_last_line(said).decode(errors="replace"), _SAID_CHARACTERS)
            why = f"{device} could not be measured: {why or 'no reason given'}"
            raise RefusedError("not-measured", why)
        try:
            return msgspec.json.decode(_last_line(figures), type=Benchmark)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            why = f"what was measured of {device} are no figures: {err}"
            raise RefusedError("not-measured", why) from err
    raise RefusedError("not-measured", f"{device} gave no figures in {MEASURE_S:.0f} s")


async def _run(command: tuple[str, ...], environment: dict[str, str]) -> tuple[int, bytes, bytes]:
    """Run it to its end: its status, and the ends of what it wrote."""
    tails: dict[int, bytes] = {}

    async def listen(number: int, stream: trio.abc.ReceiveStream) -> None:
        tails[number] = b""
        async for chunk in stream:
            tails[number] = (tails[number] + chunk)[-_TAIL_BYTES:]

    async with trio.open_nursery() as nursery:
        process: trio.Process = await nursery.start(
            partial(
                trio.run_process,
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                check=False,
            )
        )
        for number, stream in enumerate((process.stdout, process.stderr)):
            if stream is None:
                raise AssertionError("the child has no output pipe")
            nursery.start_soon(listen, number, stream)
    return process.returncode or 0, tails[0], tails[1]


def _last_line(text: bytes) -> bytes:
    return text.strip().rpartition(b"\n")[2]
