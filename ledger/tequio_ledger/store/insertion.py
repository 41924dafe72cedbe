"""Rows into a table, by the fastest way that the database has.

What is new or grown is written by the same `INSERT ... ON CONFLICT` in both. SQLite takes many rows
by one prepared statement; to PostgreSQL each row by itself would be a message, so it is given many
at once, an array a column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert
from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from tequio_ledger.store.models import Base

    Row = Mapping[str, object]
    Upsert = postgresql.Insert | sqlite.Insert

_POSTGRESQL = "postgresql"
_MANY = 16
"""Fewer rows go faster in one statement each."""


def insert_many(connection: Connection, table: type[Base], rows: Sequence[Row]) -> None:
    """Write rows, all with the same names; one that is there already fails."""
    if _are_many(connection, rows):
        from tequio_ledger.store.array_insertion import insert_arrays  # noqa: PLC0415 - see there

        insert_arrays(connection, table, rows)
    else:
        connection.execute(insert(table), rows)


def insert_new(connection: Connection, table: type[Base], row: Row) -> None:
    """Write a row unless its key is there."""
    connection.execute(_insert(connection, table).on_conflict_do_nothing(), row)


def upsert(
    connection: Connection,
    table: type[Base],
    rows: Sequence[Row],
    keys: Sequence[str],
    fresh: Sequence[str],
) -> None:
    """Write rows; of one whose key is there already, the named columns are written anew."""
    if _are_many(connection, rows):
        from tequio_ledger.store.array_insertion import upsert_arrays  # noqa: PLC0415 - see there

        upsert_arrays(connection, table, rows, keys, fresh)
        return
    statement = _insert(connection, table)
    columns = {name: statement.excluded[name] for name in fresh}
    change = statement.on_conflict_do_update(index_elements=list(keys), set_=columns)
    connection.execute(change, rows)


def _are_many(connection: Connection, rows: Sequence[Row]) -> bool:
    return connection.dialect.name == _POSTGRESQL and len(rows) >= _MANY


def _insert(connection: Connection, table: type[Base]) -> Upsert:
    """Both have the clause; SQLAlchemy has a class for each."""
    if connection.dialect.name == _POSTGRESQL:
        return postgresql.insert(table)
    return sqlite.insert(table)
