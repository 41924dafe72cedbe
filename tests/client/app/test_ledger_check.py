"""A ledger's address is asked before it is taken."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt

from tequio_client.app import ledger_check
from tequio_client.app.ledger_check import LedgerCheck, network_of
from tequio_client.app.pages.page import Means
from tequio_client.app.pages.settings import Settings
from tequio_client.app.pages.settings_sections import USUAL, AdvancedSection, is_listen
from tequio_client.ipc import control
from tequio_client.ipc.preferences import Preferences
from tequio_shared.ids import sha256, to_text
from tests.support.app_own import own
from tests.support.app_scenes import AGREED, LENDING, NOW_MS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tequio_client.app.model import Model
    from tequio_client.app.pages.page import Own
    from tequio_client.app.theme.look import Look
    from tests.support.app_worker import ScriptedWorker

pytestmark = pytest.mark.usefixtures("look", "language")
GENESIS = b'{"name":"network"}'
NETWORK = json.dumps(
    {"network_id": to_text(sha256(GENESIS)), "genesis": to_text(GENESIS), "origin": "x"}
).encode()


class Server:
    """A web server in a thread that answers everything alike."""

    def __init__(self) -> None:
        outer = self
        self.status, self.content = 200, NETWORK
        self.asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the library's
                outer.asked.append(self.path)
                self.send_response(outer.status)
                self.send_header("content-length", str(len(outer.content)))
                self.end_headers()
                self.wfile.write(outer.content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def program(tmp_path: Path) -> Own:
    return own(tmp_path)


@pytest.fixture
def section(
    model: Model, worker: ScriptedWorker, look: Look, qtbot: QtBot, program: Own
) -> AdvancedSection:
    means = Means(
        model=model, look=look, now_ms=lambda: NOW_MS, open_page=lambda _: None, own=program
    )
    page = Settings(means)
    qtbot.addWidget(page)
    page.resize(914, 720)
    worker.show(LENDING)
    page.open_section("advanced")
    page.show()
    found = page.section
    assert isinstance(found, AdvancedSection)
    return found


@pytest.mark.parametrize(
    ("status", "content", "wrong"),
    [
        (200, NETWORK, ""),
        (404, b"not here", "Something else than a ledger answers"),
        (302, b"", "Something else than a ledger answers"),
        (200, b"<html>hello</html>", "Something else than a ledger answers"),
        (200, NETWORK.replace(b'"network_id": "', b'"network_id": "A'), "Something else"),
    ],
)
def test_an_address_is_asked(
    server: Server, qtbot: QtBot, qapp: QApplication, status: int, content: bytes, wrong: str
) -> None:
    server.status, server.content = status, content
    check = LedgerCheck(qapp)
    with qtbot.waitSignal(check.answered, timeout=90_000) as told:
        check.start(server.url)
    assert told.args is not None
    assert told.args[0] == server.url
    assert told.args[1].startswith(wrong)
    assert bool(told.args[1]) is bool(wrong)
    assert server.asked == ["/v1/network"]


def test_where_nobody_answers_the_address_is_named(qtbot: QtBot, qapp: QApplication) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    check = LedgerCheck(qapp)
    with qtbot.waitSignal(check.answered, timeout=90_000) as told:
        check.start(url)
    assert told.args is not None
    assert told.args[1].startswith(f"{url} does not answer (")


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"])
def test_an_answer_that_drips_for_ever_is_waited_for_once(
    qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(ledger_check, "TIMEOUT_MS", 400)
    done = threading.Event()

    def drip(listener: socket.socket) -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.sendall(head)
                while not done.wait(0.05):
                    connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        dripping = threading.Thread(target=drip, args=(listener,))
        dripping.start()
        check = LedgerCheck()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with qtbot.waitSignal(check.answered, timeout=90_000) as answered:
            check.start(url)
        assert url in answered.args[1]
        done.set()
        dripping.join()


@pytest.mark.parametrize(
    "address",
    [
        "ledger.example",
        "ftp://ledger.example",
        "http://",
        "http://a b",
        "https://me:secret@ledger.example",
    ],
)
def test_what_is_no_address_is_not_asked(qtbot: QtBot, qapp: QApplication, address: str) -> None:
    check = LedgerCheck(qapp)
    with qtbot.waitSignal(check.answered, timeout=90_000) as told:
        check.start(address)
    assert told.args is not None
    assert told.args[1].startswith(f"{address} is no ledger's address")


@pytest.mark.parametrize("answer", [b"", b"{}", b"[]", b"\xff", b'{"network_id":1,"genesis":""}'])
def test_what_is_no_networks_description(answer: bytes) -> None:
    assert network_of(answer) is None
    assert network_of(NETWORK) == sha256(GENESIS)


# --- in the settings


def test_a_ledger_that_answers_is_taken(
    section: AdvancedSection, program: Own, server: Server, qtbot: QtBot
) -> None:
    assert section.said.text() == "https://ledger.example answers."
    assert not section.take.isEnabled()
    qtbot.keyClicks(section.ledger, server.url)
    qtbot.mouseClick(section.take, Qt.MouseButton.LeftButton)
    assert section.said.text().startswith("Asking")
    assert program.book.settings.ledger == ""
    qtbot.waitUntil(lambda: program.book.settings.ledger == server.url, timeout=90_000)
    assert section.said.text().startswith("Taken")
    section.refresh(LENDING)
    assert section.said.text().startswith("Taken")
    new = structs.replace(LENDING.ledger, url=server.url, is_reached=True)
    section.refresh(structs.replace(LENDING, ledger=new))
    assert section.said.text() == f"{server.url} answers."


def test_a_ledger_that_is_none_is_not_taken(
    section: AdvancedSection, program: Own, server: Server, qtbot: QtBot
) -> None:
    server.status = 500
    qtbot.keyClicks(section.ledger, server.url)
    qtbot.keyClick(section.ledger, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Something else" in section.said.text(), timeout=90_000)
    assert section.said.property("tone") == "danger"
    assert program.book.settings.ledger == ""
    section.refresh(LENDING)
    assert section.ledger.text() == server.url
    assert "Something else" in section.said.text()


def test_no_address_is_the_usual_one(section: AdvancedSection, program: Own, qtbot: QtBot) -> None:
    program.book.change(ledger="http://other.example")
    section.refresh(LENDING)
    assert section.ledger.text() == "http://other.example"
    section.ledger.selectAll()
    qtbot.keyClick(section.ledger, Qt.Key.Key_Delete)
    qtbot.keyClick(section.ledger, Qt.Key.Key_Return)
    assert program.book.settings.ledger == ""


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("/ip4/0.0.0.0/tcp/4001", True),
        ("/ip6/::/tcp/4001", True),
        ("/ip4/0.0.0.0/tcp/70000", False),
        ("/ip4/300.0.0.1/tcp/1", False),
        ("0.0.0.0:4001", False),
    ],
)
def test_an_address_to_listen_on(
    section: AdvancedSection, program: Own, qtbot: QtBot, address: str, *, is_one: bool
) -> None:
    assert is_listen(address) is is_one
    qtbot.keyClicks(section.listen, address)
    qtbot.keyClick(section.listen, Qt.Key.Key_Return)
    assert program.book.settings.listen == (address if is_one else "")
    note = section.listen_row.note
    assert note.startswith("Where peers reach" if is_one else f"{address} is no address")


def test_the_log_level_is_kept(section: AdvancedSection, program: Own) -> None:
    section.level.activated.emit(section.level.findData("debug"))
    assert program.book.settings.log_level == "debug"
    section.refresh(LENDING)
    assert section.level.choice == "debug"


def test_all_settings_are_reset_and_taken_back(
    section: AdvancedSection, program: Own, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    program.book.change(nickname="mika", appearance="dark", knows_points=True, notify_rank=False)
    was = program.book.settings
    qtbot.mouseClick(section.reset, Qt.MouseButton.LeftButton)
    told = worker.last(control.Choose)
    assert isinstance(told, control.Choose)
    assert told.preferences == Preferences(consent=True)
    own_now = program.book.settings
    assert (own_now.appearance, own_now.notify_rank) == (USUAL.appearance, True)
    assert (own_now.nickname, own_now.knows_points) == ("mika", True)
    qtbot.mouseClick(section.toast.button, Qt.MouseButton.LeftButton)
    told = worker.last(control.Choose)
    assert isinstance(told, control.Choose)
    assert told.preferences == AGREED
    assert program.book.settings == was
