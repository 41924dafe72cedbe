"""`tequio join`: enter a network by an invitation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_client.cli import options

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("link")
@options.folder("worker")
def join(link: str, folder: Path) -> None:
    """Register the key in DIR (made at the first call) under the invitation LINK.

    Give the link in quotes. Then start `tequio worker` as always.
    """
    from tequio_client.invitation_link import InvitationLink
    from tequio_client.worker import entering

    parsed = InvitationLink.parse(link)
    click.echo(entering.enter(parsed, folder))
    click.echo(f"go on with: tequio worker --ledger {parsed.ledger} --dir {folder}")
