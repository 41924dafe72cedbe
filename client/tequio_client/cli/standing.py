"""`tequio standing` and `tequio appeal`: how a volunteer's key stands, and what to say to it."""

from __future__ import annotations

from pathlib import Path

import click

from tequio_client.cli import options


@click.command()
@options.ledger
@options.folder("worker")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object, for machines.")
def standing(ledger: str, folder: Path, *, as_json: bool) -> None:
    """Show how your key stands in the network, why, and what you can do."""
    from tequio_client.worker import appeal as program

    options.set_up_logs(log_json=False, log_level="warning")
    if as_json:
        click.echo(program.show_json(ledger, folder))
        return
    for line in program.show(ledger, folder):
        click.echo(line)


@click.command()
@options.ledger
@options.folder("worker")
@click.option(
    "--text",
    "text_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
    help="File with what you have to say, - for standard input; everybody can read it.",
)
def appeal(ledger: str, folder: Path, text_file: Path | None) -> None:
    """Ask the organisers to look at a quarantine, a ban or a suspicion of your key.

    Stop the worker of that folder first.
    """
    from tequio_client.worker import appeal as program

    options.set_up_logs(log_json=False, log_level="warning")
    for line in program.appeal(ledger, folder, _read(text_file)):
        click.echo(line)


def _read(text_file: Path | None) -> bytes:
    from tequio_shared.limits import APPEAL_BYTES

    if text_file is None:
        return b""
    with click.open_file(str(text_file), "rb") as file:
        return bytes(file.read(APPEAL_BYTES + 1))
