"""The real `tequio-ledger`, forked from a warm process, that dies or fails at a named write.

A program: reads one order a line (JSON) from standard input and answers with one line. An order
`start` forks a child that runs the command line as a shell would; `wait` gives a child's exit
status, negative for the signal that ended it.

The points are every write that the service makes: what it does to files (`open`, `sync`, `rename`,
`mkdir`, each with the kind of the file), every writing SQL statement (`insert log_entry`), every
`commit` with the table last written, and `written`, when a batch is on the disk and nobody has
been told. A fault strikes before the write that the point names, at its n-th passage since the
start, or since the program serves.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import Engine, event

import tequio_ledger.__main__ as program
from tequio_ledger import app as service
from tequio_ledger.log.log import Log
from tests.support.interception import intercept, intercept_function
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from collections.abc import Callable

KILL, FULL = "kill", "full"
PATIENCE_S = 60.0
_WRITING = re.compile(
    r"\s*(INSERT|UPDATE|DELETE|CREATE|DROP|ALTER)\W+(?:.*?\b(?:INTO|TABLE|INDEX)\s+)?(\w+)"
)
_BLOB = re.compile(r"[0-9a-f]{64}(-\d+)?")


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A failure and the place where it strikes."""

    point: str
    passage: int = 1
    does: str = KILL
    served: bool = False
    """Count passages only once the program serves."""


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of standard input."""

    start: list[str] | None = None
    log: str = ""
    """File for the child's standard error."""
    fault: Fault | None = None
    trace: str | None = None
    """File to write every point to that is passed."""
    wait: int | None = None


class Points:
    """Counts passages and strikes."""

    def __init__(self, fault: Fault | None, trace: str | None) -> None:
        self._fault = fault
        self._trace = Path(trace).open("a", buffering=1) if trace else None  # noqa: SIM115 - lives as long as the child
        self._passages = 0
        self._is_armed = fault is not None and not fault.served
        self._table = "nothing"

    def serve(self) -> None:
        """Count from here on when the fault waits for a program that serves."""
        self._is_armed = self._fault is not None
        if self._trace:
            self._trace.write("served\n")

    def statement(self, sql: str) -> None:
        """Pass a writing SQL statement."""
        found = _WRITING.match(sql)
        if found:
            self._table = found[2]
            self.pass_(f"{found[1].lower()} {found[2]}")

    def commit(self) -> None:
        """Pass a commit, if anything was written."""
        if self._table != "nothing":
            table, self._table = self._table, "nothing"
            self.pass_(f"commit {table}")

    def pass_(self, point: str) -> None:
        """Strike when this is the place."""
        if self._trace:
            self._trace.write(point + "\n")
        fault = self._fault
        if fault is None or not self._is_armed or point != fault.point:
            return
        self._passages += 1
        if self._passages < fault.passage:
            return
        if fault.does == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        self._is_armed = False  # a disk that was full once
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def main() -> None:
    """Carry out orders until standard input ends."""
    with TemporaryDirectory() as folder, opened(make_settings(Path(folder)), VirtualClock()):
        pass  # what a first start loads and compiles is there before the first fork
    for line in sys.stdin:
        order = msgspec.json.decode(line, type=Order)
        if order.wait is not None:
            answer = _wait(order.wait)
        else:
            answer = os.fork()
            if answer == 0:
                _run(order)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _wait(pid: int) -> int:
    """Wait for the end of a child; one whose fault never strikes is stopped: no test hangs."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGTERM)
            deadline = math.inf
        time.sleep(0.005)


def _run(order: Order) -> None:
    handle = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(handle, 2)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    _hook(Points(order.fault, order.trace))
    sys.argv = ["tequio-ledger", *(order.start or ())]
    status = 0
    try:
        program.main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stderr.flush()
        os._exit(status)


def _hook(points: Points) -> None:
    """Count the program's writes, and strike at the one of the fault."""

    def pass_before(owner: object, name: str, point: Callable[..., str | None]) -> None:
        def pass_(*arguments: object) -> None:
            where = point(*arguments)
            if where is not None:
                points.pass_(where)

        intercept(owner, name, before=pass_)

    pass_before(os, "fsync", lambda handle, *_: f"sync {_kind(_opened(handle))}")
    pass_before(Path, "rename", lambda path, *_: f"rename {_kind(path)}")
    pass_before(Path, "mkdir", lambda path, *_: f"mkdir {_kind(path)}")
    pass_before(Path, "open", _opening)
    event.listen(Engine, "before_cursor_execute", lambda *given: points.statement(given[2]))
    event.listen(Engine, "commit", lambda _connection: points.commit())
    intercept_function(Log.append, after=lambda *_: points.pass_("written"))
    intercept_function(service._announce, after=lambda *_: points.serve())  # noqa: SLF001 - no public seam


def _opening(path: Path, mode: str = "r", *_: object) -> str | None:
    return None if "r" in mode else f"open {_kind(path)}"


def _opened(handle: int) -> Path:
    return Path(f"/proc/self/fd/{handle}").readlink()


def _kind(path: Path) -> str:
    """Name a file without what differs from run to run."""
    if _BLOB.fullmatch(path.name):
        return "blob"
    return "folder" if path.is_dir() or not path.suffix else path.name


if __name__ == "__main__":
    main()
