"""The graphics of a Mac over recorded output of `ioreg`."""

from __future__ import annotations

import plistlib

import pytest

from tequio_client.ipc.facts import ProbeInstructions
from tequio_client.platform.dbus import NoAnswerError
from tequio_client.probe.sources import AppleCards


def ioreg(percent: object = 41) -> bytes:
    entry = {
        "IOClass": "AGXAcceleratorG14X",
        "model": "Apple M2 Max",
        "PerformanceStatistics": {"Device Utilization %": percent, "Alloc system memory": 1},
    }
    return plistlib.dumps([entry])


def test_a_mac_tells_its_graphics() -> None:
    [gpu] = AppleCards(lambda _: ioreg()).read(ProbeInstructions()).gpus
    assert (gpu.id, gpu.name, gpu.load, gpu.others_load) == ("mps", "Apple M2 Max", 0.41, 0.41)


def test_on_a_mac_the_load_of_others_is_unknown_while_we_compute() -> None:
    [gpu] = AppleCards(lambda _: ioreg()).read(ProbeInstructions(is_computing=True)).gpus
    assert (gpu.load, gpu.others_load) == (0.41, None)


@pytest.mark.parametrize("percent", [-3, 170, "busy", None])
def test_a_mac_that_tells_nonsense_is_unknown(percent: object) -> None:
    entry = ioreg() if percent is None else ioreg(percent)
    entry = entry.replace(b"Device Utilization %", b"Other") if percent is None else entry
    [gpu] = AppleCards(lambda _: entry).read(ProbeInstructions()).gpus
    assert gpu.load is None


def test_a_mac_without_an_apple_processor_has_no_accelerator() -> None:
    assert AppleCards(lambda _: b"").read(ProbeInstructions()).gpus == ()


def test_what_is_no_property_list_is_an_error() -> None:
    with pytest.raises(NoAnswerError, match="did not print a property list"):
        AppleCards(lambda _: b"<plist><dict").read(ProbeInstructions())
