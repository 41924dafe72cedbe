"""The app as a user starts it: a separate process, with the test's own folders."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

PATIENCE_S = 90.0
"""How long to wait for the app: its start reads a hundred megabytes."""
NOWHERE = "http://127.0.0.1:9"
"""A ledger address where nothing answers."""


class AppProcess:
    """One app; leaving the block ends it and its worker."""

    def __init__(
        self, folder: Path, *options: str, environ: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder / "worker"
        self._runtime = tempfile.TemporaryDirectory(prefix="tequio-run-")  # a short path: sockets
        self._environ = {
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "XDG_RUNTIME_DIR": self._runtime.name,
            "XDG_CONFIG_HOME": str(folder / "config"),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/no-bus",
            **(environ or {}),
        }
        self._log = (folder / "app.log").open("ab")
        self.process = self.start(*options)

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start the app (again)."""
        command = [sys.executable, "-m", "tequio_client", "app", "--ledger", NOWHERE]
        command += ["--dir", str(self.folder), *options]
        return subprocess.Popen(command, env=self._environ, stdout=self._log, stderr=self._log)

    def workers(self) -> list[int]:
        """Processes that the app has started."""
        return children(self.process.pid)

    def log(self) -> str:
        """The app's log so far."""
        return Path(self._log.name).read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._log.close()
        self._runtime.cleanup()


def children(parent: int) -> list[int]:
    """Processes with that parent."""
    found: list[int] = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        found += [int(pid) for pid in task.read_text().split()]
    return found


def is_alive(pid: int) -> bool:
    """True while the process runs; False for a zombie too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(holds: Callable[[], object], timeout_s: float) -> None:
    """Return as soon as the condition holds; raises TimeoutError."""
    end = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {timeout_s} s")
        time.sleep(0.02)
