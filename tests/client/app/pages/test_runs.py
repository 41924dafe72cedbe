"""Runs in each state: the list, whether each fits, which is ours, and joining."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices

from tequio_client.app.pages.page import LIST_INTERVAL_MS, PageContext
from tequio_client.app.pages.run_code import organiser_names
from tequio_client.app.pages.run_detail import AUTOMATIC, RunFigures, RunWriting
from tequio_client.app.pages.run_needs import NeedKind
from tequio_client.app.pages.runs import RunsPage
from tequio_client.ipc import control
from tequio_client.ipc.cell import CellNeed
from tequio_client.ipc.runs import AskRuns, GeneratedSample, RunsReply
from tests.support.app_clock import AppClock
from tests.support.app_pages import open_page, show_snapshot
from tests.support.app_scenes import AGREED, LENDING, SCENES
from tests.support.app_worker_answers import (
    ENDED,
    FULL,
    LARGE,
    NOVA,
    OTHER,
    OURS,
    RUNS,
    SMALL,
    WRITING,
)
from tests.support.window_contents import widest_word

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
IDLE = replace(LENDING, round=None)


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> RunsPage:
    return open_page(RunsPage(context), qtbot, height=900)


def test_before_the_answer_it_says_that_it_looks(page: RunsPage, worker: ScriptedWorker) -> None:
    worker.replies.pop(AskRuns)
    show_snapshot(page, worker)
    assert page.stack.currentWidget() is page.empty
    assert "Asking" in page.empty.words.text()
    assert not page.again.isEnabled()
    assert not page.empty.button.isVisible()


def test_every_run_has_its_row(page: RunsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    rows = page.choices.rows
    assert list(rows) == [row.run for row in RUNS.rows]
    places = {name: (row.place.text, row.fit.text) for name, row in rows.items()}
    assert places == {
        OURS: ("Yours", "Just fits"),
        OTHER: ("", "Fits"),
        LARGE.run: ("", "Does not fit"),
        FULL.run: ("Full", "Fits"),
        ENDED.run: ("Ended", "Fits"),
    }
    assert not rows[ENDED.run].fit.isVisible()
    assert rows[OURS].facts.text() == "Round 1,841 of 4,000  ·  23 of 64 volunteers"
    assert rows[OURS].bar.share == pytest.approx(1_841 / 4_000)


def test_a_row_says_all_of_itself_to_who_listens(page: RunsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    spoken = page.choices.rows[OURS].accessibleName()
    assert spoken == "nova-350m, Yours, Just fits, Round 1,841 of 4,000, 23 of 64 volunteers"
    assert page.any.accessibleName().endswith("Chosen")


def test_a_run_of_adapters_says_how_many_parameters_are_trained(qtbot: QtBot) -> None:
    facts = RunFigures()
    qtbot.addWidget(facts)
    facts.show_run(replace(NOVA, adapters=40_000_000))
    said = "354,871,296 parameters; 40.0M of them are adapters, and trained"
    assert facts.parameters.toolTip() == said
    assert facts.parameters.figure.text() == "355M"


def test_our_own_run_is_looked_at_first_with_its_needs(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    detail, rows = page.detail, page.detail.needs.rows
    assert detail.name.text() == "nova-350m"
    assert page.choices.rows[OURS].isChecked()
    assert detail.words.text() == "This computer is in this run."
    assert detail.facts.parameters.figure.text() == "355M"
    assert detail.facts.parameters.toolTip() == "354,871,296 parameters"
    assert detail.facts.members.figure.text() == "23 / 64"
    shown = {
        kind: (f"{row.figure.text()} {row.note.text()}", row.chip.text)
        for kind, row in rows.items()
    }
    assert shown == {
        NeedKind.MEMORY: ("8.4 GB of 9.6 GB on RTX 4070", "Just fits"),
        NeedKind.DISK: ("16 GB of 30 GB your limits allow", "Fits"),
        NeedKind.FIRST: ("2.1 GB of 69 GB left this month", "Fits"),
        NeedKind.UP: ("310 MB of 2.3 GB your limit allows", "Fits"),
        NeedKind.DOWN: ("322 MB No limit set", "Fits"),
    }
    assert "about 4 days of lending" in detail.meaning.text()
    assert "downloads 2.1 GB once" in detail.meaning.text()


def test_what_a_run_is_for_is_said_as_far_as_it_is_known(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    shown = page.detail.about
    assert shown.text() == (
        "Chats in Nahuatl and Spanish, for schools.\n"
        "Learns from: FineWeb-2, Spanish\n"
        "Licence of the model: Apache-2.0\n"
        f"Opened by: Ana Sofía ({NOVA.organisers[0].key[:10]})"
    )
    unknown = replace(NOVA, description="", source="", licence="", organisers=())
    page.detail.show_run(unknown, None, ours="", is_chosen=False)
    assert not shown.isVisibleTo(page.detail)


def test_an_organiser_without_a_name_is_a_short_key() -> None:
    named, plain = NOVA.organisers[0], replace(NOVA.organisers[0], name="")
    short = named.key[:10]
    assert (
        organiser_names(replace(NOVA, organisers=(plain, named))) == f"{short}, Ana Sofía ({short})"
    )
    assert organiser_names(replace(NOVA, organisers=())) == ""


def test_a_run_with_a_chat_links_to_it(
    page: RunsPage, worker: ScriptedWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_snapshot(page, worker)
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    chat = page.detail.chat
    assert "a service of the organisers" in chat.note.text()
    chat.button.click()
    assert opened == [NOVA.chat]
    page.detail.show_run(replace(NOVA, chat=""), None, ours=OURS, is_chosen=False)
    assert not chat.isVisibleTo(page.detail)


def test_joining_sends_the_run_with_all_other_preferences(
    page: RunsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker)
    qtbot.mouseClick(page.choices.rows[OTHER], Qt.MouseButton.LeftButton)
    assert page.detail.name.text() == "cuentos-124m"
    assert page.detail.button.text() == "Join this run"
    assert "your points stay yours" in page.detail.note.text()
    qtbot.mouseClick(page.detail.button, Qt.MouseButton.LeftButton)
    chosen = replace(AGREED, run=OTHER)
    assert worker.last(control.SetPreferences) == control.SetPreferences(preferences=chosen)
    qtbot.waitUntil(lambda: page.choices.rows[OTHER].place.text == "Chosen", timeout=1_000)
    assert not page.detail.button.isEnabled()
    assert not page.any.chip.isVisible()


def test_a_computer_in_no_run_leaves_none_by_joining(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskRuns] = RunsReply(rows=(SMALL,))
    show_snapshot(page, worker, IDLE)
    page.select(OTHER)
    assert page.detail.button.text() == "Join this run"
    assert not page.detail.note.isVisible()


def test_the_choice_can_be_left_to_the_program(
    page: RunsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    show_snapshot(page, worker, replace(LENDING, preferences=replace(AGREED, run=OTHER)))
    qtbot.mouseClick(page.any, Qt.MouseButton.LeftButton)
    assert page.detail.button.text() == "Choose for me"
    qtbot.mouseClick(page.detail.button, Qt.MouseButton.LeftButton)
    assert worker.last(control.SetPreferences) == control.SetPreferences(preferences=AGREED)
    qtbot.waitUntil(lambda: not page.detail.button.isEnabled(), timeout=1_000)
    page.refresh()
    assert page.detail.note.text() == "This computer works for nova-350m now."


def test_published_heads_are_linked_the_newest_first(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    shown = page.detail.published
    seen = [(row.name.text(), row.note.text()) for row in shown.rows if row.isVisible()]
    assert seen == [
        ("tequio/nova-350m", "Round 1,800, on the Hugging Face Hub"),
        ("tequio/nova-350m", "Round 1,600, on the Hugging Face Hub"),
    ]
    address = f"https://huggingface.co/tequio/nova-350m/tree/{'4f1c' * 10}"
    assert shown.rows[0].button.toolTip() == address
    for run in (OTHER, AUTOMATIC):
        page.select(run)
        assert not shown.isVisible()


def test_what_the_model_writes_is_shown_as_plain_text(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker)
    shown, sample = page.detail.writing, WRITING
    assert shown.isVisible()
    assert (shown.prompt.text(), shown.text.text()) == (sample.prompt, sample.text)
    assert "<b>" in shown.text.text()
    for part in (shown.prompt, shown.text):
        assert part.textFormat() == Qt.TextFormat.PlainText
    assert shown.note.text().startswith("After round 1,840.")
    for run in (OTHER, AUTOMATIC):
        page.select(run)
        assert not shown.isVisible()


def test_a_model_may_write_nothing_or_a_word_without_an_end(qtbot: QtBot) -> None:
    shown = RunWriting()
    qtbot.addWidget(shown)
    shown.show_sample(GeneratedSample(round=3, prompt="a" * 60, text=""))
    assert shown.text.text() == "Nothing: to the model the text ends there."
    assert shown.prompt.text() == "a" * 60
    assert widest_word(shown.prompt) < shown.prompt.minimumSizeHint().width()
    shown.show_sample(GeneratedSample(round=3, prompt="a", text="\nb" * 90))
    assert shown.text.text().split("\n") == ["b"] * 12 + ["…"]


def test_a_run_that_was_chosen_for_us_can_be_kept(page: RunsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    assert page.detail.button.text() == "Stay on this run"
    page.detail.button.click()
    assert worker.last(control.SetPreferences) == control.SetPreferences(
        preferences=replace(AGREED, run=OURS)
    )


@pytest.mark.parametrize(
    ("run", "words", "can_join"),
    [
        (LARGE.run, "Something here is less than this run needs", True),
        (FULL.run, "All places are taken", True),
        (ENDED.run, "This run has ended", False),
    ],
)
def test_what_speaks_against_a_run_is_said(
    page: RunsPage, worker: ScriptedWorker, run: str, words: str, *, can_join: bool
) -> None:
    show_snapshot(page, worker, IDLE)
    page.select(run)
    said = page.detail.words.text() + page.detail.note.text()
    assert words in said
    assert page.detail.button.isEnabled() == can_join


def test_a_run_that_only_a_cell_holds_names_the_cell(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    cells = tuple(
        CellNeed(ranks=ranks, division="pipeline", memory_mb=24_000 // ranks)
        for ranks in range(2, 9)
    )
    worker.replies[AskRuns] = RunsReply(rows=(replace(SMALL, memory_mb=21_900, cells=cells),))
    show_snapshot(page, worker, IDLE)
    page.select(OTHER)
    said = page.detail.note.text()
    assert "computers like this one could train it together" in said
    assert re.search(r"tequio cell host --guests \d --pipeline", said)


def test_a_run_that_only_several_cards_of_one_computer_hold_names_their_number(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    cells = (CellNeed(ranks=2, division="tensor", memory_mb=1_000),)
    worker.replies[AskRuns] = RunsReply(rows=(replace(SMALL, memory_mb=21_900, cells=cells),))
    show_snapshot(page, worker, IDLE)
    page.select(OTHER)
    said = page.detail.note.text()
    assert "One computer with 2 cards like this one could train it" in said
    assert "tequio worker --cell cuda:0,cuda:1 --tensor" in said


def test_a_line_that_is_too_slow_is_not_said_to_stop_the_computer(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskRuns] = RunsReply(rows=(replace(SMALL, hourly_up_bytes=9 * 10**9),))
    show_snapshot(page, worker, IDLE)
    page.select(OTHER)
    assert page.detail.note.text().startswith("Your bandwidth limit is less")


def test_too_little_traffic_for_a_day_is_said(page: RunsPage, worker: ScriptedWorker) -> None:
    worker.replies[AskRuns] = RunsReply(rows=(replace(SMALL, hourly_up_bytes=9 * 10**9),))
    show_snapshot(page, worker, IDLE)
    page.select(OTHER)
    assert "will not last for a day" in page.detail.meaning.text()


@pytest.mark.parametrize("rows", [(), (ENDED,)])
def test_without_an_open_run_it_says_what_happens_then(
    page: RunsPage, worker: ScriptedWorker, rows: tuple[object, ...]
) -> None:
    worker.replies[AskRuns] = RunsReply(rows=rows)  # type: ignore[arg-type]  # rows of runs
    show_snapshot(page, worker, IDLE)
    said = page.banner.words.text() if rows else page.empty.words.text()
    assert said.startswith("No run is open now. Tequio keeps looking")
    assert page.banner.isVisible() == bool(rows)


def test_a_ledger_that_is_away_leaves_the_list_with_its_age(
    page: RunsPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    show_snapshot(page, worker)
    worker.replies[AskRuns] = "the ledger does not answer"
    clock.ms += 25 * 60_000
    show_snapshot(page, worker, SCENES["ledger-away"])
    assert page.banner.isVisible()
    assert page.banner.words.text().endswith("The ledger does not answer; Tequio keeps trying.")
    assert page.head.words.text().endswith("Updated 25 min ago.")
    assert list(page.choices.rows) == [row.run for row in RUNS.rows]
    worker.replies[AskRuns] = RUNS
    page.again.click()
    assert not page.banner.isVisible()


def test_an_error_without_a_list_can_be_tried_again(
    page: RunsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.replies[AskRuns] = "the ledger does not answer."
    show_snapshot(page, worker)
    assert page.empty.words.text() == "the ledger does not answer. Tequio will keep trying."
    worker.replies[AskRuns] = RUNS
    qtbot.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    assert page.stack.currentWidget() is not page.empty


def test_it_asks_once_a_minute_while_somebody_looks(
    page: RunsPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    show_snapshot(page, worker)
    show_snapshot(page, worker)
    assert _asked(worker) == 1
    clock.ms += LIST_INTERVAL_MS
    show_snapshot(page, worker)
    assert _asked(worker) == 2
    page.hide()
    clock.ms += LIST_INTERVAL_MS
    worker.send_snapshot(LENDING)
    assert _asked(worker) == 2


def test_while_a_question_is_open_no_other_is_asked(
    page: RunsPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    worker.replies.pop(AskRuns)
    show_snapshot(page, worker)
    clock.ms += 10 * LIST_INTERVAL_MS
    show_snapshot(page, worker)
    page.ask()
    assert _asked(worker) == 1


def test_a_chosen_run_that_is_not_open_any_more_is_told(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    show_snapshot(page, worker, replace(IDLE, preferences=replace(AGREED, run=ENDED.run)))
    said = "The run that you chose is no longer open, so Tequio chooses for you."
    assert page.banner.words.text() == said


def test_a_chosen_run_whose_rules_could_not_be_read_is_not_called_ended(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    unread = "c" * 64
    worker.replies[AskRuns] = RunsReply(rows=(ENDED,), unread=(unread,))
    show_snapshot(page, worker, replace(IDLE, preferences=replace(AGREED, run=unread)))
    assert page.banner.words.text() == (
        "The run that you chose is open, but its rules could not be read, so it is not in this "
        "list. Tequio keeps trying."
    )
    show_snapshot(page, worker, IDLE)
    assert page.banner.isHidden(), "a run is open"


def test_a_list_without_rules_is_no_network_without_runs(
    page: RunsPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskRuns] = RunsReply(rows=(), unread=("c" * 64,))
    show_snapshot(page, worker, IDLE)
    assert page.empty.words.text() == (
        "The rules of the open runs could not be read. Tequio keeps trying."
    )


def test_rows_of_runs_that_stay_keep_the_keyboard(page: RunsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    kept = page.choices.rows[NOVA.run]
    worker.replies[AskRuns] = RunsReply(rows=(SMALL, replace(NOVA, round=1_842)))
    page.ask()
    assert list(page.choices.rows) == [SMALL.run, NOVA.run]
    assert page.choices.rows[NOVA.run] is kept
    assert kept.facts.text().startswith("Round 1,842")


def test_a_worker_that_is_gone_leaves_the_list(page: RunsPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    worker.gone.emit("The worker ended five times: disk full")
    page.refresh()
    assert list(page.choices.rows) == [row.run for row in RUNS.rows]
    assert page.choices.rows[OTHER].fit.text == "Not known yet"


def test_any_is_looked_at_where_nothing_else_is(page: RunsPage, worker: ScriptedWorker) -> None:
    worker.replies[AskRuns] = RunsReply(rows=(replace(NOVA, is_ours=False), SMALL))
    show_snapshot(page, worker, IDLE)
    assert page.any.isChecked()
    assert page.detail.name.text() == "Choose for me"
    page.select(OTHER)
    page.select(AUTOMATIC)
    assert page.any.isChecked()


def _asked(worker: ScriptedWorker) -> int:
    return sum(
        isinstance(one, control.AskQuestion) and isinstance(one.question, AskRuns)
        for one in worker.received
    )
