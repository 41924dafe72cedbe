"""Several real processes of one ledger on one PostgreSQL, with their blobs in one folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from tequio_shared.ids import NetworkId, from_text, to_text
from tests.support.authors import WORK_BITS
from tests.support.ledgers import ORGANISER, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_S = 40.0
_POLL_S = 0.02
NOBODY = NetworkId(bytes(32))
_KEYS = ("log.key", "coordinator.key")


@dataclass(slots=True, kw_only=True)
class Member:
    """One process."""

    folder: Path
    process: subprocess.Popen[bytes]
    log: Path
    url: str = ""
    net: NetworkId = NOBODY

    def events(self, name: str) -> list[dict[str, object]]:
        """What it logged under that name."""
        lines = self.log.read_text().splitlines()
        fields = [json.loads(line) for line in lines if line[:1] == "{" and line[-1:] == "}"]
        return [one for one in fields if one.get("event") == name]

    def wait_for(self, name: str, count: int = 1) -> dict[str, object]:
        """Wait until it logged that so often; gives the last of them."""
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s and self.process.poll() is None:
            found = self.events(name)
            if len(found) >= count:
                return found[-1]
            time.sleep(_POLL_S)
        raise AssertionError(f"no {name!r} in:\n{self.log.read_text()}")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait(10)

    def freeze(self) -> None:
        """Let it do nothing at all, and keep all that it holds."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on as if no time had passed."""
        self.process.send_signal(signal.SIGCONT)

    def size(self) -> int:
        """Entries under the checkpoint that it serves."""
        return int(httpx.get(f"{self.url}/log/checkpoint", timeout=10).text.split("\n")[1])

    def wait_until(self, size: int) -> None:
        """Wait until it serves so many entries."""
        deadline_s = time.monotonic() + PATIENCE_S
        while self.size() < size:
            assert time.monotonic() < deadline_s, f"stays at {self.size()} of {size} entries"
            time.sleep(_POLL_S)


class Team:
    """All processes of a test; each has a folder of its own, with the network's keys."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        self._database = database
        self.members: list[Member] = []

    def start(self, database: str | None = None, *options: str) -> Member:
        """Start a process, perhaps with a database URL of its own, and wait until it serves."""
        number = len(self.members)
        folder = self._folder / f"member-{number}"
        if self.members:
            folder.mkdir(mode=0o700, parents=True)
            for key in _KEYS:
                shutil.copy(self.members[0].folder / key, folder / key)
        return self._run(folder, database, *options)

    def restart(self, member: Member) -> Member:
        """Start one again that has ended."""
        return self._run(member.folder, None)

    def leader(self) -> Member:
        """Wait for the one that writes the log, as its own log says."""
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            running = [one for one in self.members if one.process.poll() is None]
            leading = [one for one in running if _leads(one)]
            if len(leading) == 1:
                return leading[0]
            time.sleep(_POLL_S)
        raise AssertionError("nobody writes the log")

    def close(self) -> None:
        """End all."""
        for member in self.members:
            member.process.kill()
            member.process.wait(10)

    def _run(self, folder: Path, database: str | None, *options: str) -> Member:
        log = self._folder / f"process-{len(self.members)}.log"
        network = ("--network", "test", "--origin", "ledger.example/test", "--port", "0")
        organiser = ("--organiser", to_text(ORGANISER.key), "--work-bits", str(WORK_BITS))
        places = ("--dir", str(folder), "--blobs", (self._folder / "blobs").as_uri())
        rows = ("--database", database or self._database, "--log-json")
        command = [sys.executable, "-m", "tequio_ledger", "serve"]
        with log.open("wb") as said:
            process = subprocess.Popen(
                [*command, *network, *organiser, *places, *rows, *UNLIMITED, *options],
                stderr=said,
                env={**os.environ, "PYTHONWARNINGS": "default"},
            )
        member = Member(folder=folder, process=process, log=log)
        self.members.append(member)
        serves = member.wait_for("tequio-ledger serves")
        member.url, member.net = str(serves["url"]), NetworkId(from_text(str(serves["network_id"])))
        return member


@contextmanager
def teamed(folder: Path, database: str) -> Iterator[Team]:
    """Run processes until the end of the block."""
    team = Team(folder, database)
    try:
        yield team
    finally:
        team.close()


def _leads(member: Member) -> bool:
    names = ("writes the log", "writes the log no longer")
    lines = member.log.read_text().splitlines()
    said = [json.loads(line)["event"] for line in lines if line[:1] == "{" and line[-1:] == "}"]
    last = [one for one in said if one in names]
    return bool(last) and last[-1] == names[0]
