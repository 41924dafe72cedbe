"""`tequio standing` and `tequio appeal`: how a volunteer's key stands, and what to say to it."""

from __future__ import annotations

from pathlib import Path

import click

from tequio_client import cli


@click.command()
@cli.ledger
@cli.folder("worker")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object, for machines.")
def standing(ledger: str, folder: Path, *, as_json: bool) -> None:
    """Show how your key stands in the network, why, and what you can do."""
    from tequio_client.worker.ledger import account as program

    cli.set_up_logs(log_json=False, log_level="warning")
    if as_json:
        click.echo(program.show_json(ledger, folder))
        return
    for line in program.show(ledger, folder):
        click.echo(line)


@click.command()
@cli.ledger
@cli.folder("worker")
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
    from tequio_client.worker.ledger import account as program

    cli.set_up_logs(log_json=False, log_level="warning")
    for line in program.appeal(ledger, folder, _read(text_file)):
        click.echo(line)


def _read(text_file: Path | None) -> bytes:
    from tequio_shared.limits import APPEAL_BYTES

    if text_file is None:
        return b""
    with click.open_file(str(text_file), "rb") as file:
        return bytes(file.read(APPEAL_BYTES + 1))


# --- `tequio team`: for whom a volunteer's points count.


@click.command()
@click.argument("name", required=False)
@click.option("--leave", is_flag=True, help="Earn for no team any more.")
@cli.ledger
@cli.folder("worker")
def team(name: str | None, ledger: str, folder: Path, *, leave: bool) -> None:
    """Let what your key earns from now on count for the team NAME, too; or --leave.

    A team is its name, of 1 to 32 letters a-z, digits and dashes: whoever says it is in it, for
    everybody to see. What was earned for a team stays with it.

    Stop the worker of that folder first.
    """
    from tequio_client.worker.ledger import account as program

    if leave == (name is not None):
        raise click.UsageError("say either the NAME of a team or --leave")
    cli.set_up_logs(log_json=False, log_level="warning")
    click.echo(
        program.leave(ledger, folder) if name is None else program.team_join(ledger, folder, name)
    )


# --- `tequio connect`: have an account elsewhere vouch for the key.


@click.command()
@click.option(
    "--connector",
    required=True,
    envvar="TEQUIO_CONNECTOR",
    help="Address of a connector that the network's organisers have named.",
)
@click.option("--provider", default="", help="Whose account, if the connector knows several.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@cli.ledger
@cli.folder("worker")
def connect(*, connector: str, provider: str, opens: bool, ledger: str, folder: Path) -> None:
    """Have an account of yours, at GitHub or elsewhere, vouch for your key.

    The log then says that somebody is behind the key, and which keys have the same owner; not who.
    Runs may ask for that. It lasts for a while, and may be renewed at any time. Your worker may run
    meanwhile.
    """
    import webbrowser

    from tequio_client.worker.ledger import account

    cli.set_up_logs(log_json=False, log_level="warning")
    asked = account.Asked(
        ledger=ledger, folder=folder, connector=connector, provider=provider.lower()
    )
    account.connect(asked, click.echo, webbrowser.open if opens else _leave)


def _leave(_url: str) -> None:
    """Open nothing: the person does."""


# --- `tequio join`: enter a network by an invitation.


@click.command()
@click.argument("link")
@cli.folder("worker")
def join(link: str, folder: Path) -> None:
    """Register the key in DIR (made at the first call) under the invitation LINK.

    Give the link in quotes. Then start `tequio worker` as always.
    """
    from tequio_client.invitation_link import InvitationLink
    from tequio_client.worker.ledger import account

    parsed = InvitationLink.parse(link)
    click.echo(account.enter(parsed, folder))
    click.echo(f"go on with: tequio worker --ledger {parsed.ledger} --dir {folder}")
