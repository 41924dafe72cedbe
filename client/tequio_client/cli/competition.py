"""`tequio competition`: what organisers do about a competition."""

from __future__ import annotations

from pathlib import Path

import click

from tequio_client.cli import competition_demo, competition_part, options

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_CUSTODIANS = click.IntRange(1, 16)


@click.group()
def competition() -> None:
    """Rank models by texts that nobody can have seen; docs/competitions.md is the guide."""


for _command in (*competition_part.COMMANDS, competition_demo.demo):
    competition.add_command(_command)


@competition.command()
@click.argument("data")
@click.option("--to", required=True, type=_FOLDER, help="New folder for all that is made.")
@click.option(
    "--custodians",
    type=_CUSTODIANS,
    default=3,
    show_default=True,
    help="How many people get a share of the key.",
)
@click.option(
    "--needed",
    type=_CUSTODIANS,
    help="How many of them open the set together; default: 2, or 1 if there is one.",
)
@click.option("--pattern", default="*", show_default=True, help="Which files of a folder.")
@click.option("--config", help="Configuration of a dataset.")
@click.option("--split", default="train", show_default=True, help="Split of a dataset.")
@click.option("--column", default="text", show_default=True, help="Column with the text.")
def seal(  # noqa: PLR0913, PLR0917 - one parameter an option
    data: str,
    to: Path,
    custodians: int,
    needed: int | None,
    pattern: str,
    config: str | None,
    split: str,
    column: str,
) -> None:
    """Seal the documents in DATA: a folder, a file of JSON lines, or a Hugging Face dataset.

    Makes an encrypted archive to publish, a commitment to log, and a file for each custodian.
    """
    from tequio_client.dataset import sources
    from tequio_client.organiser import sealing

    together = min(2, custodians) if needed is None else needed
    if together > custodians:
        raise click.UsageError(f"--needed {together} is more than --custodians {custodians}")
    reading = sources.Reading(pattern=pattern, config=config, split=split, column=column)
    sealed = sealing.seal(sources.found(data, reading), to, needed=together, shares=custodians)
    click.echo(f"sealed {sealed.documents:,} documents, {sealed.size_bytes:,} bytes, in {to}")
    click.echo(f"root {sealed.root}")
    click.echo(f"publish {sealing.ARCHIVE} and {sealing.COMMITMENT}")
    click.echo(_who_opens(together, custodians))


def _who_opens(needed: int, custodians: int) -> str:
    if custodians == 1:
        return (
            "share-1-of-1.txt alone opens the set: whoever holds it can read it before the "
            "deadline, and without it nobody ever will; say so to those who enter"
        )
    return (
        f"give each share-*.txt to one custodian and delete it here; {needed} of {custodians} open "
        f"the set, and it is lost if {custodians - needed + 1} are"
    )


@competition.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--share", "shares", multiple=True, required=True, type=_FILE, help="A share; repeat."
)
@click.option("--to", required=True, type=_FOLDER, help="New folder for documents and salts.")
def unseal(folder: Path, shares: tuple[Path, ...], to: Path) -> None:
    """Open the set whose archive and commitment lie in FOLDER, and check each document."""
    from tequio_client.organiser import sealing, unsealing

    archive, commitment = folder / sealing.ARCHIVE, folder / sealing.COMMITMENT
    sealed = unsealing.open_sealed(archive, commitment, shares, to)
    click.echo(f"all {sealed.documents:,} documents are those of root {sealed.root}; see {to}")


@competition.command()
@click.argument("plan", required=False, type=_FILE)
@click.option("--sealed", type=_FOLDER, help="Folder that `tequio competition seal` made.")
@click.option(
    "--to",
    type=options.OutputFile(),
    default=Path("rules.json"),
    show_default=True,
    help="File for the rules.",
)
@click.option("--example", is_flag=True, help="Print a plan with comments, to begin with.")
def rules(plan: Path | None, sealed: Path | None, to: Path, *, example: bool) -> None:
    """Make the rules of a competition from the TOML file PLAN and a sealed set.

    Dates that are lengths count from now. Nothing is said to anybody yet.
    """
    from tequio_client.clock import now_ms
    from tequio_client.competition import rules_document
    from tequio_client.competition.plan import EXAMPLE

    if example:
        click.echo(EXAMPLE, nl=False)
        return
    if plan is None or sealed is None:
        raise click.UsageError("give PLAN and --sealed, or --example for a plan to begin with")
    made = rules_document.make(plan, sealed, to, now_ms())
    for line in rules_document.lines(made):
        click.echo(line)
    kept = "" if made.archive else f" --sealed {sealed}"  # the ledger gets the archive then
    click.echo(f"written to {to}; open it with `tequio competition open {to}{kept}`")


@competition.command("open")
@click.argument("rules_file", metavar="RULES", type=_FILE)
@click.option("--sealed", type=_FOLDER, help="Sealed folder, if the ledger keeps the archive.")
@options.signing
@options.ledger
def open_(
    rules_file: Path,
    sealed: Path | None,
    folder: Path,
    others: tuple[Path, ...],
    out: Path | None,
    ledger: str,
) -> None:
    """Open the competition of the rules document RULES: put it on the ledger, and log it."""
    from tequio_client.competition import opening

    options.set_up_logs(log_json=False, log_level="warning")
    made, said = opening.open_(ledger, rules_file, sealed, (folder, *others), out)
    click.echo(f"{made.name}: {said}")


@competition.command()
@competition_part.which
@click.option("--yes", is_flag=True, help="Do not ask; what it says was read before.")
@click.option("--dry-run", is_flag=True, help="Show what the log comes to, and say nothing.")
@options.signing
@options.ledger
@options.trust
def result(  # noqa: PLR0913 - one parameter an option
    *,
    wanted: str | None,
    yes: bool,
    dry_run: bool,
    folder: Path,
    others: tuple[Path, ...],
    out: Path | None,
    ledger: str,
    trust_file: Path | None,
) -> None:
    """Compute what a competition came to, show it, and state it as an organiser."""
    from rich.console import Console

    from tequio_client.competition import decided, outcomes

    log = competition_part.reader(ledger, trust_file)
    view, outcome = decided.computed(log, wanted)
    outcomes.show(view, outcome, Console())
    if dry_run:
        return
    if not yes and not click.confirm("State this as an organiser?"):
        raise click.Abort
    click.echo(decided.decide(log, view, outcome, (folder, *others), out))
