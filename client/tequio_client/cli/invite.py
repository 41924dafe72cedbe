"""`tequio invite`: what an organiser does to let people in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from tequio_client.cli import options

if TYPE_CHECKING:
    from pathlib import Path

_SEED_BYTES = 32


@click.group()
def invite() -> None:
    """Let people in by a link."""


@invite.command("open")
@click.option("--uses", default=1, show_default=True, type=click.IntRange(1, 4_095))
@click.option(
    "--days",
    default=14.0,
    show_default=True,
    type=click.FloatRange(0.001, 3_650),
    help="How long the link works.",
)
@click.option(
    "--run",
    "run_name",
    type=options.Name(),
    help="Name or id of the run it is for; every run if not given.",
)
@options.ledger
@options.signing
def open_(  # noqa: PLR0913 - one parameter an option
    *,
    uses: int,
    days: float,
    run_name: str | None,
    ledger: str,
    folder: Path,
    others: tuple[Path, ...],
    out: Path | None,
) -> None:
    """Open an invitation and print its link: a secret, for whom you invite.

    Two organisers sign, if the network has two.
    """
    from tequio_client.organiser import invitations

    wish = invitations.Wish(uses=uses, days=days, run=run_name, seed=os.urandom(_SEED_BYTES))
    opened = invitations.open_(ledger, wish, (folder, *others), out)
    click.echo(opened.says, err=True)
    click.echo(opened.link)


@invite.command()
@options.named("invitation")
@options.ledger
@options.signing
def close(
    invitation: str, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None
) -> None:
    """End INVITATION: its key, how that begins, or its link. Whom it let in stays."""
    from tequio_client.organiser import invitations

    click.echo(invitations.close(ledger, invitation, (folder, *others), out))


@invite.command()
@options.named("invitation")
@options.ledger
@options.signing
def revoke(
    invitation: str, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None
) -> None:
    """End INVITATION, also for whom it let in; two organisers sign, as above."""
    from tequio_client.organiser import invitations

    click.echo(invitations.revoke(ledger, invitation, (folder, *others), out))


@invite.command("list")
@options.ledger
def list_(ledger: str) -> None:
    """List all invitations, and how many each let in."""
    from tequio_client.organiser import invitations

    invitations.list_all(ledger)
