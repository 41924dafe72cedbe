"""Lending that the user started although a rule says to wait."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio
from msgspec.structs import replace as changed

from tequio_client import clock
from tequio_client.ipc.preferences import DeviceChoice
from tequio_client.ipc.snapshot import STARTABLE, DesiredState, LendingReason
from tequio_client.worker.lending.lending import StoredChoices
from tests.client.worker.lending.test_lending import scene_of
from tests.support.lending_facts import (
    CALM,
    CHOSEN,
    GPU,
    LEND,
    SESSION,
    PolicyWorker,
    chosen,
    in_session,
    on_machine,
    with_gpu,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.ipc.facts import SessionFacts
    from tequio_client.ipc.preferences import Preferences
    from tequio_client.worker.lending.facts import LendingFacts

MINUTE_S = 60
ANYWAY = DesiredState(number=2, lend=True, anyway=True)
USED = in_session(idle_s=1.0)
BEHIND = in_session(idle_s=None, is_locked=None, fullscreen=None, game=None, has_other_user=True)
"""Another user's session is in front."""
TYPING = changed(SESSION, idle_s=1.0)
NEVER = chosen(week=(0,) * 7)


@pytest.mark.parametrize(
    ("facts", "preferences", "reason"),
    [
        (USED, chosen(), LendingReason.IN_USE),
        (CALM, NEVER, LendingReason.SCHEDULE),
        (on_machine(on_battery=True), chosen(), LendingReason.BATTERY),
        (on_machine(on_battery=None), chosen(), LendingReason.BATTERY_UNKNOWN),
        (on_machine(is_saving_power=True), chosen(), LendingReason.SAVING_POWER),
        (in_session(game=None), chosen(), LendingReason.CANNOT_TELL),
        (with_gpu(others_load=0.5), chosen(), LendingReason.OTHERS_GPU),
        (on_machine(others_cpu=0.9), chosen(), LendingReason.OTHERS_CPU),
    ],
)
def test_it_starts_although_a_rule_says_to_wait(
    facts: LendingFacts, preferences: Preferences, reason: LendingReason
) -> None:
    worker = PolicyWorker(preferences=preferences)
    waiting = worker.decide(facts)
    assert (waiting.reason, waiting.is_startable) == (reason, True)
    worker.wish = ANYWAY
    started = worker.watch(facts, 30 * MINUTE_S)
    assert (started.reason, started.may_compute) == (LendingReason.LENDING_ANYWAY, True)


@pytest.mark.parametrize(
    ("facts", "preferences", "reason"),
    [
        (in_session(game="doom"), chosen(), LendingReason.GAME),
        (in_session(fullscreen="quake"), chosen(), LendingReason.FULLSCREEN),
        (BEHIND, chosen(), LendingReason.CANNOT_TELL),
        (BEHIND, chosen(pause_for_games=False), LendingReason.CANNOT_TELL),
        (CALM, chosen(consent=False), LendingReason.NO_CONSENT),
        (in_session(is_metered=True), chosen(), LendingReason.METERED),
        (replace(CALM, month_bytes=10**12), chosen(), LendingReason.QUOTA),
        (replace(CALM, free_disk_bytes=0), chosen(), LendingReason.DISK),
        (with_gpu(temperature_c=95.0), chosen(), LendingReason.HOT),
        (with_gpu(free_mb=10), chosen(), LendingReason.GPU_MEMORY),
    ],
)
def test_games_other_users_costs_and_what_cannot_work_still_stop_it(
    facts: LendingFacts, preferences: Preferences, reason: LendingReason
) -> None:
    worker = PolicyWorker(preferences=preferences, wish=ANYWAY)
    found = worker.decide(facts)
    assert (found.reason, found.is_startable) == (reason, False)


def test_it_goes_on_after_a_game() -> None:
    worker = PolicyWorker(wish=ANYWAY)
    worker.watch(in_session(game="doom", idle_s=1.0), 5)
    assert worker.watch(USED, MINUTE_S).reason == LendingReason.LENDING_ANYWAY


