"""A worker as the app runs it: started with pipes and controlled by messages on them."""

from __future__ import annotations

import subprocess
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import psutil
import trio

from tequio_client.ipc import control
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState, Snapshot
from tequio_client.platform.programs import tequio
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from tequio_client.ipc.control import Question, Reply
    from tequio_client.ipc.facts import SessionFacts

PATIENCE_S = 90.0
WILLING = Preferences(
    consent=True,
    on_battery=True,
    while_saving_power=True,
    others_cpu_percent=100,  # the other volunteers of the test compute here too
    others_gpu_percent=100,
    disk_free_gib=0,
    month_gb=0,
)
"""Preferences that react to games and presence, and to nothing else on a test machine."""


class LinkedWorker:
    """One worker and the controller that started it."""

    def __init__(self, process: trio.Process, log: Path) -> None:
        self.process = process
        self.log = log
        self.snapshot = Snapshot()
        self.welcome: control.AcceptController | None = None
        self.refused: control.RefuseController | None = None
        self.answers: dict[int, control.QuestionAnswer] = {}
        self.seen: list[tuple[float, Snapshot]] = []
        """Every received snapshot, with its time."""
        self._asked = 0
        self._sending = trio.Lock()
        self._news = trio.Event()

    async def send(self, message: control.ToWorker) -> None:
        """Send a message to the worker."""
        assert self.process.stdin is not None
        async with self._sending:
            await self.process.stdin.send_all(control.encode(message))

    async def want(self, *, lend: bool, finish: bool = False) -> None:
        """Send a desired state, and wait until a snapshot has it."""
        wish = DesiredState(number=self.snapshot.wish.number + 1, lend=lend, finish=finish)
        await self.send(control.SetDesiredState(wish=wish))
        await self.until("the wish is shown", lambda one: one.wish == wish)

    async def report_session(self, facts: SessionFacts) -> None:
        """Report facts of the desktop session."""
        await self.send(control.ReportSessionFacts(facts=facts))

    async def ask(self, question: Question) -> Reply:
        """Ask a question; raises AssertionError without a reply."""
        self._asked += 1
        number = self._asked
        await self.send(control.AskQuestion(id=number, question=question))
        with trio.fail_after(PATIENCE_S):
            while number not in self.answers:
                await self._news.wait()
        answer = self.answers[number]
        assert answer.reply is not None, answer.error
        return answer.reply

    async def until(
        self, what: str, holds: Callable[[Snapshot], bool], patience_s: float = PATIENCE_S
    ) -> Snapshot:
        """Wait for a snapshot for which the condition holds, and return it."""
        with trio.move_on_after(patience_s):
            while not holds(self.snapshot):
                await self._news.wait()
            return self.snapshot
        raise AssertionError(
            f"not within {patience_s:.0f} s: {what}; the last one is {self.snapshot}"
        )

    @property
    def trainers(self) -> list[psutil.Process]:
        """Running trainer processes."""
        found = []
        with suppress(psutil.Error):
            for child in psutil.Process(self.process.pid).children():
                with suppress(psutil.Error):
                    if "tequio_client.trainer" in child.cmdline():
                        found.append(child)
        return found

    async def listen(self) -> None:
        """Handle the worker's messages until it ends."""
        assert self.process.stdout is not None
        rest = b""
        while chunk := await self.process.stdout.receive_some(1 << 16):
            *lines, rest = (rest + bytes(chunk)).split(b"\n")
            for line in lines:
                self._handle(control.decode_from_worker(line))
        self._wake()

    def _handle(self, message: control.FromWorker) -> None:
        match message:
            case control.SnapshotMessage(snapshot=snapshot):
                self.snapshot = snapshot
                self.seen.append((trio.current_time(), snapshot))
            case control.QuestionAnswer(id=number):
                self.answers[number] = message
            case control.AcceptController():
                self.welcome = message
            case control.RefuseController():
                self.refused = message
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = trio.Event()


@asynccontextmanager
async def linked(
    folder: Path,
    ledger: str,
    *,
    seed: bytes | None = None,
    hello: bool = True,
    invitation: str = "",
    program: Callable[..., Sequence[str]] = tequio,
) -> AsyncIterator[LinkedWorker]:
    """Start a worker as the app does; leaving the block kills it."""
    command = program(
        "worker", "--link", "--ledger", ledger, "--dir", str(folder), "--listen", LISTEN
    )
    log = folder.with_name(f"{folder.name}.log")
    with log.open("wb") as errors:
        process = await trio.lowlevel.open_process(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
    worker = LinkedWorker(process, log)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker.listen)
            if hello:
                key_seed = to_text(seed) if seed else None
                greeting = control.ControllerHello(
                    who="app", build="test", seed=key_seed, invitation=invitation
                )
                await worker.send(greeting)
            yield worker
            nursery.cancel_scope.cancel()
    except BaseException:
        print(log.read_text(errors="replace")[-6_000:])  # noqa: T201 - pytest shows it
        raise
    finally:
        with trio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()


LISTEN = "/ip4/127.0.0.1/tcp/0"
