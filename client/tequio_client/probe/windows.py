"""Accelerators on Windows: adapters by DXGI, load and memory by the performance counters.

A counter's name contains program, adapter and engine:
`pid_4_luid_0x00000000_0x0000C0DE_phys_0_eng_3_ engtype_3D`. As in the Task Manager, the load of an
adapter is that of its busiest engine. The counters have the load by program, which NVML lacks on
Windows; the two sources are merged by name. NVIDIA's cards are listed by NVML alone: DXGI has no
identifier that lasts, by which a card that its owner switched off could be recognised.

One query stays open as long as the probe runs, since a rate needs two samples. Its wildcard
includes programs that start later. Structures and numbers are those of dxgi.h and pdh.h, for 64-bit
programs.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from tequio_client.ipc.facts import AcceleratorFacts, ProbeInstructions
from tequio_client.platform.dbus import NoAnswerError
from tequio_client.platform.system import windows_library
from tequio_client.probe.machine import Cards, engine_load

NVIDIA, AMD, INTEL = 0x10DE, 0x1002, 0x8086
_OWN_MEMORY = 1 << 30
"""Adapters with less dedicated memory are part of a processor."""
_MIB = 1 << 20
_ENGINE = re.compile(r"pid_(\d+)_(luid_0x[0-9a-f]+_0x[0-9a-f]+)_phys_\d+_eng_(\d+)", re.IGNORECASE)
_ADAPTER = re.compile(r"luid_0x[0-9a-f]+_0x[0-9a-f]+", re.IGNORECASE)
ENGINES = r"\GPU Engine(*)\Utilization Percentage"
USED_MEMORY = r"\GPU Adapter Memory(*)\Dedicated Usage"
_DOUBLE, _UNCAPPED = 0x200, 0x8000
_MORE_DATA = 0x800007D2
_NOTHING_YET = {0xC0000BC6, 0xC0000BBA, 0x800007D5}  # invalid until the second sample; no data
_VALID = {0, 1}
_FACTORY1 = bytes.fromhex("78ae0a77 6ff2 ba4d a829 253c83d1b387")
_ENUM_ADAPTERS1, _GET_DESC1, _RELEASE = 12, 10, 2
_NOT_FOUND = 0x887A0002
_MOST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One adapter as DXGI describes it; `luid` is spelled as in the counters' names."""

    luid: str
    name: str
    maker: int
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterSample:
    """One sample: percent by engine instance, bytes in use by adapter instance."""

    engines: Mapping[str, float]
    used_bytes: Mapping[str, float]


class WindowsInterfaces(Protocol):
    def adapters(self) -> tuple[Adapter, ...]:
        """All adapters, in the system's order; raises AbsentError, OSError."""

    def counters(self) -> CounterSample | None:
        """A sample; None until there are two to compare."""


class WindowsCards:
    """Every adapter with dedicated memory."""

    name = "pdh"

    def __init__(self, open_windows: Callable[[], WindowsInterfaces]) -> None:
        self._open = open_windows
        self._windows: WindowsInterfaces | None = None

    def read(self, watch: ProbeInstructions) -> Cards:
        # Opened in the thread that reads, and again after a failure.
        windows = self._windows = self._windows or self._open()
        adapters = [
            one
            for one in windows.adapters()
            if one.maker in (NVIDIA, AMD, INTEL) and one.memory_bytes >= _OWN_MEMORY
        ]
        sample = windows.counters()
        makers = [one.maker for one in adapters]
        kind = {NVIDIA: "cuda", AMD: "rocm" if NVIDIA in makers else "cuda", INTEL: "xpu"}
        gpus: list[AcceleratorFacts] = []
        completing: list[AcceleratorFacts] = []
        for index, adapter in enumerate(adapters):
            nth = makers[:index].count(adapter.maker)
            card = _card(f"{kind[adapter.maker]}:{nth}", adapter, sample, watch.ours)
            (completing if adapter.maker == NVIDIA else gpus).append(card)
        return Cards(gpus=tuple(gpus), completing=tuple(completing))


