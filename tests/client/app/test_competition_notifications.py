"""Notifications of competitions: start, deadline, result; each once, and none during a game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tequio_client.app.competition_notifications import REFRESH_MS
from tequio_client.app.notifications import Notifier
from tequio_client.app.settings_file import SettingsStore
from tequio_client.ipc.competitions import AskCompetitions, CompetitionRow, CompetitionsReply
from tequio_client.ipc.facts import SessionFacts
from tests.support.app_competitions import DECIDED, LARGE_RACE, RACE
from tests.support.app_scenes import DAY_MS, NEW, NOW_MS
from tests.support.app_tray import NotificationRecorder

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tests.support.app_worker import ScriptedWorker

BEGUN, NEAR = "Open text 2026 has begun", "Open text 2026: 23 h 0 min until the deadline"
OVER = replace(RACE, phase="decided", entrants=DECIDED.entrants)
RESULT = "Open text 2026 is decided"


class CompetitionNotifierHarness:
    """A notifier whose clock, competitions and screen the test controls."""

    def __init__(self, model: AppModel, worker: ScriptedWorker, folder: Path) -> None:
        self.model, self.worker = model, worker
        self.desk, self.book = NotificationRecorder(), SettingsStore(folder)
        self.now_ms = NOW_MS
        self.notifications = Notifier(
            model,
            self.book,
            self.desk,
            lambda: self.now_ms,
        )

    def at(self, now_ms: int, *rows: CompetitionRow) -> list[str]:
        """Set the time and the ledger's competitions; return the titles of new notifications."""
        self.now_ms = now_ms
        self.worker.replies = {AskCompetitions: CompetitionsReply(rows=rows)}
        before = len(self.desk.displayed)
        self.worker.send_snapshot(NEW)
        self.worker.send_snapshot(NEW)
        return self.desk.titles[before:]


@pytest.fixture
def harness(
    model: AppModel, worker: ScriptedWorker, language: Language, tmp_path: Path
) -> CompetitionNotifierHarness:
    made = CompetitionNotifierHarness(model, worker, tmp_path)
    assert made.at(RACE.opens_ms - DAY_MS, RACE) == []
    return made


def test_start_deadline_and_result_are_told_once_each(harness: CompetitionNotifierHarness) -> None:
    assert harness.at(RACE.opens_ms, RACE) == [BEGUN]
    assert harness.desk.displayed[-1][1].startswith("nova and cuentos-124m compete until ")
    assert harness.desk.displayed[-1][2] == "competitions"
    assert harness.at(RACE.deadline_ms - DAY_MS - 1, RACE) == []
    assert harness.at(RACE.deadline_ms - 23 * 3_600_000, RACE) == [NEAR]
    assert harness.at(RACE.deadline_ms - 1, RACE) == []
    assert harness.at(RACE.result_ms, OVER) == [RESULT]
    assert harness.desk.displayed[-1][1] == (
        "First: nova, with 0.8421 bits per byte of text (perplexity 1.793 per byte)."
    )
    assert harness.at(RACE.result_ms + DAY_MS, OVER) == []


def test_after_a_restart_nothing_is_told_again_but_what_came_up_meanwhile(
    harness: CompetitionNotifierHarness, model: AppModel, worker: ScriptedWorker, tmp_path: Path
) -> None:
    harness.at(RACE.opens_ms, RACE)
    again = CompetitionNotifierHarness(model, worker, tmp_path)
    assert again.at(RACE.opens_ms + REFRESH_MS, RACE) == []
    once_more = CompetitionNotifierHarness(model, worker, tmp_path)
    assert once_more.at(RACE.result_ms, OVER) == [RESULT], "the deadline is not news any more"


def test_the_first_look_takes_what_there_is_as_known(
    model: AppModel, worker: ScriptedWorker, language: Language, tmp_path: Path
) -> None:
    fresh = CompetitionNotifierHarness(model, worker, tmp_path)
    judged = replace(DECIDED, part="scored")
    assert fresh.at(NOW_MS, RACE, judged, LARGE_RACE) == []
    assert fresh.at(LARGE_RACE.opens_ms, DECIDED, LARGE_RACE) == ["Big models, winter has begun"]


def test_the_first_look_still_tells_of_a_draw_with_scores_to_give(
    model: AppModel, worker: ScriptedWorker, language: Language, tmp_path: Path
) -> None:
    fresh = CompetitionNotifierHarness(model, worker, tmp_path)
    drawn = replace(RACE, phase="revealed", part="drawn", to_judge=2)
    told = fresh.at(RACE.draw_ms, drawn) + fresh.at(RACE.draw_ms + REFRESH_MS, drawn)
    assert told == ["You were drawn to judge Open text 2026"]


