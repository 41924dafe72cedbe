"""NVIDIA's cards, by NVML, the library of their driver.

Cards are listed by PCI address, the trainer's order too. A value that a card does not support is
unknown, which is not a fault; a sensor that fails is unknown too, and is reported. A lost card or
a replaced driver is a fault: such a card keeps its serial and its memory, since the volunteer's
choices and limits go by them. If no card answers, the library is opened again the next time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import psutil
import pynvml

from tequio_client.ipc.facts import AcceleratorFacts, ProbeInstructions
from tequio_client.platform.dbus import NoAnswerError
from tequio_client.platform.system import read_text
from tequio_client.probe.machine import Cards, without_readings

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
_CARD_FAILED = {
    pynvml.NVML_ERROR_UNINITIALIZED,
    pynvml.NVML_ERROR_GPU_IS_LOST,
    pynvml.NVML_ERROR_RESET_REQUIRED,
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
}
"""Errors that concern the card or its driver, whichever sensor was asked."""


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
        self._known: dict[int, AcceleratorFacts] = {}  # by card, for one that stops answering
        self._problems: dict[int, str] = {}  # by card: the last one of this reading
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
        """Raises NVMLError if all cards fail, as after the driver was replaced."""
        driver = _plain(self._nvml.nvmlSystemGetDriverVersion())
        gpus: list[AcceleratorFacts] = []
        failures: list[pynvml.NVMLError] = []
        self._problems = {}
        count = self._nvml.nvmlDeviceGetCount()
        for index in range(count):
            try:
                self._known[index] = self._card(index, driver, ours)
                gpus.append(self._known[index])
            except pynvml.NVMLError as err:
                failures.append(err)
                self._problems[index] = str(err)
                # One that has never been read is not listed: without its serial, it would be lent
                # although its owner has switched it off.
                if index in self._known:
                    gpus.append(without_readings(self._known[index]))
        if failures and len(failures) == count:
            raise failures[0]
        problem = "; ".join(f"cuda:{index}: {one}" for index, one in self._problems.items())
        return Cards(gpus=tuple(gpus), problem=problem)

    def _card(self, index: int, driver: str, ours: Collection[int]) -> AcceleratorFacts:
        nvml = self._nvml
        card = nvml.nvmlDeviceGetHandleByIndex(index)
        memory = _offered(lambda: nvml.nvmlDeviceGetMemoryInfo(card))
        ask = partial(self._ask_sensor, index)
        load = ask(lambda: _part(nvml.nvmlDeviceGetUtilizationRates(card).gpu))
        return AcceleratorFacts(
            id=f"cuda:{index}",
            name=_plain(nvml.nvmlDeviceGetName(card))[:256],
            serial=_plain(_offered(lambda: nvml.nvmlDeviceGetUUID(card)) or "")[:256],
            memory_mb=None if memory is None else memory.total // _MIB,
            free_mb=None if memory is None else memory.free // _MIB,
            load=load,
            others_load=ask(lambda: self._others(index, card, load, ours)),
            temperature_c=ask(
                lambda: float(nvml.nvmlDeviceGetTemperature(card, pynvml.NVML_TEMPERATURE_GPU))
            ),
            watts=ask(lambda: nvml.nvmlDeviceGetPowerUsage(card) / 1e3),
            watts_limit=ask(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(card) / 1e3),
            energy_j=ask(lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(card) / 1e3),
            driver=driver,
        )

    def _ask_sensor(self, index: int, ask: Callable[[], T]) -> T | None:
        """The sensor's answer, None if it fails; raises NVMLError if the card or driver does."""
        try:
            return _offered(ask)
        except pynvml.NVMLError as err:
            if err.value in _CARD_FAILED:
                raise
            self._problems[index] = str(err)
            return None

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
