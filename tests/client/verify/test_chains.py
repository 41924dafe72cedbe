"""Checks on every author's chain by a reader of a whole log, whatever the entries contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.verify.fold import Fold
from tequio_client.verify.report import LogReport
from tequio_shared.errors import RefusedError
from tequio_shared.served.state import State
from tests.client.verify.logs import SwarmLog
from tests.support.authors import Author
from tests.support.memory_swarm import Swarm
from tests.support.statements import example

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_shared.statements.statement import Entry


def audit(swarm: Swarm) -> Callable[[int, Entry], None]:
    report = LogReport()
    fold = Fold(swarm.genesis, SwarmLog(swarm), report)

    def apply_entry(index: int, entry: Entry) -> None:
        fold.apply(index, entry.leaf())
        for finding in report.findings:
            code, _, detail = finding.detail.partition(": ")
            raise RefusedError(code, detail)

    return apply_entry


def ledger(swarm: Swarm) -> Callable[[int, Entry], None]:
    state = State(swarm.genesis, swarm.blobs.__getitem__)
    return lambda index, entry: state.apply(index, entry, entry.statement.ts)


READERS = {"audit": audit, "ledger": ledger}


@pytest.mark.parametrize("reader", READERS)
def test_the_time_of_the_coordinator_moves_forward_beyond_any_run(reader: str) -> None:
    swarm = Swarm()
    first = swarm.entries[0]
    coordinator = Author("coordinator", swarm.net)
    coordinator.signer = swarm.coordinator
    coordinator.seq, coordinator.last = first.statement.seq, first.statement.digest
    early = coordinator.sign(example("fault.report"), first.statement.ts - 1)
    apply_entry = READERS[reader](swarm)
    apply_entry(0, first)
    with pytest.raises(RefusedError, match="signed at") as refused:
        apply_entry(1, early)
    assert refused.value.code == "clock-skew"
