"""The Model page in each state, with measures from a server and a slider over the rounds."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSlider

from tequio_client.app.pages.page import LIST_INTERVAL_MS, PageContext
from tequio_client.app.run_model.page import ModelPage
from tequio_client.ipc.runs import AskRuns, RunsReply
from tests.support.app_clock import AppClock
from tests.support.app_pages import open_page
from tests.support.app_program import own
from tests.support.app_scenes import LENDING, NEW
from tests.support.app_worker_answers import NOVA, OURS, RUNS, SMALL
from tests.support.measured_site import WORDS, MeasuredRun, MeasuredSite, measured_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")


@pytest.fixture
def served() -> Iterator[MeasuredSite]:
    with measured_site(MeasuredRun(run=OURS)) as made:
        yield made


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> ModelPage:
    return open_page(ModelPage(context), qtbot, height=900)


class ShownPage:
    """The page with the measures of a server."""

    def __init__(self, page: ModelPage, worker: ScriptedWorker, qtbot: QtBot) -> None:
        self.page, self._worker, self._qtbot = page, worker, qtbot

    def open(self, site: MeasuredSite) -> ModelPage:
        """Fill the page with what that server answers."""
        view = replace(LENDING.ledger, url=site.url)
        self._worker.send_snapshot(replace(LENDING, ledger=view))
        self.page.refresh()
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait for all answers."""
        measures = self.page.measures
        self._qtbot.waitUntil(lambda: not (measures.is_reading or measures.is_choosing))
        self.page.refresh()


@pytest.fixture
def shown(page: ModelPage, worker: ScriptedWorker, qtbot: QtBot) -> ShownPage:
    return ShownPage(page, worker, qtbot)


def test_a_conversation_stays_in_view_while_the_worker_starts_again(
    context: PageContext, worker: ScriptedWorker, qtbot: QtBot, tmp_path: Path
) -> None:
    program = own(tmp_path)
    page = ModelPage(dataclasses.replace(context, program=program))
    qtbot.addWidget(page)
    page.show()
    worker.send_snapshot(LENDING)
    page.restore_location(SMALL.run)
    page.refresh()
    page.chat.transcript.setPlainText("A long talk")
    worker.gone.emit("")
    page.refresh()
    worker.send_snapshot(LENDING)
    page.refresh()
    assert page.chat.transcript.toPlainText() == "A long talk"
    page.measures.stop()


def test_two_rounds_are_beside_each_other_with_their_figures(
    shown: ShownPage, served: MeasuredSite
) -> None:
    page = shown.open(served)
    samples = page.samples
    assert samples.isVisible()
    assert not page.banner.isVisible()
    assert samples.prompt.text() == "Before the rain came, the market in Oaxaca was"
    assert samples.earlier.heading.text() == "Earlier: after round 40"
    assert samples.later.heading.text() == "Newest: after round 1,840"
    assert samples.earlier.text.text() == WORDS[0].strip()
    assert samples.later.text.text() == WORDS[-1].strip()
    figures = [
        (panel.bits.figure.text(), panel.perplexity.figure.text())
        for panel in (samples.earlier, samples.later)
    ]
    assert figures == [("2.257", "184.1"), ("0.915", "8.3")]
    assert not samples.other.isVisible()


def test_answers_to_tasks_stand_below_the_figures_of_their_round(
    shown: ShownPage, served: MeasuredSite
) -> None:
    panels = shown.page.samples.earlier, shown.page.samples.later
    shown.open(served)
    assert not any(panel.tasks.isVisible() for panel in panels)
    served.run.has_tasks = True
    shown.page.measures.read()
    shown.settle()
    assert panels[1].tasks.text() == "arc_easy: 71% of answers right (25% by guessing)"
    assert panels[1].tasks.isVisible()


def test_one_sentence_says_what_has_changed_since_our_work_counted(
    shown: ShownPage, served: MeasuredSite, worker: ScriptedWorker
) -> None:
    page = shown.open(served)
    assert page.joined.words.text() == (
        "Since your work first counted, in round 790, the model has improved from 1.103 to 0.915 "
        "bits per byte on unseen text: 17% fewer. Its perplexity went from 12.8 to 8.3."
    )
    cases = {0: "None of your work has been accepted yet.", 1_839: "The next measure will show"}
    for first_round, words in {**cases, 1_841: "has not been measured since."}.items():
        worker.replies[AskRuns] = RunsReply(rows=(replace(NOVA, first_round=first_round),))
        page.list.forget()
        page.refresh()
        assert not page.joined.isVisible(), "it is asked for at once"
        shown.settle()
        assert words in page.joined.words.text()


def test_a_model_that_got_worse_is_not_praised(shown: ShownPage, served: MeasuredSite) -> None:
    page = shown.open(served)
    measures = page.measures
    measures.joined, measures.last = measures.last, measures.joined
    assert measures.joined is not None
    assert measures.last is not None
    assert measures.last.round < measures.joined.round
    page.joined.show_change(790, measures)
    assert "next measure" in page.joined.words.text()
    swapped = type(measures.last)(round=9_999, bits_per_byte=1.373, perplexity=20.0)
    measures.last = swapped
    page.joined.show_change(790, measures)
    assert page.joined.words.text().endswith(
        "has gone from 0.915 to 1.373 bits per byte on unseen text: 50% more. Its perplexity "
        "went from 8.3 to 20.0. Lower is better; both go up and down from round to round."
    )


