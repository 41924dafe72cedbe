"""The trainer child as the worker sees it: wishes go in, reports come out, whatever happens.

Rules: one child at a time; it gets no key, no socket and no inherited secret; it is told what
should be true (`link.messages`), and told again after every restart. A child that ends, falls
silent or says something that does not parse is ended (polite, SIGTERM, SIGKILL) and started anew
with back-off; `FAILURES` in a row without a finished wish end the attempts with a reason.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import structlog
import trio

from tequio_client.link import messages as link
from tequio_shared.errors import MalformedError, TequioError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

log = structlog.get_logger(__name__)

FAILURES = 5
"""Starts in a row that may end without any finished wish."""
SILENCE_S = 60.0
"""A trainer reports every second; one that does not for this long is ended."""
FIRST_BACK_OFF_S = 0.5
LONGEST_BACK_OFF_S = 30.0
POLITE_S = 3.0
"""How long each step of the kill ladder may take."""
_READ_BYTES = 1 << 16

R = TypeVar("R", bound=link.Report)
_NO_ANSWER = (link.Hello, link.Alive)


class TrainerFailedError(TequioError):
    """The trainer could not do what it was asked; `code` is that of link.messages.Failed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class _Asked:
    """A wish that somebody waits on."""

    wish: link.Wish
    done: trio.Event = field(default_factory=trio.Event)
    answer: link.Report | None = None


class TrainerProcess:
    """Owner of the trainer child. `run` keeps it alive; `ask` gets one thing done."""

    def __init__(
        self,
        environment: Mapping[str, str],
        command: Sequence[str] = (sys.executable, "-m", "tequio_client.trainer"),
    ) -> None:
        self._command = list(command)
        self._environment = dict(environment)
        self._number = 0  # of the last wish
        self._prepare: _Asked | None = None  # in force; owned by `ask`
        self._task: _Asked | None = None  # in force; owned by `ask`
        self._process: trio.Process | None = None  # owned by `run`
        self._writing = trio.Lock()
        self._failures = 0  # starts since the last finished wish
        self.alive: link.Alive | None = None
        self.ready: link.Ready | None = None
        self.broken: str | None = None  # why we gave up

    @property
    def pid(self) -> int | None:
        """Process id of the child while there is one."""
        return self._process.pid if self._process else None

    async def run(self) -> None:
        """Keep a child running until cancelled; returns when it gave up (`broken` says why)."""
        back_off_s = FIRST_BACK_OFF_S
        while self.broken is None:
            reason = await self._live_once()
            self._failures += 1
            if self._failures >= FAILURES:
                self._give_up(reason)
                return
            log.warning("trainer ended; starting it again", reason=reason, after_s=back_off_s)
            await trio.sleep(back_off_s)
            back_off_s = min(back_off_s * 2, LONGEST_BACK_OFF_S)
            if self._failures <= 1:
                back_off_s = FIRST_BACK_OFF_S

    async def ask(self, make: Callable[[int], link.Wish], answer: type[R]) -> R:
        """Wish for something and wait until it is so; cancelling drops the wish.

        Raises TrainerFailedError when the trainer says that it cannot, or was given up.
        """
        self._number += 1
        asked = _Asked(make(self._number))
        if isinstance(asked.wish, link.Prepare):
            self._prepare = asked
        else:
            self._task = asked
        try:
            if self.broken is not None:
                raise TrainerFailedError("broken", self.broken)
            await self._send(asked.wish)
            await asked.done.wait()
        finally:
            if asked is self._task:
                self._task = None
                if not asked.done.is_set():
                    self._rest_nowait()
        return _checked(asked.answer, answer, self.broken)

    async def finish(self) -> None:
        """Ask for what the present Train wish has so far; its `ask` then returns."""
        if self._task and isinstance(self._task.wish, link.Train):
            await self._send(link.Finish(wish=self._task.wish.wish))

    # --- one life of the child

    async def _live_once(self) -> str:
        process = await trio.lowlevel.open_process(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
            start_new_session=True,  # a terminal's Ctrl-C is for us; the child ends with its input
        )
        self._process = process
        log.info("trainer started", pid=process.pid)
        try:
            return await self._converse(process)
        finally:
            self._process, self.alive, self.ready = None, None, None
            with trio.CancelScope(shield=True):
                await _end(process)

    async def _converse(self, process: trio.Process) -> str:
        """Read reports until the child ends or misbehaves; says what happened."""
        if process.stdout is None:
            raise AssertionError("the child has no output pipe")
        for asked in (self._prepare, self._task):
            if asked is not None:
                await self._send(asked.wish)
        rest = bytearray()
        while (chunk := await _receive(process.stdout)) is not None:
            if not chunk:
                return f"exit status {await process.wait()}"
            *lines, rest = (rest + chunk).split(b"\n")
            try:
                self._take_lines(lines)
            except MalformedError as err:
                return str(err)
        return f"no sign of life for {SILENCE_S:.0f} s"

    def _take_lines(self, lines: list[bytearray]) -> None:
        for line in lines:
            self._take(link.decode_report(bytes(line)))

    def _take(self, report: link.Report) -> None:
        match report:
            case link.Alive():
                self.alive = report
            case link.Ready():
                self.ready = report
            case link.Failed(fatal=True):
                log.warning("trainer failed", code=report.code, reason=report.reason)
            case _:
                pass
        for asked in (self._prepare, self._task):
            if asked and not isinstance(report, _NO_ANSWER) and report.wish == asked.wish.wish:
                asked.answer = report
                asked.done.set()
                self._failures = 0 if not isinstance(report, link.Failed) else self._failures

    async def _send(self, wish: link.Wish) -> None:
        """Write one line; a child that is gone gets its wishes again at the next start."""
        process = self._process
        if process is None or process.stdin is None:
            return
        async with self._writing:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await process.stdin.send_all(link.encode(wish))

    def _rest_nowait(self) -> None:
        """Tell the child to drop what nobody waits for any more, without waiting ourselves."""
        self._number += 1
        process = self._process
        if process is None or process.stdin is None or self._writing.locked():
            return  # the next wish replaces the old one anyway
        trio.lowlevel.spawn_system_task(self._send, link.Rest(wish=self._number))

    def _give_up(self, reason: str) -> None:
        self.broken = f"the trainer failed {FAILURES} times in a row: {reason}"
        log.error("trainer given up", reason=reason, attempts=FAILURES)
        for asked in (self._prepare, self._task):
            if asked is not None:
                asked.done.set()


def _checked(report: link.Report | None, wanted: type[R], broken: str | None) -> R:
    match report:
        case link.Failed():
            raise TrainerFailedError(report.code, report.reason)
        case None:
            raise TrainerFailedError("broken", broken or "the trainer is gone")
    if not isinstance(report, wanted):
        raise TrainerFailedError("malformed", f"{type(report).__name__} answers another wish")
    return report


async def _receive(stream: trio.abc.ReceiveStream) -> bytes | bytearray | None:
    """Some bytes, none at the end; None when nothing came for too long."""
    received: bytes | bytearray | None = None
    with trio.move_on_after(SILENCE_S):
        received = await stream.receive_some(_READ_BYTES)
    return received  # noqa: RET504 - the block above may end early


async def _end(process: trio.Process) -> None:
    """The kill ladder: end of input, SIGTERM, SIGKILL."""
    if process.stdin is not None:
        await process.stdin.aclose()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            with suppress(ProcessLookupError):
                process.send_signal(number)
        with trio.move_on_after(POLITE_S):
            await process.wait()
            return
