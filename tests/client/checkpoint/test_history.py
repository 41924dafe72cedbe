"""Which head a checkpoint is of when a run has gone back to an earlier one."""

from __future__ import annotations

from tequio_client.checkpoint.history import _promoted
from tequio_client.verify.fold import RunHistory
from tequio_shared.statements.runs import HeadPromote
from tests.support.memory_swarm import paused_swarm


def test_the_last_head_is_the_one_that_the_run_is_at() -> None:
    swarm = paused_swarm(3)
    history = RunHistory(view=swarm.view)
    for index, entry in enumerate(swarm.entries):
        if isinstance(entry.statement.body, HeadPromote):
            history.promoted.append((index, swarm.view.heads[entry.statement.round or 0]))
    assert _promoted(history, None)[1].round == 2
    swarm.go_back(1)
    assert _promoted(history, None)[1] == swarm.view.heads[1]
    assert _promoted(history, 2)[1] == swarm.view.heads[2], "asked for, it can still be exported"
