"""The demo's processes: started, watched, and ended by this file alone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol, TypeAlias

import psutil
import trio

from tequio_client.ipc import snapshot as link_status
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.platform import child
from tequio_shared.errors import MalformedError, UserFacingError

END_S = 8.0
START_S = 60.0
WORK_BITS = "12"
"""Of the demo's network: all its keys are new, and its machine is one."""
_TAIL_BYTES = 2_000


class Process(Protocol):
    """The part of `trio.Process` that a demo uses."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    @property
    def stdout(self) -> AsyncIterable[bytes | bytearray] | None: ...

    async def wait(self) -> int: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


StartProcess: TypeAlias = Callable[[Sequence[str], IO[bytes]], Awaitable[Process]]
"""Starts a command, with a pipe as standard output and a file as standard error."""


async def start_process(command: Sequence[str], log: IO[bytes]) -> Process:
    """Start a command in a session of its own: Ctrl-C reaches the demo alone, which ends it."""
    return await trio.lowlevel.open_process(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        **child.start_options(),
    )


class DemoProgram:
    """One process: its log in a file, its status lines (if any) parsed as they come."""

    def __init__(
        self, name: str, command: Sequence[str], folder: Path, start: StartProcess = start_process
    ) -> None:
        self.name = name
        self._command = command
        self._start = start
        self.log = folder / "logs" / f"{name}.log"
        self._process: Process | None = None
        self.status: link_status.Status | None = None  # the last one
        self.trainer_mb = 0  # the most that a status said
        self.output = bytearray()  # standard output that is not a status line

    @property
    def pid(self) -> int:
        """Process id; raises AssertionError before the start."""
        if self._process is None:
            raise AssertionError(f"{self.name} has not started")
        return self._process.pid

    @property
    def resident_mb(self) -> int:
        return int(psutil.Process(self.pid).memory_info().rss) >> 20

    async def run(self) -> int:
        """Start, read until it ends, and say its exit status; cancelling ends it."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            process = await self._start(self._command, log)
        self._process = process
        try:
            await self._read(process)
            return await process.wait()
        finally:
            with trio.CancelScope(shield=True):
                await self.end()

    async def run_checked(self) -> str:
        """Run to the end; returns the output, raises UserFacingError when it failed."""
        status = await self.run()
        if status:
            last = self.log_tail().rpartition("\n")[2] or "it said nothing"
            raise UserFacingError(
                f"{self.name} ended with status {status}: {last} (its log is {self.log})"
            )
        return self.output.decode(errors="replace")

    async def end(self) -> None:
        """Ask it to stop, then make it."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        with trio.move_on_after(END_S):
            await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()

    def log_tail(self) -> str:
        with suppress(OSError):
            return self.log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip()
        return ""

    async def _read(self, process: Process) -> None:
        if process.stdout is None:
            raise AssertionError("the program has no output pipe")
        rest = bytearray()
        async for chunk in process.stdout:
            rest += chunk
            *lines, rest = rest.split(b"\n")
            for line in lines:
                self._parse_line(bytes(line))
        self._parse_line(bytes(rest))

    def _parse_line(self, line: bytes) -> None:
        try:
            self.status = link_status.decode_status(line)
        except MalformedError:
            self.output += line + b"\n"
        else:
            self.trainer_mb = max(self.trainer_mb, self.status.trainer_resident_mb)


def ledger_command(folder: Path, port: int, organiser: str) -> list[str]:
    options = {
        "--dir": str(folder),
        "--port": str(port),
        "--network": "demo",
        "--origin": "demo.example/log",
        "--organiser": organiser,
        "--work-bits": WORK_BITS,
    }
    words = [word for pair in options.items() for word in pair]
    return [sys.executable, "-m", "tequio_ledger", "serve", *words]


def free_port() -> int:
    """A TCP port on loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def start_ledger(
    nursery: trio.Nursery, folder: Path, organisers: str, *options: str
) -> tuple[DemoProgram, str]:
    """Start the ledger of a demo in its folder; returns it and its address when it answers."""
    port = free_port()
    command = (*ledger_command(folder / "ledger", port, organisers), *options)
    program = DemoProgram("ledger", command, folder)
    nursery.start_soon(program.run_checked)
    url = f"http://127.0.0.1:{port}"
    await wait_healthy(url)
    return program, url


async def wait_healthy(url: str) -> None:
    """Return once the ledger answers; raises UserFacingError after a minute."""
    async with LedgerApi(url) as ledger:
        with trio.move_on_after(START_S):
            while True:
                with suppress(LedgerUnavailableError):
                    await ledger.network()
                    return
                await trio.sleep(0.1)
    raise UserFacingError(f"the ledger at {url} did not come up in {START_S:.0f} s")
