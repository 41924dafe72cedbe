"""Devices: what is asked for, or a reason why not."""

import os
from types import SimpleNamespace

import pytest
import torch

from tequio_client.trainer import device, selftest


def test_the_cpu_computes_in_float32() -> None:
    chosen = device.open_device("cpu")
    assert (chosen.label, chosen.precision) == ("cpu", torch.float32)


def test_auto_always_finds_one() -> None:
    assert device.open_device("auto").handle.type in ("cuda", "xpu", "mps", "cpu")


def test_cards_are_numbered_as_the_probe_does_before_they_are_first_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    orders = list[str | None]()

    def count() -> int:
        orders.append(os.getenv("CUDA_DEVICE_ORDER"))
        return 0

    monkeypatch.setattr(torch.cuda, "device_count", count)
    device.open_device("auto")
    assert orders == ["PCI_BUS_ID"]


def test_a_device_that_is_not_there_is_told() -> None:
    with pytest.raises(device.DeviceError, match="device cuda:99 was not found"):
        device.open_device("cuda:99")


@pytest.mark.parametrize(
    ("capability", "name", "precision"),
    [
        ((6, 1), "NVIDIA GeForce GTX 1080", torch.float32),
        ((7, 0), "Tesla V100-SXM2-16GB", torch.float16),
        ((7, 5), "NVIDIA GeForce RTX 2060", torch.float16),
        ((7, 5), "NVIDIA GeForce GTX 1660 Ti", torch.float32),
        ((8, 6), "NVIDIA GeForce RTX 3060", torch.bfloat16),
    ],
)
def test_a_card_computes_in_what_its_tensor_cores_take(
    capability: tuple[int, int], name: str, precision: torch.dtype
) -> None:
    assert device._cuda_precision(capability, name) == precision  # noqa: SLF001 - needs no card


@pytest.mark.parametrize(
    ("architecture", "precision"),
    [
        ("gfx906:sramecc+:xnack-", torch.float32),
        ("gfx90a:sramecc+:xnack-", torch.bfloat16),
        ("gfx942", torch.bfloat16),
        ("gfx1030", torch.float32),
        ("gfx1100", torch.bfloat16),
        ("gfx1201", torch.bfloat16),
    ],
)
def test_an_amd_card_computes_in_bfloat16_if_it_has_units_for_it(
    architecture: str, precision: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    traits = SimpleNamespace(gcnArchName=architecture)
    monkeypatch.setattr(torch.version, "hip", "7.2")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: traits)
    # As ROCm gives them: the capability is the number of the architecture.
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "an AMD card")
    chosen = device.fastest_precision.__wrapped__(torch.device("cuda"))
    assert chosen == precision


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_computes_in_bfloat16() -> None:
    chosen = device.open_device("cuda")
    with chosen.autocast():
        product = torch.ones(8, 8, device=chosen.handle) @ torch.ones(8, 8, device=chosen.handle)
    assert product.dtype == chosen.precision


@pytest.mark.parametrize("name", ["cuda:0", "xpu:0", "mps"])
def test_memory_of_every_accelerator_is_limited_until_there_is_no_limit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torch's own functions for each are replaced, since there is no such card here."""
    opened = device.ComputeDevice(
        handle=torch.device(name),
        name=name,
        memory_mb=0 if name == "mps" else 8_000,
        precision=torch.float32,
    )
    shares: list[tuple[object, ...]] = []
    module = torch.get_device_module(opened.handle)
    monkeypatch.setattr(module, "set_per_process_memory_fraction", lambda *to: shares.append(to))
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 8_000 << 20)
    for memory_mb in (2_000, 9_000, 0):
        device.apply_limits(opened, threads=device.thread_count(), memory_mb=memory_mb)
    which = () if name == "mps" else (opened.handle,)
    assert shares == [(0.25, *which), (1.0, *which), (1.0, *which)]


@pytest.mark.parametrize("name", ["xpu:0", "mps"])
def test_memory_of_every_accelerator_must_be_given_back_in_a_selftest(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no such card here: torch's own figures for it are set, all else is real."""
    opened = device.ComputeDevice(
        handle=torch.device(name), name=name, memory_mb=0, precision=torch.float32
    )
    module = torch.get_device_module(opened.handle)
    figure = "current_allocated_memory" if name == "mps" else "memory_reserved"
    held, given_back = [64 << 20, 65 << 20], []
    monkeypatch.setattr(module, figure, lambda *_: held[0])
    monkeypatch.setattr(module, "empty_cache", lambda: given_back.append(name))
    selftest.check_memory_freed(opened)
    del held[0]
    with pytest.raises(selftest.SelftestError, match=f"65 MiB of {name} were not given back"):
        selftest.check_memory_freed(opened)
    assert given_back == [name, name]


def test_a_processor_has_no_memory_to_give_back() -> None:
    opened = device.open_device("cpu")
    assert opened.held_mb() == 0
    selftest.check_memory_freed(opened)
