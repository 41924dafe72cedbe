"""Pages of the app on the screen of a test, and what the worker sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tequio_client.app.pages.page import Page
from tests.support.app_scenes import LENDING

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.ipc.snapshot import Snapshot
    from tests.support.app_worker import ScriptedWorker

P = TypeVar("P", bound=Page)


def open_page(page: P, qtbot: QtBot, height: int = 720) -> P:
    """Show a page beside the narrowest menu; it is closed after the test."""
    qtbot.addWidget(page)
    page.resize(914, height)
    page.show()
    return page


def show_snapshot(page: Page, worker: ScriptedWorker, snapshot: Snapshot = LENDING) -> None:
    """Send a snapshot to the app, and have the page show it."""
    worker.send_snapshot(snapshot)
    page.refresh()
