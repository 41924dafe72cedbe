"""A filled database as an older program would have left it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import MetaData, insert, select

if TYPE_CHECKING:
    from tequio_ledger.store.database import Database

_VERSION = "alembic_version"


def turn_back(database: Database, revision: str) -> None:
    """Put the tables of an older revision in the place of today's, with what fits of the rows."""
    today = MetaData()
    with database.writer.begin() as connection:
        today.reflect(connection)
        kept = {
            table.name: [dict(row._mapping) for row in connection.execute(select(table))]  # noqa: SLF001 - the library's public name for it
            for table in today.sorted_tables
            if table.name != _VERSION
        }
        today.drop_all(connection)
    database.migrate(revision)
    former = MetaData()
    with database.writer.begin() as connection:
        former.reflect(connection)
        for table in former.sorted_tables:
            rows = [
                {name: value for name, value in row.items() if name in table.c}
                for row in kept.get(table.name, [])
            ]
            if rows:
                connection.execute(insert(table), rows)
