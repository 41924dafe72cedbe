"""The processor: whose load it is, by real processes; temperatures by a made tree."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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


@pytest.fixture
def spinner() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", SPIN]) as process:
        yield process.pid
        process.kill()


def used_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def test_our_own_load_is_not_that_of_others(spinner: int) -> None:
    everybody, others = cpu.CpuLoad(), cpu.CpuLoad()
    everybody.read(ProbeInstructions())
    others.read(ProbeInstructions(ours=(spinner,)))
    begun_s, used_before_s = time.monotonic(), used_s(spinner)
    while used_s(spinner) - used_before_s < 0.5:
        assert time.monotonic() < begun_s + 30
        time.sleep(0.02)
    all_load, load = (
        everybody.read(ProbeInstructions()),
        others.read(ProbeInstructions(ours=(spinner,))),
    )
    assert all_load is not None
    assert load is not None
    share = 0.5 / (time.monotonic() - begun_s) / (os.cpu_count() or 1)
    assert all_load - load > share * 0.7


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
    assert load.read(ProbeInstructions()) == pytest.approx(3 / 10 / (os.cpu_count() or 1))


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
