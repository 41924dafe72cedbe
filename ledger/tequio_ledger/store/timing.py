"""How long transactions hold a connection of an engine, from its pool and back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlalchemy import event

from tequio_ledger import metrics

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.pool import ConnectionPoolEntry

_SINCE = "tequio_since"


def watch(engine: Engine, name: str) -> None:
    """Observe every use of an engine's connections from now on."""
    held = metrics.DATABASE_S.labels(engine=name)

    def taken(_dbapi: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        record.info[_SINCE] = time.perf_counter()

    def returned(_dbapi: object, record: ConnectionPoolEntry) -> None:
        since = record.info.pop(_SINCE, None)
        if since is not None:
            held.observe(time.perf_counter() - since)

    event.listen(engine, "checkout", taken)
    event.listen(engine, "checkin", returned)
