"""`tequio-ledger sign`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_ledger import logs
from tequio_ledger.folder import Folder
from tequio_ledger.settings.options import with_those
from tequio_ledger.signing import server, settings
from tequio_ledger.signing.places import open_keeper

if TYPE_CHECKING:
    from tequio_ledger.settings.sources import Gathered


@click.command("sign")
@with_those(settings.ALL, settings.PROGRAM)
@click.option("--first", is_flag=True, help="The key in the folder has never signed anything.")
def sign(gathered: Gathered, *, first: bool) -> None:
    """Hold the key of the log ORIGIN and sign its checkpoints, and never one that would fork it.

    `tequio-ledger serve --signer SOCKET` asks here. Give this process a user of its own that may
    share the socket's folder, and the ledger none of its files; name the ledger's user as --caller.
    """
    given = settings.read(gathered)
    logs.configure(logs.Style.JSON if given.log_json else logs.Style.CONSOLE, given.log_level)
    with Folder(given.folder) as opened:
        notary = open_keeper(opened, given.origin, is_first=first)
        server.serve(notary, given)
