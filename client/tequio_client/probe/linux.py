"""AMD's and Intel's cards on Linux, by sysfs, and the load by program, by `/proc/<pid>/fdinfo`.

Of Intel, only discrete cards are listed; the graphics in a processor is at 00:02.0. AMD's cards are
the trainer's `cuda`, as the ROCm build of torch names them; beside an NVIDIA card they are `rocm`,
which no trainer can use there.

The drivers amdgpu, i915, xe and nouveau count for each client how long it used each engine: in
nanoseconds, or in cycles together with the cycles that have passed. Programs of other users cannot
be read. All programs are scanned every few seconds; in between only those that had a card open.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tequio_client.ipc.facts import AcceleratorFacts, ProbeInstructions
from tequio_client.platform.system import matching, read_int, read_scaled, read_text
from tequio_client.probe.machine import Cards, engine_load
from tequio_client.probe.nvml import NVIDIA

AMD, INTEL = "0x1002", "0x8086"
_CARD = re.compile(r"card[0-9]+")
_IN_PROCESSOR = "0000:00:02.0"
_MIB = 1 << 20
_MAKERS = {AMD: "AMD", INTEL: "Intel"}
SCAN_S = 5.0
"""Interval between two scans of all programs."""
_NS = 1e-9
Client = tuple[str, str]
"""PCI address and client number: several file descriptors may share one."""
Loads = dict[str, tuple[dict[str, float], dict[str, float]]]
"""By PCI address: load of each engine by all programs, and by others than ours."""


class DrmCards:
    """Every card under `sys`, the root of sysfs."""

    name = "sysfs"

    def __init__(self, sys: Path, programs: DrmPrograms) -> None:
        self._sys, self._programs = sys, programs

    def read(self, watch: ProbeInstructions) -> Cards:
        found = {
            device.name: device
            for card in matching(self._sys / "class/drm", "card*")
            if _CARD.fullmatch(card.name) and (device := (card / "device").resolve()).is_dir()
        }
        makers = {address: read_text(device / "vendor") for address, device in found.items()}
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
) -> AcceleratorFacts:
    total = read_int(device / "mem_info_vram_total")
    used = read_int(device / "mem_info_vram_used")
    busy = read_int(device / "gpu_busy_percent")
    sensors = next(iter(matching(device / "hwmon", "hwmon*")), device / "hwmon")
    everyone, others = (None, None) if loads is None else map(engine_load, loads)
    model = read_text(device / "product_name") or f"{_MAKERS[maker]} {read_text(device / 'device')}"
    return AcceleratorFacts(
        id=name,
        name=model[:256],
        serial=f"pci-{device.name}"[:256],
        memory_mb=total // _MIB if total is not None and total >= 0 else None,
        free_mb=(total - used) // _MIB
        if total and used is not None and 0 <= used <= total
        else None,
        load=everyone if busy is None else min(max(busy / 100, 0.0), 1.0),
        others_load=others,
        temperature_c=read_scaled(sensors / "temp1_input", 1e-3),
        watts=_first(sensors, ("power1_average", "power1_input")),
        watts_limit=_first(sensors, ("power1_cap", "power1_max")),
        energy_j=read_scaled(sensors / "energy1_input", 1e-6),
        driver=read_text(device / "driver/module/version") or (device / "driver").resolve().name,
    )


def _first(sensors: Path, names: tuple[str, ...]) -> float | None:
    values = (read_scaled(sensors / name, 1e-6) for name in names)
    return next((value for value in values if value is not None), None)


@dataclass(slots=True)
class ClientCounters:
    """The counters of one client of a card."""

    pid: int
    busy_ns: dict[str, int] = field(default_factory=dict)
    cycles: dict[str, int] = field(default_factory=dict)
    all_cycles: dict[str, int] = field(default_factory=dict)


class DrmPrograms:
    """The programs that hold a card open; `proc` is the root of procfs."""

    def __init__(self, proc: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._proc, self._clock = proc, clock
        self._pids: set[int] = set()
        self._scanned_s: float | None = None
        self._last: dict[Client, ClientCounters] = {}
        self._last_s: float | None = None

    def loads(self, ours: Collection[int]) -> Loads | None:
        """Loads since the last call; None the first time, or if the drivers count nothing."""
        now_s = self._clock()
        clients = self._clients(now_s)
        before, self._last = self._last, clients
        before_s, self._last_s = self._last_s, now_s
        if before_s is None or now_s <= before_s or (self._pids and not clients):
            return None
        loads: Loads = {}
        for client, counted in clients.items():
            everyone, others = loads.setdefault(client[0], ({}, {}))
            shares = _shares(before.get(client), counted, now_s - before_s)
            for engine, share in shares.items():
                everyone[engine] = everyone.get(engine, 0.0) + share
                if counted.pid not in ours:
                    others[engine] = others.get(engine, 0.0) + share
        return loads

    def _clients(self, now_s: float) -> dict[Client, ClientCounters]:
        if self._scanned_s is None or now_s - self._scanned_s >= SCAN_S:
            self._scanned_s = now_s
            names = os.listdir(self._proc)  # noqa: PTH208 - thousands: no object for each
            self._pids = {int(name) for name in names if name.isdecimal()}
        clients: dict[Client, ClientCounters] = {}
        holding = set()
        for pid in self._pids:
            for read in self._held(pid):
                holding.add(pid)
                if read is not None:
                    clients.setdefault(*read)
        self._pids = holding
        return clients

    def _held(self, pid: int) -> Iterator[tuple[Client, ClientCounters] | None]:
        folder = self._proc / str(pid)
        try:
            names = os.listdir(folder / "fd")  # noqa: PTH208 - as above
        except OSError:
            return
        for name in names:
            try:
                target = os.readlink(folder / "fd" / name)  # noqa: PTH115 - as above
            except OSError:
                continue
            if target.startswith("/dev/dri/"):
                yield parse_fdinfo(pid, read_text(folder / "fdinfo" / name))


def parse_fdinfo(pid: int, content: str) -> tuple[Client, ClientCounters] | None:
    """The counters in one `fdinfo` file; None if it is not about a card."""
    pairs = (line.partition(":") for line in content.splitlines())
    values = {name.strip(): value.strip() for name, _, value in pairs}
    if "drm-pdev" not in values or "drm-client-id" not in values:
        return None
    counted = ClientCounters(pid)
    for name, value in values.items():
        count = value.partition(" ")[0]
        if not count.isdecimal():
            continue
        for prefix, table in (
            ("drm-engine-", counted.busy_ns),
            ("drm-cycles-", counted.cycles),
            ("drm-total-cycles-", counted.all_cycles),
        ):
            if name.startswith(prefix) and "capacity" not in name:
                table[name.removeprefix(prefix)] = int(count)
    return (values["drm-pdev"], values["drm-client-id"]), counted


def _shares(
    before: ClientCounters | None, now: ClientCounters, elapsed_s: float
) -> dict[str, float]:
    before = before or ClientCounters(now.pid, busy_ns=now.busy_ns, cycles=now.cycles)
    shares = {
        engine: max(busy - before.busy_ns.get(engine, busy), 0) * _NS / elapsed_s
        for engine, busy in now.busy_ns.items()
    }
    for engine, cycles in now.cycles.items():
        passed = now.all_cycles.get(engine, 0) - before.all_cycles.get(engine, 0)
        if passed > 0:
            shares[engine] = max(cycles - before.cycles.get(engine, cycles), 0) / passed
    return shares
