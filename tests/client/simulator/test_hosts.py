"""Computers as published: how they are on and off, and how fast they are."""

from __future__ import annotations

from random import Random
from statistics import mean
from typing import TYPE_CHECKING

import pytest

from tequio_client.organiser.outline import read_outline
from tequio_client.simulator import hosts
from tequio_client.simulator.hosts import DOWN_MBIT, UP_MBIT, HostPopulation
from tests.support.plans import write_plan

if TYPE_CHECKING:
    from pathlib import Path

WEEK_MS = 7 * 86_400_000


def test_a_quarter_of_the_computers_is_on_at_any_time() -> None:
    share = hosts.mean_online_share()
    assert share == pytest.approx(0.25, abs=0.01)
    counts = [
        mean(_is_on_at(at_ms, Random(f"host {number}")) for number in range(1_500))
        for at_ms in (0, WEEK_MS)
    ]
    assert counts == pytest.approx([share, share], abs=0.04)


def test_connections_have_the_published_means(tmp_path: Path) -> None:
    manifest = read_outline(write_plan(tmp_path)).manifest
    drawn = HostPopulation().draw_hosts(manifest, 4_000, Random(1))
    assert mean(one.up for one in drawn) * 8 / 1e6 == pytest.approx(UP_MBIT, rel=0.05)
    assert mean(one.down for one in drawn) * 8 / 1e6 == pytest.approx(DOWN_MBIT, rel=0.05)
    assert all(one.down > one.up for one in drawn)


def test_measured_figures_replace_the_published_ones(tmp_path: Path) -> None:
    manifest = read_outline(write_plan(tmp_path)).manifest
    population = HostPopulation(is_always_on=True, tokens_per_s=123.0, mbit=8.0)
    (one,) = population.draw_hosts(manifest, 1, Random(1))
    assert (one.tokens_per_s, one.up, one.down) == (123.0, 1e6, 1e6)
    assert next(population.sessions(Random(1))).on_ms > WEEK_MS


def _is_on_at(at_ms: int, rng: Random) -> bool:
    now_ms = 0
    for session in HostPopulation().sessions(rng):
        if at_ms < now_ms + session.on_ms:
            return True
        now_ms += session.on_ms + session.off_ms
        if at_ms < now_ms:
            return False
    raise AssertionError("sessions never end")
