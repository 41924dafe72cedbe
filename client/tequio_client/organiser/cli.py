"""`tequio run`, `invite`, `connector`, `countersign` and `quarantine`: the organiser's commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli
from tequio_client.organiser import planning_cli

if TYPE_CHECKING:
    from tequio_client.organiser.signing import SigningOptions

_SEED_BYTES = 32


def _signing_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options of a decision; the command gets them as `signing.SigningOptions`."""

    @cli.ledger_option
    @cli.signing_options
    @wraps(command)
    def signed(
        *, ledger: str, folders: tuple[Path, ...], out: Path | None, **values: object
    ) -> None:
        from tequio_client.organiser.signing import SigningOptions

        command(options=SigningOptions(ledger=ledger, folders=folders, out=out), **values)

    return signed


_USES = click.option(
    "--uses",
    default=1,
    show_default=True,
    type=click.IntRange(1, 4_095),
    help="How many people can join with the link.",
)
_DAYS = click.option(
    "--days",
    default=14.0,
    show_default=True,
    type=cli.Number(0.001, 3_650),
    help="How many days the link works.",
)
_announcement_options = cli.together(
    click.option("--text", default="", help="One line of at most 200 characters."),
    click.option("--clear", is_flag=True, help="Take the present announcement back."),
)


@click.group(cls=cli.PlainGroup)
def run() -> None:
    """Plan, open and control runs."""


run.add_command(planning_cli.new)
run.add_command(planning_cli.check)


@run.command("open")
@click.argument("plan", type=click.Path(path_type=Path))
@cli.ledger_option
@cli.folder_option("organiser")
@cli.other_organisers_option
@cli.seed_folder_option
@cli.stores_option
@cli.logging_options
def open_(  # noqa: PLR0913 - one parameter an option
    *,
    plan: Path,
    ledger: str,
    folder: Path,
    others: tuple[Path, ...],
    seed_folder: Path,
    stores: tuple[Path, ...],
    log_level: str,
    log_json: bool,
) -> None:
    """Open the run described by the TOML file PLAN.

    Makes the first head, stores it with the shards in SEED_DIR, uploads the documents, and logs
    `run.open` signed by the organiser key in DIR. Afterwards, `tequio seed --dir SEED_DIR` serves
    the head and the shards.
    """
    from tequio_client.organiser import opening

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    places = (*stores, cli.default_folder("worker"))
    click.echo(opening.open_run(plan, ledger, folder, seed_folder, others, places))
    click.echo(f"serve it with: tequio seed --ledger {ledger} --dir {seed_folder}", err=True)


@run.command("list")
@cli.ledger_option
@click.option(
    "--vram-gib",
    type=cli.Number(0, 1e4, min_open=True),
    help="Memory of your graphics card, GiB: names open runs that it cannot train, and the cells "
    "of such computers that could.",
)
def list_(ledger: str, vram_gib: float | None) -> None:
    """List the runs of a ledger."""
    from tequio_client.organiser import opening

    cli.set_up_logs(log_json=False, log_level="error")
    opening.list_runs(ledger, cli.default_folder("worker"), vram_gib)


@run.command("show")
@cli.log_id_argument("name")
@cli.ledger_option
def show_run(name: str, ledger: str) -> None:
    """Show the run NAME.

    NAME is its name or the beginning of its id.
    """
    from tequio_client.organiser import opening

    opening.show_run(name, ledger)


def _steering(action: str, help_: str) -> None:
    @run.command(action, help=help_)
    @cli.log_id_argument("name")
    @cli.ledger_option
    @cli.organisers_option
    def steer(name: str, ledger: str, folders: tuple[Path, ...]) -> None:
        from tequio_client.organiser import opening

        click.echo(opening.steer_run(action, name, ledger, folders))


@run.command("pause")
@cli.log_id_argument("name")
@click.option("--reason", default="", help="One line for volunteers, shown until it resumes.")
@cli.ledger_option
@cli.organisers_option
def pause(name: str, reason: str, ledger: str, folders: tuple[Path, ...]) -> None:
    """Pause a run after its current round."""
    from tequio_client.organiser import opening

    click.echo(opening.steer_run("pause", name, ledger, folders, reason))


