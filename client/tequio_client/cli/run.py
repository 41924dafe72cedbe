"""`tequio run`: what an organiser does with runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from tequio_client.cli import options

_SEED_BYTES = 32
_SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_MOST = 10**15


class Amount(click.ParamType):  # type: ignore[type-arg]  # generic for the checker alone
    """A number that people write with K, M, B or T."""

    name = "number"

    def convert(  # noqa: D102 - click's own
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
@options.ledger
@options.folder("organiser")
@options.others
@options.seed_folder
@options.logging
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
    from tequio_client.organiser import commands

    options.set_up_logs(log_json=log_json, log_level=log_level)
    click.echo(commands.open_run(plan, ledger, folder, seed_folder, others))
    click.echo(f"serve it: tequio seed --ledger {ledger} --dir {seed_folder}", err=True)


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
@options.ledger
@options.folder("organiser")
@options.others
def pause(name: str, ledger: str, folder: Path, others: tuple[Path, ...]) -> None:
    """Open no round after the one that is under way."""
    from tequio_client.organiser import commands

    click.echo(commands.pause_run(name, ledger, (folder, *others)))


@run.command()
@options.named("name")
@options.ledger
@options.folder("organiser")
@options.others
def resume(name: str, ledger: str, folder: Path, others: tuple[Path, ...]) -> None:
    """Open rounds again; takes back a wish to pause or finish."""
    from tequio_client.organiser import commands

    click.echo(commands.resume_run(name, ledger, (folder, *others)))


@run.command()
@options.named("name")
@options.ledger
@options.folder("organiser")
@options.others
def finish(name: str, ledger: str, folder: Path, others: tuple[Path, ...]) -> None:
    """End the run after the round that is under way."""
    from tequio_client.organiser import commands

    click.echo(commands.finish_run(name, ledger, (folder, *others)))


@run.command()
@options.named("name")
@click.option("--uses", default=1, show_default=True, type=click.IntRange(1, 4_095))
@click.option(
    "--days",
    default=14.0,
    show_default=True,
    type=click.FloatRange(0.001, 3_650),
    help="How long the link works.",
)
@options.ledger
@options.signing
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
@options.folder("organiser")
def key(folder: Path) -> None:
    """Print the organiser key in DIR (made at the first call): what a ledger is founded with."""
    from tequio_client.organiser import commands

    click.echo(commands.organiser_key(folder))
