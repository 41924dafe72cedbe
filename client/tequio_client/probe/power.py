"""Where the current comes from on Linux, and whether the user asked to save it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.probe.sysfs import inside, number, text
from tequio_client.system.dbus import Address
from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.system.dbus import Bus

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
