"""Rows that an entry of the log explains, and entries that are not in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert

from tequio_ledger.store import queries
from tequio_ledger.store.database import Database
from tequio_ledger.store.models import LOG_ENTRY, LOG_HEAD, PEER

if TYPE_CHECKING:
    from pathlib import Path

LOGGED, BEYOND, NOWHERE = (bytes([number]) * 32 for number in (1, 2, 3))

NOTHING = {"gflop": 0, "unvested": 0, "forfeited": 0}


def test_an_entry_beyond_the_end_of_the_log_explains_nothing(
    tmp_path: Path, either_database: str
) -> None:
    database = Database(either_database or tmp_path / "db")
    database.migrate()
    entry = {"leaf": b"leaf", "type": "key.register", "at": 0}
    with database.writer.begin() as connection:
        head = {"log_id": 1, "origin": "o", "size": 1, "root": bytes(32), "term": 1}
        connection.execute(insert(LOG_HEAD), [head])
        connection.execute(
            insert(LOG_ENTRY),
            [
                {**entry, "idx": 0, "id": LOGGED, "author": LOGGED},
                {**entry, "idx": 1_000, "id": BEYOND, "author": BEYOND},
            ],
        )
        peer = {"registered_index": 0, "last_seq": 1, "last_hash": bytes(32), **NOTHING}
        keys = (LOGGED, BEYOND, NOWHERE)
        connection.execute(insert(PEER), [{**peer, "key": key} for key in keys])
        found = queries.reasons(connection, "peer", None, 10)
    database.close()
    assert dict(found) == {(LOGGED,): True, (BEYOND,): False, (NOWHERE,): False}
