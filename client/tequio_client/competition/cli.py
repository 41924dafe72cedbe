"""`tequio competition`: commands for everyone, and for entrants, evaluators and organisers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli

if TYPE_CHECKING:
    from tequio_client.verify.reader import LedgerReader


_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_CUSTODIANS = click.IntRange(1, 16)
_VERIFY = click.option(
    "--verify",
    "is_verified",
    is_flag=True,
    help="Read and check the whole log instead of trusting the ledger.",
)
competition_option = click.option(
    "--competition",
    "wanted",
    help="Name of the competition, or the beginning of its id (default: the only one).",
)


def _key_options(folder: str) -> Callable[[cli.F], cli.F]:
    """Options of a command that signs with the key in a folder."""

    def add(command: cli.F) -> cli.F:
        for option in (
            cli.folder_option(folder),
            cli.trust_option,
            cli.ledger_option,
            competition_option,
        ):
            command = option(command)
        return command

    return add


def log_reader(ledger: str, trust_file: Path | None) -> LedgerReader:
    from tequio_client.ledger.networks import read_policy
    from tequio_client.verify.reader import LedgerReader

    cli.set_up_logs(log_json=False, log_level="error")
    return LedgerReader(ledger, read_policy(trust_file, ledger))


# The same help as in a command's docstring, in one line each: see `tequio_client.__main__`.
_HERE = "tequio_client.competition.cli"
_SECTIONS = {
    "Look": {
        "list": (f"{_HERE}:list_", "List the competitions of a ledger."),
        "show": (f"{_HERE}:show_competition", "Show a competition: rules, entrants, scores."),
    },
    "Enter": {
        "enter": (f"{_HERE}:enter", "Enter a competition."),
        "submit": (f"{_HERE}:submit", "Submit weights."),
        "challenge": (f"{_HERE}:challenge", "Challenge a score."),
    },
    "Judge": {
        "offer": (f"{_HERE}:offer", "Offer to evaluate."),
        "evaluate": (f"{_HERE}:evaluate", "Score what was submitted."),
        "key": (f"{_HERE}:key", "Print the key of a custodian."),
        "reveal": (f"{_HERE}:reveal", "Publish a custodian's share of the key."),
    },
    "Organise": {
        "seal": (f"{_HERE}:seal", "Encrypt the documents until the deadline."),
        "unseal": (f"{_HERE}:unseal", "Decrypt sealed documents."),
        "rules": (f"{_HERE}:rules", "Make the rules from a plan."),
        "open": (f"{_HERE}:open_", "Open a competition."),
        "result": (f"{_HERE}:result", "Compute, show and log the result."),
        "demo": ("tequio_client.demo.cli:competition_demo", "Run a competition on this computer."),
    },
}


@click.command(cls=cli.LazyGroup, sections=_SECTIONS)
def competition() -> None:
    """Rank models by texts that nobody can have seen; see docs/competitions.md."""


@click.command("list")
@_VERIFY
@cli.ledger_option
@cli.trust_option
def list_(*, is_verified: bool, ledger: str, trust_file: Path | None) -> None:
    """List the competitions of a ledger, as it reports them or, with --verify, from its log."""
    from tequio_client.competition import listing

    if is_verified:
        listing.list_from_log(log_reader(ledger, trust_file))
    else:
        listing.list_reported(ledger)


@click.command("show")
@click.argument("wanted", cls=cli.LogIdArgument, required=False, metavar="[COMPETITION]")
@click.option("--link", "as_link", is_flag=True, help="Print the link that the app opens.")
@_VERIFY
@cli.ledger_option
@cli.trust_option
def show_competition(
    *, wanted: str | None, as_link: bool, is_verified: bool, ledger: str, trust_file: Path | None
) -> None:
    """Show one competition: rules, entrants, evaluators, scores so far.

    Shown as the ledger reports it or, with --verify, from its log.
    """
    from tequio_client.competition import listing

    if as_link and is_verified:
        raise click.UsageError("--link has nothing to verify: leave --verify out")
    if is_verified:
        listing.print_from_log(log_reader(ledger, trust_file), wanted)
    elif as_link:
        click.echo(listing.competition_link(ledger, wanted))
    else:
        listing.print_reported(ledger, wanted)


@click.command()
@cli.folder_option("custodian")
def key(folder: Path) -> None:
    """Print a custodian's key in DIR, created at the first call.

    Custodians give their keys to the organisers.
    """
    from tequio_client.organiser import opening

    click.echo(opening.organiser_key(folder))


@click.command()
@click.argument("name")
@click.option(
    "--run",
    "run_name",
    type=cli.NonEmptyText(),
    help="Name of the run that takes part, or the beginning of its id.",
)
@_key_options("organiser")
def enter(
    *,
    name: str,
    run_name: str | None,
    wanted: str | None,
    ledger: str,
    trust_file: Path | None,
    folder: Path,
) -> None:
    """Enter a competition as NAME, with a run of yours or a model trained elsewhere.

    Only the key in DIR can submit under that name. NAME consists of lowercase letters, digits and
    hyphens.
    """
    from tequio_client.competition import participation

    log = log_reader(ledger, trust_file)
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
@click.option("--revision", help="Branch, tag or commit of the repository (default: main).")
@_key_options("organiser")
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

    A repository is downloaded and loaded first, as evaluators will; its files are then recorded by
    their hashes.
    """
    from tequio_client.competition import participation

    log = log_reader(ledger, trust_file)
    if bool(run_name) == bool(repo):
        raise click.UsageError("give either --run or --repo")
    if repo and number is not None:
        raise click.UsageError(f"--round {number} needs --run; with --repo, use --revision")
    if run_name and revision is not None:
        raise click.UsageError(f"--revision {revision} needs --repo; with --run, use --round")
    if repo:
        done = participation.submit_repository(log, wanted, name, repo, revision, folder)
    else:
        done = participation.submit_head(log, wanted, name, str(run_name), number, folder)
    click.echo(done)


