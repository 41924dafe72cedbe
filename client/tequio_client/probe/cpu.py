"""The processor (name, load by other programs, temperature) and the main memory."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tequio_client.platform.dbus import AbsentError
from tequio_client.platform.system import matching, read_scaled, read_text

if TYPE_CHECKING:
    from tequio_client.ipc.facts import ProbeInstructions

_SENSORS = {"coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal"}
_ZONES = {"x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc-thermal"}
_COUNTED = {"guest", "guest_nice", "interrupt", "dpc"}
"""Times that are in user and nice already, and on Windows in system."""
_RESTING = {"idle", "iowait"}
_MIB = 1 << 20
_WARMEST_C = 150.0


class CpuLoad:
    """Load by other programs; each call measures since the one before."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_s: float | None = None
        self._busy_s = 0.0
        self._ours: dict[tuple[int, float], float] = {}  # by pid and start time: seconds used

    def read(self, watch: ProbeInstructions) -> float | None:
        """Share of all cores, 0 to 1, that other programs used; None the first time."""
        now_s, busy_s = self._clock(), _busy_s()
        ours = dict(_used(pid) for pid in watch.ours if psutil.pid_exists(pid))
        taken = sum(used - self._ours.get(process, used) for process, used in ours.items())
        last_s, before_s = self._last_s, self._busy_s
        self._last_s, self._busy_s, self._ours = now_s, busy_s, ours
        if last_s is None or now_s <= last_s:
            return None
        whole = (now_s - last_s) * (os.cpu_count() or 1)
        return min(max((busy_s - before_s - taken) / whole, 0.0), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MainMemory:
    """Main memory, MiB."""

    total_mb: int
    free_mb: int
    """Memory that programs can get without swapping."""


def main_memory() -> MainMemory:
    now = psutil.virtual_memory()
    return MainMemory(total_mb=now.total // _MIB, free_mb=now.available // _MIB)


def temperature_c(sys_root: Path) -> float:
    """The hottest sensor of the processor; raises AbsentError if it has no known one."""
    files = [
        file
        for sensor in matching(sys_root / "class/hwmon", "hwmon*")
        if read_text(sensor / "name") in _SENSORS
        for file in matching(sensor, "temp*_input")
    ] or [
        zone / "temp"
        for zone in matching(sys_root / "class/thermal", "thermal_zone*")
        if read_text(zone / "type") in _ZONES
    ]
    degrees = [value for file in files if (value := read_scaled(file, 1e-3)) is not None]
    if not (sane := [value for value in degrees if value <= _WARMEST_C]):
        raise AbsentError("no temperature sensor of the processor")
    return max(sane)


def cpu_name(proc_root: Path) -> str:
    """The processor's model name, else its architecture."""
    if sys.platform == "win32":
        return _windows_name()
    if sys.platform == "darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        printed = subprocess.run(command, capture_output=True, check=False, timeout=2)  # noqa: S603 - fixed
        return printed.stdout.decode("utf-8", "replace").strip() or platform.machine()
    for line in read_text(proc_root / "cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()[:256]
    return platform.machine()


def _windows_name() -> str:
    if sys.platform == "win32":
        import winreg  # noqa: PLC0415 - exists on Windows only

        place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
            return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()
    return platform.machine()


def _busy_s() -> float:
    times = psutil.cpu_times()._asdict()
    return float(sum(used for kind, used in times.items() if kind not in _COUNTED | _RESTING))


def _used(pid: int) -> tuple[tuple[int, float], float]:
    try:
        process = psutil.Process(pid)
        times = process.cpu_times()
        return (pid, process.create_time()), times.user + times.system
    except psutil.Error:
        return (pid, 0.0), 0.0  # it ended meanwhile
