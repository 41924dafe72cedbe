"""News of runs: an end and a rollback are told once, with the result, and stay on Home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tequio_client.app.notifications import Notifier
from tequio_client.app.pages.home import HomePage
from tequio_client.app.pages.page import PageContext
from tequio_client.app.run_news import REFRESH_MS
from tequio_client.app.settings_file import SettingsStore
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.points import (
    ActivityReply,
    ActivityRow,
    AskActivity,
    AskLosses,
    AskPoints,
    AskSeries,
    LossesReply,
    LossRow,
    PointsReply,
    PointsRow,
    PointsSeries,
)
from tequio_client.ipc.runs import AskRuns, RunRow, RunsReply
from tequio_client.ipc.texts import ActivityEvent
from tests.support.app_program import own
from tests.support.app_scenes import LENDING, NOW_MS
from tests.support.app_tray import NotificationRecorder
from tests.support.app_worker_answers import ENDED, NOVA, SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.app.language import Language
    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker

OURS = replace(NOVA, is_ours=False)
OVER = replace(OURS, is_open=False, state="finished", round=4_000)
STOPPED = replace(OVER, round=1_841)
BACK = replace(OURS, rollback_round=1_800, rollback_entry=77)
TOLD = (
    "It reached its last round, 4,000. Its model went from 2.310 to 1.084 bits per byte of unseen "
    "text, or from perplexity 4.959 to 2.120 per byte. You earned 1.50 points in 2 accepted rounds."
)


def row(number: int, state: str, gflop: int = 0) -> PointsRow:
    return PointsRow(
        number=number,
        run=NOVA.run,
        run_name=NOVA.name,
        round=number,
        at_ms=NOW_MS,
        state=state,
        gflop=gflop,
    )


class RunNewsHarness:
    """A notifier whose clock, runs and screen the test controls."""

    def __init__(self, model: AppModel, worker: ScriptedWorker, folder: Path) -> None:
        self.model, self.worker, self.now_ms = model, worker, NOW_MS
        self.desk, self.book = NotificationRecorder(), SettingsStore(folder)
        self.book.change(knows_points=True)
        self.notifications = Notifier(model, self.book, self.desk, lambda: self.now_ms)

    def at(self, after_ms: int, *rows: RunRow) -> list[str]:
        """Let time pass, and set the ledger's runs; return the titles of new notifications."""
        self.now_ms += after_ms
        self.worker.replies = {
            AskRuns: RunsReply(rows=rows),
            AskSeries: PointsSeries(since_ms=0, step_ms=86_400_000, verified=(5_000, 10_000)),
            AskPoints: PointsReply(
                rows=(row(3, "verified", 10_000), row(2, "rejected"), row(1, "verified", 5_000))
            ),
            AskLosses: LossesReply(
                rows=(
                    LossRow(round=1, bits_per_byte=2.31),
                    LossRow(round=2, loss=3.0),
                    LossRow(round=3, bits_per_byte=1.084),
                )
            ),
        }
        before = len(self.desk.displayed)
        for _ in range(3):
            self.worker.send_snapshot(LENDING)
        return self.desk.titles[before:]


@pytest.fixture
def harness(
    model: AppModel, worker: ScriptedWorker, language: Language, tmp_path: Path
) -> RunNewsHarness:
    made = RunNewsHarness(model, worker, tmp_path)
    assert made.at(0, OURS, SMALL, ENDED) == []
    return made


def test_the_end_of_a_run_is_told_once_with_its_result(harness: RunNewsHarness) -> None:
    assert harness.at(REFRESH_MS, OVER, SMALL, ENDED) == ["nova-350m is complete"]
    assert harness.desk.displayed[-1][1:] == (TOLD, "home")
    assert harness.at(REFRESH_MS, OVER, SMALL, ENDED) == []


def test_news_of_runs_can_be_switched_off(harness: RunNewsHarness) -> None:
    harness.book.change(notify_runs=False)
    assert harness.at(REFRESH_MS, OVER, SMALL, ENDED) == []
    assert harness.book.settings.run_news, "Home shows it all the same"


def test_a_run_that_stopped_early_names_how_far_it_came(harness: RunNewsHarness) -> None:
    assert harness.at(REFRESH_MS, STOPPED, SMALL) == ["nova-350m has ended"]
    assert harness.desk.displayed[-1][1].startswith("It ended after 1,841 of 4,000 rounds.")


def test_each_rollback_is_told_once(harness: RunNewsHarness) -> None:
    assert harness.at(REFRESH_MS, BACK) == ["nova-350m went back to round 1,800"]
    assert harness.desk.displayed[-1][1].endswith("Your points stay yours.")
    assert "bits per byte" not in harness.desk.displayed[-1][1]
    again = replace(BACK, rollback_entry=99, rollback_round=1_700)
    assert harness.at(REFRESH_MS, again) == ["nova-350m went back to round 1,700"]
    assert harness.at(REFRESH_MS, again) == []


def test_what_happened_while_the_app_was_off_is_told_after_its_start(
    harness: RunNewsHarness, model: AppModel, worker: ScriptedWorker, tmp_path: Path
) -> None:
    again = RunNewsHarness(model, worker, tmp_path)
    harness.notifications.deleteLater()
    assert again.at(REFRESH_MS, OVER) == ["nova-350m is complete"]
    assert RunNewsHarness(model, worker, tmp_path).at(0, OVER) == []


def test_runs_of_others_and_ends_before_the_first_look_are_not_told(
    harness: RunNewsHarness,
) -> None:
    other = replace(SMALL, is_open=False, state="finished")
    assert harness.at(REFRESH_MS, OURS, other, ENDED) == []


def test_a_game_delays_the_news(harness: RunNewsHarness) -> None:
    harness.model.update_session(SessionFacts(fullscreen="chess"))
    assert harness.at(REFRESH_MS, OVER) == []
    harness.model.update_session(SessionFacts())
    assert harness.at(REFRESH_MS, OVER) == ["nova-350m is complete"]


def test_an_end_that_the_worker_reports_is_told_at_once(harness: RunNewsHarness) -> None:
    harness.at(0, OVER)
    ended = ActivityRow(number=999, at_ms=NOW_MS, code=ActivityEvent.RUN_ENDED)
    harness.worker.replies[AskActivity] = ActivityReply(rows=(ended,))
    harness.worker.send_snapshot(replace(LENDING, activity=999))
    assert harness.desk.titles == ["nova-350m is complete"]


def test_home_shows_the_news_until_it_is_dismissed(
    harness: RunNewsHarness, theme: Theme, qtbot: QtBot, tmp_path: Path
) -> None:
    opened: list[str] = []
    program = own(tmp_path)
    program.settings.change(knows_runs=True, run_news=f"{NOVA.run[:16]}:ended")
    home = HomePage(
        PageContext(
            model=harness.model,
            look=theme,
            now_ms=lambda: NOW_MS,
            open_page=opened.append,
            program=program,
        )
    )
    qtbot.addWidget(home)
    home.resize(914, 720)
    home.show()
    harness.at(REFRESH_MS, OVER, SMALL, ENDED)
    home.refresh()
    assert home.news.isVisible()
    assert home.news.title.text() == "nova-350m is complete"
    assert home.news.words.text() == f"{TOLD} In this network you are #47 of 1,204."
    assert home.news.next.text() == "Open runs that fit this computer: cuentos-124m."
    home.news.choose.click()
    home.news.chat.click()
    assert opened == ["runs", f"model/{NOVA.run}"]
    home.news.dismiss.click()
    assert not home.news.isVisible()
    assert program.settings.settings.run_news == ""
