"""A desktop without a screen: X server, window manager and a panel with a tray, each a process."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

from tests.support.app_process import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

NEEDED = ("Xvfb", "openbox", "tint2", "xdotool", "xprop", "import")
LOOK_S = 0.5
TIMES = 5
SIZE = (1400, 900)
_PANEL = """
panel_items = S
panel_size = 300 40
panel_position = bottom right horizontal
systray_padding = 4 4 4
systray_icon_size = 24
"""


def is_there() -> bool:
    """Check that all programs of the desktop are installed."""
    return all(shutil.which(name) for name in NEEDED)


class Desktop:
    """One desktop; leaving the block ends it and every program on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        read, write = os.pipe()
        width, height = SIZE
        screen = f"{width}x{height}x24"
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", screen, "-nolisten", "tcp"]
        command.append("-noreset")  # or it restarts after each client and drops new ones
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._server = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as output:
            self.display = f":{output.readline().strip()}"
        self.environ = {
            "DISPLAY": self.display,
            "QT_QPA_PLATFORM": "xcb",
            "XDG_SESSION_TYPE": "x11",
        }
        try:
            self.start("openbox")
            wait_until(
                lambda: "0x" in self.do("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"), PATIENCE_S
            )
        except BaseException:
            self._end()
            raise

    def start_panel(self) -> None:
        """Start a panel with a tray and wait for it."""
        config = self.folder / "tint2rc"
        config.write_text(_PANEL)
        self.start("tint2", "-c", str(config))
        panel = ("xdotool", "search", "--onlyvisible", "--class", "tint2")
        wait_until(lambda: self.do(*panel), PATIENCE_S)

    def start(self, *command: str) -> None:
        """Start a program of the desktop."""
        self._programs[command[0]] = subprocess.Popen(
            command,
            env={**os.environ, **self.environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self, name: str) -> None:
        """End a program of the desktop."""
        program = self._programs.pop(name)
        program.terminate()
        program.wait(10)

    def do(self, *command: str) -> str:
        """Run a command on the desktop and return its output."""
        done = subprocess.run(
            command,
            env={**os.environ, **self.environ},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return done.stdout

    def picture(self, name: str) -> Path:
        """Write a screenshot of the whole screen."""
        path = self.folder / f"{name}.png"
        self.do("import", "-window", "root", str(path))
        return path

    def windows(self, pid: int) -> set[str]:
        """Visible windows of the process, including its icon in the panel."""
        return set(self.do("xdotool", "search", "--onlyvisible", "--pid", str(pid)).split())

    def titled(self, title: str) -> list[str]:
        """Windows with that title in the window manager's list."""
        listed = self.do("xprop", "-root", "_NET_CLIENT_LIST").partition("#")[2]
        windows = [one.strip() for one in listed.split(",") if one.strip()]
        return [one for one in windows if f'"{title}"' in self.do("xprop", "-id", one, "WM_NAME")]

    def state(self, window: str) -> str:
        """The window manager's state of a window: `Normal`, `Iconic`, `Withdrawn` or nothing."""
        output = self.do("xprop", "-id", window, "WM_STATE")
        return next((word for word in ("Normal", "Iconic", "Withdrawn") if word in output), "")

    def tray_icon(self, pid: int) -> tuple[int, int] | None:
        """Centre of the process's icon in the panel; None: it has no visible icon."""
        for window in self.windows(pid):
            if "_XEMBED_INFO(" in self.do("xprop", "-id", window, "_XEMBED_INFO"):
                return _middle(self.do("xdotool", "getwindowgeometry", "--shell", window))
        return None

    def resting_icon(self, pid: int) -> tuple[int, int]:
        """The same, once the panel has stopped moving it."""
        seen: list[tuple[int, int] | None] = [None]

        def rests() -> bool:
            seen.append(self.tray_icon(pid))
            if seen[-1] is None or seen[-1] != seen[-2]:
                time.sleep(LOOK_S)
                return False
            return True

        wait_until(rests, PATIENCE_S)
        assert seen[-1] is not None
        return seen[-1]

    def close_until(self, window: str, holds: Callable[[], object]) -> None:
        """Close a window with the window manager's shortcut, and again if nothing happened."""
        close = ("xdotool", "windowactivate", "--sync", window, "key", "alt+F4")
        _repeat_until(lambda: self.do(*close), holds)

    def click(self, at: tuple[int, int], button: int) -> None:
        """Click there."""
        self.do("xdotool", "mousemove", str(at[0]), str(at[1]), "click", str(button))

    def click_until(self, at: tuple[int, int], button: int, holds: Callable[[], object]) -> None:
        """Click there, and again after a while if nothing happened, as a user would."""
        _repeat_until(lambda: self.click(at, button), holds)

    def point_until(self, at: tuple[int, int], holds: Callable[[], object]) -> None:
        """Move the pointer there, and again after a while if nothing happened."""

        def point() -> None:
            for x in (0, at[0] - 1, at[0]):  # from elsewhere, and a little way over it
                self.do("xdotool", "mousemove", str(x), str(at[1]))

        _repeat_until(point, holds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        for name in list(self._programs):
            self.stop(name)
        self._server.terminate()
        self._server.wait(10)


def _repeat_until(act: Callable[[], object], holds: Callable[[], object]) -> None:
    for _ in range(TIMES):
        act()
        try:
            wait_until(holds, PATIENCE_S / TIMES)
        except TimeoutError:
            continue
        return
    raise TimeoutError(f"{TIMES} times, nothing happened")


def _middle(shell: str) -> tuple[int, int]:
    values = dict(line.split("=", 1) for line in shell.splitlines() if "=" in line)
    left, top, width, height = (int(values[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))
    return left + width // 2, top + height // 2
