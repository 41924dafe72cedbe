"""The real `tequio-ledger`, forked, that dies or fails at a named write.

The points are every write that the service makes: what it does to files (`open`, `sync`, `rename`,
`mkdir`, each with the kind of the file), every writing SQL statement (`insert log_entry`), every
`commit` with the table last written, and `written`, when a batch is on the disk and nobody has
been told. A fault strikes before the write that the point names, at its n-th passage since the
start, or since the program serves.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import Engine, event

from tequio_ledger import app as service
from tequio_ledger.log.log import Log
from tequio_shared.ids import NetworkId, from_text, to_text
from tests.support import forked_program
from tests.support.authors import WORK_BITS
from tests.support.forked_program import ForkedProgram
from tests.support.interception import intercept, intercept_function
from tests.support.ledgers import ORGANISER, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KILL, FULL = "kill", "full"
PATIENCE_S = 60.0
OPTIONS = (
    *("--network", "test", "--origin", "ledger.example/test", "--port", "0", "--log-json"),
    *("--organiser", to_text(ORGANISER.key), "--work-bits", str(WORK_BITS), *UNLIMITED),
)
_POLL_S = 0.01
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


class Hooks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Changes to a forked ledger: a fault, and a record of what it passes."""

    fault: Fault | None = None
    trace: str | None = None
    """File that gets every point that is passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkedLedger:
    """A ledger process, running or ended."""

    program: ForkedProgram
    log: Path

    @property
    def pid(self) -> int:
        return self.program.pid

    def served(self) -> tuple[str, NetworkId]:
        """Wait until it serves; return its address and network, or raise AssertionError."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for fields in self.events("tequio-ledger serves"):
                return str(fields["url"]), NetworkId(from_text(str(fields["network_id"])))
            time.sleep(_POLL_S)
        raise AssertionError(self.log_text())

    def events(self, name: str) -> list[dict[str, object]]:
        """Return the fields of every event that it logged under a name."""
        lines = (line for line in self.log_text().splitlines() if line.endswith("}"))
        fields = [json.loads(line) for line in lines if line.startswith("{")]
        return [one for one in fields if one.get("event") == name]

    def log_text(self) -> str:
        """Return all that it wrote to its standard error."""
        return self.log.read_text() if self.log.exists() else ""

    def wait(self) -> int:
        """Wait for its end; return its exit status, negative for the signal that ended it.

        A ledger whose fault never strikes is stopped: no test hangs.
        """
        try:
            return self.program.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            return self.stop()

    def stop(self) -> int:
        """Stop it with SIGTERM; return its exit status."""
        self.program.terminate()
        return self.program.wait(PATIENCE_S)


class LedgerForker:
    """Starts ledgers, each with a log file of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[ForkedProgram] = []

    def start(
        self, folder: Path, fault: Fault | None = None, *options: str, trace: Path | None = None
    ) -> ForkedLedger:
        """Start `tequio-ledger serve` on a folder."""
        log = self._folder / f"ledger-{len(self._started) + 1}.log"
        hooks = Hooks(fault=fault, trace=str(trace) if trace else None)
        program = ForkedProgram(
            forked_program.LEDGER,
            *("serve", "--dir", str(folder), *OPTIONS, *options),
            stderr=log,
            setup=(f"{__name__}:install", msgspec.json.encode(hooks).decode()),
        )
        self._started.append(program)
        return ForkedLedger(program=program, log=log)

    def close(self) -> None:
        """Kill every ledger that still runs."""
        for program in self._started:
            program.kill()
            program.wait()


@contextmanager
def ledger_forker(folder: Path) -> Iterator[LedgerForker]:
    """Fork ledgers until the end of the block, which kills those that still run."""
    forker = LedgerForker(folder)
    try:
        yield forker
    finally:
        forker.close()


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


def install(content: str) -> None:
    """Count this program's writes, and strike at the one of the fault."""
    hooks = msgspec.json.decode(content, type=Hooks)
    points = Points(hooks.fault, hooks.trace)

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
