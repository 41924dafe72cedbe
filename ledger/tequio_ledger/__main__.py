"""The command `tequio-ledger`."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
import platformdirs

from tequio_ledger import SOFTWARE, backup, doctor, findings, logs, replay, restore, settings
from tequio_ledger import main as service
from tequio_ledger.clock import now_ms
from tequio_ledger.folder import Folder
from tequio_shared.errors import FatalLogError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable

_FOLDER = platformdirs.user_data_dir("tequio-ledger")
_OPTIONS = (
    click.option(
        "--dir", "folder", default=_FOLDER, show_default=True, help="Where everything is kept."
    ),
    click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
    click.option("--port", default="8600", show_default=True, help="Port; 0 takes a free one."),
    click.option("--network", default="tequio", show_default=True, help="Name of the network."),
    click.option("--origin", default="localhost/tequio", show_default=True, help="Log's name."),
    click.option("--threshold", default="1", show_default=True, help="Organisers who must sign."),
    click.option("--work-bits", default="20", show_default=True, help="Work of a new key."),
    click.option("--blob-quota-mb", default="4096", show_default=True, help="All blobs together."),
    click.option("--peer-quota-mb", default="64", show_default=True, help="Blobs of one peer."),
    click.option(
        "--key-rate", default="10", show_default=True, help="Statements/s of a key; 0: any."
    ),
    click.option(
        "--address-rate", default="100", show_default=True, help="The same, of a network address."
    ),
    click.option(
        "--address-streams", default="64", show_default=True, help="Its event streams; 0: any."
    ),
    click.option("--trusted-proxy", default="", help="Networks whose x-forwarded-for is believed."),
)
_PATH = click.Path(path_type=Path)
_IN_FOLDER = click.option(
    "--dir", "folder", default=_FOLDER, show_default=True, type=_PATH, help="The ledger's folder."
)


@click.group(context_settings={"auto_envvar_prefix": settings.ENVIRONMENT_PREFIX.rstrip("_")})
@click.version_option(version=SOFTWARE, message="%(version)s")
def cli() -> None:
    """Coordinate training rounds and keep a log of them that strangers can verify."""


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that make up the settings."""
    for option in reversed(_OPTIONS):
        command = option(command)
    organiser = click.option("--organiser", multiple=True, help="Key that may open runs; repeat.")
    return organiser(command)


@cli.command("serve")
@with_settings
@click.option("--log-json", is_flag=True, help="Log as JSON lines, for machines.")
@click.option("--log-level", type=click.Choice(logs.LEVELS), default="info", show_default=True)
def serve(organiser: tuple[str, ...], log_level: str, *, log_json: bool, **options: str) -> None:
    """Serve the ledger; the first start founds the network."""
    logs.configure(logs.Style.JSON if log_json else logs.Style.CONSOLE, log_level)
    service.serve(settings.read(_dashed(options), organiser))


@cli.command("replay")
@with_settings
def replay_command(organiser: tuple[str, ...], **options: str) -> None:
    """Check the whole log and rebuild every derived table from it."""
    logs.configure(logs.Style.CONSOLE, "warning")
    entries = replay.replay(settings.read(_dashed(options), organiser))
    click.echo(f"replayed {entries} entries")


@cli.command("backup")
@_IN_FOLDER
@click.option("--to", "target", required=True, type=_PATH, help="New folder for the backup.")
def backup_command(folder: Path, target: Path) -> None:
    """Copy everything that the ledger is, keys too, to a new folder; it may serve meanwhile."""
    logs.configure(logs.Style.CONSOLE, "warning")
    made = backup.backup(Folder(folder.absolute()), target.absolute(), now_ms)
    click.echo(f"backed up {made.size} entries and {len(made.files)} files to {target}")
    for name in made.left_out:
        click.echo(f"left out: blob {name}, which is missing or damaged here", err=True)


@cli.command("restore")
@_IN_FOLDER
@click.option("--from", "source", type=_PATH, help="Backup to make the folder from.")
@click.option("--confirm", is_flag=True, help="Let a restored ledger sign again.")
@click.option(
    "--seen-checkpoint",
    "notes",
    multiple=True,
    type=_PATH,
    help="File with a checkpoint that somebody holds, for --confirm; repeat.",
)
def restore_command(
    folder: Path, source: Path | None, notes: tuple[Path, ...], *, confirm: bool
) -> None:
    """Make an empty folder a ledger again; it only reads until --confirm."""
    logs.configure(logs.Style.CONSOLE, "critical")
    if confirm == (source is not None) or (notes and not confirm):
        raise UserFacingError("say either --from BACKUP, or --confirm with any --seen-checkpoint")
    if source is not None:
        made = restore.restore(source.absolute(), folder.absolute())
        click.echo(
            f"restored {made.size} entries to {folder}; serve it, let its clients show what they "
            "hold, then stop it and run `tequio-ledger restore --confirm`"
        )
    else:
        size = restore.confirm(Folder(folder.absolute()), notes)
        click.echo(f"confirmed: the log of {size} entries may be signed again")


@cli.command("doctor")
@with_settings
@click.option("--json", "as_json", is_flag=True, help="Give findings as JSON, for machines.")
def doctor_command(organiser: tuple[str, ...], *, as_json: bool, **options: str) -> None:
    """Check everything and say what to do; exit status 0 all well, 1 warnings, 2 errors."""
    logs.configure(logs.Style.CONSOLE, "critical")
    given = settings.read(_dashed(options), organiser)
    found = doctor.examine(given, Folder(given.folder), now_ms)
    if as_json:
        click.echo(msgspec.json.encode(found))
    else:
        for finding in found:
            click.echo(findings.line(finding))
    sys.exit(findings.worst(found))


@cli.command(
    "quarantine",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def quarantine(words: tuple[str, ...]) -> None:
    """See who is quarantined and why; answer appeals: `tequio quarantine`.

    Organisers' keys are not the ledger's: their commands are the client's.
    """
    if importlib.util.find_spec("httpx") is None:
        raise UserFacingError(
            "the organisers' commands are not installed here: install tequio[worker], and use "
            "`tequio quarantine` where the organisers' keys are"
        )
    command = [sys.executable, "-m", "tequio_client", "quarantine", *words]
    sys.exit(subprocess.run(command, check=False).returncode)  # noqa: S603 - our own program


def _dashed(options: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in options.items()}


def main() -> None:
    """Run the command; what the person can act on becomes one sentence and exit status 1."""
    try:
        cli()
    except* UserFacingError as group:
        _leave(group, 1)
    except* FatalLogError as group:
        _leave(group, 2)


def _leave(group: BaseExceptionGroup[BaseException], status: int) -> None:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    click.echo(f"tequio-ledger: {error}", err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
