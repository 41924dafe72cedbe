"""The version of a packaged app that starts: trials, falling back, and what is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client import clock
from tequio_client.platform import versions

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW, NEWEST = "0.1.0", "0.2.0", "0.10.0"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def put(part: versions.Part, *names: str) -> None:
    for name in names:
        versions.folder_of(part, name).mkdir(parents=True)
        versions.program_of(part, name).write_text('#!/bin/sh\necho "$0 $@"')
        versions.program_of(part, name).chmod(0o755)


def started(own: str = OLD) -> str | None:
    program = versions.app_to_start(own)
    return program.parent.name if program else None


def begin_3_minutes_ago() -> None:
    (lock,) = versions.data_folder().rglob("*.lock")
    at_s = clock.now_ms() / 1000 - 180
    os.utime(lock, (at_s, at_s))


def test_without_an_update_the_installed_program_starts() -> None:
    put("app", NEW)  # complete, but never switched to
    assert started() is None


def test_a_new_version_has_two_starts_to_confirm_that_it_works() -> None:
    put("app", NEW)
    versions.switch_to(NEW, running=OLD)
    assert [started(), started(), started(), started()] == [NEW, NEW, None, None]
    assert versions.state().skipped == (NEW,)


def test_a_confirmed_version_starts_for_good() -> None:
    put("app", NEW)
    versions.switch_to(NEW, running=OLD)
    assert started() == NEW
    versions.confirm(NEW)
    assert [started() for _ in range(5)] == [NEW] * 5


def test_a_failed_version_falls_back_to_the_one_before_it() -> None:
    put("app", NEW, NEWEST)
    versions.switch_to(NEW, running=OLD)
    versions.confirm(NEW)
    versions.switch_to(NEWEST, running=NEW)
    assert [started(), started(), started(), started()] == [NEWEST, NEWEST, NEW, NEW]


def test_only_starts_of_the_app_count() -> None:
    put("app", NEW)
    versions.switch_to(NEW, running=OLD)
    for _ in range(5):
        assert versions.app_to_start(OLD, is_counted=False) is not None
    assert [started(), started()] == [NEW, NEW]
    assert versions.app_to_start(OLD, is_counted=False) is not None, "the app may just confirm it"
    assert started() is None


def test_clicks_while_a_new_version_runs_are_no_failed_starts() -> None:
    put("app", NEW)
    versions.switch_to(NEW, running=OLD)
    assert started() == NEW
    with versions.trial_of(NEW):
        assert [started() for _ in range(3)] == [NEW] * 3
        with versions.trial_of(NEW):  # each click starts it, which shows the first one's window
            pass
        assert started() == NEW
    assert [started(), started()] == [NEW, None], "it ended before it had confirmed"


def test_a_new_version_that_hangs_is_given_up_while_it_runs() -> None:
    put("app", NEW)
    versions.switch_to(NEW, running=OLD)
    with versions.trial_of(NEW):
        begin_3_minutes_ago()
    assert started() == NEW
    with versions.trial_of(NEW):
        assert started() == NEW, "it has just begun, whenever an earlier one did"
        begin_3_minutes_ago()
        assert started() == NEW
        with versions.trial_of(NEW):  # hangs as well, and makes the first one no younger
            pass
        assert started() is None
    assert versions.state().skipped == (NEW,)


def test_a_confirmed_version_needs_no_lock() -> None:
    put("app", NEW)
    versions.switch_to(NEW, running=OLD)
    versions.confirm(NEW)
    with versions.trial_of(NEW):
        assert not list(versions.data_folder().rglob("*.lock"))


def test_a_package_of_the_system_that_is_newer_starts_itself() -> None:
    put("app", NEW)
    versions.switch_to(NEW, running=OLD)
    assert started(own=NEWEST) is None


def test_a_version_deleted_by_hand_is_passed_over() -> None:
    versions.switch_to(NEW, running=OLD)
    assert started() is None


@pytest.mark.parametrize("content", [b"", b"{", b'{"current": 3}', b'{"current": "../../evil"}'])
def test_a_damaged_state_starts_the_installed_program(content: bytes) -> None:
    (versions.data_folder() / "app").mkdir(parents=True)
    (versions.data_folder() / "app" / "state.json").write_bytes(content)
    assert started() is None


def test_what_can_start_and_one_before_it_are_kept() -> None:
    put("app", "0.0.8", "0.0.9", NEW)
    put("runtime", "0.0.9", OLD, NEW)
    versions.switch_to(NEW, running=OLD)
    versions.clean_up(NEW)
    assert versions.installed("app") == [NEW]
    assert versions.installed("runtime") == [NEW, OLD]


def test_older_runtimes_stay_until_the_new_one_has_taken_what_it_shares_with_them() -> None:
    put("runtime", OLD)
    versions.clean_up(NEW)  # a package of the system, just upgraded
    assert versions.installed("runtime") == [OLD]
    put("runtime", NEW)
    versions.clean_up(NEW)
    assert versions.installed("runtime") == [NEW]


def test_versions_that_a_newer_package_of_the_system_has_overtaken_are_deleted() -> None:
    put("app", OLD, NEW)
    put("runtime", OLD, NEW, NEWEST)
    versions.switch_to(NEW, running=OLD)
    versions.confirm(NEW)
    versions.clean_up(NEWEST)
    assert (versions.installed("app"), versions.installed("runtime")) == ([], [NEWEST])


def test_downloads_that_never_became_a_version_are_deleted_once_a_newer_one_runs() -> None:
    put("runtime", NEW)
    runtimes = versions.data_folder() / "runtime"
    for version in (OLD, NEW, NEWEST):
        (runtimes / f".{version}.partial").mkdir()
    versions.clean_up(NEW)
    kept = {path.name for path in runtimes.iterdir()}
    assert kept == {NEW, f".{NEW}.partial", f".{NEWEST}.partial"}


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of the shell")
def test_the_program_hands_over_with_its_words() -> None:
    put("app", NEW)
    versions.switch_to(NEW, running=OLD)
    code = "import sys; from tequio_client.platform import versions; "
    code += f"versions.hand_over({OLD!r}, sys.argv[1:]); print('stayed')"
    command = (sys.executable, "-c", code, "status", "--json")
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown == f"{versions.program_of('app', NEW)} status --json\n"
    versions.go_back()
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown == "stayed\n"


def test_programs_started_by_a_package_get_the_variables_of_its_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/package:/of/the/user")
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/of/the/user")
    monkeypatch.setenv("PYINSTALLER_RESET_ENVIRONMENT", "")
    monkeypatch.setenv("QT_PLUGIN_PATH", "/package/plugins")
    monkeypatch.setattr(sys, "platform", "linux")
    versions.restore_environment()
    assert "QT_PLUGIN_PATH" not in os.environ
    assert os.environ["LD_LIBRARY_PATH"] == "/of/the/user"
    monkeypatch.setenv("LD_LIBRARY_PATH", "/package")  # the user had none
    versions.restore_environment()
    assert "LD_LIBRARY_PATH" not in os.environ
    assert os.environ["PYINSTALLER_RESET_ENVIRONMENT"] == "1"
