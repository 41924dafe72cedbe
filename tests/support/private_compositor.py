"""A private Wayland compositor for tests, without a screen: KWin or Sway."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.private_display import WINDOW, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOBODY = 65_534
SWAY_CONFIG = "xwayland disable\noutput HEADLESS-1 resolution 640x480\n"


class PrivateCompositor:
    """A running compositor, and the environment in which programs find it."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.folder = folder
        self.environ = {"XDG_RUNTIME_DIR": str(folder), **environ}

    @contextlib.contextmanager
    def window(self, how: str) -> Iterator[None]:
        """Open a window, `full` or `plain`, until the end of the block."""
        environ = os.environ | self.environ | {"QT_QPA_PLATFORM": "wayland"}
        with subprocess.Popen(
            [sys.executable, "-c", WINDOW, how], env=environ, stderr=subprocess.DEVNULL
        ) as program:
            yield
            program.kill()


@contextlib.contextmanager
def kwin(folder: Path) -> Iterator[PrivateCompositor]:
    """KDE's compositor; a copy, as the installed file needs capabilities that containers lack."""
    binary = folder / "kwin_wayland"  # its plug-in starts under this name only
    shutil.copyfile(shutil.which("kwin_wayland") or "", binary)
    binary.chmod(0o700)
    folder.chmod(0o700)
    command = ["dbus-run-session", str(binary), "--virtual", "--no-lockscreen"]
    size = ["--width", "640", "--height", "480", "--socket", "wayland-0"]
    environ = _clean() | {"XDG_RUNTIME_DIR": str(folder), "HOME": str(folder), "KWIN_COMPOSE": "Q"}
    environ.pop("QT_QPA_PLATFORM", None)
    with _running([*command, *size], environ, folder / "wayland-0"):
        yield PrivateCompositor(folder, {"WAYLAND_DISPLAY": "wayland-0"})


@contextlib.contextmanager
def sway(folder: Path) -> Iterator[PrivateCompositor]:
    """Sway, which refuses to run as root."""
    config, socket = folder / "config", folder / "sway.sock"
    config.write_text(SWAY_CONFIG)
    folder.chmod(0o700)
    command = ["sway", "-c", str(config)]
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        command = [
            "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command
        ]  # fmt: skip
    headless = {"WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "SWAYSOCK": str(socket)}
    own = {"XDG_RUNTIME_DIR": str(folder), "HOME": str(folder), "WLR_LIBINPUT_NO_DEVICES": "1"}
    with _running(command, _clean() | own | headless, socket):
        wait_until(lambda: bool(list(folder.glob("wayland-?"))))
        display = next(folder.glob("wayland-?")).name
        yield PrivateCompositor(folder, {"WAYLAND_DISPLAY": display, "SWAYSOCK": str(socket)})


@contextlib.contextmanager
def _running(command: list[str], environ: dict[str, str], socket: Path) -> Iterator[None]:
    program = subprocess.Popen(
        command,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:

        def is_open() -> bool:
            assert program.poll() is None, f"{command[0]} ended at once"
            return socket.exists()

        wait_until(is_open)
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)  # with what it started
        program.wait()


def _clean() -> dict[str, str]:
    display = {"DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"}
    return {name: value for name, value in os.environ.items() if name not in display}
