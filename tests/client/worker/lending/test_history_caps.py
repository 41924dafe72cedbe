"""Caps: a device stays at its goals without swinging, and the defaults leave room for others."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_client.ipc.preferences import DeviceChoice, usable_memory_mb
from tequio_client.worker.lending import history
from tequio_client.worker.lending.history import DevicePace, adjust_pace

AMBIENT_C = 35.0
IDLE_W = 30.0
MINUTE = 60


class Card:
    """A chip on a heat sink, which computes for a share of the time; steps of a second."""

    def __init__(self, full_c: float, sink_s: float, chip_s: float) -> None:
        """`full_c`: where it ends when it always computes."""
        self._full_c = full_c
        self._sink_s = sink_s
        self._chip_s = chip_s
        self._sink_c = AMBIENT_C
        self.chip_c = AMBIENT_C

    def step(self, share: float) -> None:
        """Let a second pass."""
        heads_for = AMBIENT_C + (self._full_c - AMBIENT_C) * share
        self._sink_c += (heads_for - self._sink_c) / self._sink_s
        self.chip_c += (self._sink_c - self.chip_c) / self._chip_s


def run_card(card: Card, goal_c: int, *, seconds: int, rng: Random) -> list[tuple[float, int]]:
    """Temperature and share at each second, with a sensor of whole degrees and their noise."""
    pace, seen = DevicePace(), []
    goals = DeviceChoice(id="gpu", temperature_c=goal_c)
    for second in range(seconds):
        card.step(pace.percent / 100)
        told = float(round(card.chip_c + rng.uniform(-1, 1)))
        pace = adjust_pace(pace, goals, told, None, second * 1_000)
        seen.append((card.chip_c, pace.percent))
    return seen


cards = st.builds(
    Card, full_c=st.floats(45, 125), sink_s=st.floats(10, 400), chip_s=st.floats(1, 8)
)


@given(card=cards, goal_c=st.sampled_from([65, 75, 80, 85]), seed=st.integers(0, 99))
@settings(derandomize=True, deadline=None, database=None, max_examples=60)
def test_a_card_settles_below_its_goal_and_does_not_swing(
    card: Card, goal_c: int, seed: int
) -> None:
    seen = run_card(card, goal_c, seconds=60 * MINUTE, rng=Random(seed))
    assert all(history.MIN_PERCENT <= share <= history.MAX_PERCENT for _, share in seen)
    settled = seen[40 * MINUTE :]
    degrees, shares = zip(*settled, strict=True)
    assert max(degrees) < goal_c + 0.5
    assert max(shares) - min(shares) <= 6
    assert max(degrees) - min(degrees) <= 4


@pytest.mark.parametrize("sink_s", [10.0, 40.0, 100.0, 400.0])
def test_a_card_that_its_cooler_holds_below_the_goal_always_computes(sink_s: float) -> None:
    card = Card(full_c=72.0, sink_s=sink_s, chip_s=2.0)
    seen = run_card(card, 80, seconds=30 * MINUTE, rng=Random(1))
    assert min(share for _, share in seen) >= 90, "a steep start is met with a little caution"
    assert {share for _, share in seen[10 * MINUTE :]} == {100}


@pytest.mark.parametrize("sink_s", [10.0, 40.0, 100.0, 200.0, 400.0])
def test_a_badly_cooled_card_is_slowed_before_it_has_to_stop(sink_s: float) -> None:
    card = Card(full_c=110.0, sink_s=sink_s, chip_s=4.0)
    seen = run_card(card, 80, seconds=30 * MINUTE, rng=Random(1))
    assert max(degrees for degrees, _ in seen) < 80 + history.BAND_C


def test_a_card_that_gets_too_hot_still_computes_as_much_as_its_cooler_allows() -> None:
    card = Card(full_c=110.0, sink_s=60.0, chip_s=2.0)
    seen = run_card(card, 80, seconds=60 * MINUTE, rng=Random(1))
    # in the band of 75 to 80 °C a share of 53 to 60 % is held
    assert 52 <= seen[-1][1] <= 60
    assert 74.5 <= seen[-1][0] <= 80


def test_the_share_comes_back_when_the_room_gets_cooler() -> None:
    pace = DevicePace(share=20.0)
    for second in range(0, 600, 5):
        pace = adjust_pace(
            pace, DeviceChoice(id="gpu", temperature_c=80), 60.0, None, second * 1_000
        )
    assert pace.percent == 100


def test_within_the_band_nothing_changes() -> None:
    pace = DevicePace(share=57.0)
    for second in range(0, 600, 5):
        pace = adjust_pace(
            pace, DeviceChoice(id="gpu", temperature_c=80), 77.0, None, second * 1_000
        )
    assert pace.percent == 57


def test_it_thinks_every_five_seconds_however_often_it_is_asked() -> None:
    often, seldom = DevicePace(), DevicePace()
    for tenth in range(600):
        often = adjust_pace(
            often, DeviceChoice(id="gpu", temperature_c=80), 90.0, None, tenth * 100
        )
    for second in range(0, 60, 5):
        seldom = adjust_pace(
            seldom, DeviceChoice(id="gpu", temperature_c=80), 90.0, None, second * 1_000
        )
    assert often.percent == seldom.percent < 100


def test_a_reading_that_is_missing_gives_nothing_back() -> None:
    pace = DevicePace()
    for second in range(0, 60, 5):
        pace = adjust_pace(
            pace, DeviceChoice(id="gpu", temperature_c=80), 95.0, None, second * 1_000
        )
    low = pace.percent
    for second in range(60, 600, 5):
        pace = adjust_pace(
            pace, DeviceChoice(id="gpu", temperature_c=80), None, None, second * 1_000
        )
    assert pace.percent == low < 50


def test_a_device_without_sensors_is_left_alone() -> None:
    pace = DevicePace()
    for second in range(0, 600, 5):
        pace = adjust_pace(
            pace, DeviceChoice(id="gpu", temperature_c=80, watts=100), None, None, second * 1_000
        )
    assert pace.percent == 100


@given(
    goal_w=st.integers(60, 400),
    full_w=st.integers(80, 450),
    noise=st.floats(0, 0.2),
    seed=st.integers(0, 99),
)
@settings(derandomize=True, deadline=None, database=None, max_examples=60)
def test_a_goal_of_watts_is_held_on_average(
    goal_w: int, full_w: int, noise: float, seed: int
) -> None:
    rng, pace, drawn = Random(seed), DevicePace(), []
    for second in range(30 * MINUTE):
        share = min(max(pace.percent / 100 + rng.uniform(-noise, noise), 0.0), 1.0)
        watts = IDLE_W + (full_w - IDLE_W) * share
        pace = adjust_pace(
            pace,
            DeviceChoice(id="gpu", temperature_c=80, watts=goal_w),
            60.0,
            watts,
            second * 1_000,
        )
        drawn.append(IDLE_W + (full_w - IDLE_W) * pace.percent / 100)
    settled = drawn[10 * MINUTE :]
    least = IDLE_W + (full_w - IDLE_W) * history.MIN_PERCENT / 100
    half_a_percent = (full_w - IDLE_W) / 200  # shares are whole percents
    assert sum(settled) / len(settled) <= max(goal_w * 1.02 + half_a_percent, least) + 1e-9
    if full_w < goal_w * 0.8:
        assert pace.percent == 100


@given(
    share=st.floats(10, 100),
    readings=st.lists(
        st.tuples(
            st.none() | st.floats(-50, 500), st.none() | st.floats(0, 1e5), st.integers(-9, 10**7)
        ),
        max_size=30,
    ),
)
@settings(derandomize=True, deadline=None, database=None)
def test_the_share_keeps_its_bounds_whatever_the_sensors_say(
    share: float, readings: list[tuple[float | None, float | None, int]]
) -> None:
    pace, at_ms = DevicePace(share=share), 0
    for temperature_c, watts, passed_ms in readings:
        at_ms += passed_ms
        pace = adjust_pace(
            pace, DeviceChoice(id="gpu", temperature_c=80, watts=200), temperature_c, watts, at_ms
        )
        assert history.MIN_PERCENT <= pace.percent <= history.MAX_PERCENT


@pytest.mark.parametrize(
    ("total", "chosen", "most"),
    [
        (24_576, 0, 19_660),  # 80 %
        (8_192, 0, 6_144),  # all but 2 GiB
        (10_240, 0, 8_192),  # both
        (2_048, 0, 0),
        (1_024, 0, 0),
        (0, 0, 0),
        (8_192, 3_000, 3_000),
        (8_192, 8_000, 8_000),
        (8_192, 99_999, 8_192),
    ],
)
def test_memory_leaves_room_for_the_desktop(total: int, chosen: int, most: int) -> None:
    assert usable_memory_mb(total, chosen) == most


@pytest.mark.parametrize(
    ("cores", "chosen", "most"), [(16, 0, 15), (2, 0, 1), (1, 0, 1), (8, 3, 3), (8, 99, 8)]
)
def test_one_core_stays_free(cores: int, chosen: int, most: int) -> None:
    assert history.thread_count(cores, chosen) == most
