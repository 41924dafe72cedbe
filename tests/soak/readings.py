"""Memory and open files of a swarm's processes, read every few seconds.

Memory is anonymous memory where the system reports it (Linux): a page of a mapped file, such as a
library or a store's weights, is not a leak, and its sharing changes with every killed process.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import psutil
import trio

from tequio_client import clock
from tests.soak.judge import Life
from tests.soak.slope import Point
from tests.support.fault_swarm import LEDGER, SEED
from tests.support.real_network import TRAINER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.fault_swarm import FaultSwarm

EVERY_S = 2.0
_MIB = 1 << 20


class Readings:
    """The lives of all processes so far, by class."""

    def __init__(self, swarm: FaultSwarm) -> None:
        self._swarm = swarm
        self._by_pid: dict[tuple[int, float], Life] = {}
        self.lives: dict[str, list[Life]] = defaultdict(list)

    async def run(self) -> NoReturn:
        """Read until cancelled."""
        while True:
            await trio.to_thread.run_sync(self._read)
            await trio.sleep(EVERY_S)

    def largest(self, kind: str) -> tuple[float, int]:
        """Memory in MiB and open files of the largest process of that class, at last reading."""
        last = [
            (life.megabytes[-1].value, int(life.files[-1].value))
            for life in self.lives[kind][-4:]
            if life.megabytes
        ]
        return max(last, default=(0.0, 0))

    def write(self, file: Path) -> None:
        """Write every reading as CSV, to look for what grew."""
        lines = ["kind,life,seconds,megabytes,files"]
        for kind, lives in self.lives.items():
            for number, life in enumerate(lives):
                for size, files in zip(life.megabytes, life.files, strict=True):
                    numbers = f"{size.at_s:.1f},{size.value:.2f},{files.value:.0f}"
                    lines.append(f"{kind},{number},{numbers}")
        file.write_text("\n".join(lines) + "\n")

    def _read(self) -> None:
        for kind, process in self._processes():
            with suppress(psutil.Error, OSError):
                started = process.create_time()
                life = self._by_pid.get((process.pid, started))
                if life is None:
                    life = self._by_pid[process.pid, started] = Life()
                    self.lives[kind].append(life)
                at_s = clock.now_ms() / 1000 - started
                megabytes, files = _own_bytes(process) / _MIB, process.num_fds()
                life.megabytes.append(Point(at_s=at_s, value=megabytes))
                life.files.append(Point(at_s=at_s, value=float(files)))

    def _processes(self) -> Iterator[tuple[str, psutil.Process]]:
        for name, pid in self._swarm.pids().items():
            with suppress(psutil.Error):
                process = psutil.Process(pid)
                yield name if name in {LEDGER, SEED} else "worker", process
                for child in process.children():
                    if TRAINER in child.cmdline():
                        yield "trainer", child


def _own_bytes(process: psutil.Process) -> int:
    with suppress(FileNotFoundError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    return int(process.memory_info().rss)
