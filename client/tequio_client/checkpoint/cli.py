"""`tequio checkpoint`: export, verify and publish certified heads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli

if TYPE_CHECKING:
    from tequio_client.checkpoint.export import WeightsOrigin
    from tequio_client.checkpoint.hub import Hub


_RUN = click.option(
    "--run", "run_name", required=True, help="Name of the run, or the beginning of its id."
)


@click.group(cls=cli.PlainGroup)
def checkpoint() -> None:
    """Export, verify and publish the certified heads of runs."""


@checkpoint.command()
@_RUN
@click.option(
    "--round", "round_number", type=click.IntRange(0), help="Round of the head (default: the last)."
)
@click.option(
    "--measured",
    "is_measured",
    is_flag=True,
    help="The newest head that members measured and found no worse than those before it.",
)
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to create; it appears when it is complete.",
)
@click.option(
    "--merged",
    "is_merged",
    is_flag=True,
    help="Merge adapters into their frozen base: a full model instead of a folder for peft.",
)
@click.option(
    "--gguf",
    "with_gguf",
    is_flag=True,
    help="Also write a GGUF file next to the folder; adapters are merged for it.",
)
@click.option(
    "--onnx",
    "with_onnx",
    is_flag=True,
    help="Also write a folder for onnxruntime next to it; adapters are merged for it.",
)
@cli.stores_option
@cli.ledger_option
@cli.trust_option
def export(  # noqa: PLR0913 - one parameter an option
    *,
    run_name: str,
    round_number: int | None,
    is_measured: bool,
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
    from tequio_client.checkpoint import gguf, onnx
    from tequio_client.checkpoint.layout import ExportForm
    from tequio_client.organiser import verdicts
    from tequio_client.verify.report import ProgressBars

    cli.set_up_logs(log_json=False, log_level="warning")
    if is_measured and round_number is not None:
        raise click.UsageError("give either --round or --measured")
    if is_measured:
        round_number = verdicts.find_fine_head(run_name, ledger)
    if with_gguf:
        gguf.check_installed()
        gguf.check_free(target)
    if with_onnx:
        onnx.check_installed()
        onnx.check_free(target)
    options = program.ExportOptions(
        origin=_origin(ledger, trust_file, stores),
        run=run_name,
        round=round_number,
        target=target,
        form=ExportForm.MERGED if is_merged else ExportForm.HEAD,
        merges_adapters=(with_gguf or with_onnx) and not is_merged,
    )
    with ProgressBars(Console(stderr=True)) as bars:
        story = program.export_head(options, bars)
        click.echo(f"{target}: {story.manifest.name}, head of round {story.head.round}")
        if with_gguf:
            click.echo(str(gguf.write_gguf(target, bars)))
        if with_onnx:
            click.echo(str(onnx.write_onnx(target, bars)))


@checkpoint.command()
@click.argument("what", metavar="PATH_OR_REPO")
@click.option("--revision", help="Commit or tag of a repository, such as round-12.")
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

    PATH_OR_REPO is a folder, or a repository of the Hub. With --store, the first tensor that
    differs is named.

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
        click.echo(f"commit of the repository: {folder.name}")
    sys.exit(verdict.outcome)


def _exported(what: str, revision: str | None) -> Path:
    """A local folder, or a repository fetched; raises UserFacingError for neither."""
    from tequio_shared.errors import UserFacingError

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
    try:
        return _hub().download(what, revision)
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
        click.option("--private", "is_private", is_flag=True, help="Create a private repository."),
        click.option("--repo", required=True, help="Repository of the Hub, user/name."),
    ):
        command = option(command)
    return command


@checkpoint.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True, file_okay=False))
@_publishing
def publish(  # noqa: PLR0913 - one parameter an option
    *,
    source: Path,
    repo: str,
    is_private: bool,
    folder: Path,
    others: tuple[Path, ...],
    without_statement: bool,
    ledger: str,
    trust_file: Path | None,
) -> None:
    """Publish an exported folder on the Hugging Face Hub.

    SOURCE is verified first, and its publication is recorded in the log. The token comes from
    HF_TOKEN, the keyring (`tequio checkpoint token`) or `hf auth login`. Run the command again to
    continue an interrupted upload.
    """
    from rich.console import Console

    from tequio_client.checkpoint import publish as program
    from tequio_client.verify.report import ProgressBars

    cli.set_up_logs(log_json=False, log_level="warning")
    options = program.PublishOptions(
        folder=source,
        repo=repo,
        origin=_origin(ledger, trust_file),
        is_private=is_private,
        organisers=() if without_statement else (folder, *others),
    )
    hub = _hub(is_token_needed=True)
    with ProgressBars(Console(stderr=True)) as bars:
        claim = program.verify_folder(options, bars)
    done, entry = program.publish_folder(
        options, claim, hub, lambda name: click.echo(name, err=True)
    )
    click.echo(
        f"{done.repo}: {done.tag} is {done.revision}" + ("" if done.is_new else ", unchanged")
    )
    if entry is not None:
        click.echo(f"logged as entry {entry}")


@checkpoint.command()
@_RUN
@click.option("--every", required=True, type=click.IntRange(1), help="Publish every N rounds.")
@click.option(
    "--work",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for work in progress.",
)
@cli.stores_option
@_publishing
@cli.logging_options
def follow(  # noqa: PLR0913 - one parameter an option
    *,
    run_name: str,
    every: int,
    work: Path,
    stores: tuple[Path, ...],
    repo: str,
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
        repo=repo,
        origin=_origin(ledger, trust_file, stores),
        is_private=is_private,
        organisers=() if without_statement else (folder, *others),
    )
    program.follow_run(options, run_name, every, _hub(is_token_needed=True))


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
    from tequio_client.ledger.proofs import read_policy

    return WeightsOrigin(ledger=ledger, stores=stores, trust=read_policy(trust_file))


def _hub(*, is_token_needed: bool = False) -> Hub:
    from tequio_client.checkpoint import hub as program
    from tequio_client.keys.system_keyring import SystemKeyring

    if not sys.stderr.isatty():
        program.disable_progress()
    find = program.require_token if is_token_needed else program.find_token
    return program.Hub(find(os.environ, SystemKeyring()))
