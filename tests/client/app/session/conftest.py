"""A bus and a display of its own for each test that wants one."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.private_bus import PrivateBus
from tests.support.private_display import PrivateDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _offscreen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture
def private_bus(tmp_path: Path) -> Iterator[PrivateBus]:
    if shutil.which("dbus-daemon") is None:
        pytest.skip("no dbus-daemon here")
    with PrivateBus(tmp_path) as bus:
        yield bus


@pytest.fixture
def display() -> Iterator[PrivateDisplay]:
    if any(shutil.which(program) is None for program in ("Xvfb", "openbox", "xdotool", "xprop")):
        pytest.skip("no Xvfb, openbox, xdotool or xprop here")
    with PrivateDisplay() as display:
        yield display
