"""A new runtime that crashes again and again in training gives way to the version before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tequio_client.platform import programs, versions
from tequio_client.worker.children import runtime_trial
from tequio_client.worker.children.runtime_trial import (
    MOST_CRASHES,
    RuntimeVerdict,
    begin,
    record_crash,
)
from tequio_shared.version import BUILD
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "0.1.0", "0.2.0"
FORMER = "0.0.1"
"""Before this build."""
KNOWN, SINCE = "a run of before the update", "a run that was joined since"


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


# --- which crashes of a real package's trainer count


@pytest.fixture
def _packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "is_packaged", lambda: True)
    for part in versions.PROGRAMS:
        for name in (FORMER, BUILD):
            put(part, name)
    versions.switch_to(BUILD, running=FORMER)
    versions.confirm(BUILD)


def verdict(accepted: dict[str, int]) -> RuntimeVerdict:
    newest = max(accepted.values(), default=-1)
    return RuntimeVerdict(lambda run: accepted.get(run, -1) if run else newest, lambda: FORMER)


async def crash(judge: RuntimeVerdict, run: str, times: int = MOST_CRASHES) -> list[str]:
    return [await judge.judge("exit status 1", run) for _ in range(times)]


@attack("P22", layer="cli", ends="crashes in a run that was never trained here are not counted")
@pytest.mark.trio
@pytest.mark.usefixtures("_packaged")
async def test_a_run_that_was_joined_since_the_update_chooses_no_version() -> None:
    judge = verdict({KNOWN: 7})
    await judge.begin()
    for run in (SINCE, ""):
        assert await crash(judge, run, 10) == [""] * 10
        assert versions.state().current == BUILD
    assert (await crash(judge, KNOWN))[-1].startswith(f"the runtime of version {BUILD} crashed")
    assert versions.state().current == FORMER


@pytest.mark.trio
@pytest.mark.usefixtures("_packaged")
async def test_crashes_of_a_new_run_add_nothing_to_those_of_another() -> None:
    judge = verdict({KNOWN: 7})
    await judge.begin()
    assert await crash(judge, KNOWN, MOST_CRASHES - 1) == [""] * (MOST_CRASHES - 1)
    assert await crash(judge, SINCE) == [""] * MOST_CRASHES
    assert versions.state().current == BUILD
    assert (await crash(judge, KNOWN, 1))[0]


@pytest.mark.trio
@pytest.mark.usefixtures("_packaged")
async def test_a_computer_whose_work_was_never_accepted_keeps_the_new_version() -> None:
    judge = verdict({})
    await judge.begin()
    assert await crash(judge, KNOWN, 10) == [""] * 10
    assert versions.state().current == BUILD


@pytest.mark.trio
@pytest.mark.usefixtures("_packaged")
async def test_after_work_was_accepted_crashes_are_something_else() -> None:
    accepted = {KNOWN: 7}
    judge = RuntimeVerdict(lambda run: accepted.get(run or KNOWN, -1), lambda: FORMER)
    await judge.begin()
    accepted[KNOWN] = 8
    assert await crash(judge, KNOWN, 10) == [""] * 10
