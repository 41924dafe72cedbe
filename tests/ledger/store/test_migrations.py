"""The migrations make the tables of the models, and leave a filled database as it is."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import make_url, text
from sqlalchemy.schema import CreateIndex, CreateTable

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import Database
from tequio_ledger.store.models import METADATA
from tequio_shared.errors import UserFacingError
from tests.ledger.test_replay import CLOCK, live_through, rows
from tests.support.ledgers import make_settings, opened

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.store.log_rows import SignedHead

SQLITE_INDICES = ("sql", "sqlite_master", "name")
REVISION = "0012"
"""Of the tables: a program with another one refuses them."""
TABLES = "3d0b9a29d975a022d371e22f098ea4ae4afa3f72ff9b292dc1d6495a22581603"
"""Hash of the tables that the models had when they got this revision."""


def test_the_migrations_make_the_tables_of_the_models(tmp_path: Path, either_database: str) -> None:
    with closing(Database(either_database or tmp_path / "new.sqlite3")) as database:
        database.migrate()
        assert database.revision() == REVISION
        with database.writer.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            found = compare_metadata(context, METADATA)
            if not either_database:  # SQLAlchemy reads no DESC back from SQLite
                found = [one for one in found if getattr(one[1], "name", "") != "peer_rank"]
                query = text("SELECT sql FROM sqlite_master WHERE name = 'peer_rank'")
                sql = connection.execute(query).scalar_one()
                assert sql.endswith('(gflop DESC, registered_index, "key", name)')
            assert found == []


def test_changed_tables_have_a_new_revision() -> None:
    """The revision makes them from the models, so only a stored hash shows that they changed."""
    urls = ("sqlite://", "postgresql+psycopg://")
    lite, large = (make_url(url).get_dialect()() for url in urls)
    tables = METADATA.tables.values()
    made = [str(CreateTable(one).compile(dialect=kind)) for one in tables for kind in (lite, large)]
    indices = [index for one in tables for index in one.indexes]
    made += [str(CreateIndex(one).compile(dialect=lite)) for one in indices]
    found = hashlib.sha256("".join(sorted(made)).encode()).hexdigest()
    assert found == TABLES, (
        f"A changed table needs a new revision number: databases of {REVISION} lack the change. "
        "Rename the file of the revision, and store its number and this hash here."
    )


def test_both_databases_leave_the_same_rows_out_of_an_index(
    tmp_path: Path, either_database: str
) -> None:
    """The models have the condition of SQLite alone: comparing the tables would not miss it."""
    with closing(Database(either_database or tmp_path / "new.sqlite3")) as database:
        database.migrate()
        catalog = (
            "SELECT {} FROM {} WHERE {} "
            "IN ('log_entry_snapshot', 'credit_team', 'standing_restricted', 'standing_appeal')"
        )
        place = ("indexdef", "pg_indexes", "indexname") if either_database else SQLITE_INDICES
        with database.writer.connect() as connection:
            made = connection.execute(text(catalog.format(*place))).scalars().all()
    plain = str.maketrans("", "", "()")
    conditions = {
        sql.partition(" WHERE ")[2].translate(plain).replace("::text", "") for sql in made
    }
    left_out = {"team <> 0", "type = 'log.snapshot'", "is_restricted", "appeal IS NOT NULL"}
    assert conditions == left_out


def test_hashes_and_signatures_are_stored_uncompressed(either_database: str) -> None:
    if not either_database:
        pytest.skip("SQLite compresses nothing")
    with closing(Database(either_database)) as database:
        database.migrate()
        with database.writer.connect() as connection:
            stored = connection.execute(
                text(
                    "SELECT attrelid::regclass::text, attname FROM pg_attribute "
                    "WHERE attstorage = 'e' AND attnum > 0 "
                    "AND attrelid IN ('log_entry'::regclass, 'log_tile'::regclass)"
                )
            ).all()
            kinds = "SELECT relpersistence, reloptions FROM pg_class WHERE relname = :name"
            (submission,) = connection.execute(text(kinds), {"name": "submission"})
            (tile,) = connection.execute(text(kinds), {"name": "log_tile"})
    assert sorted(map(tuple, stored)) == [("log_entry", "leaf"), ("log_tile", "data")]
    assert submission.relpersistence == "u", "it need not survive a crash of the database"
    assert tile.reloptions == ["fillfactor=90"]


def test_a_filled_database_keeps_its_root_and_its_rows(
    tmp_path: Path, either_database: str
) -> None:
    given = make_settings(tmp_path)
    with opened(given, CLOCK) as ledger:
        asyncio.run(live_through(ledger))
        before, published, held = head_of(ledger.database), ledger.log.published, rows(ledger)
    place = either_database or DataFolder(tmp_path).database
    with closing(Database(place)) as database:
        assert database.revision() == REVISION
        database.migrate()
        assert database.revision() == REVISION
        assert head_of(database) == before
    with opened(given, CLOCK) as ledger:
        assert ledger.log.published == published
        assert rows(ledger) == held


@pytest.mark.parametrize("revision", ["0010", "9999"])
def test_a_database_of_another_version_is_refused(
    tmp_path: Path, either_database: str, revision: str
) -> None:
    with closing(Database(either_database or tmp_path / "new.sqlite3")) as database:
        database.migrate()
        with database.writer.begin() as connection:
            stored = text("UPDATE alembic_version SET version_num = :revision")
            connection.execute(stored, {"revision": revision})
        with pytest.raises(UserFacingError, match="made by another version of tequio-ledger"):
            database.migrate()


def head_of(database: Database) -> SignedHead | None:
    with database.reader.begin() as connection:
        return log_rows.read_head(connection)
