"""`tequio quarantine`: what an organiser does about keys that are outside or watched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable

_KEY = options.named("key")
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group()
def quarantine() -> None:
    """See who is quarantined and why; answer appeals."""


@quarantine.command("list")
@options.ledger
def list_(ledger: str) -> None:
    """List who is quarantined, banned, suspected or on probation."""
    from tequio_client.organiser import quarantine as program

    program.list_held(ledger)


@quarantine.command()
@_KEY
@options.ledger
def show(key: str, ledger: str) -> None:
    """Show how KEY stands, what the evidence in the log says, and its appeal."""
    from tequio_client.organiser import quarantine as program

    program.show(key, ledger)


def _signing(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a ruling."""
    for option in (
        options.signing,
        click.option(
            "--reason",
            type=click.IntRange(0, 65_535),
            default=1,
            show_default=True,
            help="A number that the organisers agreed on; nothing depends on it.",
        ),
        options.ledger,
        _KEY,
    ):
        command = option(command)
    return command


@quarantine.command()
@_signing
def release(
    key: str, ledger: str, reason: int, folder: Path, others: tuple[Path, ...], out: Path | None
) -> None:
    """Make KEY active again; two organisers sign, if the network has two."""
    from tequio_client.organiser import quarantine as program

    wish = program.release(key, reason)
    click.echo(program.rule(ledger, wish, (folder, *others), out))


@quarantine.command()
@_signing
@click.option("--ban", is_flag=True, help="Ban it; possible after a second quarantine.")
def uphold(  # noqa: PLR0913 - one parameter an option
    key: str,
    ledger: str,
    reason: int,
    folder: Path,
    others: tuple[Path, ...],
    out: Path | None,
    *,
    ban: bool,
) -> None:
    """Let the quarantine of KEY stand, and answer its appeal so."""
    from tequio_client.organiser import quarantine as program

    wish = program.ban(key, reason) if ban else program.uphold(key, reason)
    click.echo(program.rule(ledger, wish, (folder, *others), out))
