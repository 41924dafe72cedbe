"""Which fault comes next: drawn from a seed, so that the same seed brings the same faults."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tests.support.fault_swarm import LEDGER, SEED, VOLUNTEERS, WITNESS, Moment
from tests.support.faults import (
    Fault,
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
    Fault(name="kill a volunteer", act=kill, victims=("beto",)),
    Fault(name="kill a volunteer", act=kill, victims=("citlali",)),
    Fault(name="kill the witness", act=kill, victims=(WITNESS,)),
    Fault(name="kill two volunteers", act=kill, victims=("beto", WITNESS)),
    Fault(name="kill a trainer", act=kill_trainer, victims=("beto",)),
    Fault(name="kill a trainer", act=kill_trainer, victims=("citlali",)),
    Fault(name="stop a volunteer", act=freeze, victims=("beto",)),
    Fault(name="stop the witness", act=freeze, victims=(WITNESS,)),
    Fault(name="stop the seed", act=freeze, victims=(SEED,)),
    Fault(name="part the swarm", act=part, victims=("citlali", WITNESS)),
    Fault(name="cut the steady one off", act=part, victims=(STEADY,)),
    Fault(name="slow line", act=slow, victims=("citlali",)),
    Fault(name="all late", act=delay, victims=VOLUNTEERS),
    Fault(name="full disk", act=fill_disk, victims=("citlali",)),
)
EARLY = (
    Fault(name="kill the ledger", act=kill, victims=(LEDGER,)),
    Fault(name="kill the seed", act=kill, victims=(SEED,)),
    Fault(name="kill ledger and volunteer", act=kill, victims=(LEDGER, "beto")),
    Fault(name="full disk of the ledger", act=fill_disk, victims=(LEDGER,)),
)


def drawn(chance: Random) -> Iterator[tuple[Fault, Moment]]:
    """Faults and their moments without end; chance alone decides, never the clock."""
    for number in itertools.count():
        known = (*OFTEN, *EARLY, *EARLY) if number < EARLY_FAULTS else OFTEN
        yield chance.choice(known), chance.choice(tuple(Moment))
