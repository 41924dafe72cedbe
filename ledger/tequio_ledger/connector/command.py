"""`tequio-ledger connect`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_ledger import logs
from tequio_ledger.config.options import with_settings
from tequio_ledger.connector import main
from tequio_ledger.connector.settings import CONNECTOR

if TYPE_CHECKING:
    from tequio_ledger.connector.settings import ConnectorSettings


@click.command("connect")
@with_settings(CONNECTOR)
def connect(settings: ConnectorSettings) -> None:
    """Let accounts at GitHub or any OpenID Connect provider vouch for keys (`tequio connect`).

    Organisers have to name its key, which it tells at the start. Keep the folder: it holds the
    secret under which accounts are known here.
    """
    logs.configure_by(settings)
    main.serve(settings)