def _card(
    name: str, adapter: Adapter, sample: CounterSample | None, ours: Collection[int]
) -> AcceleratorFacts:
    load = others = used = None
    if sample is not None:
        load = engine_load(_engines(adapter.luid, sample.engines, ()))
        others = engine_load(_engines(adapter.luid, sample.engines, ours))
        used = _used(adapter.luid, sample.used_bytes)
    free = None if used is None else max(adapter.memory_bytes - used, 0)
    return AcceleratorFacts(
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


class _Luid(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("low", ctypes.c_uint32),
        ("high", ctypes.c_int32),
    ]


class _AdapterDesc1(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("name", ctypes.c_uint16 * 128),
        ("maker", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("subsystem", ctypes.c_uint32),
        ("revision", ctypes.c_uint32),
        ("own_bytes", ctypes.c_size_t),
        ("system_bytes", ctypes.c_size_t),
        ("shared_bytes", ctypes.c_size_t),
        ("luid", _Luid),
        ("flags", ctypes.c_uint32),
    ]


class _CounterItem(ctypes.Structure):
    _fields_ = [  # type: ignore[mutable-override]  # typeshed's declaration is wider
        ("name", ctypes.c_wchar_p),
        ("status", ctypes.c_uint32),
        ("value", ctypes.c_double),
    ]


class WindowsLibraries:
    """The open query of the performance counters, and DXGI."""

    def __init__(self) -> None:
        self._pdh = windows_library("pdh")
        self._dxgi = windows_library("dxgi")
        self._query = ctypes.c_void_p()
        self._engines = ctypes.c_void_p()
        self._used = ctypes.c_void_p()
        self._done("PdhOpenQueryW", self._pdh.PdhOpenQueryW(None, 0, ctypes.byref(self._query)))
        for path, counter in ((ENGINES, self._engines), (USED_MEMORY, self._used)):
            added = self._pdh.PdhAddEnglishCounterW(
                self._query, ctypes.c_wchar_p(path), 0, ctypes.byref(counter)
            )
            if added:
                self._pdh.PdhCloseQuery(self._query)
            self._done(f"the counter {path}", added)

    def adapters(self) -> tuple[Adapter, ...]:
        factory = ctypes.c_void_p()
        made = self._dxgi.CreateDXGIFactory1(
            ctypes.create_string_buffer(_FACTORY1, 16), ctypes.byref(factory)
        )
        self._done("CreateDXGIFactory1", made)
        found = []
        try:
            for index in range(_MOST):
                adapter = ctypes.c_void_p()
                result = _method(factory, _ENUM_ADAPTERS1, ctypes.c_uint32, ctypes.c_void_p)(
                    factory, index, ctypes.addressof(adapter)
                )
                if result & 0xFFFFFFFF == _NOT_FOUND:
                    break
                self._done("EnumAdapters1", result)
                found.append(_described(adapter))
        finally:
            _method(factory, _RELEASE)(factory)
        return tuple(found)

    def counters(self) -> CounterSample | None:
        collected = self._pdh.PdhCollectQueryData(self._query) & 0xFFFFFFFF
        if collected in _NOTHING_YET:
            return None
        self._done("PdhCollectQueryData", collected)
        engines, used = self._array(self._engines), self._array(self._used)
        if engines is None or used is None:
            return None
        return CounterSample(engines=engines, used_bytes=used)

    def _array(self, counter: ctypes.c_void_p) -> dict[str, float] | None:
        size, count = ctypes.c_uint32(0), ctypes.c_uint32(0)
        buffer = None
        for _ in range(4):  # the array may grow between the two calls
            result = self._pdh.PdhGetFormattedCounterArrayW(
                counter, _DOUBLE | _UNCAPPED, ctypes.byref(size), ctypes.byref(count), buffer
            )
            if result & 0xFFFFFFFF != _MORE_DATA:
                break
            buffer = ctypes.create_string_buffer(size.value)
        if result & 0xFFFFFFFF in _NOTHING_YET:
            return None
        self._done("PdhGetFormattedCounterArrayW", result)
        items = ctypes.cast(buffer, ctypes.POINTER(_CounterItem)) if buffer else ()
        read = [items[index] for index in range(count.value)]
        values: dict[str, float] = {}
        for item in read:
            if item.status in _VALID:  # two instances may share a name
                values[item.name] = values.get(item.name, 0.0) + item.value
        return values

    def _done(self, what: str, result: int) -> None:
        if result & 0xFFFFFFFF:
            raise NoAnswerError(f"{what} failed with 0x{result & 0xFFFFFFFF:08X}")


def _described(adapter: ctypes.c_void_p) -> Adapter:
    desc = _AdapterDesc1()
    try:
        _method(adapter, _GET_DESC1, ctypes.c_void_p)(adapter, ctypes.addressof(desc))
    finally:
        _method(adapter, _RELEASE)(adapter)
    name = bytes(desc.name).decode("utf-16-le", "replace").partition("\0")[0]
    return Adapter(
        luid=f"luid_0x{desc.luid.high & 0xFFFFFFFF:08X}_0x{desc.luid.low:08X}",
        name=name,
        maker=desc.maker,
        memory_bytes=desc.own_bytes,
    )


def _method(of: ctypes.c_void_p, index: int, *kinds: type) -> Callable[..., int]:
    table = ctypes.cast(of, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *kinds)
    return cast("Callable[..., int]", prototype(table[index] or 0))
