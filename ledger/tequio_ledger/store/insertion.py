"""Rows into a table, by the fastest way that the database has.

PostgreSQL takes many rows by COPY, SQLite by one prepared statement. What is new or grown is
written by the same `INSERT ... ON CONFLICT` in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlalchemy import Integer, LargeBinary, String, insert
from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg
    from sqlalchemy import Connection

    from tequio_ledger.store.models import Base

    Row = Mapping[str, object]
    Upsert = postgresql.Insert | sqlite.Insert

_POSTGRESQL = "postgresql"
_WORTH_COPYING = 16
"""Fewer rows go faster in one statement each."""


def insert_many(connection: Connection, table: type[Base], rows: Sequence[Row]) -> None:
    """Write rows, all with the same names; one that is there already fails."""
    is_postgresql = connection.dialect.name == _POSTGRESQL
    if is_postgresql and len(rows) >= _WORTH_COPYING and _is_plain(table):
        _copy(connection, table, rows)
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
    statement = _insert(connection, table)
    columns = {name: statement.excluded[name] for name in fresh}
    change = statement.on_conflict_do_update(index_elements=list(keys), set_=columns)
    connection.execute(change, rows)


def _insert(connection: Connection, table: type[Base]) -> Upsert:
    """Both have the clause; SQLAlchemy has a class for each."""
    if connection.dialect.name == _POSTGRESQL:
        return postgresql.insert(table)
    return sqlite.insert(table)


def _copy(connection: Connection, table: type[Base], rows: Sequence[Row]) -> None:
    names = list(rows[0])
    quoted = connection.dialect.identifier_preparer.quote
    columns = ", ".join(quoted(name) for name in names)
    order = f"COPY {quoted(table.__tablename__)} ({columns}) FROM STDIN (FORMAT BINARY)"
    types = [_type(table, name) for name in names]
    driver = cast("psycopg.Connection[object]", connection.connection.driver_connection)
    with driver.cursor() as cursor, cursor.copy(order) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row([row[name] for name in names])


def _is_plain(table: type[Base]) -> bool:
    """Whether COPY needs no help: bytes, texts and whole numbers."""
    kinds = (LargeBinary, String, Integer)
    return all(isinstance(column.type, kinds) for column in table.__table__.c)


def _type(table: type[Base], name: str) -> str:
    kind = table.__table__.c[name].type
    if isinstance(kind, LargeBinary):
        return "bytea"
    return "text" if isinstance(kind, String) else "int8"
