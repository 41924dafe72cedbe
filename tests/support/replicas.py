"""Several real processes of one ledger on one PostgreSQL, with their blobs in one folder."""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from tests.support.killable_ledger import ledger_forker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.ids import NetworkId
    from tests.support.killable_ledger import ForkedLedger, LedgerForker

PATIENCE_S = 90.0
_POLL_S = 0.02
_KEYS = ("log.key", "log.signed", "coordinator.key")


@dataclass(slots=True, kw_only=True)
class LedgerReplica:
    """One process."""

    folder: Path
    child: ForkedLedger
    url: str
    net: NetworkId
    is_running: bool = True

    def wait_for(self, name: str, count: int = 1) -> dict[str, object]:
        """Wait until it has logged `count` events of that name; returns the last one."""
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            found = self.child.events(name)
            if len(found) >= count:
                return found[-1]
            time.sleep(_POLL_S)
        raise AssertionError(f"no {name!r} in:\n{self.child.log_text()}")

    def kill(self) -> None:
        """End it as a power cut would."""
        os.kill(self.child.pid, signal.SIGKILL)
        self.is_running = False
        self.child.wait()

    def freeze(self) -> None:
        """Suspend the process; it keeps its locks and connections."""
        os.kill(self.child.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume the process as if no time had passed."""
        os.kill(self.child.pid, signal.SIGCONT)

    def size(self) -> int:
        """The size of the checkpoint that it serves."""
        return int(httpx.get(f"{self.url}/log/checkpoint", timeout=10).text.split("\n")[1])

    def wait_until(self, size: int) -> None:
        """Wait until it serves at least `size` entries."""
        deadline_s = time.monotonic() + PATIENCE_S
        while self.size() < size:
            assert time.monotonic() < deadline_s, f"stays at {self.size()} of {size} entries"
            time.sleep(_POLL_S)


class ReplicaGroup:
    """All replicas of a test; each has its own folder, with the network's keys."""

    def __init__(self, folder: Path, database: str, forker: LedgerForker) -> None:
        self._folder = folder
        self._forker = forker
        self._database = database
        self.members: list[LedgerReplica] = []

    def start(self, database: str | None = None, *options: str) -> LedgerReplica:
        """Start a replica, by default on the common database, and wait until it serves."""
        number = len(self.members)
        folder = self._folder / f"member-{number}"
        if self.members:
            folder.mkdir(mode=0o700, parents=True)
            for key in _KEYS:
                shutil.copy(self.members[0].folder / key, folder / key)
        return self._run(folder, database, *options)

    def restart(self, member: LedgerReplica) -> LedgerReplica:
        """Start a replica again that has ended."""
        return self._run(member.folder, None)

    def leader(self) -> LedgerReplica:
        """Wait until exactly one replica writes the log, by its own log events; returns it."""
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            running = [one for one in self.members if one.is_running]
            leading = [one for one in running if _leads(one)]
            if len(leading) == 1:
                return leading[0]
            time.sleep(_POLL_S)
        raise AssertionError("nobody writes the log")

    def _run(self, folder: Path, database: str | None, *options: str) -> LedgerReplica:
        blobs = (self._folder / "blobs").as_uri()
        places = ("--blobs", blobs, "--database", database or self._database)
        child = self._forker.start(folder, None, *places, *options)
        url, net = child.served()
        member = LedgerReplica(folder=folder, child=child, url=url, net=net)
        self.members.append(member)
        return member


@contextmanager
def replica_group(folder: Path, database: str) -> Iterator[ReplicaGroup]:
    """Run replicas until the end of the block."""
    with ledger_forker(folder) as forker:
        yield ReplicaGroup(folder, database, forker)


def _leads(member: LedgerReplica) -> bool:
    names = ("writes the log", "writes the log no longer")
    first, last = (len(member.child.events(name)) for name in names)
    return first > last
