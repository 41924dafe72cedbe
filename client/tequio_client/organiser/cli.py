"""`tequio run`: what an organiser does with runs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli

if TYPE_CHECKING:
    from collections.abc import Callable


_SEED_BYTES = 32
_SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_MOST = 10**15


class Amount(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    """A number that people write with K, M, B or T."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([kmbt]?)", str(value).lower())
        amount = round(float(found[1]) * _SUFFIXES[found[2]]) if found else 0
        if not 1 <= amount <= _MOST:
            self.fail(f"{value!r} is no amount: write 125M, 1.5B or the like", param, ctx)
        return amount


@click.group()
def run() -> None:
    """Plan, open, steer and look at runs."""


@run.command("new")
@click.argument("plan", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that `tequio data build` made.",
)
@click.option("--parameters", type=Amount(), help="Size of a fresh Llama: 125M, 1.5B.")
@click.option("--from", "source", help="Go on from this model: a folder, or a name of the Hub.")
@click.option("--revision", default="", help="Commit, branch or tag of that name.")
@click.option(
    "--lora-rank",
    default=0,
    type=click.IntRange(0, 1_024),
    help="Freeze that model and train adapters of this rank beside it.",
)
@click.option("--name", help="Of the run; that of the file if not given.")
@click.option("--tokens", type=Amount(), help="To train on in all: 2.5B.")
@click.option("--peers", default=8, show_default=True, type=click.IntRange(2, 4_095))
@click.option(
    "--upload-mbit",
    default=10.0,
    show_default=True,
    type=click.FloatRange(0, 1e6, min_open=True),
    help="Of the slowest line that shall be able to train.",
)
@click.option(
    "--vram-gib",
    default=8.0,
    show_default=True,
    type=click.FloatRange(0, 1e4, min_open=True),
    help="Of the smallest card that shall.",
)
@click.option(
    "--disk-gib",
    default=30.0,
    show_default=True,
    type=click.FloatRange(0, 1e6, min_open=True),
    help="That a volunteer lends.",
)
@click.option(
    "--tflops",
    default=0.0,
    type=click.FloatRange(0, 1e5),
    help="What that card gives in 16 bits; by its memory if not given.",
)
def new(  # noqa: PLR0913 - one parameter an option
    *,
    plan: Path,
    data: Path,
    parameters: int | None,
    source: str | None,
    revision: str,
    lora_rank: int,
    name: str | None,
    tokens: int | None,
    **expect: float,
) -> None:
    """Write PLAN: a commented plan with sensible values, after a look at whether it can work."""
    from tequio_client.organiser import planning
    from tequio_client.organiser.plan import ExpectPlan

    if (parameters is None) == (source is None):
        raise click.UsageError("give --parameters for fresh weights, or --from to go on from some")
    if lora_rank and source is None:
        raise click.UsageError("--lora-rank trains adapters beside a model: name it with --from")
    if revision and (source is None or Path(source).is_dir()):
        raise click.UsageError(
            f"--revision {revision} is of a repository of the Hub: name that with --from"
        )
    wish = planning.Wish(
        name=name,
        data=data,
        parameters=parameters or 0,
        source=source or "",
        revision=revision,
        tokens=tokens,
        lora_rank=lora_rank,
        expect=ExpectPlan(**expect),  # type: ignore[arg-type]  # click gives what the options declare
    )
    planning.new(plan, wish)
    click.echo(f"written: {plan}; read it, then: tequio run open {plan}")


@run.command()
@click.argument("plan", type=click.Path(path_type=Path))
def check(plan: Path) -> None:
    """Reckon what PLAN takes of those whom it expects; says what cannot work."""
    from tequio_client.organiser import planning

    planning.check(plan)


@run.command("open")
@click.argument("plan", type=click.Path(path_type=Path))
@cli.ledger
@cli.folder("organiser")
@cli.others
@cli.seed_folder
@cli.logging
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
    """Open the run that the TOML file PLAN describes.

    Makes the first head and puts it, with the shards, where `tequio seed --dir SEED_DIR` serves
    them, once this is done; uploads the documents; logs `run.open` under the organiser key in DIR.
    """
    from tequio_client.organiser import opening

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    click.echo(opening.open_run(plan, ledger, folder, seed_folder, others))
    click.echo(f"serve it: tequio seed --ledger {ledger} --dir {seed_folder}", err=True)


