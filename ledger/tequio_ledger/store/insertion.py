"""Inserting and deleting many rows, in the fastest way that the database has.

Both databases understand `INSERT ... ON CONFLICT`. SQLite inserts many rows with one prepared
statement. PostgreSQL would need a message for each row, so it gets many rows at once, as one array
per column.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import JSON, Boolean, Connection, LargeBinary, String, Table, delete, insert
from sqlalchemy.types import TypeEngine

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

Row = Mapping[str, object]

_POSTGRESQL = "postgresql"
_MANY = 16
"""Fewer rows are faster as one statement each."""
_PAGE_ROWS = 4_096
"""More rows become several statements: one of a million would exceed what a message may hold."""


def empty(connection: Connection, tables: Collection[Table]) -> None:
    """Delete all rows of tables, which are sorted children first."""
    if connection.dialect.name == _POSTGRESQL:
        # For each key that it deletes, it would look through all credits that may refer to it.
        names = ", ".join(map(connection.dialect.identifier_preparer.format_table, tables))
        connection.exec_driver_sql(f"TRUNCATE {names}")
        return
    for table in tables:
        connection.execute(delete(table))


def insert_many(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Write rows, all with the same columns; fails if one exists already."""
    if _are_many(connection, rows):
        _insert_arrays(connection, table, rows)
    elif rows:
        connection.execute(insert(table), rows)


def insert_new(connection: Connection, table: Table, row: Row) -> None:
    """Write a row unless its key exists."""
    connection.execute(_insert(connection, table).on_conflict_do_nothing(), row)


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[Row],
    fresh: Sequence[str] | None = None,
) -> None:
    """Write rows; of those that exist already, replace the columns named in `fresh`.

    Without `fresh`, all columns outside the primary key are replaced.
    """
    if not rows:
        return
    keys = [one.name for one in table.primary_key]
    fresh = fresh or [name for name in rows[0] if name not in keys]
    if _are_many(connection, rows):
        quote = connection.dialect.identifier_preparer.quote
        changes = ", ".join(f"{quote(name)} = EXCLUDED.{quote(name)}" for name in fresh)
        key = ", ".join(map(quote, keys))
        _insert_arrays(connection, table, rows, f" ON CONFLICT ({key}) DO UPDATE SET {changes}")
        return
    statement = _insert(connection, table)
    columns = {name: statement.excluded[name] for name in fresh}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=columns), rows)


def _are_many(connection: Connection, rows: Sequence[Row]) -> bool:
    return connection.dialect.name == _POSTGRESQL and len(rows) >= _MANY


def _insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    # Only the database in use: a dialect with its types is a tenth of a start's imports.
    if connection.dialect.name == _POSTGRESQL:
        from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - as above

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite  # noqa: PLC0415 - as above

    return sqlite.insert(table)


def _insert_arrays(
    connection: Connection, table: Table, rows: Sequence[Row], conflict: str = ""
) -> None:
    # As text, because SQLAlchemy's own parameters cannot ask for %b: it makes the driver send the
    # arrays in binary form, so that keys and leaves are not written out in hex.
    quote = connection.dialect.identifier_preparer.quote
    types = {name: table.c[name].type for name in rows[0]}
    names = ", ".join(map(quote, types))
    values = ", ".join(f"made.{quote(name)}{_cast(kind)}" for name, kind in types.items())
    arrays = ", ".join(f"%b::{_element(kind)}[]" for kind in types.values())
    order = (
        f"INSERT INTO {quote(table.name)} ({names}) SELECT {values} "  # noqa: S608 - names of our own tables
        f"FROM unnest({arrays}) AS made ({names}){conflict}"
    )
    for first in range(0, len(rows), _PAGE_ROWS):
        page = rows[first : first + _PAGE_ROWS]
        columns = [[_plain(row[name], kind) for row in page] for name, kind in types.items()]
        connection.exec_driver_sql(order, tuple(columns))


def _plain(value: object, kind: TypeEngine[object]) -> object:
    return json.dumps(value) if isinstance(kind, JSON) else value


def _cast(kind: TypeEngine[object]) -> str:
    # JSON is sent as text and becomes JSON here: then every column is an array of a plain type.
    return "::json" if isinstance(kind, JSON) else ""


def _element(kind: TypeEngine[object]) -> str:
    if isinstance(kind, LargeBinary):
        return "bytea"
    if isinstance(kind, Boolean):
        return "bool"
    return "text" if isinstance(kind, (String, JSON)) else "int8"
