"""A ledger's address is asked before it is taken."""

from __future__ import annotations

import dataclasses
import json
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt

from tequio_client.app.ledger_queries import LedgerCheck, proven_network
from tequio_client.app.pages.page import PageContext
from tequio_client.app.pages.settings import SettingsPage
from tequio_client.app.pages.settings_control import (
    APP_DEFAULTS,
    LedgerField,
    ListenField,
    ResetButton,
    are_listen_addresses,
)
from tequio_client.app.settings_file import LISTEN_CHARS
from tequio_client.app.widgets.buttons import Dropdown
from tequio_client.ipc import control
from tequio_client.ipc.preferences import DeviceChoice, Preferences
from tequio_shared.ids import sha256, to_text
from tests.support.app_pages import open_page
from tests.support.app_program import own
from tests.support.app_scenes import AGREED, LENDING, NOW_MS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from tequio_client.app.pages.page import ProgramContext
    from tequio_client.app.pages.settings import SettingsSection
    from tests.support.app_worker import ScriptedWorker


pytestmark = pytest.mark.usefixtures("theme", "language")
GENESIS = b'{"name":"network"}'
NETWORK = json.dumps(
    {
        "name": "first light",
        "network_id": to_text(sha256(GENESIS)),
        "genesis": to_text(GENESIS),
        "origin": "x",
    }
).encode()


class FixedAnswerServer:
    """A web server in a thread that answers everything alike."""

    def __init__(self) -> None:
        outer = self
        self.status, self.content = 200, NETWORK
        self.asked: list[str] = []
        self.cookies: list[str | None] = []  # those that came with each request

        class FixedAnswerHandler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the library's
                outer.asked.append(self.path)
                outer.cookies.append(self.headers.get("cookie"))
                self.send_response(outer.status)
                self.send_header("set-cookie", "id=17; max-age=999999")
                self.send_header("content-length", str(len(outer.content)))
                self.end_headers()
                self.wfile.write(outer.content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), FixedAnswerHandler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[FixedAnswerServer]:
    made = FixedAnswerServer()
    yield made
    made.close()


@pytest.fixture
def program(tmp_path: Path) -> ProgramContext:
    return own(tmp_path)


@pytest.fixture
def page(
    context: PageContext, worker: ScriptedWorker, qtbot: QtBot, program: ProgramContext
) -> SettingsPage:
    made = SettingsPage(dataclasses.replace(context, program=program))
    worker.send_snapshot(LENDING)
    made.open_section("advanced")
    return open_page(made, qtbot)


@pytest.fixture
def section(page: SettingsPage) -> SettingsSection:
    return page.section_of(page.location)


@pytest.mark.parametrize(
    ("status", "content", "wrong"),
    [
        (200, NETWORK, ""),
        (404, b"not here", "is not a ledger"),
        (302, b"", "is not a ledger"),
        (200, b"<html>hello</html>", "is not a ledger"),
        (200, NETWORK.replace(b'"network_id": "', b'"network_id": "A'), "is not a ledger"),
    ],
)
def test_an_address_is_asked(
    server: FixedAnswerServer,
    qtbot: QtBot,
    qapp: QApplication,
    status: int,
    content: bytes,
    wrong: str,
) -> None:
    server.status, server.content = status, content
    check = LedgerCheck(qapp)
    with qtbot.waitSignal(check.answered, timeout=90_000) as reported:
        check.start(server.url)
    assert reported.args is not None
    assert reported.args[0] == server.url
    assert wrong in reported.args[1]
    assert bool(reported.args[1]) is bool(wrong)
    assert server.asked == ["/v1/network"]


def test_no_cookie_is_sent_to_a_ledger(
    server: FixedAnswerServer, qtbot: QtBot, qapp: QApplication
) -> None:
    check = LedgerCheck(qapp)
    for _ in range(2):
        with qtbot.waitSignal(check.answered, timeout=90_000):
            check.start(server.url)
    assert server.cookies == [None, None]


def test_where_nobody_answers_the_address_is_named(qtbot: QtBot, qapp: QApplication) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    check = LedgerCheck(qapp)
    with qtbot.waitSignal(check.answered, timeout=90_000) as reported:
        check.start(url)
    assert reported.args is not None
    assert reported.args[1].startswith(f"Nothing answers at {url}.")
    assert "refused" in check.details


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"])
def test_an_answer_that_drips_for_ever_is_waited_for_once(
    qtbot: QtBot, qapp: QApplication, head: bytes
) -> None:
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
        check = LedgerCheck(timeout_ms=400)
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
    with qtbot.waitSignal(check.answered, timeout=90_000) as reported:
        check.start(address)
    assert reported.args is not None
    assert reported.args[1].startswith(f"{address} is not a valid ledger address")


