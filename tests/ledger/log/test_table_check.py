"""The check of derived tables beside a writer whose write fails."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from structlog.testing import CapturingLogger

from tequio_ledger.log import table_check
from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.table_check import TableCheck
from tequio_ledger.store import queries
from tequio_shared.ids import PeerKey
from tests.ledger.test_replay import CLOCK, live_through
from tests.support.authors import newcomers
from tests.support.ledgers import VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    import pytest
    from sqlalchemy import Connection

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.log.guard import Published
    from tequio_ledger.log.table_check import StateHolder
    from tequio_shared.served.state import State


PATIENCE_S = 60.0


class Writer:
    """Holds a state, and counts how often it was asked to settle."""

    def __init__(self, published: Published, state: State) -> None:
        self.state, self.asked = state, 0
        self._published = published

    async def settled(self) -> Published:
        await asyncio.sleep(0)
        self.asked += 1
        return self._published


def reason(ledger: Ledger, ahead: State, last: int, patience_s: float = 0.5) -> str | None:
    """Check while a writer whose state is ahead gives up, as it settles for the `last` time."""
    check = TableCheck(ledger.database, ledger.state.net, DocumentCache(ledger.blobs), 0.01)
    failed = Writer(ledger.log.published, ahead)
    heir = Writer(ledger.log.published, ledger.state)

    def holder() -> StateHolder:
        return heir if failed.asked == last else failed

    async def run() -> None:
        checking = asyncio.create_task(check.run(holder))
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                while check.reason is None:  # noqa: ASYNC110 - the check tells nobody
                    await asyncio.sleep(0.01)
        checking.cancel()
        with suppress(asyncio.CancelledError):
            await checking

    asyncio.run(run())
    return check.reason


def submit(ledger: Ledger, name: str, clock: VirtualClock) -> None:
    async def run() -> None:
        async with running(ledger):
            await ledger.sequencer.submit(newcomers(name, ledger.genesis.network_id, 1, clock()))

    asyncio.run(run())


def test_a_state_whose_write_failed_is_not_taken_for_damaged_tables(tmp_path: Path) -> None:
    clock = VirtualClock()
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    with opened(make_settings(here), clock) as ledger:
        submit(ledger, "logged", clock)
    shutil.copytree(here, elsewhere)
    with (
        opened(make_settings(here), clock) as ledger,
        opened(make_settings(elsewhere), clock) as other,
    ):
        submit(other, "not logged here", clock)
        for last in (1, 2, 3, 4):  # the fourth is for the keys
            assert reason(ledger, other.state, last) is None
        missed = reason(ledger, other.state, 5, patience_s=60.0)
        assert missed is not None
        assert "is missing, but there by the log" in missed


def test_the_rounds_of_a_few_keys_are_counted_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Collection[bytes]] = []
    count = queries.attended_counts

    def attended_counts(connection: Connection, wanted: Collection[bytes]) -> dict[bytes, int]:
        counted.append(wanted)
        return count(connection, wanted)

    monkeypatch.setattr(queries, "attended_counts", attended_counts)
    monkeypatch.setattr(table_check, "COUNTED", 5, raising=False)
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
        counted.clear()
        ledger.tables.start(ledger.state, ledger.log.published, PATIENCE_S)
        assert {key for some in counted for key in some} == set(ledger.state.peers)
        attended = ledger.state.attended
        rounds = [sum(attended[PeerKey(key)] for key in some) for some in counted]
        assert max(rounds) in (4, 5), "keys share a slice, unless they have too many"


def test_a_bad_sector_in_a_document_ends_no_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    logged = CapturingLogger()
    monkeypatch.setattr(table_check, "log", logged)

    async def until_reported_again(check: TableCheck, ledger: Ledger) -> None:
        before = len(logged.calls)
        checking = asyncio.create_task(check.run(lambda: ledger.sequencer))
        async with asyncio.timeout(PATIENCE_S):
            while len(logged.calls) == before and not checking.done():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        assert not checking.done()
        checking.cancel()

    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
        monkeypatch.setattr(ledger.blobs, "_checked", {})
        monkeypatch.setattr(hashlib, "file_digest", fail)
        check = TableCheck(ledger.database, ledger.state.net, DocumentCache(ledger.blobs), 0.01)
        check.start(ledger.state, ledger.log.published, PATIENCE_S)
        assert logged.calls
        asyncio.run(until_reported_again(check, ledger))
        assert check.reason is None
