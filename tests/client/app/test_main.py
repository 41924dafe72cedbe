"""The app as a program: processes that are started, told and killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from PySide6.QtNetwork import QLocalSocket

from tequio_client.app import settings_file
from tequio_client.app.application import MOST_BYTES, SingleInstance, instance_path
from tequio_client.app.cli import _again, _settings
from tequio_client.app.cli import app as app_command
from tequio_client.app.main import _choice
from tequio_client.app.model import AppModel
from tequio_client.app.theme.look import Appearance
from tequio_client.app.worker.process import WorkerProcess, worker_command
from tequio_client.cli import default_folder
from tequio_client.control_socket import WorkerCall
from tequio_client.ipc import control
from tequio_client.ipc.preferences import Preferences
from tequio_client.keys import identity
from tequio_client.ledger.networks import NETWORKS_FILE
from tequio_client.platform import versions
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.version import BUILD
from tests.support.app_process import (
    NOWHERE,
    PATIENCE_S,
    AppProcess,
    children,
    is_alive,
    wait_until,
)
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tequio_client.ipc.snapshot import Snapshot


FORBIDDEN = ("numpy", "torch", "trio", "libp2p", "httpx", "sqlalchemy", "asyncio", "rich", "email")
"""The last three come with structlog and importlib.metadata: 16 MB for one line of text."""


def python(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environ = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_RUNTIME_DIR": str(folder),
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/no-bus",
    }
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE_S,
        env=environ,
    )


APP = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from tequio_client.app import application, main
from tequio_client.app.worker import process
from tequio_client.app.errors import ErrorHooks
folder = Path({folder!r})
options = main.AppOptions(ledger=None, folder=folder,
                       settings=folder, is_background=True, restart_options=("--dir", str(folder)))
process.worker_command = main.worker_command = lambda ledger, folder: (
    sys.executable, "-m", "tests.support.app_worker_program", "good", str(folder))
qt, faults = application.make_application(), ErrorHooks()
faults.install()
app = main.App(qt, options, faults)
app.start()
"""
END = """
qt.exec()
app.close()
"""


def test_the_app_loads_nothing_heavy_and_no_window_in_the_background(tmp_path: Path) -> None:
    look = """
    def look():
        print(*[name for name in {forbidden} if name in sys.modules])
        print("tequio_client.app.window" in sys.modules)
        app.presence.open("home")
        print(*[name for name in {forbidden} if name in sys.modules])
        app.quit()
    app.model.snapshot_changed.connect(lambda _: QTimer.singleShot(500, look))
    """
    program = APP.format(folder=str(tmp_path)) + textwrap.dedent(look).format(forbidden=FORBIDDEN)
    done = python(program + END, tmp_path)
    assert done.stdout.splitlines()[:3] == ["", "False", ""], done.stderr
    assert done.returncode == 0


def test_before_the_worker_answers_its_stored_preferences_are_known(tmp_path: Path) -> None:
    (tmp_path / "preferences.json").write_text('{"consent": true, "month_gb": 30}')
    program = APP.format(folder=str(tmp_path)).replace("settings=folder", "settings=folder / 'app'")
    done = python(f"{program}\nprint(app.model.preferences.month_gb)\napp.close()", tmp_path)
    assert done.stdout.split() == ["30"], done.stderr


def test_an_exception_in_a_slot_shows_a_report_and_the_app_goes_on(tmp_path: Path) -> None:
    fail = """
    def fail():
        raise ValueError("the slot failed")
    def look():
        dialog = app.error_reports.dialog
        print(dialog.isVisible(), "ValueError: the slot failed" in dialog.report.toPlainText())
        app.quit()
    QTimer.singleShot(0, fail)
    QTimer.singleShot(1500, look)
    """
    program = APP.format(folder=str(tmp_path)) + textwrap.dedent(fail) + END
    done = python(program, tmp_path)
    assert done.stdout.split() == ["True", "True"], done.stderr
    assert done.returncode == 0


def test_no_update_restarts_an_app_that_would_ask_for_a_passphrase(tmp_path: Path) -> None:
    make = """
    from tequio_client.keys.state import KeyProtection
    print(app._would_not_disturb())
    def made(state):
        print(state.protection, app._would_not_disturb())
        app.quit()
    app.keys.make(KeyProtection.PASSPHRASE, "correct horse battery", made, print)
    """
    done = python(APP.format(folder=str(tmp_path)) + textwrap.dedent(make) + END, tmp_path)
    assert done.stdout.split() == ["True", "passphrase", "False"], done.stderr