@run.command("list")
@cli.ledger
def list_(ledger: str) -> None:
    """List the runs of a ledger."""
    from tequio_client.organiser import opening

    opening.list_runs(ledger)


@run.command()
@cli.named("name")
@cli.ledger
def show(name: str, ledger: str) -> None:
    """Show one run, by name or the beginning of its id."""
    from tequio_client.organiser import opening

    opening.show_run(name, ledger)


@run.command()
@cli.named("name")
@cli.ledger
@cli.folder("organiser")
@cli.others
def pause(name: str, ledger: str, folder: Path, others: tuple[Path, ...]) -> None:
    """Open no round after the one that is under way."""
    from tequio_client.organiser import opening

    click.echo(opening.pause_run(name, ledger, (folder, *others)))


@run.command()
@cli.named("name")
@cli.ledger
@cli.folder("organiser")
@cli.others
def resume(name: str, ledger: str, folder: Path, others: tuple[Path, ...]) -> None:
    """Open rounds again; takes back a wish to pause or finish."""
    from tequio_client.organiser import opening

    click.echo(opening.resume_run(name, ledger, (folder, *others)))


@run.command()
@cli.named("name")
@cli.ledger
@cli.folder("organiser")
@cli.others
def finish(name: str, ledger: str, folder: Path, others: tuple[Path, ...]) -> None:
    """End the run after the round that is under way."""
    from tequio_client.organiser import opening

    click.echo(opening.finish_run(name, ledger, (folder, *others)))


@run.command()
@cli.named("name")
@click.option("--uses", default=1, show_default=True, type=click.IntRange(1, 4_095))
@click.option(
    "--days",
    default=14.0,
    show_default=True,
    type=click.FloatRange(0.001, 3_650),
    help="How long the link works.",
)
@cli.ledger
@cli.signing
def invite(  # noqa: PLR0913 - one parameter an option
    *,
    name: str,
    uses: int,
    days: float,
    ledger: str,
    folder: Path,
    others: tuple[Path, ...],
    out: Path | None,
) -> None:
    """Print a link by which somebody joins the run with one click: a secret, for whom you invite.

    The app opens it; without the app, `tequio join LINK` does. Two organisers sign, if the network
    has two. `tequio invite list|close|revoke` looks after it.
    """
    from tequio_client.organiser import invitations

    wish = invitations.Wish(uses=uses, days=days, run=name, seed=os.urandom(_SEED_BYTES))
    opened = invitations.open_(ledger, wish, (folder, *others), out)
    click.echo(opened.says, err=True)
    click.echo(opened.link)


@run.command()
@cli.folder("organiser")
def key(folder: Path) -> None:
    """Print the organiser key in DIR (made at the first call): what a ledger is founded with."""
    from tequio_client.organiser import opening

    click.echo(opening.organiser_key(folder))


# --- `tequio invite`: what an organiser does to let people in.


@click.group()
def invite_invite() -> None:
    """Let people in by a link."""


@invite_invite.command("open")
@click.option("--uses", default=1, show_default=True, type=click.IntRange(1, 4_095))
@click.option(
    "--days",
    default=14.0,
    show_default=True,
    type=click.FloatRange(0.001, 3_650),
    help="How long the link works.",
)
@click.option(
    "--run",
    "run_name",
    type=cli.Name(),
    help="Name or id of the run it is for; every run if not given.",
)
@cli.ledger
@cli.signing
def invite_open_(  # noqa: PLR0913 - one parameter an option
    *,
    uses: int,
    days: float,
    run_name: str | None,
    ledger: str,
    folder: Path,
    others: tuple[Path, ...],
    out: Path | None,
) -> None:
    """Open an invitation and print its link: a secret, for whom you invite.

    Two organisers sign, if the network has two.
    """
    from tequio_client.organiser import invitations

    wish = invitations.Wish(uses=uses, days=days, run=run_name, seed=os.urandom(_SEED_BYTES))
    opened = invitations.open_(ledger, wish, (folder, *others), out)
    click.echo(opened.says, err=True)
    click.echo(opened.link)


