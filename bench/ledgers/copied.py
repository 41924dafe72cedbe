"""A filled SQLite ledger, copied to PostgreSQL in minutes however long its log is.

`tequio-ledger move` inserts row by row into tables with indices and checks the whole tree, an hour
for ten million entries. Here the long tables go through COPY, and their keys and indices are made
afterwards. The rows are the same; indices that are made at once are a little smaller.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, LiteralString, cast

import psycopg
from psycopg import sql
from sqlalchemy import make_url, select

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.store.database import Database
from tequio_ledger.store.insertion import insert_many
from tequio_ledger.store.models import LOG_ENTRY, LOG_TILE, METADATA

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Dialect, Table

_LONG = (LOG_ENTRY, LOG_TILE)


def copied(folder: Path, target: Path, url: str) -> None:
    """Copy a ledger to an empty database, and the rest of its folder to another folder."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("ledger.sqlite*"))
    path = DataFolder(folder).database
    with closing(Database(path)) as old, closing(Database(url)) as new:
        new.migrate()
        with old.reader.begin() as source, new.writer.begin() as made:
            for table in METADATA.sorted_tables:  # parents first
                if table not in _LONG:
                    found = source.execute(select(table)).mappings()
                    insert_many(made, table, [dict(row) for row in found])
    place = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with closing(sqlite3.connect(path)) as rows, psycopg.connect(place) as connection:
        connection.execute("SET maintenance_work_mem = '1GB'")
        for table in _LONG:
            _copy(rows, connection, table, new.writer.dialect)
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _copy(
    rows: sqlite3.Connection, connection: psycopg.Connection, table: Table, dialect: Dialect
) -> None:
    name = sql.Identifier(table.name)
    keys = connection.execute(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE conrelid = %s::regclass AND contype IN ('p', 'u')",
        [table.name],
    ).fetchall()
    for key, _ in keys:
        drop = sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}")
        connection.execute(drop.format(name, sql.Identifier(key)))
    indices = connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", [table.name]
    ).fetchall()
    for index, _ in indices:
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(index)))
    columns = sql.SQL(", ").join(sql.Identifier(one.name) for one in table.c)
    order = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(name, columns)
    with connection.cursor() as cursor, cursor.copy(order) as copy:
        copy.set_types([str(one.type.compile(dialect)).lower() for one in table.c])
        for row in rows.execute(str(select(table))):
            copy.write_row(row)
    for key, definition in keys:
        add = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} ").format(name, sql.Identifier(key))
        connection.execute(add + sql.SQL(cast("LiteralString", definition)))
    for _, definition in indices:
        connection.execute(sql.SQL(cast("LiteralString", definition)))
