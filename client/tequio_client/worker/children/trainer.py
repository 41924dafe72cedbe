"""The trainer child: commands go in, reports come out, across restarts; and the device benchmark.

Rules beside those of `process`. Commands state what should be true (`ipc.trainer`): the last
`Prepare` and the last task are in force, and every new child gets both again. A child that
failed is started again after a pause; after `MAX_FAILURES` failures in a row without one finished
command the trainer is given up with a reason, until `reset`. One that lost a rank of its cell is
never given up: the other computer may come back.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import structlog
import trio

from tequio_client import files, ipc
from tequio_client.ipc import trainer as link
from tequio_client.ipc.cell import VARIABLE, CellPlace
from tequio_client.ipc.control import BenchmarkReply
from tequio_client.names import clean_text
from tequio_client.platform import cell_network, programs
from tequio_client.platform.call_filter import NetworkAccess
from tequio_client.platform.sandbox import SandboxRules
from tequio_client.worker.children.process import (
    ChildProcess,
    ChildProgram,
    confined_variables,
)
from tequio_shared.errors import MalformedError, RefusedError, TequioError, UserFacingError

log = structlog.get_logger(__name__)

TRAINER = programs.runtime_module("tequio_client.trainer")
"""The trainer's command, to which the style of its log is added: console or json."""
READ = ("store", "feedback")
"""Folders of a worker that a trainer reads: neither keys nor databases."""
CACHE = "cache"
"""Folder of a worker with one folder for each child: none runs what another left there."""
_OWN_CODE = "-plugin-"
"""In the name of a cache that a run's own code may fill."""
BENCHMARK = (*TRAINER, "benchmark")
MAX_FAILURES = 5
"""Starts in a row without a finished command before the trainer is given up."""
SILENCE_S = 60.0
"""Longest silence; a trainer reports every second, also while it computes."""
BENCHMARK_S = 120.0
"""Deadline of a benchmark, which usually takes a few seconds."""
REASON_CHARACTERS = 1_000
"""Maximum characters of a child's reason that are shown to people."""
_LABEL = 256
_CELL_PREFIXES = ("GLOO_", "NCCL_")
_decode_figures = ipc.line_decoder(BenchmarkReply | link.Failed, link.LINE_BYTES, "figures")

JudgeCrash = Callable[[str], Awaitable[str]]
"""Called with the reason of a child's end in a task; returns why to give up, empty: try again."""
R = TypeVar("R", bound=link.Report)


class TrainerFailedError(TequioError):
    """The trainer could not do what it was asked; `code` is that of `ipc.trainer.Failed`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class _Pending:
    """A command in force; `make` is called for each child again, since its time limits age."""

    number: int
    make: Callable[[int], link.Command]
    sent: link.Command | None = None
    """The command as the present child got it."""
    done: trio.Event = field(default_factory=trio.Event)
    answer: link.Report | None = None


def trainer_environment(folder: Path, device: str = "") -> dict[str, str]:
    """Variables of a trainer of the worker in that folder; raises as `confined_environment`."""
    return confined_environment(
        folder, trainer_rules(folder, device=device), trainer_cache(folder, device)
    )


def confined_environment(folder: Path, rules: SandboxRules, cache: Path) -> dict[str, str]:
    """Variables of a child of the worker in that folder, with its sandbox and its own caches.

    Raises UserFacingError when the folder cannot be used.
    """
    try:
        for place in (*(folder / name for name in READ), *map(Path, rules.writes)):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)  # a run fills them later
        return confined_variables(rules, cache)
    except OSError as err:
        raise UserFacingError(
            f"cannot use the folder {folder} ({err.strerror}): check its permissions and free space"
        ) from err


def trainer_rules(folder: Path, reads: Sequence[Path] = (), device: str = "") -> SandboxRules:
    """A trainer writes its working files and caches; of the rest of the folder it reads content."""
    own = folder.absolute()
    return SandboxRules(
        writes=(str(work_folder(own, device)), str(trainer_cache(own, device))),
        reads=tuple(str(one.absolute()) for one in (*(own / name for name in READ), *reads)),
        hidden=(str(own),),
    )


def work_folder(folder: Path, device: str = "") -> Path:
    """Folder for the working files of a device's trainer; without a device, of the only trainer."""
    return folder / "work" / device.replace(":", "-")


