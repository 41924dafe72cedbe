"""The trainer child as the worker sees it: wishes go in, reports come out, whatever happens.

Rules: one child at a time; it gets no key, no socket and no inherited secret; it is told what
should be true (`link.messages`), and told again after every restart. A child that ends, falls
silent or says something that does not parse is ended (polite, SIGTERM, SIGKILL) and started anew
with back-off; `FAILURES` in a row without a finished wish end the attempts with a reason. While it
is forbidden there is none: its end alone gives the device back.

Only the child's own task writes to its input, whole lines: a caller that is cancelled tears none.
"""

from __future__ import annotations

import math
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec
import structlog
import trio

from tequio_client.ipc import trainer as link
from tequio_client.ipc.control import Benchmark
from tequio_client.names import cleaned
from tequio_client.worker.children import process as children_process
from tequio_client.worker.children.process import trainer_environment
from tequio_shared.errors import MalformedError, RefusedError, TequioError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# --- Measuring a device: a child trains a small model on it for a few seconds, and says how fast.

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


log = structlog.get_logger(__name__)

FAILURES = 5
"""Starts in a row that may end without any finished wish."""
SILENCE_S = 60.0
"""A trainer reports every second; one that does not for this long is ended."""
FIRST_BACK_OFF_S = 0.5
LONGEST_BACK_OFF_S = 30.0
SAID_CHARACTERS = 1_000
"""Of a trainer's own words, at most: they are shown."""
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
    """A wish that somebody waits on; made afresh for each child, since time goes by."""

    number: int
    make: Callable[[int], link.Wish]
    done: trio.Event = field(default_factory=trio.Event)
    answer: link.Report | None = None


TRAINER = (sys.executable, "-m", "tequio_client.trainer")
"""The trainer's command, to which the style of its log is added: console or json."""


