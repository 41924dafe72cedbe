"""A process of a ledger is told to end in the moment in which it loses the lead."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, Never, cast

import pytest

from tequio_ledger.replicas import replica
from tequio_ledger.replicas.replica import Replica
from tequio_ledger.store.files import UnwritableError

PATIENCE_S = 5.0


class ClosedSequencer:
    """One whose log another process writes by now."""

    log = SimpleNamespace(size=7, term=1)
    closed_for = "another process writes the log"
    is_rejected = False

    async def run(self) -> None:
        """Ends at once, since it is closed."""

    async def run_between_batches(self, _: object) -> None:
        await asyncio.Event().wait()

    def reject_waiting(self) -> None:
        self.is_rejected = True


def test_a_replica_that_loses_the_lead_while_it_is_cancelled_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asyncio.run(cancel_while_losing(monkeypatch))


async def cancel_while_losing(monkeypatch: pytest.MonkeyPatch) -> None:
    ending = asyncio.Event()

    class SlowIntake:
        """Ends after the query that is under way."""

        def __init__(self, *_: object) -> None: ...

        async def run(self) -> Never:
            try:
                await asyncio.Event().wait()
            finally:
                ending.set()
                await asyncio.sleep(0.05)
            raise AssertionError("nothing else ends it")

    def follow() -> Never:
        raise UnwritableError("the database is away")

    monkeypatch.setattr(replica, "SubmissionIntake", SlowIntake)
    database = SimpleNamespace(hold_leader_lock=None, release_leader_lock=lambda: None)
    builder = SimpleNamespace(database=database, clock=lambda: 0, follow=follow)
    current = ClosedSequencer()
    task = asyncio.create_task(
        Replica(cast("Any", builder), cast("Any", current), lambda _: None).run()
    )
    await ending.wait()
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=PATIENCE_S)
    task.cancel()
    assert done
    assert task.cancelled()
    assert not current.is_rejected, "nothing is begun after the cancellation"
