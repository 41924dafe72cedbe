"""Activity's other views: the log, diagnostics to copy, and the health of every probe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from tequio_client.app.pages.activity import (
    EVERY_MS,
    PROBE_NAMES,
    ActivityPage,
    Check,
    CheckRow,
    CheckState,
    log_lines,
)
from tequio_client.app.pages.page import PageContext
from tequio_client.ipc import control
from tequio_client.ipc.control import AskDiagnostics
from tequio_client.ipc.facts import ProbeHealth, SessionFacts
from tequio_client.platform.asker import NOT_POLLED
from tequio_client.worker.control import snapshot as control_snapshot
from tests.support import app_worker_answers
from tests.support.app_clock import AppClock
from tests.support.app_pages import open_page, show_snapshot
from tests.support.app_scenes import LENDING, MACHINE

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import AppModel
    from tests.support.app_worker import ScriptedWorker


pytestmark = pytest.mark.usefixtures("theme", "language")
WELL = ProbeHealth(name="idle", source="mutter", ok=True, took_ms=3)
BLIND = ProbeHealth(name="fullscreen", source="x11", ok=False, error="no display", took_ms=12)


@pytest.fixture
def page(context: PageContext, qtbot: QtBot) -> ActivityPage:
    return open_page(ActivityPage(context), qtbot)


def test_the_log_is_what_the_worker_wrote_last(page: ActivityPage, worker: ScriptedWorker) -> None:
    show_snapshot(page, worker)
    assert worker.times_asked(AskDiagnostics) == 0
    page.open_view("log")
    assert page.log.text.toPlainText() == app_worker_answers.LOG
    assert page.log.text.isReadOnly()
    assert not page.timeline.isVisible()


def test_the_log_is_read_every_few_seconds_while_somebody_looks(
    page: ActivityPage, worker: ScriptedWorker, clock: AppClock
) -> None:
    page.open_view("log")
    show_snapshot(page, worker)
    show_snapshot(page, worker)
    assert worker.times_asked(AskDiagnostics) == 1
    clock.ms += EVERY_MS
    show_snapshot(page, worker)
    assert worker.times_asked(AskDiagnostics) == 2
    page.open_view("timeline")
    clock.ms += EVERY_MS
    show_snapshot(page, worker)
    assert worker.times_asked(AskDiagnostics) == 2


@pytest.mark.parametrize(
    ("text", "log"), [("a\n\nb\n\nc\nd\n\ne", "c\nd\n\ne"), ("a\n\nb\n", ""), ("a", ""), ("", "")]
)
def test_the_log_is_the_last_part_of_the_diagnostics(text: str, log: str) -> None:
    assert log_lines(text) == log


def test_the_log_is_found_in_what_a_real_worker_says() -> None:
    lines = ["18:29:12 info     round begins", "", "18:29:13 info     step"]
    assert log_lines(control_snapshot.diagnostics_text(LENDING, lines)) == "\n".join(lines)
    assert log_lines(control_snapshot.diagnostics_text(LENDING)) == ""


def test_diagnostics_hold_what_worker_and_app_know(
    page: ActivityPage, worker: ScriptedWorker, model: AppModel, qtbot: QtBot
) -> None:
    model.update_session(SessionFacts(idle_s=3.0, game="Hollow Knight", health=(WELL, BLIND)))
    show_snapshot(page, worker)
    page.open_view("log")
    qtbot.mouseClick(page.log.copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith(app_worker_answers.DIAGNOSTICS.text)
    assert "Tequio app " in copied
    assert "probe fullscreen by x11, 12 ms: failed: no display" in copied
    assert "idle_s known" in copied
    assert "is_locked unknown" in copied
    assert "Hollow Knight" not in copied, "what somebody plays is nobody's business"
    assert page.toast.words.text() == "Diagnostics copied: paste them into your report"


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


def test_what_is_copied_without_a_worker_names_no_home_folder(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    folder = Path.home() / ".local" / "share" / "tequio"
    worker.gone.emit(f"{folder}: Permission denied.")
    page.log.copy_all()
    said = QGuiApplication.clipboard().text()
    assert "Permission denied" in said
    assert str(Path.home()) not in said


def test_copying_waits_for_the_worker_and_the_page_does_not(
    page: ActivityPage, worker: ScriptedWorker
) -> None:
    worker.replies.pop(AskDiagnostics)
    page.open_view("log")
    QGuiApplication.clipboard().setText("before")
    page.log.copy.click()
    assert QGuiApplication.clipboard().text() == "before"
    assert not page.log.copy.isEnabled()
    number = sum(isinstance(one, control.AskQuestion) for one in worker.received)
    worker.send(control.QuestionAnswer(id=number, reply=app_worker_answers.DIAGNOSTICS))
    assert QGuiApplication.clipboard().text().startswith("Tequio diagnostics")


def test_every_check_is_shown_with_its_error_and_way_out(
    page: ActivityPage, worker: ScriptedWorker, model: AppModel
) -> None:
    model.update_session(SessionFacts(health=(WELL, BLIND)))
    hot = ProbeHealth(name="cpu-temperature", source="none", ok=False, error="no sensor")
    show_snapshot(page, worker, replace(LENDING, machine=replace(MACHINE, health=(hot,))))
    page.open_view("health")
    well, blind = page.health.session.rows
    assert (well.name.text(), well.chip.text) == ("Time without input", "OK")
    assert "mutter" not in well.accessibleName()
    assert not well.error.isVisible()
    assert not well.remedy.isVisible()
    assert (blind.name.text(), blind.chip.text) == ("Fullscreen programs", "Unknown")
    assert blind.error.text() == "no display"
    assert "switch off pausing for games in Settings" in blind.remedy.text()
    assert "no display" in blind.accessibleName()
    (row,) = page.health.machine.rows
    assert row.error.text() == "Not available on this system"
    assert page.health.summary.text().startswith("2 checks aren't working.")


def test_sources_and_times_are_behind_details(
    page: ActivityPage, worker: ScriptedWorker, model: AppModel
) -> None:
    model.update_session(SessionFacts(health=(WELL, BLIND)))
    show_snapshot(page, worker)
    page.open_view("health")
    page.health.details.click()
    assert page.health.details.dialog is not None
    lines = page.health.details.dialog.text.toPlainText().splitlines()
    assert lines == ["idle: mutter, 3 ms", "fullscreen: x11, 12 ms, no display"]


def test_two_sources_of_one_fact_are_one_row(
    page: ActivityPage, worker: ScriptedWorker, model: AppModel
) -> None:
    cards = [ProbeHealth(name="gpu", source=source, ok=True) for source in ("nvml", "sysfs")]
    broken = replace(cards[0], ok=False, error="driver mismatch")
    model.update_session(SessionFacts(health=(WELL,)))
    for nvml, chip, error in ((cards[0], "OK", ""), (broken, "Unknown", "driver mismatch")):
        machine = replace(MACHINE, health=(nvml, cards[1]))
        show_snapshot(page, worker, replace(LENDING, machine=machine))
        page.open_view("health")
        (row,) = page.health.machine.rows
        assert (row.name.text(), row.chip.text) == ("Graphics cards", chip)
        assert row.error.text() == error


def test_what_was_not_asked_yet_is_not_a_fault(
    page: ActivityPage, worker: ScriptedWorker, model: AppModel
) -> None:
    waiting = replace(BLIND, error=NOT_POLLED)
    assert Check((waiting,)).state is CheckState.PENDING
    model.update_session(SessionFacts(health=(WELL, waiting)))
    show_snapshot(page, worker, replace(LENDING, machine=replace(MACHINE, health=(WELL,))))
    page.open_view("health")
    row = page.health.session.rows[1]
    assert row.chip.text == "Checking…"
    assert not row.error.isVisible()
    assert not row.remedy.isVisible()
    assert page.health.summary.text() == "Some checks have not responded yet."


def test_when_all_probes_answer_it_says_so(
    page: ActivityPage, worker: ScriptedWorker, model: AppModel
) -> None:
    model.update_session(SessionFacts(health=(WELL,)))
    show_snapshot(page, worker, replace(LENDING, machine=replace(MACHINE, health=(WELL,))))
    page.open_view("health")
    assert page.health.summary.text() == "All 2 checks are working."


def test_health_follows_what_the_app_sees(
    page: ActivityPage, worker: ScriptedWorker, model: AppModel, qtbot: QtBot
) -> None:
    show_snapshot(page, worker)
    page.open_view("health")
    assert page.health.session.empty.isVisible()
    assert page.health.machine.empty.isVisible()
    assert page.health.summary.text() == "Some checks have not responded yet."
    assert page.health.machine.empty.text().startswith("The hardware probe is not responding")
    shown = model.snapshot
    assert shown is not None
    worker.send_snapshot(replace(shown, is_probe_starting=True))
    checked = "The hardware is being checked…"
    qtbot.waitUntil(lambda: page.health.machine.empty.text() == checked)
    model.update_session(SessionFacts(health=(WELL, BLIND)))
    qtbot.waitUntil(lambda: len(page.health.session.rows) == 2, timeout=1_000)
    model.update_session(SessionFacts(health=(replace(BLIND, ok=True, error=""),)))
    qtbot.waitUntil(lambda: len(page.health.session.rows) == 1, timeout=1_000)
    assert page.health.session.rows[0].chip.text == "OK"


@pytest.mark.parametrize("name", [*PROBE_NAMES, "of-a-later-version"])
def test_every_probe_has_a_way_out(name: str, qtbot: QtBot) -> None:
    row = CheckRow()
    qtbot.addWidget(row)
    row.show_check(Check((ProbeHealth(name=name, source="x", ok=False, error="why"),)))
    assert row.name.text()
    assert row.remedy.text().endswith(".")
