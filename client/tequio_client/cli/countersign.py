"""`tequio countersign`: complete what another organiser has signed."""

from __future__ import annotations

from pathlib import Path

import click

from tequio_client.cli import options


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--yes", is_flag=True, help="Do not ask; what it says was read before.")
@options.ledger
@options.folder("organiser")
def countersign(file: Path, ledger: str, folder: Path, *, yes: bool) -> None:
    """Say what the half-signed decision in FILE is, sign it too if you agree, have it logged."""
    from tequio_client.organiser import decision

    def agrees(says: str) -> bool:
        click.echo(says)
        return yes or click.confirm("Sign this as an organiser?")

    click.echo(decision.countersign(ledger, file, folder, agrees))
