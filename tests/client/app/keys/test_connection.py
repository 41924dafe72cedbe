"""Linking an account in the app: the code, the wait and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QDesktopServices

from tequio_client.app.keys.account import KeyAccount
from tequio_client.app.keys.connection import ConnectDialog
from tequio_client.app.keys.service import KeyService
from tequio_client.app.model import AppModel
from tequio_client.ipc.account import AskAccount, AskConnection, ConnectionReply, RequestConnection
from tequio_client.ipc.control import AskQuestion
from tequio_shared.ids import to_text
from tests.support.app_scenes import NEW, NOW_MS
from tests.support.app_worker import ScriptedWorker
from tests.support.app_worker_answers import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtCore import QUrl
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.usefixtures("theme", "language")
CODE = ConnectionReply(
    code=to_text(bytes(32)),
    user_code="AAAA-BBBB",
    url="https://github.example/device",
    provider="github.example",
    expires_s=900,
    interval_s=5,
)
URL = "https://connect.example"


@pytest.fixture
def worker() -> ScriptedWorker:
    return ScriptedWorker({AskAccount: ACCOUNT, RequestConnection: CODE})


@pytest.fixture
def dialog(worker: ScriptedWorker, tmp_path: Path, qtbot: QtBot) -> Iterator[ConnectDialog]:
    model = AppModel(worker)
    worker.setParent(model)
    account = KeyAccount(model, lambda: NOW_MS, model)
    worker.send_snapshot(NEW)
    account.poll()
    keys = KeyService(tmp_path / "worker", lambda: NOW_MS, lambda: True)
    made = ConnectDialog(account, keys)
    qtbot.addWidget(made)
    made.open()
    yield made
    keys.close()
    model.deleteLater()


def test_a_code_is_shown_until_it_was_used(
    dialog: ConnectDialog, worker: ScriptedWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited: list[str] = []

    def open_url(url: QUrl) -> bool:
        visited.append(url.toString())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    assert not dialog.main.isEnabled()
    dialog.address.setText(f" {URL} ")
    dialog.main.click()
    assert dialog.code.text == "AAAA-BBBB"
    assert (dialog.timer.isActive(), dialog.timer.interval()) == (True, 5_000)
    dialog.page.click()
    assert visited == [CODE.url]
    worker.replies[AskConnection] = ConnectionReply(code=CODE.code, interval_s=7)
    dialog.timer.timeout.emit()
    assert dialog.timer.interval() == 7_000
    assert not dialog.trouble.isVisible()
    worker.replies[AskConnection] = ConnectionReply(outcome="your key has tier 1")
    dialog.timer.stop()
    dialog.timer.timeout.emit()
    assert not dialog.timer.isActive()
    assert "Your key has tier 1." in dialog.result_line.accessibleName()
    asked = [one.question for one in worker.received if isinstance(one, AskQuestion)]
    assert RequestConnection(connector=URL) in asked
    assert AskConnection(connector=URL, code=CODE.code) in asked
    dialog.main.click()
    assert dialog.result() == dialog.DialogCode.Accepted


def test_a_code_that_nobody_uses_ends(dialog: ConnectDialog, worker: ScriptedWorker) -> None:
    worker.replies[RequestConnection] = ConnectionReply(
        code=CODE.code, user_code="A", url=CODE.url, expires_s=9, interval_s=5
    )
    worker.replies[AskConnection] = ConnectionReply(code=CODE.code, interval_s=5)
    dialog.address.setText(URL)
    dialog.main.click()
    dialog.timer.timeout.emit()
    assert dialog.trouble.isVisible()
    assert "not used in time" in dialog.trouble.accessibleName()


@pytest.mark.parametrize(
    ("typed", "connector"),
    [("connect.example/", URL), ("HTTPS://connect.example", "HTTPS://connect.example")],
)
def test_an_address_is_taken_as_people_write_it(
    dialog: ConnectDialog, worker: ScriptedWorker, typed: str, connector: str
) -> None:
    dialog.address.setText(typed)
    dialog.main.click()
    assert dialog.code.text == "AAAA-BBBB"
    asked = [one.question for one in worker.received if isinstance(one, AskQuestion)]
    assert RequestConnection(connector=connector) in asked


def test_more_than_a_worker_reads_cannot_be_typed(
    dialog: ConnectDialog, worker: ScriptedWorker
) -> None:
    dialog.address.setText(URL)
    dialog.provider.setText("x" * 300)
    dialog.main.click()
    assert dialog.code.text == "AAAA-BBBB"


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("the connector is unavailable", "The connector is unavailable."),
        (
            ConnectionReply(code=CODE.code, interval_s=5, problem="the ledger is busy"),
            "The ledger is busy.",
        ),
    ],
)
def test_a_delay_is_explained_and_waited_for(
    dialog: ConnectDialog, worker: ScriptedWorker, reply: ConnectionReply | str, shown: str
) -> None:
    worker.replies[AskConnection] = reply
    dialog.address.setText(URL)
    dialog.main.click()
    dialog.timer.stop()
    dialog.timer.timeout.emit()
    assert dialog.trouble.words.text() == shown
    assert (dialog.timer.isActive(), dialog.timer.interval()) == (True, 5_000)
    worker.replies[AskConnection] = ConnectionReply(outcome="your key has tier 1")
    dialog.timer.timeout.emit()
    assert not dialog.trouble.isVisible()
