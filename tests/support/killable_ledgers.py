"""Ledgers that die or fail where a test says, forked from one process that has imported them."""

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
class ForkedLedger:
    """A ledger process, running or ended."""

    pid: int
    log: Path
    forker: LedgerForker

    def served(self) -> tuple[str, NetworkId]:
        """Wait until it serves; return its address and network, or raise AssertionError."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for fields in self.events("tequio-ledger serves"):
                return str(fields["url"]), NetworkId(from_text(str(fields["network_id"])))
            time.sleep(_POLL_S)
        raise AssertionError(self.log_text())

    def events(self, name: str) -> list[dict[str, object]]:
        """Return the fields of every event that it logged under a name."""
        lines = (line for line in self.log_text().splitlines() if line.endswith("}"))
        fields = [json.loads(line) for line in lines if line.startswith("{")]
        return [one for one in fields if one.get("event") == name]

    def log_text(self) -> str:
        """Return all that it wrote to its standard error."""
        return self.log.read_text() if self.log.exists() else ""

    def wait(self) -> int:
        """Wait for its end; return its exit status, negative for the signal that ended it."""
        return self.forker.wait(self.pid)

    def stop(self) -> int:
        """Stop it with SIGTERM; return its exit status."""
        os.kill(self.pid, signal.SIGTERM)
        return self.wait()


class LedgerForker:
    """The process that has imported the ledger, and the ledgers forked from it."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._count = 0
        self._running: set[int] = set()

    def start(
        self, folder: Path, fault: Fault | None = None, *options: str, trace: Path | None = None
    ) -> ForkedLedger:
        """Start `tequio-ledger serve` on a folder."""
        self._count += 1
        log = self._folder / f"ledger-{self._count}.log"
        order = Order(
            start=["serve", "--dir", str(folder), *OPTIONS, *options],
            log=str(log),
            fault=fault,
            trace=str(trace) if trace else None,
        )
        pid = self._send(order)
        self._running.add(pid)
        return ForkedLedger(pid=pid, log=log, forker=self)

    def wait(self, pid: int) -> int:
        """Wait for the end of a ledger; return its exit status."""
        status = self._send(Order(wait=pid))
        self._running.discard(pid)
        return status

    def close(self) -> None:
        """Kill every ledger that still runs."""
        for pid in list(self._running):
            os.kill(pid, signal.SIGKILL)
            self.wait(pid)

    def _send(self, order: Order) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(order).decode() + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def ledger_forker(folder: Path) -> Iterator[LedgerForker]:
    """Fork ledgers until the end of the block, which kills those that still run."""
    command = [sys.executable, "-m", "tests.support.killable_ledger"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        forker = LedgerForker(process, folder)
        try:
            yield forker
        finally:
            forker.close()
            assert process.stdin is not None
            process.stdin.close()
