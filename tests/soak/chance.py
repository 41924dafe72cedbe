"""Which fault comes next: drawn from a seed, so that the same seed brings the same faults."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tests.support.fault_swarm import LEDGER, SEED, VOLUNTEERS, WITNESS, FaultMoment
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

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

STEADY = "ana"
"""Never killed, nor her trainer: leaks need long lives to show."""
EARLY_FAULTS = 24
"""Ledger and seed are killed only among the first faults, for the same reason."""
OFTEN = (
    SwarmFault(name="kill a volunteer", act=kill, victims=("beto",)),
    SwarmFault(name="kill a volunteer", act=kill, victims=("citlali",)),
    SwarmFault(name="kill the witness", act=kill, victims=(WITNESS,)),
    SwarmFault(name="kill two volunteers", act=kill, victims=("beto", WITNESS)),
    SwarmFault(name="kill a trainer", act=kill_trainer, victims=("beto",)),
    SwarmFault(name="kill a trainer", act=kill_trainer, victims=("citlali",)),
    SwarmFault(name="stop a volunteer", act=freeze, victims=("beto",)),
    SwarmFault(name="stop the witness", act=freeze, victims=(WITNESS,)),
    SwarmFault(name="stop the seed", act=freeze, victims=(SEED,)),
    SwarmFault(name="part the swarm", act=part, victims=("citlali", WITNESS)),
    SwarmFault(name="cut the steady one off", act=part, victims=(STEADY,)),
    SwarmFault(name="slow line", act=slow, victims=("citlali",)),
    SwarmFault(name="all late", act=delay, victims=VOLUNTEERS),
    SwarmFault(name="full disk", act=fill_disk, victims=("citlali",)),
)
EARLY = (
    SwarmFault(name="kill the ledger", act=kill, victims=(LEDGER,)),
    SwarmFault(name="kill the seed", act=kill, victims=(SEED,)),
    SwarmFault(name="kill ledger and volunteer", act=kill, victims=(LEDGER, "beto")),
    SwarmFault(name="full disk of the ledger", act=fill_disk, victims=(LEDGER,)),
)


def drawn(chance: Random) -> Iterator[tuple[SwarmFault, FaultMoment]]:
    """Faults and their moments without end; chance alone decides, never the clock."""
    for number in itertools.count():
        known = (*OFTEN, *EARLY, *EARLY) if number < EARLY_FAULTS else OFTEN
        yield chance.choice(known), chance.choice(tuple(FaultMoment))
