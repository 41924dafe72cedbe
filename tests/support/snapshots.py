"""Ledgers whose log is long enough for a snapshot, honest or lying about it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tequio_ledger.log.log import AdmittedEntry
from tequio_ledger.log.sequencer import Sequencer
from tequio_ledger.log.snapshots import KEPT
from tequio_ledger.store.derived import Changes, derive, write
from tequio_shared.ids import to_text
from tequio_shared.limits import SNAPSHOT_ENTRIES
from tequio_shared.statements.network import LogSnapshot
from tests.support.authors import Author, registration
from tests.support.ledgers import make_settings, opened, running

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.ids import Digest
    from tests.support.ledgers import VirtualClock


def grow(ledger: Ledger, clock: VirtualClock, entries: int, author: Author) -> None:
    """Log that many entries at once: one key binds another recovery key again and again."""
    state, batch, changes = ledger.state, list[AdmittedEntry](), Changes()
    work = registration(state.net, author.key, state.genesis.work_bits)
    for _ in range(entries):
        index = ledger.log.size + len(batch)
        is_new = author.key not in state.peers
        entry = (
            author.sign(work, clock()) if is_new else author.bind_recovery(author.seq - 1, clock())
        )
        state.apply(index, entry, clock())
        derive(changes, index, entry, state)
        batch.append(AdmittedEntry.of(entry, state.net, clock()))
    ledger.log.append(batch, lambda connection: write(connection, changes, state))


async def until_stated(ledger: Ledger, count: int = 1) -> None:
    """Run the ledger until its log names that many snapshots, and the old ones are deleted."""
    stated = ledger.state.snapshots.stated
    # The state knows a statement before it is on the disk.
    size = ledger.log.size + max(count - len(stated), 0)
    async with asyncio.timeout(120), running(ledger):
        while (
            len(stated) < count
            or ledger.log.published.size < size
            or any(ledger.blobs.has(one.digest) for one in stated[:-KEPT])
        ):
            await ledger.sequencer.changed.wait(0.05)


def due_for_snapshot(folder: Path, clock: VirtualClock) -> None:
    """Make a ledger whose log is just long enough for a snapshot that nothing has made yet."""
    with opened(make_settings(folder), clock) as ledger:
        grow(ledger, clock, SNAPSHOT_ENTRIES, author_of(ledger))


def state_snapshot(folder: Path, clock: VirtualClock) -> Digest:
    """Let that ledger log its snapshot, and three entries after it; gives the snapshot's name."""
    with opened(make_settings(folder), clock) as ledger:
        asyncio.run(until_stated(ledger))
        grow(ledger, clock, 3, author_of(ledger))
        (stated,) = ledger.state.snapshots.stated
        return stated.digest


def with_snapshot(folder: Path, clock: VirtualClock) -> Digest:
    """Make a ledger that has logged a snapshot and three entries after it; gives its name."""
    due_for_snapshot(folder, clock)
    return state_snapshot(folder, clock)


def state_next(folder: Path, clock: VirtualClock) -> Digest:
    """Let such a ledger grow until it has logged its second snapshot; gives that one's name."""
    with opened(make_settings(folder), clock) as ledger:
        grow(ledger, clock, SNAPSHOT_ENTRIES, author_of(ledger))
        asyncio.run(until_stated(ledger, 2))
        return ledger.state.snapshots.stated[-1].digest


def author_of(ledger: Ledger) -> Author:
    """The one author of the log, at the end of its chain."""
    author = Author("ana", ledger.genesis.network_id)
    if chain := ledger.state.peers.get(author.key):
        author.seq, author.last = chain.seq, chain.last
    return author


def with_wrong_snapshot(folder: Path, clock: VirtualClock) -> LogSnapshot:
    """Make a ledger whose coordinator names another state than follows from its log."""
    with opened(make_settings(folder), clock) as ledger:
        grow(ledger, clock, SNAPSHOT_ENTRIES, Author("ana", ledger.genesis.network_id))
        (due,) = ledger.state.snapshots.due
        right = ledger.snapshots.make(due)
        wrong = LogSnapshot(
            layout=right.layout,
            size=right.size,
            state=to_text(ledger.blobs.put(b"a state of the operator's choice")),
        )
        asyncio.run(_state(ledger, wrong))
        return wrong


async def _state(ledger: Ledger, body: LogSnapshot) -> None:
    sequencer = ledger.sequencer
    assert isinstance(sequencer, Sequencer)
    task = asyncio.create_task(sequencer.run())
    await sequencer.state_snapshot(body)
    task.cancel()
