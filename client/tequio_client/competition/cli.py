"""`tequio competition`: what entrants, custodians, evaluators and onlookers do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli

if TYPE_CHECKING:
    from tequio_client.verify.folded_log import LedgerReader


FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_STORES = click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of a worker or seed, or its store, that has the weights; may be repeated.",
)
_DEVICE = click.option(
    "--device", default="auto", show_default=True, help="cpu, cuda, cuda:1, xpu, mps."
)
_THREADS = click.option(
    "--threads", type=click.IntRange(1, 1024), help="CPU threads to compute with."
)
which = click.option(
    "--competition",
    "wanted",
    help="Name of the competition, or the beginning of its id (default: the only one).",
)


def reader(ledger: str, trust_file: Path | None) -> LedgerReader:
    """A reader of the ledger's log."""
    from tequio_client.ledger.proofs import read_policy
    from tequio_client.verify.folded_log import LedgerReader

    cli.set_up_logs(log_json=False, log_level="error")
    return LedgerReader(ledger, read_policy(trust_file))


_VERIFY = click.option(
    "--verify",
    "is_verified",
    is_flag=True,
    help="Read and check the whole log instead of trusting the ledger.",
)


@click.command("list")
@_VERIFY
@cli.ledger
@cli.trust
def list_(*, is_verified: bool, ledger: str, trust_file: Path | None) -> None:
    """List the competitions of a ledger, as it reports them or, with --verify, from its log."""
    if is_verified:
        from tequio_client.competition import listing

        listing.list_all(reader(ledger, trust_file))
        return
    from tequio_client.competition import listing

    listing.ledgers_word_list_all(ledger)


@click.command()
@click.argument("wanted", cls=cli.Named, required=False, metavar="[COMPETITION]")
@click.option("--link", "as_link", is_flag=True, help="Print the link that the app opens.")
@_VERIFY
@cli.ledger
@cli.trust
def show(
    *, wanted: str | None, as_link: bool, is_verified: bool, ledger: str, trust_file: Path | None
) -> None:
    """Show one competition: rules, entrants, evaluators, scores so far.

    By the ledger's word, or with --verify by its log.
    """
    if as_link and is_verified:
        raise click.UsageError("--link has nothing to verify: leave --verify out")
    if is_verified:
        from tequio_client.competition import listing

        listing.show(reader(ledger, trust_file), wanted)
        return
    from tequio_client.competition import listing

    if as_link:
        click.echo(listing.link(ledger, wanted))
    else:
        listing.ledgers_word_show(ledger, wanted)


@click.command()
@cli.folder("custodian")
def key(folder: Path) -> None:
    """Print the key in DIR, created at the first call: a custodian gives it to the organisers."""
    from tequio_client.organiser import opening

    click.echo(opening.organiser_key(folder))


@click.command()
@click.argument("name")
@click.option(
    "--run",
    "run_name",
    type=cli.Name(),
    help="Name of the run that takes part, or the beginning of its id.",
)
@which
@cli.ledger
@cli.trust
@cli.folder("organiser")
def enter(
    *,
    name: str,
    run_name: str | None,
    wanted: str | None,
    ledger: str,
    trust_file: Path | None,
    folder: Path,
) -> None:
    """Enter a competition as NAME: for a run (organisers), or a model that is trained elsewhere.

    The key in DIR enters, and it alone submits under that name. NAME has small letters, digits and
    hyphens.
    """
    from tequio_client.competition import participation

    log = reader(ledger, trust_file)
    click.echo(participation.enter(log, wanted, _entrant(name), run_name, folder))