_steering("resume", "Resume a run that was paused, or cancel a pause or finish.")
_steering("finish", "End a run after its current round.")


@run.command("announce")
@cli.log_id_argument("name")
@_announcement_options
@cli.ledger_option
@cli.organisers_option
def announce(name: str, text: str, ledger: str, folders: tuple[Path, ...], *, clear: bool) -> None:
    """Tell the volunteers of a run something.

    Their apps and the ledger's pages show it, until another announcement or --clear. The log keeps
    it permanently, where anyone can read it.
    """
    from tequio_client.organiser import opening

    if bool(text.strip()) == clear:
        raise click.UsageError("give either --text or --clear")
    click.echo(opening.announce(name, text, ledger, folders))


@run.command("chat")
@cli.log_id_argument("name")
@click.option("--url", default="", help="Address of the service; it begins with https://.")
@click.option("--clear", is_flag=True, help="Take the address back.")
@cli.ledger_option
@cli.organisers_option
def chat(name: str, url: str, ledger: str, folders: tuple[Path, ...], *, clear: bool) -> None:
    """Link the run's page to a chat with its model, which you serve.

    `tequio checkpoint serve` is such a service. The page says that it is the organisers' own. The
    log keeps the address permanently, where anyone can read it.
    """
    from tequio_client.organiser import opening

    if bool(url.strip()) == clear:
        raise click.UsageError("give either --url or --clear")
    click.echo(opening.offer_chat(name, url, ledger, folders))


@click.command("announce")
@_announcement_options
@_signing_options
def announce_to_network(text: str, options: SigningOptions, *, clear: bool) -> None:
    """Tell everybody in the network something.

    Their apps notify them once, and show it, as the ledger's first page and its feeds do, until
    another announcement or --clear. The log keeps it permanently, where anyone can read it. The
    next one can follow after 10 minutes.
    """
    from tequio_client.organiser import opening

    if bool(text.strip()) == clear:
        raise click.UsageError("give either --text or --clear")
    click.echo(opening.announce_to_network(text, options))


@run.command("rollback")
@cli.log_id_argument("name")
@click.option(
    "--round",
    "head_round",
    required=True,
    type=click.IntRange(0),
    help="Round that made the head to go back to; 0 is the first head.",
)
@click.option("--yes", is_flag=True, help="Sign without asking.")
@cli.ledger_option
@cli.organisers_option
def roll_back(
    name: str, head_round: int, ledger: str, folders: tuple[Path, ...], *, yes: bool
) -> None:
    """Take a paused run back to an earlier head.

    The next round starts from the head that the given round made. Points stay. Explains first what
    follows, and asks.
    """
    from tequio_client.organiser import rollback

    agrees = partial(_agrees, is_agreed=yes)
    click.echo(rollback.roll_back(name, ledger, folders, head_round, agrees))


@run.command()
@cli.log_id_argument("name")
@click.option("--roll-back", "rolls_back", is_flag=True, help="Also go back to the last fine head.")
@click.option(
    "--margin",
    type=cli.Number(0.001, 8),
    help="Bits per byte by which a worse head differs (default: the run's rules).",
)
@click.option("--once", is_flag=True, help="Check once and exit, for cron.")
@click.option("--only-report", "only_reports", is_flag=True, help="Sign nothing; needs no key.")
@cli.ledger_option
@cli.organisers_option
@cli.logging_options
def watch(  # noqa: PLR0913 - one parameter an option
    *,
    name: str,
    rolls_back: bool,
    margin: float | None,
    once: bool,
    only_reports: bool,
    ledger: str,
    folders: tuple[Path, ...],
    log_level: str,
    log_json: bool,
) -> None:
    """Pause a run as soon as its model gets worse.

    Reads what drawn members measured of each head, and pauses the run if they agree that the newest
    is worse than an earlier one by more than the margin. Volunteers see the reason. It continues
    until the run ends, and can be stopped and started at any time.

    Exit status with --once: 0 the newest measured head is fine, 3 none is measured, 4 it is worse;
    1 and 2 are errors.
    """
    from tequio_client.organiser import watch as program
    from tequio_shared.network.verdicts import HeadVerdict

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    if only_reports and rolls_back:
        raise click.UsageError("give either --only-report or --roll-back")
    options = program.WatchOptions(
        run=name,
        ledger=ledger,
        folders=folders,
        rolls_back=rolls_back,
        only_reports=only_reports,
        margin=None if margin is None else round(margin * 1_000),
    )
    if not once:
        program.watch_run(options, click.echo)
        return
    exits = {HeadVerdict.FINE: 0, HeadVerdict.UNMEASURED: 3, HeadVerdict.WORSE: 4}
    sys.exit(exits[program.check_once(options, click.echo)])


