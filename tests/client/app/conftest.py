"""Windows without a screen: the offscreen platform, one look and one language for all tests."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tequio_client.app.language import Language, load_translations
from tequio_client.app.model import AppModel
from tequio_client.app.theme.look import Appearance, Theme
from tests.support.app_scenes import replies
from tests.support.app_worker import ScriptedWorker
from tests.support.patient_bot import PatientBot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication


@pytest.fixture(autouse=True)
def _collected_between_tests() -> Iterator[None]:
    """No window of a test is collected while events are handled: Qt may be in the midst of it."""
    gc.disable()
    yield
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
def model(worker: ScriptedWorker) -> AppModel:
    return AppModel(worker)
