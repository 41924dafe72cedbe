"""NVIDIA's cards, by NVML, the library of their driver.

Cards are listed by PCI address, the trainer's order too. A value that a card does not support is
unknown, which is not a fault. A lost card or a replaced driver is a fault, and the library is
opened again the next time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import psutil
import pynvml

from tequio_client.ipc.facts import AcceleratorFacts, ProbeInstructions
from tequio_client.platform.dbus import NoAnswerError
from tequio_client.platform.system import read_text
from tequio_client.probe.machine import Cards

T = TypeVar("T")
RETRY_S = 10.0
"""Interval between two searches for a missing driver."""
NVIDIA = "0x10de"
_DISPLAY = "0x03"
_MIB = 1 << 20
_WHOLE = 100
_NO_DRIVER = {pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED}
_NOT_OFFERED = {
    pynvml.NVML_ERROR_NOT_SUPPORTED,
    pynvml.NVML_ERROR_NO_PERMISSION,
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
    pynvml.NVML_ERROR_NO_DATA,
}


class NvmlCards:
    """The open connection to the driver; `sys` is the root of sysfs."""

    name = "nvml"

    def __init__(
        self,
        sys: Path,
        nvml: ModuleType = pynvml,
        *,
        is_here: Callable[[int], bool] = psutil.pid_exists,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sys, self._nvml, self._is_here, self._clock = sys, nvml, is_here, clock
        self._is_open = False
        self._absent: Cards | None = None
        self._absent_until = 0.0
        self._serials: dict[int, str] = {}  # by card, for one that stops answering
        self._seen_us: dict[int, int] = {}  # by card: the newest sample that was counted

    def read(self, watch: ProbeInstructions) -> Cards:
        """Raises NoAnswerError or NVMLError if no card can be read."""
        if self._absent is not None and self._clock() < self._absent_until:
            return self._absent
        self._absent = None
        try:
            self._open()
        except pynvml.NVMLError as err:
            if err.value not in _NO_DRIVER:
                raise
            return self._without_driver(err)
        try:
            return self._cards(watch.ours)
        except pynvml.NVMLError:
            self.close()
            raise

    def close(self) -> None:
        """Release the driver, so that a card can sleep and the driver can be replaced."""
        if self._is_open:
            self._is_open = False
            self._nvml.nvmlShutdown()

    def _open(self) -> None:
        if not self._is_open:
            self._nvml.nvmlInit()
            self._is_open = True

    def _without_driver(self, err: pynvml.NVMLError) -> Cards:
        self._absent, self._absent_until = Cards(), self._clock() + RETRY_S
        for device in (self._sys / "bus/pci/devices").glob("*"):
            if read_text(device / "vendor") == NVIDIA and read_text(device / "class").startswith(
                _DISPLAY
            ):
                self._absent_until = 0.0
                raise NoAnswerError(f"the NVIDIA card {device.name} has no working driver: {err}")
        return self._absent

    def _cards(self, ours: Collection[int]) -> Cards:
        driver = _plain(self._nvml.nvmlSystemGetDriverVersion())
        gpus, problems = [], []
        for index in range(self._nvml.nvmlDeviceGetCount()):
            try:
                gpus.append(self._card(index, driver, ours))
            except pynvml.NVMLError as err:
                gpus.append(
                    AcceleratorFacts(
                        id=f"cuda:{index}",
                        name=f"NVIDIA card {index}",
                        serial=self._serials.get(index, ""),
                        driver=driver,
                    )
                )
                problems.append(f"cuda:{index}: {err}")
        if gpus and len(problems) == len(gpus):
            self.close()  # as after the driver was replaced
        return Cards(gpus=tuple(gpus), problem="; ".join(problems))

    def _card(self, index: int, driver: str, ours: Collection[int]) -> AcceleratorFacts:
        nvml = self._nvml
        card = nvml.nvmlDeviceGetHandleByIndex(index)
        self._serials[index] = _plain(_offered(lambda: nvml.nvmlDeviceGetUUID(card)) or "")[:256]
        memory = _offered(lambda: nvml.nvmlDeviceGetMemoryInfo(card))
        load = _offered(lambda: _part(nvml.nvmlDeviceGetUtilizationRates(card).gpu))
        degrees = _offered(
            lambda: float(nvml.nvmlDeviceGetTemperature(card, pynvml.NVML_TEMPERATURE_GPU))
        )
        return AcceleratorFacts(
            id=f"cuda:{index}",
            name=_plain(nvml.nvmlDeviceGetName(card))[:256],
            serial=self._serials[index],
            memory_mb=None if memory is None else memory.total // _MIB,
            free_mb=None if memory is None else memory.free // _MIB,
            load=load,
            others_load=self._others(index, card, load, ours),
            temperature_c=degrees,
            watts=_offered(lambda: nvml.nvmlDeviceGetPowerUsage(card) / 1e3),
            watts_limit=_offered(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(card) / 1e3),
            energy_j=_offered(lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(card) / 1e3),
            driver=driver,
        )

    def _others(
        self, index: int, card: object, load: float | None, ours: Collection[int]
    ) -> float | None:
        """Load of others by the driver's samples, else by the programs that have the card open."""
        since_us = self._seen_us.get(index, 0)
        try:
            samples = self._nvml.nvmlDeviceGetProcessUtilization(card, since_us)
        except pynvml.NVMLError as err:
            if err.value == pynvml.NVML_ERROR_NOT_FOUND:
                return 0.0  # no program has computed since
            if err.value not in _NOT_OFFERED:
                raise
            return self._others_by_presence(card, load, ours)
        latest: dict[int, float] = {}
        for sample in sorted(samples, key=lambda one: one.timeStamp):
            if sample.smUtil <= _WHOLE:  # some drivers report garbage for a program that ended
                latest[sample.pid] = sample.smUtil / _WHOLE
            self._seen_us[index] = max(sample.timeStamp, self._seen_us.get(index, 0))
        if ours and latest and not any(self._is_here(pid) for pid in latest):
            return None  # pids of another container: ours are not recognisable
        return min(sum(part for pid, part in latest.items() if pid not in ours), 1.0)

    def _others_by_presence(
        self, card: object, load: float | None, ours: Collection[int]
    ) -> float | None:
        nvml = self._nvml
        lists = (
            _offered(lambda: nvml.nvmlDeviceGetComputeRunningProcesses(card)),
            _offered(lambda: nvml.nvmlDeviceGetGraphicsRunningProcesses(card)),
        )
        if None in lists:
            return None
        # Without shares by program, the whole load is that of others if ours is absent.
        present = {process.pid for one in lists for process in one or ()}
        if not present & set(ours):
            return load
        return None if present - set(ours) else 0.0


def _offered(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except pynvml.NVMLError as err:
        if err.value in _NOT_OFFERED:
            return None
        raise


def _part(percent: int) -> float | None:
    return percent / _WHOLE if 0 <= percent <= _WHOLE else None


def _plain(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text
