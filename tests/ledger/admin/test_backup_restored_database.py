"""PostgreSQL brought back to an earlier time: the folder knows what it signed."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

from tequio_ledger.admin import doctor
from tequio_ledger.admin.doctor import Grade, worst
from tequio_ledger.admin.move import Move
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.store.database import Database
from tests.ledger.log.test_log import CLOCK, grow
from tests.ledger.test_replay import CLOCK as ROUNDS
from tests.ledger.test_replay import live_through
from tests.support.authors import Author
from tests.support.ledgers import make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.postgres import Cluster


def test_a_restored_database_is_not_signed_by_a_folder_that_signed_more(
    tmp_path: Path, cluster: Cluster
) -> None:
    url = cluster.database()
    with opened(make_settings(tmp_path, database=url), CLOCK) as ledger:
        grow(ledger, Author("before", ledger.state.net), 3)
    earlier = f"{url.rpartition('/')[2]}_earlier"
    cluster.sql(f"CREATE DATABASE {earlier} TEMPLATE {url.rpartition('/')[2]}")
    with opened(make_settings(tmp_path, database=url), CLOCK) as ledger:
        grow(ledger, Author("after", ledger.state.net), 3)
    restored = make_settings(tmp_path, database=f"{url.rpartition('/')[0]}/{earlier}")
    with opened(restored, CLOCK) as ledger:
        assert ledger.health().status == "read-only"
        assert ledger.log.published.size == 4, "it serves what it has"


def test_the_doctor_finds_a_ledger_on_postgresql_well(tmp_path: Path, cluster: Cluster) -> None:
    given = make_settings(tmp_path, database=cluster.database())
    with opened(given, ROUNDS) as ledger:
        asyncio.run(live_through(ledger))
    found = doctor.examine(given, DataFolder(tmp_path), ROUNDS)
    assert worst(found) is Grade.OK, found


def test_the_doctor_finds_a_ledger_well_that_was_moved_to_postgresql(
    tmp_path: Path, cluster: Cluster
) -> None:
    with opened(make_settings(tmp_path), ROUNDS) as ledger:
        asyncio.run(live_through(ledger))
    url = cluster.database()
    with (
        DataFolder(tmp_path) as folder,
        closing(Database(folder.database)) as source,
        closing(Database(url)) as target,
    ):
        Move(folder, source, target).run(lambda _done, _size: None)
    there = doctor.examine(make_settings(tmp_path, database=url), DataFolder(tmp_path), ROUNDS)
    assert worst(there) is Grade.OK, there
    here = doctor.examine(make_settings(tmp_path), DataFolder(tmp_path), ROUNDS)
    assert [one.check for one in here if one.grade is Grade.ERROR] == ["signing"]
