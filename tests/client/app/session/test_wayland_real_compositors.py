"""Idle time by KWin and full screen by Sway, as they are, where they are installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tequio_client.app.session.linux import SwayFullscreen
from tequio_client.app.session.wayland import QUIET_S, WaylandIdle
from tests.support.private_compositor import kwin, sway
from tests.support.private_display import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A folder with a path short enough for sockets."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.skipif(shutil.which("kwin_wayland") is None, reason="no KWin here")
def test_kwin_tells_how_long_nobody_was_there(runtime: Path) -> None:
    with kwin(runtime) as compositor, closing(WaylandIdle(compositor.environ)) as idle:
        begun_s = time.monotonic()
        assert idle.read() == 0.0
        wait_until(lambda: idle.read() >= QUIET_S)
        assert time.monotonic() - begun_s >= QUIET_S * 0.9  # its timers are coarse


@pytest.mark.skipif(shutil.which("sway") is None, reason="no Sway here")
def test_sway_tells_what_fills_the_screen(runtime: Path) -> None:
    with sway(runtime) as compositor:
        fullscreen = SwayFullscreen(compositor.environ)
        assert fullscreen.read() == ""
        with compositor.window("full"):
            wait_until(lambda: fullscreen.read().startswith("python"))
        wait_until(lambda: fullscreen.read() == "")


@pytest.mark.skipif(shutil.which("sway") is None, reason="no Sway here")
def test_sway_keeps_an_ordinary_window_ordinary(runtime: Path) -> None:
    with sway(runtime) as compositor:
        fullscreen = SwayFullscreen(compositor.environ)
        with compositor.window("plain"):
            wait_until(lambda: '"pid"' in _tree(compositor.environ))
            assert fullscreen.read() == ""


def _tree(environ: dict[str, str]) -> str:
    command = ["swaymsg", "-s", environ["SWAYSOCK"], "-t", "get_tree"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