@click.command()
@_key_options("worker")
def offer(wanted: str | None, ledger: str, trust_file: Path | None, folder: Path) -> None:
    """Offer to evaluate with the key in DIR; stop its worker first."""
    from tequio_client.competition import participation

    click.echo(participation.offer(log_reader(ledger, trust_file), wanted, folder))


@click.command()
@click.option(
    "--follow", is_flag=True, help="Offer to evaluate every competition that opens; keep running."
)
@cli.device_option
@cli.threads_option
@cli.stores_option
@_key_options("worker")
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
    """Evaluate with the key in DIR: draw its lot, wait for the draw, score the submissions.

    You can stop and restart it at any time; no document is scored twice. With --follow, it offers
    to evaluate every competition for which this computer has enough memory.
    """
    from tequio_client.competition import evaluate as program
    from tequio_client.ledger.networks import read_policy

    cli.set_up_logs(log_json=False, log_level="error")
    options = program.EvaluateOptions(
        ledger=ledger,
        folder=folder,
        competition=wanted,
        stores=stores,
        device=device,
        threads=threads,
        trust=read_policy(trust_file, ledger, folder),
    )
    if follow:
        program.evaluate_all(options, click.echo)
    else:
        program.evaluate_one(options, click.echo)


@click.command()
@click.option("--share", required=True, type=_FILE, help="The custodian's share.")
@_key_options("custodian")
def reveal(
    share: Path, wanted: str | None, ledger: str, trust_file: Path | None, folder: Path
) -> None:
    """Publish a custodian's share of the key, once the draw is over."""
    from tequio_client.competition import participation

    click.echo(participation.reveal(log_reader(ledger, trust_file), wanted, share, folder))


