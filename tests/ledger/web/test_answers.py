"""Answers from the derived tables say for which signed log they are true, and are."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from tequio_ledger.store import log_rows
from tequio_ledger.store.models import LOG_CHECKPOINT
from tequio_ledger.web.answers import snapshot
from tequio_shared.errors import RefusedError
from tests.support.ledgers import VirtualClock, make_settings, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
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
        with snapshot(ledger.database) as (_, published):
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
    reading = snapshot(ledger.database, patience_s=0.05)
    with pytest.raises(RefusedError, match="try again later"), reading:
        pass
