"""The processor (name, load by other programs, temperature) and the main memory."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import psutil

from tequio_client.platform.dbus import AbsentError
from tequio_client.platform.system import matching, read_scaled, read_text

if TYPE_CHECKING:
    from tequio_client.ipc.facts import ProbeInstructions

ProcessId: TypeAlias = "tuple[int, float]"
"""Number and start time, which no two processes share."""
_SENSORS = {"coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal"}
_ZONES = {"x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc-thermal"}
_COUNTED = {"guest", "guest_nice", "interrupt", "dpc"}
"""Times that are in user and nice already, and on Windows in system."""
_RESTING = {"idle", "iowait", "nice"}  # nice: yields to all others
_LOW_CLASSES = {0x40, 0x4000}  # Windows: IDLE_PRIORITY_CLASS, BELOW_NORMAL_PRIORITY_CLASS
_MODULES = {"tequio_client", "tequio_ledger"}
_PROGRAMS = {"tequio", "tequio-runtime", "tequio-ledger"}
_SEARCH_S = 5.0
"""Time between two searches for processes of Tequio."""
_MIB = 1 << 20
_WARMEST_C = 150.0


class CpuLoad:
    """Load by other programs; each call measures since the one before.

    Processes that yield to all others do not count: on Linux and macOS those
    with a nice value, on Windows those of a priority class below normal. Nor do the processes of
    Tequio: those that the worker names, and any other (an app, a ledger, a second worker).
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tequio = TequioProcesses()
        self._last_s: float | None = None
        self._busy_s = 0.0
        self._left_out: dict[ProcessId, float] = {}  # seconds used

    def read(self, watch: ProbeInstructions) -> float | None:
        """Share of all cores, 0 to 1, that other programs used; None the first time."""
        now_s, busy_s = self._clock(), _busy_s()
        left_out = dict(map(_used, self._tequio.find(now_s) | set(watch.ours)))
        if sys.platform == "win32":
            left_out |= low_priority_times(psutil.process_iter())
        taken_s = sum(used - self._left_out.get(one, used) for one, used in left_out.items())
        last_s, before_s = self._last_s, self._busy_s
        self._last_s, self._busy_s, self._left_out = now_s, busy_s, left_out
        if last_s is None or now_s <= last_s:
            return None
        whole_s = (now_s - last_s) * (os.cpu_count() or 1)
        return min(max((busy_s - before_s - taken_s) / whole_s, 0.0), 1.0)


class TequioProcesses:
    """Finds the processes of Tequio on this computer; looks at each process once."""

    def __init__(self) -> None:
        self._is_tequio: dict[int, bool] = {}  # by pid
        self._due_s = -math.inf

    def find(self, now_s: float) -> set[int]:
        if now_s >= self._due_s:
            self._due_s = now_s + _SEARCH_S
            known = self._is_tequio
            self._is_tequio = {
                pid: known[pid] if pid in known else _runs_tequio(pid) for pid in psutil.pids()
            }
        return {pid for pid, is_tequio in self._is_tequio.items() if is_tequio}


def _runs_tequio(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        program = process.exe()
        # Windows keeps arguments in a program's memory, which games guard against cheating. The
        # programs of a package are known without them.
        words = [] if sys.platform == "win32" else process.cmdline()
    except (psutil.Error, OSError):
        return False  # ended, or another user's
    modules = [after.partition(".")[0] for word, after in pairwise(words) if word == "-m"]
    # A script of Python's is its second word; the second word of an editor is any file.
    scripts = words[:2] if Path(program).stem.startswith("python") else words[:1]
    names = {Path(word).stem for word in (program, *scripts)}
    return not _MODULES.isdisjoint(modules) or not _PROGRAMS.isdisjoint(names)


def low_priority_times(processes: Iterable[psutil.Process]) -> dict[ProcessId, float]:
    """Processor time of processes below normal priority, by Windows' priority classes."""
    found = {}
    for process in processes:
        try:
            if process.nice() in _LOW_CLASSES:
                times = process.cpu_times()
                found[process.pid, process.create_time()] = times.user + times.system
        except (psutil.Error, OSError):
            continue  # ended, or the system's own
    return found


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


def _used(pid: int) -> tuple[ProcessId, float]:
    """Time of a process that `_busy_s` contains."""
    try:
        process = psutil.Process(pid)
        times = process.cpu_times()
        # The user time of a niced process is in the system's `nice`, which is not counted as busy.
        is_niced = sys.platform != "win32" and process.nice() > 0
        user_s = 0.0 if is_niced else times.user
        return (pid, process.create_time()), user_s + times.system
    except (psutil.Error, OSError):
        return (pid, 0.0), 0.0  # it ended meanwhile