class WatchedLending:
    """A worker's lending that decides once a second, with a clock of the test's."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ms = 5_000_000
        monkeypatch.setattr(clock, "steady_ms", lambda: self.now_ms)
        self.setup = scene_of(folder, StoredChoices(folder, default=LEND))
        self.lending = self.setup.lending
        self.lending.apply_preferences(CHOSEN)
        self.lending.apply_state(ANYWAY)

    def watch(self, session: SessionFacts, seconds: int) -> LendingReason:
        for _ in range(seconds):
            self.now_ms += 1_000
            self.setup.see(session=session)
        return self.setup.reason

    def reasons(self) -> dict[str, LendingReason]:
        return {name: one.decision.reason for name, one in self.lending.devices.items()}


@pytest.fixture
async def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WatchedLending:
    await trio.lowlevel.checkpoint()
    return WatchedLending(tmp_path, monkeypatch)


@pytest.mark.trio
async def test_the_rules_decide_again_once_they_have_allowed_it_for_a_while(
    started: WatchedLending,
) -> None:
    assert started.watch(TYPING, 10) == LendingReason.LENDING_ANYWAY
    assert started.watch(SESSION, MINUTE_S) == LendingReason.LENDING
    assert started.watch(TYPING, 10) == LendingReason.LENDING_ANYWAY, "away for a minute only"
    started.watch(SESSION, 6 * MINUTE_S)
    assert started.watch(TYPING, 1) == LendingReason.IN_USE
    started.lending.apply_state(replace_number(ANYWAY))
    assert started.watch(TYPING, 1) == LendingReason.LENDING_ANYWAY, "asked for again"


@pytest.mark.trio
async def test_what_is_over_does_not_come_back_with_another_device(
    started: WatchedLending,
) -> None:
    started.watch(SESSION, 6 * MINUTE_S)
    started.lending.apply_preferences(changed(CHOSEN, devices=(DeviceChoice(id="cpu", use=True),)))
    started.watch(TYPING, 1)
    assert started.reasons() == dict.fromkeys((GPU.id, "cpu"), LendingReason.IN_USE)


@pytest.mark.trio
async def test_what_is_over_does_not_come_back_with_a_command_to_finish(
    started: WatchedLending,
) -> None:
    started.watch(SESSION, 6 * MINUTE_S)
    present = started.lending.choices.desired_state
    assert (present.number, present.anyway) == (ANYWAY.number, False)
    # The app and `tequio finish` copy it from there.
    going_on = DesiredState(number=3, lend=True, finish=True, anyway=present.anyway)
    started.setup.see(session=SESSION, round=7)
    started.lending.apply_state(going_on)
    assert started.watch(TYPING, 1) == LendingReason.IN_USE


@pytest.mark.trio
async def test_it_goes_on_while_a_rule_speaks_against_one_of_two_devices(
    started: WatchedLending,
) -> None:
    in_spare_time = (DeviceChoice(id=GPU.key, while_used=True), DeviceChoice(id="cpu", use=True))
    started.lending.apply_preferences(changed(CHOSEN, devices=in_spare_time))
    started.watch(TYPING, 6 * MINUTE_S)
    assert started.reasons() == {
        GPU.id: LendingReason.LENDING,
        "cpu": LendingReason.LENDING_ANYWAY,
    }


@pytest.mark.trio
async def test_a_long_game_does_not_end_it(started: WatchedLending) -> None:
    started.watch(TYPING, 1)
    started.watch(changed(TYPING, game="doom"), 6 * MINUTE_S)
    assert started.watch(TYPING, 2 * MINUTE_S) == LendingReason.LENDING_ANYWAY


def test_another_command_ends_it() -> None:
    worker = PolicyWorker(wish=ANYWAY)
    worker.watch(USED, 10)
    worker.wish = DesiredState(number=3, lend=True)
    assert worker.decide(USED).reason == LendingReason.IN_USE


def test_the_round_under_way_can_be_finished() -> None:
    worker = PolicyWorker(wish=ANYWAY)
    busy = replace(USED, round=7)
    worker.watch(busy, 10)
    worker.wish = DesiredState(number=3, lend=True, finish=True, anyway=True)
    assert worker.watch(busy, 10).reason == LendingReason.FINISHING
    assert worker.watch(replace(USED, round=8), 1).reason == LendingReason.BY_HAND


def test_only_a_rule_that_can_be_overruled_offers_it() -> None:
    assert not PolicyWorker().decide(CALM).is_startable
    paused = PolicyWorker(wish=DesiredState(number=1)).decide(USED)
    assert (paused.reason, paused.is_startable) == (LendingReason.BY_HAND, False)
    assert LendingReason.GAME not in STARTABLE
    assert LEND.anyway is False


def replace_number(wish: DesiredState) -> DesiredState:
    return DesiredState(number=wish.number + 1, lend=True, anyway=True)
