"""`tequio checkpoint`: export, verify and publish certified heads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli
from tequio_client.checkpoint.serving.cli import serve

if TYPE_CHECKING:
    from tequio_client.checkpoint.export import CopyFormat, WeightsOrigin
    from tequio_client.checkpoint.publish import HeadStorage


_TARGET = click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to create; it appears when it is complete.",
)
_GGUF = click.option(
    "--gguf",
    "with_gguf",
    is_flag=True,
    help="Also write a GGUF file next to the folder; adapters are merged for it.",
)
_ONNX = click.option(
    "--onnx",
    "with_onnx",
    is_flag=True,
    help="Also write a folder for onnxruntime next to it; adapters are merged for it.",
)


@click.group(cls=cli.PlainGroup)
def checkpoint() -> None:
    """Export, verify, publish, download and serve the certified heads of runs."""


checkpoint.add_command(serve)


@checkpoint.command()
@cli.run_option
@click.option(
    "--round", "round_number", type=click.IntRange(0), help="Round of the head (default: the last)."
)
@cli.measured_option
@click.option("--head", "alias", help="A published head: latest, best, or its round.")
@_TARGET
@click.option(
    "--merged",
    "is_merged",
    is_flag=True,
    help="Merge adapters into their frozen base: a full model instead of a folder for peft.",
)
@_GGUF
@_ONNX
@cli.stores_option
@cli.ledger_option
@cli.trust_option
def export(  # noqa: PLR0913 - one parameter an option
    *,
    run_name: str,
    round_number: int | None,
    is_measured: bool,
    alias: str | None,
    target: Path,
    is_merged: bool,
    with_gguf: bool,
    with_onnx: bool,
    stores: tuple[Path, ...],
    ledger: str,
    trust_file: Path | None,
) -> None:
    """Export the head of a round as a model folder.

    The folder loads in transformers, or in peft if the run trains adapters. The weights come from
    the ledger's seeds or from --store, and are checked against the root in the log. Run the command
    again to continue an interrupted export.
    """
    from rich.console import Console

    from tequio_client.checkpoint import export as program
    from tequio_client.checkpoint.layout import ExportForm
    from tequio_client.organiser import verdicts
    from tequio_client.verify.report import ProgressBars

    cli.set_up_logs(log_json=False, log_level="warning")
    if is_measured + (round_number is not None) + (alias is not None) > 1:
        raise click.UsageError("give either --round, --measured or --head")
    origin = _origin(ledger, trust_file, stores)
    if is_measured:
        round_number = verdicts.find_fine_head(run_name, ledger, origin.trust)
    if alias is not None:
        found = verdicts.find_published(run_name, ledger, origin.trust)
        round_number = found.find(alias)[0].round
    copies = _copies(with_gguf=with_gguf, with_onnx=with_onnx)
    options = program.ExportOptions(
        origin=origin,
        run=run_name,
        round=round_number,
        target=target,
        form=ExportForm.MERGED if is_merged else ExportForm.HEAD,
        merges_adapters=bool(copies) and not is_merged,
        copies=copies,
    )
    with ProgressBars(Console(stderr=True)) as bars:
        story = program.export_head(options, bars)
    click.echo(f"{target}: {story.manifest.name}, head of round {story.head.round}")
    for one in copies:
        click.echo(str(one.place(target)))


def _copies(*, with_gguf: bool, with_onnx: bool) -> tuple[CopyFormat, ...]:
    from tequio_client.checkpoint import gguf, onnx

    return (*([gguf] if with_gguf else []), *([onnx] if with_onnx else []))


@checkpoint.command()
@cli.run_option
@click.option(
    "--head",
    "alias",
    default="latest",
    show_default=True,
    help="A published head: latest, best (the fewest bits per byte), or its round.",
)
@_TARGET
@_GGUF
@_ONNX
@cli.ledger_option
@cli.trust_option
def download(  # noqa: PLR0913 - one parameter an option
    *,
    run_name: str,
    alias: str,
    target: Path,
    with_gguf: bool,
    with_onnx: bool,
    ledger: str,
    trust_file: Path | None,
) -> None:
    """Download a published head of a run, and verify it.

    It comes from the Hugging Face Hub or the bucket that the log names, and is checked as `verify`
    does. Run the command again to continue an interrupted download.
    """
    from rich.console import Console

    from tequio_client.checkpoint import download as program
    from tequio_client.verify.report import ProgressBars

    cli.set_up_logs(log_json=False, log_level="warning")
    copies = _copies(with_gguf=with_gguf, with_onnx=with_onnx)
    options = program.DownloadOptions(
        origin=_origin(ledger, trust_file), run=run_name, head=alias, target=target, copies=copies
    )
    with ProgressBars(Console(stderr=True)) as bars:
        done = program.download_head(
            options, _storage, lambda line: click.echo(line, err=True), bars
        )
    click.echo(f"{target}: verified, head of round {done.round}")
    for one in copies:
        click.echo(str(one.place(target)))


@checkpoint.command()
@click.argument("what", metavar="PATH_OR_LOCATION")
@click.option("--revision", help="Tag of a published head, such as round-12; or a Hub commit.")
@cli.stores_option
@cli.ledger_option
@cli.trust_option
def verify(
    *,
    what: str,
    revision: str | None,
    stores: tuple[Path, ...],
    ledger: str,
    trust_file: Path | None,
) -> None:
    """Check that an exported model is a head certified in the log.

    PATH_OR_LOCATION is a folder, a repository of the Hub, or s3://bucket/prefix. With --store, the
    first tensor that differs is named.

    Exit status: 0 it is, 2 it is not, 3 it could not be checked.
    """
    from rich.console import Console

    from tequio_client.checkpoint import verify as program
    from tequio_client.checkpoint.verify import VerifyOutcome
    from tequio_client.verify.report import ProgressBars
    from tequio_shared.errors import MalformedError, UserFacingError

    cli.set_up_logs(log_json=False, log_level="warning")
    try:
        folder = _exported(what, revision)
        origin = _origin(ledger, trust_file, stores)
    except UserFacingError as err:
        click.echo(f"could not be checked: {err}", err=True)
        sys.exit(VerifyOutcome.CANNOT_VERIFY)
    except MalformedError as err:
        click.echo(f"{_VERDICTS[VerifyOutcome.IS_NOT.value]}\n{err}")
        sys.exit(VerifyOutcome.IS_NOT)
    with ProgressBars(Console(stderr=True)) as bars:
        verdict = program.verify_folder(folder, origin, bars)
    for line in (_VERDICTS[verdict.outcome.value], *verdict.lines):
        click.echo(line)
    if not Path(what).is_dir():
        click.echo(f"revision there: {folder.name}")
    sys.exit(verdict.outcome)


def _exported(what: str, revision: str | None) -> Path:
    """A local folder, or a published head fetched; raises UserFacingError for neither."""
    from tequio_shared.errors import UserFacingError
    from tequio_shared.statements.network import is_on_hub

    path = Path(what)
    try:
        is_folder, is_here = path.is_dir(), path.exists()
    except OSError as err:  # a name that no file can have
        raise UserFacingError(f"cannot open the folder {what[:60]}: {err.strerror}") from err
    if is_folder:
        return path
    if is_here:
        raise UserFacingError(
            f"{what} is a file: give the exported folder (a GGUF file cannot be verified, because "
            "its weights were rounded)"
        )
    if what.startswith((".", "/", "~")):
        raise UserFacingError(f"folder {what} not found")
    if not is_on_hub(what):
        return _storage(what).download(what, revision)
    try:
        return _storage(what).download(what, revision)
    except UserFacingError as err:
        raise UserFacingError(f"folder {what} not found, and as a repository: {err}") from err


_VERDICTS = {0: "verified", 2: "NOT THIS HEAD", 3: "could not be checked"}


def _publishing(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        cli.trust_option,
        cli.ledger_option,
        click.option(
            "--without-statement",
            is_flag=True,
            help="Do not record the publication in the log, which only organisers can do.",
        ),
        cli.other_organisers_option,
        cli.folder_option("organiser"),
        click.option(
            "--private", "is_private", is_flag=True, help="Create a private repository of the Hub."
        ),
        click.option(
            "--to",
            "location",
            required=True,
            help="user/name on the Hub, or s3://bucket/prefix (?endpoint=URL, ?region=NAME).",
        ),
    ):
        command = option(command)
    return command


@checkpoint.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True, file_okay=False))
@_publishing
def publish(  # noqa: PLR0913 - one parameter an option
    *,
    source: Path,
    location: str,
    is_private: bool,
    folder: Path,
    others: tuple[Path, ...],
    without_statement: bool,
    ledger: str,
    trust_file: Path | None,
) -> None:
    """Publish an exported folder on the Hugging Face Hub, or in a bucket of S3.

    SOURCE is verified first, and its publication is recorded in the log. The Hub's token comes from
    HF_TOKEN, the keyring (`tequio checkpoint token`) or `hf auth login`; a bucket's key from
    AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE. Run the command again to continue
    an interrupted upload.
    """
    from rich.console import Console

    from tequio_client.checkpoint import publish as program
    from tequio_client.verify.report import ProgressBars

    cli.set_up_logs(log_json=False, log_level="warning")
    options = program.PublishOptions(
        folder=source,
        location=location,
        origin=_origin(ledger, trust_file),
        is_private=is_private,
        organisers=() if without_statement else (folder, *others),
    )
    storage = _storage(location, is_token_needed=True)
    with ProgressBars(Console(stderr=True)) as bars:
        claim = program.verify_folder(options, bars)
    done, entry = program.publish_folder(
        options, claim, storage, lambda name: click.echo(name, err=True)
    )
    click.echo(
        f"{done.location}: {done.tag} is {done.revision}" + ("" if done.is_new else ", unchanged")
    )
    if entry is not None:
        click.echo(f"logged as entry {entry}")


@checkpoint.command()
@cli.run_option
@click.option("--every", required=True, type=click.IntRange(1), help="Publish every N rounds.")
@click.option(
    "--work",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for work in progress.",
)
@cli.measured_option
@cli.stores_option
@_publishing
@cli.logging_options
def follow(  # noqa: PLR0913 - one parameter an option
    *,
    run_name: str,
    every: int,
    work: Path,
    is_measured: bool,
    stores: tuple[Path, ...],
    location: str,
    is_private: bool,
    folder: Path,
    others: tuple[Path, ...],
    without_statement: bool,
    ledger: str,
    trust_file: Path | None,
    log_json: bool,
    log_level: str,
) -> None:
    """Publish the heads of a run as they are certified.

    Continues until the run ends; failures are retried.
    """
    from tequio_client.checkpoint import publish as program

    cli.set_up_logs(log_json=log_json, log_level=log_level)
    options = program.PublishOptions(
        folder=work,
        location=location,
        origin=_origin(ledger, trust_file, stores),
        is_private=is_private,
        is_measured=is_measured,
        organisers=() if without_statement else (folder, *others),
    )
    program.follow_run(options, run_name, every, _storage(location, is_token_needed=True))


@checkpoint.command()
def token() -> None:
    """Store a token of the Hub in the system's keyring."""
    from tequio_client.checkpoint import hub as program
    from tequio_client.keys.system_keyring import SystemKeyring

    hidden = sys.stdin.isatty()
    text = click.prompt("Token", hide_input=True) if hidden else sys.stdin.readline()
    program.store_token(text, SystemKeyring())
    click.echo("stored in the keyring")


def _origin(ledger: str, trust_file: Path | None, stores: tuple[Path, ...] = ()) -> WeightsOrigin:
    from tequio_client.checkpoint.export import WeightsOrigin
    from tequio_client.ledger.networks import read_policy

    return WeightsOrigin(ledger=ledger, stores=stores, trust=read_policy(trust_file, ledger))


def _storage(location: str, *, is_token_needed: bool = False) -> HeadStorage:
    """Open the Hub, or the store of a bucket; raises UserFacingError."""
    from tequio_client.checkpoint import bucket
    from tequio_client.checkpoint import hub as program
    from tequio_client.keys.system_keyring import SystemKeyring
    from tequio_shared.statements.network import is_on_hub

    if not is_on_hub(location):
        return bucket.S3Bucket(os.environ, cli.default_folder("published"))

    if not sys.stderr.isatty():
        program.disable_progress()
    find = program.require_token if is_token_needed else program.find_token
    return program.Hub(find(os.environ, SystemKeyring()))
