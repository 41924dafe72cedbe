"""A look at the derived tables together with the checkpoint that says for which log they are true.

Rows and entries are committed first and signed right after; between the two nobody may see them.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tequio_ledger.log.checkpoint import Published
from tequio_ledger.store import log_rows
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tequio_ledger.store.engine import Database

PAUSE_S = 0.002
PATIENCE_S = 2.0
"""Commit and signature are milliseconds apart, unless the disk takes only the first."""


@contextmanager
def snapshot(database: Database) -> Iterator[tuple[Connection, Published]]:
    """Read as of one moment at which all that is committed is published; blocks meanwhile.

    Raises RefusedError("read-only") when that does not come.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with database.reader.begin() as connection:
            published = _published(connection)
            if published is not None:
                yield connection, published
                return
        if time.monotonic() > deadline:
            raise RefusedError("read-only", "the last entries are not signed yet: come back later")
        time.sleep(PAUSE_S)


def _published(connection: Connection) -> Published | None:
    head = log_rows.read_head(connection)
    stored = log_rows.read_last_checkpoint(connection)
    if head is None or stored is None or stored.size != head.size:
        return None
    return Published(size=stored.size, root=stored.root, note=stored.note)