def test_a_link_is_asked_about_however_it_comes(tmp_path: Path) -> None:
    ask = """
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QFileOpenEvent
    qt.link_received.connect(app.open_link)
    def ask():
        link = QUrl("tequio://join?ledger=http://127.0.0.1:9&key=x")
        qt.sendEvent(qt, QFileOpenEvent(link))
        dialog = app.invitation.dialog
        print(app.presence.window.isVisible(), "link is incomplete" in dialog.trouble.words.text())
        qt.sendEvent(qt, QFileOpenEvent(QUrl("file:///etc/passwd")))
        print(app.invitation.dialog is dialog)
        app.quit()
    QTimer.singleShot(0, ask)
    """
    done = python(APP.format(folder=str(tmp_path)) + textwrap.dedent(ask) + END, tmp_path)
    assert done.stdout.split() == ["True", "True", "True"], done.stderr
    assert done.returncode == 0


def test_a_link_of_a_team_shows_the_team_before_it_joins(tmp_path: Path) -> None:
    ask = """
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QFileOpenEvent
    from tequio_client.app.keys.team import TeamDialog
    qt.link_received.connect(app.open_link)
    text = "tequio://team?ledger=http://127.0.0.1:9&network=x&id=5&key=y"
    def ask():
        qt.sendEvent(qt, QFileOpenEvent(QUrl(text)))
        dialog, = app.presence.window.findChildren(TeamDialog)
        print(dialog.isVisible(), dialog.entry.link.text() == text, dialog.main.text())
        app.quit()
    QTimer.singleShot(0, ask)
    """
    done = python(APP.format(folder=str(tmp_path)) + textwrap.dedent(ask) + END, tmp_path)
    assert done.stdout.split() == ["True", "True", "Look", "at", "the", "team"], done.stderr
    assert done.returncode == 0


def test_a_link_of_a_web_page_asks_before_it_joins(tmp_path: Path) -> None:
    ask = """
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QFileOpenEvent
    from tequio_client.app.networks import JoinNetworkDialog
    qt.link_received.connect(app.open_link)
    def ask():
        link = QUrl("tequio://join?ledger=http%3A//127.0.0.1%3A9")
        qt.sendEvent(qt, QFileOpenEvent(link))
        dialog, = app.presence.window.findChildren(JoinNetworkDialog)
        used = app.settings_store.settings.ledger or "none"
        print(dialog.isVisible(), dialog.chooser.line.text(), used)
        app.quit()
    QTimer.singleShot(0, ask)
    """
    done = python(APP.format(folder=str(tmp_path)) + textwrap.dedent(ask) + END, tmp_path)
    assert done.stdout.split() == ["True", "http://127.0.0.1:9", "none"], done.stderr
    assert done.returncode == 0


def test_the_first_run_chooses_the_run_whose_page_opened_the_app(tmp_path: Path) -> None:
    ask = """
    from tequio_client.app.networks import JoinNetworkDialog
    run = "A" * 43
    def ask():
        app.open_link(f"tequio://join?ledger=http://127.0.0.1:9&run={run}")
        dialog, = app.presence.window.findChildren(JoinNetworkDialog)
        dialog.chooser.chosen.emit("http://127.0.0.1:9", "demo")
        print(app._first_run.draft_store.draft.run == run)
        app.quit()
    QTimer.singleShot(0, ask)
    """
    done = python(APP.format(folder=str(tmp_path)) + textwrap.dedent(ask) + END, tmp_path)
    assert done.stdout.split() == ["True"], done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("way", ["app.session.ending.emit()", "app.tray.quit_requested.emit()"])
