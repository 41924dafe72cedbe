"""A bus of its own for each test that wants one."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.private_bus import PrivateBus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def private_bus(tmp_path: Path) -> Iterator[PrivateBus]:
    if shutil.which("dbus-daemon") is None:
        pytest.skip("no dbus-daemon here")
    with PrivateBus(tmp_path) as bus:
        yield bus
