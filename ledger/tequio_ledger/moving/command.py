"""`tequio-ledger migrate` and `tequio-ledger move`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from tequio_ledger import logs
from tequio_ledger.config.options import with_settings
from tequio_ledger.config.settings import LEDGER
from tequio_ledger.folder import Folder
from tequio_ledger.moving.move import Move
from tequio_ledger.store import log_rows
from tequio_ledger.store.engine import Database
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text

if TYPE_CHECKING:
    from tequio_ledger.config.settings import LedgerSettings
    from tequio_ledger.store.log_rows import Head


@click.command("migrate")
@with_settings(LEDGER)
def migrate(settings: LedgerSettings) -> None:
    """Bring the tables up to this program, as each start does; the log stays as it is."""
    logs.configure(logs.Style.CONSOLE, "warning")
    with (
        Folder(settings.folder) as folder,
        closing(Database(settings.database or folder.database)) as database,
    ):
        before, head = database.revision(), _head(database)
        database.migrate()
        if head is not None and _head(database) != head:
            raise UserFacingError(f"the log of {database.name} changed: is it being served?")
        now = database.revision()
    log = "no log yet" if head is None else f"{head.size} entries, root {to_text(head.root)}"
    click.echo(f"tables {before or 'none'} -> {now}; {log}")


@click.command("move")
@with_settings(LEDGER)
@click.option("--to", "target", required=True, help="URL of an empty database.")
def move(settings: LedgerSettings, target: str) -> None:
    """Move a ledger to another database; run it again when it was cut short.

    From then on nothing is signed in the old one. Blobs and keys stay where they are: serve the
    same folder with --database.
    """
    logs.configure(logs.Style.CONSOLE, "warning")
    with (
        Folder(settings.folder) as folder,
        closing(Database(settings.database or folder.database)) as old,
        closing(Database(target)) as new,
    ):
        moved = Move(folder, old, new).run(_tell)
    click.echo(
        f"moved {moved.size} entries with root {moved.root}; go on with "
        f"`tequio-ledger serve --database {new.name}`"
    )


def _head(database: Database) -> Head | None:
    if database.revision() is None:
        return None
    with database.reader.begin() as connection:
        return log_rows.read_head(connection)


def _tell(done: int, of: int) -> None:
    click.echo(f"{done} of {of} entries", err=True)