def trainer_cache(folder: Path, device: str = "") -> Path:
    name = device.replace(":", "-")
    return child_cache(folder, f"trainer-{name}" if name else "trainer")


def child_cache(folder: Path, child: str) -> Path:
    """Folder for the caches and temporary files of one kind of child."""
    return folder / CACHE / child


def trainer_program(
    folder: Path,
    log_style: str = "console",
    reads: Sequence[Path] = (),
    device: str = "",
    cell: CellPlace | None = None,
) -> ChildProgram:
    """Describe the trainer of a device, or of a cell, of the worker in that folder.

    `log_style` is console or json. It may read the files and folders `reads` beside the worker's
    own, and writes into folders that no other device's trainer can read.
    """
    cache = trainer_cache(folder, device)
    rules = trainer_rules(folder, reads, device)
    if cell is not None:
        rules = replace(rules, **_network_of(cell))
    return ChildProgram(
        command=(*TRAINER, log_style),
        environment={**confined_environment(folder, rules, cache), **_cell_environment(cell)},
        cache=cache,
        work=work_folder(folder, device),
        line_bytes=link.LINE_BYTES,
        silence_s=SILENCE_S,
    )


def isolated_program(
    program: ChildProgram, folder: Path, device: str, archive: str
) -> ChildProgram:
    """The same trainer with caches of its own, for a run that brings the code of that archive.

    What that code leaves in a cache, compiled kernels say, is read by no other run's trainer.
    Deletes the caches of other such runs on that device; blocks.
    """
    cache = trainer_cache(folder, f"{device}{_OWN_CODE}{archive}")
    for old in cache.parent.glob(f"{trainer_cache(folder, device).name}{_OWN_CODE}*"):
        if old != cache:
            with suppress(OSError):
                files.delete_folder(old)
    rules = trainer_rules(folder, device=device)
    rules = replace(rules, writes=(rules.writes[0], str(cache.absolute())))
    confined = confined_environment(folder, rules, cache)
    return replace(program, environment={**program.environment, **confined}, cache=cache)


def rank_program(folder: Path, cell: CellPlace, log_style: str = "console") -> ChildProgram:
    """Describe a rank on a computer other than rank 0's; it reads a frozen base, and no more."""
    name = f"rank-{cell.rank}"
    cache = trainer_cache(folder, name)
    rules = replace(trainer_rules(folder, device=name), **_network_of(cell))
    return ChildProgram(
        command=(*TRAINER, "rank", log_style),
        environment={**confined_environment(folder, rules, cache), **_cell_environment(cell)},
        cache=cache,
        line_bytes=link.LINE_BYTES,
    )


def _network_of(cell: CellPlace) -> dict[str, Any]:  # a SandboxRules' fields
    return {
        "network": NetworkAccess.CELL if cell.is_local else NetworkAccess.HOSTS,
        "port": cell.port,
    }


def _cell_environment(cell: CellPlace | None) -> dict[str, str]:
    """Variables that gloo and NCCL read: the owner's own, else the interface towards rank 0."""
    if cell is None:
        return {}
    mine = {name: one for name, one in os.environ.items() if name.startswith(_CELL_PREFIXES)}
    interface = "" if sys.platform == "win32" else cell_network.interface_towards(cell.address)
    usual = {f"{prefix}SOCKET_IFNAME": interface for prefix in _CELL_PREFIXES} if interface else {}
    return {**usual, **mine, VARIABLE: cell.encode()}


