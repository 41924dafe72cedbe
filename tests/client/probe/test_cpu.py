"""The processor: whose load it is, by real processes; temperatures by a made tree."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from tequio_client.ipc.facts import ProbeInstructions
from tequio_client.platform.dbus import AbsentError
from tequio_client.probe import cpu

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPIN = "while True: pass"
NICE_SPIN = "import os; os.nice(10)\nwhile True: pass"
at_normal_priority = pytest.mark.skipif(
    sys.platform != "win32" and os.nice(0) > 0, reason="all processes of these tests yield"
)


@contextmanager
def running(code: str, *words: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", code, *words]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """Shares of all cores while a process computed: of all, of others by the probe, of it."""

    whole: float
    others: float
    spent: float


def loads_beside(pid: int, *ours: int) -> Loads:
    probe, watch = cpu.CpuLoad(), ProbeInstructions(ours=ours)
    probe.read(watch)
    begun_s, used_before_s, busy_before_s = time.monotonic(), used_s(pid), whole_s()
    while (spent_s := used_s(pid) - used_before_s) < 0.5:
        assert time.monotonic() < begun_s + 60
        time.sleep(0.02)
    others = probe.read(watch)
    assert others is not None
    passed_s = (time.monotonic() - begun_s) * (os.cpu_count() or 1)
    return Loads(
        whole=(whole_s() - busy_before_s) / passed_s, others=others, spent=spent_s / passed_s
    )


def used_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def whole_s() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.system + getattr(times, "nice", 0.0))


@at_normal_priority
def test_the_load_of_another_program_counts() -> None:
    with running(SPIN) as pid:
        loads = loads_beside(pid)
    assert loads.others > loads.spent * 0.7


def test_our_own_load_is_not_that_of_others() -> None:
    with running(SPIN) as pid:
        loads = loads_beside(pid, pid)
    assert loads.whole - loads.others > loads.spent * 0.7


@pytest.mark.skipif(sys.platform == "win32", reason="has classes instead")
def test_a_program_that_yields_to_all_others_does_not_count() -> None:
    with running(NICE_SPIN) as pid:
        while psutil.Process(pid).nice() == os.nice(0):
            assert psutil.pid_exists(pid)
            time.sleep(0.01)
        loads = loads_beside(pid)
        ours = loads_beside(pid, pid)
    assert loads.whole - loads.others > loads.spent * 0.7
    assert ours.others >= 0, "its time was taken away twice"


@pytest.mark.parametrize("module", ["tequio_client", "tequio_ledger", "tequio_client.trainer"])
def test_every_program_of_tequio_is_our_own(module: str) -> None:
    with running(SPIN, "-m", module) as pid:
        while "-m" not in psutil.Process(pid).cmdline():
            time.sleep(0.01)
        loads = loads_beside(pid)
    assert loads.whole - loads.others > loads.spent * 0.7


@dataclass(frozen=True, slots=True)
class WindowsProcess:
    pid: int
    priority: int

    def nice(self) -> int:
        if not self.priority:
            raise psutil.AccessDenied
        return self.priority

    def cpu_times(self) -> SimpleNamespace:
        return SimpleNamespace(user=1.0, system=2.0)

    def create_time(self) -> float:
        return 7.0


def test_programs_below_normal_priority_are_found_by_their_class() -> None:
    classes = (0x20, 0x40, 0x4000, 0x8000, 0)  # normal, idle, below and above normal, refused
    processes = [WindowsProcess(pid, priority) for pid, priority in enumerate(classes)]
    found = cpu.low_priority_times(processes)  # type: ignore[arg-type]  # the used part of psutil's
    assert found == {(1, 7.0): 3.0, (2, 7.0): 3.0}


class GuardedProcess:
    def __init__(self, pid: int) -> None:
        self._pid = pid

    def exe(self) -> str:
        return {1: "/t/tequio-runtime.exe", 2: "/games/r5apex.exe"}[self._pid]

    def cmdline(self) -> list[str]:
        raise AssertionError("the memory of a process was read")


def test_on_windows_our_programs_are_known_without_reading_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(psutil, "Process", GuardedProcess)
    monkeypatch.setattr(psutil, "pids", lambda: [1, 2])
    assert cpu.TequioProcesses().find(0.0) == {1}


def test_the_first_reading_has_nothing_to_count_from() -> None:
    assert cpu.CpuLoad().read(ProbeInstructions()) is None


def test_times_of_windows_that_are_part_of_others_count_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = {"user": 10.0, "system": 5.0, "idle": 100.0, "interrupt": 2.0, "dpc": 1.0}
    monkeypatch.setattr(psutil, "cpu_times", lambda: SimpleNamespace(_asdict=now.copy))
    clock = iter((0.0, 10.0))
    load = cpu.CpuLoad(lambda: next(clock))
    load.read(ProbeInstructions())
    now |= {"user": 11.0, "system": 7.0, "interrupt": 4.0, "dpc": 2.0}
    # Without what this process itself has computed meanwhile, which is a tick at most.
    found = load.read(ProbeInstructions())
    assert found == pytest.approx(3 / 10 / (os.cpu_count() or 1), abs=0.01)


def test_a_process_of_ours_that_is_gone_takes_nothing() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    load = cpu.CpuLoad()
    load.read(ProbeInstructions(ours=(gone.pid,)))
    time.sleep(0.05)
    told = load.read(ProbeInstructions(ours=(gone.pid,)))
    assert told is not None
    assert 0 <= told <= 1


def test_the_memory_is_that_of_the_machine() -> None:
    told = cpu.main_memory()
    assert 0 < told.free_mb <= told.total_mb


def sensor(root: Path, number: int, name: str, *milli: str) -> None:
    folder = root / f"class/hwmon/hwmon{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(name + "\n")
    for index, value in enumerate(milli, 1):
        (folder / f"temp{index}_input").write_text(value + "\n")


def test_the_warmest_sensor_of_the_processor_counts(tmp_path: Path) -> None:
    sensor(tmp_path, 0, "nvme", "88000")
    sensor(tmp_path, 1, "coretemp", "61000", "67500", "65535000", "cold", "-3")
    assert cpu.temperature_c(tmp_path) == 67.5


def test_a_zone_of_the_kernel_will_do(tmp_path: Path) -> None:
    zone = tmp_path / "class/thermal/thermal_zone0"
    zone.mkdir(parents=True)
    (zone / "type").write_text("x86_pkg_temp\n")
    (zone / "temp").write_text("54321\n")
    assert cpu.temperature_c(tmp_path) == pytest.approx(54.321)


def test_without_a_sensor_the_temperature_is_unknown(tmp_path: Path) -> None:
    sensor(tmp_path, 0, "acpitz", "20000")
    with pytest.raises(AbsentError, match="no temperature sensor"):
        cpu.temperature_c(tmp_path)


def test_the_name_is_that_of_the_first_core(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: AMD Ryzen 7 5800X\n")
    assert cpu.cpu_name(tmp_path) == "AMD Ryzen 7 5800X"