class TrainerProcess:
    """Owner of the trainer child. `run` keeps it alive; `ask` gets one thing done."""

    def __init__(
        self,
        environment: Mapping[str, str],
        command: Sequence[str] = (*TRAINER, "console"),
        *,
        silence_s: float = SILENCE_S,
        device: trio.Lock | None = None,
    ) -> None:
        """`device` is held by whichever child of this worker may use it."""
        self._command = list(command)
        self._environment = dict(environment)
        self._silence_s = silence_s
        self._device = device or trio.Lock()
        self._number = 0  # of the last wish
        self._prepare: _Asked | None = None  # in force; owned by `ask`
        self._task: _Asked | None = None  # in force; owned by `ask`
        self._process: trio.Process | None = None  # owned by `run`
        self._unsent: list[link.Wish] = []  # for this child; emptied by `_speak`
        self._news = trio.Event()  # replaced by `_speak`
        self._dismissal = trio.Event()  # replaced for each child
        self._failures = 0  # starts since the last finished wish
        self.alive: link.Alive | None = None
        self.ready: link.Ready | None = None
        self._permission = trio.Event()  # replaced when it is taken away
        self._permission.set()
        self._dismissed_s = -math.inf  # when permission was last taken away, in trio's time
        self.broken: str | None = None  # why we gave up
        self.freed_in_s: float | None = None  # how long the last dismissed child took to go

    @property
    def pid(self) -> int | None:
        """Process id of the child while there is one."""
        return self._process.pid if self._process else None

    @property
    def is_allowed(self) -> bool:
        """Whether there may be a child."""
        return self._permission.is_set()

    def allow(self) -> None:
        """Let there be a child, from now on."""
        self._permission.set()

    def forbid(self) -> None:
        """Let there be none: one that lives is ended at once; what was asked stays asked."""
        if self._permission.is_set():
            self._permission = trio.Event()
            self._dismissed_s = trio.current_time()
            self._dismissal.set()

    def mend(self) -> None:
        """Forget the failures: `run` may be called again after it gave up."""
        self._failures, self.broken = 0, None

    async def run(self) -> None:
        """Keep a child running until cancelled; returns when it gave up (`broken` says why)."""
        while True:
            while not self._permission.is_set():  # it may be taken away before we come to it
                await self._permission.wait()
            async with self._device:
                if not self._permission.is_set():
                    continue
                reason = await self._live_once()
            if self._dismissal.is_set():
                self.freed_in_s = trio.current_time() - self._dismissed_s
                log.info("trainer gone, as told", seconds=round(self.freed_in_s, 3))
                continue
            self._failures += 1
            if self._failures >= FAILURES:
                self._give_up(reason)
                return
            pause_s = min(FIRST_BACK_OFF_S * 2 ** (self._failures - 1), LONGEST_BACK_OFF_S)
            log.warning("trainer ended; starting it again", reason=reason, after_s=pause_s)
            with trio.move_on_after(pause_s):
                await self._dismissal.wait()

    async def ask(self, make: Callable[[int], link.Wish], answer: type[R]) -> R:
        """Wish for something and wait until it is so; cancelling drops the wish.

        `make` gets the wish's number, and is called again for each child that has to be started.
        Raises TrainerFailedError when the trainer says that it cannot, or was given up.
        """
        if self.broken is not None:
            raise TrainerFailedError("broken", self.broken)
        self._number += 1
        asked = _Asked(self._number, make)
        wish = make(asked.number)
        if isinstance(wish, link.Prepare):
            self._prepare = asked
        else:
            self._task = asked
        self._tell(wish)
        try:
            await asked.done.wait()
        finally:
            if asked is self._task:
                self._task = None
                if not asked.done.is_set():
                    self._number += 1
                    self._tell(link.Rest(wish=self._number))
        return _checked(asked.answer, answer, self.broken)

    def _tell(self, wish: link.Wish) -> None:
        """Have it sent to the child; one that is still to be started gets what is then in force."""
        if self._process is not None:
            self._unsent.append(wish)
            self._news.set()

    # --- one life of the child

    async def _live_once(self) -> str:
        self._dismissal = trio.Event()
        process = await trio.lowlevel.open_process(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
            start_new_session=True,  # a terminal's Ctrl-C is for us; the child ends with its input
        )
        self._process = process
        self._unsent = [one.make(one.number) for one in (self._prepare, self._task) if one]
        log.info("trainer started", pid=process.pid)
        reason = "told to go"
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._speak, process)
                nursery.start_soon(self._cancel_when_dismissed, nursery.cancel_scope)
                reason = await self._listen(process)
                nursery.cancel_scope.cancel()
        finally:
            self.alive, self.ready = None, None
            with trio.CancelScope(shield=True):
                await children_process.end(process)
            self._process = None
        return reason

    async def _cancel_when_dismissed(self, scope: trio.CancelScope) -> None:
        await self._dismissal.wait()
        scope.cancel()

    async def _speak(self, process: trio.Process) -> None:
        """Write line after line; to a child that is gone, nothing more."""
        if process.stdin is None:
            raise AssertionError("the child has no input pipe")
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                while self._unsent:
                    await process.stdin.send_all(link.encode(self._unsent.pop(0)))
                self._news = trio.Event()
                await self._news.wait()

    async def _listen(self, process: trio.Process) -> str:
        """Read reports until the child ends or misbehaves; says what happened."""
        if process.stdout is None:
            raise AssertionError("the child has no output pipe")
        rest = bytearray()
        while (chunk := await self._receive(process.stdout)) is not None:
            if not chunk:
                return await children_process.farewell(process)
            *lines, rest = (rest + chunk).split(b"\n")
            try:
                self._take_lines(lines)
            except MalformedError as err:
                return str(err)
            if len(rest) > link.LINE_BYTES:
                return f"a report of more than {link.LINE_BYTES} bytes"
        return f"no sign of life for {self._silence_s:.0f} s"

    async def _receive(self, stream: trio.abc.ReceiveStream) -> bytes | bytearray | None:
        """Some bytes, none at the end; None when nothing came for too long."""
        received: bytes | bytearray | None = None
        with trio.move_on_after(self._silence_s):
            received = await stream.receive_some(_READ_BYTES)
        return received  # noqa: RET504 - the block above may end early

    def _take_lines(self, lines: list[bytearray]) -> None:
        for line in lines:
            self._take(link.decode_report(bytes(line)))

    def _take(self, report: link.Report) -> None:
        match report:
            case link.Alive():
                self.alive = report
            case link.Ready():
                self.ready = report
            case link.Failed(wish=0):  # it could not read a line of ours: that wish is lost
                raise MalformedError(f"the trainer says: {report.reason}")
            case link.Failed(fatal=True):
                log.warning("trainer failed", code=report.code, reason=report.reason)
            case _:
                pass
        if not isinstance(report, _NO_ANSWER):
            self._settle(report)

    def _settle(self, report: link.Answer) -> None:
        """Wake who waits for this answer; the same Ready after a restart finishes nothing."""
        for asked in (self._prepare, self._task):
            if asked and asked.number == report.wish and not asked.done.is_set():
                asked.answer = report
                asked.done.set()
                self._failures = self._failures if isinstance(report, link.Failed) else 0

    def _give_up(self, reason: str) -> None:
        said = cleaned(reason, SAID_CHARACTERS)
        self.broken = f"the trainer failed {FAILURES} times in a row: {said}"
        log.error("trainer given up", reason=reason, attempts=FAILURES)
        for asked in (self._prepare, self._task):
            if asked is not None:
                asked.done.set()


def _checked(report: link.Report | None, wanted: type[R], broken: str | None) -> R:
    match report:
        case link.Failed():
            raise TrainerFailedError(report.code, cleaned(report.reason, SAID_CHARACTERS))
        case None:
            raise TrainerFailedError("broken", broken or "the trainer is gone")
    if not isinstance(report, wanted):
        raise TrainerFailedError("malformed", f"{type(report).__name__} answers another wish")
    return report
