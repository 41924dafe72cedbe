"""Every fault at every moment of a round: survivors and returners agree, all is logged.

One swarm goes through the rows in turn, since each fault has to happen to a swarm that has been
through others; a row that breaks it leaves a fresh one to the next.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import pytest
import trio

from tests.support.fault_swarm import LEDGER, SEED, WITNESS, FaultMoment, opened
from tests.support.faults import (
    SwarmFault,
    delay,
    fill_disk,
    freeze,
    kill,
    kill_trainer,
    part,
    slow,
)
from tests.support.invariants import Invariants
from tests.support.peer_group import TrioThread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from _pytest.mark import ParameterSet

    from tests.support.fault_swarm import FaultSwarm

ROW_S = 300.0
EVERY = tuple(FaultMoment)
ATTEST, TRAIN, COMMIT, WITNESSING, CLOSE = EVERY
TABLE: dict[SwarmFault, tuple[FaultMoment, ...]] = {
    SwarmFault(name="a volunteer is killed", act=kill, victims=("ana",)): EVERY,
    SwarmFault(name="its trainer alone is killed", act=kill_trainer, victims=("beto",)): EVERY,
    SwarmFault(name="a witness is killed", act=kill, victims=(WITNESS,)): EVERY,
    SwarmFault(name="the ledger is killed", act=kill, victims=(LEDGER,)): EVERY,
    SwarmFault(name="the seed is killed", act=kill, victims=(SEED,)): (TRAIN, CLOSE),
    SwarmFault(name="two volunteers are killed", act=kill, victims=("ana", "beto")): (TRAIN, CLOSE),
    SwarmFault(name="ledger and volunteer are killed", act=kill, victims=("ana", LEDGER)): (
        COMMIT,
    ),
    SwarmFault(name="ledger and seed are killed", act=kill, victims=(LEDGER, SEED)): (WITNESSING,),
    SwarmFault(name="a volunteer is stopped", act=freeze, victims=("citlali",)): (
        ATTEST,
        TRAIN,
        CLOSE,
    ),
    SwarmFault(name="the swarm is parted", act=part, victims=("citlali", WITNESS)): (TRAIN, CLOSE),
    SwarmFault(name="a line is slow", act=slow, victims=("beto",)): (ATTEST,),
    SwarmFault(name="all is late", act=delay, victims=("ana", "beto", "citlali", WITNESS)): (
        CLOSE,
    ),
    SwarmFault(name="a volunteer's disk is full", act=fill_disk, victims=("citlali",)): (TRAIN,),
    SwarmFault(name="the ledger's disk is full", act=fill_disk, victims=(LEDGER,)): (TRAIN,),
}


def _row(fault: SwarmFault, moment: FaultMoment, *, is_slow: bool) -> ParameterSet:
    marks = [pytest.mark.slow] if is_slow else []
    return pytest.param(fault, moment, id=f"{fault.name}, {moment.name.lower()}", marks=marks)


ROWS = [
    # Each fault at one moment; `make kills` has the others.
    _row(fault, moment, is_slow=at != number % len(moments))
    for number, (fault, moments) in enumerate(TABLE.items())
    for at, moment in enumerate(moments)
]
Trial: TypeAlias = "tuple[FaultSwarm, Invariants]"


class Trials:
    """The swarm of this module, raised when a row needs one."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        self._hall: TrioThread[Trial] | None = None

    def hall(self) -> TrioThread[Trial]:
        """The swarm that runs, or a new one."""
        if self._hall is None:
            self._hall = TrioThread(partial(_trial, self._factory.mktemp("faults")))
        return self._hall

    def close(self) -> None:
        """End it."""
        hall, self._hall = self._hall, None
        if hall is not None:
            hall.close()


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    trials = Trials(tmp_path_factory)
    yield trials
    trials.close()


@asynccontextmanager
async def _trial(folder: Path) -> AsyncIterator[Trial]:
    async with opened(folder) as swarm:
        yield swarm, Invariants(swarm)


@pytest.mark.whole
@pytest.mark.parametrize(("fault", "moment"), ROWS)
def test_the_swarm_outlives(trials: Trials, fault: SwarmFault, moment: FaultMoment) -> None:
    async def row(trial: Trial) -> None:
        swarm, invariants = trial
        try:
            with trio.fail_after(ROW_S):
                before = await invariants.before()
                await swarm.moment(moment, fault.victims[0])
                await fault.act(swarm, fault.victims)
                await invariants.check(before)
        except BaseException:
            swarm.network.print_logs()
            raise

    hall = trials.hall()
    try:
        hall.do(row)
    except BaseException:
        trials.close()
        raise


@pytest.mark.whole
def test_a_stranger_audits_all_of_it(trials: Trials) -> None:
    """Once from the folders, once over libp2p from the seed that has been killed and came back."""

    async def audited(trial: Trial) -> None:
        swarm, _ = trial
        # They would go on, and take the processor from the audits.
        await swarm.kill(swarm.keys)
        where = ("--ledger", swarm.network.url)
        stores = [
            word
            for name in (SEED, *swarm.keys)
            for word in ("--store", str(swarm.network.folder / name / "store"))
        ]
        for name, options in (("audit-stores", stores), ("audit-net", [])):
            said = await swarm.network.command(name, "audit", *where, *options)
            assert "Everything holds" in said

    trials.hall().do(audited)
