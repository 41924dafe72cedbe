"""`tequio-ledger sign`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_ledger import logs
from tequio_ledger.config.options import with_settings
from tequio_ledger.folder import Folder
from tequio_ledger.signing import server
from tequio_ledger.signing.places import open_keeper
from tequio_ledger.signing.settings import SIGNER

if TYPE_CHECKING:
    from tequio_ledger.signing.settings import SignerSettings


@click.command("sign")
@with_settings(SIGNER)
@click.option("--first", is_flag=True, help="The key in the folder has never signed anything.")
def sign(settings: SignerSettings, *, first: bool) -> None:
    """Hold the key of the log ORIGIN and sign its checkpoints, and never one that would fork it.

    `tequio-ledger serve --signer SOCKET` asks here. Give this process a user of its own that may
    share the socket's folder, and the ledger none of its files; name the ledger's user as --caller.
    """
    logs.configure_by(settings)
    with Folder(settings.folder) as opened:
        notary = open_keeper(opened, settings.origin, is_first=first)
        server.serve(notary, settings)
