"""A private X server for tests, with a window manager and simulated input."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

WAIT_S = 30.0
WINDOW = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
app = QApplication(["pretend-game"])
window = QWidget()
window.setWindowTitle("pretend")
{"full": window.showFullScreen, "plain": window.show}[sys.argv[1]]()
window.activateWindow()
app.exec()
"""


class PrivateDisplay:
    """An X server; leaving the block ends it and every program started on it."""

    def __init__(self, size: str = "640x480") -> None:
        reads, writes = os.pipe()
        command = [
            "Xvfb",
            "-displayfd",
            str(writes),
            "-screen",
            "0",
            f"{size}x24",
            "-nolisten",
            "tcp",
            "-noreset",  # or it restarts after its last client and drops new ones
        ]
        self.server = subprocess.Popen(command, pass_fds=[writes], stderr=subprocess.DEVNULL)
        os.close(writes)
        with os.fdopen(reads) as output:
            self.name = f":{output.readline().strip()}"
        self.environ = {"DISPLAY": self.name, "HOME": "/nonexistent"}
        self._others: list[subprocess.Popen[bytes]] = []

    def manage(self) -> None:
        """Start a window manager, and wait until it is ready."""
        self._start(["openbox", "--sm-disable"])
        query = ("xprop", "-root", "_NET_SUPPORTING_WM_CHECK")
        wait_until(lambda: "window id" in self._output(*query))

    def window(self, how: str) -> subprocess.Popen[bytes]:
        """Open a window, `full` or `plain`, and wait until it is the active one."""
        program = self._start([sys.executable, "-c", WINDOW, how], QT_QPA_PLATFORM="xcb")

        def is_active() -> bool:
            assert program.poll() is None, "Qt's xcb plug-in lacks a library, libxcb-cursor0 or so"
            return self._output("xdotool", "getactivewindow", "getwindowpid") == f"{program.pid}\n"

        wait_until(is_active)
        return program

    def touch(self) -> None:
        """Move the mouse, as a user does."""
        self._output("xdotool", "mousemove_relative", "--", "3", "2")
        self._output("xdotool", "mousemove_relative", "--", "-3", "-2")

    def take_picture(self, title: str, path: Path) -> int:
        """Wait for a window whose title begins so, photograph the screen, and count its colours."""
        wait_until(
            lambda: self._output("xdotool", "search", "--onlyvisible", "--name", title) != ""
        )
        self._output("xdotool", "sleep", "2")  # a window appears before its contents
        path.parent.mkdir(parents=True, exist_ok=True)
        self._output("import", "-window", "root", str(path))
        return int(self._output("identify", "-format", "%k", str(path)))

    def close(self, program: subprocess.Popen[bytes]) -> None:
        """End a program that was started here."""
        program.kill()
        program.wait()
        self._others.remove(program)

    def _start(self, command: list[str], **changes: str) -> subprocess.Popen[bytes]:
        program = subprocess.Popen(
            command, env=os.environ | {"DISPLAY": self.name} | changes, stderr=subprocess.DEVNULL
        )
        self._others.append(program)
        return program

    def _output(self, *command: str) -> str:
        done = subprocess.run(
            command,
            env=os.environ | {"DISPLAY": self.name},
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_S,
        )
        return done.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for program in list(self._others):
            self.close(program)
        self.server.kill()
        self.server.wait()


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until the condition holds; raises AssertionError after `WAIT_S`."""
    deadline_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