class TrainerProcess:
    """Owner of the trainer child; `run` restarts it, `ask` gets one command done.

    While `child` is forbidden, commands in force stay so and reach the next process.
    """

    def __init__(self, program: ChildProgram, judge_crash: JudgeCrash | None = None) -> None:
        """Allowed at first."""
        self.child = ChildProcess(program)
        self.child.allow()
        self._judge_crash = judge_crash
        self._number = 0  # of the last command
        self._prepare: _Pending | None = None  # in force; owned by `ask`
        self._task: _Pending | None = None  # in force; owned by `ask`
        self._failures = 0  # starts since the last finished command
        self._lost_rank = False  # of this child, which ended because of it
        self._has_plugin = False  # the run in force brings code of its own
        self._alive: link.TrainerHeartbeat | None = None  # of this child; so the next
        self._ready: link.TrainerReady | None = None
        self.failure: str | None = None  # why it was given up
        self.sandbox = ""
        """Sandbox of the present child, or of the last one; empty before the first."""

    @property
    def heartbeat(self) -> link.TrainerHeartbeat | None:
        return self._alive if self.child.is_running else None

    @property
    def ready(self) -> link.TrainerReady | None:
        return self._ready if self.child.is_running else None

    def reset(self) -> None:
        """Clear the failures: `run` may be called again after it gave up."""
        self._failures, self.failure = 0, None

    def forget_run(self) -> None:
        """End the child of a run that is over or was left; the next one is prepared for another."""
        if self._prepare is not None:
            self._prepare = None
            self.child.stop()

    async def run(self) -> None:
        """Restart the child until cancelled; returns when it is given up (`failure`)."""
        while True:
            reason = await self.child.run_once(self._first_lines, self._on_line)
            if reason is None:  # it was forbidden, which does not count as a failure
                log.info("trainer ended on request", seconds=round(self.child.freed_in_s or 0.0, 3))
                continue
            self._failures += 1
            if self._lost_rank:
                self._failures = min(self._failures, MAX_FAILURES - 1)
            verdict = await self._verdict(reason)
            if verdict or self._failures >= MAX_FAILURES:
                shown = clean_text(reason, REASON_CHARACTERS)
                self._give_up(
                    verdict or f"the trainer failed {MAX_FAILURES} times in a row: {shown}"
                )
                return
            pause_s = self.child.pause_s(self._failures)
            log.warning("trainer ended, restarting", reason=reason, after_s=pause_s)
            await self.child.pause(pause_s)

    async def _verdict(self, reason: str) -> str:
        """Have a crash in a task judged; empty: the trainer is started again."""
        if self._judge_crash is None or self._task is None or self._lost_rank:
            return ""
        if self._has_plugin:
            # That code may end its process at will, and could so choose this computer's version.
            return ""
        return await self._judge_crash(reason)

    async def ask(self, make: Callable[[int], link.Command], answer: type[R]) -> R:
        """Put a command in force and wait for its answer; cancelling withdraws it.

        `make` gets the command's number, and is called again for each child that is started.
        Raises TrainerFailedError when the trainer reports that it cannot, or was given up, and for
        a Prepare that another one replaces.
        """
        if self.failure is not None:
            raise TrainerFailedError("broken", self.failure)
        pending = self._put_in_force(make)
        try:
            await pending.done.wait()
        finally:
            # A Prepare stays in force after its answer: the next child needs it before any task.
            if pending is self._task:
                self._task = None
                if not pending.done.is_set():
                    self._number += 1
                    self.child.send(link.encode(link.Rest(command=self._number)))
        return _checked(pending.answer, answer, self.failure)

    def prepare_again(self, make: Callable[[int], link.Prepare]) -> None:
        """Replace the Prepare in force, without waiting for the trainer to follow it."""
        self._put_in_force(make)

    def _put_in_force(self, make: Callable[[int], link.Command]) -> _Pending:
        self._number += 1
        pending = _Pending(self._number, make)
        command = pending.sent = make(pending.number)
        if isinstance(command, link.Prepare):
            if self._prepare is not None:
                self._prepare.done.set()  # nothing answers it any more
            self._prepare, self._has_plugin = pending, command.plugin is not None
        else:
            self._task = pending
        self.child.send(link.encode(command))
        return pending

    def _first_lines(self) -> Iterator[bytes]:
        self._alive = self._ready = None
        self._lost_rank = False
        log.info("trainer started", pid=self.child.pid)
        for pending in (self._prepare, self._task):
            if pending is not None:
                pending.sent = pending.make(pending.number)
                yield link.encode(pending.sent)

    def _on_line(self, line: bytes) -> None:
        match link.decode_report(line):
            case link.TrainerHello() as hello:
                self.sandbox = clean_text(hello.sandbox, _LABEL)
                log.info("trainer confined", by=self.sandbox)
            case link.TrainerHeartbeat() as alive:
                self._alive = alive
            # A child that could not read a line will never answer that command. Which one it was is
            # unknown, so it is ended: its successor gets everything in force.
            case link.Failed(command=0, reason=reason, code=code) if code != "cell":
                raise MalformedError(f"the trainer reports: {reason}")
            case report:
                self._settle(report)
                if isinstance(report, link.TrainerReady):
                    self._ready = report
                    log.info("trainer ready")
                    self._send_changed_prepare(report.command)
                elif isinstance(report, link.Failed) and report.fatal:
                    self._lost_rank = report.code == "cell"
                    log.warning("trainer failed", code=report.code, reason=report.reason)

    def _send_changed_prepare(self, answered: int) -> None:
        """Send the Prepare in force again if it changed since this child was sent it."""
        old = self._prepare
        if old and old.number == answered and old.make(answered) != old.sent:
            self._put_in_force(old.make)

    def _settle(self, report: link.CommandReport) -> None:
        """Wake the caller of this command; a second Ready after a restart finishes nothing."""
        for pending in (self._prepare, self._task):
            if pending and pending.number == report.command and not pending.done.is_set():
                pending.answer = report
                pending.done.set()
                # Only finished work counts as success. If a Ready repeated by each child did, a
                # task that always kills its trainer would be tried without end.
                if not isinstance(report, link.Failed):
                    self._failures = 0

    def _give_up(self, failure: str) -> None:
        self.failure = failure
        log.error("trainer given up", reason=failure)
        for pending in (self._prepare, self._task):
            if pending is not None:
                pending.done.set()


