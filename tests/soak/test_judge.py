"""The pure parts of the soak: growth is found, breathing is none, and chance can be repeated."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest

from tests.soak.chance import EARLY, EARLY_FAULTS, STEADY, drawn
from tests.soak.judge import LEAST_S, MOST_MB, STEP_MB, WARM_UP_S, Life, judged
from tests.soak.slope import Point, slope
from tests.support.faults import kill, kill_trainer

STEP_S = 2.0


def life(minutes: float, mb_per_10_min: float, *, level: float = 100.0, files: float = 0.0) -> Life:
    """A process that starts with a leap, breathes by 2 MB, and grows."""
    chance, found = Random(7), Life()
    for step in range(int(minutes * 60 / STEP_S)):
        at_s = step * STEP_S
        warm = 40.0 * min(at_s / WARM_UP_S, 1.0)
        size = level + warm + mb_per_10_min * at_s / 600 + chance.uniform(-1, 1)
        found.megabytes.append(Point(at_s=at_s, value=size))
        found.files.append(Point(at_s=at_s, value=30 + files * at_s / 600 + chance.randrange(3)))
    return found


@pytest.mark.parametrize("growth", [0.0, 0.9, 1.2, 20.0])
def test_growth_is_measured_through_noise(growth: float) -> None:
    found = slope([life(30, growth).megabytes], warm_up_s=WARM_UP_S, least_s=LEAST_S)
    assert found is not None
    assert found.per_10_min == pytest.approx(growth, abs=0.1)


def stepped(one: Life, *at_minutes: float, mb: float = 1.9) -> list[Point]:
    """The same life with steps in its memory."""
    return [
        Point(at_s=p.at_s, value=p.value + mb * sum(p.at_s >= at * 60 for at in at_minutes))
        for p in one.megabytes
    ]


@pytest.mark.parametrize("at_minute", [12.0, 15.0, 20.0, 25.0, 28.0])
@pytest.mark.parametrize("growth", [0.0, 1.2, 5.0])
def test_one_step_is_no_growth_and_hides_none(growth: float, at_minute: float) -> None:
    found = slope(
        [stepped(life(30, growth), at_minute)],
        warm_up_s=WARM_UP_S,
        least_s=LEAST_S,
        step=STEP_MB,
    )
    assert found is not None
    assert found.per_10_min == pytest.approx(growth, abs=0.15)


@pytest.mark.parametrize("steps", [{"at": (14.0, 22.0)}, {"at": (20.0,), "mb": 5.0}])
def test_two_steps_are_growth_and_so_is_a_large_one(steps: dict[str, Any]) -> None:
    one = life(30, 0.0)
    one.megabytes = stepped(one, *steps.pop("at"), **steps)
    (verdict, *_) = judged({"ledger": [one]})
    (fault,) = verdict.faults()
    assert fault.startswith("ledger grows by ")


def test_lives_of_different_size_are_no_growth() -> None:
    lives = [life(30, 0.0, level=level).megabytes for level in (50.0, 100.0, 400.0)]
    found = slope(lives, warm_up_s=WARM_UP_S, least_s=LEAST_S)
    assert found is not None
    assert abs(found.per_10_min) < 0.5
    assert found.lives == 3


def test_a_short_life_says_nothing() -> None:
    short = life((WARM_UP_S + LEAST_S) / 60 - 0.2, 500.0)
    assert slope([short.megabytes], warm_up_s=WARM_UP_S, least_s=LEAST_S) is None
    (verdict, *_) = judged({"ledger": [short]})
    assert not list(verdict.faults())
    assert "no process lived long enough" in verdict.line()


def test_a_leak_of_one_process_among_many_is_named() -> None:
    leaking = [life(30, 0.0), life(30, 8.0)]
    verdicts = {one.kind: one for one in judged({"worker": leaking, "seed": [life(30, 0.0)]})}
    (fault,) = verdicts["worker"].faults()
    assert fault.startswith("worker grows by ")
    assert "MB" in fault
    assert not list(verdicts["seed"].faults())


def test_open_files_that_grow_are_named() -> None:
    (verdict, *_) = judged({"ledger": [life(30, MOST_MB / 2, files=5.0)]})
    (fault,) = verdict.faults()
    assert "open files" in fault


def test_the_same_seed_brings_the_same_faults() -> None:
    one, two, other = (
        list(itertools.islice(drawn(Random(seed)), 200)) for seed in (4711, 4711, 4712)
    )
    assert one == two != other


def test_who_must_live_long_is_killed_early_or_never() -> None:
    faults = [fault for fault, _ in itertools.islice(drawn(Random(1)), 1_000)]
    assert set(EARLY) & set(faults[:EARLY_FAULTS])
    assert not set(EARLY) & set(faults[EARLY_FAULTS:])
    assert not [one for one in faults if one.act in {kill, kill_trainer} and STEADY in one.victims]
