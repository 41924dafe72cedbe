"""A child process and its parent: its start, priority and output pipe, and its end with its parent.

The parent starts it with `start_options`, and on Windows hands it to the system with `end_with_us`;
the child calls `end_with_parent` first of all, and before that `lower_priority` if it computes. End
of input reports the parent's end too, but only once something reads it, after seconds of imports.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psutil

PARENT_POLL_S = 0.25
_NICENESS, _BELOW_NORMAL = 10, 0x4000  # the latter is Windows' priority class
_ATTEMPTS = 20


def start_options() -> dict[str, Any]:
    """Options of `subprocess.Popen` for a child: Ctrl-C in a terminal reaches its parent alone.

    On Windows that takes a console of its own, which has no window.
    """
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def end_with_us(pid: int) -> None:
    """On Windows, have the system end this child as soon as this process has ended, however.

    Does nothing on other systems, and if the child has ended already.
    """
    # It covers what the child itself cannot: a call into a driver that never returns, and programs
    # that it has started in turn.
    if sys.platform == "win32":
        job, kernel32 = _job(), _kernel32()
        child = kernel32.OpenProcess(_SET_QUOTA | _TERMINATE, 0, pid)
        if child:
            kernel32.AssignProcessToJobObject(job, child)
            kernel32.CloseHandle(child)


def end_group(pid: int) -> None:
    """End what a child started and left behind, at once; on Windows, its job does so with ours.

    For a child with `start_options`, which leads a group; a confined one cannot leave its group.
    """
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):  # nobody is left; macOS: all are dead
            os.killpg(pid, signal.SIGKILL)


def lower_priority(pid: int) -> None:
    """Let other programs go first; a process that has ended stays as it is.

    On Linux each thread has a priority, which it passes on to those that it starts: call it before
    the process has a second one.
    """
    # Desktops of Linux first divide the processor among sessions, whatever the priority of their
    # processes: a child that leads one lowers the session's too (sched(7), autogroup).
    with suppress(OSError):
        if sys.platform == "linux" and os.getsid(pid) == pid:
            _lower_session(Path(f"/proc/{pid}/autogroup"))
    with suppress(psutil.Error, OSError):
        psutil.Process(pid).nice(_BELOW_NORMAL if sys.platform == "win32" else _NICENESS)


def _lower_session(autogroup: Path) -> None:
    # The kernel takes one such request of ordinary users in 100 ms, and the trainers of several
    # cards start at once: each waits for another time.
    for _ in range(_ATTEMPTS):
        try:
            autogroup.write_text(str(_NICENESS), "ascii")
        except BlockingIOError:
            time.sleep(0.1 + os.getpid() % 64 / 1_000)
        else:
            return


def end_with_parent() -> None:
    """End this process soon after its parent has ended: nothing else would."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    if sys.platform == "win32":
        _wait_for_end(parent)
        return
    # PR_SET_PDEATHSIG of Linux does not serve: it is sent when the *thread* that started us ends,
    # and a worker starts us from a thread pool.
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    if os.getpgrp() == os.getpid():
        end_group(os.getpid())
    os._exit(0)


class ParentPipe:
    """The only writer to the parent, from any thread; owns the descriptor of standard output."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor = os.dup(sys.stdout.fileno())
        os.dup2(
            sys.stderr.fileno(), sys.stdout.fileno()
        )  # libraries print: keep that out of our lines

    def send(self, line: bytes) -> None:
        """Write a line; ends the process when the parent has closed the pipe."""
        left = memoryview(line)
        with self._lock:
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                os._exit(0)


# Windows: processthreadsapi.h, jobapi2.h, winnt.h, for 64 bits.

_SYNCHRONIZE, _TERMINATE, _SET_QUOTA = 0x100000, 0x1, 0x100
_NO_SUCH_PROCESS = 87  # ERROR_INVALID_PARAMETER
_FOREVER = 0xFFFFFFFF
_EXTENDED_LIMITS, _KILL_ON_CLOSE = 9, 0x2000


class _JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION, of which the flags alone are set."""

    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("times", ctypes.c_int64 * 2),
        ("flags", ctypes.c_uint32),
        ("rest", ctypes.c_uint64 * 15),
    ]


@cache
def _kernel32() -> Any:  # noqa: ANN401 - typed on Windows only
    if sys.platform == "win32":
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        handle, number = ctypes.c_void_p, ctypes.c_uint32
        kernel32.OpenProcess.restype = kernel32.CreateJobObjectW.restype = handle
        kernel32.OpenProcess.argtypes = (number, ctypes.c_int, number)
        kernel32.WaitForSingleObject.argtypes = (handle, number)
        kernel32.CreateJobObjectW.argtypes = (handle, ctypes.c_wchar_p)
        kernel32.SetInformationJobObject.argtypes = (handle, ctypes.c_int, handle, number)
        kernel32.AssignProcessToJobObject.argtypes = (handle, handle)
        kernel32.CloseHandle.argtypes = (handle,)
        return kernel32
    raise AssertionError("only Windows has it")


def _last_error() -> int:
    if sys.platform == "win32":
        return ctypes.get_last_error()
    return 0


@cache
def _job() -> int | None:
    """A job whose last handle is this process's own: the system ends the job's programs with it."""
    kernel32, limits = _kernel32(), _JobLimits(flags=_KILL_ON_CLOSE)
    job: int | None = kernel32.CreateJobObjectW(None, None)
    kernel32.SetInformationJobObject(
        job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
    )
    return job


def _wait_for_end(parent: int) -> None:
    """End this process once the parent has ended; returns if it cannot be watched."""
    # Its number alone would tell nothing: Windows keeps it in the child, and gives it away again.
    kernel32 = _kernel32()
    opened = kernel32.OpenProcess(_SYNCHRONIZE, 0, parent)
    if opened:
        kernel32.WaitForSingleObject(opened, _FOREVER)
    if opened or _last_error() == _NO_SUCH_PROCESS:
        os._exit(0)
