"""A real PostgreSQL for tests: in a temporary folder, on a free loopback port.

It does not sync to disk: tests kill our processes, never the database.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

USER = "tequio"
_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
_FAST = ("fsync=off", "synchronous_commit=on", "full_page_writes=off", "max_connections=200")
_PATIENCE_S = 60


@dataclass(slots=True, kw_only=True)
class Cluster:
    """A running server; each test creates its own databases."""

    port: int
    pid: int
    _admin: Engine
    _count: int = 0

    def database(self, template: str = "") -> str:
        """Create an empty database, or a copy of the one at a URL; returns its URL."""
        self._count += 1
        name = f"test_{os.getpid()}_{self._count}"
        source = f" TEMPLATE {template.rpartition('/')[2]}" if template else ""
        with self._admin.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}{source}"))
        return url(self.port, name)

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement as the superuser; returns its rows."""
        with self._admin.connect() as connection:
            found = connection.execute(text(statement))
            return [tuple(row) for row in found] if found.returns_rows else []


def url(port: int, name: str) -> str:
    """The URL of a database."""
    return f"postgresql+psycopg://{USER}@127.0.0.1:{port}/{name}"


def binaries() -> Path | None:
    """The folder of the newest version's programs; None if PostgreSQL is not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = (path for one in _FOLDERS for path in Path("/").glob(one.removeprefix("/")))
    return max((path for path in folders if (path / "initdb").exists()), default=None)


@contextmanager
def cluster(programs: Path, options: tuple[str, ...] = _FAST) -> Iterator[Cluster]:
    """Run a server until the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="tequio-postgres-", dir="/tmp"))
    who = _unprivileged()
    try:
        if who is not None:
            os.chown(folder, who.pw_uid, who.pw_gid)
        with _running(programs, folder, who, options) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    """The user to run PostgreSQL as, since it refuses root; None: the current user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise AssertionError("root needs a user postgres or nobody to run PostgreSQL as")


@contextmanager
def _running(
    programs: Path, folder: Path, who: pwd.struct_passwd | None, options: tuple[str, ...]
) -> Iterator[Cluster]:
    rows = folder / "rows"
    port = free_port()
    given = (*options, f"port={port}", "listen_addresses=127.0.0.1")
    settings = [f"-c{one}" for one in (*given, f"unix_socket_directories={folder}")]
    make: list[Path | str] = [programs / "initdb", "-D", rows, "-U", USER, "-A", "trust"]
    _run([*make, "-E", "UTF8", "--no-sync", "--locale=C"], who, folder)
    log = (folder / "log").open("wb")
    with (
        log,
        subprocess.Popen(
            [programs / "postgres", "-D", rows, *settings],
            user=who.pw_uid if who else None,
            group=who.pw_gid if who else None,
            extra_groups=[] if who else None,
            cwd=folder,
            stdout=log,
            stderr=log,
        ) as server,
    ):
        admin = create_engine(url(port, "postgres"), isolation_level="AUTOCOMMIT")
        try:
            ready = ["-h", "127.0.0.1", "-p", str(port), "-t", str(_PATIENCE_S)]
            _wait(programs, ready, server, folder)
            yield Cluster(port=port, pid=server.pid, _admin=admin)
        finally:
            admin.dispose()
            server.send_signal(2)  # SIGINT: end the sessions and stop
            server.wait(_PATIENCE_S)


def _wait(programs: Path, ready: list[str], server: subprocess.Popen[bytes], folder: Path) -> None:
    for _ in range(_PATIENCE_S * 10):
        done = subprocess.run([programs / "pg_isready", *ready], check=False, capture_output=True)
        if done.returncode == 0:
            return
        try:
            server.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"PostgreSQL does not start: {(folder / 'log').read_text()}")


def _run(command: list[Path | str], who: pwd.struct_passwd | None, folder: Path) -> None:
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        user=who.pw_uid if who else None,
        group=who.pw_gid if who else None,
        extra_groups=[] if who else None,
    )
    assert done.returncode == 0, done.stderr


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        found: int = one.getsockname()[1]
    return found
