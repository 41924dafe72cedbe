"""A consistent read of the derived tables, and the checkpoint for which it is true."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from tequio_ledger.ledger import Ledger
from tequio_ledger.log.guard import Published
from tequio_ledger.store import log_rows
from tequio_shared.api.answer import AsOf
from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text

SNAPSHOT_PAUSE_S = 0.002
SNAPSHOT_TIMEOUT_S = 2.0
"""The signature follows the commit within milliseconds, unless writing it fails."""


def as_of(published: Published) -> AsOf:
    return AsOf(size=published.size, root=to_text(published.root))


@contextmanager
def snapshot(
    ledger: Ledger, patience_s: float = SNAPSHOT_TIMEOUT_S
) -> Iterator[tuple[Connection, Published]]:
    """Read as of one moment at which every committed entry is published; blocks until then.

    Rows and entries are committed first and signed right after. No reader may see rows of entries
    that are not signed. Raises RefusedError("read-only") when the signature does not come in time,
    and at once when nothing is being logged.
    """
    deadline = time.monotonic() + patience_s
    while True:
        with ledger.database.reader.begin() as connection:
            published = _published_at(connection)
            if published is not None:
                yield connection, published
                return
        if time.monotonic() > deadline or ledger.sequencer.closed_for is not None:
            raise RefusedError("read-only", "the last entries are not signed yet: try again later")
        time.sleep(SNAPSHOT_PAUSE_S)


def _published_at(connection: Connection) -> Published | None:
    head = log_rows.read_head(connection)
    stored = log_rows.read_last_checkpoint(connection)
    if head is None or stored is None or stored.size != head.size:
        return None
    return Published(size=stored.size, root=stored.root, note=stored.note)
