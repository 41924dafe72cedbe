"""`tequio team`: for whom a volunteer's points count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_client.cli import options

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("name", required=False)
@click.option("--leave", is_flag=True, help="Earn for no team any more.")
@options.ledger
@options.folder("worker")
def team(name: str | None, ledger: str, folder: Path, *, leave: bool) -> None:
    """Let what your key earns from now on count for the team NAME, too; or --leave.

    A team is its name, of 1 to 32 letters a-z, digits and dashes: whoever says it is in it, for
    everybody to see. What was earned for a team stays with it.

    Stop the worker of that folder first.
    """
    from tequio_client.worker import team as program

    if leave == (name is not None):
        raise click.UsageError("say either the NAME of a team or --leave")
    options.set_up_logs(log_json=False, log_level="warning")
    click.echo(
        program.leave(ledger, folder) if name is None else program.join(ledger, folder, name)
    )
