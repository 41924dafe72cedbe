"""`tequio competition`: what entrants, custodians, evaluators and onlookers do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client.cli import options

if TYPE_CHECKING:
    from tequio_client.verify.ledger_reader import LedgerReader


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
    from tequio_client.verify.ledger_reader import LedgerReader

    options.set_up_logs(log_json=False, log_level="error")
    return LedgerReader(ledger, read_policy(trust_file))


_VERIFY = click.option(
    "--verify",
    "is_verified",
    is_flag=True,
    help="Read and check the whole log instead of trusting the ledger.",
)


@click.command("list")
@_VERIFY
@options.ledger
@options.trust
def list_(*, is_verified: bool, ledger: str, trust_file: Path | None) -> None:
    """List the competitions of a ledger, as it reports them or, with --verify, from its log."""
    if is_verified:
        from tequio_client.competition import showing

        showing.list_all(reader(ledger, trust_file))
        return
    from tequio_client.competition import ledgers_word

    ledgers_word.list_all(ledger)


@click.command()
@click.argument("wanted", cls=options.Named, required=False, metavar="[COMPETITION]")
@click.option("--link", "as_link", is_flag=True, help="Print the link that the app opens.")
@_VERIFY
@options.ledger
@options.trust
def show(
    *, wanted: str | None, as_link: bool, is_verified: bool, ledger: str, trust_file: Path | None
) -> None:
    """Show one competition: rules, entrants, evaluators, scores so far.

    By the ledger's word, or with --verify by its log.
    """
    if as_link and is_verified:
        raise click.UsageError("--link has nothing to verify: leave --verify out")
    if is_verified:
        from tequio_client.competition import showing

        showing.show(reader(ledger, trust_file), wanted)
        return
    from tequio_client.competition import ledgers_word

    if as_link:
        click.echo(ledgers_word.link(ledger, wanted))
    else:
        ledgers_word.show(ledger, wanted)


@click.command()
@options.folder("custodian")
def key(folder: Path) -> None:
    """Print the key in DIR, created at the first call: a custodian gives it to the organisers."""
    from tequio_client.organiser import commands

    click.echo(commands.organiser_key(folder))


@click.command()
@click.argument("name")
@click.option(
    "--run",
    "run_name",
    type=options.Name(),
    help="Name of the run that takes part, or the beginning of its id.",
)
@which
@options.ledger
@options.trust
@options.folder("organiser")
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
    from tequio_client.competition import part_taking

    log = reader(ledger, trust_file)
    click.echo(part_taking.enter(log, wanted, _entrant(name), run_name, folder))


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
@options.ledger
@options.trust
@options.folder("organiser")
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
    from tequio_client.competition import part_taking

    log = reader(ledger, trust_file)
    if bool(run_name) == bool(repo):
        raise click.UsageError("give either --run with --round, or --repo")
    if repo and number is not None:
        raise click.UsageError(f"--round {number} is of a run's head: with --repo say --revision")
    if run_name and revision is not None:
        raise click.UsageError(f"--revision {revision} is of a repository: with --run say --round")
    if run_name:
        said = part_taking.submit_head(log, wanted, name, run_name, number, folder)
    else:
        from tequio_client.competition import repository  # brings torch

        look = partial(repository.of_repository, repo=str(repo), revision=revision)
        said = part_taking.submit_folder(log, wanted, name, look, folder)
    click.echo(said)


@click.command()
@which
@options.ledger
@options.trust
@options.folder("worker")
def offer(wanted: str | None, ledger: str, trust_file: Path | None, folder: Path) -> None:
    """Offer to evaluate with the key in DIR; stop its worker while this runs.

    Before the offer is made, a secret for the draw is stored in DIR, readable by its owner only.
    """
    from tequio_client.competition import part_taking

    click.echo(part_taking.offer(reader(ledger, trust_file), wanted, folder))


@click.command()
@click.option(
    "--follow", is_flag=True, help="Offer in every competition that opens, and keep running."
)
@_DEVICE
@_THREADS
@_STORES
@which
@options.ledger
@options.trust
@options.folder("worker")
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

    options.set_up_logs(log_json=False, log_level="error")
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
@options.ledger
@options.trust
@options.folder("custodian")
def reveal(
    share: Path, wanted: str | None, ledger: str, trust_file: Path | None, folder: Path
) -> None:
    """Publish a custodian's share, once the draw is over."""
    from tequio_client.competition import part_taking

    click.echo(part_taking.reveal(reader(ledger, trust_file), wanted, share, folder))


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
@options.ledger
@options.trust
@options.folder("worker")
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

    from tequio_client.competition import challenging
    from tequio_client.trainer import device as devices
    from tequio_client.verify.progress import Bars

    doubt = challenging.Doubt(
        entrant=name, evaluator=evaluator, document=document, millibits=millibits
    )
    with Bars(Console(stderr=True)) as bars:
        scorer = challenging.Scorer(device=devices.choose(device), progress=bars, stores=stores)
        log = reader(ledger, trust_file)
        said = challenging.challenge(log, wanted, doubt, scorer, folder)
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
