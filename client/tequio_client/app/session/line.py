"""Whether the network is metered, where no service says so: by the kind of the line that leads out.

A card for a wire inside the computer is not paid by the byte; of everything else nobody knows
(Wi-Fi may be a telephone's, and so may a card on USB).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tequio_client.system.errors import AbsentError, UnknownError

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.system.told import Told

_ETHERNET = "1"
_WIRED_BUSES = {"pci", "virtio", "platform", "vmbus", "xen"}
_PHONES = ("iphone", "ipad", "bluetooth pan", "android")
_INTERFACE = re.compile(r"^\s*interface: (\S+)", re.MULTILINE)


class LinuxLine:
    """By procfs and sysfs."""

    source = "route"

    def __init__(self, sys_root: Path, proc_root: Path) -> None:
        self._sys, self._proc = sys_root, proc_root

    def read(self) -> bool:
        """See Probe."""
        name = self._way_out()
        device = self._sys / "class/net" / name
        bus = (device / "device/subsystem").resolve().name
        is_wired = (
            _text(device / "type") == _ETHERNET
            and bus in _WIRED_BUSES
            and not (device / "wireless").exists()
            and "DEVTYPE=" not in _text(device / "uevent")
        )
        if not is_wired:
            raise UnknownError(f"nobody knows whether {name} is metered")
        return False

    def _way_out(self) -> str:
        for line in _text(self._proc / "net/route").splitlines()[1:]:
            words = line.split()
            if len(words) > 1 and words[1] == "00000000":
                return words[0]
        raise AbsentError("no route leads out")


class MacLine:
    """By `route`, `networksetup` and the DHCP answer, in which Android says that it is metered."""

    source = "route"

    def __init__(self, told: Told) -> None:
        self._told = told

    def read(self) -> bool:
        """See Probe."""
        found = _INTERFACE.search(self._ask("/sbin/route", "-n", "get", "default"))
        if found is None:
            raise AbsentError("no route leads out")
        ports = self._ask("/usr/sbin/networksetup", "-listallhardwareports").split("\n\n")
        port = next((port for port in ports if f"Device: {found[1]}\n" in port + "\n"), "")
        if any(phone in port.lower() for phone in _PHONES):
            return True
        return "ANDROID_METERED" in self._ask("/usr/sbin/ipconfig", "getpacket", found[1])

    def _ask(self, *command: str) -> str:
        return self._told(command).decode("utf-8", "replace")


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""