@click.command()
@click.argument("name")
@click.option("--evaluator", required=True, help="Key of the evaluator, or its beginning.")
@click.option(
    "--document", required=True, type=click.IntRange(0), help="Number of the document, from 0."
)
@click.option(
    "--millibits",
    type=click.IntRange(0),
    help="Correct score in thousandths of a bit (default: computed on this computer).",
)
@cli.device_option
@cli.stores_option
@_key_options("worker")
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

    The challenge is shown on the competition's page. Of the documents that `tequio
    verify-competition --rescore` scores again, up to half are challenged ones.
    """
    from rich.console import Console

    from tequio_client.competition import participation
    from tequio_client.trainer import device as devices
    from tequio_client.verify.report import ProgressBars

    doubt = participation.ScoreChallenge(
        entrant=name, evaluator=evaluator, document=document, millibits=millibits
    )
    with ProgressBars(Console(stderr=True)) as bars:
        scorer = participation.ScoringResources(
            device=devices.open_device(device), progress=bars, stores=stores
        )
        log = log_reader(ledger, trust_file)
        message = participation.challenge(log, wanted, doubt, scorer, folder)
    click.echo(message)


def _entrant(name: str) -> str:
    import msgspec

    from tequio_shared.statements.competitions import EntrantName

    try:
        return str(msgspec.convert(name, EntrantName))
    except msgspec.ValidationError as err:
        raise click.BadParameter(
            f"invalid name {name!r}: expected 1 to 32 lowercase letters, digits and hyphens, "
            "beginning with a letter or digit",
            param_hint="NAME",
        ) from err


@click.command()
@click.argument("data")
@click.option("--to", required=True, type=_FOLDER, help="New folder for the results.")
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
    help="How many shares open the set (default: 2, or 1 if there is one custodian).",
)
@cli.texts_options
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
    from tequio_client.dataset import rows
    from tequio_client.organiser import sealing
    from tequio_shared.sealed_set import TEXTS

    together = min(2, custodians) if needed is None else needed
    if together > custodians:
        raise click.UsageError(f"--needed {together} is more than --custodians {custodians}")
    reading = rows.ReadOptions(pattern=pattern, config=config, split=split, column=column)
    source = rows.open_documents(data, reading, TEXTS + 1)
    sealed = sealing.seal(source, to, needed=together, shares=custodians)
    click.echo(f"sealed {sealed.documents:,} documents, {sealed.size_bytes:,} bytes, in {to}")
    click.echo(f"root {sealed.root}")
    click.echo(f"publish {sealing.ARCHIVE} and {sealing.COMMITMENT}")
    click.echo(_who_opens(together, custodians))


def _who_opens(needed: int, custodians: int) -> str:
    if custodians == 1:
        return (
            "share-1-of-1.txt alone opens the set: its custodian can read the documents before the "
            "deadline, and if it is lost, nobody can ever read them; tell this to the entrants"
        )
    return (
        f"give each share-*.txt to one custodian and delete it here; {needed} of {custodians} "
        f"shares open the set, and the set is lost if {custodians - needed + 1} shares are lost"
    )


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--share", "shares", multiple=True, required=True, type=_FILE, help="A share; may be repeated."
)
@click.option("--to", required=True, type=_FOLDER, help="New folder for documents and salts.")
def unseal(folder: Path, shares: tuple[Path, ...], to: Path) -> None:
    """Decrypt the sealed set in FOLDER, and check every document against its commitment."""
    from tequio_client.organiser import sealing

    archive, commitment = folder / sealing.ARCHIVE, folder / sealing.COMMITMENT
    sealed = sealing.open_sealed(archive, commitment, shares, to)
    click.echo(f"all {sealed.documents:,} documents match the root {sealed.root}; see {to}")


@click.command()
@click.argument("plan", required=False, type=_FILE)
@click.option("--sealed", type=_FOLDER, help="Folder written by `tequio competition seal`.")
@click.option(
    "--to",
    type=cli.OutputFile(),
    default=Path("rules.json"),
    show_default=True,
    help="File for the rules.",
)
@click.option("--example", is_flag=True, help="Print a commented plan to start from.")
def rules(plan: Path | None, sealed: Path | None, to: Path, *, example: bool) -> None:
    """Make the rules of a competition from the TOML file PLAN and a sealed set.

    Dates given as durations count from now. Nothing is published yet.
    """
    from tequio_client.clock import now_ms
    from tequio_client.competition import plan as plans

    if example:
        click.echo(plans.EXAMPLE, nl=False)
        return
    if plan is None or sealed is None:
        raise click.UsageError("give PLAN and --sealed, or --example for a plan to start from")
    made = plans.write_rules(plan, sealed, to, now_ms())
    for line in plans.describe_rules(made):
        click.echo(line)
    archive = "" if made.archive else f" --sealed {sealed}"  # the ledger gets the archive then
    click.echo(f"written to {to}; open it with `tequio competition open {to}{archive}`")


@click.command("open")
@click.argument("rules_file", metavar="RULES", type=_FILE)
@click.option(
    "--sealed", type=_FOLDER, help="Folder of the sealed set, if the ledger stores the archive."
)
@cli.signing_options
@cli.ledger_option
def open_(
    rules_file: Path,
    sealed: Path | None,
    folders: tuple[Path, ...],
    out: Path | None,
    ledger: str,
) -> None:
    """Open a competition: upload its RULES to the ledger, and log them."""
    from tequio_client.competition import plan as plans

    made, message = plans.open_competition(ledger, rules_file, sealed, folders, out)
    click.echo(f"{made.name}: {message}")


@click.command()
@competition_option
@click.option("--yes", is_flag=True, help="Log the result without asking; read it first.")
@click.option("--dry-run", is_flag=True, help="Show the result, and log nothing.")
@cli.signing_options
@cli.ledger_option
@cli.trust_option
def result(  # noqa: PLR0913 - one parameter an option
    *,
    wanted: str | None,
    yes: bool,
    dry_run: bool,
    folders: tuple[Path, ...],
    out: Path | None,
    ledger: str,
    trust_file: Path | None,
) -> None:
    """Compute the result of a competition, show it, and log it as an organiser."""
    from rich.console import Console

    from tequio_client.competition import listing

    log = log_reader(ledger, trust_file)
    view, outcome = listing.compute_from_log(log, wanted)
    listing.print_outcome(view, outcome, Console())
    if dry_run:
        return
    if not yes and not click.confirm("Log this result as an organiser?"):
        raise click.Abort
    click.echo(listing.log_outcome(log, view, outcome, folders, out))
