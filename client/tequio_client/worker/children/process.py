"""The supervisor of one child process: permission, start, lines in and out, silence, kill ladder.

Trainer, evaluator and probe differ in what their lines mean and in what follows when they end; how
they live is the same, and is here. Rules:

1. One process at a time, only while it is allowed and while this supervisor holds the device lock.
   The lock is released after the process is gone and not before: only its end frees GPU memory.
2. The process writes lines. Silence for `silence_s`, an oversized line, a line that does not parse
   (MalformedError), or an input that it does not read ends it.
3. One task writes to its input, whole lines, so a cancelled caller never leaves half a line.
4. It ends by the kill ladder: end of input, SIGTERM, SIGKILL.
5. Caches and temporary files above `CACHE_BYTES` end it, and so do working files above that and
   what its run needs. The folder that takes too much, or cannot be counted, is emptied then.
6. It inherits `child_environment` and no other variable: no key, no token, no proxy password.

Starting it again is the owner's decision: a trainer is given up after some failures, a probe never.
"""

from __future__ import annotations

import errno
import math
import os
import subprocess
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import trio

from tequio_client import files
from tequio_client.ipc import LineBuffer
from tequio_client.platform import child, sandbox
from tequio_client.platform.sandbox import SandboxRules
from tequio_shared.errors import MalformedError

GRACE_S = 0.7
"""Patience at each step of the kill ladder. A child is gone within about 2 s, the longest that a
starting game has to wait; interrupted work of a child does no harm."""
UNSENT_LINES = 256
CACHE_BYTES = 8 << 30
"""Most that a child may have in its cache: compiled kernels take some hundred megabytes."""
CACHE_FILES = 100_000
CACHE_CHECK_S = 60.0
_UNCOUNTABLE = {errno.ENAMETOOLONG, errno.EACCES, errno.EPERM}  # too deep, or nobody may list it
_READ_BYTES = 1 << 16

_NAMES = frozenset((
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH"),
    # Windows: without these a program finds neither its system, nor its user's folders and name.
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "TEMP", "TMP"),
    *("USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA"),
    *("PROGRAMDATA", "ALLUSERSPROFILE", "PROGRAMFILES", "PROGRAMFILES(X86)", "COMMONPROGRAMFILES"),
    *("NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"),
))  # fmt: skip
_PREFIXES = ("CUDA_", "NVIDIA_", "HIP_", "ROCR_", "ZE_", "PYTHON")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildProgram:
    command: Sequence[str]
    environment: Mapping[str, str]
    line_bytes: int
    """Longest line that the child may write."""
    cache: Path | None = None
    """Folder of its caches and temporary files, of which it may have `CACHE_BYTES`."""
    work: Path | None = None
    """Folder of its working files, which may take `CACHE_BYTES` more than its run needs."""
    silence_s: float = math.inf
    """Longest silence; then the child is ended."""
    grace_s: float = GRACE_S
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0
    """First pause after a failed start, and the maximum of later ones."""


