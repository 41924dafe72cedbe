"""Run fit: each need against what machine and limits leave; an unknown amount never fits."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tequio_client.app.pages import run_needs
from tequio_client.app.pages.run_needs import Fit, NeedKind, RunResources
from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.preferences import DeviceChoice, Preferences, usable_memory_mb
from tequio_client.ipc.snapshot import DiskView, Snapshot, TrafficView
from tests.support.app_scenes import AGREED, LENDING
from tests.support.app_worker_answers import FULL, NOVA, SMALL

GB, GIB = 10**9, 1 << 30
WIDE = RunResources(
    memory_mb=9_825,
    device="card",
    disk_bytes=30 * GIB,
    month_bytes=69 * GB,
    hourly_up_bytes=2_250_000_000,
    hourly_down_bytes=2_250_000_000,
)


def test_what_there_is_comes_of_machine_and_limits() -> None:
    there = run_needs.resources(LENDING, AGREED)
    assert there.memory_mb == usable_memory_mb(12_282)
    assert there.device == "NVIDIA GeForce RTX 4070"
    assert there.disk_bytes == AGREED.disk_gib * GIB
    assert there.month_bytes == 69 * GB
    assert there.hourly_up_bytes == 5 * 3_600 * 125_000
    assert there.hourly_down_bytes is None


@pytest.mark.parametrize(
    ("needed", "fit"),
    [(800, Fit.FITS), (801, Fit.TIGHT), (1_000, Fit.TIGHT), (1_001, Fit.TOO_LITTLE)],
)
def test_a_need_is_tight_before_it_is_too_much(needed: int, fit: Fit) -> None:
    run = replace(SMALL, memory_mb=needed)
    needs = run_needs.needs_of(run, RunResources(memory_mb=1_000))
    assert needs[0].kind is NeedKind.MEMORY
    assert needs[0].fit is fit


def test_without_a_limit_a_line_fits_and_without_knowledge_memory_does_not() -> None:
    fits = {need.kind: need.fit for need in run_needs.needs_of(SMALL, RunResources())}
    assert fits == {
        NeedKind.MEMORY: Fit.UNKNOWN,
        NeedKind.DISK: Fit.UNKNOWN,
        NeedKind.FIRST: Fit.FITS,
        NeedKind.UP: Fit.FITS,
        NeedKind.DOWN: Fit.FITS,
    }
    assert run_needs.overall_fit(run_needs.needs_of(SMALL, RunResources())) is Fit.UNKNOWN


@pytest.mark.parametrize(
    ("changes", "fit"),
    [
        ({}, Fit.FITS),
        ({"memory_mb": 9_000}, Fit.TIGHT),
        ({"first_bytes": 70 * GB}, Fit.TOO_LITTLE),
        ({"disk_bytes": 31 * GIB, "memory_mb": 9_000}, Fit.TOO_LITTLE),
        ({"hourly_up_bytes": 2_300_000_000}, Fit.TOO_LITTLE),
        ({"hourly_down_bytes": 2_000_000_000}, Fit.TIGHT),
    ],
)
def test_a_run_stands_as_its_worst_need(changes: dict[str, int], fit: Fit) -> None:
    assert run_needs.overall_fit(run_needs.needs_of(replace(SMALL, **changes), WIDE)) is fit


def test_the_device_with_the_most_memory_that_may_be_used_counts() -> None:
    cards = (
        AcceleratorFacts(id="cuda:0", name="small", memory_mb=8_192),
        AcceleratorFacts(id="cuda:1", name="large", memory_mb=24_576),
    )
    snapshot = Snapshot(machine=MachineFacts(gpus=cards))
    assert run_needs.resources(snapshot, Preferences()).device == "large"
    unused = Preferences(devices=(DeviceChoice(id="cuda:1", use=False),))
    assert run_needs.resources(snapshot, unused).device == "small"
    limited = Preferences(devices=(DeviceChoice(id="cuda:1", memory_mb=1_000),))
    assert run_needs.resources(snapshot, limited).memory_mb == usable_memory_mb(8_192)


def test_without_a_card_main_memory_counts_and_without_a_probe_nothing_does() -> None:
    bare = Snapshot(machine=MachineFacts(gpus=(), free_memory_mb=19_400))
    assert (
        run_needs.resources(bare, AGREED).memory_mb,
        run_needs.resources(bare, AGREED).device,
    ) == (
        19_400,
        "",
    )
    blind = Snapshot(machine=MachineFacts(gpus=None, free_memory_mb=19_400))
    assert run_needs.resources(blind, AGREED).memory_mb is None
    silent = Snapshot(machine=MachineFacts(gpus=(AcceleratorFacts(id="cuda:0", name="card"),)))
    assert run_needs.resources(silent, AGREED) == replace_device(
        run_needs.resources(blind, AGREED), "card"
    )


def replace_device(there: RunResources, device: str) -> RunResources:
    return RunResources(
        memory_mb=there.memory_mb,
        device=device,
        disk_bytes=there.disk_bytes,
        month_bytes=there.month_bytes,
        hourly_up_bytes=there.hourly_up_bytes,
        hourly_down_bytes=there.hourly_down_bytes,
    )


def test_the_disk_is_what_is_free_beyond_what_shall_stay_free() -> None:
    disk = DiskView(store_bytes=4 * GIB, cap_bytes=30 * GIB, free_bytes=25 * GIB)
    there = run_needs.resources(replace(LENDING, disk=disk), AGREED)
    assert there.disk_bytes == 9 * GIB  # 5 may be taken beside the 4 that the store has
    trained = replace(disk, working_bytes=3 * GIB)
    assert run_needs.resources(replace(LENDING, disk=trained), AGREED).disk_bytes == 12 * GIB
    nearly_full = replace(disk, free_bytes=GIB)
    assert run_needs.resources(replace(LENDING, disk=nearly_full), AGREED).disk_bytes == 4 * GIB


def test_traffic_lasts_for_whole_days() -> None:
    assert run_needs.days_of_traffic(NOVA, WIDE) == (69 * GB - 2_100_000_000) // (632_000_000 * 24)
    assert run_needs.days_of_traffic(NOVA, RunResources()) is None
    spent = replace(LENDING, line=TrafficView(month_bytes=200 * GB))
    assert run_needs.days_of_traffic(NOVA, run_needs.resources(spent, AGREED)) == 0


def test_a_run_without_a_limit_of_members_is_never_full() -> None:
    assert run_needs.is_full(FULL)
    assert not run_needs.is_full(replace(FULL, most_members=0))
    assert not run_needs.is_full(replace(FULL, members=31))
