"""Inserts many rows into a table of PostgreSQL with one message: one array per column.

Imported only when that database is used, because psycopg would slow down every other start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, LiteralString

from psycopg import sql
from sqlalchemy import JSON, Connection, LargeBinary, String

if TYPE_CHECKING:
    from tequio_ledger.store.models import Base

    Row = Mapping[str, object]


def insert_arrays(connection: Connection, table: type[Base], rows: Sequence[Row]) -> None:
    """Write rows, all with the same columns; fails if one exists already."""
    _insert_arrays(connection, table, rows, sql.SQL(""))


def upsert_arrays(
    connection: Connection,
    table: type[Base],
    rows: Sequence[Row],
    keys: Sequence[str],
    fresh: Sequence[str],
) -> None:
    """Write rows; if a key exists already, replace the columns named in `fresh`."""
    changes = [sql.SQL("{0} = EXCLUDED.{0}").format(sql.Identifier(name)) for name in fresh]
    conflict = sql.SQL(" ON CONFLICT ({}) DO UPDATE SET {}")
    _insert_arrays(connection, table, rows, conflict.format(_named(keys), _listed(changes)))


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
    # JSON is sent as text and becomes JSON here: then every column is an array of a plain type.
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
