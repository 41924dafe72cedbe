"""The app is as large as the text size in the system says, and is scaled only once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.platform.dbus import AbsentError, Bus, NoAnswerError
from tequio_client.platform.text_scale import PORTAL, VARIABLE, portal_factor, windows_factor
from tests.support.private_bus import PrivateBus
from tests.support.private_display import PrivateDisplay
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = """
import os
from tequio_client.app.application import make_application
qt = make_application()
print(qt.primaryScreen().devicePixelRatio(), os.environ.get("QT_SCALE_FACTOR"))
"""
WAYLAND = "wayland;offscreen"
"""Qt tries them in this order, and there is no compositor."""


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[PrivateBus]:
    if shutil.which("dbus-daemon") is None:
        pytest.skip("no dbus-daemon here")
    with PrivateBus(tmp_path) as one:
        yield one


def serve(bus: PrivateBus, value: object, signature: str = "d") -> None:
    bus.serve(PORTAL.name, methods={"Read": ("v", ["v", [signature, value]])})


def scaled(bus: PrivateBus, **environ: str) -> str:
    """Return the scale of an app, and the variable that its children would inherit."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("QT_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        check=True,
        text=True,
        timeout=allowed_s(60),
        env=clean | {"DBUS_SESSION_BUS_ADDRESS": bus.address, **environ},
    )
    return done.stdout.strip()


@pytest.mark.parametrize(("size", "scale"), [(1.0, 1.0), (1.25, 1.25), (3.0, 2.25), (0.5, 0.75)])
def test_the_app_follows_the_desktop_and_its_children_inherit_nothing(
    bus: PrivateBus, size: float, scale: float
) -> None:
    serve(bus, size)
    assert scaled(bus, QT_QPA_PLATFORM=WAYLAND) == f"{scale} None"


@pytest.mark.parametrize("name", [VARIABLE, "QT_SCREEN_SCALE_FACTORS"])
def test_a_scale_that_people_chose_for_qt_stays(bus: PrivateBus, name: str) -> None:
    serve(bus, 1.5)
    kept = "2" if name == VARIABLE else None
    assert scaled(bus, QT_QPA_PLATFORM=WAYLAND, **{name: "2"}) == f"2.0 {kept}"


def test_nothing_is_asked_where_qt_follows_by_itself(bus: PrivateBus) -> None:
    serve(bus, 1.5)
    assert scaled(bus, QT_QPA_PLATFORM="offscreen") == "1.0 None"
    assert bus.calls(PORTAL.name) == []


def test_qt_follows_xft_dpi_by_itself_and_the_app_adds_nothing(bus: PrivateBus) -> None:
    if shutil.which("Xvfb") is None or shutil.which("xprop") is None:
        pytest.skip("no Xvfb or xprop here")
    serve(bus, 1.25)
    name = "RESOURCE_MANAGER"
    with PrivateDisplay() as display:
        command = ["xprop", "-display", display.name, "-root", "-f", name, "8s"]
        subprocess.run([*command, "-set", name, "Xft.dpi:\t120"], check=True)
        assert scaled(bus, QT_QPA_PLATFORM="xcb", **display.environ) == "1.25 None"


def test_a_desktop_without_the_setting_is_not_scaled(bus: PrivateBus) -> None:
    assert scaled(bus, QT_QPA_PLATFORM=WAYLAND) == "1.0 None"
    bus.serve(PORTAL.name)
    assert scaled(bus, QT_QPA_PLATFORM=WAYLAND) == "1.0 None"


def test_another_answer_than_a_number_is_refused(bus: PrivateBus) -> None:
    serve(bus, "large", "s")
    with pytest.raises(NoAnswerError, match="instead of float"):
        portal_factor(Bus(bus.address))


@pytest.mark.skipif(sys.platform == "win32", reason="There the registry answers.")
def test_elsewhere_there_is_no_registry() -> None:
    with pytest.raises(AbsentError, match="only exists on Windows"):
        windows_factor()
