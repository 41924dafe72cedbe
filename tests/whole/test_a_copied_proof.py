"""A volunteer of four that vouches for what it has not read is found out by the others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_shared.ids import to_text
from tequio_shared.network.standing import StandingCause
from tequio_shared.statements.network import FaultReport, StandingChange
from tequio_shared.statements.runs import WitnessProof
from tests.support.attack_table import attack
from tests.support.faulty_worker import UNREAD
from tests.support.history import LogHistory
from tests.support.real_network import running_network, start_with_trainers
from tests.support.small_network import found

if TYPE_CHECKING:
    from pathlib import Path

WHOLE_S = 600.0


@attack("Q13", layer="qua", ends="quarantined by the report of a real worker that looked")
@pytest.mark.whole
@pytest.mark.trio
async def test_the_other_witnesses_report_who_marks_nothing(tmp_path: Path) -> None:
    with trio.fail_after(WHOLE_S):
        async with (
            running_network(tmp_path, start_with_trainers) as stage,
            LedgerApi(stage.url) as api,
        ):
            await found(stage)
            stage.seed()
            program = "tests.support.faulty_worker"
            cheat, *honest = [
                stage.start(
                    name,
                    [sys.executable, "-m", program, how, "worker", *stage.node_options(name)],
                )
                for name, how in (
                    ("cheat", UNREAD),
                    *((name, str(tmp_path / "never")) for name in ("ana", "bo", "cleo")),
                )
            ]
            history = LogHistory(api)

            async def is_caught() -> bool:
                await history.read()
                return bool(removed(history))

            await stage.until("a quarantine", is_caught)
            assert removed(history) == {cheat.key: StandingCause.UNREAD}
            reporters = {to_text(one.author) for one, _ in history.all_of(FaultReport)}
            assert reporters <= {one.key for one in honest}
            assert history.statements_by(cheat.key, WitnessProof)


def removed(history: LogHistory) -> dict[str, int]:
    """Causes of the quarantines, by key."""
    changes = (change for _, change in history.all_of(StandingChange))
    return {one.peer: one.cause for one in changes if one.to == "quarantined"}
