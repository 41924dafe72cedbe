"""Competitions in each stage: the list, the race, joining an entrant, rules and result in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication

from tequio_client.app.pages.competition_text import ShownStage, stage_progress
from tequio_client.app.pages.competitions import AppCompetitionsPage
from tequio_client.app.pages.page import LIST_INTERVAL_MS, PageContext
from tequio_client.ipc import control
from tequio_client.ipc.competitions import AskCompetitions, CompetitionsReply
from tequio_client.ipc.runs import AskCurves, AskRuns
from tests.support.app_clock import AppClock
from tests.support.app_competitions import COMPETITIONS, DECIDED, LARGE_RACE, RACE, SCORED
from tests.support.app_pages import open_page, show_snapshot
from tests.support.app_scenes import AGREED, LENDING, SCENES
from tests.support.app_worker_answers import NOVA, OTHER, OURS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from tequio_client.ipc.competitions import CompetitionRow
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
IDLE = replace(LENDING, round=None)


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> AppCompetitionsPage:
    return open_page(AppCompetitionsPage(context), qtbot, height=900)


# --- the list


def test_before_the_answer_it_says_that_it_looks(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskCompetitions)
    show_snapshot(page, worker)
    assert page.empty.isVisible()
    assert page.empty.y() < page.height(), "not below what it stands for"
    assert not page.parts.isVisible()
    assert "Asking" in page.empty.words.text()
    assert not page.again.isEnabled()
    assert not page.empty.button.isVisible()


def test_where_there_is_none_it_says_what_one_is_for(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskCompetitions] = CompetitionsReply(rows=())
    show_snapshot(page, worker)
    assert page.empty.words.text().endswith("It'll appear here, and you'll be notified.")
    assert not page.empty.button.isVisible()
    assert worker.times_asked(AskRuns) == 0


def test_every_competition_has_its_row(page: AppCompetitionsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    rows = page.choices.rows
    assert list(rows) == [row.competition for row in COMPETITIONS.rows]
    assert [(row.stage.text, row.facts.text()) for row in rows.values()] == [
        ("Under way", "3 d 4 h until the deadline  ·  3 entrants"),
        ("Announced", "2 d 0 h until it begins  ·  2 entrants"),
        ("Being scored", "2 h 0 min until all must be scored  ·  2 entrants"),
        ("Decided", "First place: nova  ·  5 entrants"),
    ]
    assert [row.bar.isHidden() for row in rows.values()] == [False, False, False, True]
    assert rows[RACE.competition].isChecked()
    spoken = rows[RACE.competition].accessibleName()
    assert spoken == "Open text 2026, Under way, 3 d 4 h until the deadline, 3 entrants"


def test_the_countdown_goes_on_by_itself(
    page: AppCompetitionsPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    show_snapshot(page, worker)
    assert page.about.countdown.text() == "3 d 4 h"
    clock.ms = RACE.deadline_ms - 42_000
    show_snapshot(page, worker)
    assert page.about.countdown.text() == "42 s"
    assert page.about.to.text().startswith("until the deadline · ")
    clock.ms = RACE.deadline_ms
    show_snapshot(page, worker)
    assert page.about.stage.text == "Deadline over"
    assert not page.about.countdown.isVisible()
    assert not page.joining.isVisible(), "what is trained from now on does not count"


def test_a_ledger_that_is_away_leaves_the_list_with_its_age(
    page: AppCompetitionsPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    show_snapshot(page, worker)
    worker.replies[AskCompetitions] = "the ledger does not answer"
    clock.ms += 25 * 60_000
    show_snapshot(page, worker, SCENES["ledger-away"])
    assert page.banner.words.text().endswith("The ledger does not answer; Tequio keeps trying.")
    assert page.head.words.text().endswith("Updated 25 min ago.")
    assert len(page.choices.rows) == len(COMPETITIONS.rows)
    worker.replies[AskCompetitions] = COMPETITIONS
    page.again.click()
    assert not page.banner.isVisible()


def test_an_error_without_a_list_can_be_tried_again(
    page: AppCompetitionsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.replies[AskCompetitions] = "the ledger does not answer."
    show_snapshot(page, worker)
    assert page.empty.words.text() == "The ledger does not answer. Tequio will keep trying."
    worker.replies[AskCompetitions] = COMPETITIONS
    qtbot.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    assert not page.empty.isVisible()


def test_it_asks_once_a_minute_while_somebody_looks(
    page: AppCompetitionsPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    kinds = (AskCompetitions, AskRuns, AskCurves)
    show_snapshot(page, worker)
    show_snapshot(page, worker)
    assert [worker.times_asked(kind) for kind in kinds] == [1, 1, 1]
    clock.ms += LIST_INTERVAL_MS
    show_snapshot(page, worker)
    assert [worker.times_asked(kind) for kind in kinds] == [2, 2, 2]
    page.hide()
    clock.ms += LIST_INTERVAL_MS
    worker.send_snapshot(LENDING)
    assert [worker.times_asked(kind) for kind in kinds] == [2, 2, 2]


# --- one competition


def test_what_is_ours_is_added_up_over_the_entrants(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    facts = page.about.facts
    assert facts.points.figure.text() == "18,930"
    assert facts.points.toolTip() == "18,930.4021 points in the runs of its entrants"
    assert facts.texts.figure.text() == "5,000 of 20,000"
    assert page.about.milestones.progress == pytest.approx(12 / (15 + 4 / 24))
    assert page.about.milestones.accessibleName().startswith("Start: ")


def test_each_side_has_its_line_its_facts_and_our_points(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    nova, small = page.sides.list.rows[OURS], page.sides.list.rows[OTHER]
    assert nova.facts.text() == "nova-350m  ·  Round 1,841 of 4,000  ·  23 volunteers"
    assert (nova.place.text, nova.fit.text) == ("Yours", "Just fits")
    assert nova.points.text() == "You earned 18,604 points for it"
    assert small.facts.text() == "Round 412 of 2,000  ·  18 volunteers"
    assert not small.place.isVisible()
    assert not small.sent.isVisible()
    assert page.sides.others.text() == "Models that were trained elsewhere: elsewhere"
    said = page.sides.chart.accessibleDescription()
    assert said.startswith("nova: 2.")
    assert "cuentos-124m: " in said


def test_our_own_side_is_looked_at_first_with_what_it_needs(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    assert page.sides.list.rows[OURS].isChecked()
    assert page.joining.name.text() == NOVA.name
    assert page.joining.button.text() == "Stay on this run"
    rows = page.joining.needs.rows.values()
    needs = [f"{row.figure.text()} {row.note.text()}" for row in rows]
    assert needs[0] == "8.4 GB of 9.6 GB on RTX 4070"
    assert needs[3] == "310 MB of 2.3 GB your limit allows"


def test_joining_a_side_chooses_its_run_with_all_other_preferences(
    page: AppCompetitionsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker)
    qtbot.mouseClick(page.sides.list.rows[OTHER], Qt.MouseButton.LeftButton)
    assert page.joining.name.text() == "cuentos-124m"
    assert page.joining.button.text() == "Join this run"
    assert "your points stay yours" in page.joining.note.text()
    qtbot.waitUntil(lambda: page.joining.button.height() > 0)  # its card has been laid out
    qtbot.mouseClick(page.joining.button, Qt.MouseButton.LeftButton)
    assert worker.last(control.SetPreferences) == control.SetPreferences(
        preferences=replace(AGREED, run=OTHER)
    )
    qtbot.waitUntil(lambda: page.sides.list.rows[OTHER].place.text == "Chosen", timeout=5_000)
    assert not page.joining.button.isEnabled()


def test_curves_that_cannot_be_had_are_told(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskCurves] = "the ledger does not answer."
    show_snapshot(page, worker)
    words = "Couldn't load the curves: the ledger does not answer."
    assert page.sides.chart.accessibleDescription() == words
    worker.replies.pop(AskCurves)
    page.select(SCORED.competition)
    assert page.sides.chart.accessibleDescription().startswith("Asking the network how")


def test_another_competition_has_other_curves(
    page: AppCompetitionsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker)
    row = page.choices.rows[LARGE_RACE.competition]
    qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    asked = worker.last(control.AskQuestion)
    assert isinstance(asked, control.AskQuestion)
    runs = tuple(one.run for one in LARGE_RACE.entrants)
    assert asked.question == AskCurves(runs=runs)
    assert page.about.name.text() == "Big models, winter"
    assert page.joining.isVisible(), "who joins before it begins trains from the start"


def test_after_the_deadline_nobody_is_asked_to_join(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    page.select(SCORED.competition)
    assert not page.joining.isVisible()
    assert not page.result.isVisible()
    assert [row.fit.isHidden() for row in page.sides.list.rows.values()] == [True, True]
    assert [row.sent.isHidden() for row in page.sides.list.rows.values()] == [False, False]


def test_a_side_whose_run_is_not_listed_can_be_seen_but_not_joined(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskRuns] = "the ledger does not answer"
    show_snapshot(page, worker, IDLE)
    assert page.sides.list.rows[OURS].facts.text() == "nova-350m"
    assert not page.joining.isVisible()


def test_without_an_entrant_it_says_so(page: AppCompetitionsPage, worker: ScriptedWorker) -> None:
    worker.replies[AskCompetitions] = CompetitionsReply(rows=(replace(RACE, entrants=()),))
    show_snapshot(page, worker)
    assert page.sides.none.isVisible()
    assert not page.sides.chart.isVisible()
    assert worker.times_asked(AskCurves) == 0


# --- rules


def test_the_rules_are_said_in_words(page: AppCompetitionsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    rules = page.rules
    assert rules.budget.words.text() == (
        "A model has at most 400M parameters. Its run may train on 20.0B tokens. It has 720 hours "
        "from the opening of its run."
    )
    assert "20,000 texts, 48 MB, were sealed" in rules.texts.words.text()
    assert "3 custodians; 2 have to act together" in rules.texts.words.text()
    assert "2,048 tokens at a time, 1,024 of them new" in rules.scoring.words.text()
    assert rules.address.text == "https://ledger.example/data-rules"


def test_what_has_no_limit_and_who_has_to_be_trusted_is_said(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    page.select(LARGE_RACE.competition)
    assert page.rules.budget.words.text().startswith("Size, tokens and time")
    assert page.rules.texts.words.text().endswith("holds the key to them and has to be trusted.")
    assert not page.rules.address.isVisible()


# --- the result


def test_the_result_has_places_scores_and_intervals(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    page.select(DECIDED.competition)
    lines = page.result.places.lines
    shown = [(one.rank, one.name, one.score, one.perplexity) for one in lines]
    assert [tuple(label.text() for label in labels) for labels in shown] == [
        ("1", "nova", "0.8421", "1.793"),
        ("2", "elsewhere", "0.8514", "1.804"),
        ("2", "nova-30m", "0.8530", "1.806"),
        ("4", "lingua-60m", "0.8712", "1.829"),
        ("–", "late", "–", "–"),
    ]
    assert lines[0].bar.accessibleName() == (
        "Place 1, nova: 0.8421 bits per byte, between 0.8400 and 0.8442; perplexity 1.793 per byte"
    )
    assert lines[4].bar.accessibleName() == "late: not ranked"
    assert [one.name.property("tone") for one in lines] == ["accent", "", "", "", "sub"]
    address = f"https://ledger.example/competitions/{DECIDED.competition}"
    page.result.command.button.click()
    assert QGuiApplication.clipboard().text() == f"tequio verify-competition {address}"


def test_a_result_without_a_ranking_says_why(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    entrants = tuple(replace(one, rank=0) for one in DECIDED.entrants)
    worker.replies[AskCompetitions] = CompetitionsReply(rows=(replace(DECIDED, entrants=entrants),))
    show_snapshot(page, worker)
    assert page.result.none.isVisible()
    assert not page.result.places.isVisible()


@pytest.mark.parametrize(
    ("phase", "why"),
    [
        ("drawn", "too few custodians revealed their parts of the key"),
        ("revealed", "too few of those who were drawn scored the entrants in time"),
    ],
)
def test_a_competition_that_ended_without_a_ranking_says_why(
    page: AppCompetitionsPage, worker: ScriptedWorker, phase: str, why: str
) -> None:
    worker.replies[AskCompetitions] = CompetitionsReply(
        rows=(replace(SCORED, phase=phase, is_void=True),)
    )
    show_snapshot(page, worker)
    assert page.about.stage.text == "No ranking"
    assert why in page.about.words.text()
    assert not page.about.countdown.isVisible()
    assert not page.result.isVisible()


class Browser(QObject):
    """Stands in for the system's browser."""

    opened = Signal(QUrl)

    @Slot(QUrl)
    def open(self, address: QUrl) -> None:
        """Tell which address is wanted."""
        self.opened.emit(address)


