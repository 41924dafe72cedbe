"""Commands about a volunteer's key: standing, appeal, name, team, connect, join."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import click

from tequio_client import cli


@click.command()
@cli.ledger_option
@cli.folder_option("worker")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def standing(ledger: str, folder: Path, *, as_json: bool) -> None:
    """Show your key's standing in the network, the reason, and what you can do."""
    from tequio_client.worker.ledger import account as program

    cli.set_up_logs(log_json=False, log_level="warning")
    if as_json:
        click.echo(program.standing_json(ledger, folder))
        return
    for line in program.standing_lines(ledger, folder):
        click.echo(line)


@click.command()
@cli.ledger_option
@cli.folder_option("worker")
@click.option(
    "--text",
    "text_file",
    type=click.File("rb"),
    metavar="FILE",
    help="File with your statement, - for standard input. It becomes public.",
)
def appeal(ledger: str, folder: Path, text_file: BinaryIO | None) -> None:
    """Ask the organisers to review a quarantine, ban or suspicion of your key.

    Stop the worker of that folder first.
    """
    from tequio_client.worker.ledger import account as program
    from tequio_shared.limits import APPEAL_BYTES

    cli.set_up_logs(log_json=False, log_level="warning")
    text = text_file.read(APPEAL_BYTES + 1) if text_file else b""
    for line in program.submit_appeal(ledger, folder, text):
        click.echo(line)


@click.command()
@click.argument("name", required=False)
@click.option("--remove", is_flag=True, help="Have no name any more.")
@cli.ledger_option
@cli.folder_option("worker")
def name(name: str | None, ledger: str, folder: Path, *, remove: bool) -> None:
    """Give your key the public name NAME.

    A name is unique in the network: 2 to 32 letters of one script and digits, with single spaces,
    hyphens or underscores between them. It can be changed, at most once in 30 days; your former
    name stays reserved for as long. Names are public and stay in the log for good.

    Stop the worker of that folder first, or use the app's settings, which need no stop.
    """
    from tequio_client.worker.ledger import account as program

    if remove == (name is not None):
        raise click.UsageError("give either a NAME or --remove")
    if name is not None and not name.strip():  # it may be an unset shell variable
        raise click.UsageError("the NAME is empty: give one, or --remove")
    cli.set_up_logs(log_json=False, log_level="warning")
    click.echo(program.set_name(ledger, folder, name or ""))


@click.command()
@click.argument("name", required=False)
@click.option("--leave", is_flag=True, help="Leave your team.")
@cli.ledger_option
@cli.folder_option("worker")
def team(name: str | None, ledger: str, folder: Path, *, leave: bool) -> None:
    """Join team NAME, or leave your team with --leave.

    Points that you earn from now on also count for the team; points already earned stay with the
    team they were earned for. A team is just its name (1 to 32 letters a-z, digits and dashes):
    anyone can join any team, and membership is public.

    Stop the worker of that folder first.
    """
    from tequio_client.worker.ledger import account as program

    if leave == (name is not None):
        raise click.UsageError("give either the NAME of a team or --leave")
    cli.set_up_logs(log_json=False, log_level="warning")
    click.echo(program.set_team(ledger, folder, name))


@click.command()
@click.option(
    "--connector",
    required=True,
    envvar="TEQUIO_CONNECTOR",
    show_envvar=True,
    help="Address of a connector that the network's organisers trust.",
)
@click.option("--provider", default="", help="Account provider, if the connector supports several.")
@click.option("--open", "opens", is_flag=True, help="Open the sign-in page in the browser.")
@cli.ledger_option
@cli.folder_option("worker")
def connect(*, connector: str, provider: str, opens: bool, ledger: str, folder: Path) -> None:
    """Link an account at GitHub or another provider to your key.

    Some runs require it. The public log then shows that a person is behind the key, and which keys
    have the same owner, but not who that is. The link expires and can be renewed at any time. You
    can leave your worker running.
    """
    import webbrowser

    from tequio_client.worker.ledger import account

    cli.set_up_logs(log_json=False, log_level="warning")
    account.connect_account(
        ledger,
        folder,
        connector=connector,
        provider=provider.lower(),
        show=click.echo,
        visit=webbrowser.open if opens else lambda _: None,
    )


@click.command()
@click.argument("link")
@cli.folder_option("worker")
def join(link: str, folder: Path) -> None:
    """Join a network with the invitation LINK.

    Registers the key in --dir, which is created if there is none. Put the link in quotes.
    """
    from tequio_client.links import InvitationLink
    from tequio_client.worker.ledger import account

    parsed = InvitationLink.parse(link)
    click.echo(account.register_by_invitation(parsed, folder))
    click.echo(f"next, run: tequio worker --ledger {parsed.ledger} --dir {folder}")
