"""Ledgers for tests: in this process on a virtual clock, or as the real program."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tequio_ledger.app import END_S
from tequio_ledger.config.settings import LEDGER
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.ledger import Ledger, open_ledger
from tequio_shared.ids import NetworkId, from_text, to_text
from tequio_shared.keys import Signer
from tests.support import forked_program
from tests.support.authors import WORK_BITS
from tests.support.configured import of_texts
from tests.support.forked_program import ForkedProgram
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_ledger.config.settings import LedgerSettings

ORGANISER = Signer(bytes([7]) * 32)
START_MS = 1_800_000_000_000
DEFAULTS = {
    "host": "127.0.0.1",
    "port": "0",
    "network": "test",
    "origin": "ledger.example/test",
    "work-bits": str(WORK_BITS),
    "blob-quota-mb": "64",
    "peer-quota-mb": "1",
}

UNLIMITED = ("--key-rate", "0", "--address-rate", "0", "--request-rate", "0")
"""Options without rate limits, for tests that need many entries fast."""
Process: TypeAlias = "subprocess.Popen[str] | ForkedProgram"
DATABASES: dict[Path, str] = {}
"""Database URLs of folders without a database file; set by the fixture `either_database`."""


class VirtualClock:
    """A clock in milliseconds that only `pass_ms` moves."""

    def __init__(self, at_ms: int = START_MS) -> None:
        self.at_ms = at_ms

    def __call__(self) -> int:
        """Give the time."""
        return self.at_ms

    def pass_ms(self, duration_ms: int) -> None:
        """Let time pass."""
        self.at_ms += duration_ms


async def pass_time(ledger: Ledger, clock: VirtualClock, duration_ms: int) -> None:
    """Let time pass, and let a running ledger's coordinator act whenever something is due."""
    end_ms = clock() + duration_ms
    while True:
        due_ms = ledger.sequencer.due_ms() or end_ms
        clock.at_ms = min(due_ms, end_ms) if due_ms > clock() else end_ms
        await ledger.sequencer.submit([])
        if clock() >= end_ms:
            return


def make_settings(
    folder: Path, organisers: Sequence[Signer] = (ORGANISER,), **options: str
) -> LedgerSettings:
    """Make settings for a test."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    keys = " ".join(to_text(one.key) for one in organisers)
    place = {"dir": str(folder), "database": DATABASES.get(folder, "")}
    texts = {**DEFAULTS, **place, "organiser": keys, **given}
    return of_texts(LEDGER, texts)


@contextmanager
def opened(given: LedgerSettings, clock: VirtualClock) -> Iterator[Ledger]:
    """Open a ledger without running its sequencer."""
    with DataFolder(given.folder) as folder:
        ledger = open_ledger(given, folder, clock)
        try:
            yield ledger
        finally:
            ledger.database.close()


@asynccontextmanager
async def running(ledger: Ledger) -> AsyncIterator[Ledger]:
    """Run a ledger's sequencer."""
    task = asyncio.create_task(ledger.run())
    try:
        yield ledger
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running ledger program."""

    url: str
    net: NetworkId
    process: Process
    metrics: str | None
    """URL of its metrics, if they are served."""

    def kill(self) -> None:
        """Kill it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


PROGRAM = ("-m", "tequio_ledger")
"""Arguments of an interpreter that runs the program, for those who measure its memory."""


@contextmanager
def served(
    folder: Path,
    *options: str,
    program: Sequence[str] = (),
    setup: tuple[str, str] | None = None,
) -> Iterator[Served]:
    """Start the real program on a free port and stop it afterwards.

    With arguments of an interpreter as `program`, that runs them; otherwise the program is forked,
    and changed by `setup` (`ForkedProgram`).
    """
    process = start(folder, "--port", "0", *options, program=program, setup=setup)
    try:
        first = _first_line(process)
        yield Served(
            url=first["url"],
            net=NetworkId(from_text(first["network_id"])),
            process=process,
            metrics=first["metrics"],
        )
    finally:
        process.terminate()
        process.wait(allowed_s(END_S))
        if process.stderr:
            process.stderr.close()


def start(
    folder: Path,
    *options: str,
    program: Sequence[str] = (),
    setup: tuple[str, str] | None = None,
) -> Process:
    """Start `tequio-ledger serve`, its log as JSON lines on standard error."""
    network = ("--network", "test", "--origin", "ledger.example/test")
    organiser = ("--organiser", to_text(ORGANISER.key), "--work-bits", str(WORK_BITS))
    words = ["serve", "--dir", str(folder), *network, *organiser, "--log-json", *options]
    env = {**os.environ, "PYTHONWARNINGS": "default"}
    if not program:
        return ForkedProgram(
            forked_program.LEDGER, *words, stderr=subprocess.PIPE, env=env, setup=setup
        )
    return subprocess.Popen(
        [sys.executable, *program, *words], stderr=subprocess.PIPE, text=True, env=env
    )


async def wait_until(is_met: Callable[[], bool]) -> None:
    """Wait for what an asyncio task brings about; raises TimeoutError after a minute."""
    async with asyncio.timeout(60):
        while True:
            if is_met():
                return
            await asyncio.sleep(0.01)


def _first_line(process: Process) -> dict[str, Any]:
    """Read up to the program's start line; returns the line's fields."""
    assert process.stderr is not None
    while True:
        line = process.stderr.readline()
        if not line.startswith("{"):
            process.kill()
            raise AssertionError(line + process.stderr.read())
        fields: dict[str, Any] = json.loads(line)
        if "url" in fields:
            return fields
