"""A whole network of real programs in one folder; only this module starts and ends them.

Every program ends with the block of `running_network`, whatever happens. A wait has a condition and
a deadline, and fails at once when a program that should run has ended. On failure, the end of every
program's log is printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
import psutil
import trio

from tequio_client.demo import programs
from tequio_client.demo.programs import DemoProgram
from tequio_client.platform.programs import tequio
from tequio_shared.ids import key_from_text
from tests.support import fork_service
from tests.support.forked_program import PRELOADED, ForkedProgram

if TYPE_CHECKING:
    import signal
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

    from tequio_client.demo.programs import Process, StartProcess
    from tequio_client.ipc.snapshot import Status
    from tequio_client.ledger.api import LedgerApi

POLL_S = 0.05
PATIENCE_S = 60.0
TAIL_BYTES = 6_000
TRAINER = "tequio_client.trainer"


@dataclass(slots=True, kw_only=True)
class RunningProgram:
    """A program that runs in the background."""

    program: DemoProgram
    may_end: bool = False
    exit_status: int | None = None
    ended: trio.Event = field(default_factory=trio.Event)

    @property
    def name(self) -> str:
        """The name of the program's folder and log."""
        return self.program.name

    @property
    def status(self) -> Status:
        """The program's last status; raises AssertionError when there is none yet."""
        assert self.program.status is not None, f"{self.name} has no status yet"
        return self.program.status

    @property
    def key(self) -> str:
        """The program's public key as text."""
        return self.status.key

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        with suppress(AssertionError):  # not started yet
            return None if self.ended.is_set() else self.program.pid
        return None

    async def run(self) -> None:
        """Run the program to its end and keep its exit status."""
        try:
            self.exit_status = await self.program.run()
        finally:
            self.ended.set()

    def send(self, number: signal.Signals) -> None:
        """Send the program a signal; from now on it may end."""
        self.may_end = True
        os.kill(self.program.pid, number)

    async def wait_ended(self, patience_s: float) -> int:
        """Wait for the program's end; returns its exit status."""
        with trio.move_on_after(patience_s):
            await self.ended.wait()
        assert self.exit_status is not None, f"{self.name} still runs after {patience_s:.0f} s"
        return self.exit_status

    def trainer(self) -> psutil.Process | None:
        """The worker's trainer process; None while there is none."""
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.program.pid).children():
                if TRAINER in child.cmdline():
                    return child
        return None

    def events(self, name: str | None = None) -> Iterator[dict[str, Any]]:
        """Fields of the program's log events; with a name, only events of that name."""
        for line in self.program.log.read_text(errors="replace").splitlines():
            with suppress(json.JSONDecodeError):
                fields = json.loads(line)
                if isinstance(fields, dict) and name in (None, fields.get("event")):
                    yield fields


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAddresses:
    """A node's addresses: its URL of the ledger, where it listens, and where others dial it."""

    ledger: str
    port: int = 0
    front: int | None = None

    def options(self) -> tuple[str, ...]:
        """Command-line options for these addresses."""
        listen = ("--ledger", self.ledger, "--listen", _address(self.port))
        return listen if self.front is None else (*listen, "--announce", _address(self.front))


