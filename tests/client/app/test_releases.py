"""The app fetches what training needs, and updates, by the real commands from a real mirror."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.app.releases import ReleaseService
from tequio_client.platform import programs, versions
from tequio_client.platform.versions import TRUST_VARIABLE
from tequio_shared.version import BUILD
from tests.support.mirrors import Mirror, package, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000
NEWER = "0.2.0"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with served(tmp_path / "mirror") as made:
        made.create(tmp_path / "keys")
        app, runtime = tmp_path / "app", tmp_path / "runtime"
        package(app, "tequio")
        package(runtime, "tequio-runtime")
        made.publish(BUILD, ("app", "", app), ("runtime", "cpu", runtime))
        monkeypatch.setenv(TRUST_VARIABLE, str(made.trust(tmp_path / "trust")))
        yield made


def has_runtime() -> bool:
    return versions.program_of("runtime", BUILD).is_file()


@pytest.fixture
def service(mirror: Mirror) -> Iterator[ReleaseService]:
    assert mirror.url
    made = ReleaseService(lambda: True, lambda: True, has_runtime=has_runtime)
    yield made
    made.close()


def words(service: ReleaseService) -> str:
    note = service.current_note()
    return note.words if note else ""


def test_the_app_says_what_it_will_download_and_fetches_it_when_told(
    service: ReleaseService, qtbot: QtBot
) -> None:
    service.start()
    qtbot.waitUntil(lambda: "needs a download of" in words(service), timeout=PATIENCE_MS)
    assert not has_runtime()
    said = []
    service.changed.connect(lambda: said.append(words(service)))
    with qtbot.waitSignal(service.runtime_installed, timeout=PATIENCE_MS):
        service.fetch()
    qtbot.waitUntil(lambda: not service.is_fetching, timeout=PATIENCE_MS)
    assert has_runtime()
    assert any("Downloading what training needs: " in one for one in said)
    assert "Testing what was downloaded…" in said
    assert service.current_note() is None


def test_a_mirror_that_is_away_is_said_and_tried_again(
    mirror: Mirror, service: ReleaseService, qtbot: QtBot, tmp_path: Path
) -> None:
    mirror.repository.trust(["http://127.0.0.1:9/"], tmp_path / "trust")
    service.start()
    qtbot.waitUntil(lambda: "does not answer" in words(service), timeout=PATIENCE_MS)
    mirror.trust(tmp_path / "trust")
    with qtbot.waitSignal(service.runtime_installed, timeout=PATIENCE_MS):
        service.fetch()


def test_an_update_comes_by_itself_and_restarts_a_hidden_app(
    mirror: Mirror, service: ReleaseService, qtbot: QtBot, tmp_path: Path
) -> None:
    shutil.copytree(tmp_path / "runtime", versions.folder_of("runtime", BUILD), symlinks=True)
    newer = package(tmp_path / "newer", "tequio", news=b"new")
    mirror.publish(NEWER, ("app", "", newer))
    service.check_mirrors()
    qtbot.waitUntil(lambda: service.ready == NEWER, timeout=PATIENCE_MS)
    assert f"Version {NEWER} is ready" in words(service)
    qtbot.waitUntil(lambda: not service.is_fetching, timeout=PATIENCE_MS)
    with qtbot.waitSignal(service.restart_wanted, timeout=PATIENCE_MS):
        service.check_mirrors()
    assert versions.app_to_start(BUILD) == versions.program_of("app", NEWER)


def test_updates_that_are_switched_off_are_not_looked_for(mirror: Mirror, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "runtime", versions.folder_of("runtime", BUILD), symlinks=True)
    service = ReleaseService(lambda: False, lambda: True, has_runtime=has_runtime)
    service.check_mirrors()
    assert not service.is_fetching
    assert mirror.asked == []
    service.close()


def test_a_program_that_cannot_be_started_is_said(qtbot: QtBot, tmp_path: Path) -> None:
    service = ReleaseService(
        lambda: True,
        lambda: True,
        command=lambda *_: (str(tmp_path / "none"),),
        has_runtime=lambda: False,
    )
    service.fetch()
    qtbot.waitUntil(lambda: bool(service.problem), timeout=PATIENCE_MS)
    service.close()


def test_from_source_there_is_a_runtime() -> None:
    assert programs.has_runtime()


def test_releases_that_the_log_of_the_ledger_contradicts_are_told_at_once(qtbot: QtBot) -> None:
    failed = "print(json.dumps({'event': 'failed', 'reason': ledger, 'is_alarm': True}))"
    script = f"import json, os; ledger = os.environ['TEQUIO_LEDGER']; {failed}"
    service = ReleaseService(
        lambda: True,
        lambda: True,
        ledger=lambda: "https://ledger.example",
        command=lambda *_: (sys.executable, "-c", script),
        has_runtime=lambda: True,
    )
    service.check_mirrors()
    qtbot.waitUntil(lambda: words(service) == "https://ledger.example", timeout=PATIENCE_MS)
    service.close()


def test_a_user_who_wants_an_update_is_told_that_there_is_none(
    mirror: Mirror, service: ReleaseService, qtbot: QtBot, tmp_path: Path
) -> None:
    assert mirror.url
    shutil.copytree(tmp_path / "runtime", versions.folder_of("runtime", BUILD), symlinks=True)
    service.fetch()
    qtbot.waitUntil(lambda: "no newer version" in words(service), timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not service.is_fetching, timeout=PATIENCE_MS)
