"""Every former revision, filled, becomes today's: the log keeps its root, derived rows follow."""

from __future__ import annotations

import asyncio
from contextlib import closing
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.data_folder import Folder
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import Database
from tests.ledger.test_replay import CLOCK, live_through, rows
from tests.support.former import turn_back
from tests.support.ledgers import make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.store.log_rows import Head

VERSIONS = resources.files("tequio_ledger.store") / "migrations" / "versions"
REVISIONS = sorted(one.name[:4] for one in VERSIONS.iterdir() if one.name[:4].isdigit())


@pytest.mark.parametrize("former", REVISIONS[:-1])
def test_a_filled_database_of_a_former_revision_keeps_its_root(
    tmp_path: Path, either_database: str, former: str
) -> None:
    given = make_settings(tmp_path)
    with opened(given, CLOCK) as ledger:
        asyncio.run(live_through(ledger))
        before, published, held = head_of(ledger.database), ledger.log.published, rows(ledger)
        turn_back(ledger.database, former)
    place = either_database or Folder(tmp_path).database
    with closing(Database(place)) as database:
        assert database.revision() == former
        database.migrate()
        assert database.revision() == REVISIONS[-1]
        assert head_of(database) == before
    with opened(given, CLOCK) as ledger:
        assert ledger.log.published == published
        assert rows(ledger) == held


def head_of(database: Database) -> Head | None:
    with database.reader.begin() as connection:
        return log_rows.read_head(connection)
