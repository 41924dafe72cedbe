"""What a reader of a whole log holds against everybody's chain, whatever the entries say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.audit.chains import Chains
from tequio_ledger.state import State
from tequio_shared.errors import RefusedError
from tests.support.authors import Author
from tests.support.statements import example
from tests.support.swarm import Swarm

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.statement import Entry


def chains(swarm: Swarm) -> Callable[[int, Entry], None]:
    return Chains(swarm.genesis).take


def state(swarm: Swarm) -> Callable[[int, Entry], None]:
    fold = State(swarm.genesis, swarm.blobs.__getitem__)
    return lambda index, entry: fold.apply(index, entry, entry.statement.ts)


TAKING = {"audit": chains, "ledger": state}


@pytest.mark.parametrize("reader", TAKING)
def test_the_time_of_the_coordinator_moves_forward_beyond_any_run(reader: str) -> None:
    swarm = Swarm()
    first = swarm.entries[0]
    coordinator = Author("coordinator", swarm.net)
    coordinator.signer = swarm.coordinator
    coordinator.seq, coordinator.last = first.statement.seq, first.statement.digest
    early = coordinator.say(example("fault.report"), first.statement.ts - 1)
    take = TAKING[reader](swarm)
    take(0, first)
    with pytest.raises(RefusedError, match="signed at") as refused:
        take(1, early)
    assert refused.value.code == "clock-skew"
