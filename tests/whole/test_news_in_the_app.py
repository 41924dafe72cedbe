"""News reaches a volunteer: a real ledger and worker, and the app's parts without a screen.

The app's clock can be put ahead, so that it asks for the list of runs again without a wait.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tequio_client import clock
from tequio_client.app.model import AppModel
from tequio_client.app.notifications import Notifier
from tequio_client.app.pages.home import HomePage
from tequio_client.app.pages.page import PageContext
from tequio_client.app.run_news import REFRESH_MS, RUNS
from tequio_client.app.theme.look import Appearance, Theme
from tequio_client.app.worker.process import WorkerProcess
from tequio_client.ipc.facts import SessionFacts
from tequio_client.ipc.snapshot import LendingState
from tequio_client.ledger.api import LedgerApi
from tequio_client.platform.programs import tequio
from tequio_shared.statements.runs import RoundClose
from tests.support.app_program import own
from tests.support.app_tray import NotificationRecorder
from tests.support.history import LogHistory
from tests.support.linked_worker import LISTEN, WILLING
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import RUN, found

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

    from tequio_client.ipc.control import Question, Reply
    from tests.support.real_network import RealNetwork

WHOLE_S, PATIENCE_S, TURN_S = 400.0, 90.0, 0.05
AWAY = SessionFacts(
    idle_s=9_000.0, is_locked=False, fullscreen="", game="", programs=(), is_metered=False
)
TOLD = "The ledger moves on Sunday."
FROM_NETWORK, BACK, ENDED = (
    "From the network's organisers",
    f"{RUN} went back to round 1",
    f"{RUN} has ended",
)


class NewsApp:
    """The parts of the app that tell news, in the folder of one user."""

    def __init__(self, qt: QApplication, folder: Path, ledger: str, theme: Theme) -> None:
        place = folder / "worker"
        command = tequio(
            "worker", "--link", "--ledger", ledger, "--dir", str(place), "--listen", LISTEN
        )
        program = own(folder)
        self._qt, self.settings = qt, program.settings
        self.worker = WorkerProcess(command, place, lambda: None)
        self.model, self.desk = AppModel(self.worker), NotificationRecorder()
        self.ahead_ms = 0
        self.lists = 0
        """Answers with the list of runs so far."""
        self.model.replied.connect(self._count)
        self.notifier = Notifier(self.model, self.settings, self.desk, self.now_ms)
        context = PageContext(
            model=self.model,
            look=theme,
            now_ms=self.now_ms,
            open_page=lambda _page: None,
            program=program,
        )
        self.home = HomePage(context)
        self.home.resize(914, 720)
        self.home.show()

    def now_ms(self) -> int:
        return clock.now_ms() + self.ahead_ms

    def pass_interval(self) -> None:
        """Let the next request for the list of runs be due."""
        self.ahead_ms += REFRESH_MS

    async def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Run Qt's loop until a condition holds; raises AssertionError after `PATIENCE_S`.

        It turns at least once: a worker that hears nothing from its app ends.
        """
        with trio.move_on_after(PATIENCE_S):
            while True:
                self.worker.send_facts(AWAY)
                self._qt.processEvents()
                if holds():
                    return
                await trio.sleep(TURN_S)
        raise AssertionError(f"not within {PATIENCE_S:.0f} s: {what}; {self.model.snapshot}")

    def close(self) -> None:
        self.worker.close()
        self.home.close()
        self.notifier.close()

    def _count(self, question: Question, _reply: Reply) -> None:
        self.lists += question == RUNS


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme(qapp, Appearance.LIGHT)


@asynccontextmanager
async def app_of(qt: QApplication, stage: RealNetwork, theme: Theme) -> AsyncIterator[NewsApp]:
    app = NewsApp(qt, stage.folder / "citlali", stage.url, theme)
    try:
        app.model.set_preferences(WILLING)
        app.worker.start()
        await app.until("the worker is linked", lambda: app.model.snapshot is not None)
        app.model.contribute()
        yield app
    finally:
        app.close()


