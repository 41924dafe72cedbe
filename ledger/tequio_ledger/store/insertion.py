"""Rows into a table, by the fastest way that the database has.

What is new or grown is written by the same `INSERT ... ON CONFLICT` in both. SQLite takes many rows
by one prepared statement; to PostgreSQL each row by itself would be a message, so it is given many
at once, an array a column.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, LiteralString

from psycopg import sql
from sqlalchemy import JSON, LargeBinary, String, insert
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
        _insert_arrays(connection, table, rows, sql.SQL(""))
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
        changes = [sql.SQL("{0} = EXCLUDED.{0}").format(sql.Identifier(name)) for name in fresh]
        conflict = sql.SQL(" ON CONFLICT ({}) DO UPDATE SET {}")
        _insert_arrays(connection, table, rows, conflict.format(_named(keys), _listed(changes)))
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


def _insert_arrays(
    connection: Connection, table: type[Base], rows: Sequence[Row], conflict: sql.Composable
) -> None:
    names = list(rows[0])
    order = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM unnest({}) AS made ({}){}").format(
        sql.Identifier(table.__tablename__),
        _named(names),
        _listed([_value(table, name) for name in names]),
        _listed([sql.SQL(f"%b::{_sent_as(table, name)}[]") for name in names]),
        _named(names),
        conflict,
    )
    arrays = tuple([_plain(table, name, row[name]) for row in rows] for name in names)
    connection.exec_driver_sql(order.as_string(), arrays)


def _listed(parts: Sequence[sql.Composable]) -> sql.Composed:
    return sql.SQL(", ").join(parts)


def _named(names: Sequence[str]) -> sql.Composed:
    return _listed([sql.Identifier(name) for name in names])


def _value(table: type[Base], name: str) -> sql.Composable:
    """Take a value out of its array."""
    column = sql.SQL("made.{}").format(sql.Identifier(name))
    return sql.SQL("{}::json").format(column) if _is_json(table, name) else column


def _plain(table: type[Base], name: str, value: object) -> object:
    return json.dumps(value) if _is_json(table, name) else value


def _is_json(table: type[Base], name: str) -> bool:
    return isinstance(table.__table__.c[name].type, JSON)


def _sent_as(table: type[Base], name: str) -> LiteralString:
    kind = table.__table__.c[name].type
    if isinstance(kind, LargeBinary):
        return "bytea"
    return "text" if isinstance(kind, (String, JSON)) else "int8"
