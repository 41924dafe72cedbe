"""Answers from the derived tables say for which signed log they are true, and are."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from tequio_ledger.log.sequencer import Logged
from tequio_ledger.store import log_rows, queries
from tequio_ledger.store.models import LOG_CHECKPOINT
from tequio_ledger.web.answers import snapshot
from tequio_shared.errors import RefusedError
from tests.support.authors import newcomers
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.signers import signing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.store.log_rows import StoredCheckpoint

pytestmark = pytest.mark.usefixtures("either_database")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(make_settings(tmp_path), VirtualClock()) as ledger:
        yield ledger


def unsign(ledger: Ledger) -> StoredCheckpoint:
    """Take the newest checkpoint away: the moment between a commit and its signature."""
    with ledger.database.writer.begin() as connection:
        last = log_rows.read_last_checkpoint(connection)
        assert last is not None
        connection.execute(sa.delete(LOG_CHECKPOINT).where(LOG_CHECKPOINT.c.size == last.size))
    return last


def test_nobody_sees_rows_before_their_log_is_signed(ledger: Ledger) -> None:
    last, seen = unsign(ledger), threading.Event()
    found: list[int] = []

    def read() -> None:
        with snapshot(ledger) as (_, published):
            found.append(published.size)
        seen.set()

    reading_thread = threading.Thread(target=read)
    reading_thread.start()
    assert not seen.wait(0.1)
    with ledger.database.writer.begin() as connection:
        log_rows.insert_checkpoint(connection, last)
    reading_thread.join(5)
    assert found == [last.size]


def test_a_log_that_stays_unsigned_is_a_reason_to_come_back(ledger: Ledger) -> None:
    unsign(ledger)
    reading = snapshot(ledger, patience_s=0.05)
    with pytest.raises(RefusedError, match="try again later"), reading:
        pass


def test_a_log_in_which_nothing_is_signed_any_more_is_not_waited_for(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsign(ledger)
    ledger.sequencer.closed_for = "the signer does not answer"
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("a thread was kept waiting"))
    with pytest.raises(RefusedError, match="try again later"), snapshot(ledger):
        pass


def test_what_is_signed_is_read_on_while_the_signer_is_away(tmp_path: Path) -> None:
    async def scenario(ledger: Ledger, stop_signer: Callable[[], None]) -> None:
        first, second = (newcomers(name, ledger.state.net, 1, ledger.clock()) for name in "ab")
        async with running(ledger):
            (logged,) = await ledger.sequencer.submit(first)
            assert isinstance(logged, Logged)
            stop_signer()
            with pytest.raises(RefusedError, match="does not answer") as refused:
                await ledger.sequencer.submit(second)
            assert refused.value.code == "read-only"
            with snapshot(ledger, patience_s=0) as (connection, published):
                assert queries.key(connection, first[0].statement.author) is not None
                assert queries.key(connection, second[0].statement.author) is None
                assert published.size == 2

    with ExitStack() as signer:
        socket = signer.enter_context(signing(tmp_path / "signer", "ledger.example/test"))
        with opened(make_settings(tmp_path, signer=str(socket)), VirtualClock()) as ledger:
            asyncio.run(scenario(ledger, signer.close))
