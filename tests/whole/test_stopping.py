"""Programs that get a stop signal while the ledger is gone."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_shared.statements.network import MemberLeave, MemberReady
from tests.support.history import LogHistory
from tests.support.real_network import running_network
from tests.support.small_network import found
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.real_network import RealNetwork, RunningProgram

END_S = 5.0
"""How long a program may take to end after SIGTERM."""


@pytest.mark.whole
@pytest.mark.trio
async def test_without_a_ledger_programs_still_end_at_once_and_say_goodbye_later(
    tmp_path: Path,
) -> None:
    with trio.fail_after(120):
        async with running_network(tmp_path) as stage, LedgerApi(stage.url) as api:
            organiser, history = await found(stage), LogHistory(api)
            seed, volunteer = stage.seed(), stage.volunteer("ana")
            key = await _ready(stage, history, volunteer, 1)
            await _end_without_ledger(stage, volunteer, seed)
            await stage.ledger(organiser)
            stage.seed()
            await _ready(stage, history, stage.volunteer("ana"), 2)
            (left,) = history.statements_by(key, MemberLeave)
            again = history.statements_by(key, MemberReady)[-1]
            assert history.statements.index(left) < history.statements.index(again)


async def _end_without_ledger(stage: RealNetwork, *actors: RunningProgram) -> None:
    ledger = stage.actors[0]
    ledger.send(signal.SIGKILL)
    await ledger.ended.wait()
    for actor in actors:
        actor.send(signal.SIGTERM)
    for actor in actors:
        assert await actor.wait_ended(allowed_s(END_S)) == 0


async def _ready(
    stage: RealNetwork, history: LogHistory, volunteer: RunningProgram, times: int
) -> str:
    """Wait for its `member.ready` number `times`; return its key."""

    async def holds() -> bool:
        await history.read()
        status = volunteer.program.status
        return status is not None and len(history.statements_by(status.key, MemberReady)) == times

    await stage.until(f"{volunteer.name} is ready", holds)
    return volunteer.key
