"""AMD's and Intel's cards on Linux, by sysfs; the load of programs by `fdinfo`.

Of Intel only cards of their own are listed: the graphics in a processor is at 00:02.0. AMD's cards
are the trainer's `cuda` (its ROCm build says so) where no NVIDIA card is, else `rocm`, which no
trainer can use beside CUDA.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tequio_client.link.facts import Gpu
from tequio_client.probe.cards import Cards, busiest
from tequio_client.probe.nvml import NVIDIA
from tequio_client.probe.sysfs import inside, number, scaled, text

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.link.facts import Watch
    from tequio_client.probe.fdinfo import Programs

AMD, INTEL = "0x1002", "0x8086"
_CARD = re.compile(r"card[0-9]+")
_IN_PROCESSOR = "0000:00:02.0"
_MIB = 1 << 20
_MAKERS = {AMD: "AMD", INTEL: "Intel"}


class DrmCards:
    """Every card under `sys`, the root of sysfs."""

    name = "sysfs"

    def __init__(self, sys: Path, programs: Programs) -> None:
        self._sys, self._programs = sys, programs

    def read(self, watch: Watch) -> Cards:
        """See CardSource."""
        found = {
            device.name: device
            for card in inside(self._sys / "class/drm", "card*")
            if _CARD.fullmatch(card.name) and (device := (card / "device").resolve()).is_dir()
        }
        makers = {address: text(device / "vendor") for address, device in found.items()}
        ids = _ids(makers)
        loads = self._programs.loads(watch.ours) if ids else None
        return Cards(
            gpus=tuple(
                _card(
                    ids[address],
                    found[address],
                    makers[address],
                    None if loads is None else loads.get(address, ({}, {})),
                )
                for address in sorted(ids)
            )
        )


def _ids(makers: dict[str, str]) -> dict[str, str]:
    kind = {AMD: "rocm" if NVIDIA in makers.values() else "cuda", INTEL: "xpu"}
    ids: dict[str, str] = {}
    counts: dict[str, int] = {}
    for address in sorted(makers):
        maker = makers[address]
        if maker in kind and not (maker == INTEL and address == _IN_PROCESSOR):
            nth = counts.get(maker, 0)
            counts[maker] = nth + 1
            ids[address] = f"{kind[maker]}:{nth}"
    return ids


def _card(
    name: str, device: Path, maker: str, loads: tuple[dict[str, float], dict[str, float]] | None
) -> Gpu:
    total = number(device / "mem_info_vram_total")
    used = number(device / "mem_info_vram_used")
    busy = number(device / "gpu_busy_percent")
    sensors = next(iter(inside(device / "hwmon", "hwmon*")), device / "hwmon")
    everybody, others = (None, None) if loads is None else map(busiest, loads)
    model = text(device / "product_name") or f"{_MAKERS[maker]} {text(device / 'device')}"
    return Gpu(
        id=name,
        name=model[:256],
        memory_mb=total // _MIB if total is not None and total >= 0 else None,
        free_mb=(total - used) // _MIB
        if total and used is not None and 0 <= used <= total
        else None,
        load=everybody if busy is None else min(max(busy / 100, 0.0), 1.0),
        others_load=others,
        temperature_c=scaled(sensors / "temp1_input", 1e-3),
        watts=_first(sensors, ("power1_average", "power1_input")),
        watts_limit=_first(sensors, ("power1_cap", "power1_max")),
        energy_j=scaled(sensors / "energy1_input", 1e-6),
        driver=text(device / "driver/module/version") or (device / "driver").resolve().name,
    )


def _first(sensors: Path, names: tuple[str, ...]) -> float | None:
    values = (scaled(sensors / name, 1e-6) for name in names)
    return next((value for value in values if value is not None), None)
