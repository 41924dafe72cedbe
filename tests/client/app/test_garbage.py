"""Windows that are gone leave no Qt object to Python's garbage collection.

Until then it would go on receiving signals for a page that is gone.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from shiboken6 import Shiboken

from tequio_client.app.pages import PAGES
from tequio_client.app.window import AppWindow
from tests.support.app_dialogs import DIALOGS
from tests.support.app_program import own
from tests.support.app_scenes import NOW_MS, SCENES
from tests.support.first_run_pictures import STEP_PICTURES, first_run_setup
from tests.support.window_contents import settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QApplication, QWidget

    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker
    from tests.support.first_run_pictures import FirstRunSetup

pytestmark = pytest.mark.usefixtures("theme", "language")


def living_garbage() -> list[str]:
    """Types of the Qt objects that only a collection would end; all garbage is dropped."""
    settle()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [
            type(one).__name__
            for one in gc.garbage
            if isinstance(one, QObject) and Shiboken.isValid(one) and Shiboken.ownedByPython(one)
        ]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.collect()


def test_rebuilt_pages_leave_no_qt_object(
    model: AppModel, theme: Theme, worker: ScriptedWorker, tmp_path: Path
) -> None:
    window = AppWindow(model, theme, lambda: NOW_MS, own=own(tmp_path))
    window.show()
    living_garbage()
    for scene in SCENES.values():
        worker.send_snapshot(scene)
        for entry in PAGES:
            window.open_page(entry.name)
            window.page.refresh()
    window.rebuild()
    assert living_garbage() == []


@pytest.mark.parametrize("name", DIALOGS)
def test_a_closed_dialog_leaves_no_qt_object(qapp: QApplication, theme: Theme, name: str) -> None:
    with first_run_setup(qapp, theme) as place:
        living_garbage()
        close(DIALOGS[name](place).dialog)
        assert living_garbage() == []
        place.desk.close()


@pytest.mark.parametrize("make", STEP_PICTURES)
def test_the_first_run_leaves_no_qt_object(
    qapp: QApplication, theme: Theme, make: Callable[[FirstRunSetup], QWidget]
) -> None:
    with first_run_setup(qapp, theme) as place:
        living_garbage()
        close(make(place))
        assert living_garbage() == []
        place.desk.close()


def close(window: QWidget) -> None:
    """Show the window, and end it as its owner does."""
    window.show()
    settle()
    window.close()
    window.deleteLater()
