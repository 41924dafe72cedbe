"""The history that lending rules use: a recent game, heat, other programs, snoozes, last rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.ipc.facts import UNKNOWN_SESSION
from tequio_client.ipc.preferences import PRESETS, DeviceChoice, LendingPreset
from tequio_client.ipc.snapshot import DesiredState, LendingReason, LendingState, Snooze
from tequio_shared.version import BUILD
from tests.support.lending_facts import (
    CALM,
    EVENING_MS,
    GIB,
    LEND,
    PolicyWorker,
    chosen,
    in_session,
    on_machine,
    with_gpu,
)

if TYPE_CHECKING:
    from tequio_client.ipc.preferences import Preferences
    from tequio_client.worker.lending.facts import LendingFacts

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WORKING = replace(CALM, is_computing=True)
GAME = in_session(game="doom")
BUSY = with_gpu(others_load=0.5)
BUSY_AT_WORK = with_gpu(WORKING, others_load=0.5)


def snoozed(ms: int, number: int = 2) -> DesiredState:
    snooze = Snooze(until_ms=EVENING_MS + ms, asked_ms=EVENING_MS)
    return DesiredState(number=number, lend=True, snooze=snooze)


def until_closed(game: str = "") -> DesiredState:
    return DesiredState(number=2, lend=True, snooze=Snooze(asked_ms=EVENING_MS, game=game))


def full_second(ms: int) -> int:
    return -(-ms // SECOND) * SECOND


# --- after a game


@pytest.mark.parametrize(
    ("facts", "preferences"),
    [
        (GAME, chosen()),
        (in_session(fullscreen="quake"), chosen()),
        (in_session(fullscreen="mpv", is_film=True), chosen(pause_for_films=True)),
        (in_session(programs=("blender",)), chosen(exclusive=("blender",))),
    ],
)
def test_a_minute_passes_after_what_must_not_be_disturbed(
    facts: LendingFacts, preferences: Preferences
) -> None:
    worker = PolicyWorker(preferences)
    worker.decide(facts)
    found = worker.decide(ms=1)
    assert found.reason == LendingReason.AFTER_GAME
    assert found.until_ms == full_second(worker.now.ms + 59_999)
    assert worker.decide(ms=59_998).reason == LendingReason.AFTER_GAME
    assert worker.decide(ms=1).reason == LendingReason.LENDING


def test_a_minute_after_a_game_is_a_minute_whatever_the_clock_is_set_to() -> None:
    for jump in (-365 * DAY, -HOUR, HOUR, 365 * DAY):
        worker = PolicyWorker()
        worker.decide(GAME)
        assert worker.decide(ms=59 * SECOND, wall_ms=jump).reason == LendingReason.AFTER_GAME
        assert worker.decide(ms=SECOND).reason == LendingReason.LENDING


def test_a_session_that_nobody_sees_ends_no_game() -> None:
    worker = PolicyWorker()
    worker.decide(GAME)
    blind = replace(CALM, session=UNKNOWN_SESSION)
    assert not worker.decide(blind, ms=10 * MINUTE).may_compute


def test_hours_come_after_the_minute() -> None:
    worker = PolicyWorker(chosen(week=(0b1,) * 7))
    worker.decide(GAME)
    assert worker.decide(ms=SECOND).reason == LendingReason.AFTER_GAME
    assert worker.decide(ms=MINUTE).reason == LendingReason.SCHEDULE


def test_an_end_stays_the_same_though_the_clocks_are_not_read_at_once() -> None:
    worker = PolicyWorker()
    worker.decide(GAME)
    ends = {worker.decide(ms=ms, wall_ms=ms + late).until_ms for ms, late in ((1_500, -1), (2, 1))}
    assert len(ends) == 1
    worker = PolicyWorker(wish=snoozed(15 * MINUTE + 7))
    worker.decide()
    looks = ((1_500, -1), (1_000, 1), (2, -1))
    assert {worker.decide(ms=ms, wall_ms=ms + late).until_ms for ms, late in looks} == {
        EVENING_MS + 15 * MINUTE + 7
    }


# --- snoozes


def test_a_snooze_ends_at_its_time() -> None:
    worker = PolicyWorker(wish=snoozed(15 * MINUTE))
    found = worker.decide()
    assert (found.state, found.reason) == (LendingState.SNOOZED, LendingReason.SNOOZED)
    assert found.until_ms == EVENING_MS + 15 * MINUTE
    assert worker.decide(ms=15 * MINUTE - 1).reason == LendingReason.SNOOZED
    assert worker.decide(ms=1).reason == LendingReason.LENDING


@pytest.mark.parametrize("jump", [-365 * DAY, -2 * HOUR, -30 * SECOND, 0])
def test_a_snooze_ends_though_the_clock_is_set_back(jump: int) -> None:
    worker = PolicyWorker(wish=snoozed(15 * MINUTE))
    worker.decide()
    found = worker.decide(ms=SECOND, wall_ms=SECOND + jump)
    assert found.reason == LendingReason.SNOOZED
    assert found.until_ms == worker.now.ms + 15 * MINUTE - SECOND
    assert worker.decide(ms=15 * MINUTE - SECOND).reason == LendingReason.LENDING


def test_a_snooze_that_ended_does_not_begin_again_when_the_clock_is_set_back() -> None:
    worker = PolicyWorker(wish=snoozed(15 * MINUTE))
    worker.decide()
    assert worker.decide(ms=15 * MINUTE).reason == LendingReason.LENDING
    assert worker.decide(ms=SECOND, wall_ms=-14 * MINUTE).reason == LendingReason.LENDING


def test_a_snooze_ends_while_the_computer_sleeps() -> None:
    worker = PolicyWorker(wish=snoozed(15 * MINUTE))
    worker.decide()
    # the steady clock of some systems stands still meanwhile
    assert worker.decide(ms=SECOND, wall_ms=8 * HOUR).reason == LendingReason.LENDING


@pytest.mark.parametrize("back", [HOUR, 30 * DAY])
def test_a_worker_that_starts_again_with_a_clock_set_back_lengthens_no_snooze(back: int) -> None:
    worker = PolicyWorker(wish=snoozed(15 * MINUTE))
    worker.now = replace(worker.now, ms=EVENING_MS - back)
    found = worker.decide()
    assert found.until_ms == worker.now.ms + 15 * MINUTE
    assert worker.decide(ms=15 * MINUTE).reason == LendingReason.LENDING


def test_a_worker_that_starts_again_gives_no_snooze_anew() -> None:
    worker = PolicyWorker(wish=snoozed(15 * MINUTE))
    worker.now = replace(worker.now, ms=EVENING_MS + 14 * MINUTE)
    assert worker.decide().until_ms == EVENING_MS + 15 * MINUTE
    assert worker.decide(ms=MINUTE).reason == LendingReason.LENDING


def test_a_new_snooze_takes_the_place_of_the_old_one() -> None:
    worker = PolicyWorker(wish=snoozed(15 * MINUTE))
    worker.decide()
    worker.wish = snoozed(HOUR, number=3)
    assert worker.decide(ms=20 * MINUTE).until_ms == EVENING_MS + HOUR
    worker.wish = DesiredState(number=4, lend=True)
    assert worker.decide().reason == LendingReason.LENDING


def test_a_pause_wins_over_a_snooze() -> None:
    worker = PolicyWorker(wish=msgspec.structs.replace(snoozed(HOUR), lend=False))
    assert worker.decide().reason == LendingReason.BY_HAND


@pytest.mark.parametrize("name", ["", "doom"])
def test_a_snooze_until_the_game_closes_ends_a_minute_after_it(name: str) -> None:
    worker = PolicyWorker(wish=until_closed(name))
    found = worker.decide(GAME)
    assert (found.reason, found.values) == (LendingReason.UNTIL_GAME_CLOSES, {"program": "doom"})
    assert found.until_ms is None
    assert worker.watch(GAME, 3 * 3_600).reason == LendingReason.UNTIL_GAME_CLOSES
    found = worker.decide(ms=SECOND)
    assert found.until_ms == worker.now.ms + MINUTE
    assert worker.decide(ms=MINUTE - 1).reason == LendingReason.UNTIL_GAME_CLOSES
    assert worker.decide(ms=1).reason == LendingReason.LENDING
    assert worker.decide(GAME).reason == LendingReason.GAME, "the snooze is over, the game is not"


def test_a_game_that_is_started_again_within_the_minute_was_not_closed() -> None:
    worker = PolicyWorker(wish=until_closed())
    worker.decide(GAME)
    worker.watch(CALM, 50)
    worker.decide(GAME, ms=SECOND)
    assert worker.watch(CALM, 60).reason == LendingReason.UNTIL_GAME_CLOSES
    assert worker.watch(CALM, 1).reason == LendingReason.LENDING


def test_a_snooze_for_one_game_ends_beside_another() -> None:
    worker = PolicyWorker(wish=until_closed("doom"))
    worker.decide(GAME)
    other = in_session(game="quake")
    assert worker.watch(other, 60).reason == LendingReason.UNTIL_GAME_CLOSES
    assert worker.watch(other, 1).reason == LendingReason.GAME


def test_a_film_is_no_game_to_wait_for() -> None:
    worker = PolicyWorker(wish=until_closed())
    worker.decide(GAME)
    film = in_session(fullscreen="mpv", is_film=True)
    assert worker.watch(film, 60).reason == LendingReason.UNTIL_GAME_CLOSES
    assert worker.watch(film, 1).reason == LendingReason.LENDING


def test_a_game_in_the_background_has_not_closed() -> None:
    worker = PolicyWorker(wish=until_closed("doom"), preferences=chosen(exclusive=("blender",)))
    worker.watch(in_session(fullscreen="doom"), 10)
    background = in_session(programs=("doom",))
    assert worker.watch(background, 600).reason == LendingReason.UNTIL_GAME_CLOSES
    worker.wish = DesiredState(number=3, lend=True)
    assert worker.decide(background).reason == LendingReason.LENDING, "not listed as exclusive"


def test_a_game_that_nobody_can_see_has_not_closed() -> None:
    worker = PolicyWorker(wish=until_closed("doom"))
    blind = replace(CALM, session=UNKNOWN_SESSION)
    assert worker.watch(blind, 600).reason == LendingReason.UNTIL_GAME_CLOSES
    assert worker.decide(replace(CALM, session=None)).reason == LendingReason.UNTIL_GAME_CLOSES
    assert worker.decide(blind, ms=DAY).reason != LendingReason.UNTIL_GAME_CLOSES, "a day at most"


# --- the last round


def test_a_round_is_finished_and_then_lending_stops() -> None:
    worker = PolicyWorker()
    worker.decide(WORKING)
    worker.wish = DesiredState(number=2, lend=True, finish=True)
    found = worker.decide(WORKING)
    assert (found.state, found.reason) == (LendingState.FINISHING, LendingReason.FINISHING)
    assert (found.values, found.share_percent) == ({"round": 7}, 100)
    assert worker.watch(WORKING, 600).reason == LendingReason.FINISHING
    for underway in (8, None, 7):
        found = worker.decide(replace(WORKING, round=underway), ms=SECOND)
        assert (found.state, found.reason) == (LendingState.PAUSED, LendingReason.BY_HAND)
        assert found.values == {"fact": "finished"}


def test_without_a_round_there_is_nothing_to_finish() -> None:
    worker = PolicyWorker(wish=DesiredState(number=2, lend=True, finish=True))
    assert worker.decide(replace(CALM, round=None)).state == LendingState.PAUSED
    assert worker.decide(WORKING).state == LendingState.PAUSED, "nor is a round that begins later"


def test_a_game_stops_the_last_round_too() -> None:
    worker = PolicyWorker(wish=DesiredState(number=2, lend=True, finish=True))
    worker.decide(WORKING)
    found = worker.decide(in_session(WORKING, game="doom"))
    assert (found.reason, found.may_compute) == (LendingReason.GAME, False)


def test_a_new_wish_to_finish_has_its_own_round() -> None:
    worker = PolicyWorker(wish=DesiredState(number=2, lend=True, finish=True))
    worker.decide(WORKING)
    worker.decide(replace(WORKING, round=8))
    worker.wish = LEND
    assert worker.decide(replace(WORKING, round=9)).reason == LendingReason.LENDING
    worker.wish = DesiredState(number=4, lend=True, finish=True)
    assert worker.decide(replace(WORKING, round=9)).values == {"round": 9}


def test_an_outdated_version_finishes_its_round_and_lends_again_when_it_may() -> None:
    worker = PolicyWorker()
    worker.decide(WORKING)
    outdated = replace(WORKING, wanted_version="0.3.0")
    assert worker.watch(outdated, 600).reason == LendingReason.LENDING
    for underway in (8, None, 7):
        found = worker.decide(replace(outdated, round=underway), ms=SECOND)
        assert (found.state, found.reason) == (LendingState.ATTENTION, LendingReason.OUTDATED)
        assert found.values == {"wanted": "0.3.0", "own": BUILD}
        assert not found.may_compute
    assert worker.decide(replace(WORKING, round=None)).reason == LendingReason.LENDING


def test_an_outdated_version_begins_no_round() -> None:
    worker = PolicyWorker()
    for underway in (None, 7, 8):
        found = worker.decide(replace(WORKING, wanted_version="0.3.0", round=underway), ms=SECOND)
        assert found.reason == LendingReason.OUTDATED


# --- heat


def test_a_device_that_is_too_hot_cools_by_five_degrees_below_its_goal() -> None:
    worker = PolicyWorker()
    assert worker.decide(with_gpu(WORKING, temperature_c=84.0)).reason == LendingReason.LENDING
    found = worker.decide(with_gpu(WORKING, temperature_c=85.0), ms=SECOND)
    assert found.reason == LendingReason.HOT
    assert found.values == {"device": "RTX 5070", "degrees": 85, "limit": 80}
    assert worker.decide(with_gpu(temperature_c=76.0), ms=MINUTE).reason == LendingReason.HOT
    assert worker.decide(with_gpu(temperature_c=None), ms=MINUTE).reason == LendingReason.HOT
    assert worker.decide(with_gpu(temperature_c=75.0), ms=MINUTE).reason == LendingReason.LENDING
    assert worker.decide(with_gpu(temperature_c=79.0), ms=MINUTE).reason == LendingReason.LENDING


def test_a_device_at_its_goal_is_not_begun_on() -> None:
    assert PolicyWorker().decide(with_gpu(temperature_c=80.0)).reason == LendingReason.HOT
    mild = chosen(devices=(DeviceChoice(id="cuda:0", temperature_c=90),))
    assert PolicyWorker(mild).decide(with_gpu(temperature_c=80.0)).reason == LendingReason.LENDING


def test_a_device_above_its_goal_computes_less_and_stops_if_that_does_not_help() -> None:
    worker, warm = PolicyWorker(), with_gpu(WORKING, temperature_c=83.0)
    shares = [worker.watch(warm, 5).share_percent for _ in range(12)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 80
    assert worker.watch(warm, 300).reason == LendingReason.HOT


def test_a_thermometer_that_falls_silent_does_not_cool_the_device() -> None:
    worker, warm = PolicyWorker(), with_gpu(WORKING, temperature_c=84.0)
    while worker.watch(warm, 1).share_percent > 10:
        pass
    assert worker.watch(warm, 20).reason == LendingReason.LENDING
    assert worker.watch(with_gpu(WORKING, temperature_c=None), 11).reason == LendingReason.HOT


def test_a_device_that_rests_keeps_its_pace() -> None:
    worker = PolicyWorker()
    share = worker.watch(with_gpu(WORKING, temperature_c=83.0), 60).share_percent
    worker.watch(in_session(game="doom"), 600)
    assert worker.watch(CALM, 120).share_percent == share, "it cooled because it rested"


# --- others


def test_others_must_keep_the_card_for_three_seconds() -> None:
    worker = PolicyWorker()
    assert worker.decide(BUSY_AT_WORK).reason == LendingReason.LENDING
    assert worker.decide(BUSY_AT_WORK, ms=2_999).reason == LendingReason.LENDING
    found = worker.decide(BUSY_AT_WORK, ms=1)
    assert (found.reason, found.until_ms) == (LendingReason.OTHERS_GPU, None)
    assert worker.watch(BUSY, 600).reason == LendingReason.OTHERS_GPU
    assert worker.decide(ms=MINUTE - 1).until_ms == full_second(worker.now.ms + 1)
    assert worker.decide(ms=1).reason == LendingReason.LENDING


def test_a_load_that_may_be_our_own_is_nobodys_need() -> None:
    worker, ours = PolicyWorker(), with_gpu(WORKING, others_load=None, load=0.99)
    assert worker.watch(ours, 60).reason == LendingReason.LENDING


def test_a_short_load_is_nobodys_need() -> None:
    worker = PolicyWorker()
    for _ in range(60):
        assert worker.watch(BUSY_AT_WORK, 3).reason == LendingReason.LENDING
        worker.watch(WORKING, 1)


def test_beside_a_load_nothing_begins() -> None:
    worker = PolicyWorker()
    assert worker.decide(BUSY).reason == LendingReason.OTHERS_GPU
    assert worker.decide(ms=SECOND).reason == LendingReason.LENDING, "it did not last"


def test_a_load_that_nobody_can_see_has_not_gone() -> None:
    worker = PolicyWorker()
    worker.watch(BUSY_AT_WORK, 5)
    worker.watch(with_gpu(others_load=None, load=None), 300)
    assert worker.decide(ms=SECOND).reason == LendingReason.OTHERS_GPU


def test_a_short_peak_does_not_lengthen_the_minute_after_a_load() -> None:
    worker = PolicyWorker()
    worker.watch(BUSY_AT_WORK, 5)
    for _ in range(7):
        worker.watch(CALM, 7)
        worker.watch(BUSY, 1)
    assert worker.watch(CALM, 5).reason == LendingReason.LENDING


def test_the_processor_is_left_to_others_while_they_use_it() -> None:
    worker, busy = PolicyWorker(), on_machine(WORKING, others_cpu=0.9)
    worker.watch(WORKING, 60)
    assert worker.watch(busy, 3).reason == LendingReason.LENDING
    assert worker.watch(busy, 10).reason == LendingReason.OTHERS_CPU
    assert worker.watch(on_machine(others_cpu=0.9), 600).reason == LendingReason.OTHERS_CPU
    assert worker.watch(CALM, 10).reason == LendingReason.OTHERS_CPU
    assert worker.watch(CALM, 40).reason == LendingReason.LENDING


def test_peaks_of_the_processor_neither_stop_lending_nor_keep_it_from_beginning() -> None:
    at_work, at_rest, busy = PolicyWorker(), PolicyWorker(), on_machine(others_cpu=0.9)
    at_work.watch(WORKING, 60)
    at_rest.watch(busy, 60)
    for _ in range(20):
        for _ in range(3):
            assert at_work.decide(on_machine(WORKING, others_cpu=0.9), ms=SECOND).may_compute
            at_rest.decide(busy, ms=SECOND)
        for _ in range(9):
            assert at_work.decide(WORKING, ms=SECOND).may_compute
            found = at_rest.decide(CALM, ms=SECOND)
    assert found.reason == LendingReason.LENDING


def test_a_load_beside_the_limit_does_not_switch_lending_on_and_off() -> None:
    worker = PolicyWorker()
    worker.watch(on_machine(others_cpu=0.6), 60)
    assert worker.watch(on_machine(others_cpu=0.45), 300).values["below"] == 40
    assert worker.watch(on_machine(others_cpu=0.35), 60).reason == LendingReason.LENDING
    assert worker.watch(on_machine(others_cpu=0.45), 300).reason == LendingReason.LENDING


@pytest.mark.parametrize("preset", PRESETS)
def test_an_idle_computer_begins_within_ten_seconds_of_a_busy_start(preset: LendingPreset) -> None:
    worker = PolicyWorker(preferences=chosen(**PRESETS[preset]))
    worker.watch(on_machine(others_cpu=1.0), 2)
    assert worker.watch(CALM, 10).reason == LendingReason.LENDING


def test_steps_that_take_longer_for_five_seconds_tell_of_a_rival() -> None:
    worker, slow = PolicyWorker(), replace(WORKING, slowdown=1.5)
    assert worker.watch(slow, 5).reason == LendingReason.LENDING
    assert worker.watch(slow, 1).reason == LendingReason.SLOWED
    # the trainer is gone, its last figure may stay
    found = worker.watch(replace(CALM, slowdown=1.5), 59)
    assert (found.reason, found.until_ms) == (LendingReason.SLOWED, worker.now.ms + SECOND)
    assert worker.watch(CALM, 1).reason == LendingReason.LENDING
    assert worker.watch(replace(WORKING, slowdown=1.4), 60).reason == LendingReason.LENDING


def test_memory_that_is_missing_comes_before_steps_that_were_slow() -> None:
    worker = PolicyWorker()
    worker.watch(replace(WORKING, slowdown=1.5), 6)
    assert worker.decide(with_gpu(free_mb=100)).reason == LendingReason.GPU_MEMORY
    assert worker.decide().reason == LendingReason.SLOWED


def test_whoever_lends_beside_others_is_not_stopped_by_slow_steps() -> None:
    worker = PolicyWorker(chosen(others_gpu_percent=100))
    assert worker.watch(replace(BUSY_AT_WORK, slowdown=9.0), 60).reason == LendingReason.LENDING


def test_a_clock_that_is_set_changes_nothing_for_others() -> None:
    worker = PolicyWorker()
    worker.watch(BUSY_AT_WORK, 5)
    found = worker.decide(ms=SECOND, wall_ms=-30 * DAY)
    assert (found.reason, found.until_ms) == (LendingReason.OTHERS_GPU, worker.now.ms + 59 * SECOND)


# --- disk


def test_a_disk_that_was_short_must_have_a_gigabyte_to_spare() -> None:
    worker = PolicyWorker()
    assert worker.decide(replace(CALM, free_disk_bytes=20 * GIB - 1)).reason == LendingReason.DISK
    assert worker.decide(replace(CALM, free_disk_bytes=21 * GIB - 1)).reason == LendingReason.DISK
    assert worker.decide(replace(CALM, free_disk_bytes=None)).reason == LendingReason.DISK
    assert worker.decide(replace(CALM, free_disk_bytes=20 * GIB)).reason == LendingReason.DISK
    assert worker.decide(replace(CALM, free_disk_bytes=21 * GIB)).reason == LendingReason.LENDING
    assert worker.decide(replace(CALM, free_disk_bytes=20 * GIB)).reason == LendingReason.LENDING
