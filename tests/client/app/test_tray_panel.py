"""The app beside a real panel: tint2 on a real X server, driven by a real mouse and keyboard."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import app_desktop
from tests.support.app_desktop import Desktop
from tests.support.app_process import PATIENCE_S, AppProcess, wait_until
from tests.support.private_bus import PrivateBus

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(not app_desktop.is_there(), reason="no X server, panel and xdotool here"),
]
WATCHER = "org.kde.StatusNotifierWatcher"


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Desktop]:
    """Pictures of it stay in the folder that TEQUIO_PICTURES names."""
    folder = Path(os.environ.get("TEQUIO_PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    with Desktop(folder) as made:
        yield made


def test_the_icon_opens_the_window_and_the_menu_quits(desktop: Desktop, tmp_path: Path) -> None:
    desktop.start_panel()
    with AppProcess(tmp_path, "--background", environ=desktop.environ) as app:
        pid = app.process.pid
        at = desktop.resting_icon(pid)
        assert desktop.titled("Tequio") == []
        desktop.picture("panel-icon")

        before = desktop.windows(pid)
        desktop.point_until(at, lambda: desktop.windows(pid) - before)
        desktop.picture("panel-tip")

        desktop.click_until(at, 1, lambda: desktop.titled("Tequio"))
        (window,) = desktop.titled("Tequio")
        wait_until(lambda: desktop.state(window) == "Normal", PATIENCE_S)
        desktop.picture("panel-window")

        desktop.close_until(window, lambda: not desktop.titled("Tequio"))
        assert app.process.poll() is None

        before = desktop.windows(pid)
        desktop.click_until(at, 3, lambda: desktop.windows(pid) - before)
        desktop.picture("panel-menu")
        desktop.do("xdotool", "key", "Up", "Return")
        assert app.process.wait(PATIENCE_S) == 0
        assert "Warning" not in app.log()


def test_the_icon_comes_back_with_the_panel(desktop: Desktop, tmp_path: Path) -> None:
    desktop.start_panel()
    with AppProcess(tmp_path, "--background", environ=desktop.environ) as app:
        pid = app.process.pid
        wait_until(lambda: desktop.tray_icon(pid) is not None, PATIENCE_S)
        desktop.stop("tint2")
        wait_until(lambda: desktop.tray_icon(pid) is None, PATIENCE_S)
        desktop.start_panel()
        wait_until(lambda: desktop.tray_icon(pid) is not None, PATIENCE_S)


def test_without_a_panel_closing_minimises_until_there_is_one(
    desktop: Desktop, tmp_path: Path
) -> None:
    with AppProcess(tmp_path, environ=desktop.environ) as app:
        pid = app.process.pid
        wait_until(lambda: desktop.titled("Tequio"), PATIENCE_S)
        (window,) = desktop.titled("Tequio")
        desktop.close_until(window, lambda: desktop.state(window) == "Iconic")
        assert app.start().wait(PATIENCE_S) == 0
        wait_until(lambda: desktop.state(window) == "Normal", PATIENCE_S)
        desktop.picture("no-panel-window")
        desktop.start_panel()
        wait_until(lambda: desktop.tray_icon(pid) is not None, PATIENCE_S)
        desktop.close_until(window, lambda: not desktop.titled("Tequio"))
        desktop.click_until(desktop.resting_icon(pid), 1, lambda: desktop.titled("Tequio"))


@pytest.mark.parametrize("is_late", [False, True])
def test_a_panel_of_the_newer_kind_is_told_of_the_icon(
    is_late: bool,  # noqa: FBT001
    desktop: Desktop,
    tmp_path: Path,
) -> None:
    with PrivateBus(tmp_path) as bus:
        if not is_late:
            _watch(bus)
        environ = {**desktop.environ, "DBUS_SESSION_BUS_ADDRESS": bus.address}
        with AppProcess(tmp_path, "--background", environ=environ) as app:
            if is_late:
                wait_until(app.workers, PATIENCE_S)
                _watch(bus)
            assert bus.wait_called(WATCHER, "RegisterStatusNotifierItem", PATIENCE_S), app.log()


def _watch(bus: PrivateBus) -> None:
    bus.serve(
        WATCHER,
        properties={"IsStatusNotifierHostRegistered": ("b", True), "ProtocolVersion": ("i", 0)},
        methods={"RegisterStatusNotifierItem": ("", None)},
    )
