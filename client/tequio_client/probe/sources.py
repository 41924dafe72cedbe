"""The interfaces that are read on each system, and a Mac's own graphics.

Those come from the output of `ioreg` about IOAccelerator. The load by program needs the rights of
root, so the load of others is unknown while the worker computes, and the whole load otherwise. The
memory is the machine's.
"""

from __future__ import annotations

import plistlib
import sys
from functools import partial
from pathlib import Path
from xml.parsers.expat import ExpatError

from tequio_client.ipc.facts import AcceleratorFacts, ProbeInstructions
from tequio_client.platform.dbus import AbsentError, Bus, NoAnswerError, ProgramRunner, run_program
from tequio_client.probe import cpu, power
from tequio_client.probe.linux import DrmCards, DrmPrograms
from tequio_client.probe.machine import Cards, FactSources
from tequio_client.probe.nvml import NvmlCards
from tequio_client.probe.windows import WindowsCards, WindowsLibraries

COMMAND = ("/usr/sbin/ioreg", "-r", "-d", "1", "-w", "0", "-c", "IOAccelerator", "-a")
_WHOLE = 100


class AppleCards:
    name = "ioaccelerator"

    def __init__(self, output_of: ProgramRunner) -> None:
        self._output_of = output_of

    def read(self, watch: ProbeInstructions) -> Cards:
        """Raises NoAnswerError when ioreg fails."""
        content = self._output_of(COMMAND)
        try:
            entries = plistlib.loads(content) if content.strip() else []
        except (plistlib.InvalidFileException, ExpatError, ValueError) as err:
            raise NoAnswerError(f"ioreg did not print a property list: {err}") from err
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and str(entry.get("IOClass", "")).startswith("AGX"):
                return Cards(gpus=(_card(entry, is_ours=watch.is_computing),))
        return Cards()


def _card(entry: dict[str, object], *, is_ours: bool) -> AcceleratorFacts:
    statistics = entry.get("PerformanceStatistics")
    percent = statistics.get("Device Utilization %") if isinstance(statistics, dict) else None
    is_sane = isinstance(percent, int) and 0 <= percent <= _WHOLE
    load = percent / _WHOLE if is_sane and isinstance(percent, int) else None
    model = entry.get("model")
    return AcceleratorFacts(
        id="mps",
        name=model[:256] if isinstance(model, str) else "Apple GPU",
        load=load,
        others_load=None if is_ours else load,
    )


def sources(sys_root: Path, proc_root: Path, system: str = sys.platform) -> FactSources:
    """The sources of a system (`linux`, `win32`, `darwin`)."""
    common = partial(
        FactSources,
        cpu_name=partial(cpu.cpu_name, proc_root),
        others_cpu=cpu.CpuLoad().read,
        memory=cpu.main_memory,
    )
    if system == "win32":
        return common(
            cards=(NvmlCards(sys_root), WindowsCards(WindowsLibraries)),
            cpu_temperature_c=_no_temperature,
            on_battery=power.windows_on_battery,
            is_saving=power.windows_is_saving,
            names={"battery": "kernel32", "power-saver": "kernel32"},
        )
    if system == "darwin":
        return common(
            cards=(AppleCards(run_program),),
            cpu_temperature_c=_no_temperature,
            on_battery=partial(power.macos_on_battery, run_program),
            is_saving=partial(power.macos_is_saving, run_program),
            names={"battery": "pmset", "power-saver": "pmset"},
        )
    return common(
        cards=(NvmlCards(sys_root), DrmCards(sys_root, DrmPrograms(proc_root))),
        cpu_temperature_c=partial(cpu.temperature_c, sys_root),
        on_battery=partial(power.on_battery, sys_root),
        is_saving=partial(power.is_saving, sys_root, Bus("SYSTEM")),
        names={"battery": "sysfs", "cpu-temperature": "hwmon", "power-saver": "power-profiles"},
    )


def _no_temperature() -> float:
    raise AbsentError("this system reports the temperature to administrators only")
