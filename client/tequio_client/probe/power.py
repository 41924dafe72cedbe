"""Where the current comes from on Linux, and whether the user asked to save it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tequio_client.platform.dbus import AbsentError, Address, UnknownError
from tequio_client.platform.libraries import windows_library
from tequio_client.probe.sysfs import inside, number, text

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.platform.dbus import Bus, Told


PROFILES = (
    Address(
        "org.freedesktop.UPower.PowerProfiles",
        "/org/freedesktop/UPower/PowerProfiles",
        "org.freedesktop.UPower.PowerProfiles",
    ),
    Address("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles", "net.hadess.PowerProfiles"),
)
"""The name since version 0.20 of the daemon, and the one before."""
_SAVER = "power-saver"
_LOW = "low-power"
_BATTERIES = {"Battery", "UPS"}


def on_battery(sys_root: Path) -> bool:
    """Whether the machine runs on a battery; raises UnknownError when the supplies do not say.

    Batteries of mice and headsets, which say that they belong to a device, do not count. A machine
    without a battery is never on one.
    """
    supplies = [
        supply
        for supply in inside(sys_root / "class/power_supply", "*")
        if text(supply / "scope") != "Device"
    ]
    batteries = [supply for supply in supplies if text(supply / "type") in _BATTERIES]
    if not batteries:
        return False
    lines = {
        number(supply / "online") for supply in supplies if text(supply / "type") not in _BATTERIES
    }
    if any(lines - {0, None}):
        return False
    states = {text(supply / "status") for supply in batteries}
    if "Discharging" in states or lines == {0}:
        return True
    if states & {"Charging", "Full", "Not charging"}:
        return False
    raise UnknownError(f"the battery says only {', '.join(sorted(states))!r}")


class PowerSaver:
    """Asks the daemon of the power profiles, else the firmware's own profile."""

    def __init__(self, sys_root: Path, bus: Bus) -> None:
        self._firmware, self._bus = sys_root / "firmware/acpi/platform_profile", bus

    def read(self) -> bool:
        """Whether power is being saved; a machine that has no such mode does not.

        Raises UnknownError when the daemon is there and does not say.
        """
        for address in PROFILES:
            try:
                return self._bus.read(address, "ActiveProfile", str) == _SAVER
            except AbsentError:
                continue
        return text(self._firmware) == _LOW


# --- Where the current comes from on Windows and macOS, and whether the user asked to save it.

_OFFLINE, _ONLINE = 0, 1
_NO_BATTERY = 128
_UNKNOWN_BATTERY = 255
_NOW = "Now drawing from '"


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerStatus:
    """What Windows says, in its own numbers."""

    line: int
    battery: int
    saver: int


class StatusOf(Protocol):
    """Gives the status."""

    def __call__(self) -> PowerStatus:
        """Ask; raises OSError."""


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
    """GetSystemPowerStatus; raises AbsentError, OSError."""
    status = _SystemPowerStatus()
    if not windows_library("kernel32").GetSystemPowerStatus(ctypes.byref(status)):
        raise OSError("GetSystemPowerStatus failed")
    return PowerStatus(line=status.line, battery=status.battery, saver=status.saver)


def windows_on_battery(status: StatusOf = system_power_status) -> bool:
    """Whether Windows runs on a battery; raises UnknownError when it does not say."""
    now = status()
    if now.line == _OFFLINE:
        return True
    if now.line == _ONLINE or (now.battery != _UNKNOWN_BATTERY and now.battery & _NO_BATTERY):
        return False
    raise UnknownError("Windows does not say where the current comes from")


def windows_is_saving(status: StatusOf = system_power_status) -> bool:
    """Whether the battery saver is on."""
    return status().saver == 1


def macos_on_battery(told: Told) -> bool:
    """Whether a Mac runs on a battery, by `pmset`; raises UnknownError."""
    first = told(("/usr/bin/pmset", "-g", "batt")).decode("utf-8", "replace").partition("\n")[0]
    if not first.startswith(_NOW):
        raise UnknownError(f"pmset said {first[:80]!r}")
    return not first.startswith(_NOW + "AC")


def macos_is_saving(told: Told) -> bool:
    """Whether Low Power Mode is on; false where this Mac has none."""
    for line in told(("/usr/bin/pmset", "-g")).decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["lowpowermode"] or words[:1] == ["powermode"]:
            return words[1:2] == ["1"]
    return False
