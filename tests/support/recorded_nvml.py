"""A fake NVIDIA driver: the functions of pynvml with answers set by the test.

An answer that is an exception is raised; one that is a function is called.
"""

# ruff: noqa: ANN401, N802 - the library's names; it answers with anything

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pynvml

Sample = SimpleNamespace


def error(code: int) -> pynvml.NVMLError:
    """The library's exception with that code."""
    return pynvml.NVMLError(code)


def card(**changes: Any) -> dict[str, Any]:
    """A card as a GeForce under Linux answers, with some answers replaced."""
    answers: dict[str, Any] = {
        "nvmlDeviceGetName": "NVIDIA GeForce RTX 4070",
        "nvmlDeviceGetUUID": "GPU-6f1c0d8e-0000-4b9a-9b1e-1f6c2a7d5e30",
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=12 << 30, free=9 << 30, used=3 << 30),
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=37, memory=12),
        "nvmlDeviceGetTemperature": 61,
        "nvmlDeviceGetPowerUsage": 143_250,
        "nvmlDeviceGetEnforcedPowerLimit": 200_000,
        "nvmlDeviceGetTotalEnergyConsumption": 9_876_543,
        "nvmlDeviceGetProcessUtilization": error(pynvml.NVML_ERROR_NOT_FOUND),
        "nvmlDeviceGetComputeRunningProcesses": [],
        "nvmlDeviceGetGraphicsRunningProcesses": [],
    }
    return answers | changes


def sample(pid: int, percent: int, at_us: int = 1_000) -> Sample:
    """One process's utilisation of a card's processors."""
    return SimpleNamespace(pid=pid, smUtil=percent, timeStamp=at_us)


class RecordedNvml:
    """The library with these cards; `init` may make opening it fail."""

    def __init__(self, *cards: dict[str, Any]) -> None:
        self.cards = list(cards)
        self.init: Any = None
        self.is_open = False
        self.opened = 0
        self.asked_since: list[int] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvmlDevice"):
            raise AttributeError(name)
        return lambda handle, *rest: self._answer(handle, name, rest)

    def nvmlInit(self) -> None:
        _given(self.init)
        self.is_open = True
        self.opened += 1

    def nvmlShutdown(self) -> None:
        self.is_open = False

    def nvmlSystemGetDriverVersion(self) -> str:
        return "595.71.05"

    def nvmlDeviceGetCount(self) -> int:
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        if not self.is_open:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_UNINITIALIZED)
        return index

    def _answer(self, handle: int, name: str, rest: tuple[Any, ...]) -> Any:
        if name == "nvmlDeviceGetProcessUtilization":
            self.asked_since.append(rest[0])
        return _given(self.cards[handle][name])


def _given(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer() if callable(answer) else answer