@pytest.mark.whole
@pytest.mark.trio
async def test_an_announcement_a_rollback_and_the_end_of_a_run_are_told_once(
    tmp_path: Path, qapp: QApplication, theme: Theme
) -> None:
    with trio.fail_after(WHOLE_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await found(stage)
            stage.seed()
            ana, history = stage.volunteer("ana"), LogHistory(api)
            async with app_of(qapp, stage, theme) as app:
                await _works(app, history)
                await _organise(stage, "announce", "--text", TOLD)
                await _is_announced(app)
                await _organise(stage, "run", "pause", RUN)
                await _until_paused(app, history)
            # While the app is off.
            await _organise(stage, "run", "rollback", RUN, "--round", "1", "--yes")
            async with app_of(qapp, stage, theme) as app:
                await _is_told_of_the_rollback(app)
                await app.until("it is in the run", lambda: _is_in_run(app))
                ana.may_end = True
                await _organise(stage, "run", "finish", RUN)
                await _is_told_of_the_end(app)
            async with app_of(qapp, stage, theme) as app:
                await _shows_the_end_until_it_is_dismissed(app)
            await _organise(stage, "announce", "--clear")
            async with app_of(qapp, stage, theme) as app:
                await app.until("it is asked for", lambda: app.lists > 0)
                assert not app.home.notices.isVisible()
                assert not app.home.news.isVisible()
                assert app.desk.titles == []


async def _organise(stage: RealNetwork, *words: str) -> None:
    where = ("--ledger", stage.url, "--dir", str(stage.folder / "organiser"))
    await stage.command(f"organise-{'-'.join(words[:2])}", *words, *where)


async def _works(app: NewsApp, history: LogHistory) -> None:
    """Take part in two rounds, and read the first list of runs."""

    def lends() -> bool:
        snapshot = app.model.snapshot
        return snapshot is not None and snapshot.decision.state is LendingState.LENDING

    await app.until("it lends", lends)
    while len(history.rounds(RoundClose)) < 2:
        await history.read()
        await app.until("one turn", lambda: True)
        await trio.sleep(TURN_S)
    await app.until("it has points", lambda: _points(app) > 0)
    assert app.settings.settings.knows_runs


def _points(app: NewsApp) -> int:
    return app.model.snapshot.points.total if app.model.snapshot else 0


def _is_in_run(app: NewsApp) -> bool:
    return app.model.snapshot is not None and app.model.snapshot.round is not None


def _text(app: NewsApp, title: str) -> str:
    return next(text for found, text, _ in app.desk.displayed if found == title)


async def _is_announced(app: NewsApp) -> None:
    """The worker meets the statement in the log of its run; the app asks for nothing."""
    await app.until("it is told", lambda: FROM_NETWORK in app.desk.titles)
    assert (FROM_NETWORK, TOLD, "home") in app.desk.displayed
    await app.until("Home shows it", app.home.notices.network.isVisible)
    words = app.home.notices.network.words.text()
    assert words == f"From the organisers of this network: {TOLD}"


async def _until_paused(app: NewsApp, history: LogHistory) -> None:
    while await history.state() != "paused":
        await app.until("one turn", lambda: True)
        await trio.sleep(TURN_S)


async def _is_told_of_the_rollback(app: NewsApp) -> None:
    await app.until("it is told", lambda: BACK in app.desk.titles)
    assert _text(app, BACK).endswith("Your points stay yours.")
    await app.until("Home shows it", app.home.news.isVisible)
    assert app.home.news.title.text() == BACK
    assert app.lists == 1, "one request serves notification and card"
    await app.until("Home shows the announcement", app.home.notices.network.isVisible)
    app.home.notices.network.button.click()
    app.pass_interval()
    await app.until("it asks again", lambda: app.lists == 2)
    assert app.desk.titles.count(BACK) == 1
    assert FROM_NETWORK not in app.desk.titles, "it was told before the app was off"


async def _is_told_of_the_end(app: NewsApp) -> None:
    """The worker reports the end of its run: the app asks at once, without an interval."""
    await app.until("it is told", lambda: ENDED in app.desk.titles)
    text = _text(app, ENDED)
    assert text.startswith("It ended after")
    assert "You earned" in text
    await app.until("Home shows it", lambda: app.home.news.title.text() == ENDED)
    assert app.home.news.choose.isVisible()


async def _shows_the_end_until_it_is_dismissed(app: NewsApp) -> None:
    await app.until("Home shows it", app.home.news.isVisible)
    assert app.home.news.title.text() == ENDED
    assert not app.home.notices.isVisible(), "the announcement was dismissed"
    app.home.news.dismiss.click()
    assert not app.home.news.isVisible()
    assert app.desk.titles == []
