"""`tequio-ledger replay`: rebuilds every derived table from the log alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from tequio_ledger import runtime
from tequio_ledger.config.options import with_settings
from tequio_ledger.config.settings import LEDGER, LedgerSettings
from tequio_ledger.genesis import existing_ledger, open_genesis
from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.guard import Guard
from tequio_ledger.log.log import Apply, Log
from tequio_ledger.runtime import now_ms
from tequio_ledger.signing import client
from tequio_ledger.store import derived
from tequio_ledger.store.blobs import open_blobs
from tequio_ledger.store.log_rows import StoredEntry
from tequio_shared.errors import UserFacingError
from tequio_shared.log.notes import VerifierKey
from tequio_shared.served.state import State
from tequio_shared.statements.statement import Entry


def replay(settings: LedgerSettings) -> int:
    """Check the log and rewrite all derived rows; gives the number of entries."""
    with existing_ledger(settings) as (folder, database):
        try:
            database.migrate()
            documents = DocumentCache(open_blobs(settings, folder.blobs, database, now_ms))
            genesis = open_genesis(settings, folder, database)
            state = State(genesis, documents.read)
            key = VerifierKey.parse(genesis.log_key).key
            signer = client.open_signer(folder, settings.signer, key)
            log = Log(database, genesis, signer, Guard(folder.mark, genesis, database), now_ms)

            @contextmanager
            def rewriting(connection: Connection) -> Iterator[Apply]:
                database.dialect.begin_rewriting(connection)
                derived.clear(connection)
                rebuild = derived.Rebuild(connection, state)

                def apply(stored: StoredEntry, entry: Entry) -> None:
                    state.apply(stored.index, entry, stored.at_ms)
                    rebuild.add(stored.index, entry)

                yield apply
                rebuild.finish()

            log.load_and_write(rewriting)
        except DatabaseError as err:
            raise UserFacingError(database.dialect.explain(err)) from err
    return log.size


@click.command("replay")
@with_settings(LEDGER)
def replay_command(settings: LedgerSettings) -> None:
    """Check the whole log and rebuild every derived table from it."""
    runtime.configure("warning")
    click.echo(f"replayed {replay(settings)} entries")
