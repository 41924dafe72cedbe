"""Windows without a screen: the offscreen platform, one look and one language for all tests."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale
from PySide6.QtWidgets import QApplication

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tequio_client.app.language import Language, load_translations
from tequio_client.app.model import AppModel
from tequio_client.app.pages.page import PageContext
from tequio_client.app.theme.look import Appearance, Theme
from tests.support.app_clock import AppClock
from tests.support.app_scenes import replies
from tests.support.app_worker import ScriptedWorker
from tests.support.patient_bot import PatientBot

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_window_outlives_its_test() -> Iterator[None]:
    """None is collected while events are handled, for Qt may be in the midst of it; all go here.

    Each change of look or language reaches every window there is: with those of a hundred tests
    before, it would take a hundred times as long.
    """
    gc.disable()
    yield
    if QApplication.instance() is not None:
        for left in QApplication.topLevelWidgets():
            if left.parent() is None:
                left.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.enable()
    gc.collect(0)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> PatientBot:
    """Replace pytest-qt's, which waits for 5 s: a busy machine may take longer."""
    return PatientBot(request)


@pytest.fixture(scope="session")
def theme(qapp: QApplication) -> Theme:
    return Theme(qapp, Appearance.DARK)


@pytest.fixture
def language(qapp: QApplication) -> Iterator[Language]:
    """English for every test, whatever language the previous one used."""
    speaking = Language(qapp, "en")
    speaking.apply(QLocale("en_US"), load_translations("en"))
    yield speaking
    # otherwise later tests would translate this test's closed windows again, in every language
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    speaking.apply(QLocale("en_US"), load_translations("en"))


@pytest.fixture
def worker(qapp: QApplication) -> ScriptedWorker:
    return ScriptedWorker(replies())


@pytest.fixture
def model(worker: ScriptedWorker) -> Iterator[AppModel]:
    made = AppModel(worker)
    yield made
    made.deleteLater()  # with all that belongs to it, as in the app


@pytest.fixture
def clock() -> AppClock:
    return AppClock()


@pytest.fixture
def opened_pages() -> list[str]:
    """Names of the pages that a page has opened."""
    return []


@pytest.fixture
def context(model: AppModel, theme: Theme, clock: AppClock, opened_pages: list[str]) -> PageContext:
    return PageContext(model=model, look=theme, now_ms=clock, open_page=opened_pages.append)
