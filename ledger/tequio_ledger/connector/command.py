"""`tequio-ledger connect`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_ledger import logs
from tequio_ledger.connector import main, settings
from tequio_ledger.settings.options import with_those

if TYPE_CHECKING:
    from tequio_ledger.settings.sources import Gathered


@click.command("connect")
@with_those(settings.ALL, settings.PROGRAM)
def connect(gathered: Gathered) -> None:
    """Let accounts at GitHub or any OpenID Connect provider vouch for keys (`tequio connect`).

    Organisers have to name its key, which it tells at the start. Keep the folder: it holds the
    secret under which accounts are known here.
    """
    given = settings.read(gathered)
    logs.configure(logs.Style.JSON if given.log_json else logs.Style.CONSOLE, given.log_level)
    main.serve(given)
