"""Accelerators on Windows: adapters by DXGI, load and memory by the performance counters.

A counter's name tells program, adapter and engine: `pid_4_luid_0x00000000_0x0000C0DE_phys_0_eng_3_
engtype_3D`. As in the Task Manager, an adapter is as busy as its busiest engine. The counters know
the load by program, which NVIDIA's library does not tell on Windows; the two are merged by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tequio_client.link.facts import Gpu
from tequio_client.probe.cards import Cards, busiest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tequio_client.link.facts import Watch

NVIDIA, AMD, INTEL = 0x10DE, 0x1002, 0x8086
_OWN_MEMORY = 1 << 30
"""Adapters with less memory of their own are part of a processor."""
_MIB = 1 << 20
_ENGINE = re.compile(r"pid_(\d+)_(luid_0x[0-9a-f]+_0x[0-9a-f]+)_phys_\d+_eng_(\d+)", re.IGNORECASE)
_ADAPTER = re.compile(r"luid_0x[0-9a-f]+_0x[0-9a-f]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One adapter as DXGI describes it; `luid` in the manner of the counters' names."""

    luid: str
    name: str
    maker: int
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """One sample: percent by engine instance, bytes in use by adapter instance."""

    engines: Mapping[str, float]
    used_bytes: Mapping[str, float]


class Windows(Protocol):
    """The two interfaces of Windows."""

    def adapters(self) -> tuple[Adapter, ...]:
        """All of them, in the system's order; raises AbsentError, OSError."""

    def counters(self) -> Counters | None:
        """A sample, or None while there is only one to count from."""


class WindowsCards:
    """Every adapter with memory of its own."""

    name = "pdh"

    def __init__(self, windows: Windows) -> None:
        self._windows = windows

    def read(self, watch: Watch) -> Cards:
        """See CardSource."""
        adapters = [
            one
            for one in self._windows.adapters()
            if one.maker in (NVIDIA, AMD, INTEL) and one.memory_bytes >= _OWN_MEMORY
        ]
        sample = self._windows.counters()
        makers = [one.maker for one in adapters]
        kind = {NVIDIA: "cuda", AMD: "rocm" if NVIDIA in makers else "cuda", INTEL: "xpu"}
        gpus = []
        for index, adapter in enumerate(adapters):
            nth = makers[:index].count(adapter.maker)
            gpus.append(_card(f"{kind[adapter.maker]}:{nth}", adapter, sample, watch.ours))
        return Cards(gpus=tuple(gpus))


def _card(name: str, adapter: Adapter, sample: Counters | None, ours: Collection[int]) -> Gpu:
    load = others = used = None
    if sample is not None:
        load = busiest(_engines(adapter.luid, sample.engines, ()))
        others = busiest(_engines(adapter.luid, sample.engines, ours))
        used = _used(adapter.luid, sample.used_bytes)
    free = None if used is None else max(adapter.memory_bytes - used, 0)
    return Gpu(
        id=name,
        name=adapter.name[:256],
        memory_mb=adapter.memory_bytes // _MIB,
        free_mb=None if free is None else free // _MIB,
        load=load,
        others_load=others,
    )


def _engines(luid: str, engines: Mapping[str, float], without: Collection[int]) -> dict[str, float]:
    loads: dict[str, float] = {}
    for instance, percent in engines.items():
        found = _ENGINE.match(instance)
        if found is None or found[2].lower() != luid.lower() or int(found[1]) in without:
            continue
        loads[found[3]] = loads.get(found[3], 0.0) + max(percent, 0.0) / 100
    return loads


def _used(luid: str, used_bytes: Mapping[str, float]) -> int | None:
    values = [
        used
        for instance, used in used_bytes.items()
        if (found := _ADAPTER.match(instance)) and found[0].lower() == luid.lower()
    ]
    return int(sum(values)) if values else None
