"""Commands about a volunteer's key: standing, appeal, name, team, connect, join."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from tequio_client import cli, clock
from tequio_client.ipc.account import (
    MAX_LINK_DAYS,
    AskTeam,
    RequestMembership,
    RequestTeam,
    RequestTeamMember,
    TeamReply,
)
from tequio_client.keys.cli import FROM_STDIN, open_key, open_store, public_key
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import key_from_text, to_text
from tequio_shared.limits import JSON_INTEGER, TEAM_MEMBERS
from tequio_shared.names import clean_name
from tequio_shared.round.points import GFLOP_PER_POINT
from tequio_shared.round.points import points as points_text
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.ipc.account import TeamQuestion
    from tequio_shared.keys import Signer

_DAY_MS = 86_400_000
_own_key_options = cli.together(cli.ledger_option, cli.folder_option("worker"), FROM_STDIN)


@click.command()
@_own_key_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def standing(ledger: str, folder: Path, *, from_stdin: bool, as_json: bool) -> None:
    """Show your key's standing in the network, the reason, and what you can do."""
    from tequio_client.worker.ledger import account as program

    cli.set_up_logs(log_json=False, log_level="warning")
    key = public_key(open_store(folder), from_stdin=from_stdin)
    if as_json:
        click.echo(program.standing_json(ledger, key))
        return
    for line in program.standing_lines(ledger, key):
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

    A running worker of that folder is used for this, so there is no need to stop it.
    """
    from tequio_client.worker.ledger import account as program
    from tequio_shared.limits import APPEAL_BYTES

    cli.set_up_logs(log_json=False, log_level="warning")
    text = text_file.read(APPEAL_BYTES + 1) if text_file else b""
    load = _loader(folder, from_stdin=False)  # the text may be there
    for line in program.submit_appeal(ledger, folder, load, text):
        click.echo(line)


@click.command()
@click.argument("name", required=False)
@click.option("--remove", is_flag=True, help="Have no name any more.")
@_own_key_options
def name(name: str | None, ledger: str, folder: Path, *, from_stdin: bool, remove: bool) -> None:
    """Give your key the public name NAME.

    A name is unique in the network: 2 to 32 letters of one script and digits, with single spaces,
    hyphens or underscores between them. It can be changed, at most once every 30 days; your
    former name stays reserved for that long. Names are public and stay in the log for good.

    A running worker of that folder is used for this, so there is no need to stop it.
    """
    from tequio_client.worker.ledger import account as program

    if remove == (name is not None):
        raise click.UsageError("give either a NAME or --remove")
    wanted = clean_name(name or "")
    if not (remove or wanted):  # it may be an unset shell variable
        raise click.UsageError("the NAME is empty: give one, or --remove")
    cli.set_up_logs(log_json=False, log_level="warning")
    load = _loader(folder, from_stdin=from_stdin)
    click.echo(program.set_name(ledger, folder, load, wanted))


def _loader(folder: Path, *, from_stdin: bool) -> Callable[[], Signer]:
    return partial(open_key, open_store(folder), from_stdin=from_stdin)


@click.group()
def team() -> None:
    """Found, join, leave or lead a team.

    Points that a key earns while it is in a team also count for the team, and stay with it. A team
    is joined with a link from its owner. Membership is public. A running worker is used for this,
    so there is no need to stop it.
    """


@team.command()
@click.argument("name")
@_own_key_options
def found(name: str, ledger: str, folder: Path, *, from_stdin: bool) -> None:
    """Found the team NAME, and print its join link.

    The name is unique in the network and stays; its rules are those of `tequio name`. A key can
    found one team every 30 days.
    """
    _print_team(ledger, folder, RequestTeam(name=clean_name(name)), from_stdin=from_stdin)


@team.command("join")
@click.argument("link")
@_own_key_options
def join_team(link: str, ledger: str, folder: Path, *, from_stdin: bool) -> None:
    """Join a team with its LINK or code. Put a link in quotes."""
    if not link.strip():  # it may be an unset shell variable
        raise click.UsageError("the LINK is empty: give one")
    _print_team(ledger, folder, RequestMembership(link=link), from_stdin=from_stdin)


@team.command()
@_own_key_options
def leave(ledger: str, folder: Path, *, from_stdin: bool) -> None:
    """Leave your team.

    If you own it, the member that joined first becomes its owner.
    """
    _print_team(ledger, folder, RequestMembership(), from_stdin=from_stdin)


@team.command("show")
@_own_key_options
def print_own(ledger: str, folder: Path, *, from_stdin: bool) -> None:
    """Show your team, its goal and its members."""
    _print_team(ledger, folder, AskTeam(), from_stdin=from_stdin)


@team.command()
@click.option(
    "--days",
    type=click.IntRange(1, MAX_LINK_DAYS),
    default=30,
    show_default=True,
    help="Validity of the link.",
)
@click.option(
    "--members",
    type=click.IntRange(1, TEAM_MEMBERS),
    default=TEAM_MEMBERS,
    show_default=True,
    help="The link admits nobody while the team has this many members.",
)
@click.option("--close", is_flag=True, help="Let nobody join any more.")
@_own_key_options
def link(
    *, days: int, members: int, close: bool, ledger: str, folder: Path, from_stdin: bool
) -> None:
    """Make a new join link for your team and end the former."""
    _print_team(
        ledger, folder, RequestTeam(days=0 if close else days, most=members), from_stdin=from_stdin
    )


@team.command()
@click.argument("points", type=click.IntRange(0, JSON_INTEGER // GFLOP_PER_POINT))
@click.option(
    "--by", type=click.DateTime(["%Y-%m-%d"]), help="Last day of the goal (UTC), as YYYY-MM-DD."
)
@_own_key_options
def goal(points: int, by: datetime | None, ledger: str, folder: Path, *, from_stdin: bool) -> None:
    """Set your team a goal of POINTS from now on; 0: none."""
    if bool(points) != (by is not None):
        raise click.UsageError("give the POINTS and --by; or 0 alone, for no goal")
    until_ms = 0
    if by is not None:
        until_ms = int(by.replace(tzinfo=UTC).timestamp() * 1_000) + _DAY_MS - 1
    question = RequestTeam(goal=points * GFLOP_PER_POINT, goal_until_ms=until_ms)
    _print_team(ledger, folder, question, from_stdin=from_stdin)


@team.command()
@click.argument("name")
@_own_key_options
def rename(name: str, ledger: str, folder: Path, *, from_stdin: bool) -> None:
    """Spell the name of the team in another way.

    If organisers withdrew the name, choose any other.
    """
    _print_team(ledger, folder, RequestTeam(name=clean_name(name)), from_stdin=from_stdin)


@team.command()
@click.argument("key", cls=cli.LogIdArgument)
@_own_key_options
def remove(key: str, ledger: str, folder: Path, *, from_stdin: bool) -> None:
    """Remove the member KEY, and end the join link."""
    _print_team(
        ledger, folder, RequestTeamMember(peer=_key(key), to="removed"), from_stdin=from_stdin
    )


@team.command("hand-over")
@click.argument("key", cls=cli.LogIdArgument)
@_own_key_options
def hand_over(key: str, ledger: str, folder: Path, *, from_stdin: bool) -> None:
    """Make the member KEY the owner of your team."""
    _print_team(
        ledger, folder, RequestTeamMember(peer=_key(key), to="owner"), from_stdin=from_stdin
    )


def _key(text: str) -> str:
    try:
        return to_text(key_from_text(text))
    except MalformedError as err:
        raise UserFacingError(
            f"invalid key {text[:60]!r}: give the 43 characters that `tequio team show` prints"
        ) from err


def _print_team(ledger: str, folder: Path, question: TeamQuestion, *, from_stdin: bool) -> None:
    from tequio_client.worker.ledger import account as program

    cli.set_up_logs(log_json=False, log_level="warning")
    load = _loader(folder, from_stdin=from_stdin)
    for line in team_lines(program.team(ledger, folder, load, question)):
        click.echo(line)


def team_lines(found: TeamReply) -> list[str]:
    """Describe a team; a new member reads the same as with `tequio team show`."""
    if not found.team:
        return ["the key is in no team: points count only for the key itself"]
    members = plural(found.members, "member")
    lines = [
        f"team       {found.name or f'Team {found.team}'} ({members})",
        f"points     {points_text(found.gflop)}",
        f"page       {found.page}",
    ]
    if found.goal:
        by = f"{clock.local_time(found.goal_until_ms):%Y-%m-%d %H:%M}"
        of = f"{points_text(found.reached)} of {points_text(found.goal)} points"
        lines.append(f"goal       {of} by {by}")
    if found.link:
        until = f"{clock.local_time(found.until_ms):%Y-%m-%d %H:%M}"
        lines += [f"join link  {found.link}", f"code       {found.code} (both until {until})"]
    for row in found.rows:
        role = " (owner)" if row.key == found.owner else ""
        lines.append(f"{row.key}  {points_text(row.gflop):>12}  {row.name}{role}".rstrip())
    return lines


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
@_own_key_options
def connect(
    *, connector: str, provider: str, opens: bool, ledger: str, folder: Path, from_stdin: bool
) -> None:
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
        open_key(open_store(folder), from_stdin=from_stdin),
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
    found = account.register_by_invitation(parsed, folder)
    if not found.is_invited:
        raise UserFacingError(found.said)
    click.echo(found.said)
    run = f" --run {found.run}" if found.run else ""
    click.echo(f"next, run: tequio worker --ledger {parsed.ledger} --dir {folder}{run}")
