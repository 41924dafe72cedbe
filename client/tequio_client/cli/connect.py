"""`tequio connect`: have an account elsewhere vouch for the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tequio_client.cli import options

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option(
    "--connector",
    required=True,
    envvar="TEQUIO_CONNECTOR",
    help="Address of a connector that the network's organisers have named.",
)
@click.option("--provider", default="", help="Whose account, if the connector knows several.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@options.ledger
@options.folder("worker")
def connect(*, connector: str, provider: str, opens: bool, ledger: str, folder: Path) -> None:
    """Have an account of yours, at GitHub or elsewhere, vouch for your key.

    The log then says that somebody is behind the key, and which keys have the same owner; not who.
    Runs may ask for that. It lasts for a while, and may be renewed at any time. Your worker may run
    meanwhile.
    """
    import webbrowser

    from tequio_client.worker import vouching

    options.set_up_logs(log_json=False, log_level="warning")
    asked = vouching.Asked(
        ledger=ledger, folder=folder, connector=connector, provider=provider.lower()
    )
    vouching.connect(asked, click.echo, webbrowser.open if opens else _leave)


def _leave(_url: str) -> None:
    """Open nothing: the person does."""
