"""Replay: the log alone gives the same derived rows that the service wrote as it went."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, text

from tequio_ledger.replay import replay
from tequio_ledger.store import derived
from tequio_ledger.store.models import DERIVED
from tests.ledger.log.test_coordinator import RULES, LedgerSwarm
from tests.ledger.log.test_sequencer_standing import appeal, leave_under_an_old_number
from tests.support.ledgers import VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.served.state import State
    from tequio_shared.statements.statement import Entry

pytestmark = pytest.mark.usefixtures("either_database")
CLOCK = VirtualClock()


async def live_through(ledger: Ledger, *, are_heads_measured: bool = False) -> None:
    """Two closed rounds, a void one, a newcomer, somebody who leaves, a liar who appeals."""
    async with running(ledger):
        swarm = LedgerSwarm(ledger, CLOCK)
        await swarm.open()
        await swarm.play(*swarm.peers[:3])
        await swarm.post(swarm.peers[3].join())
        await swarm.play(*swarm.peers[:3])
        await swarm.start_round(*swarm.peers)
        if are_heads_measured:
            await swarm.measure()
        await swarm.post([swarm.peers[0].leave()])
        await leave_under_an_old_number(swarm, swarm.peers[1])
        await swarm.post([appeal(swarm, swarm.peers[1])])
        await swarm.pass_ms(RULES.rounds.train_limit)


def rows(ledger: Ledger) -> dict[str, list[tuple[object, ...]]]:
    with ledger.database.reader.begin() as connection:
        return {
            table.name: sorted(tuple(row) for row in connection.execute(select(table)))
            for table in DERIVED
        }


def held_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rebuild tables a few entries at a time; gives the rows in memory after each entry."""
    held, derive = list[int](), derived.derive

    def counted(changes: derived.Changes, index: int, entry: Entry, state: State) -> None:
        derive(changes, index, entry, state)
        held.append(len(changes.attended))

    monkeypatch.setattr(derived, "ENTRIES", 4)
    monkeypatch.setattr(derived, "derive", counted)
    return held


def test_rows_are_the_same_after_a_drop_and_a_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(live_through(ledger, are_heads_measured=True))
        before, size = rows(ledger), ledger.log.size
        assert all(before.values()), "every derived table has rows"
        with ledger.database.writer.begin() as connection:
            derived.clear(connection)
    held = held_rows(monkeypatch)
    assert replay(make_settings(tmp_path)) == size
    assert 0 < max(held) < len(before["attended"]), "rows of the whole log were held in memory"
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        assert rows(ledger) == before


def test_a_forged_credit_does_not_survive_a_replay(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
        before = rows(ledger)
        with ledger.database.writer.begin() as connection:
            connection.execute(text("UPDATE peer SET gflop = gflop + 1000"))
            connection.execute(text("DELETE FROM credit"))
    replay(make_settings(tmp_path))
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        assert rows(ledger) == before
