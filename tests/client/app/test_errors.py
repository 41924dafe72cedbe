"""Unexpected errors become one report at a time, without secrets."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import qCritical
from PySide6.QtGui import QGuiApplication

from tequio_client.app.errors import REMOVED, ErrorHooks, ErrorReports, without_secrets
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from tequio_client.app.theme.look import Theme

HOME = Path("/somewhere/ana")


@pytest.fixture
def faults(qtbot: QtBot) -> Iterator[ErrorHooks]:
    taking = ErrorHooks(HOME)
    taking.install()
    yield taking
    taking.uninstall()


def fail() -> None:
    raise ValueError(f"no such thing in {HOME}/data")


def test_an_exception_is_reported_with_its_way(faults: ErrorHooks, qtbot: QtBot) -> None:
    with qtbot.waitSignal(faults.reported) as reported:
        try:
            fail()
        except ValueError as err:
            sys.excepthook(ValueError, err, err.__traceback__)
    line, report = reported.args
    assert line == "ValueError: no such thing in ~/data"
    assert "in fail" in report
    assert str(HOME) not in report
    assert report.startswith("Tequio ")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_exception_in_a_thread_is_reported(faults: ErrorHooks, qtbot: QtBot) -> None:
    def fail() -> None:
        raise RuntimeError("in a thread")

    with qtbot.waitSignal(faults.reported) as reported:
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
    assert reported.args[0] == "RuntimeError: in a thread"


@pytest.mark.qt_log_ignore("a complaint of Qt")
def test_what_qt_calls_critical_is_reported(faults: ErrorHooks, qtbot: QtBot) -> None:
    with qtbot.waitSignal(faults.reported) as reported:
        qCritical("a complaint of Qt")
    assert reported.args[0] == "QtCriticalMsg: a complaint of Qt"


def test_a_fault_is_reported_once(faults: ErrorHooks, qtbot: QtBot) -> None:
    error = ValueError("again")
    with qtbot.waitSignal(faults.reported):
        faults.handle_exception(ValueError, error, None)
    with qtbot.assertNotEmitted(faults.reported, wait=50):
        faults.handle_exception(ValueError, error, None)


SEED = bytes(range(7, 39))


@pytest.mark.parametrize(
    "text",
    [
        f"hello {{'seed': '{to_text(SEED)}'}}",
        f"seed={SEED.hex()}",
        f"seed {SEED!r} is wrong",
        "token YMTzLgEAitXnvxSeo5J4B24Nm_oe-JwLLgDDchToQJc",
        "words: zone zoo abandon ability able about above absent absorb abstract absurd abuse",
        "passphrase=correct-horse",
    ],
)
def test_a_report_has_no_secrets(text: str) -> None:
    cleaned = without_secrets(text)
    assert REMOVED in cleaned
    for secret in (to_text(SEED), SEED.hex(), repr(SEED), "abandon ability", "correct-horse"):
        assert secret not in cleaned
    assert text.rsplit(maxsplit=1)[-1] not in cleaned or "wrong" in cleaned


def test_an_ordinary_trace_stays_as_it_is() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "client/tequio_client/app/window.py", line 3, '
        "in open_page\nKeyError: 'points'"
    )
    assert without_secrets(trace) == trace


def test_one_report_is_shown_at_a_time_and_can_be_copied(theme: Theme, qtbot: QtBot) -> None:
    reports = ErrorReports()
    reports.present("ValueError: one", "the first report")
    dialog = reports.dialog
    assert dialog is not None
    reports.present("ValueError: two", "the second report")
    assert reports.dialog is dialog
    # Without an installed language, or in English after a test that installed it.
    assert dialog.count.text() in {"1 more fault(s) since", "1 more fault since"}
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == "the first report"
    dialog.close()
    qtbot.waitUntil(lambda: reports.dialog is None)
    reports.present("ValueError: three", "the third report")
    assert reports.dialog is not None
    reports.close()
    qtbot.waitUntil(lambda: reports.dialog is None)