class ChildProcess:
    """Owner of one child process; its permission may change at any time, also between starts."""

    def __init__(self, program: ChildProgram) -> None:
        """Forbidden at first."""
        self._program = program
        self.work_bytes = 0
        """Most that the working files of its run take; set by the owner when it joins one."""
        self.device = trio.Lock()
        """Held while the child runs; children that use the same device are given the same one."""
        self.permission = trio.Event()  # replaced when permission is withdrawn
        self._stop = trio.Event()  # replaced at each start
        self._stopped_s = 0.0  # when that was set, in trio's time
        self.freed_in_s: float | None = None
        """Time that the last stopped process took to end."""
        # The rest belongs to `run_once`.
        self.pid: int | None = None
        self._nursery: trio.Nursery | None = None  # None as soon as the kill ladder begins
        self._unsent: deque[bytes] = deque()
        self._has_unsent = trio.Event()  # replaced by the writing task
        self._reads_nothing = False

    @property
    def is_running(self) -> bool:
        """Check for a child that is running and is not being ended."""
        return self._nursery is not None

    @property
    def program(self) -> ChildProgram:
        return self._program

    def replace_program(self, program: ChildProgram) -> None:
        """Start this program from now on; a running child of another one is ended."""
        if program != self._program:
            self._program = program
            self.stop()

    def allow(self) -> None:
        self.permission.set()

    def forbid(self) -> None:
        """Withdraw the permission; a running child is ended at once."""
        if self.permission.is_set():
            self.permission = trio.Event()
            self.stop()

    def stop(self) -> None:
        """End the running child; the next one may start."""
        if not self._stop.is_set():
            self._stopped_s = trio.current_time()
            self._stop.set()

    def send(self, line: bytes) -> None:
        """Queue a line for the running child; without one it is dropped.

        What a new child has to know comes from `first_lines` of `run_once`, never from this queue:
        a line written to a child that dies of it would otherwise be lost.
        """
        if self._nursery is None:
            return
        if len(self._unsent) >= UNSENT_LINES:
            self._reads_nothing = True
            self._nursery.cancel_scope.cancel()
            return
        self._unsent.append(line)
        self._has_unsent.set()

    def start_soon(self, work: Callable[[], Awaitable[object]]) -> None:
        """Start a task that is cancelled when the running child ends."""
        if self._nursery is None:
            raise AssertionError("tasks belong to a running child")
        self._nursery.start_soon(work)

    async def run_once(
        self, first_lines: Callable[[], Iterable[bytes]], on_line: Callable[[bytes], None]
    ) -> str | None:
        """Wait for permission and device, then run one child to its end.

        Returns why the child failed, or None when `stop` or `forbid` ended it. `first_lines` is
        called once it has started; `on_line` raises MalformedError for a line that ends the child.
        """
        while True:
            await self.permission.wait()
            device = self.device
            async with device:
                # The device may have been busy for hours: without this second check a child would
                # start although the user has paused meanwhile.
                if self.permission.is_set() and device is self.device:
                    return await self._run(first_lines, on_line)

    def pause_s(self, failures: int) -> float:
        """Seconds to wait before the next start, after that many failures in a row (1 or more)."""
        program = self._program
        # No jitter: each child belongs to one worker, so no crowd can form.
        return min(program.first_pause_s * 2.0 ** min(failures - 1, 32), program.longest_pause_s)

    async def pause(self, pause_s: float) -> None:
        """Wait before the next start; `forbid` ends the wait.

        What was forbidden and is allowed again is a new beginning: a person who switches lending
        back on should not wait for half a minute.
        """
        with trio.move_on_after(pause_s):
            await self._stop.wait()

    async def _run(
        self, first_lines: Callable[[], Iterable[bytes]], on_line: Callable[[bytes], None]
    ) -> str | None:
        # No checkpoint between the permission check and this line, so a `forbid` cannot get lost:
        # it either came before the check or sets this new event.
        self._stop, self._reads_nothing = trio.Event(), False
        program = self._program
        too_large: dict[Path, str] = {}
        try:
            process = await trio.lowlevel.open_process(
                list(program.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=dict(program.environment),
                **child.start_options(),
            )
        except FileNotFoundError as err:
            return f"it could not be started: {err.filename} is missing"
        except OSError as err:  # no memory or no process left: as good as a child that dies at once
            return f"it could not be started: {err}"
        reason = ""
        self.pid = process.pid
        child.end_with_us(process.pid)
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                self._unsent = deque(first_lines())
                nursery.start_soon(self._write, process)
                nursery.start_soon(self._cancel_when_stopped, nursery.cancel_scope)
                if program.cache or program.work:
                    nursery.start_soon(self._watch_disk, program, too_large, nursery.cancel_scope)
                reason = await self._read(process, on_line)
                nursery.cancel_scope.cancel()
        finally:
            self._nursery = None
            # Shielded: a worker that is cancelled still ends its children. An orphan would hold
            # GPU memory with nobody left to free it.
            with trio.CancelScope(shield=True):
                await end_process(process, program.grace_s)
                for folder in too_large:
                    with suppress(OSError):
                        await trio.to_thread.run_sync(files.empty_folder, folder)
            self.pid = None
        if self._reads_nothing:
            return f"it does not read its input: {UNSENT_LINES} lines wait"
        if too_large:
            return " and ".join(too_large.values())
        if self._stop.is_set():
            self.freed_in_s = trio.current_time() - self._stopped_s
            return None
        return reason

    async def _cancel_when_stopped(self, scope: trio.CancelScope) -> None:
        await self._stop.wait()
        scope.cancel()

    async def _watch_disk(
        self, program: ChildProgram, too_large: dict[Path, str], scope: trio.CancelScope
    ) -> None:
        while True:
            too_large |= await trio.to_thread.run_sync(
                self._find_too_large,
                program,
                # When the child is ended: a walk through many files must not hold that up.
                abandon_on_cancel=True,  # type: ignore[call-arg]  # libp2p brings older stubs
            )
            if too_large:
                break
            await trio.sleep(CACHE_CHECK_S)
        scope.cancel()

    def _find_too_large(self, program: ChildProgram) -> dict[Path, str]:
        """Find the folders that take more than they may, each with the reason in words."""
        limits = (
            (program.cache, CACHE_BYTES, "caches and temporary files"),
            (program.work, CACHE_BYTES + self.work_bytes, "working files"),
        )
        return {
            folder: f"its {what} took more than {most >> 30} GiB, or cannot be counted"
            for folder, most, what in limits
            if folder and is_larger(folder, most, CACHE_FILES)
        }

    async def _write(self, process: trio.Process) -> None:
        if process.stdin is None:
            raise AssertionError("the child has no input pipe")
        # A child that is gone is noticed by `_read`, with its exit status; here that is expected.
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                while self._unsent:
                    await process.stdin.send_all(self._unsent.popleft())
                self._has_unsent = trio.Event()
                await self._has_unsent.wait()

    async def _read(self, process: trio.Process, on_line: Callable[[bytes], None]) -> str:
        """Pass lines on until the child ends or misbehaves; returns what happened."""
        if process.stdout is None:
            raise AssertionError("the child has no output pipe")
        lines = LineBuffer(self._program.line_bytes)
        while True:
            with trio.move_on_after(self._program.silence_s) as silence:
                chunk = await process.stdout.receive_some(_READ_BYTES)
            if silence.cancelled_caught:
                return f"no sign of life for {self._program.silence_s:.0f} s"
            if not chunk:
                return await _how_it_ended(process, self._program.grace_s)
            lines.feed(chunk)
            try:
                # Once it is to stop, a last message stays the last one.
                while (line := lines.next_line()) is not None and not self._stop.is_set():
                    on_line(line)
            except MalformedError as err:
                return str(err)


async def end_process(process: trio.Process, grace_s: float = GRACE_S) -> None:
    """End a process: close its pipes, then SIGTERM, then SIGKILL, `grace_s` after each.

    What it started and left behind ends with it. Without signals (Windows), the last two are the
    same.
    """
    # End of input comes first because it is the only request that every platform has and that a
    # child meets in its own reading loop, where it can finish a write. Its output goes too, so that
    # a child that blocks on a full pipe wakes up with an error.
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            await stream.aclose()
    for signal_it in (None, process.terminate, process.kill):
        if signal_it is not None:
            with suppress(ProcessLookupError):  # it ended between the wait and the signal
                signal_it()
        with trio.move_on_after(grace_s):
            await process.wait()
            break
    # After SIGKILL too, no waiting without a limit: a process stuck in a driver call cannot be
    # killed by anybody, and the worker must still answer its user.
    child.end_group(process.pid)


async def _how_it_ended(process: trio.Process, grace_s: float) -> str:
    # A closed output is usually an exit, but a child may also close it and hang.
    with trio.move_on_after(grace_s):
        await process.wait()
    status = process.returncode
    return "it closed its output" if status is None else f"exit status {status}"


def child_environment() -> dict[str, str]:
    """The variables that every child gets: enough to find its libraries and devices, no secret."""
    # A list of what passes, not of what is held back: secrets come under names nobody foresees.
    return {
        name: value
        for name, value in os.environ.items()
        if name in _NAMES or name.startswith(_PREFIXES)
    }


def confined_variables(rules: SandboxRules, cache: Path) -> dict[str, str]:
    """The variables of a child in a sandbox, with caches of its own; raises OSError."""
    numba = {"NUMBA_CACHE_DIR": str(cache), "TOKENIZERS_PARALLELISM": "false"}
    return {**child_environment(), **numba, **sandbox.environment(rules, cache)}


def is_larger(folder: Path, most_bytes: int, most_files: int) -> bool:
    """Check if the files below a folder take more, or cannot be counted; stops counting there."""
    size = count = 0

    def check(err: OSError) -> None:
        # Otherwise deleted meanwhile, or this program has too many files open. Windows opens no
        # folder that is being deleted.
        if os.name == "posix" and err.errno in _UNCOUNTABLE:
            raise err

    try:
        for entries, taken in files.sizes_below(folder, check):
            count, size = count + entries, size + taken
            if size > most_bytes or count > most_files:
                return True
    except OSError:
        return True
    return False