@pytest.mark.parametrize("answer", [b"", b"{}", b"[]", b"\xff", b'{"network_id":1,"genesis":""}'])
def test_what_is_no_networks_description(answer: bytes) -> None:
    assert proven_network(answer) is None
    assert proven_network(NETWORK) == sha256(GENESIS)


# --- in the settings


def test_the_settings_name_the_network_and_lead_to_another(
    page: SettingsPage, opened_pages: list[str], qtbot: QtBot
) -> None:
    page.open_section("network")
    field = page.section_of("network").controls["ledger"]
    assert isinstance(field, LedgerField)
    assert (field.line.text, field.result.text()) == ("https://ledger.example", "Connected.")
    away = structs.replace(LENDING.ledger, is_reached=False, since_ms=NOW_MS)
    field.refresh(structs.replace(LENDING, ledger=away))
    assert field.result.text().startswith("Not answering now")
    field.refresh(None)
    assert field.result.text() == "Connecting…"
    qtbot.mouseClick(field.change, Qt.MouseButton.LeftButton)
    assert opened_pages == ["join"]


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("/ip4/0.0.0.0/tcp/4001", True),
        ("/ip6/::/tcp/4001", True),
        ("/ip4/0.0.0.0/tcp/4001 /ip6/::/tcp/4001", True),
        ("/ip4/0.0.0.0/tcp/4001 /ip6/::/tcp/70000", False),
        ("/ip4/0.0.0.0/tcp/70000", False),
        ("/ip4/300.0.0.1/tcp/1", False),
        ("0.0.0.0:4001", False),
    ],
)
def test_an_address_to_listen_on(
    section: SettingsSection, program: ProgramContext, qtbot: QtBot, address: str, *, is_one: bool
) -> None:
    listen = section.controls["listen"]
    assert isinstance(listen, ListenField)
    assert are_listen_addresses(address) is is_one
    qtbot.keyClicks(listen.address, address)
    qtbot.keyClick(listen.address, Qt.Key.Key_Return)
    assert program.settings.settings.listen == (address if is_one else "")
    note = section.rows["listen"].note.text()
    assert note.startswith("Where peers reach" if is_one else f"{address} is not a valid listen")


def test_listen_addresses_are_no_longer_than_their_setting(section: SettingsSection) -> None:
    listen = section.controls["listen"]
    assert isinstance(listen, ListenField)
    listen.address.setText("/ip4/0.0.0.0/tcp/4001 " * 12)
    assert len(listen.address.text()) == LISTEN_CHARS


def test_the_log_level_is_kept(section: SettingsSection, program: ProgramContext) -> None:
    level = section.rows["log_level"].control
    assert isinstance(level, Dropdown)
    level.activated.emit(level.findData("debug"))
    assert program.settings.settings.log_level == "debug"
    section.refresh(LENDING)
    assert level.selected == "debug"


def test_all_settings_are_reset_and_taken_back(
    page: SettingsPage, program: ProgramContext, worker: ScriptedWorker, qtbot: QtBot
) -> None:
    program.settings.change(page="points", appearance="dark", knows_points=True, notify_rank=False)
    told = {
        "ledger": "https://ledger.example",
        "knows_runs": True,
        "runs_told": ("a",),
        "run_news": "a",
        "announcement_told": "b",
    }
    program.settings.change(**told)
    devices = (
        DeviceChoice(id="GPU-a", use=False, run="a"),
        DeviceChoice(id="GPU-b", watts=90),
        DeviceChoice(id="cpu", run="b"),
    )
    chosen = structs.replace(AGREED, week=(0,) * 7, month_gb=7, devices=devices)
    worker.send_snapshot(structs.replace(LENDING, preferences=chosen))
    was = program.settings.settings
    reset = page.section_of(page.location).controls["reset"]
    assert isinstance(reset, ResetButton)
    qtbot.mouseClick(reset.button, Qt.MouseButton.LeftButton)
    reported = worker.last(control.SetPreferences)
    assert isinstance(reported, control.SetPreferences)
    kept = (DeviceChoice(id="GPU-a", run="a"),)
    assert reported.preferences == Preferences(consent=True, devices=kept)
    own_now = program.settings.settings
    assert (own_now.appearance, own_now.notify_rank) == (APP_DEFAULTS.appearance, True)
    assert (own_now.page, own_now.knows_points) == ("points", True)
    assert {name: getattr(own_now, name) for name in told} == told
    qtbot.mouseClick(page.toast.button, Qt.MouseButton.LeftButton)
    reported = worker.last(control.SetPreferences)
    assert isinstance(reported, control.SetPreferences)
    assert reported.preferences == chosen
    assert program.settings.settings == was
