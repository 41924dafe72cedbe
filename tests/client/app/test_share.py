"""Sharing: the link and the card of the key's own public page, from a real ledger."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx
import pytest
from msgspec.structs import replace
from PySide6.QtGui import QDesktopServices, QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from tequio_client.app.ledger_queries import MOST_BYTES
from tequio_client.app.pages.page import PageContext
from tequio_client.app.pages.points import PointsPage
from tequio_client.app.share import KEY, PNG, RUN, TEAM, ShareDialog, SharedPage, shared_pages
from tequio_client.ipc.account import AskAccount
from tests.client.app.test_ledger_check import FixedAnswerServer
from tests.support.app_scenes import LENDING
from tests.support.app_worker_answers import ACCOUNT
from tests.support.ledgers import make_settings, served
from tests.support.sample_ledger import fill_astray
from tests.support.window_contents import controls, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtCore import QUrl
    from pytestqt.qtbot import QtBot

    from tests.support.app_worker import ScriptedWorker
    from tests.support.ledgers import Served

pytestmark = pytest.mark.usefixtures("theme", "language")
CARD = 1_200, 630
PATIENCE_MS = 30_000
LEDGER = "https://ledger.example/"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("ledger")
    fill_astray(make_settings(folder), time.time_ns() // 1_000_000 - 30_000)
    with served(folder) as running:
        yield running


@pytest.fixture
def server() -> Iterator[FixedAnswerServer]:
    made = FixedAnswerServer()
    yield made
    made.close()


def opened(qtbot: QtBot, pages: dict[str, SharedPage]) -> ShareDialog:
    dialog = ShareDialog(pages)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def ended(qtbot: QtBot, dialog: ShareDialog) -> tuple[str, str]:
    """Wait for the end of a download: its level and its words."""
    qtbot.waitUntil(dialog.trouble.isVisible, timeout=PATIENCE_MS)
    assert dialog.main.isEnabled()
    return str(dialog.trouble.property("level")), dialog.trouble.words.text()


def test_the_cards_and_pages_are_those_of_the_ledger(
    ledger: Served, qtbot: QtBot, tmp_path: Path
) -> None:
    peers, runs = (httpx.get(f"{ledger.url}/v1/{one}").json()[one] for one in ("peers", "runs"))
    account = replace(ACCOUNT, key=peers[0]["key"])
    current = replace(LENDING.round, run=runs[0]["run"]) if LENDING.round else None
    pages = shared_pages(ledger.url, account, current)
    dialog = opened(qtbot, pages)
    for kind in (KEY, RUN):
        dialog.kinds.select(kind)
        dialog.kinds.chosen.emit(kind)
        assert httpx.get(dialog.link.text).status_code == 200
        path = tmp_path / f"{kind}.png"
        dialog.save_card(str(path))
        assert not dialog.main.isEnabled()
        assert ended(qtbot, dialog) == ("good", f"The picture is in {path}.")
        picture = QImage(str(path))
        assert (picture.width(), picture.height()) == CARD
    assert (tmp_path / f"{KEY}.png").read_bytes() != (tmp_path / f"{RUN}.png").read_bytes()


def test_a_key_without_a_page_shares_nothing() -> None:
    assert shared_pages(LEDGER, None, None) == {}
    assert shared_pages(LEDGER, replace(ACCOUNT, standing=""), LENDING.round) == {}
    assert shared_pages("", ACCOUNT, LENDING.round) == {}


def test_a_team_has_a_page_too(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def open_url(url: QUrl) -> bool:
        seen.append(url.toString())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    dialog = opened(qtbot, shared_pages(LEDGER, replace(ACCOUNT, team=412), None))
    assert dialog.kinds.isVisible()
    assert [one for one in controls(dialog) if not name_of(one)] == []
    dialog.kinds.select(TEAM)
    dialog.kinds.chosen.emit(TEAM)
    dialog.link.button.click()
    dialog.open_page.click()
    assert seen == [QGuiApplication.clipboard().text()] == ["https://ledger.example/teams/412"]
    assert dialog.page.card_url == "https://ledger.example/card/teams/412.png"


def test_a_single_page_needs_no_choice(qtbot: QtBot) -> None:
    dialog = opened(qtbot, shared_pages(LEDGER, ACCOUNT, None))
    assert not dialog.kinds.isVisible()
    assert dialog.link.text == f"https://ledger.example/peers/{ACCOUNT.key}"


@pytest.mark.parametrize(
    ("status", "content", "words"),
    [
        (404, b"{}", "The network has no picture of this page (HTTP 404). Copy the link instead."),
        (200, b"<html>", "The network has no picture of this page (HTTP 200)."),
        (200, PNG + bytes(3 * MOST_BYTES), "The picture could not be fetched ("),
    ],
)
def test_what_is_no_card_is_not_saved(
    server: FixedAnswerServer, qtbot: QtBot, tmp_path: Path, status: int, content: bytes, words: str
) -> None:
    server.status, server.content = status, content
    path = tmp_path / "card.png"
    path.write_text("what was here")
    dialog = opened(qtbot, {KEY: SharedPage(server.url, KEY, "k")})
    dialog.save_card(str(path))
    level, said = ended(qtbot, dialog)
    assert level == "error"
    assert said.startswith(words)
    assert server.asked == ["/card/peers/k.png"]
    assert path.read_text() == "what was here"


def test_a_place_that_cannot_be_written_is_named(
    server: FixedAnswerServer, qtbot: QtBot, tmp_path: Path
) -> None:
    server.content = PNG
    dialog = opened(qtbot, {KEY: SharedPage(server.url, KEY, "k")})
    dialog.save_card(str(tmp_path / "nowhere" / "card.png"))
    level, said = ended(qtbot, dialog)
    assert level == "error"
    assert said.startswith(f"{tmp_path / 'nowhere' / 'card.png'} was not written: ")
    assert said.endswith(". Choose another place, or try again.")


def test_closing_the_dialog_ends_its_download(
    server: FixedAnswerServer, qtbot: QtBot, tmp_path: Path
) -> None:
    server.content = PNG
    dialog = opened(qtbot, {KEY: SharedPage(server.url, KEY, "k")})
    dialog.save_card(str(tmp_path / "card.png"))
    dialog.leave.click()
    qtbot.wait(200)
    assert list(tmp_path.iterdir()) == []


def test_the_points_page_shares_once_the_key_has_a_page(
    context: PageContext, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    worker.replies[AskAccount] = replace(ACCOUNT, standing="")
    page = PointsPage(context)
    qtbot.addWidget(page)
    page.show()
    worker.send_snapshot(LENDING)
    page.refresh()
    assert not page.share.isEnabled()
    assert "no public page yet" in page.share.toolTip()
    worker.replies[AskAccount] = ACCOUNT
    page.account.ask()
    assert page.share.isEnabled()
    assert page.share.toolTip() == ""
    page.share.click()
    (dialog,) = page.findChildren(ShareDialog)
    assert dialog.isVisible()
    dialog.choose_file()
    (chooser,) = dialog.findChildren(QFileDialog)
    assert chooser.selectedFiles()[0].endswith(dialog.page.file_name)
    assert chooser.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    chooser.reject()
    dialog.leave.click()
