"""How far the log was sent to places outside of the ledger, for all of its processes.

A place is named by a digest: its address may contain secrets, which do not belong here. Two rooms
share these rows, webhooks and copies of tiles: both continue here after a restart, or when another
process begins to write the log.
"""

from __future__ import annotations

from sqlalchemy import select, update

from tequio_ledger.store.database import Database
from tequio_ledger.store.insertion import insert_new
from tequio_ledger.store.models import SENT_POSITION
from tequio_shared.ids import Digest


def read_position(database: Database, place: Digest, first: int) -> int:
    """Read the first entry that was not sent to a place; `first` for a new one, which is stored.

    Raises DatabaseError.
    """
    wanted = select(SENT_POSITION.c.position).where(SENT_POSITION.c.place == place)
    with database.glance.connect() as connection:
        stored = connection.scalar(wanted)
    if stored is None:
        with database.writer.begin() as connection:
            insert_new(connection, SENT_POSITION, {"place": place, "position": first})
        return first
    return stored


def write_position(database: Database, place: Digest, position: int) -> None:
    """Move the position of a known place forward, never back; raises DatabaseError."""
    change = (
        update(SENT_POSITION)
        .where(SENT_POSITION.c.place == place, SENT_POSITION.c.position < position)
        .values(position=position)
    )
    with database.writer.begin() as connection:
        connection.execute(change)
