"""Judging on the screen of competitions: what it takes, our part in it, and why we may not."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from tequio_client.app.pages.competitions import AppCompetitionsPage
from tequio_client.app.pages.page import PageContext
from tequio_client.ipc.competitions import AskCompetitions, CompetitionsReply, EvaluatorPart
from tequio_client.ipc.snapshot import JudgingView
from tests.support.app_competitions import RACE, SCORED
from tests.support.app_pages import open_page
from tests.support.app_scenes import LENDING

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.app.pages.competition_cards import JudgingCard
    from tequio_client.ipc.competitions import CompetitionRow
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
JUDGING = replace(LENDING.preferences, judge=True)
DRAWN = replace(SCORED, part="drawn", to_judge=8, judged=2)


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> AppCompetitionsPage:
    return open_page(AppCompetitionsPage(context), qtbot, height=900)


def shown(
    page: AppCompetitionsPage,
    worker: ScriptedWorker,
    row: CompetitionRow,
    *,
    is_on: bool = False,
    now: JudgingView | None = None,
) -> JudgingCard:
    worker.replies[AskCompetitions] = CompetitionsReply(rows=(row,))
    preferences = JUDGING if is_on else LENDING.preferences
    worker.send_snapshot(replace(LENDING, preferences=preferences, judging=now))
    page.refresh()
    return page.judging


def test_an_open_competition_says_what_judging_takes_and_one_click_offers(
    page: AppCompetitionsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    card = shown(page, worker, replace(RACE, judge_mb=3_000))
    assert card.isVisible()
    assert "2.9 GB of memory" in card.cost.text()
    assert "cannot win" in card.cost.text()
    assert card.button.text() == "Offer to judge"
    qtbot.mouseClick(card.button, Qt.MouseButton.LeftButton)
    assert page.model.preferences.judge
    assert card.button.text() == "Stop judging"
    assert not card.cost.isVisible()
    qtbot.mouseClick(card.button, Qt.MouseButton.LeftButton)
    assert not page.model.preferences.judge


def test_a_competition_in_which_we_have_no_part_says_nothing_after_its_deadline(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    assert not shown(page, worker, replace(SCORED, part="")).isVisible()


@pytest.mark.parametrize(
    ("part", "words", "chip"),
    [
        ("offered", "Your offer is in the log", "Offered"),
        ("in-draw", "the lots decide", "In the draw"),
        ("missed", "No lot was drawn", "Not in the draw"),
        ("others", "Others were drawn", "Not drawn"),
        ("waiting", "committed to", "All scored"),
        ("scored", "All your scores are in the log", "Done"),
        ("late", "Not all models were scored", "Not in time"),
        ("drawn", "2 of 8 models are scored", "Drawn"),
    ],
)
def test_our_part_is_told(
    page: AppCompetitionsPage, worker: ScriptedWorker, part: str, words: str, chip: str
) -> None:
    card = shown(page, worker, replace(DRAWN, part=part), is_on=True)
    assert words in card.about.text()
    assert card.state.text == chip
    assert f"|{part}" in str(get_args(EvaluatorPart)), "the worker may say it"


def test_how_far_the_scoring_is_follows_the_child(
    page: AppCompetitionsPage, worker: ScriptedWorker
) -> None:
    now = JudgingView(
        competition=DRAWN.competition,
        doing="scoring",
        entrant="lingua-60m",
        documents=120,
        of_documents=5_000,
        models=3,
        of_models=8,
    )
    card = shown(page, worker, DRAWN, is_on=True, now=now)
    assert card.about.text() == (
        "Scoring: 3 of 8 models are done; 120 of 5,000 texts of lingua-60m."
    )
    assert card.state.text == "Scoring"
    fetching = replace(now, doing="fetching", entrant="")
    assert "made ready" in shown(page, worker, DRAWN, is_on=True, now=fetching).about.text()
    elsewhere = replace(now, competition="another")
    assert "2 of 8" in shown(page, worker, DRAWN, is_on=True, now=elsewhere).about.text()


def test_who_was_drawn_and_switched_it_off_can_switch_it_on_again(
    page: AppCompetitionsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    card = shown(page, worker, DRAWN)
    assert "switched off" in card.about.text()
    assert card.button.text() == "Resume judging"
    qtbot.mouseClick(card.button, Qt.MouseButton.LeftButton)
    assert page.model.preferences.judge


@pytest.mark.parametrize(
    ("bar", "by", "words"),
    [
        ("custodian", "", "part of the key"),
        ("organiser", "", "Organisers do not judge"),
        ("entrant", "maize", "You entered maize"),
        ("trained", "maize", "takes part, as maize"),
        ("memory", "2.1 GB are free", "cannot judge now: 2.1 GB are free."),
        ("refused", "keys of tier 2 evaluate here", "keys of tier 2"),
    ],
)
def test_who_may_not_judge_hears_why_and_is_not_asked(
    page: AppCompetitionsPage, worker: ScriptedWorker, bar: str, by: str, words: str
) -> None:
    card = shown(page, worker, replace(RACE, bar=bar, barred_by=by))
    assert words in card.about.text()
    assert card.state.text == "Not possible"
    assert not card.button.isVisible()
