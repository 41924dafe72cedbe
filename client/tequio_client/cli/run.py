"""`tequio run`: what an organiser does with runs."""

from __future__ import annotations

from pathlib import Path

import click

from tequio_client.cli import options


@click.group()
def run() -> None:
    """Open and look at runs."""


@run.command("open")
@click.argument("plan", type=click.Path(path_type=Path))
@options.ledger
@options.folder("organiser")
@options.seed_folder
@options.logging
def open_(
    plan: Path, ledger: str, folder: Path, seed_folder: Path, log_level: str, *, log_json: bool
) -> None:
    """Open the run that the TOML file PLAN describes.

    Makes the first head and puts it, with the shards, where `tequio seed --dir SEED_DIR` serves
    them; uploads the documents; logs `run.open` under the organiser key in DIR.
    """
    from tequio_client.organiser import commands

    options.set_up_logs(log_json=log_json, log_level=log_level)
    click.echo(commands.open_run(plan, ledger, folder, seed_folder))


@run.command("list")
@options.ledger
def list_(ledger: str) -> None:
    """List the runs of a ledger."""
    from tequio_client.organiser import commands

    commands.list_runs(ledger)


@run.command()
@options.named("name")
@options.ledger
def show(name: str, ledger: str) -> None:
    """Show one run, by name or the beginning of its id."""
    from tequio_client.organiser import commands

    commands.show_run(name, ledger)


@run.command()
@options.named("name")
@click.argument("what", type=click.Choice(["pause", "resume", "finish"]))
@options.ledger
@options.folder("organiser")
def steer(name: str, what: str, ledger: str, folder: Path) -> None:
    """Pause, resume or finish a run after the round that is under way."""
    from tequio_client.organiser import commands

    commands.steer_run(name, what, ledger, folder)
    click.echo(f"{what}: logged")


@run.command()
@options.folder("organiser")
def key(folder: Path) -> None:
    """Print the organiser key in DIR (made at the first call): what a ledger is founded with."""
    from tequio_client.organiser import commands

    click.echo(commands.organiser_key(folder))
