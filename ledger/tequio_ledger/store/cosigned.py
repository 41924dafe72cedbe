"""Queries on the checkpoints that were published under a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from tequio_ledger.store.models import LogCosigned

if TYPE_CHECKING:
    from sqlalchemy import Connection


def write(connection: Connection, size: int, note: bytes, at_ms: int) -> None:
    """Write a published checkpoint; one of that size that is there already is replaced.

    It can only be the same one under other cosignatures: the policy was changed since.
    """
    connection.execute(delete(LogCosigned).where(LogCosigned.size == size))
    connection.execute(insert(LogCosigned).values(size=size, note=note, at=at_ms))


def read_last(connection: Connection) -> bytes | None:
    """Read the newest published checkpoint."""
    query = select(LogCosigned.note).order_by(LogCosigned.size.desc()).limit(1)
    return connection.execute(query).scalar_one_or_none()