def _checked(report: link.Report | None, wanted: type[R], broken: str | None) -> R:
    match report:
        case link.Failed():
            raise TrainerFailedError(report.code, clean_text(report.reason, REASON_CHARACTERS))
        case None:
            raise TrainerFailedError("broken", broken or "a newer command took its place")
    if not isinstance(report, wanted):
        raise TrainerFailedError("malformed", f"{type(report).__name__} answers another command")
    return report


def benchmark_child(folder: Path, device: str, command: Sequence[str] = BENCHMARK) -> ChildProcess:
    """A child that measures a device; raises UserFacingError when the folder cannot be used."""
    child = ChildProcess(
        ChildProgram(
            command=(*command, device),
            environment=trainer_environment(folder, device),
            line_bytes=link.LINE_BYTES,
        )
    )
    child.allow()
    return child


async def run_benchmark(
    child: ChildProcess,
    device: str,
    started: Callable[[], object] = lambda: None,
    limit_s: float = BENCHMARK_S,
) -> BenchmarkReply:
    """Train a small model on the device for some seconds; raises RefusedError.

    `started` is called once the child has its `pid`.
    """
    answers: list[BenchmarkReply | link.Failed] = []

    def first_lines() -> Iterator[bytes]:
        started()
        return iter(())

    why: str | None = f"no figures in {limit_s:.0f} s"
    with trio.move_on_after(limit_s):
        why = await child.run_once(first_lines, lambda line: answers.append(_decode_figures(line)))
    match answers:
        case [BenchmarkReply() as figures]:
            return figures
        case [link.Failed(reason=reason)]:
            why = reason
    if not programs.has_runtime():
        why = (
            "what training needs is not installed: the app downloads it, and so does "
            "`tequio runtime install`"
        )
    shown = clean_text(why or "it was ended", REASON_CHARACTERS)
    raise RefusedError("not-measured", f"{device} could not be measured: {shown}")
