"""Which crashes of a real package's trainer count against its new runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.platform import programs, versions
from tequio_client.platform.runtime_trial import MOST_CRASHES
from tequio_client.worker.children.runtime_verdict import RuntimeVerdict
from tequio_shared.version import BUILD
from tests.client.platform.test_runtime_trial import put
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from pathlib import Path

OLD = "0.0.1"
KNOWN, NEW = "a run of before the update", "a run that was joined since"
pytestmark = pytest.mark.trio


@pytest.fixture(autouse=True)
def _updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(programs, "is_packaged", lambda: True)
    for part in versions.PROGRAMS:
        for name in (OLD, BUILD):
            put(part, name)
    versions.switch_to(BUILD, running=OLD)
    versions.confirm(BUILD)


def verdict(accepted: dict[str, int]) -> RuntimeVerdict:
    newest = max(accepted.values(), default=-1)
    return RuntimeVerdict(lambda run: accepted.get(run, -1) if run else newest, lambda: OLD)


async def crash(judge: RuntimeVerdict, run: str, times: int = MOST_CRASHES) -> list[str]:
    return [await judge.judge("exit status 1", run) for _ in range(times)]


@attack("P22", layer="cli", ends="crashes in a run that was never trained here are not counted")
async def test_a_run_that_was_joined_since_the_update_chooses_no_version() -> None:
    judge = verdict({KNOWN: 7})
    await judge.begin()
    for run in (NEW, ""):
        assert await crash(judge, run, 10) == [""] * 10
        assert versions.state().current == BUILD
    assert (await crash(judge, KNOWN))[-1].startswith(f"the runtime of version {BUILD} crashed")
    assert versions.state().current == OLD


async def test_crashes_of_a_new_run_add_nothing_to_those_of_another() -> None:
    judge = verdict({KNOWN: 7})
    await judge.begin()
    assert await crash(judge, KNOWN, MOST_CRASHES - 1) == [""] * (MOST_CRASHES - 1)
    assert await crash(judge, NEW) == [""] * MOST_CRASHES
    assert versions.state().current == BUILD
    assert (await crash(judge, KNOWN, 1))[0]


async def test_a_computer_whose_work_was_never_accepted_keeps_the_new_version() -> None:
    judge = verdict({})
    await judge.begin()
    assert await crash(judge, KNOWN, 10) == [""] * 10
    assert versions.state().current == BUILD


async def test_after_work_was_accepted_crashes_are_something_else() -> None:
    accepted = {KNOWN: 7}
    judge = RuntimeVerdict(lambda run: accepted.get(run or KNOWN, -1), lambda: OLD)
    await judge.begin()
    accepted[KNOWN] = 8
    assert await crash(judge, KNOWN, 10) == [""] * 10