@pytest.fixture
def browser() -> Iterator[Browser]:
    made = Browser()
    QDesktopServices.setUrlHandler("https", made, "open")  # type: ignore[arg-type]  # says its stub
    yield made
    QDesktopServices.unsetUrlHandler("https")


def test_the_ledgers_page_opens_in_the_browser(
    page: AppCompetitionsPage, worker: ScriptedWorker, browser: Browser, qtbot: QtBot
) -> None:
    show_snapshot(page, worker)
    with qtbot.waitSignal(browser.opened) as opened:
        qtbot.mouseClick(page.about.link, Qt.MouseButton.LeftButton)
    address = f"https://ledger.example/competitions/{RACE.competition}"
    assert opened.args[0].toString() == address


def test_a_worker_that_is_gone_leaves_what_was_read(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    worker.gone.emit("The worker ended five times: disk full")
    page.refresh()
    assert len(page.choices.rows) == len(COMPETITIONS.rows)
    assert not page.about.link.isEnabled()


# --- the stages


@pytest.mark.parametrize(
    ("row", "now_ms", "stage", "next_ms", "done"),
    [
        (RACE, RACE.opens_ms - 1, ShownStage.ANNOUNCED, RACE.opens_ms, -1.0),
        (RACE, RACE.opens_ms, ShownStage.OPEN, RACE.deadline_ms, 0.0),
        (RACE, RACE.deadline_ms - 1, ShownStage.OPEN, RACE.deadline_ms, 1.0),
        (RACE, RACE.draw_ms, ShownStage.OVER, None, 1.0),
        (replace(RACE, phase="closed"), RACE.deadline_ms, ShownStage.CLOSED, RACE.draw_ms, 1.0),
        (replace(RACE, phase="closed"), RACE.scored_ms, ShownStage.CLOSED, None, 2.0),
        (replace(RACE, phase="drawn"), RACE.draw_ms, ShownStage.DRAWN, RACE.scored_ms, 2.0),
        (replace(RACE, phase="drawn"), RACE.result_ms, ShownStage.DRAWN, None, 3.0),
        (replace(RACE, phase="revealed"), RACE.draw_ms, ShownStage.SCORED, RACE.scored_ms, 2.0),
        (
            replace(RACE, phase="revealed"),
            RACE.scored_ms,
            ShownStage.CHALLENGED,
            RACE.result_ms,
            3.0,
        ),
        (replace(RACE, phase="revealed"), RACE.result_ms, ShownStage.CHALLENGED, None, 4.0),
        (replace(RACE, phase="decided"), RACE.opens_ms, ShownStage.DECIDED, None, 4.0),
        (replace(RACE, phase="drawn", is_void=True), RACE.result_ms, ShownStage.ENDED, None, 3.0),
        (
            replace(RACE, phase="revealed", is_void=True),
            RACE.result_ms,
            ShownStage.ENDED,
            None,
            4.0,
        ),
    ],
)
def test_the_ledgers_phase_and_the_clock_make_the_stage(
    row: CompetitionRow, now_ms: int, stage: ShownStage, next_ms: int | None, done: float
) -> None:
    found = stage_progress(row, now_ms)
    assert (found.stage, found.next_ms) == (stage, next_ms)
    assert found.progress == pytest.approx(done, abs=1e-6)
