"""The devices of a machine, accelerators first and the processor last, with their history."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.ipc.facts import Gpu, MachineFacts
    from tequio_client.ipc.preferences import Preferences


CPU = "cpu"
READINGS = 60
"""Readings remembered of each kind: one minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device now; None: unknown."""

    id: str
    name: str
    memory_mb: int | None = None
    free_mb: int | None = None
    load: float | None = None
    others: float | None = None
    temperature_c: float | None = None
    watts: float | None = None
    watts_limit: float | None = None
    driver: str = ""
    cores: int = 0
    """Processor cores; 0 for an accelerator."""

    @property
    def is_processor(self) -> bool:
        return self.id == CPU

    @property
    def used_mb(self) -> int | None:
        if self.memory_mb is None or self.free_mb is None:
            return None
        return max(self.memory_mb - self.free_mb, 0)


def devices(machine: MachineFacts) -> tuple[Device, ...]:
    cards = [_card(gpu) for gpu in machine.gpus or () if gpu.id != CPU]
    return (*cards, _processor(machine))


def is_used(device: Device, machine: MachineFacts, preferences: Preferences) -> bool:
    """Return true if the device may compute: by default the processor only where it is alone."""
    has_choice = any(one.id == device.id for one in preferences.devices)
    if device.is_processor and not has_choice:
        return not any(gpu.id != CPU for gpu in machine.gpus or ())
    return preferences.device(device.id).use


def _card(gpu: Gpu) -> Device:
    return Device(
        id=gpu.id,
        name=gpu.name,
        memory_mb=gpu.memory_mb,
        free_mb=gpu.free_mb,
        load=gpu.load,
        others=gpu.others_load,
        temperature_c=gpu.temperature_c,
        watts=gpu.watts,
        watts_limit=gpu.watts_limit,
        driver=gpu.driver,
    )


def _processor(machine: MachineFacts) -> Device:
    listed = next((gpu for gpu in machine.gpus or () if gpu.id == CPU), None)
    return Device(
        id=CPU,
        name=machine.cpu_name,
        memory_mb=machine.memory_mb,
        free_mb=machine.free_memory_mb,
        load=listed.load if listed else None,
        others=machine.others_cpu,
        temperature_c=machine.cpu_temperature_c,
        watts=listed.watts if listed else None,
        cores=machine.cores,
    )


class History:
    """The last readings of each device."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], deque[float | None]] = {}

    def take(self, machine: MachineFacts) -> None:
        for device in devices(machine):
            for kind in ("load", "others", "used_mb", "temperature_c", "watts"):
                readings = self._kept.setdefault((device.id, kind), deque(maxlen=READINGS))
                readings.append(getattr(device, kind))

    def of(self, device: str, kind: str) -> Sequence[float | None]:
        return tuple(self._kept.get((device, kind), ()))


VENDOR = re.compile(r"^(NVIDIA |AMD |Intel\(R\) )?(GeForce |Radeon )?")
"""Vendor and family, left out where space is short."""


def short(name: str) -> str:
    """The name of a card without its vendor: RTX 4070."""
    return VENDOR.sub("", name) or name
