"""Traffic rates and totals, from counters that restart with each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.worker.lending.facts import LocalInstant
from tequio_client.worker.lending.meters import TransferCounters, TransferMeter

if TYPE_CHECKING:
    from pathlib import Path

NOVEMBER_MS = 1_795_000_000_000


def at(seconds: float, ms: int = NOVEMBER_MS) -> LocalInstant:
    return LocalInstant(ms=ms, steady_ms=round(seconds * 1000), offset_s=lambda _: 0)


def test_rates_and_the_month_follow_the_counters(tmp_path: Path) -> None:
    traffic, node = TransferMeter(tmp_path), object()
    for second in range(60):
        traffic.observe(
            TransferCounters(node=node, up=1_000 * second, down=3_000 * second), at(second)
        )
    assert traffic.up_per_s == pytest.approx(1_000, rel=0.01)
    assert traffic.down_per_s == pytest.approx(3_000, rel=0.01)
    assert traffic.month_bytes == 4_000 * 59


def test_a_new_node_counts_from_its_beginning(tmp_path: Path) -> None:
    traffic = TransferMeter(tmp_path)
    traffic.observe(TransferCounters(node=1, up=10, down=0), at(0))
    traffic.observe(None, at(1))
    traffic.observe(TransferCounters(node=2, up=5, down=2), at(2))
    assert traffic.month_bytes == 17


def test_what_no_node_received_counts_once(tmp_path: Path) -> None:
    traffic = TransferMeter(tmp_path)
    traffic.count_fetched(1_000)
    traffic.observe(None, at(0))
    traffic.observe(TransferCounters(node=1, up=10, down=5), at(1))
    assert traffic.month_bytes == 1_015
    traffic.count_fetched(70)
    traffic.observe(TransferCounters(node=1, up=10, down=5), at(2))
    traffic.observe(TransferCounters(node=1, up=10, down=5), at(3))
    assert traffic.month_bytes == 1_085


def test_what_was_kept_counts_after_a_restart_and_not_in_the_next_month(tmp_path: Path) -> None:
    traffic = TransferMeter(tmp_path)
    traffic.observe(TransferCounters(node=1, up=10, down=0), at(0))
    traffic.months.save()
    again = TransferMeter(tmp_path)
    again.observe(None, at(0))
    assert again.month_bytes == 10
    again.observe(None, at(1, NOVEMBER_MS + 40 * 86_400_000))
    assert again.month_bytes == 0


def test_a_cap_that_is_reached_this_month_is_foreseen(tmp_path: Path) -> None:
    traffic, cap = TransferMeter(tmp_path), 2 * 10**6
    for second in range(1_200):
        if second == 60:
            assert traffic.cap_reached_ms(cap, at(second)) == 0, "the rate is not known yet"
        traffic.observe(TransferCounters(node=1, up=1_000 * second, down=0), at(second))
    moment = at(1_200)
    assert traffic.cap_reached_ms(cap, moment) == pytest.approx(moment.ms + 801_000, abs=9_000)
    assert traffic.cap_reached_ms(10**15, moment) == 0, "not this month"
    assert traffic.cap_reached_ms(0, moment) == 0, "there is no cap"
