"""Accelerators on Windows over recorded answers of the system."""

from __future__ import annotations

import sys
from unittest.mock import Mock

import pytest

from tequio_client.ipc.facts import AcceleratorFacts, ProbeInstructions
from tequio_client.platform.dbus import AbsentError, NoAnswerError
from tequio_client.probe import windows
from tequio_client.probe.machine import Cards, merge_cards
from tequio_client.probe.windows import (
    AMD,
    INTEL,
    NVIDIA,
    Adapter,
    CounterSample,
    WindowsCards,
    WindowsLibraries,
)

OURS, GAME = 4_120, 7_788
GEFORCE = "luid_0x00000000_0x0000C0DE"
IRIS = "luid_0x00000000_0x0000BEEF"


def engine(pid: int, number: int, luid: str = GEFORCE, kind: str = "3D") -> str:
    return f"pid_{pid}_{luid}_phys_0_eng_{number}_engtype_{kind}"


class RecordedWindows:
    """Adapters and samples, one after the other."""

    def __init__(self, *samples: CounterSample | None) -> None:
        self._samples = list(samples)

    def adapters(self) -> tuple[Adapter, ...]:
        """A GeForce, graphics in the processor, and the software renderer."""
        return (
            Adapter(
                luid=GEFORCE, name="NVIDIA GeForce RTX 4070", maker=NVIDIA, memory_bytes=12 << 30
            ),
            Adapter(luid=IRIS, name="Intel Iris Xe", maker=INTEL, memory_bytes=128 << 20),
            Adapter(
                luid="luid_0x0_0x1",
                name="Microsoft Basic Render Driver",
                maker=0x1414,
                memory_bytes=0,
            ),
        )

    def counters(self) -> CounterSample | None:
        """The next sample."""
        return self._samples.pop(0)


SAMPLE = CounterSample(
    engines={
        engine(OURS, 5, kind="Compute_0"): 88.0,
        engine(GAME, 0): 30.0,
        engine(GAME, 0).upper().replace("PID", "pid"): 0.0,
        engine(912, 0): 12.5,
        engine(GAME, 7, kind="VideoDecode"): 20.0,
        engine(GAME, 0, luid=IRIS): 99.0,
        "_Total": 250.0,
    },
    used_bytes={f"{GEFORCE}_phys_0": 3.0 * (1 << 30), f"{IRIS}_phys_0": 5.0},
)


def test_a_card_on_windows_is_as_busy_as_its_busiest_engine() -> None:
    found = WindowsCards(lambda: RecordedWindows(SAMPLE)).read(ProbeInstructions(ours=(OURS,)))
    [gpu] = found.completing
    assert found.gpus == (), "only its driver knows its serial"
    assert (gpu.id, gpu.name) == ("cuda:0", "NVIDIA GeForce RTX 4070")
    assert gpu.load == pytest.approx(0.88)
    assert gpu.others_load == pytest.approx(0.425)
    assert (gpu.memory_mb, gpu.free_mb) == (12_288, 9_216)


def test_the_first_sample_tells_no_load() -> None:
    [gpu] = WindowsCards(lambda: RecordedWindows(None)).read(ProbeInstructions()).completing
    assert (gpu.load, gpu.others_load, gpu.free_mb) == (None, None, None)


def test_the_driver_and_the_counters_make_one_card() -> None:
    windows = WindowsCards(lambda: RecordedWindows(SAMPLE)).read(ProbeInstructions(ours=(OURS,)))
    driver = Cards(
        gpus=(
            AcceleratorFacts(
                id="cuda:0", name="NVIDIA GeForce RTX 4070", load=0.9, temperature_c=63.0
            ),
        )
    )
    [gpu] = merge_cards([driver, windows])
    assert (gpu.load, gpu.temperature_c) == (0.9, 63.0)
    assert gpu.others_load == pytest.approx(0.425)


def test_two_cards_of_one_name_stay_two() -> None:
    pair = Cards(
        gpus=(
            AcceleratorFacts(id="cuda:0", name="A"),
            AcceleratorFacts(id="cuda:1", name="A", watts=9.0),
        )
    )
    loads = Cards(
        gpus=(
            AcceleratorFacts(id="x", name="A", load=0.1),
            AcceleratorFacts(id="y", name="A", load=0.2),
        )
    )
    assert [(gpu.id, gpu.load) for gpu in merge_cards([pair, loads])] == [
        ("cuda:0", 0.1),
        ("cuda:1", 0.2),
    ]


@pytest.mark.parametrize("makers", [(AMD,), (NVIDIA, AMD), (INTEL, INTEL)])
def test_names_are_those_of_the_trainer(makers: tuple[int, ...]) -> None:
    class Only(RecordedWindows):
        def adapters(self) -> tuple[Adapter, ...]:
            return tuple(
                Adapter(luid=f"luid_0x0_0x{n}", name=f"{n}", maker=maker, memory_bytes=8 << 30)
                for n, maker in enumerate(makers)
            )

    found = WindowsCards(lambda: Only(None)).read(ProbeInstructions())
    ids = [gpu.id for gpu in (*found.completing, *found.gpus)]
    expected = {
        (AMD,): ["cuda:0"],
        (NVIDIA, AMD): ["cuda:0", "rocm:0"],
        (INTEL, INTEL): ["xpu:0", "xpu:1"],
    }
    assert ids == expected[makers]


@pytest.mark.skipif(sys.platform == "win32", reason="it has them")
def test_elsewhere_the_libraries_of_windows_are_absent() -> None:
    with pytest.raises(AbsentError, match="only exists on Windows"):
        WindowsLibraries()


def test_a_query_without_its_counters_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    pdh = Mock()
    pdh.PdhOpenQueryW.return_value = 0
    pdh.PdhAddEnglishCounterW.return_value = 0xC0000BB8  # PDH_CSTATUS_NO_OBJECT
    monkeypatch.setattr(windows, "windows_library", {"pdh": pdh, "dxgi": Mock()}.__getitem__)
    with pytest.raises(NoAnswerError, match="0xC0000BB8"):
        WindowsLibraries()
    pdh.PdhCloseQuery.assert_called_once()
