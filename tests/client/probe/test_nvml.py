"""NVIDIA's cards: what they say, what they do not offer, whose load it is, and lost drivers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

import msgspec
import pynvml
import pytest

from tequio_client.ipc.facts import AcceleratorFacts, ProbeInstructions
from tequio_client.platform.dbus import NoAnswerError
from tequio_client.probe.nvml import NvmlCards
from tests.support.recorded_nvml import RecordedNvml, card, error, sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

OURS, GAME = 41, 77
NOT_SUPPORTED = error(pynvml.NVML_ERROR_NOT_SUPPORTED)
UNKNOWN = error(pynvml.NVML_ERROR_UNKNOWN)
LOST = error(pynvml.NVML_ERROR_GPU_IS_LOST)
UTILISATION = "nvmlDeviceGetProcessUtilization"


def cards(
    tmp_path: Path,
    nvml: RecordedNvml,
    is_here: Callable[[int], bool] = lambda _: True,
    clock: Callable[[], float] = time.monotonic,
) -> NvmlCards:
    return NvmlCards(tmp_path, cast("ModuleType", nvml), is_here=is_here, clock=clock)


def test_a_card_tells_everything_in_our_units(tmp_path: Path) -> None:
    told = cards(tmp_path, RecordedNvml(card())).read(ProbeInstructions())
    [gpu] = told.gpus
    assert told.problem == ""
    assert (gpu.id, gpu.name, gpu.driver) == ("cuda:0", "NVIDIA GeForce RTX 4070", "595.71.05")
    assert gpu.key == gpu.serial == card()["nvmlDeviceGetUUID"]
    assert (gpu.memory_mb, gpu.free_mb, gpu.load) == (12_288, 9_216, 0.37)
    assert (gpu.temperature_c, gpu.watts, gpu.watts_limit) == (61.0, 143.25, 200.0)
    assert gpu.energy_j == 9_876.543


def test_what_a_card_does_not_offer_is_unknown_and_no_fault(tmp_path: Path) -> None:
    silent = {name: NOT_SUPPORTED for name in card() if name != "nvmlDeviceGetName"}
    told = cards(tmp_path, RecordedNvml(card(**silent))).read(ProbeInstructions())
    [gpu] = told.gpus
    assert told.problem == ""
    assert (gpu.memory_mb, gpu.load, gpu.temperature_c, gpu.watts) == (None, None, None, None)
    assert (gpu.others_load, gpu.energy_j) == (None, None)
    assert gpu.key == gpu.id, "the driver says nothing that lasts"


@pytest.mark.parametrize(
    ("samples", "others"),
    [
        ([sample(OURS, 95)], 0.0),
        ([sample(OURS, 60), sample(GAME, 35)], 0.35),
        ([sample(GAME, 70), sample(GAME + 1, 60)], 1.0),
        ([sample(GAME, 90, at_us=5), sample(GAME, 20, at_us=9)], 0.2),
        ([sample(GAME, 4_000_000_000), sample(OURS, 50)], 0.0),
        (error(pynvml.NVML_ERROR_NOT_FOUND), 0.0),
    ],
)
def test_the_load_of_others_is_what_is_not_ours(
    tmp_path: Path, samples: object, others: float
) -> None:
    nvml = RecordedNvml(card(**{UTILISATION: samples}))
    [gpu] = cards(tmp_path, nvml).read(ProbeInstructions(ours=(OURS,))).gpus
    assert gpu.others_load == pytest.approx(others)


def test_a_sample_counts_once(tmp_path: Path) -> None:
    nvml = RecordedNvml(card(**{UTILISATION: [sample(GAME, 90, at_us=1_234)]}))
    source = cards(tmp_path, nvml)
    source.read(ProbeInstructions())
    source.read(ProbeInstructions())
    assert nvml.asked_since == [0, 1_234]


def test_numbers_of_another_container_do_not_make_our_own_load_that_of_others(
    tmp_path: Path,
) -> None:
    nvml = RecordedNvml(card(**{UTILISATION: [sample(900_001, 99)]}))
    source = cards(tmp_path, nvml, is_here=lambda _: False)
    assert source.read(ProbeInstructions(ours=(OURS,))).gpus[0].others_load is None


@pytest.mark.parametrize(
    ("compute", "graphics", "others"),
    [([], [GAME], 0.37), ([OURS], [], 0.0), ([OURS], [GAME], None), ([], [], 0.37)],
)
def test_without_samples_presence_tells_what_it_can(
    tmp_path: Path, compute: list[int], graphics: list[int], others: float | None
) -> None:
    answers = {
        UTILISATION: NOT_SUPPORTED,
        "nvmlDeviceGetComputeRunningProcesses": [sample(pid, 0) for pid in compute],
        "nvmlDeviceGetGraphicsRunningProcesses": [sample(pid, 0) for pid in graphics],
    }
    [gpu] = (
        cards(tmp_path, RecordedNvml(card(**answers))).read(ProbeInstructions(ours=(OURS,))).gpus
    )
    assert gpu.others_load == others


@pytest.mark.parametrize(
    ("sensor", "fact"),
    [
        ("nvmlDeviceGetUtilizationRates", "load"),
        (UTILISATION, "others_load"),
        ("nvmlDeviceGetTemperature", "temperature_c"),
        ("nvmlDeviceGetPowerUsage", "watts"),
        ("nvmlDeviceGetEnforcedPowerLimit", "watts_limit"),
        ("nvmlDeviceGetTotalEnergyConsumption", "energy_j"),
    ],
)
def test_a_sensor_that_fails_silences_only_itself(tmp_path: Path, sensor: str, fact: str) -> None:
    [whole] = cards(tmp_path, RecordedNvml(card())).read(ProbeInstructions()).gpus
    found = cards(tmp_path, RecordedNvml(card(**{sensor: UNKNOWN}))).read(ProbeInstructions())
    assert found.gpus == (msgspec.structs.replace(whole, **{fact: None}),)
    assert found.problem == "cuda:0: Unknown Error"


@pytest.mark.parametrize(
    "failing",
    [
        {"nvmlDeviceGetUtilizationRates": LOST},
        {"nvmlDeviceGetMemoryInfo": UNKNOWN},
        {"nvmlDeviceGetUUID": UNKNOWN},
        {"nvmlDeviceGetName": UNKNOWN},
    ],
)
def test_a_card_that_fails_keeps_its_serial_and_memory(
    tmp_path: Path, failing: dict[str, object]
) -> None:
    """Else the limit of its memory would be gone, and one that is switched off would be lent."""
    nvml = RecordedNvml(card(), card(nvmlDeviceGetUUID="GPU-second"))
    source = cards(tmp_path, nvml)
    [_, before] = source.read(ProbeInstructions()).gpus
    nvml.cards[1] |= failing
    found = source.read(ProbeInstructions())
    assert found.gpus[0].load == 0.37
    assert found.gpus[1] == AcceleratorFacts(
        id="cuda:1",
        name=before.name,
        serial="GPU-second",
        memory_mb=12_288,
        driver=before.driver,
    )
    assert found.problem.startswith("cuda:1: ")
    assert nvml.is_open


def test_a_card_that_was_never_read_is_not_listed(tmp_path: Path) -> None:
    nvml = RecordedNvml(card(), card(nvmlDeviceGetUUID=UNKNOWN))
    found = cards(tmp_path, nvml).read(ProbeInstructions())
    assert [gpu.id for gpu in found.gpus] == ["cuda:0"]
    assert found.problem == "cuda:1: Unknown Error"


def test_a_replaced_driver_is_opened_again(tmp_path: Path) -> None:
    nvml = RecordedNvml(card(nvmlDeviceGetName=error(pynvml.NVML_ERROR_UNINITIALIZED)))
    source = cards(tmp_path, nvml)
    with pytest.raises(pynvml.NVMLError, match="Uninitialized"):
        source.read(ProbeInstructions())
    nvml.cards = [card()]
    assert source.read(ProbeInstructions()).gpus[0].load == 0.37
    assert nvml.opened == 2


def test_no_driver_and_no_card_is_no_fault_and_is_not_looked_for_every_second(
    tmp_path: Path,
) -> None:
    now_s = [0.0]
    nvml = RecordedNvml(card())
    nvml.init = error(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)
    source = cards(tmp_path, nvml, clock=lambda: now_s[0])
    assert source.read(ProbeInstructions()).gpus == ()
    nvml.init = None
    assert source.read(ProbeInstructions()).gpus == ()
    now_s[0] = 11.0
    assert len(source.read(ProbeInstructions()).gpus) == 1


def test_a_card_without_a_driver_is_named(tmp_path: Path) -> None:
    device = tmp_path / "bus/pci/devices/0000:01:00.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text("0x10de\n")
    (device / "class").write_text("0x030000\n")
    nvml = RecordedNvml()
    nvml.init = error(pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
    with pytest.raises(NoAnswerError, match=r"0000:01:00\.0 has no working driver"):
        cards(tmp_path, nvml).read(ProbeInstructions())


def test_the_real_library_answers_here_too(tmp_path: Path) -> None:
    told = NvmlCards(tmp_path).read(ProbeInstructions())
    assert all(gpu.id.startswith("cuda:") for gpu in told.gpus)