def test_the_keyboard_moves_from_measure_to_measure(
    shown: ShownPage, served: MeasuredSite, qtbot: QtBot
) -> None:
    page = shown.open(served)
    slider = page.samples.slider.findChild(QSlider)
    assert slider is not None
    assert slider.accessibleName() == "Earlier round"
    assert (slider.minimum(), slider.maximum(), slider.value()) == (0, 1_840, 40)
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    shown.settle()
    assert page.samples.earlier.heading.text() == "Earlier: after round 60"
    assert page.samples.later.heading.text() == "Newest: after round 1,800"
    assert slider.accessibleDescription() == "Round 60"
    qtbot.keyClick(slider, Qt.Key.Key_End)
    shown.settle()
    assert page.samples.earlier.heading.text() == "Earlier: after round 1,840"
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    shown.settle()
    assert page.samples.earlier.heading.text() == "Earlier: after round 0"


def test_a_run_that_nobody_measured_says_so(shown: ShownPage) -> None:
    with measured_site(MeasuredRun(run=OURS, every=0)) as served:
        page = shown.open(served)
        assert page.unmeasured.isVisible()
        assert "not been measured yet" in page.unmeasured.words.text()
        assert not page.joined.isVisible()
        assert not page.samples.isVisible()


def test_each_head_has_its_verdict_and_the_newest_a_warning(shown: ShownPage) -> None:
    run = MeasuredRun(run=OURS, unmeasured=frozenset({40}), worse=frozenset({1_840}))
    with measured_site(run) as served:
        page = shown.open(served)
        said = [one.verdict.text() for one in (page.samples.earlier, page.samples.later)]
        assert said == [
            "Too few members agree on these figures so far",
            "Worse than after round 1,820",
        ]
        assert page.worse.isVisible()
        assert "after round 1,840" in page.worse.words.text()
        assert "less well than after round 1,820" in page.worse.words.text()
        assert not page.samples.canary.isVisible()


def test_a_worse_head_that_was_given_up_neither_leads_nor_warns(shown: ShownPage) -> None:
    run = MeasuredRun(run=OURS, worse=frozenset({1_840}), newest=1_820, rollbacks=((1_820, 1_845),))
    with measured_site(run) as served:
        page = shown.open(served)
        assert page.samples.later.heading.text() == "Newest: after round 1,820"
        assert page.samples.later.verdict.text() == "Measured, not worse"
        assert not page.worse.isVisible()
        assert not page.samples.canary.isVisible()


def test_a_newer_head_that_nobody_measured_is_named(shown: ShownPage) -> None:
    with measured_site(MeasuredRun(run=OURS, newest=1_847)) as served:
        page = shown.open(served)
        assert page.samples.later.verdict.text() == "Measured, not worse"
        assert not page.worse.isVisible()
        assert page.samples.canary.isVisible()
        assert "after round 1,847, has not been measured yet" in page.samples.canary.text()


def test_a_ledger_that_does_not_answer_is_named_and_asked_again(
    shown: ShownPage, served: MeasuredSite, clock: AppClock
) -> None:
    served.status = 503
    page = shown.open(served)
    assert page.banner.isVisible()
    assert "Couldn't read the measures" in page.banner.words.text()
    assert page.banner.details.isVisible()
    assert not page.unmeasured.isVisible()
    served.status = 200
    clock.ms += LIST_INTERVAL_MS
    page.refresh()
    shown.settle()
    assert not page.banner.isVisible()
    assert page.samples.isVisible()


def test_without_a_run_it_leads_to_the_runs(
    page: ModelPage, worker: ScriptedWorker, opened_pages: list[str], qtbot: QtBot
) -> None:
    worker.replies[AskRuns] = RunsReply(rows=(SMALL,))
    worker.send_snapshot(NEW)
    page.refresh()
    assert page.unjoined.isVisible()
    qtbot.mouseClick(page.unjoined.button, Qt.MouseButton.LeftButton)
    assert opened_pages == ["runs"]


def test_a_run_that_was_chosen_is_shown_before_the_first_round(
    page: ModelPage, worker: ScriptedWorker
) -> None:
    waiting = replace(NOVA, is_ours=False, first_round=0)
    worker.replies[AskRuns] = RunsReply(rows=(SMALL, waiting))
    chosen = replace(LENDING.preferences, run=OURS)
    worker.send_snapshot(replace(LENDING, round=None, preferences=chosen))
    page.refresh()
    assert page.row == waiting
    assert "nova-350m" in page.head.words.text()


def test_a_worker_that_cannot_list_the_runs_says_why(
    page: ModelPage, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskRuns)
    worker.send_snapshot(LENDING)
    page.refresh()
    assert page.empty.isVisible()
    assert "Asking" in page.empty.words.text()
    worker.replies[AskRuns] = "the ledger is away"
    page.list.forget()
    page.ask()
    assert page.empty.button.isVisible()
    assert page.empty.words.text() == "The ledger is away. Tequio will keep trying."


def test_a_hidden_page_asks_nothing(
    shown: ShownPage, served: MeasuredSite, clock: AppClock, worker: ScriptedWorker
) -> None:
    page = shown.open(served)
    page.hide()
    served.asked.clear()
    clock.ms += 10 * LIST_INTERVAL_MS
    worker.send_snapshot(LENDING)
    page.model.snapshot_changed.emit(LENDING)
    assert not page.measures.is_reading
    assert served.asked == []
    assert RUNS.rows[0].run == OURS
