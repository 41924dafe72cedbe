"""The energy that lending took, over readings of made cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc.facts import AcceleratorFacts
from tequio_client.worker.lending.meters import ENERGY_FILE, EnergyMeter

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2026-11-20"


def card(energy_j: float | None = None, watts: float | None = None) -> AcceleratorFacts:
    return AcceleratorFacts(id="cuda:0", name="card", energy_j=energy_j, watts=watts)


def test_a_counter_is_believed_before_a_gauge(tmp_path: Path) -> None:
    energy = EnergyMeter(tmp_path)
    for second in range(11):
        energy.observe((card(1_000.0 + 200 * second, watts=999.0),), DAY, second * 1000)
    assert energy.counts.day_j == energy.counts.total_j == 2_000
    assert energy.is_measured


def test_without_a_counter_the_power_is_added_up(tmp_path: Path) -> None:
    energy = EnergyMeter(tmp_path)
    for second in range(11):
        energy.observe((card(watts=150.0),), DAY, second * 1000)
    assert energy.counts.day_j == pytest.approx(1_500)


def test_nothing_is_claimed_where_nothing_is_known(tmp_path: Path) -> None:
    energy = EnergyMeter(tmp_path)
    for second in range(11):
        energy.observe((card(),), DAY, second * 1000)
    assert energy.counts.total_j == 0
    assert not energy.is_measured


def test_what_is_drawn_while_nothing_is_lent_or_while_asleep_is_not_ours(tmp_path: Path) -> None:
    energy = EnergyMeter(tmp_path)
    energy.observe((card(0.0),), DAY, 0)
    energy.observe((), DAY, 1_000)
    energy.observe((card(50_000.0),), DAY, 2_000)
    energy.observe((card(900_000.0),), DAY, 3_600_000)
    assert energy.counts.total_j == 0


def test_a_counter_that_begins_anew_or_jumps_falls_back_to_the_gauge(tmp_path: Path) -> None:
    energy = EnergyMeter(tmp_path)
    energy.observe((card(5_000.0, watts=100.0),), DAY, 0)
    energy.observe((card(10.0, watts=100.0),), DAY, 1_000)
    energy.observe((card(9e9, watts=100.0),), DAY, 2_000)
    assert energy.counts.total_j == pytest.approx(200)


def test_a_counter_that_appears_later_is_believed_from_its_second_reading(tmp_path: Path) -> None:
    energy = EnergyMeter(tmp_path)
    energy.observe((card(watts=100.0),), DAY, 0)
    energy.observe((card(500.0, watts=100.0),), DAY, 1_000)
    assert energy.counts.total_j == pytest.approx(100)
    energy.observe((card(3_500.0, watts=100.0),), DAY, 11_000)
    assert energy.counts.total_j == pytest.approx(3_100), "3,000 J in 10 s can be drawn"


def test_days_are_apart_and_survive_a_restart(tmp_path: Path) -> None:
    energy = EnergyMeter(tmp_path)
    energy.observe((card(watts=100.0),), DAY, 0)
    energy.observe((card(watts=100.0),), DAY, 1_000)
    energy.save()
    again = EnergyMeter(tmp_path)
    again.observe((), DAY, 0)
    assert (again.counts.day_j, again.counts.total_j) == (100, 100)
    again.observe((), "2026-11-21", 1_000)
    assert (again.counts.day_j, again.counts.total_j) == (0, 100)


@pytest.mark.parametrize("content", [b"", b"{", b'["2026-11-20", -1, 0]', b"\xff"])
def test_a_damaged_file_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ENERGY_FILE).write_bytes(content)
    assert EnergyMeter(tmp_path).counts.total_j == 0