class RealNetwork:
    """The folder, the ledger's address, and all programs started so far."""

    def __init__(self, folder: Path, nursery: trio.Nursery, start: StartProcess) -> None:
        self.folder = folder
        self._start = start
        self.port = programs.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.ledger_host = "127.0.0.1"
        """At which the ledger listens."""
        self.actors: list[RunningProgram] = []
        self.places: dict[str, NodeAddresses] = {}  # of nodes with special addresses
        self._nursery = nursery

    async def command(self, name: str, *arguments: str, exit_status: int = 0) -> str:
        """Run a tequio command to its end; returns its output."""
        program = DemoProgram(name, tequio(*arguments), self.folder, self._start)
        ended = await program.run()
        output = program.output.decode(errors="replace")
        assert ended == exit_status, f"{name} ended with {ended}: {output}{program.log_tail()}"
        return output

    async def ledger(self, organiser: str) -> RunningProgram:
        """Start the ledger, or start it again on its folder; returns when it answers."""
        command = programs.ledger_command(self.folder / "ledger", self.port, organiser)
        actor = self.start("ledger", [*command, "--host", self.ledger_host, "--log-json"])
        await programs.wait_healthy(self.url)
        return actor

    def seed(self, *options: str) -> RunningProgram:
        """Start a seed."""
        return self.start("seed", tequio("seed", *self.node_options("seed"), *options))

    def volunteer(self, name: str, *options: str) -> RunningProgram:
        """Start a volunteer on the CPU."""
        command = tequio("worker", *self.node_options(name), "--device", "cpu", *options)
        return self.start(name, command)

    async def until(
        self,
        what: str,
        holds: Callable[[], bool] | Callable[[], Awaitable[bool]],
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Wait until a condition holds; raises AssertionError after `patience_s`."""
        with trio.move_on_after(patience_s):
            while True:
                answer = holds()
                if answer if isinstance(answer, bool) else await answer:
                    return
                self.check_alive()
                await trio.sleep(POLL_S)
        raise AssertionError(f"not within {patience_s:.0f} s: {what}")

    def print_logs(self) -> None:
        """Print the end of every log."""
        for path in sorted((self.folder / "logs").glob("*.log")):
            tail = path.read_bytes()[-TAIL_BYTES:].decode(errors="replace")
            sys.stderr.write(f"\n--- {path.name}\n{tail}\n")

    def node_options(self, name: str) -> tuple[str, ...]:
        place = self.places.get(name) or NodeAddresses(ledger=self.url)
        return (*place.options(), "--dir", str(self.folder / name), "--status", "--log-json")

    def start(self, name: str, command: Sequence[str]) -> RunningProgram:
        actor = RunningProgram(program=DemoProgram(name, command, self.folder, self._start))
        self.actors.append(actor)
        self._nursery.start_soon(actor.run)
        return actor

    def check_alive(self) -> None:
        """Raise AssertionError when a program has ended that should run."""
        for actor in self.actors:
            died = actor.ended.is_set() and not actor.may_end
            assert not died, f"{actor.name} ended with status {actor.exit_status}"


class ForkedProcess:
    """A forked program with an output for trio."""

    def __init__(self, program: ForkedProgram) -> None:
        self._program = program
        assert program.stdout is not None
        self.stdout = trio.lowlevel.FdStream(os.dup(program.stdout.fileno()))
        program.close()

    @property
    def pid(self) -> int:
        return self._program.pid

    @property
    def returncode(self) -> int | None:
        return self._program.poll()

    async def wait(self) -> int:
        while (status := self._program.poll()) is None:  # noqa: ASYNC110 - of another process
            await trio.sleep(POLL_S)
        await self.stdout.aclose()
        return status

    def terminate(self) -> None:
        self._program.terminate()

    def kill(self) -> None:
        self._program.kill()


async def start_with_trainers(command: Sequence[str], log: IO[bytes]) -> Process:
    """As `start_forked`, and workers so started fork their trainers (`fork_service`).

    Not for tests that stop or count trainers: a worker's child is the command that has them forked.
    """
    trainers = msgspec.json.encode(fork_service.trainer_command()).decode()
    setup = (f"{fork_service.__name__}:{fork_service.use_for_trainers.__name__}", trainers)
    return await start_forked(command, log, setup)


async def start_forked(
    command: Sequence[str], log: IO[bytes], setup: tuple[str, str] | None = None
) -> Process:
    """Fork a program of the distribution; start an interpreter for any other."""
    match list(command):
        case [sys.executable, "-m", module, *words] if module in PRELOADED:
            pass
        case [sys.executable, "-m", package, *words] if f"{package}.__main__" in PRELOADED:
            module = f"{package}.__main__"
        case _:
            return await programs.start_process(command, log)
    fork = partial(
        ForkedProgram,
        module,
        *words,
        stdout=subprocess.PIPE,
        stderr=Path(log.name),
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        setup=setup,
    )
    return ForkedProcess(await trio.to_thread.run_sync(fork))


def _address(port: int) -> str:
    return f"/ip4/127.0.0.1/tcp/{port}"


@asynccontextmanager
async def running_network(
    folder: Path, start: StartProcess = start_forked
) -> AsyncIterator[RealNetwork]:
    """A network without programs; when the block ends, every started program has ended.

    Forked programs share memory: a test that measures them passes `programs.start_process`.
    """
    async with trio.open_nursery() as nursery:
        network = RealNetwork(folder, nursery, start)
        try:
            yield network
        except BaseException:
            network.print_logs()
            raise
        finally:
            nursery.cancel_scope.cancel()
    left = left_over(folder)
    assert not left, f"still running: {left}"


async def is_registered(api: LedgerApi, one: RunningProgram) -> bool:
    """Check whether a program's key is registered."""
    return (
        one.program.status is not None and await api.find_peer(key_from_text(one.key)) is not None
    )


def left_over(folder: Path) -> list[str]:
    """Command lines of processes that were started for that folder and still run."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            words = (*process.cmdline(), _log_of(process))  # a forked program has no command line
            if any(str(folder) in word for word in words):
                found.append(" ".join(words))
    return found


def _log_of(process: psutil.Process) -> str:
    """Name the file that its standard error goes to."""
    with suppress(OSError):
        return str(Path(f"/proc/{process.pid}/fd/2").readlink())
    return ""
