"""A new runtime that crashes again and again in training gives way to the version before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tequio_client.platform import programs, runtime_trial, versions
from tequio_client.platform.runtime_trial import MOST_CRASHES, begin, record_crash
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "0.1.0", "0.2.0"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def put(part: versions.Part, name: str) -> None:
    versions.folder_of(part, name).mkdir(parents=True)
    versions.program_of(part, name).write_text("#!/bin/sh\n")


def update() -> None:
    """Install NEW beside OLD, each with its runtime, and confirm that NEW's app works."""
    for part in versions.PROGRAMS:
        for name in (OLD, NEW):
            put(part, name)
    versions.switch_to(NEW, running=OLD)
    versions.confirm(NEW)


def crash_through(accepted: int = -1, times: int = MOST_CRASHES) -> list[str]:
    return [record_crash(NEW, accepted) for _ in range(times)]


def test_the_third_crash_goes_back_to_the_version_before_with_its_runtime() -> None:
    update()
    begin(NEW, accepted=-1)
    assert crash_through() == ["", "", OLD]
    assert versions.state() == versions.AppState(current=OLD, skipped=(NEW,))
    assert versions.app_to_start("0.0.1") == versions.program_of("app", OLD)
    assert versions.program_of("runtime", OLD).is_file()


def test_a_runtime_whose_training_was_accepted_once_stays() -> None:
    update()
    begin(NEW, accepted=7)
    assert crash_through(accepted=7, times=2) == ["", ""]
    assert crash_through(accepted=8, times=10) == [""] * 10
    assert versions.state().current == NEW


def test_what_the_version_before_got_accepted_proves_nothing() -> None:
    update()
    begin(OLD, accepted=3)
    begin(NEW, accepted=7)
    begin(NEW, accepted=9)  # a later start of the worker
    assert runtime_trial.state().accepted == 7
    assert crash_through(accepted=7)[-1] == OLD


def test_a_version_is_put_aside_once_and_never_again() -> None:
    update()
    assert crash_through()[-1] == OLD
    versions.switch_to(NEW, running=OLD)  # a person installs it once more
    versions.confirm(NEW)
    begin(OLD, accepted=1)
    begin(NEW, accepted=1)
    assert crash_through(accepted=1, times=10) == [""] * 10
    assert versions.state().current == NEW


def test_without_a_complete_version_before_the_new_one_stays() -> None:
    put("app", NEW)
    put("runtime", NEW)
    assert crash_through() == [""] * MOST_CRASHES, "it was installed, not updated to"
    versions.switch_to(NEW, running=OLD)
    assert crash_through() == [""] * MOST_CRASHES, "the runtime of the version before is gone"
    assert versions.state().current == NEW
    put("runtime", OLD)
    assert crash_through(times=1) == [OLD]


@attack("P22", layer="cli", ends="the new version stays where the network wants no older one")
def test_crashes_bring_back_no_version_that_the_network_finds_too_old() -> None:
    update()
    assert [record_crash(NEW, -1, oldest=NEW) for _ in range(9)] == [""] * 9
    assert versions.state().current == NEW
    assert not versions.state().skipped
    assert record_crash(NEW, -1, oldest=OLD) == OLD


def test_a_runtime_that_a_person_named_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    update()
    monkeypatch.setitem(os.environ, programs.RUNTIME_VARIABLE, "/opt/runtime")
    assert crash_through() == [""] * MOST_CRASHES


def test_a_damaged_record_begins_the_trial_again(tmp_path: Path) -> None:
    update()
    begin(NEW, accepted=-1)
    crash_through(times=2)
    (tmp_path / "tequio" / "runtime" / "trial.json").write_bytes(b"{")
    assert crash_through() == ["", "", OLD]