@run.command()
@cli.log_id_argument("name")
@_USES
@_DAYS
@_signing_options
def invite(name: str, uses: int, days: float, options: SigningOptions) -> None:
    """Create an invitation link to the run NAME.

    The link is secret: send it only to those you invite. It opens in the app; without the app, use
    `tequio join LINK`. If the network has two or more organisers, two of them sign. See also
    `tequio invite`.
    """
    _open_invitation(options, uses, days, name)


def _open_invitation(options: SigningOptions, uses: int, days: float, run: str | None) -> None:
    from tequio_client.organiser import decisions

    description, link = decisions.open_invitation(
        options, uses=uses, days=days, run=run, seed=os.urandom(_SEED_BYTES)
    )
    click.echo(description, err=True)  # standard output has the link alone, for scripts
    click.echo(link)


@run.command()
@cli.folder_option("organiser")
def key(folder: Path) -> None:
    """Print the organiser key in DIR, created at the first call.

    A ledger is founded with the keys of its organisers.
    """
    from tequio_client.organiser import opening

    click.echo(opening.organiser_key(folder))


@click.group("invite", cls=cli.PlainGroup)
def invite_group() -> None:
    """Create, list, close and revoke invitations."""


@invite_group.command("open")
@_USES
@_DAYS
@click.option(
    "--run",
    "run_name",
    type=cli.NonEmptyText(),
    help="Name or id of the run that the link is for (default: every run).",
)
@_signing_options
def open_invitation(uses: int, days: float, run_name: str | None, options: SigningOptions) -> None:
    """Open an invitation and print its link.

    The link is secret: send it only to those you invite. If the network has two or more organisers,
    two of them sign.
    """
    _open_invitation(options, uses, days, run_name)


@invite_group.command()
@cli.log_id_argument("invitation")
@_signing_options
def close(invitation: str, options: SigningOptions) -> None:
    """Close INVITATION; members that it let in stay.

    INVITATION is its key, the beginning of its key, or its link.
    """
    from tequio_client.organiser import decisions
    from tequio_shared.statements.network import InviteClose

    click.echo(decisions.end_invitation(options, invitation, InviteClose))


@invite_group.command()
@cli.log_id_argument("invitation")
@_signing_options
def revoke(invitation: str, options: SigningOptions) -> None:
    """Revoke INVITATION, also for members that it let in.

    INVITATION is its key, the beginning of its key, or its link. If the network has two or more
    organisers, two of them sign.
    """
    from tequio_client.organiser import decisions
    from tequio_shared.statements.network import InviteRevoke

    click.echo(decisions.end_invitation(options, invitation, InviteRevoke))


@invite_group.command("list")
@cli.ledger_option
def list_invitations(ledger: str) -> None:
    """List all invitations, and how often each was used."""
    from tequio_client.organiser import decisions

    decisions.list_invitations(ledger)


_KEY = cli.log_id_argument("key")


@click.group(cls=cli.PlainGroup)
def connector() -> None:
    """Manage the connectors: services that vouch for keys."""


