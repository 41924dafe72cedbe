"""Home in each situation: the state, why, what can be done, and what was earned."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QDateTime, Qt

from tequio_client import clock
from tequio_client.app.pages.home import HomePage, outdated_banner, series_question
from tequio_client.app.pages.page import LIST_INTERVAL_MS, PageContext
from tequio_client.app.releases import ReleaseService
from tequio_client.ipc import control, texts
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.points import AskRanking, AskSeries, RankingReply
from tequio_client.ipc.snapshot import DesiredState, LendingReason, LendingState, PointsView, Snooze
from tests.support.app_clock import AppClock
from tests.support.app_pages import open_page
from tests.support.app_scenes import AGREED, LENDING, NOW_MS, SCENES, idle, no_replies
from tests.support.update_rules import update_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import AppModel
    from tequio_client.ipc.snapshot import Snapshot
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")


@dataclass(frozen=True, kw_only=True)
class ExpectedHome:
    """The texts and buttons that the page must show."""

    title: str
    reason: str
    main: str
    snooze: bool = False
    finish: bool = False
    go_on: bool = False
    banner: str = ""


EXPECTED_BY_SCENE = {
    "new": ExpectedHome(title="Paused", reason="Nothing is lent before you agree", main="Set up"),
    "joining": ExpectedHome(
        title="Lending", reason="Nobody needs", main="Pause", snooze=True, finish=True
    ),
    "lending": ExpectedHome(
        title="Lending", reason="Nobody needs", main="Pause", snooze=True, finish=True
    ),
    "finishing": ExpectedHome(
        title="Finishing", reason="Round 1,841 is the last", main="Pause", snooze=True, go_on=True
    ),
    "finished": ExpectedHome(
        title="Paused", reason="The last round is finished", main="Contribute"
    ),
    "waiting": ExpectedHome(title="Waiting", reason="A game is running", main="Pause", snooze=True),
    "waiting-until": ExpectedHome(
        title="Waiting", reason="Outside the hours in which you lend", main="Pause", snooze=True
    ),
    "paused": ExpectedHome(title="Paused", reason="You paused it", main="Contribute"),
    "snoozed": ExpectedHome(
        title="Snoozed", reason="Resumes in 42 min", main="Resume now", snooze=True
    ),
    "attention": ExpectedHome(
        title="Attention",
        reason="Nothing is lent until this is solved",
        main="Contribute",
        banner="The training program keeps failing.",
    ),
    "ledger-away": ExpectedHome(
        title="Lending",
        reason="Nobody needs",
        main="Pause",
        snooze=True,
        finish=True,
        banner="Statements that wait here for it: 3.",
    ),
    "auditing": ExpectedHome(
        title="Auditing", reason="work of round 1,839", main="Pause", snooze=True, finish=True
    ),
    "audit-warned": ExpectedHome(title="Paused", reason="You paused it", main="Contribute"),
    "two-cards": ExpectedHome(
        title="Lending", reason="Nobody needs", main="Pause", snooze=True, finish=True
    ),
    "told": ExpectedHome(
        title="Lending", reason="Nobody needs", main="Pause", snooze=True, finish=True
    ),
}


@pytest.fixture
def home(context: PageContext, qtbot: QtBot) -> HomePage:
    return open_page(HomePage(context), qtbot)


def test_every_situation_has_its_sight() -> None:
    assert EXPECTED_BY_SCENE.keys() == SCENES.keys()


@pytest.mark.parametrize("scene", EXPECTED_BY_SCENE)
def test_each_situation_says_what_why_and_what_to_do(
    home: HomePage, worker: ScriptedWorker, scene: str
) -> None:
    worker.send_snapshot(SCENES[scene])
    home.refresh()
    sight, header = EXPECTED_BY_SCENE[scene], home.header
    assert header.title.text() == sight.title
    assert sight.reason in header.reason.text()
    assert header.primary.text() == sight.main
    assert header.snooze.isVisible() == sight.snooze
    assert header.finish.isVisible() == sight.finish
    assert header.go_on.isVisible() == sight.go_on
    assert home.banner.isVisible() == bool(sight.banner)
    assert sight.banner in home.banner.words.text() or not sight.banner


@pytest.mark.parametrize("key", texts.REASON_TEMPLATES)
def test_every_reason_is_a_sentence(home: HomePage, worker: ScriptedWorker, key: str) -> None:
    reason, _, fact = key.partition(".")
    until_ms = NOW_MS + 120_000 if "{until}" in texts.REASON_TEMPLATES[key] else None
    fields = {name for _, name, _, _ in Formatter().parse(texts.REASON_TEMPLATES[key]) if name}
    values: dict[str, str | int] = dict.fromkeys(fields - {"until"}, 7)
    if fact and fact != "until":
        values["fact"] = fact
    worker.send_snapshot(idle(LendingState.WAITING, LendingReason(reason), until_ms, **values))
    home.refresh()
    shown = home.header.reason.text()
    assert shown[0].isupper() or shown[0].isdigit()
    assert shown.endswith(".")
    assert "{" not in shown


def test_before_the_worker_speaks_it_is_said_to_start(home: HomePage) -> None:
    assert home.header.title.text() == "Starting"
    assert not home.header.primary.isEnabled()
    assert not home.banner.isVisible()
    assert home.stats.today.figure.text() == "–"


def test_a_worker_that_is_gone_is_told_with_the_reason(
    home: HomePage, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(LENDING)
    worker.gone.emit("The worker ended five times: disk full")
    home.refresh()
    assert home.banner.isVisible()
    assert home.banner.words.text() == "The worker ended five times: disk full"
    assert home.header.title.text() == "Attention"
    assert home.header.reason.text() == "Nothing is lent until this is solved."
    assert not home.header.primary.isEnabled()


# --- what the hand does


@pytest.mark.parametrize(
    ("scene", "press", "wish"),
    [
        ("lending", lambda home: home.header.primary, DesiredState(number=5, lend=False)),
        (
            "lending",
            lambda home: home.header.finish,
            DesiredState(number=5, lend=True, finish=True),
        ),
        ("finishing", lambda home: home.header.go_on, DesiredState(number=6, lend=True)),
        ("finished", lambda home: home.header.primary, DesiredState(number=6, lend=True)),
        ("paused", lambda home: home.header.primary, DesiredState(number=6, lend=True)),
        ("snoozed", lambda home: home.header.primary, DesiredState(number=6, lend=True)),
        ("attention", lambda home: home.header.primary, DesiredState(number=5, lend=True)),
    ],
)
def test_a_button_sends_its_wish(
    home: HomePage,
    worker: ScriptedWorker,
    qtbot: QtBot,
    scene: str,
    press: Callable[[HomePage], object],
    wish: DesiredState,
) -> None:
    worker.send_snapshot(SCENES[scene])
    home.refresh()
    qtbot.mouseClick(press(home), Qt.MouseButton.LeftButton)
    assert worker.last(control.SetDesiredState) == control.SetDesiredState(wish=wish)


def test_a_rule_that_says_to_wait_can_be_overruled_and_changed(
    home: HomePage, worker: ScriptedWorker, qtbot: QtBot, opened_pages: list[str]
) -> None:
    worker.send_snapshot(idle(LendingState.WAITING, LendingReason.OTHERS_CPU, percent=60, below=40))
    home.refresh()
    qtbot.mouseClick(home.header.rule, Qt.MouseButton.LeftButton)
    assert opened_pages == ["settings/lending"]
    qtbot.mouseClick(home.header.anyway, Qt.MouseButton.LeftButton)
    wish = DesiredState(number=5, lend=True, anyway=True)
    assert worker.last(control.SetDesiredState) == control.SetDesiredState(wish=wish)
    home.refresh()
    assert not home.header.ways.isVisible(), "while the worker has not answered"


@pytest.mark.parametrize(
    ("shown", "anyway", "rule"),
    [
        (idle(LendingState.WAITING, LendingReason.IN_USE, minutes=5), True, True),
        (idle(LendingState.WAITING, LendingReason.GAME, program="chess"), False, True),
        (idle(LendingState.WAITING, LendingReason.METERED), False, True),
        (
            idle(LendingState.WAITING, LendingReason.HOT, device="x", degrees=9, limit=8),
            False,
            True,
        ),
        (idle(LendingState.WAITING, LendingReason.NO_RUN, fact="open"), False, False),
        (idle(LendingState.PAUSED, LendingReason.BY_HAND), False, False),
    ],
)
def test_only_what_helps_is_offered(
    home: HomePage, worker: ScriptedWorker, shown: Snapshot, *, anyway: bool, rule: bool
) -> None:
    worker.send_snapshot(shown)
    home.refresh()
    assert (home.header.anyway.isVisible(), home.header.rule.isVisible()) == (anyway, rule)


def test_the_button_turns_over_before_the_worker_answers(
    home: HomePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.send_snapshot(LENDING)
    home.refresh()
    qtbot.mouseClick(home.header.primary, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: home.header.primary.text() == "Contribute", timeout=1_000)


def test_until_the_worker_has_heard_it_is_said_what_is_under_way(
    home: HomePage, model: AppModel, worker: ScriptedWorker
) -> None:
    title, reason, before = home.header.title, home.header.reason, LENDING
    worker.send_snapshot(before)
    for wish, word, shown in (
        (model.pause, "Pausing…", SCENES["paused"]),
        (model.contribute, "Starting…", LENDING),
        (lambda: model.snooze_until(NOW_MS), "Pausing…", SCENES["snoozed"]),
    ):
        wish()
        worker.send_snapshot(before)  # it speaks every second, and has not heard yet
        home.refresh()
        assert title.text() == word
        assert reason.text().endswith((" at once.", " OK to start…"))
        before = worker.obey(shown)
        home.refresh()
        assert title.text() == texts.STATE_WORDS[shown.decision.state]


def test_a_last_round_changes_nothing_before_the_worker_says_so(
    home: HomePage, model: AppModel, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(LENDING)
    model.start_anyway()
    before = worker.obey(LENDING)
    model.finish()
    home.refresh()
    assert home.header.title.text() == "Lending"
    worker.obey(SCENES["finishing"])
    model.go_on()
    home.refresh()
    assert home.header.title.text() == "Finishing"
    assert model.desired == replace(before.wish, number=before.wish.number + 2)


def test_the_menu_snoozes_for_as_long_as_it_says(
    home: HomePage, model: AppModel, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(LENDING)
    menu = home.header.snooze.menu()
    assert not menu.actions()[-1].isEnabled()  # without a game there is none to wait for
    model.update_session(SessionFacts(game="Ori & the Blind Forest"))
    menu.aboutToShow.emit()
    assert menu.actions()[-1].text() == "Until I close Ori && the Blind Forest"
    ends = []
    for action in menu.actions():
        if not action.isSeparator():
            action.trigger()
            sent = worker.last(control.SetDesiredState)
            assert isinstance(sent, control.SetDesiredState)
            ends.append(sent.wish.snooze)
    assert ends == [
        Snooze(until_ms=NOW_MS + 15 * 60_000, asked_ms=NOW_MS),
        Snooze(until_ms=NOW_MS + 60 * 60_000, asked_ms=NOW_MS),
        Snooze(until_ms=clock.tomorrow_ms(NOW_MS), asked_ms=NOW_MS),
        Snooze(game="Ori & the Blind Forest"),
    ]


def test_tomorrow_begins_at_eight() -> None:
    at = QDateTime.fromMSecsSinceEpoch(clock.tomorrow_ms(NOW_MS))
    today = QDateTime.fromMSecsSinceEpoch(NOW_MS).date()
    assert (at.date(), at.time().hour(), at.time().minute()) == (today.addDays(1), 8, 0)


def test_without_consent_the_button_leads_to_the_first_steps(
    home: HomePage, worker: ScriptedWorker, qtbot: QtBot, opened_pages: list[str]
) -> None:
    worker.send_snapshot(SCENES["new"])
    home.refresh()
    qtbot.mouseClick(home.header.primary, Qt.MouseButton.LeftButton)
    assert opened_pages == ["first-run"]
    assert not any(isinstance(one, control.SetDesiredState) for one in worker.received)


def test_only_a_run_goes_on_without_the_ledger(home: HomePage, worker: ScriptedWorker) -> None:
    away = SCENES["ledger-away"].ledger
    worker.send_snapshot(replace(LENDING, ledger=away))
    home.refresh()
    assert "Work goes on" in home.banner.words.text()
    waiting = idle(LendingState.WAITING, LendingReason.LEDGER_AWAY, address="http://x")
    worker.send_snapshot(replace(waiting, ledger=away))
    home.refresh()
    assert "has not answered since" in home.banner.words.text()
    assert "Work goes on" not in home.banner.words.text()


def test_the_banners_button_leads_where_something_can_be_done(
    home: HomePage, worker: ScriptedWorker, qtbot: QtBot, opened_pages: list[str]
) -> None:
    worker.send_snapshot(SCENES["attention"])
    home.refresh()
    assert home.banner.button.text() == "Open Activity"
    assert home.banner.details.isVisible()
    qtbot.mouseClick(home.banner.button, Qt.MouseButton.LeftButton)
    worker.send_snapshot(idle(LendingState.ATTENTION, LendingReason.NO_DEVICE))
    home.refresh()
    qtbot.mouseClick(home.banner.button, Qt.MouseButton.LeftButton)
    assert opened_pages == ["activity", "hardware"]


# --- what is shown


def test_the_round_is_shown_with_all_there_is_to_know(
    home: HomePage, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(LENDING)
    home.refresh()
    card = home.round
    assert card.ring.percent == 64
    assert card.name.text() == "nova-350m"
    assert card.role.text == "Trainer"
    assert card.line.text() == "Round 1,841 of 4,000  ·  23 peers  ·  2 min left"
    assert home.stats.total.worth.text() == "about 6 h on an RTX 3060"
    assert home.stats.today.worth.isVisible()
    shown = (card.loss, card.bits, card.perplexity)
    assert [one.figure.text() for one in shown] == ["2.913", "0.842", "18.6"]
    assert card.bar.share == pytest.approx(1_841 / 4_000)
    caps = card.caps
    assert caps.memory.figures.text() == "7.4 of 12 GB"
    assert caps.upload.figures.text() == "1.2 of 5.0 Mbit/s"
    assert caps.month.figures.text() == "31 of 100 GB"
    assert caps.disk.figures.text() == "10 of 30 GB"


def test_many_peers_are_counted_in_groups_of_digits(home: HomePage, worker: ScriptedWorker) -> None:
    status = LENDING.status
    assert status is not None
    worker.send_snapshot(replace(LENDING, status=replace(status, peers=12_345)))
    home.refresh()
    assert "12,345 peers" in home.round.line.text()


def test_a_round_that_is_not_worked_in_has_no_percentage(
    home: HomePage, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(SCENES["waiting"])
    home.refresh()
    assert home.round.ring.percent is None
    assert home.round.role.text == "Not taking part"


def test_without_limits_there_is_no_bar_to_fill(home: HomePage, worker: ScriptedWorker) -> None:
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, upload_mbit=None)))
    home.refresh()
    assert home.round.caps.upload.figures.text() == "1.2 Mbit/s"


def test_before_the_first_round_it_is_said_what_will_happen(
    home: HomePage, worker: ScriptedWorker
) -> None:
    worker.replies = no_replies()
    worker.send_snapshot(SCENES["joining"])
    home.refresh()
    assert home.round.name.text() == "Joining a run"
    assert home.stats.rank.note.text() == "After your first verified round"
    assert "first verified round" in home.ranking.empty.words.text()
    assert home.ranking.stack.currentWidget() is home.ranking.empty
    assert "after your first round" in home.days.chart.accessibleDescription()


def test_between_two_runs_the_round_names_the_next_run_as_its_condition(
    home: HomePage, worker: ScriptedWorker
) -> None:
    waiting = idle(LendingState.WAITING, LendingReason.NO_RUN, fact="ended")
    worker.send_snapshot(replace(waiting, round=None))
    home.refresh()
    assert home.round.name.text() == "No round now"
    said = "Once this computer has joined a run, it trains round by round."
    assert home.round.line.text() == said


def test_before_the_first_points_it_is_said_how_long_a_round_takes(
    home: HomePage, worker: ScriptedWorker
) -> None:
    worker.replies = no_replies()
    chart, current = home.days.chart, LENDING.round
    assert current is not None
    for ends_ms, is_told in ((NOW_MS + 540_000, True), (0, False)):
        current = replace(current, opened_ms=NOW_MS, ends_ms=ends_ms)
        worker.send_snapshot(replace(LENDING, round=current))
        home.refresh()
        told = "A round trains for about 9 min" in chart.accessibleDescription()
        assert told is is_told


def test_figures_are_those_of_the_snapshot(home: HomePage, worker: ScriptedWorker) -> None:
    worker.send_snapshot(LENDING)
    home.refresh()
    stats = home.stats
    assert (stats.today.figure.text(), stats.today.note.text()) == ("+412", "3 rounds pending")
    assert (stats.total.figure.text(), stats.total.note.text()) == (
        "18,930",
        "Every proof checked here",
    )
    assert stats.total.toolTip() == (
        "18,930.4021 points\nabout what an RTX 3060 does in 6 h\n1,204 of your points are "
        "still vesting: they can be lost if work turns out not to have been done."
    )
    assert (stats.rank.figure.text(), stats.rank.note.text()) == ("#47", "of 1,204 volunteers")
    assert (stats.energy.figure.text(), stats.energy.note.text()) == (
        "0.41 kWh",
        "61.7 kWh in total",
    )


def test_the_only_volunteer_is_one_of_one(home: HomePage, worker: ScriptedWorker) -> None:
    worker.send_snapshot(replace(LENDING, points=replace(LENDING.points, rank=1, ranked=1)))
    home.refresh()
    assert home.stats.rank.note.text() == "of 1 volunteer"


def test_a_computer_at_work_has_a_forecast(home: HomePage, worker: ScriptedWorker) -> None:
    points = replace(LENDING.points, per_day=12_345_678)
    worker.send_snapshot(replace(LENDING, points=points))
    home.refresh()
    assert home.stats.today.note.text() == "About 1,234 a day"
    worker.send_snapshot(replace(SCENES["paused"], points=points))
    home.refresh()
    assert home.stats.today.note.text() == "3 rounds pending"


def test_a_quota_that_ends_this_month_is_foretold(
    home: HomePage, worker: ScriptedWorker, qtbot: QtBot, opened_pages: list[str]
) -> None:
    worker.send_snapshot(replace(LENDING, line=replace(LENDING.line, cap_reached_ms=NOW_MS)))
    home.refresh()
    words = "At the present rate, this month's 100 GB of traffic will be used up on 21 Nov."
    assert home.banner.words.text().startswith(words)
    assert home.banner.button.text() == "Open Settings"
    qtbot.mouseClick(home.banner.button, Qt.MouseButton.LeftButton)
    assert opened_pages == ["settings/network"]


def test_points_that_were_not_checked_are_not_counted_in(
    home: HomePage, worker: ScriptedWorker
) -> None:
    points = PointsView(today=0, total=50_000, unverified=20_000, pending=1)
    worker.send_snapshot(replace(LENDING, points=points))
    home.refresh()
    assert (home.stats.total.figure.text(), home.stats.total.note.text()) == (
        "5.00",
        "2.00 still to be checked",
    )
    assert (home.stats.today.figure.text(), home.stats.today.note.text()) == (
        "0",
        "1 round pending",
    )


def test_energy_that_nobody_measured_is_not_claimed(home: HomePage, worker: ScriptedWorker) -> None:
    worker.send_snapshot(replace(LENDING, energy_today_j=0.0, is_energy_measured=False))
    home.refresh()
    assert (home.stats.energy.figure.text(), home.stats.energy.note.text()) == (
        "–",
        "Not measured here",
    )
    worker.send_snapshot(replace(LENDING, is_energy_measured=False))
    home.refresh()
    assert home.stats.energy.note.text() == "Estimated, 61.7 kWh in total"


def test_the_chart_has_a_month_of_days_and_says_its_sum(
    home: HomePage, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(LENDING)
    home.refresh()
    summary = home.days.chart.accessibleDescription()
    assert "points in 30 days; most on" in summary


def test_it_asks_again_only_when_the_points_change(home: HomePage, worker: ScriptedWorker) -> None:
    for snapshot in (LENDING, replace(LENDING, activity=311)):
        worker.send_snapshot(snapshot)
        home.refresh()
    assert _asked(worker) == [AskSeries, AskRanking]
    worker.send_snapshot(replace(LENDING, rounds=LENDING.rounds + 1))
    home.refresh()
    assert _asked(worker) == [AskSeries, AskRanking] * 2


def test_a_ledger_that_does_not_answer_leaves_the_ranking_that_was(
    home: HomePage, worker: ScriptedWorker
) -> None:
    worker.replies[AskRanking] = "the ledger does not answer"
    worker.send_snapshot(LENDING)
    home.refresh()
    assert home.ranking.empty.words.text().startswith("The network does not answer")
    worker.replies[AskRanking] = RankingReply(rows=())
    worker.send_snapshot(replace(LENDING, rounds=9_999))
    home.refresh()
    assert home.ranking.stack.currentWidget() is home.ranking.empty
    assert home.ranking.empty.words.text().startswith("After your first verified round")


@pytest.mark.parametrize("is_reload", [False, True])
def test_a_ranking_that_was_refused_is_asked_for_again(
    home: HomePage, worker: ScriptedWorker, clock: AppClock, *, is_reload: bool
) -> None:
    answer, worker.replies[AskRanking] = worker.replies[AskRanking], "the ledger does not answer"
    worker.send_snapshot(LENDING)
    home.refresh()
    home.refresh()
    assert _asked(worker) == [AskSeries, AskRanking]
    worker.replies[AskRanking] = answer
    if is_reload:
        home.reload()
    else:
        clock.ms += LIST_INTERVAL_MS
        home.refresh()
    assert home.ranking.stack.currentWidget() is home.ranking.table


def test_days_are_those_of_the_local_calendar() -> None:
    question = series_question(NOW_MS)
    first = QDateTime.fromMSecsSinceEpoch(question.since_ms)
    assert (first.time().hour(), first.time().minute()) == (0, 0)
    assert first.date().daysTo(QDateTime.fromMSecsSinceEpoch(NOW_MS).date()) == 29


def test_hidden_it_rests_and_shown_again_it_is_up_to_date(
    home: HomePage, worker: ScriptedWorker
) -> None:
    worker.send_snapshot(LENDING)
    home.refresh()
    home.hide()
    worker.send_snapshot(_with_total(770_000))
    assert home.stats.total.figure.text() == "18,930"
    home.show()
    assert home.stats.total.figure.text() == "77.0"


def test_it_is_drawn_four_times_a_second_at_most(
    home: HomePage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.send_snapshot(_with_total(10_000))
    first = home.stats.total.figure.text()
    for total in range(2, 40):
        worker.send_snapshot(_with_total(total * 10_000))
    assert home.stats.total.figure.text() == first
    qtbot.waitUntil(lambda: home.stats.total.figure.text() == "39.0", timeout=2_000)


def _with_total(gflop: int) -> Snapshot:
    return replace(LENDING, points=replace(LENDING.points, total=gflop))


def _asked(worker: ScriptedWorker) -> list[type]:
    return [type(one.question) for one in worker.received if isinstance(one, control.AskQuestion)]


def test_an_audit_says_whose_work_is_repeated(home: HomePage, worker: ScriptedWorker) -> None:
    worker.send_snapshot(SCENES["auditing"])
    home.refresh()
    assert home.header.title.text() == "Auditing"
    assert home.header.reason.text().startswith(
        "Repeating another volunteer's work of round 1,839."
    )
    assert home.round.role.text == "Auditor"
    worker.send_snapshot(LENDING)
    home.refresh()
    assert (home.header.title.text(), home.round.role.text) == ("Lending", "Trainer")


def test_a_version_that_is_too_old_is_told_with_the_way_to_update() -> None:
    outdated = idle(LendingState.ATTENTION, LendingReason.OUTDATED, wanted="0.3.0", own="0.1.0")
    found = outdated_banner(outdated, None, NOW_MS)
    assert found is not None
    assert "This network needs version 0.3.0 or newer; this is 0.1.0." in found.words
    assert ("the way it was installed" in found.words, found.target) == (True, "")
    service = ReleaseService(update_rules(may_look=lambda: False), has_runtime=lambda: True)
    found = outdated_banner(outdated, service, NOW_MS)
    assert found is not None
    assert (found.target, found.button) == ("releases", "Update now")
    service.ready = "0.3.0"
    found = outdated_banner(outdated, service, NOW_MS)
    assert found is not None
    assert ("Version 0.3.0 is ready" in found.words, found.button) == (True, "Restart now")
    assert outdated_banner(LENDING, service, NOW_MS) is None
    service.close()
