"""Starts ledgers that die or fail where a test says, one after the other, from one warm process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tequio_shared.ids import NetworkId, from_text, to_text
from tests.support.authors import WORK_BITS
from tests.support.killable_ledger import PATIENCE_S, Fault, Order
from tests.support.ledgers import ORGANISER, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPTIONS = (
    *("--network", "test", "--origin", "ledger.example/test", "--port", "0", "--log-json"),
    *("--organiser", to_text(ORGANISER.key), "--work-bits", str(WORK_BITS), *UNLIMITED),
)
_POLL_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Mortal:
    """A ledger that runs, or ran."""

    pid: int
    log: Path
    stable: Stable

    def served(self) -> tuple[str, NetworkId]:
        """Wait until it serves; give its address and network. Raises AssertionError if it ends."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for fields in self.events("tequio-ledger serves"):
                return str(fields["url"]), NetworkId(from_text(str(fields["network_id"])))
            time.sleep(_POLL_S)
        raise AssertionError(self.said())

    def events(self, name: str) -> list[dict[str, object]]:
        """What it logged under that name."""
        lines = (line for line in self.said().splitlines() if line.endswith("}"))
        fields = [json.loads(line) for line in lines if line.startswith("{")]
        return [one for one in fields if one.get("event") == name]

    def said(self) -> str:
        """All that it wrote to its standard error."""
        return self.log.read_text() if self.log.exists() else ""

    def wait(self) -> int:
        """Wait for its end; negative is the signal that ended it."""
        return self.stable.wait(self.pid)

    def stop(self) -> int:
        """Ask it to stop and wait for its end."""
        os.kill(self.pid, signal.SIGTERM)
        return self.wait()


class Stable:
    """The warm process, and all that it started."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._count = 0
        self._running: set[int] = set()

    def start(
        self, folder: Path, fault: Fault | None = None, *options: str, trace: Path | None = None
    ) -> Mortal:
        """Start `tequio-ledger serve` on a folder."""
        self._count += 1
        log = self._folder / f"ledger-{self._count}.log"
        order = Order(
            start=["serve", "--dir", str(folder), *OPTIONS, *options],
            log=str(log),
            fault=fault,
            trace=str(trace) if trace else None,
        )
        pid = self._say(order)
        self._running.add(pid)
        return Mortal(pid=pid, log=log, stable=self)

    def wait(self, pid: int) -> int:
        """Wait for the end of one."""
        status = self._say(Order(wait=pid))
        self._running.discard(pid)
        return status

    def close(self) -> None:
        """End all."""
        for pid in list(self._running):
            os.kill(pid, signal.SIGKILL)
            self.wait(pid)

    def _say(self, order: Order) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(order).decode() + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def stabled(folder: Path) -> Iterator[Stable]:
    """Keep the warm process until the end of the block; everything it started ends with it."""
    command = [sys.executable, "-m", "tests.support.killable_ledger"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        stable = Stable(process, folder)
        try:
            yield stable
        finally:
            stable.close()
            assert process.stdin is not None
            process.stdin.close()
