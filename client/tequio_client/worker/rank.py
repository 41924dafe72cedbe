"""A rank of a cell that rank 0 does not start: its process, started again until it is stopped.

It has no key, no ledger and no place in the swarm: rank 0's worker has all that. A rank ends with
its cell, whatever became of that, and its successor waits for the next one.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import structlog
import trio

from tequio_client.ipc.cell import AWAY_STATUS, CellPlace
from tequio_client.worker.children.process import ChildProcess, ChildProgram
from tequio_client.worker.children.trainer import rank_program
from tequio_client.worker.shutdown import StoppableProgram
from tequio_shared.errors import UserFacingError

log = structlog.get_logger(__name__)

STEADY_S = 60.0
"""A rank that ran this long did not fail at its start."""


def run(folder: Path, place: CellPlace, log_style: str) -> None:
    """Run a rank until it is stopped; raises UserFacingError when rank 0 stays away."""
    program = rank_program(folder, place, log_style)
    trio.run(StoppableProgram().run, partial(keep_rank, program, place))


async def keep_rank(program: ChildProgram, place: CellPlace) -> None:
    child, failures = ChildProcess(program), 0
    child.allow()
    while True:
        log.info("rank of a cell", rank=place.rank, of=place.size, first=place.address)
        began_s = trio.current_time()
        reason = await child.run_once(tuple, lambda _: None)  # it reports to rank 0
        if reason == f"exit status {AWAY_STATUS}":
            raise UserFacingError(
                f"rank 0 did not answer at {place.address}:{place.port}: start it, and check "
                "MASTER_ADDR, MASTER_PORT and the firewall between the computers"
            )
        failures = 1 if trio.current_time() - began_s > STEADY_S else failures + 1
        pause_s = child.pause_s(failures)
        log.warning("rank ended, restarting", reason=reason, after_s=pause_s)
        await child.pause(pause_s)
