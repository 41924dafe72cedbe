"""Which head a checkpoint is of when a run has gone back to an earlier one."""

from __future__ import annotations

from tequio_client.checkpoint.history import _promoted
from tequio_client.verify.fold import RunHistory
from tequio_shared.network.run_states import RunState
from tequio_shared.statements.runs import HeadPromote, RunPause
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest


def paused(rounds: int) -> Swarm:
    """A run that is paused after that many rounds."""
    swarm = Swarm(manifest=tiny_manifest(most=6))
    for at in range(4):
        swarm.volunteer(f"v{at}")
    swarm.run_rounds(rounds)
    swarm.organise(RunPause(reason=1))
    while swarm.view.state is not RunState.PAUSED:
        assert swarm.step()
    return swarm


def test_the_last_head_is_the_one_that_the_run_is_at() -> None:
    swarm = paused(3)
    history = RunHistory(view=swarm.view)
    for index, entry in enumerate(swarm.entries):
        if isinstance(entry.statement.body, HeadPromote):
            history.promoted.append((index, swarm.view.heads[entry.statement.round or 0]))
    assert _promoted(history, None)[1].round == 2
    swarm.go_back(1)
    assert _promoted(history, None)[1] == swarm.view.heads[1]
    assert _promoted(history, 2)[1] == swarm.view.heads[2], "asked for, it can still be exported"