@invite_invite.command()
@cli.named("invitation")
@cli.ledger
@cli.signing
def close(
    invitation: str, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None
) -> None:
    """End INVITATION: its key, how that begins, or its link. Whom it let in stays."""
    from tequio_client.organiser import invitations

    click.echo(invitations.close(ledger, invitation, (folder, *others), out))


@invite_invite.command()
@cli.named("invitation")
@cli.ledger
@cli.signing
def revoke(
    invitation: str, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None
) -> None:
    """End INVITATION, also for whom it let in; two organisers sign, as above."""
    from tequio_client.organiser import invitations

    click.echo(invitations.revoke(ledger, invitation, (folder, *others), out))


@invite_invite.command("list")
@cli.ledger
def invite_list_(ledger: str) -> None:
    """List all invitations, and how many each let in."""
    from tequio_client.organiser import invitations

    invitations.list_all(ledger)


# --- `tequio connector`: whom the organisers let vouch for others.

_KEY = cli.named("key")


@click.group()
def connector() -> None:
    """Say who may vouch for others."""


@connector.command()
@_KEY
@click.option(
    "--days",
    default=365.0,
    show_default=True,
    type=click.FloatRange(0.001, 3_650),
    help="How long it may vouch; what it said in that time stays.",
)
@cli.ledger
@cli.signing
def grant(
    key: str, *, days: float, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None
) -> None:
    """Let KEY vouch for others; two organisers sign, if the network has two."""
    from tequio_client.organiser import invitations

    click.echo(invitations.grant(ledger, key, days, (folder, *others), out))


@connector.command()
@_KEY
@cli.ledger
@cli.signing
def connector_revoke(
    key: str, ledger: str, folder: Path, others: tuple[Path, ...], out: Path | None
) -> None:
    """Let KEY vouch for nobody any more, also not for whom it did; two sign, as above."""
    from tequio_client.organiser import invitations

    click.echo(invitations.connectors_revoke(ledger, key, (folder, *others), out))


@connector.command("list")
@cli.ledger
def connector_list_(ledger: str) -> None:
    """List who may vouch for others."""
    from tequio_client.organiser import invitations

    invitations.connectors_list_all(ledger)


# --- `tequio countersign`: complete what another organiser has signed.


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--yes", is_flag=True, help="Do not ask; what it says was read before.")
@cli.ledger
@cli.folder("organiser")
def countersign(file: Path, ledger: str, folder: Path, *, yes: bool) -> None:
    """Say what the half-signed decision in FILE is, sign it too if you agree, have it logged."""
    from tequio_client.organiser import signing

    def agrees(says: str) -> bool:
        click.echo(says)
        return yes or click.confirm("Sign this as an organiser?")

    click.echo(signing.countersign(ledger, file, folder, agrees))


# --- `tequio quarantine`: what an organiser does about keys that are outside or watched.

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group()
def quarantine() -> None:
    """See who is quarantined and why; answer appeals."""


@quarantine.command("list")
@cli.ledger
def quarantine_list_(ledger: str) -> None:
    """List who is quarantined, banned, suspected or on probation."""
    from tequio_client.organiser import quarantine as program

    program.list_held(ledger)


@quarantine.command()
@_KEY
@cli.ledger
def quarantine_show(key: str, ledger: str) -> None:
    """Show how KEY stands, what the evidence in the log says, and its appeal."""
    from tequio_client.organiser import quarantine as program

    program.show(key, ledger)


def _signing(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a ruling."""
    for option in (
        cli.signing,
        click.option(
            "--reason",
            type=click.IntRange(0, 65_535),
            default=1,
            show_default=True,
            help="A number that the organisers agreed on; nothing depends on it.",
        ),
        cli.ledger,
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