def test_while_something_fills_the_screen_it_waits(harness: CompetitionNotifierHarness) -> None:
    harness.model.update_session(SessionFacts(fullscreen="chess"))
    assert harness.at(RACE.opens_ms, RACE) == []
    harness.model.update_session(SessionFacts())
    assert harness.at(RACE.opens_ms + 1, RACE) == [BEGUN]


def test_a_start_that_nobody_saw_in_time_is_not_told(harness: CompetitionNotifierHarness) -> None:
    harness.model.update_session(SessionFacts(fullscreen="chess"))
    harness.at(RACE.opens_ms, RACE)
    harness.model.update_session(SessionFacts())
    assert harness.at(RACE.deadline_ms + 1, RACE) == []
    assert harness.at(RACE.draw_ms, replace(RACE, phase="closed")) == []


def test_a_short_race_has_its_deadline_near_in_its_last_quarter(
    harness: CompetitionNotifierHarness,
) -> None:
    short = replace(RACE, deadline_ms=RACE.opens_ms + 8 * 60_000)
    assert harness.at(RACE.opens_ms, short) == [BEGUN]
    assert harness.at(RACE.opens_ms + 5 * 60_000, short) == []
    assert harness.at(RACE.opens_ms + 6 * 60_000, short) == [
        "Open text 2026: 2 min until the deadline"
    ]


def test_it_has_its_switch_and_asks_nothing_while_that_is_off(
    harness: CompetitionNotifierHarness,
) -> None:
    harness.book.change(notify_competitions=False)
    count = len(harness.worker.received)
    assert harness.at(RACE.opens_ms, RACE) == []
    assert len(harness.worker.received) == count
    harness.book.change(notify_competitions=True)
    assert harness.at(RACE.result_ms, OVER) == []
    assert harness.at(RACE.result_ms + REFRESH_MS, OVER, DECIDED) == ["First light is decided"]


def test_what_is_past_in_another_network_is_not_told_on_joining_it(
    harness: CompetitionNotifierHarness,
) -> None:
    harness.model.forget_network()
    assert harness.at(RACE.opens_ms, DECIDED, LARGE_RACE) == []
    assert harness.at(LARGE_RACE.opens_ms, LARGE_RACE) == ["Big models, winter has begun"]


def test_the_list_is_asked_for_now_and_then_and_deadlines_are_seen_in_between(
    harness: CompetitionNotifierHarness,
) -> None:
    harness.at(RACE.opens_ms, RACE)
    count = len(harness.worker.received)
    harness.at(RACE.opens_ms + REFRESH_MS - 1)
    assert len(harness.worker.received) == count
    harness.at(RACE.opens_ms + REFRESH_MS)
    assert len(harness.worker.received) == count + 1


def test_ties_and_missing_rankings_have_their_words(harness: CompetitionNotifierHarness) -> None:
    tied = tuple(replace(one, rank=1) for one in DECIDED.entrants[:2])
    harness.at(RACE.result_ms, replace(OVER, entrants=tied))
    assert harness.desk.displayed[-1][1].startswith("First: nova and elsewhere, with 0.8421")


def test_nobody_ranked_is_told_as_that(harness: CompetitionNotifierHarness) -> None:
    none = tuple(replace(one, rank=0) for one in DECIDED.entrants)
    assert harness.at(RACE.result_ms, replace(OVER, entrants=none)) == [RESULT]
    assert harness.desk.displayed[-1][1].startswith("It ended without a ranking.")


def test_being_drawn_to_judge_and_having_judged_are_told_once_each(
    harness: CompetitionNotifierHarness,
) -> None:
    over = replace(RACE, phase="revealed", to_judge=2)
    drawn, waiting = replace(over, part="drawn"), replace(over, part="waiting")
    assert harness.at(RACE.draw_ms, replace(over, part="in-draw")) == []
    assert harness.at(RACE.draw_ms + REFRESH_MS, drawn) == [
        "You were drawn to judge Open text 2026"
    ]
    assert harness.desk.displayed[-1][1] == "This computer scores 2 models when it may lend."
    assert harness.at(RACE.draw_ms + 2 * REFRESH_MS, waiting) == []
    done = replace(over, part="scored")
    assert harness.at(RACE.draw_ms + 3 * REFRESH_MS, done) == ["You have judged Open text 2026"]
    assert harness.at(RACE.draw_ms + 4 * REFRESH_MS, done) == []
