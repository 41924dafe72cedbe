"""`tequio connector`: whom the organisers let vouch for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_client.cli import options

if TYPE_CHECKING:
    from pathlib import Path

_KEY = options.named("key")


@click.group()
def connector() -> None:
    """Say who may vouch for others."""


@connector.command()
@_KEY
@click.option(
    "--days",
    default=365.0,
    show_default=True,
    type=click.FloatRange(0.001, 3_650),
    help="How long it may vouch; what it said in that time stays.",
)
@options.ledger
@options.signing
def grant(
    key: str, *, days: float, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None
) -> None:
    """Let KEY vouch for others; two organisers sign, if the network has two."""
    from tequio_client.organiser import connectors

    click.echo(connectors.grant(ledger, key, days, (folder, *others), out))


@connector.command()
@_KEY
@options.ledger
@options.signing
def revoke(key: str, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None) -> None:
    """Let KEY vouch for nobody any more, also not for whom it did; two sign, as above."""
    from tequio_client.organiser import connectors

    click.echo(connectors.revoke(ledger, key, (folder, *others), out))


@connector.command("list")
@options.ledger
def list_(ledger: str) -> None:
    """List who may vouch for others."""
    from tequio_client.organiser import connectors

    connectors.list_all(ledger)
