"""Mains or battery, and the power saver: on Linux by sysfs and D-Bus, on Windows, on macOS.

Unknown is never "on mains": each function raises rather than guess.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tequio_client.platform.dbus import AbsentError, Bus, BusAddress, NoAnswerError, ProgramRunner
from tequio_client.platform.system import matching, read_int, read_text, windows_library

POWER_PROFILE_DAEMONS = (
    BusAddress.of_service("org.freedesktop.UPower.PowerProfiles"),
    BusAddress.of_service("net.hadess.PowerProfiles"),
)
"""The daemon's name since version 0.20, and the one before."""
_SAVER = "power-saver"
_LOW = "low-power"
_BATTERIES = {"Battery", "UPS"}
_OFFLINE, _ONLINE = 0, 1
_NO_BATTERY = 128
_UNKNOWN_BATTERY = 255
_NOW = "Now drawing from '"


def on_battery(sys_root: Path) -> bool:
    """True on battery; raises NoAnswerError if the power supplies do not tell.

    Batteries of mice and headsets (scope "Device") do not count. A machine without a battery is
    never on battery.
    """
    supplies = [
        supply
        for supply in matching(sys_root / "class/power_supply", "*")
        if read_text(supply / "scope") != "Device"
    ]
    batteries = [supply for supply in supplies if read_text(supply / "type") in _BATTERIES]
    if not batteries:
        return False
    lines = {
        read_int(supply / "online")
        for supply in supplies
        if read_text(supply / "type") not in _BATTERIES
    }
    if any(lines - {0, None}):
        return False
    states = {read_text(supply / "status") for supply in batteries}
    if "Discharging" in states or lines == {0}:
        return True
    if states & {"Charging", "Full", "Not charging"}:
        return False
    raise NoAnswerError(f"the battery reports only {', '.join(sorted(states))!r}")


def is_saving(sys_root: Path, bus: Bus) -> bool:
    """True while saving power, by the power-profiles daemon, else by the firmware's profile.

    A machine without such a mode never does. Raises NoAnswerError if the daemon runs but does not
    answer.
    """
    for address in POWER_PROFILE_DAEMONS:
        try:
            return bus.read(address, "ActiveProfile", str) == _SAVER
        except AbsentError:
            continue
    return read_text(sys_root / "firmware/acpi/platform_profile") == _LOW


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerStatus:
    """The fields of SYSTEM_POWER_STATUS, in the numbers of Windows."""

    line: int
    battery: int
    saver: int


class _SystemPowerStatus(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("line", ctypes.c_ubyte),
        ("battery", ctypes.c_ubyte),
        ("percent", ctypes.c_ubyte),
        ("saver", ctypes.c_ubyte),
        ("seconds", ctypes.c_uint32),
        ("full_seconds", ctypes.c_uint32),
    ]


def system_power_status() -> PowerStatus:
    """Call GetSystemPowerStatus; raises AbsentError, OSError."""
    status = _SystemPowerStatus()
    if not windows_library("kernel32").GetSystemPowerStatus(ctypes.byref(status)):
        raise OSError("GetSystemPowerStatus failed")
    return PowerStatus(line=status.line, battery=status.battery, saver=status.saver)


def windows_on_battery(status: Callable[[], PowerStatus] = system_power_status) -> bool:
    """True on battery; raises NoAnswerError if Windows does not know."""
    now = status()
    if now.line == _OFFLINE:
        return True
    if now.line == _ONLINE or (now.battery != _UNKNOWN_BATTERY and now.battery & _NO_BATTERY):
        return False
    raise NoAnswerError("Windows does not know whether it runs on battery")


def windows_is_saving(status: Callable[[], PowerStatus] = system_power_status) -> bool:
    return status().saver == 1


def macos_on_battery(output_of: ProgramRunner) -> bool:
    """True on battery, by `pmset`; raises NoAnswerError."""
    first = (
        output_of(("/usr/bin/pmset", "-g", "batt")).decode("utf-8", "replace").partition("\n")[0]
    )
    if not first.startswith(_NOW):
        raise NoAnswerError(f"unexpected output of pmset: {first[:80]!r}")
    return not first.startswith(_NOW + "AC")


def macos_is_saving(output_of: ProgramRunner) -> bool:
    """True in Low Power Mode; False on a Mac without it."""
    for line in output_of(("/usr/bin/pmset", "-g")).decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["lowpowermode"] or words[:1] == ["powermode"]:
            return words[1:2] == ["1"]
    return False