@connector.command()
@_KEY
@click.option(
    "--days",
    default=365.0,
    show_default=True,
    type=cli.Number(0.001, 3_650),
    help="How many days it may vouch; what it vouched for in that time stays valid.",
)
@_signing_options
def grant(key: str, days: float, options: SigningOptions) -> None:
    """Allow KEY to vouch for other keys.

    If the network has two or more organisers, two of them sign.
    """
    from tequio_client.organiser import decisions

    click.echo(decisions.grant_connector(options, key, days))


@connector.command("revoke")
@_KEY
@_signing_options
def revoke_connector(key: str, options: SigningOptions) -> None:
    """Revoke the connector KEY, and all that it vouched for.

    If the network has two or more organisers, two of them sign.
    """
    from tequio_client.organiser import decisions

    click.echo(decisions.revoke_connector(options, key))


@connector.command("list")
@cli.ledger_option
def list_connectors(ledger: str) -> None:
    """List the connectors."""
    from tequio_client.organiser import decisions

    decisions.list_connectors(ledger)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--yes", is_flag=True, help="Sign without asking; read the decision first.")
@cli.ledger_option
@cli.folder_option("organiser")
def countersign(file: Path, ledger: str, folder: Path, *, yes: bool) -> None:
    """Show the half-signed decision in FILE, and sign and log it if you agree."""
    from tequio_client.organiser import signing

    cli.set_up_logs(log_json=False, log_level="warning")

    click.echo(signing.countersign(ledger, file, folder, partial(_agrees, is_agreed=yes)))


def _agrees(decision: str, *, is_agreed: bool) -> bool:
    click.echo(decision)
    return is_agreed or click.confirm("Sign this as an organiser?")


@click.group(cls=cli.PlainGroup)
def quarantine() -> None:
    """Review quarantined keys and decide their appeals."""


@quarantine.command("list")
@cli.ledger_option
def list_quarantined(ledger: str) -> None:
    """List restricted keys and open appeals.

    Restricted are the keys that are quarantined, banned, suspected or on probation.
    """
    from tequio_client.organiser import decisions

    decisions.list_restricted(ledger)


@quarantine.command("show")
@_KEY
@cli.ledger_option
def show_key(key: str, ledger: str) -> None:
    """Show the standing of KEY, the evidence and the appeal."""
    from tequio_client.organiser import decisions

    decisions.print_key(key, ledger)


_REASON = click.option(
    "--reason",
    type=click.IntRange(0, 65_535),
    default=1,
    show_default=True,
    help="Reason code agreed on by the organisers; it is recorded and has no effect.",
)


@quarantine.command()
@_KEY
@_signing_options
@_REASON
def release(key: str, reason: int, options: SigningOptions) -> None:
    """Make KEY active again.

    If the network has two or more organisers, two of them sign.
    """
    from tequio_client.organiser import decisions
    from tequio_shared.statements.network import StandingRelease

    make = partial(StandingRelease, reason=reason)
    click.echo(decisions.submit_ruling(options, key, make))


@quarantine.command()
@_KEY
@_signing_options
@_REASON
@click.option("--ban", is_flag=True, help="Ban the key; possible after a second quarantine.")
def uphold(key: str, reason: int, options: SigningOptions, *, ban: bool) -> None:
    """Keep the standing of KEY as it is, and reject its appeal."""
    from tequio_client.organiser import decisions
    from tequio_shared.statements.network import StandingUphold

    make = partial(StandingUphold, to="banned" if ban else "unchanged", reason=reason)
    click.echo(decisions.submit_ruling(options, key, make))


@click.command("withdraw-name")
@click.argument("key", cls=cli.LogIdArgument, required=False)
@click.option("--team", type=click.IntRange(1), help="Number of a team, as in its page's address.")
@_signing_options
@_REASON
def withdraw_name(key: str | None, team: int | None, reason: int, options: SigningOptions) -> None:
    """Take an offensive name away from KEY, or from a team.

    Nobody can have that name again. Pages and apps show the key or the team's number instead, and
    its owner can choose another name. Old log entries still contain the name.
    """
    from tequio_client.organiser import decisions

    if (key is None) == (team is None):
        raise click.UsageError("give either a KEY or --team")
    click.echo(decisions.withdraw_name(options, key or "", team or 0, reason))
