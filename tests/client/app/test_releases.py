"""The app fetches what training needs, and updates, by the real commands from a real mirror."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.app.releases import ReleaseService
from tequio_client.ipc.snapshot import Decision, LendingReason, LendingState, Snapshot
from tequio_client.platform import programs, versions
from tequio_client.platform.versions import TRUST_VARIABLE
from tequio_client.worker.children import runtime_trial
from tequio_shared.version import BUILD
from tests.support.mirrors import NEWER, Mirror, package, served
from tests.support.update_rules import update_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000


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
    made = ReleaseService(update_rules(), has_runtime=has_runtime)
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


def test_a_runtime_is_not_fetched_before_its_size_was_shown(
    mirror: Mirror, service: ReleaseService, qtbot: QtBot
) -> None:
    """The first run may end before the mirrors have answered."""
    service.fetch_runtime()
    qtbot.waitUntil(lambda: "needs a download of" in words(service), timeout=PATIENCE_MS)
    assert not service.is_fetching
    assert chunks_asked(mirror) == []
    with qtbot.waitSignal(service.runtime_installed, timeout=PATIENCE_MS):
        service.fetch_runtime()
    assert chunks_asked(mirror)


def test_a_mirror_that_is_away_is_said_and_tried_again(
    mirror: Mirror, service: ReleaseService, qtbot: QtBot, tmp_path: Path
) -> None:
    mirror.repository.trust(["http://127.0.0.1:9/"], tmp_path / "trust")
    service.start()
    qtbot.waitUntil(lambda: "cannot be reached" in words(service), timeout=PATIENCE_MS)
    mirror.trust(tmp_path / "trust")
    service.fetch()
    qtbot.waitUntil(lambda: "needs a download of" in words(service), timeout=PATIENCE_MS)
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
    service = ReleaseService(update_rules(may_look=lambda: False), has_runtime=has_runtime)
    service.check_mirrors()
    assert not service.is_fetching
    assert mirror.asked == []
    service.close()


def test_a_program_that_cannot_be_started_is_said(qtbot: QtBot, tmp_path: Path) -> None:
    service = ReleaseService(
        update_rules(),
        command=lambda *_: (str(tmp_path / "none"),),
        has_runtime=lambda: False,
    )
    service.fetch()
    qtbot.waitUntil(lambda: bool(service.problem), timeout=PATIENCE_MS)
    service.close()


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_program_that_dies_without_a_word_is_said(qtbot: QtBot, end: str) -> None:
    service = ReleaseService(
        update_rules(),
        command=lambda *_: (sys.executable, "-c", f"import os; {end}"),
        has_runtime=lambda: True,
    )
    service.fetch()
    qtbot.waitUntil(lambda: not service.is_fetching, timeout=PATIENCE_MS)
    assert "stopped unexpectedly" in words(service)
    service.close()


def test_from_source_there_is_a_runtime() -> None:
    assert programs.has_runtime()


def test_releases_that_the_log_of_the_ledger_contradicts_are_told_at_once(qtbot: QtBot) -> None:
    failed = "print(json.dumps({'event': 'failed', 'reason': ledger, 'is_alarm': True}))"
    script = f"import json, os; ledger = os.environ['TEQUIO_LEDGER']; {failed}"
    service = ReleaseService(
        update_rules(),
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


def test_the_version_before_is_ready_once_the_worker_has_put_the_runtime_aside(
    service: ReleaseService, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Decision(state=LendingState.ATTENTION, reason=LendingReason.TRAINER_BROKEN)
    monkeypatch.setattr("tequio_client.app.releases.BUILD", NEWER)
    service.follow_trainer(Snapshot(decision=broken))
    assert service.ready == "", "it is broken, and no runtime was put aside"
    service.follow_trainer(Snapshot())
    for part in versions.PROGRAMS:
        for version in (BUILD, NEWER):
            versions.folder_of(part, version).mkdir(parents=True)
            versions.program_of(part, version).touch()
    versions.switch_to(NEWER, running=BUILD)
    assert [runtime_trial.record_crash(NEWER, -1) for _ in range(3)][-1] == BUILD
    service.follow_trainer(Snapshot(decision=broken))
    assert words(service).startswith(f"Version {BUILD} is ready")


def held(reason: LendingReason, **values: str | int) -> Decision:
    return Decision(state=LendingState.WAITING, reason=reason, values=dict(values))


class Against:
    """A rule of updates; `found` is what speaks against a step now."""

    def __init__(self, found: Decision | None = None) -> None:
        self.found = found

    def __call__(self) -> Decision | None:
        return self.found


def publish_update(mirror: Mirror, folder: Path) -> None:
    shutil.copytree(folder / "runtime", versions.folder_of("runtime", BUILD), symlinks=True)
    newer = package(folder / "newer", "tequio", news=b"new")
    mirror.publish(NEWER, ("app", "", newer))


def chunks_asked(mirror: Mirror) -> list[str]:
    return [path for path in mirror.asked if "/chunks/" in path]


def test_an_update_waits_for_the_network_then_for_the_user_to_be_away(
    mirror: Mirror, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    monkeypatch.setenv("TEQUIO_SEEN", str(seen))
    publish_update(mirror, tmp_path)
    network = Against(held(LendingReason.METERED))
    user = Against(held(LendingReason.IN_USE, minutes=5))
    rules = update_rules(against_download=network, against_trial=user)
    service = ReleaseService(rules, has_runtime=has_runtime)
    service.check_mirrors()
    qtbot.waitUntil(lambda: service.held is not None, timeout=PATIENCE_MS)
    note = service.current_note()
    assert note is not None
    assert note.words == (
        f"Downloading version {NEWER}… This network is metered. Resumes on another network."
    )
    assert note.button == "Update now"
    assert chunks_asked(mirror) == []
    service.check_mirrors()
    assert not service.is_fetching, "the rule still speaks against it"
    network.found = None
    service.check_mirrors()
    qtbot.waitUntil(lambda: "You are using the computer" in words(service), timeout=PATIENCE_MS)
    assert words(service).startswith("Testing what was downloaded… ")
    asked = chunks_asked(mirror)
    assert asked
    assert not seen.exists(), "no program of the update was started"
    assert versions.app_to_start(BUILD) is None
    user.found = None
    service.check_mirrors()
    qtbot.waitUntil(lambda: service.ready == NEWER, timeout=PATIENCE_MS)
    assert chunks_asked(mirror) == asked, "what was downloaded is not fetched again"
    assert "--selftest" in seen.read_text()
    service.close()


def test_a_person_who_wants_the_update_does_not_wait_for_the_rules(
    mirror: Mirror, qtbot: QtBot, tmp_path: Path
) -> None:
    publish_update(mirror, tmp_path)
    always = Against(held(LendingReason.LENDING))
    rules = update_rules(against_download=always, against_trial=always)
    service = ReleaseService(rules, has_runtime=has_runtime)
    service.check_mirrors()
    qtbot.waitUntil(lambda: service.held is not None, timeout=PATIENCE_MS)
    assert words(service).endswith(
        "It starts while you are away and no round is running; if a passphrase protects your key, "
        "the next time Tequio starts."
    )
    service.fetch()
    assert not service.is_automatic
    qtbot.waitUntil(lambda: service.ready == NEWER, timeout=PATIENCE_MS)
    service.close()


def test_a_game_ends_a_trial_that_began_by_itself(qtbot: QtBot, tmp_path: Path) -> None:
    offer = {"event": "offer", "version": NEWER, "installed": BUILD, "app_bytes": 1}
    downloaded = {"event": "downloaded", "version": NEWER}
    started = tmp_path / "started"
    trial = f"open({str(started)!r}, 'w').close(); time.sleep(600)"

    def command(*asked: str) -> tuple[str, ...]:
        lines = [offer, downloaded] if "--download" in asked else [offer]
        said = "; ".join(f"print({json.dumps(one)!r})" for one in lines)
        is_step = "--check" in asked or "--download" in asked
        return (sys.executable, "-c", said if is_step else f"import time; {trial}", *asked)

    rule = Against()
    service = ReleaseService(
        update_rules(against_trial=rule), command=command, has_runtime=lambda: True
    )
    service.check_mirrors()
    seen: list[bool] = []
    service.changed.connect(lambda: seen.append(service.is_automatic))
    qtbot.waitUntil(started.exists, timeout=PATIENCE_MS)
    assert seen[-1:] == [True]
    rule.found = held(LendingReason.GAME, program="doom")
    qtbot.waitUntil(lambda: not service.is_fetching, timeout=PATIENCE_MS)
    assert seen[-1:] == [False]
    assert "A game is running (doom)" in words(service)
    service.close()


def test_a_download_by_itself_keeps_to_the_limit_of_the_settings(
    qtbot: QtBot,
) -> None:
    asked: list[tuple[str, ...]] = []
    offer = {"event": "offer", "version": NEWER, "installed": BUILD, "app_bytes": 1}

    def command(*words: str) -> tuple[str, ...]:
        asked.append(words)
        return (sys.executable, "-c", f"print({json.dumps(offer)!r})", *words)

    rules = update_rules(most_mbit=lambda: 2.5)
    service = ReleaseService(rules, command=command, has_runtime=lambda: True)
    service.check_mirrors()
    qtbot.waitUntil(lambda: len(asked) == 2 and not service.is_fetching, timeout=PATIENCE_MS)
    assert asked == [("update", "--check"), ("update", "--download", "--most-mbit", "2.5")]
    service.close()
