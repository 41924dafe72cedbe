"""Battery and power saver, over made trees, a real bus and what the other systems say."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tequio_client.platform.dbus import Bus, NoAnswerError
from tequio_client.probe import power
from tequio_client.probe.power import PowerStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.support.private_bus import PrivateBus

MAINS_ON, MAINS_OFF = {"type": "Mains", "online": "1"}, {"type": "Mains", "online": "0"}
DRAINING = {"type": "Battery", "status": "Discharging"}
CHARGING = {"type": "Battery", "status": "Charging"}
SILENT = {"type": "Battery", "status": "Unknown"}
MOUSE = {"type": "Battery", "status": "Discharging", "scope": "Device"}


def is_saving_on(private_bus: PrivateBus, sys_root: Path, timeout_s: float = 5.0) -> bool:
    with contextlib.closing(Bus(private_bus.address, timeout_s)) as bus:
        return power.is_saving(sys_root, bus)


def supplies(root: Path, *described: dict[str, str]) -> Path:
    for number, files in enumerate(described):
        folder = root / f"class/power_supply/supply{number}"
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_text(content + "\n")
    return root


@pytest.mark.parametrize(
    ("described", "is_on_battery"),
    [
        ([], False),
        ([MAINS_ON], False),
        ([MOUSE], False),
        ([MAINS_OFF, DRAINING], True),
        ([MAINS_OFF, SILENT], True),
        ([MAINS_ON, CHARGING], False),
        ([MAINS_ON, DRAINING], False),
        ([DRAINING], True),
        ([CHARGING], False),
        ([{"type": "USB", "online": "1"}, SILENT], False),
        ([{"type": "USB", "online": "0"}, MAINS_ON, CHARGING], False),
        ([MAINS_ON, MOUSE], False),
    ],
)
def test_where_the_current_comes_from(
    tmp_path: Path, described: list[dict[str, str]], *, is_on_battery: bool
) -> None:
    assert power.on_battery(supplies(tmp_path, *described)) is is_on_battery


@pytest.mark.parametrize("status", ["Unknown", "", "purring"])
def test_a_battery_that_does_not_say_is_unknown(tmp_path: Path, status: str) -> None:
    root = supplies(tmp_path, {"type": "Battery", "status": status})
    with pytest.raises(NoAnswerError, match="the battery reports only"):
        power.on_battery(root)


@pytest.mark.parametrize(("profile", "is_saving"), [("power-saver", True), ("balanced", False)])
@pytest.mark.parametrize("generation", [0, 1])
def test_the_daemon_of_the_profiles_tells_the_power_saver(
    tmp_path: Path, private_bus: PrivateBus, generation: int, profile: str, *, is_saving: bool
) -> None:
    address = power.POWER_PROFILE_DAEMONS[generation]
    private_bus.serve(address.name, properties={"ActiveProfile": ("s", profile)})
    assert is_saving_on(private_bus, tmp_path) is is_saving


def test_a_daemon_that_hangs_leaves_the_power_saver_unknown(
    tmp_path: Path, private_bus: PrivateBus
) -> None:
    private_bus.serve(power.POWER_PROFILE_DAEMONS[0].name, hangs=True)
    with pytest.raises(NoAnswerError, match="no answer"):
        is_saving_on(private_bus, tmp_path, timeout_s=0.2)


@pytest.mark.parametrize(
    ("profile", "is_saving"), [("low-power", True), ("performance", False), (None, False)]
)
def test_without_a_daemon_the_firmware_tells(
    tmp_path: Path, private_bus: PrivateBus, profile: str | None, *, is_saving: bool
) -> None:
    if profile:
        file = tmp_path / "firmware/acpi/platform_profile"
        file.parent.mkdir(parents=True)
        file.write_text(profile + "\n")
    assert is_saving_on(private_bus, tmp_path) is is_saving


@pytest.mark.parametrize(
    ("line", "battery", "is_on_battery"),
    [(0, 1, True), (1, 8, False), (255, 128, False), (1, 255, False), (0, 255, True)],
)
def test_windows_tells_its_line_and_its_battery(
    line: int, battery: int, *, is_on_battery: bool
) -> None:
    status = PowerStatus(line=line, battery=battery, saver=0)
    assert power.windows_on_battery(lambda: status) is is_on_battery


@pytest.mark.parametrize("battery", [255, 1])
def test_windows_may_not_know(battery: int) -> None:
    status = PowerStatus(line=255, battery=battery, saver=0)
    with pytest.raises(NoAnswerError):
        power.windows_on_battery(lambda: status)


@pytest.mark.parametrize(("saver", "is_saving"), [(0, False), (1, True)])
def test_windows_tells_its_battery_saver(saver: int, *, is_saving: bool) -> None:
    status = PowerStatus(line=0, battery=1, saver=saver)
    assert power.windows_is_saving(lambda: status) is is_saving


@pytest.mark.parametrize(
    ("said", "is_on_battery"),
    [
        (b"Now drawing from 'AC Power'\n -InternalBattery-0\t100%; charged;\n", False),
        (b"Now drawing from 'Battery Power'\n -InternalBattery-0\t71%; discharging;\n", True),
        (b"Now drawing from 'UPS Power'\n", True),
    ],
)
def test_a_mac_tells_what_it_draws_from(said: bytes, *, is_on_battery: bool) -> None:
    assert power.macos_on_battery(lambda _: said) is is_on_battery


def test_a_mac_that_says_something_else_is_unknown() -> None:
    with pytest.raises(NoAnswerError, match="unexpected output of pmset"):
        power.macos_on_battery(lambda _: b"\xff\xfe")


@pytest.mark.parametrize(
    ("said", "is_saving"),
    [
        (b"System-wide power settings:\nCurrently in use:\n lowpowermode         1\n", True),
        (b"Currently in use:\n powermode            0\n sleep 1\n", False),
        (b"Currently in use:\n powermode            2\n", False),
        (b"", False),
    ],
)
def test_a_mac_tells_its_low_power_mode(said: bytes, *, is_saving: bool) -> None:
    commands: list[Sequence[str]] = []

    def told(command: Sequence[str]) -> bytes:
        commands.append(command)
        return said

    assert power.macos_is_saving(told) is is_saving
    assert commands == [("/usr/bin/pmset", "-g")]
