"""The activity database: the last few thousand events of this worker, as codes with values.

Events are ordered by their number, whatever the clock does. Recording must never fail the caller:
an event that cannot be written is dropped and logged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec
import structlog

from tequio_client.ipc.control import ActivityReply, ActivityRow, AskActivity
from tequio_client.worker.points.points_db import DatabaseError, DatabaseFile
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from sqlite3 import Row

    from tequio_client.ipc.snapshot import Value
    from tequio_client.ipc.texts import ActivityEvent

log = structlog.get_logger(__name__)

FILE = "activity.sqlite"
VERSION = 1
MAX_EVENTS = 4_000
"""Events kept."""
TRIM_EVERY = 200
"""Events beyond `MOST` after which the oldest are deleted together."""
MAX_TEXT = 512
"""Most characters of one value."""
SCHEMA = """
CREATE TABLE event (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, code TEXT NOT NULL,
    level TEXT NOT NULL, details TEXT NOT NULL
);
"""


class ActivityDatabase:
    """The events of one worker."""

    def __init__(self, file: DatabaseFile, now_ms: Callable[[], int]) -> None:
        self.file = file
        self.now_ms = now_ms
        ((number,),) = file.rows("SELECT COALESCE(MAX(number), 0) FROM event")
        self.number = int(number)
        """Number of the newest event."""

    @classmethod
    def opened(cls, folder: Path, now_ms: Callable[[], int]) -> Self:
        """Open the database in a worker's folder; raises UserFacingError."""
        try:
            return cls(DatabaseFile(folder / FILE, SCHEMA, version=VERSION), now_ms)
        except DatabaseError as err:
            raise UserFacingError(f"{err}: free some space, or choose another --dir") from err

    def close(self) -> None:
        self.file.close()

    def add(self, code: ActivityEvent, level: str = "info", **values: Value) -> None:
        """Record an event; `level` is info, good, warning or error."""
        shortened = {name: _short(value) for name, value in values.items()}
        details = msgspec.json.encode(shortened).decode()
        row = (max(self.now_ms(), 0), str(code), level, details)
        try:
            with self.file.writing() as sql:
                added = sql.execute(
                    "INSERT INTO event (at_ms, code, level, details) VALUES (?, ?, ?, ?)", row
                ).lastrowid
                if added is not None and added % TRIM_EVERY == 0:
                    sql.execute("DELETE FROM event WHERE number <= ?", (added - MAX_EVENTS,))
        except DatabaseError as err:
            log.warning("event not written", code=str(code), error=str(err))
            return
        self.number = added or self.number

    def answer(self, asked: AskActivity) -> ActivityReply:
        """Return events, the newest first; raises DatabaseError."""
        rows = self.file.rows(
            "SELECT * FROM event WHERE ?1 IS NULL OR number < ?1 ORDER BY number DESC LIMIT ?2",
            asked.before,
            asked.limit + 1,
        )
        shown = tuple(_row(row) for row in rows[: asked.limit])
        return ActivityReply(rows=shown, has_more=len(rows) > asked.limit)


def _short(value: Value) -> Value:
    return value[:MAX_TEXT] if isinstance(value, str) else value


def _row(row: Row) -> ActivityRow:
    return ActivityRow(
        number=row["number"],
        at_ms=row["at_ms"],
        code=row["code"],
        level=row["level"],
        values=msgspec.json.decode(row["details"], type=dict[str, str | int | float]),
    )