@click.command()
@click.argument("name")
@click.option("--run", "run_name", help="Submit a head of this run.")
@click.option(
    "--round",
    "number",
    type=click.IntRange(0),
    help="Round of the head (default: the last one within the budget).",
)
@click.option("--repo", help="Submit a repository of the Hugging Face Hub, user/name.")
@click.option("--revision", help="Its branch, tag or commit (default: main as it is now).")
@which
@cli.ledger
@cli.trust
@cli.folder("organiser")
def submit(  # noqa: PLR0913 - one parameter an option
    *,
    name: str,
    run_name: str | None,
    number: int | None,
    repo: str | None,
    revision: str | None,
    wanted: str | None,
    ledger: str,
    trust_file: Path | None,
    folder: Path,
) -> None:
    """Submit weights as the entrant NAME; the last submission before the deadline counts.

    A repository is fetched and tried as evaluators will, and named file by file.
    """
    from tequio_client.competition import participation

    log = reader(ledger, trust_file)
    if bool(run_name) == bool(repo):
        raise click.UsageError("give either --run with --round, or --repo")
    if repo and number is not None:
        raise click.UsageError(f"--round {number} is of a run's head: with --repo say --revision")
    if run_name and revision is not None:
        raise click.UsageError(f"--revision {revision} is of a repository: with --run say --round")
    if run_name:
        said = participation.submit_head(log, wanted, name, run_name, number, folder)
    else:
        from tequio_client.competition import submission  # brings torch

        look = partial(submission.of_repository, repo=str(repo), revision=revision)
        said = participation.submit_folder(log, wanted, name, look, folder)
    click.echo(said)


@click.command()
@which
@cli.ledger
@cli.trust
@cli.folder("worker")
def offer(wanted: str | None, ledger: str, trust_file: Path | None, folder: Path) -> None:
    """Offer to evaluate with the key in DIR; stop its worker while this runs.

    Before the offer is made, a secret for the draw is stored in DIR, readable by its owner only.
    """
    from tequio_client.competition import participation

    click.echo(participation.offer(reader(ledger, trust_file), wanted, folder))


@click.command()
@click.option(
    "--follow", is_flag=True, help="Offer in every competition that opens, and keep running."
)
@_DEVICE
@_THREADS
@_STORES
@which
@cli.ledger
@cli.trust
@cli.folder("worker")
def evaluate(  # noqa: PLR0913 - one parameter an option
    *,
    follow: bool,
    device: str,
    threads: int | None,
    stores: tuple[Path, ...],
    wanted: str | None,
    ledger: str,
    trust_file: Path | None,
    folder: Path,
) -> None:
    """Evaluate with the key in DIR: open the secret, wait for the draw, score what was submitted.

    It may be stopped and started again at any time, and scores nothing twice. With --follow it
    offers to evaluate wherever this computer has the memory for it, and can be left running.
    """
    from tequio_client.competition import evaluate as program
    from tequio_client.ledger.proofs import read_policy

    cli.set_up_logs(log_json=False, log_level="error")
    wish = program.Wish(
        ledger=ledger,
        folder=folder,
        competition=wanted,
        stores=stores,
        device=device,
        threads=threads,
        trust=read_policy(trust_file),
    )
    if follow:
        program.follow(wish, click.echo)
    else:
        program.one(wish, click.echo)


@click.command()
@click.option("--share", required=True, type=FILE, help="The custodian's share.")
@which
@cli.ledger
@cli.trust
@cli.folder("custodian")
def reveal(
    share: Path, wanted: str | None, ledger: str, trust_file: Path | None, folder: Path
) -> None:
    """Publish a custodian's share, once the draw is over."""
    from tequio_client.competition import participation

    click.echo(participation.reveal(reader(ledger, trust_file), wanted, share, folder))


@click.command()
@click.argument("name")
@click.option("--evaluator", required=True, help="Key of the evaluator, or its beginning.")
@click.option("--document", required=True, type=click.IntRange(0), help="Number of the document.")
@click.option(
    "--millibits",
    type=click.IntRange(0),
    help="Score in thousandths of a bit (default: it is scored here).",
)
@_DEVICE
@_STORES
@which
@cli.ledger
@cli.trust
@cli.folder("worker")
def challenge(  # noqa: PLR0913 - one parameter an option
    *,
    name: str,
    evaluator: str,
    document: int,
    millibits: int | None,
    device: str,
    stores: tuple[Path, ...],
    wanted: str | None,
    ledger: str,
    trust_file: Path | None,
    folder: Path,
) -> None:
    """Challenge an evaluator's score of a document of the entrant NAME.

    It is shown on the competition's page, and scored first by whoever verifies.
    """
    from rich.console import Console

    from tequio_client.competition import participation
    from tequio_client.trainer import device as devices
    from tequio_client.verify.progress import Bars

    doubt = participation.Doubt(
        entrant=name, evaluator=evaluator, document=document, millibits=millibits
    )
    with Bars(Console(stderr=True)) as bars:
        scorer = participation.Scorer(device=devices.choose(device), progress=bars, stores=stores)
        log = reader(ledger, trust_file)
        said = participation.challenge(log, wanted, doubt, scorer, folder)
    click.echo(said)


