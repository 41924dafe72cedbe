"""The ledger as a process, and the databases of the measurements."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import postgres

from tequio_ledger.config.settings import LedgerSettings
from tequio_shared.ids import NetworkId, from_text, sha256, to_text
from tequio_shared.keys import Signer

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

UNLIMITED = (
    *("--key-rate", "0", "--address-rate", "0", "--request-rate", "0"),
    *("--address-streams", "0", "--work-bits", "0"),
)
DURABLE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "max_connections=100")
KINDS = ("sqlite", "postgresql")
POLL_S = 0.02


ORGANISER = Signer(sha256(b"the bench's organiser"))


def settings_of(folder: Path, database: str = "") -> LedgerSettings:
    """The settings of a ledger that requires no proof of work from new keys."""
    return LedgerSettings(
        folder=folder, database=database, work_bits=0, organisers=(ORGANISER.key,)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerProgram:
    """A running ledger."""

    process: subprocess.Popen[bytes]
    url: str
    net: NetworkId

    def resident_bytes(self) -> int:
        """Resident memory of the process (Linux)."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def cpu_s(self) -> float:
        """Processor time so far, of all threads (Linux)."""
        return sum(_stat(self.process.pid)[11:13]) / os.sysconf("SC_CLK_TCK")


def tree_cpu_s(pid: int) -> float:
    """Processor time so far of a process and of its children, ended ones too (Linux)."""
    children = [
        one
        for one in Path("/proc").glob("[0-9]*/stat")
        if (found := _stat(one)) and found[1] == pid
    ]
    ticks = sum(_stat(pid)[11:15]) + sum(sum(_stat(one)[11:13]) for one in children)
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: int | Path) -> list[int]:
    """The numbers of a process after its name and state; zeros for one that has ended."""
    path = Path(f"/proc/{process}/stat") if isinstance(process, int) else process
    try:
        fields = path.read_text().rpartition(")")[2].split()
    except OSError:
        return [0] * 16
    return [0, *(int(one) for one in fields[1:16])]


@contextmanager
def databases(kind: str) -> Iterator[list[str]]:
    """URLs of three empty databases; "" is SQLite in the ledger's folder."""
    if kind == "sqlite":
        yield ["", "", ""]
        return
    programs = postgres.binaries()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed: run installer/setup.sh tools")
    with postgres.cluster(programs, DURABLE) as server:
        yield [server.database() for _ in range(3)]


@contextmanager
def served(folder: Path, database: str, *options: str) -> Iterator[LedgerProgram]:
    """Start `tequio-ledger serve` and wait until it serves."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tequio_ledger", "serve", "--dir", str(folder), *UNLIMITED]
    place = ["--organiser", to_text(ORGANISER.key)]
    if database:
        place += ["--database", database]
    with ExitStack() as stack:
        log = stack.enter_context((folder / "said").open("wb"))
        # With its modules compiled after the first start, as in every installation.
        env = {**os.environ}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        command += ["--port", "0", "--log-json", *place, *options]
        process = subprocess.Popen(command, stderr=log, env=env)
        stack.callback(_end, process)
        fields = _first(folder / "said", process)
        net = NetworkId(from_text(fields["network_id"]))
        yield LedgerProgram(process=process, url=fields["url"], net=net)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        print("the ledger was killed: it did not stop within 60 s", file=sys.stderr)
        process.kill()
        process.wait()


def _first(log: Path, process: subprocess.Popen[bytes]) -> dict[str, str]:
    """Wait for the log line that reports that it serves."""
    while True:
        for line in log.read_text().splitlines():
            if line.endswith("}") and '"tequio-ledger serves"' in line:
                fields: dict[str, str] = json.loads(line)
                return fields
        try:
            process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            continue
        raise SystemExit(f"the ledger ended: {log.read_text()}")