def test_the_end_of_the_session_is_a_goodbye(way: str, tmp_path: Path) -> None:
    end = f"""
    app.model.snapshot_changed.connect(lambda _: QTimer.singleShot(200, lambda: {way}))
    """
    program = APP.format(folder=str(tmp_path)) + textwrap.dedent(end) + END
    done = python(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "QProcess" not in done.stderr
    heard = [
        control.decode_to_worker(line)
        for line in (tmp_path / "heard").read_bytes().split(b"\n")[:-1]
    ]
    assert heard[-1] == control.EndWorker()
    told = next(
        one for one in heard if isinstance(one, control.ReportSessionFacts) and one.facts.health
    )
    assert {"idle", "fullscreen", "lock"} <= {fact.name for fact in told.facts.health}


def test_settings_are_followed_at_once(tmp_path: Path) -> None:
    change = """
    from tequio_client.app.theme.look import current_tokens
    from tequio_client.app.theme.style import DARK, LIGHT
    commands = []
    app.worker.set_command = commands.append
    main.worker_command = lambda ledger, folder: (ledger,)
    app.settings_store.change(appearance="light", language="es", ledger="https://other.example")
    print(current_tokens() is LIGHT, app.model.tr("x") == "x", commands)
    app.close()
    """
    program = APP.format(folder=str(tmp_path)) + textwrap.dedent(change)
    done = python(program, tmp_path)
    assert done.stdout.strip() == "True True [('https://other.example',)]", done.stderr


def test_another_network_is_kept_and_the_old_one_forgotten(tmp_path: Path) -> None:
    join = """
    from tequio_client.ipc.runs import AskRuns
    from tequio_client.ledger.networks import known_networks
    app.presence.open("runs")
    app.model._replies[AskRuns()] = "of the old ledger"
    page = app.presence.window.page
    app.presence.window.open_page("join")
    dialog = app.presence.window.findChild(object, "join-network")
    print(dialog.isVisible())
    dialog.chooser.chosen.emit("https://new.example", "first light")
    notices = [one.words.text() for one in app.presence.window.menuWidget().banners.values()]
    print(app.settings_store.settings.ledger, notices)
    print(known_networks(folder)[0].url, app.model.reply(AskRuns()))
    print(app.presence.window.page is page, app.presence.window.page_name)
    app.close()
    """
    program = APP.format(folder=str(tmp_path)) + textwrap.dedent(join)
    done = python(program, tmp_path)
    assert done.stdout.splitlines() == [
        "True",
        "https://new.example ['You joined first light.']",
        "https://new.example None",
        "False runs",
    ], done.stderr


def test_a_network_is_joined_beside_a_damaged_list(tmp_path: Path) -> None:
    (tmp_path / NETWORKS_FILE).write_bytes(b"{torn")
    join = """
    app.presence.open("home")
    app.presence.window.open_page("join")
    dialog = app.presence.window.findChild(object, "join-network")
    dialog.chooser.chosen.emit("https://new.example", "first light")
    print(app.settings_store.settings.ledger)
    app.close()
    """
    done = python(APP.format(folder=str(tmp_path)) + textwrap.dedent(join), tmp_path)
    assert done.stdout.strip() == "https://new.example", done.stderr
    assert (tmp_path / NETWORKS_FILE).read_bytes() == b"{torn"


def test_the_ledger_of_the_first_run_is_kept(tmp_path: Path) -> None:
    finish = """
    from dataclasses import replace
    app._options = replace(app._options, ledger="https://named.example")
    app._first_run_controller().finished.emit()
    print(app.settings_store.settings.ledger)
    app.close()
    """
    done = python(APP.format(folder=str(tmp_path)) + textwrap.dedent(finish), tmp_path)
    assert done.stdout.strip() == "https://named.example", done.stderr


def test_without_a_network_the_worker_gets_none(tmp_path: Path) -> None:
    show = """
    main.worker_command = lambda ledger, folder: (ledger,)
    print(app._command(app.settings_store.settings))
    app.close()
    """
    done = python(APP.format(folder=str(tmp_path)) + textwrap.dedent(show), tmp_path)
    assert done.stdout.strip() == "('none:',)", done.stderr


def test_corrupted_settings_are_told_in_the_window(tmp_path: Path) -> None:
    (tmp_path / settings_file.PREFERENCES_FILE).write_bytes(b"{torn")
    look = """
    app.presence.open()
    print([one.words.text() for one in app.presence.window.menuWidget().banners.values()])
    app.close()
    """
    program = APP.format(folder=str(tmp_path)) + textwrap.dedent(look)
    done = python(program, tmp_path)
    assert "preferences.json.damaged" in done.stdout, done.stderr


@pytest.mark.parametrize("name", [*Appearance, "of another version"])
def test_every_appearance_is_one_we_have(name: str) -> None:
    assert _choice(name) in Appearance


def test_a_start_at_login_starts_what_was_started(tmp_path: Path) -> None:
    for said in ([], ["--dir", str(tmp_path)]):
        first = app_command.make_context("app", list(said)).params
        words = _again(first["folder"])
        assert app_command.make_context("app", list(words)).params == first
    assert _again(default_folder("worker")) == ()


def test_the_entry_for_the_login_says_what_the_command_line_said(tmp_path: Path) -> None:
    look = """
    import os
    os.environ["XDG_CONFIG_HOME"] = str(folder)
    app.program_context().autostart.turn_on()
    print((folder / "autostart" / "tequio.desktop").read_text())
    app.close()
    """
    program = APP.format(folder=str(tmp_path)) + textwrap.dedent(look)
    done = python(program, tmp_path)
    assert f"app --dir {tmp_path} --background\n" in done.stdout, done.stderr


def test_a_folder_of_its_own_has_settings_of_its_own(tmp_path: Path) -> None:
    assert _settings(tmp_path) == tmp_path / "settings"
    assert _settings(default_folder("worker")).name == "tequio"


# --- with the real worker


def test_a_killed_app_leaves_no_worker_behind(tmp_path: Path) -> None:
    with AppProcess(tmp_path, "--background") as app:
        wait_until((app.folder / "control.json").exists, PATIENCE_S)
        (worker,) = app.workers()
        below = children(worker)
        assert is_alive(worker)
        app.process.kill()
        wait_until(lambda: not is_alive(worker), allowed_s(2))
        wait_until(lambda: not any(map(is_alive, below)), allowed_s(1))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_app_that_is_told_to_end_ends_its_worker_first(
    number: signal.Signals, tmp_path: Path
) -> None:
    with AppProcess(tmp_path, "--background") as app:
        wait_until((app.folder / "control.json").exists, PATIENCE_S)
        (worker,) = app.workers()
        app.process.send_signal(number)
        assert app.process.wait(allowed_s(8)) == 0
        assert not is_alive(worker)
        assert not (app.folder / "control.json").exists()
        assert "QProcess" not in app.log()
        assert "stopping: app gone" in (app.folder / "worker.log").read_text()


def test_the_second_start_raises_the_first_and_ends(tmp_path: Path) -> None:
    with AppProcess(tmp_path, "--background") as app:
        wait_until((app.folder / "control.json").exists, PATIENCE_S)
        assert app.start().wait(PATIENCE_S) == 0
        assert app.start("--background").wait(PATIENCE_S) == 0
        assert app.process.poll() is None
        assert len(app.workers()) == 1


def test_clicks_while_a_new_version_starts_do_not_give_it_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    program = versions.program_of("app", BUILD)
    program.parent.mkdir(parents=True)
    program.touch()
    versions.switch_to(BUILD, running="0.0.1")
    assert versions.app_to_start("0.0.1") == program
    with AppProcess(tmp_path, "--background") as app:
        wait_until((app.folder / "control.json").exists, PATIENCE_S)
        assert [versions.app_to_start("0.0.1") for _ in range(2)] == [program] * 2
        assert app.start().wait(PATIENCE_S) == 0
        assert versions.app_to_start("0.0.1") == program
    assert versions.state().starts == 1


def test_an_app_starts_where_another_was_killed(tmp_path: Path) -> None:
    with AppProcess(tmp_path, "--background") as first:
        wait_until((first.folder / "control.json").exists, PATIENCE_S)
        first.process.kill()
        first.process.wait()
    with AppProcess(tmp_path, "--background") as second:
        wait_until(lambda: _answers(second.folder), PATIENCE_S)
        assert second.process.poll() is None


def _answers(folder: Path) -> bool:
    if not (folder / "control.json").exists():
        return False
    try:
        with WorkerCall.to(folder) as call:
            return call.snapshot().ledger.url == NOWHERE
    except Exception:  # noqa: BLE001 - it may just be starting or ending
        return False


@contextmanager
def worker_in(folder: Path) -> Iterator[WorkerProcess]:
    def seed() -> bytes | None:
        return bytes(range(32))

    worker = WorkerProcess(worker_command(NOWHERE, folder), folder, seed)
    try:
        yield worker
    finally:
        worker.close()


def test_the_real_worker_shows_itself_and_does_what_is_wished(tmp_path: Path, qtbot: QtBot) -> None:
    with worker_in(tmp_path) as worker:
        model = AppModel(worker)
        worker.start()
        qtbot.waitUntil(lambda: model.snapshot is not None, timeout=90_000)
        model.set_preferences(Preferences(consent=True, idle_minutes=11))
        model.contribute()
        qtbot.waitUntil(lambda: _shown(model).wish.lend, timeout=90_000)
        qtbot.waitUntil(lambda: _shown(model).preferences.idle_minutes == 11, timeout=90_000)
        qtbot.waitUntil(lambda: "127.0.0.1:9" in _shown(model).ledger.problem, timeout=90_000)
        model.pause()
        qtbot.waitUntil(lambda: not _shown(model).wish.lend, timeout=90_000)
        pid = worker.pid
        signer = Signer(bytes(range(32)))
        assert not (tmp_path / identity.KEY_FILE).exists()
        status = _shown(model).status
        assert status is None or status.key == to_text(signer.key)
        worker.close()
        assert not is_alive(pid)


def _shown(model: AppModel) -> Snapshot:
    assert model.snapshot is not None
    return model.snapshot


def test_a_worker_that_runs_already_is_visited_and_stays(tmp_path: Path, qtbot: QtBot) -> None:
    command = [
        sys.executable,
        "-m",
        "tequio_client",
        "worker",
        "--apply-preferences",
        "--ledger",
        NOWHERE,
    ]
    with (tmp_path / "headless.log").open("wb") as log:
        headless = subprocess.Popen([*command, "--dir", str(tmp_path / "w")], stderr=log)
    try:
        wait_until((tmp_path / "w" / "control.json").exists, PATIENCE_S)
        with worker_in(tmp_path / "w") as worker:
            model = AppModel(worker)
            with qtbot.waitSignal(worker.external_changed, timeout=90_000) as visiting:
                worker.start()
            assert visiting.args == [True]
            qtbot.waitUntil(lambda: model.snapshot is not None, timeout=90_000)
            assert worker.is_external
            assert worker.pid == 0
            model.pause()
            qtbot.waitUntil(lambda: _shown(model).wish == model.desired, timeout=90_000)
        time.sleep(0.5)
        assert headless.poll() is None
    finally:
        headless.terminate()
        headless.wait(PATIENCE_S)


def test_when_the_visited_worker_ends_our_own_is_started(tmp_path: Path, qtbot: QtBot) -> None:
    command = [
        sys.executable,
        "-m",
        "tequio_client",
        "worker",
        "--apply-preferences",
        "--ledger",
        NOWHERE,
    ]
    with (tmp_path / "headless.log").open("wb") as log:
        headless = subprocess.Popen([*command, "--dir", str(tmp_path / "w")], stderr=log)
    try:
        wait_until((tmp_path / "w" / "control.json").exists, PATIENCE_S)
        with worker_in(tmp_path / "w") as worker:
            model = AppModel(worker)
            worker.start()
            qtbot.waitUntil(lambda: model.snapshot is not None, timeout=90_000)
            headless.terminate()
            qtbot.waitUntil(lambda: worker.pid != 0 and model.snapshot is not None, timeout=90_000)
            assert not worker.is_external
    finally:
        headless.terminate()
        headless.wait(PATIENCE_S)


# --- one instance


def test_only_one_is_the_first_and_it_hears_of_the_others(tmp_path: Path, qtbot: QtBot) -> None:
    first, second = SingleInstance(str(tmp_path / "i")), SingleInstance(str(tmp_path / "i"))
    assert first.acquire()
    assert not second.acquire()
    socket_path = tmp_path / "i.socket"
    assert socket_path.stat().st_mode & 0o077 == 0
    with qtbot.waitSignal(first.show_requested):
        asked = QLocalSocket()
        asked.connectToServer(str(socket_path))
        assert asked.waitForConnected(1_000)
        asked.write(b"ra")
        asked.flush()
        qtbot.wait(20)
        asked.write(b"ise\n")
        asked.flush()
    asked.abort()
    first.close()
    assert second.acquire()
    second.close()


def test_nonsense_at_the_socket_raises_nobody(tmp_path: Path, qtbot: QtBot) -> None:
    first = SingleInstance(str(tmp_path / "i"))
    assert first.acquire()
    with qtbot.assertNotEmitted(first.show_requested, wait=100):
        for said in (b"lower\n", b"x" * (MOST_BYTES * 10)):
            caller = socket.socket(socket.AF_UNIX)
            caller.connect(str(tmp_path / "i.socket"))
            caller.sendall(said)
            qtbot.wait(50)
            caller.close()
    first.close()


def test_a_socket_that_a_killed_app_left_is_taken_over(tmp_path: Path, qtbot: QtBot) -> None:
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(tmp_path / "i.socket"))
    stale.close()
    first = SingleInstance(str(tmp_path / "i"))
    assert first.acquire()
    with qtbot.waitSignal(first.show_requested):
        caller = socket.socket(socket.AF_UNIX)
        caller.connect(str(tmp_path / "i.socket"))
        caller.sendall(b"raise\n")
    caller.close()
    first.close()


def test_a_first_that_does_not_answer_is_said_so(tmp_path: Path) -> None:
    place_name = str(tmp_path / "i")
    assert not SingleInstance(place_name).notify_first()


def test_each_folder_has_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert instance_path(tmp_path / "a") != instance_path(tmp_path / "b")
    assert instance_path(tmp_path / "a") == instance_path(tmp_path / "a")
    assert instance_path(tmp_path / "a").startswith(str(tmp_path))
