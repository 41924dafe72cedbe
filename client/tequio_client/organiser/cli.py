"""`tequio run`, `invite`, `connector`, `countersign` and `quarantine`: the organiser's commands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tequio_client import cli

if TYPE_CHECKING:
    from tequio_client.organiser.signing import SigningOptions

_SEED_BYTES = 32
_SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_MOST = 10**15


class Amount(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    """A whole number that may be written with K, M, B or T."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([kmbt]?)", str(value).lower())
        amount = round(float(found[1]) * _SUFFIXES[found[2]]) if found else 0
        if not 1 <= amount <= _MOST:
            self.fail(f"invalid number {value!r}: expected 125M, 1.5B or the like", param, ctx)
        return amount


def _signing_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options of a decision; the command gets them as `signing.SigningOptions`."""

    @cli.ledger_option
    @cli.signing_options
    @wraps(command)
    def signed(
        *, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None, **values: object
    ) -> None:
        from tequio_client.organiser.signing import SigningOptions

        folders = (folder, *others)
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
    type=click.FloatRange(0.001, 3_650),
    help="How many days the link works.",
)


@click.group(cls=cli.PlainGroup)
def run() -> None:
    """Plan, open and control runs."""


@run.command("new")
@click.argument("plan", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder written by `tequio data build`.",
)
@click.option("--parameters", type=Amount(), help="Size of a new Llama model: 125M, 1.5B.")
@click.option(
    "--from", "source", help="Model to continue training: a folder, or a repository of the Hub."
)
@click.option(
    "--revision", default="", help="Commit, branch or tag of the repository given with --from."
)
@click.option(
    "--lora-rank",
    default=0,
    type=click.IntRange(0, 1_024),
    help="Freeze the model given with --from, and train adapters of this rank.",
)
@click.option(
    "--lora-bits",
    default="16",
    show_default=True,
    type=click.Choice(["4", "16"]),
    help="Bits of each number of the frozen matrices in memory: with 4, a 7B model fits 12 GiB.",
)
@click.option("--name", help="Name of the run (default: the name of the file PLAN).")
@click.option("--tokens", type=Amount(), help="Tokens to train on in the whole run: 2.5B.")
@click.option(
    "--peers",
    default=8,
    show_default=True,
    type=click.IntRange(2, 4_095),
    help="Number of peers expected.",
)
@click.option(
    "--upload-mbit",
    default=10.0,
    show_default=True,
    type=click.FloatRange(0, 1e6, min_open=True),
    help="Upload speed of the slowest connection that should be able to train, Mbit/s.",
)
@click.option(
    "--vram-gib",
    default=8.0,
    show_default=True,
    type=click.FloatRange(0, 1e4, min_open=True),
    help="Memory of the smallest graphics card that should be able to train, GiB.",
)
@click.option(
    "--disk-gib",
    default=30.0,
    show_default=True,
    type=click.FloatRange(0, 1e6, min_open=True),
    help="Disk space that each volunteer lends, GiB.",
)
@click.option(
    "--tflops",
    default=0.0,
    type=click.FloatRange(0, 1e5),
    help="Speed of that card in 16 bits, TFLOP/s (default: estimated from its memory).",
)
def new(  # noqa: PLR0913 - one parameter an option
    *,
    plan: Path,
    data: Path,
    parameters: int | None,
    source: str | None,
    revision: str,
    lora_rank: int,
    lora_bits: str,
    name: str | None,
    tokens: int | None,
    **expect: float,
) -> None:
    """Write a commented plan to the file PLAN.

    The values are chosen for the model, the data and the peers expected. Nothing is written if the
    run cannot work.
    """
    from tequio_client.organiser import planning
    from tequio_client.organiser.plan import ExpectPlan, LoraPlan

    if (parameters is None) == (source is None):
        raise click.UsageError(
            "give --parameters for a new model, or --from to continue training one"
        )
    if lora_rank and source is None:
        raise click.UsageError("--lora-rank trains adapters of a model: give the model with --from")
    bits: Literal[4, 16] = 4 if lora_bits == "4" else 16
    if lora_bits == "4" and not lora_rank:
        raise click.UsageError("--lora-bits 4 is for the base of adapters: give --lora-rank")
    if revision and (source is None or Path(source).is_dir()):
        raise click.UsageError(
            f"--revision {revision} needs a repository of the Hub: give it with --from"
        )
    options = planning.NewPlanOptions(
        name=name,
        data=data,
        parameters=parameters or 0,
        source=source or "",
        revision=revision,
        tokens=tokens,
        lora=LoraPlan(rank=lora_rank, bits=bits) if lora_rank else None,
        expect=ExpectPlan(**expect),  # type: ignore[arg-type]  # click gives what the options declare
    )
    planning.write_new_plan(plan, options)
    click.echo(f"written to {plan}; read it, then run: tequio run open {plan}")


@run.command()
@click.argument("plan", type=click.Path(path_type=Path))
def check(plan: Path) -> None:
    """Estimate what PLAN requires of volunteers.

    Also reports what cannot work, and how to change the plan.
    """
    from tequio_client.organiser import planning

    planning.check_plan(plan)


@run.command("open")
@click.argument("plan", type=click.Path(path_type=Path))
@cli.ledger_option
@cli.folder_option("organiser")
@cli.other_organisers_option
@cli.seed_folder_option
@cli.logging_options
def open_(  # noqa: PLR0913 - one parameter an option
    *,
    plan: Path,
    ledger: str,
    folder: Path,
    others: tuple[Path, ...],
    seed_folder: Path,
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
    click.echo(opening.open_run(plan, ledger, folder, seed_folder, others))
    click.echo(f"serve it with: tequio seed --ledger {ledger} --dir {seed_folder}", err=True)


@run.command("list")
@cli.ledger_option
def list_(ledger: str) -> None:
    """List the runs of a ledger."""
    from tequio_client.organiser import opening

    cli.set_up_logs(log_json=False, log_level="error")
    opening.list_runs(ledger, cli.default_folder("worker"))


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
    @cli.folder_option("organiser")
    @cli.other_organisers_option
    def steer(name: str, ledger: str, folder: Path, others: tuple[Path, ...]) -> None:
        from tequio_client.organiser import opening

        click.echo(opening.steer_run(action, name, ledger, (folder, *others)))


@run.command("pause")
@cli.log_id_argument("name")
@click.option("--reason", default="", help="One line for volunteers, shown until it resumes.")
@cli.ledger_option
@cli.folder_option("organiser")
@cli.other_organisers_option
def pause(*, name: str, reason: str, ledger: str, folder: Path, others: tuple[Path, ...]) -> None:
    """Pause a run after its current round."""
    from tequio_client.organiser import opening

    click.echo(opening.steer_run("pause", name, ledger, (folder, *others), reason))


_steering("resume", "Resume a run that was paused, or cancel a pause or finish.")
_steering("finish", "End a run after its current round.")


@run.command("announce")
@cli.log_id_argument("name")
@click.option("--text", default="", help="One line of at most 200 characters.")
@click.option("--clear", is_flag=True, help="Take the present announcement back.")
@cli.ledger_option
@cli.folder_option("organiser")
@cli.other_organisers_option
def announce(
    *, name: str, text: str, clear: bool, ledger: str, folder: Path, others: tuple[Path, ...]
) -> None:
    """Tell the volunteers of a run something.

    Their apps and the ledger's pages show it, until another announcement or --clear. The log keeps
    it permanently, where anyone can read it.
    """
    from tequio_client.organiser import opening

    if bool(text.strip()) == clear:
        raise click.UsageError("give either --text or --clear")
    click.echo(opening.announce(name, text, ledger, (folder, *others)))


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
@cli.folder_option("organiser")
@cli.other_organisers_option
def roll_back(
    *, name: str, head_round: int, yes: bool, ledger: str, folder: Path, others: tuple[Path, ...]
) -> None:
    """Take a paused run back to an earlier head.

    The next round starts from the head that the given round made. Points stay. Explains first what
    follows, and asks.
    """
    from tequio_client.organiser import rollback

    def agrees(description: str) -> bool:
        click.echo(description)
        return yes or click.confirm("Sign this as an organiser?")

    click.echo(rollback.roll_back(name, ledger, (folder, *others), head_round, agrees))


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
    type=click.FloatRange(0.001, 3_650),
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

    def agrees(decision: str) -> bool:
        click.echo(decision)
        return yes or click.confirm("Sign this as an organiser?")

    click.echo(signing.countersign(ledger, file, folder, agrees))


@click.group(cls=cli.PlainGroup)
def quarantine() -> None:
    """Review quarantined keys and decide their appeals."""


@quarantine.command("list")
@cli.ledger_option
def list_quarantined(ledger: str) -> None:
    """List restricted keys.

    Those are the keys that are quarantined, banned, suspected or on probation.
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
    """Keep the quarantine of KEY, and reject its appeal."""
    from tequio_client.organiser import decisions
    from tequio_shared.statements.network import StandingUphold

    make = partial(StandingUphold, to="banned" if ban else "quarantined", reason=reason)
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
