"""The Runs page: code that a run brings, and the consent for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt

from tequio_client.app.pages.page import PageContext
from tequio_client.app.pages.run_code import CodeConsentDialog
from tequio_client.app.pages.runs import RunsPage
from tequio_client.ipc import control
from tequio_client.ipc.runs import (
    AskRuns,
    PluginConsentReply,
    RequestPluginConsent,
    RunPlugin,
    RunsReply,
)
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.plugin import PluginSpec
from tests.support.app_pages import open_page, show_snapshot
from tests.support.app_worker_answers import OTHER, RUNS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("theme", "language")
SPEC = PluginSpec(
    name="tiny",
    version="1.0",
    archive=to_text(sha256(b"archive")),
    size_bytes=1_825,
    provides=("model", "optimiser"),
)
PLUGIN = RunPlugin(spec=SPEC, is_confined=True)
ASKED = RequestPluginConsent(archive=SPEC.archive, label="tiny 1.0", is_allowed=True)


def listed(plugin: RunPlugin) -> RunsReply:
    """The list of runs, in which one brings that code."""
    return RunsReply(
        rows=tuple(replace(one, plugin=plugin) if one.run == OTHER else one for one in RUNS.rows)
    )


@pytest.fixture
def page(context: PageContext, worker: ScriptedWorker, qtbot: QtBot) -> RunsPage:
    worker.replies[AskRuns] = listed(PLUGIN)
    worker.replies[RequestPluginConsent] = PluginConsentReply(archive=SPEC.archive, is_allowed=True)
    made = open_page(RunsPage(context), qtbot, height=900)
    show_snapshot(made, worker)
    qtbot.mouseClick(made.choices.rows[OTHER], Qt.MouseButton.LeftButton)
    return made


def consents(worker: ScriptedWorker) -> list[RequestPluginConsent]:
    return [
        one.question
        for one in worker.received
        if isinstance(one, control.AskQuestion) and isinstance(one.question, RequestPluginConsent)
    ]


def shown(page: RunsPage) -> CodeConsentDialog:
    assert page.dialog is not None
    assert page.dialog.isVisible()
    return page.dialog


def test_joining_such_a_run_asks_for_consent_once(
    page: RunsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    assert page.detail.code.text().startswith("This run brings its own code: tiny 1.0 (")
    assert page.detail.code.text().endswith("It needs your consent before it trains here.")
    qtbot.mouseClick(page.detail.button, Qt.MouseButton.LeftButton)
    dialog = shown(page)
    words = " ".join(one.text() for one in dialog.points)
    assert SPEC.archive in words
    assert "The sandbox keeps it from your key" in words
    assert not consents(worker)
    worker.replies[AskRuns] = listed(replace(PLUGIN, is_allowed=True))
    qtbot.mouseClick(dialog.main, Qt.MouseButton.LeftButton)
    assert consents(worker) == [ASKED]
    assert page.detail.code.text().endswith("You allowed it.")
    assert page.detail.consent.text() == "Take back my consent"


def test_without_consent_nothing_is_allowed(
    page: RunsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    qtbot.mouseClick(page.detail.consent, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(shown(page).leave, Qt.MouseButton.LeftButton)
    assert not consents(worker)


def test_a_consent_is_taken_back(page: RunsPage, worker: ScriptedWorker, qtbot: QtBot) -> None:
    worker.replies[AskRuns] = listed(replace(PLUGIN, is_allowed=True))
    page.list.ask()
    qtbot.mouseClick(page.detail.consent, Qt.MouseButton.LeftButton)
    assert consents(worker) == [replace(ASKED, is_allowed=False)]


def test_a_computer_without_a_sandbox_says_so_and_needs_a_tick(
    page: RunsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.replies[AskRuns] = listed(replace(PLUGIN, is_confined=False))
    page.list.ask()
    qtbot.mouseClick(page.detail.consent, Qt.MouseButton.LeftButton)
    dialog = shown(page)
    words = " ".join(one.text() for one in dialog.points)
    assert "no sandbox for it: it could read your files and your key" in words
    assert not dialog.main.isEnabled()
    dialog.tick.click()
    qtbot.mouseClick(dialog.main, Qt.MouseButton.LeftButton)
    assert consents(worker) == [ASKED]


def test_a_run_without_code_of_its_own_says_nothing_of_it(
    page: RunsPage, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    other = next(one for one in RUNS.rows if one.run != OTHER and one.is_open)
    qtbot.mouseClick(page.choices.rows[other.run], Qt.MouseButton.LeftButton)
    assert not page.detail.code.isVisible()
    assert not page.detail.consent.isVisible()
