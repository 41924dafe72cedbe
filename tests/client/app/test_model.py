"""The model: what was wished counts at once, and what the worker says counts in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tequio_client.app.model import AppModel, PeriodicQuestion
from tequio_client.ipc import control
from tequio_client.ipc.account import RequestName
from tequio_client.ipc.control import AskBenchmark, AskDiagnostics, BenchmarkReply
from tequio_client.ipc.points import AskRanking, RankingReply
from tequio_client.ipc.runs import AskRuns, RunsReply
from tequio_client.ipc.snapshot import DesiredState, Snooze
from tests.support.app_scenes import AGREED, LENDING, NOW_MS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.support.app_worker import ScriptedWorker


def test_a_wish_counts_before_the_worker_shows_it(model: AppModel, worker: ScriptedWorker) -> None:
    worker.send_snapshot(LENDING)
    model.pause()
    assert model.desired == DesiredState(number=5, lend=False)
    worker.send_snapshot(LENDING)  # said before it heard the wish
    assert model.desired == DesiredState(number=5, lend=False)
    worker.obey(LENDING)
    assert model.desired.number == 5


def test_a_later_wish_of_somebody_else_counts_more(model: AppModel, worker: ScriptedWorker) -> None:
    worker.send_snapshot(LENDING)
    model.pause()
    worker.send_snapshot(replace(LENDING, wish=DesiredState(number=9, lend=True)))
    assert model.desired == DesiredState(number=9, lend=True)
    model.finish()
    assert worker.last(control.SetDesiredState) == control.SetDesiredState(
        wish=DesiredState(number=10, lend=True, finish=True)
    )


def test_each_deed_sends_its_wish(model: AppModel, worker: ScriptedWorker) -> None:
    worker.send_snapshot(LENDING)
    model.snooze_until(NOW_MS + 900_000)
    model.snooze_until_game_closes()
    model.contribute()
    wishes = [one.wish for one in worker.received if isinstance(one, control.SetDesiredState)]
    assert wishes == [
        DesiredState(
            number=5, lend=True, snooze=Snooze(until_ms=NOW_MS + 900_000, asked_ms=NOW_MS)
        ),
        DesiredState(number=6, lend=True, snooze=Snooze()),
        DesiredState(number=7, lend=True),
    ]


def test_preferences_count_at_once_and_until_the_worker_shows_them(
    model: AppModel, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.send_snapshot(LENDING)
    chosen = replace(AGREED, idle_minutes=15)
    with qtbot.waitSignal(model.preferences_changed) as told:
        model.set_preferences(chosen)
    assert told.args == [chosen]
    worker.send_snapshot(LENDING)
    assert model.preferences == chosen
    worker.send_snapshot(replace(LENDING, preferences=chosen))
    worker.send_snapshot(replace(LENDING, preferences=replace(AGREED, idle_minutes=3)))
    assert model.preferences.idle_minutes == 3


def test_preferences_that_the_worker_does_not_take_are_not_shown_as_if(
    model: AppModel, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.send_snapshot(LENDING)
    model.set_preferences(replace(AGREED, idle_minutes=15))
    for passed_ms in (100, 1_000, 3_000):
        worker.send_snapshot(replace(LENDING, at_ms=NOW_MS + passed_ms))
        assert model.preferences.idle_minutes == 15
    with qtbot.waitSignal(model.preferences_changed) as told:
        worker.send_snapshot(replace(LENDING, at_ms=NOW_MS + 3_100))
    assert told.args == [AGREED]
    assert model.preferences == AGREED


def test_without_a_worker_the_preferences_are_those_that_it_showed_or_stored_last(
    model: AppModel, worker: ScriptedWorker
) -> None:
    assert AppModel(worker, stored=AGREED).preferences == AGREED
    worker.send_snapshot(LENDING)
    worker.gone.emit("the worker ended with code 3")
    assert model.preferences == AGREED


def test_an_answer_finds_its_question(
    model: AppModel, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    question = AskRanking(around=3)
    with qtbot.waitSignal(model.replied) as told:
        model.ask(question)
    assert told.args is not None
    assert told.args[0] == question
    assert isinstance(model.reply(question), RankingReply)
    assert model.reply(AskRanking(around=4)) is None
    worker.send(control.QuestionAnswer(id=77, reply=RankingReply(rows=())))  # nobody asked that
    assert model.reply(question) == told.args[1]


def test_a_new_worker_is_asked_at_once(model: AppModel, worker: ScriptedWorker) -> None:
    question = PeriodicQuestion(model, lambda: NOW_MS, RunsReply, every_ms=60_000, parent=model)
    question.set_question(AskRuns())
    reply, worker.replies[AskRuns] = worker.replies[AskRuns], "The worker is being started."
    worker.send_snapshot(LENDING)
    question.poll()
    worker.replies[AskRuns] = reply
    question.poll()
    assert (question.reply, question.problem) == (None, "The worker is being started.")
    worker.gone.emit("")
    worker.send_snapshot(LENDING)
    question.poll()
    assert (question.reply, question.problem) == (reply, "")


@pytest.mark.parametrize("end", ["answered", "gone", "network forgotten"])
def test_games_are_looked_for_often_while_a_device_is_measured(
    model: AppModel, worker: ScriptedWorker, end: str
) -> None:
    """The worker ends the benchmark for a game, of which only the app knows."""
    model.ask(AskBenchmark(device="cuda:0"))
    assert model.yielding == {"benchmark"}
    if end == "answered":
        worker.answer_last(BenchmarkReply(device="cuda:0", tokens_per_s=9.0))
    elif end == "network forgotten":
        model.forget_network()
    else:
        worker.gone.emit("the worker ended with code 3")
    assert not model.yielding


def test_a_question_without_a_reply_says_why(
    model: AppModel, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.replies[AskRuns] = "the ledger does not answer"
    with qtbot.waitSignal(model.refused) as told:
        model.ask(AskRuns())
    assert told.args == [AskRuns(), "the ledger does not answer"]


@pytest.mark.parametrize("was_sent", [True, False])
def test_a_statement_that_was_sent_may_be_accepted_although_the_network_does_not_answer(
    model: AppModel, worker: ScriptedWorker, qtbot: QtBot, *, was_sent: bool
) -> None:
    model.ask(RequestName(name="Ada"))
    asked = worker.last(control.AskQuestion)
    assert isinstance(asked, control.AskQuestion)
    with qtbot.waitSignal(model.refused) as told:
        worker.send(
            control.QuestionAnswer(
                id=asked.id, error="busy", is_ledger_away=True, may_be_logged=was_sent
            )
        )
    assert told.args is not None
    assert told.args[1].startswith("The network does not answer")
    assert told.args[1].endswith("It may still accept the request later") == was_sent


def test_a_worker_that_is_gone_answers_nothing_any_more(
    model: AppModel, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.replies.clear()
    worker.send_snapshot(LENDING)
    model.ask(AskDiagnostics())  # the script has no answer: it stays open
    with qtbot.waitSignals([model.refused, model.snapshot_changed]):
        worker.gone.emit("the worker ended with code 3")
    assert model.snapshot is None
    assert model.why_gone == "the worker ended with code 3"
    worker.send_snapshot(LENDING)
    assert model.why_gone == ""


def test_who_is_refused_because_the_worker_is_gone_may_ask_again(
    model: AppModel, worker: ScriptedWorker
) -> None:
    worker.replies.clear()
    worker.send_snapshot(LENDING)
    refused: list[object] = []
    model.refused.connect(lambda question, _: refused.append(question))
    model.refused.connect(lambda *_: model.ask(AskDiagnostics()))
    model.ask(AskRuns())
    model.ask(AskRanking(around=3))
    worker.gone.emit("the worker ended with code 3")
    assert refused == [AskRuns(), AskRanking(around=3)]


def test_only_the_latest_replies_are_kept(model: AppModel) -> None:
    for around in range(40):
        model.ask(AskRanking(around=around))
    assert model.reply(AskRanking(around=0)) is None
    assert model.reply(AskRanking(around=39)) is not None
