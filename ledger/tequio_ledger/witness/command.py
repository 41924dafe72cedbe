"""`tequio-ledger witness`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_ledger import logs
from tequio_ledger.settings.options import with_those
from tequio_ledger.witness import main, settings

if TYPE_CHECKING:
    from tequio_ledger.settings.sources import Gathered


@click.command("witness")
@with_those(settings.ALL, settings.PROGRAM)
def witness(gathered: Gathered) -> None:
    """Watch other logs: cosign each checkpoint that continues what was seen of its log before.

    The logs' operators post to /add-checkpoint; they and their clients need the key that is told
    at the start. Keep the folder: a witness that forgets can be shown another history.
    """
    given = settings.read(gathered)
    logs.configure(logs.Style.JSON if given.log_json else logs.Style.CONSOLE, given.log_level)
    main.serve(given)
