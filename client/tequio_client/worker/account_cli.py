"""Commands about a volunteer's key: `tequio standing`, `appeal`, `team`, `connect` and `join`."""

from __future__ import annotations

from pathlib import Path

import click

from tequio_client import cli


@click.command()
@cli.ledger
@cli.folder("worker")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def standing(ledger: str, folder: Path, *, as_json: bool) -> None:
    """Show the standing of your key in the network, the reason, and what you can do."""
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
    help="File with your explanation (- for standard input). Anyone can read it.",
)
def appeal(ledger: str, folder: Path, text_file: Path | None) -> None:
    """Ask the organisers to review a quarantine, a ban or a suspicion of your key.

    Stop the worker that uses this folder first.
    """
    from tequio_client.worker.ledger import account as program

    cli.set_up_logs(log_json=False, log_level="warning")
    for line in program.appeal(ledger, folder, _read(text_file)):
        click.echo(line)


def _read(text_file: Path | None) -> bytes:
    from tequio_shared.ids import APPEAL_BYTES

    if text_file is None:
        return b""
    with click.open_file(str(text_file), "rb") as file:
        return bytes(file.read(APPEAL_BYTES + 1))


@click.command()
@click.argument("name", required=False)
@click.option("--leave", is_flag=True, help="Leave your team.")
@cli.ledger
@cli.folder("worker")
def team(name: str | None, ledger: str, folder: Path, *, leave: bool) -> None:
    """Join team NAME, or leave your team with --leave.

    Points that your key earns from now on count for the team too; points earned for a team stay
    with it. Anyone can join a team by its name (1 to 32 letters a-z, digits and dashes), and
    everyone can see its members.

    Stop the worker that uses this folder first.
    """
    from tequio_client.worker.ledger import account as program

    if leave == (name is not None):
        raise click.UsageError("give either the NAME of a team or --leave")
    cli.set_up_logs(log_json=False, log_level="warning")
    click.echo(
        program.leave(ledger, folder) if name is None else program.team_join(ledger, folder, name)
    )


@click.command()
@click.option(
    "--connector",
    required=True,
    envvar="TEQUIO_CONNECTOR",
    help="Address of a connector that the network's organisers approved.",
)
@click.option("--provider", default="", help="Account provider, if the connector supports several.")
@click.option("--open", "opens", is_flag=True, help="Open the sign-in page in your browser.")
@cli.ledger
@cli.folder("worker")
def connect(*, connector: str, provider: str, opens: bool, ledger: str, folder: Path) -> None:
    """Verify your key with an account, at GitHub or elsewhere.

    The public log then shows that a person is behind the key, and which keys have the same owner,
    but not who. Some runs require this. It expires after a while and can be renewed at any time.
    Your worker can keep running.
    """
    import webbrowser

    from tequio_client.worker.ledger import account

    cli.set_up_logs(log_json=False, log_level="warning")
    asked = account.Asked(
        ledger=ledger, folder=folder, connector=connector, provider=provider.lower()
    )
    account.connect(asked, click.echo, webbrowser.open if opens else _leave)


def _leave(_url: str) -> None:
    """Ignore the address: it is printed, and the person opens it."""


@click.command()
@click.argument("link")
@cli.folder("worker")
def join(link: str, folder: Path) -> None:
    """Join a network with the invitation LINK.

    Registers the key in DIR, and creates it first if needed. Put the link in quotes.
    """
    from tequio_client.invitation_link import InvitationLink
    from tequio_client.worker.ledger import account

    parsed = InvitationLink.parse(link)
    click.echo(account.enter(parsed, folder))
    click.echo(f"now run: tequio worker --ledger {parsed.ledger} --dir {folder}")
