"""What one kind of database does its own way; everything else is the same code for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection, Engine
    from sqlalchemy.exc import DatabaseError

    from tequio_shared.errors import TequioError


class Dialect(Protocol):
    """One place where a ledger's tables lie."""

    name: str
    """The place, as it may stand in a sentence: no password."""
    is_shared: bool
    """Whether several processes may serve from it at once."""

    def writer(self) -> Engine:
        """Make the engine of short writes."""
        ...

    def reader(self) -> Engine:
        """Make the engine of readers: each transaction sees one moment and writes nothing."""
        ...

    def glance(self, reader: Engine) -> Engine:
        """Make of a reader's engine one for questions that stand alone, on its connections."""
        ...

    def office(self, writer: Engine) -> Engine:
        """Make the engine of the log's one writer; it has one connection."""
        ...

    def is_vacant(self, connection: Connection) -> bool:
        """Whether no process is the log's writer; ends the session of one that rests too long."""
        ...

    def migrating(self, connection: Connection) -> AbstractContextManager[None]:
        """Keep other processes from changing the tables inside the block."""
        ...

    def check_pages(self, connection: Connection) -> Iterator[str]:
        """Let the database check itself; gives its complaints."""
        ...

    def failed_write(self, err: DatabaseError) -> TequioError:
        """Say what a failed write means: UnwritableError for what may pass, else FatalLogError."""
        ...

    def explain(self, err: DatabaseError) -> str:
        """Say in one sentence what an error means for the person who runs the service."""
        ...
