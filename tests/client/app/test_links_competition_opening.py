"""Links to competitions: written and read, and opened in the app's window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.app import notifications
from tequio_client.app.notifications import NoticeStrip
from tequio_client.app.window import AppWindow
from tequio_client.ipc.competitions import AskCompetitions, CompetitionsReply
from tequio_client.links import CompetitionLink, is_competition_link
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tests.support.app_clock import AppClock
from tests.support.app_competitions import LARGE_RACE, RACE
from tests.support.app_scenes import LENDING

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import AppModel
    from tequio_client.app.theme.look import Theme
    from tests.support.app_worker import ScriptedWorker


pytestmark = pytest.mark.usefixtures("theme", "language")
LEDGER = "https://ledger.example"
LINK = CompetitionLink(ledger=LEDGER, competition=sha256(b"a competition"))


def test_a_link_says_which_competition_at_which_ledger() -> None:
    assert LINK.text() == (f"tequio://competition?ledger={LEDGER}&id={to_text(LINK.competition)}")
    assert CompetitionLink.parse(f" {LINK.text()}\n") == LINK
    assert is_competition_link(LINK.text())
    assert not is_competition_link("tequio://join?ledger=https://ledger.example")


@pytest.mark.parametrize(
    "text",
    [
        "tequio://competition?",
        f"tequio://competition?ledger={LEDGER}",
        f"tequio://competition?ledger={LEDGER}&id=short",
        LINK.text() + "&more=1",
        LINK.text().replace("https", "file"),
        LINK.text().replace(".example", ".example%0A%0AYour computer is locked"),
        LINK.text().replace(".example", ".%E2%80%AEelpmaxe"),
        LINK.text().replace(".example", "." + "x" * 256),
        LINK.text().replace("tequio:", "http:"),
    ],
)
def test_what_is_no_whole_link_is_refused(text: str) -> None:
    with pytest.raises(UserFacingError, match="competition link is incomplete"):
        CompetitionLink.parse(text)


@pytest.fixture
def window(model: AppModel, theme: Theme, qtbot: QtBot, worker: ScriptedWorker) -> AppWindow:
    worker.replies[AskCompetitions] = CompetitionsReply(rows=(RACE, LARGE_RACE))
    made = AppWindow(model, theme, AppClock())
    qtbot.addWidget(made)
    made.show()
    worker.send_snapshot(LENDING)
    return made


def test_the_app_lands_on_the_competition(window: AppWindow) -> None:
    notices = NoticeStrip()
    notifications.open_link(LINK.text(), f"{LEDGER}/", window, notices)
    assert window.page.location == to_text(LINK.competition)
    assert not notices.banners


def test_one_at_another_ledger_or_a_broken_link_is_said_and_nothing_moves(
    window: AppWindow, qtbot: QtBot
) -> None:
    notices = NoticeStrip()
    qtbot.addWidget(notices)
    before = window.page
    notifications.open_link(LINK.text(), "https://other.example", window, notices)
    notifications.open_link(LINK.text()[:-9], LEDGER, window, notices)
    assert window.page is before
    elsewhere, broken = (banner.words.text() for banner in notices.banners.values())
    assert LEDGER in elsewhere
    assert "link is incomplete" in broken