def _entrant(name: str) -> str:
    import msgspec

    from tequio_shared.statements.competitions import EntrantName

    try:
        return str(msgspec.convert(name, EntrantName))
    except msgspec.ValidationError as err:
        raise click.BadParameter(
            f"{name!r} has to be of 1 to 32 small letters, digits and hyphens, and begin with a "
            "letter or digit",
            param_hint="NAME",
        ) from err


COMMANDS = (list_, show, key, enter, submit, offer, evaluate, reveal, challenge)


# --- `tequio competition`: what organisers do about a competition.

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_CUSTODIANS = click.IntRange(1, 16)


@click.command(cls=cli.LazyGroup, commands_at={"demo": "tequio_client.demo.cli:competition_demo"})
def competition() -> None:
    """Rank models by texts that nobody can have seen; docs/competitions.md is the guide."""


for _command in COMMANDS:
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
    from tequio_client.organiser import sealing
    from tequio_client.organiser import sealing as organiser_sealing

    archive, commitment = folder / sealing.ARCHIVE, folder / sealing.COMMITMENT
    sealed = organiser_sealing.open_sealed(archive, commitment, shares, to)
    click.echo(f"all {sealed.documents:,} documents are those of root {sealed.root}; see {to}")


@competition.command()
@click.argument("plan", required=False, type=_FILE)
@click.option("--sealed", type=_FOLDER, help="Folder that `tequio competition seal` made.")
@click.option(
    "--to",
    type=cli.OutputFile(),
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
    from tequio_client.competition import plan as competition_plan
    from tequio_client.competition.plan import EXAMPLE

    if example:
        click.echo(EXAMPLE, nl=False)
        return
    if plan is None or sealed is None:
        raise click.UsageError("give PLAN and --sealed, or --example for a plan to begin with")
    made = competition_plan.make(plan, sealed, to, now_ms())
    for line in competition_plan.lines(made):
        click.echo(line)
    kept = "" if made.archive else f" --sealed {sealed}"  # the ledger gets the archive then
    click.echo(f"written to {to}; open it with `tequio competition open {to}{kept}`")


@competition.command("open")
@click.argument("rules_file", metavar="RULES", type=_FILE)
@click.option("--sealed", type=_FOLDER, help="Sealed folder, if the ledger keeps the archive.")
@cli.signing
@cli.ledger
def open_(
    rules_file: Path,
    sealed: Path | None,
    folder: Path,
    others: tuple[Path, ...],
    out: Path | None,
    ledger: str,
) -> None:
    """Open the competition of the rules document RULES: put it on the ledger, and log it."""
    from tequio_client.competition import plan as competition_plan

    cli.set_up_logs(log_json=False, log_level="warning")
    made, said = competition_plan.open_(ledger, rules_file, sealed, (folder, *others), out)
    click.echo(f"{made.name}: {said}")


@competition.command()
@which
@click.option("--yes", is_flag=True, help="Do not ask; what it says was read before.")
@click.option("--dry-run", is_flag=True, help="Show what the log comes to, and say nothing.")
@cli.signing
@cli.ledger
@cli.trust
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

    from tequio_client.competition import outcome as competition_outcome

    log = reader(ledger, trust_file)
    view, outcome = competition_outcome.decided_computed(log, wanted)
    competition_outcome.show(view, outcome, Console())
    if dry_run:
        return
    if not yes and not click.confirm("State this as an organiser?"):
        raise click.Abort
    click.echo(competition_outcome.decide(log, view, outcome, (folder, *others), out))
