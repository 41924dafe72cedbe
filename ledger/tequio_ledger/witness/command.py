"""`tequio-ledger witness`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_ledger import logs
from tequio_ledger.config.options import with_settings
from tequio_ledger.witness import main
from tequio_ledger.witness.settings import WITNESS

if TYPE_CHECKING:
    from tequio_ledger.witness.settings import WitnessSettings


@click.command("witness")
@with_settings(WITNESS)
def witness(settings: WitnessSettings) -> None:
    """Watch other logs: cosign each checkpoint that continues what was seen of its log before.

    The logs' operators post to /add-checkpoint; they and their clients need the key that is told
    at the start. Keep the folder: a witness that forgets can be shown another history.
    """
    logs.configure_by(settings)
    main.serve(settings)
