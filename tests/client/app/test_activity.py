"""Activity: the timeline in sentences, its filters, live news, the log and the health of probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QDate, QDateTime, QModelIndex, Qt, QTime
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QRadioButton

from tequio_client import logs
from tequio_client.app.pages.activity import ActivityPage
from tequio_client.app.pages.activity_health import ProbeRow
from tequio_client.app.pages.activity_log import EVERY_MS, log_of
from tequio_client.app.pages.activity_timeline import OF_ROUNDS
from tequio_client.app.pages.events_book import PAGE, EventsBook
from tequio_client.app.pages.events_list import EventsList
from tequio_client.app.pages.events_rows import EventsRows, Line, with_days
from tequio_client.app.pages.health_words import NAMES
from tequio_client.app.pages.page import Means
from tequio_client.link import control
from tequio_client.link.event_words import Event
from tequio_client.link.facts import Fact, SessionFacts
from tequio_client.link.questions import Activity, ActivityRow, AskActivity, AskDiagnostics
from tequio_client.worker import diagnostics
from tests.support import app_books
from tests.support.app_clock import Clock
from tests.support.app_scenes import LENDING, MACHINE, NOW_MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import Model
    from tequio_client.app.theme.look import Look
    from tequio_client.link.questions import Question
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("look", "language")
WELL = Fact(name="idle", source="mutter", ok=True, took_ms=3)
BLIND = Fact(name="fullscreen", source="x11", ok=False, error="no display", took_ms=12)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def page(model: Model, look: Look, clock: Clock, qtbot: QtBot) -> ActivityPage:
    means = Means(model=model, look=look, now_ms=clock, open_page=lambda _: None)
    made = ActivityPage(means)
    qtbot.addWidget(made)
    made.resize(914, 720)
    made.show()
    return made


# --- the timeline


def test_before_the_answer_it_says_that_it_looks(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskActivity)
    _show(page, worker)
    assert page.timeline.empty.isVisible()
    assert page.timeline.empty.words == "What happened lately is being read."


def test_events_stand_below_the_names_of_their_days(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    _show(page, worker)
    lines = page.timeline.lines
    days = [line.words for line in lines if line.is_day]
    assert days == ["Today", "Yesterday"]
    numbers = [line.number for line in lines if not line.is_day]
    assert numbers == [row.number for row in app_books.HAPPENED[: len(numbers)]]
    assert lines[1].words.startswith("nova-350m, round 1,841: your work was accepted, for 11.0391")


def test_a_line_says_level_words_and_when(page: ActivityPage, worker: ScriptedWorker) -> None:
    _show(page, worker)
    warning = next(at for at, line in enumerate(page.timeline.lines) if line.level == "warning")
    index = page.timeline.list.rows.index(warning, 0)
    spoken = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    assert spoken.startswith("Attention: The ledger cannot be reached (connection refused).")
    assert spoken.endswith(" · 23 min ago")
    assert str(index.data(Qt.ItemDataRole.ToolTipRole)).startswith("Sat 21 Nov 2026, ")


def test_scrolling_down_reads_on_to_the_first_event(
    page: ActivityPage, worker: ScriptedWorker, qapp: QGuiApplication
) -> None:
    _show(page, worker)
    bar = page.timeline.list.verticalScrollBar()
    for _ in range(len(app_books.HAPPENED) // PAGE + 1):
        _settle(qapp)
        bar.setValue(bar.maximum())
    numbers = [line.number for line in page.timeline.lines if not line.is_day]
    assert numbers == [row.number for row in app_books.HAPPENED]


@pytest.mark.parametrize(
    ("kind", "fits"),
    [
        ("Rounds", lambda row: row.code in OF_ROUNDS),
        ("Attention", lambda row: row.level in ("warning", "error")),
        ("All", lambda _: True),
    ],
)
def test_a_filter_shows_what_fits_of_all_that_happened(
    page: ActivityPage,
    worker: ScriptedWorker,
    qtbot: QtBot,
    qapp: QGuiApplication,
    kind: str,
    fits: Callable[[ActivityRow], bool],
) -> None:
    _show(page, worker)
    segments = page.timeline.kind.findChildren(QRadioButton)
    wanted = next(one for one in segments if one.text() == kind)
    qtbot.mouseClick(wanted, Qt.MouseButton.LeftButton)
    bar = page.timeline.list.verticalScrollBar()
    for _ in range(5):
        _settle(qapp)
        bar.setValue(bar.maximum())
    numbers = [line.number for line in page.timeline.lines if not line.is_day]
    assert numbers == [row.number for row in app_books.HAPPENED if fits(row)]


def test_a_search_reads_on_by_itself_until_it_has_found(
    page: ActivityPage, worker: ScriptedWorker, qapp: QGuiApplication
) -> None:
    _show(page, worker)
    page.timeline.search.setText("  round 1,550: ")
    for _ in range(5):
        _settle(qapp)
    (found,) = [line for line in page.timeline.lines if not line.is_day]
    assert "round 1,550:" in found.words


def test_a_search_without_a_result_says_so(
    page: ActivityPage, worker: ScriptedWorker, qapp: QGuiApplication
) -> None:
    _show(page, worker)
    page.timeline.search.setText("no such thing")
    for _ in range(5):
        _settle(qapp)
    assert page.timeline.empty.words == "No event fits the filter and the search."
    page.timeline.search.clear()
    assert page.timeline.list.isVisible()


def test_what_is_new_appears_above_at_once(page: ActivityPage, worker: ScriptedWorker) -> None:
    _show(page, worker)
    new = _event(311, NOW_MS)
    worker.replies[AskActivity] = _book((new, *app_books.HAPPENED))
    _show(page, worker)
    assert page.timeline.lines[1].number == 310, "nothing was said to be new"
    _show(page, worker, replace(LENDING, activity=311))
    assert page.timeline.lines[1].number == 311
    assert page.timeline.lines[2].number == 310


def test_who_reads_further_down_is_not_moved_by_news(
    page: ActivityPage, worker: ScriptedWorker, qapp: QGuiApplication
) -> None:
    _show(page, worker)
    _settle(qapp)
    view = page.timeline.list
    view.verticalScrollBar().setValue(700)
    seen = view.indexAt(view.viewport().rect().center()).data()
    new = [_event(number, NOW_MS) for number in (313, 312, 311)]
    worker.replies[AskActivity] = _book((*new, *app_books.HAPPENED))
    _show(page, worker, replace(LENDING, activity=313))
    _settle(qapp)
    assert view.indexAt(view.viewport().rect().center()).data() == seen


def test_an_empty_book_says_what_will_stand_here(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskActivity] = Activity(rows=())
    _show(page, worker, replace(LENDING, activity=0))
    assert "will stand here in sentences" in page.timeline.empty.words


def test_events_that_cannot_be_had_are_asked_for_again(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskActivity] = "the event book cannot be read"
    _show(page, worker)
    assert page.timeline.empty.words == "the event book cannot be read"
    worker.replies[AskActivity] = app_books.activity
    _show(page, worker)
    assert page.timeline.list.isVisible()


def test_times_go_on_while_nothing_happens(
    page: ActivityPage, worker: ScriptedWorker, clock: Clock
) -> None:
    _show(page, worker)
    clock.ms += 36 * 3_600_000
    _show(page, worker)
    assert next(line.words for line in page.timeline.lines if line.is_day) != "Today"


def test_older_events_that_cannot_be_had_are_not_asked_for_without_end(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    def newest(question: Question) -> Activity | str:
        assert isinstance(question, AskActivity)
        return app_books.activity(question) if question.before is None else "no worker now"

    worker.replies[AskActivity] = newest
    _show(page, worker)
    page.timeline.search.setText("round 1,550:")
    asked = _asked(worker, AskActivity)
    page.timeline.search.setText("round 1,551:")
    assert _asked(worker, AskActivity) == asked
    worker.replies[AskActivity] = app_books.activity
    _show(page, worker)
    assert [line.number for line in page.timeline.lines if not line.is_day] == [20]


def test_an_event_can_be_copied_from_the_keyboard(
    page: ActivityPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    _show(page, worker)
    view = page.timeline.list
    view.setCurrentIndex(view.rows.index(1, 0))
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().endswith("for 11.039146 points.")


def test_a_worker_that_is_gone_leaves_what_was_read(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    _show(page, worker)
    worker.gone.emit("The worker ended five times")
    page.refresh()
    assert page.banner.words == "The worker ended five times"
    assert page.timeline.list.isVisible()
    asked = _asked(worker, AskActivity)
    _show(page, worker)
    assert _asked(worker, AskActivity) == asked + 1, "the next worker may have another book"


# --- reading


def test_a_gap_between_old_and_new_begins_the_list_anew(
    model: Model, worker: ScriptedWorker
) -> None:
    book = EventsBook(model)
    book.follow(310)
    many = tuple(_event(number, NOW_MS) for number in range(310 + 3 * PAGE, 310, -1))
    worker.replies[AskActivity] = _book((*many, *app_books.HAPPENED))
    book.follow(310 + 3 * PAGE)
    assert book.rows == many[:PAGE]
    while book.has_more:
        book.read_on()
    assert book.rows == (*many, *app_books.HAPPENED)


def test_lines_that_stay_are_not_made_anew() -> None:
    rows = EventsRows(lambda: NOW_MS)
    old = _lines(3, 2, 1)
    assert rows.show_lines(old) == -1
    resets: list[None] = []
    rows.modelReset.connect(lambda: resets.append(None))
    assert rows.show_lines(old) == 0
    assert rows.show_lines(_lines(5, 4, 3, 2, 1)) == 2
    assert rows.show_lines(_lines(5, 4, 3, 2, 1, 0)) == 0
    assert resets == []
    assert rows.lines == _lines(5, 4, 3, 2, 1, 0)
    assert rows.rowCount() == len(rows.lines)
    assert rows.show_lines(_lines(5, 3)) == -1
    assert resets == [None]


def test_a_day_of_old_events_below_is_added_below() -> None:
    rows = EventsRows(lambda: NOW_MS)
    yesterday = Line(words="x", at_ms=NOW_MS - 86_400_000, number=1, level="info")
    today = Line(words="y", at_ms=NOW_MS, number=2, level="info")
    rows.show_lines(with_days([today], NOW_MS))
    assert rows.show_lines(with_days([today, yesterday], NOW_MS)) == 0
    assert [line.words for line in rows.lines] == ["Today", "y", "Yesterday", "x"]


def test_the_name_of_a_day_is_not_chosen_by_the_keyboard() -> None:
    rows = EventsRows(lambda: NOW_MS)
    rows.show_lines(_lines(1))
    assert not rows.flags(rows.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert rows.flags(rows.index(1, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert rows.rowCount(rows.index(0, 0)) == 0
    assert rows.rowCount(QModelIndex()) == 2


def test_a_long_sentence_has_the_lines_that_it_needs(qtbot: QtBot) -> None:
    view = EventsList("events", lambda: NOW_MS)
    qtbot.addWidget(view)
    view.resize(420, 500)
    view.show()
    short = Line(words="short", at_ms=NOW_MS, number=2, level="info")
    long = replace_words(short, "a sentence of many words " * 12)
    view.show_lines((short, long))
    heights = [view.sizeHintForIndex(view.rows.index(at, 0)).height() for at in (0, 1)]
    assert heights[1] > 3 * heights[0]


# --- the log


def test_the_log_is_what_the_worker_wrote_last(page: ActivityPage, worker: ScriptedWorker) -> None:
    _show(page, worker)
    assert _asked(worker, AskDiagnostics) == 0
    page.open_view("log")
    assert page.log.text.toPlainText() == app_books.LOG
    assert page.log.text.isReadOnly()
    assert not page.timeline.isVisible()


def test_the_log_is_read_every_few_seconds_while_somebody_looks(
    page: ActivityPage, worker: ScriptedWorker, clock: Clock
) -> None:
    page.open_view("log")
    _show(page, worker)
    _show(page, worker)
    assert _asked(worker, AskDiagnostics) == 1
    clock.ms += EVERY_MS
    _show(page, worker)
    assert _asked(worker, AskDiagnostics) == 2
    page.open_view("timeline")
    clock.ms += EVERY_MS
    _show(page, worker)
    assert _asked(worker, AskDiagnostics) == 2


@pytest.mark.parametrize(
    ("text", "log"), [("a\n\nb\n\nc\nd\n\ne", "c\nd\n\ne"), ("a\n\nb\n", ""), ("a", ""), ("", "")]
)
def test_the_log_is_the_last_part_of_the_diagnostics(text: str, log: str) -> None:
    assert log_of(text) == log


def test_the_log_is_found_in_what_a_real_worker_says(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["18:29:12 info     round begins", "", "18:29:13 info     step"]
    monkeypatch.setattr(logs, "recent", lambda: lines)
    assert log_of(diagnostics.text(LENDING)) == "\n".join(lines)
    monkeypatch.setattr(logs, "recent", list)
    assert log_of(diagnostics.text(LENDING)) == ""


def test_diagnostics_hold_what_worker_and_app_know(
    page: ActivityPage, worker: ScriptedWorker, model: Model, qtbot: QtBot
) -> None:
    model.sense(SessionFacts(idle_s=3.0, game="Hollow Knight", health=(WELL, BLIND)))
    _show(page, worker)
    page.open_view("log")
    qtbot.mouseClick(page.log.copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith(app_books.DIAGNOSTICS.text)
    assert "Tequio app " in copied
    assert "probe fullscreen by x11, 12 ms: failed: no display" in copied
    assert "idle_s known" in copied
    assert "is_locked unknown" in copied
    assert "Hollow Knight" not in copied, "what somebody plays is nobody's business"
    assert page.toast.words == "Diagnostics copied: paste them into your report"


def test_diagnostics_can_be_copied_without_a_worker(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies[AskDiagnostics] = "the worker has ended"
    page.open_view("log")
    page.log.copy.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("no answer from the worker: the worker has ended")
    assert "worker: has not answered yet" in copied
    assert page.log.copy.isEnabled()


def test_copying_waits_for_the_worker_and_the_page_does_not(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskDiagnostics)
    page.open_view("log")
    QGuiApplication.clipboard().setText("before")
    page.log.copy.click()
    assert QGuiApplication.clipboard().text() == "before"
    assert not page.log.copy.isEnabled()
    number = sum(isinstance(one, control.Ask) for one in worker.heard)
    worker.say(control.Answer(id=number, reply=app_books.DIAGNOSTICS))
    assert QGuiApplication.clipboard().text().startswith("Tequio diagnostics")


# --- health


def test_every_probe_is_shown_with_source_error_and_way_out(
    page: ActivityPage, worker: ScriptedWorker, model: Model
) -> None:
    model.sense(SessionFacts(health=(WELL, BLIND)))
    hot = Fact(name="cpu-temperature", source="none", ok=False, error="no sensor")
    _show(page, worker, replace(LENDING, machine=replace(MACHINE, health=(hot,))))
    page.open_view("health")
    well, blind = page.health.session.rows
    assert (well.name.text(), well.chip.words) == ("Time without input", "Answers")
    assert well.source.text() == "by mutter, in 3 ms"
    assert not well.error.isVisible()
    assert not well.remedy.isVisible()
    assert (blind.name.text(), blind.chip.words) == ("Fullscreen programs", "Unknown")
    assert blind.error.text() == "no display"
    assert "switch off pausing for games in Settings" in blind.remedy.text()
    assert "no display" in blind.accessibleName()
    (row,) = page.health.machine.rows
    assert row.source.text() == "Nothing on this system can tell"
    assert page.health.words.startswith("2 probes cannot tell what they look at.")


def test_when_all_probes_answer_it_says_so(
    page: ActivityPage, worker: ScriptedWorker, model: Model
) -> None:
    model.sense(SessionFacts(health=(WELL,)))
    _show(page, worker, replace(LENDING, machine=replace(MACHINE, health=(WELL,))))
    page.open_view("health")
    assert page.health.words == "All 2 probes answer."


def test_health_follows_what_the_app_sees(
    page: ActivityPage, worker: ScriptedWorker, model: Model, qtbot: QtBot
) -> None:
    _show(page, worker)
    page.open_view("health")
    assert page.health.session.empty.isVisible()
    assert page.health.machine.empty.isVisible()
    assert page.health.words == "Not all probes have answered yet."
    model.sense(SessionFacts(health=(WELL, BLIND)))
    qtbot.waitUntil(lambda: len(page.health.session.rows) == 2, timeout=1_000)
    model.sense(SessionFacts(health=(replace(BLIND, ok=True, error=""),)))
    qtbot.waitUntil(lambda: len(page.health.session.rows) == 1, timeout=1_000)
    assert page.health.session.rows[0].chip.words == "Answers"


@pytest.mark.parametrize("name", [*NAMES, "of-a-later-version"])
def test_every_probe_has_a_way_out(name: str, qtbot: QtBot) -> None:
    row = ProbeRow()
    qtbot.addWidget(row)
    row.show_fact(Fact(name=name, source="x", ok=False, error="why"))
    assert row.name.text()
    assert row.remedy.text().endswith(".")


def replace_words(line: Line, words: str) -> Line:
    return Line(words=words, at_ms=line.at_ms, number=line.number, level=line.level)


def _show(page: ActivityPage, worker: ScriptedWorker, snapshot: object = LENDING) -> None:
    worker.show(snapshot)  # type: ignore[arg-type]  # a snapshot
    page.refresh()


def _settle(qapp: QGuiApplication) -> None:
    """Let layouts come to rest."""
    for _ in range(3):
        qapp.processEvents()


def _event(number: int, at_ms: int) -> ActivityRow:
    values: dict[str, str | int | float] = {"run": "nova-350m"}
    return ActivityRow(number=number, at_ms=at_ms, code=Event.JOINED_RUN, values=values)


def _lines(*numbers: int) -> tuple[Line, ...]:
    noon = QDateTime(QDate(2026, 11, 21), QTime(12, 0)).toMSecsSinceEpoch()
    events = [Line(words=str(one), at_ms=noon + one, number=one, level="info") for one in numbers]
    return with_days(events, noon)


def _book(rows: tuple[ActivityRow, ...]) -> Callable[[Question], Activity]:
    def answer(question: Question) -> Activity:
        assert isinstance(question, AskActivity)
        fitting = [row for row in rows if question.before is None or row.number < question.before]
        has_more = len(fitting) > question.limit
        return Activity(rows=tuple(fitting[: question.limit]), has_more=has_more)

    return answer


def _asked(worker: ScriptedWorker, kind: type) -> int:
    return sum(
        isinstance(one, control.Ask) and isinstance(one.question, kind) for one in worker.heard
    )
