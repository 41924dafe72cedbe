"""What `tequio-ledger` can be told, each a command."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from tequio_ledger import SOFTWARE, replay, runtime
from tequio_ledger import app as service
from tequio_ledger.admin import backup, doctor
from tequio_ledger.admin.move import migrate, move
from tequio_ledger.config.options import with_found, with_settings
from tequio_ledger.config.settings import LEDGER, LedgerLocation
from tequio_ledger.connector.app import connect
from tequio_ledger.data_folder import Folder
from tequio_ledger.monitor.cli import monitor
from tequio_ledger.runtime import now_ms
from tequio_ledger.signing import client
from tequio_ledger.signing.process import sign
from tequio_ledger.witness.app import witness
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_ledger.config.options import FoundSettings
    from tequio_ledger.config.settings import LedgerSettings

_PATH = click.Path(path_type=Path)


@click.group
@click.version_option(version=SOFTWARE, message="%(version)s")
def cli() -> None:
    """Coordinate training rounds and keep a log of them that strangers can verify."""


@cli.command("serve")
@with_settings(LEDGER)
def serve(settings: LedgerSettings) -> None:
    """Serve the ledger; the first start founds the network."""
    runtime.configure_by(settings)
    service.serve(settings)


@cli.command("settings")
@with_found(LEDGER)
def settings_command(found: FoundSettings[LedgerSettings]) -> None:
    """Print the settings of `serve` as a settings file, with the source of each value."""
    for line in found.listing():
        click.echo(line)
    found.convert()  # raises UserFacingError for values that are not allowed


@cli.command("replay")
@with_settings(LEDGER)
def replay_command(settings: LedgerSettings) -> None:
    """Check the whole log and rebuild every derived table from it."""
    runtime.configure(runtime.Style.CONSOLE, "warning")
    entries = replay.replay(settings)
    click.echo(f"replayed {entries} entries")


@cli.command("backup")
@with_found(LEDGER, LedgerLocation)
@click.option("--to", "target", required=True, type=_PATH, help="New folder for the backup.")
def backup_command(found: FoundSettings[LedgerLocation], target: Path) -> None:
    """Copy everything that the ledger is, keys too, to a new folder; it may serve meanwhile."""
    runtime.configure(runtime.Style.CONSOLE, "warning")
    location = found.convert()
    folder = Folder(location.folder)
    backup.check(folder, location.database)
    made = backup.backup(folder, target.absolute(), now_ms)
    click.echo(f"backed up {made.size} entries and {len(made.files)} files to {target}")
    for name in made.left_out:
        click.echo(f"left out: blob {name}, which is missing or damaged here", err=True)


@cli.command("restore")
@with_found(LEDGER, LedgerLocation)
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
    found: FoundSettings[LedgerLocation],
    source: Path | None,
    notes: tuple[Path, ...],
    *,
    confirm: bool,
) -> None:
    """Make an empty folder a ledger again; it only reads until --confirm.

    --confirm also lets a ledger sign again whose key lost log.signed, wherever its rows are.
    """
    runtime.configure(runtime.Style.CONSOLE, "critical")
    if confirm == (source is not None) or (notes and not confirm):
        raise UserFacingError("say either --from BACKUP, or --confirm with any --seen-checkpoint")
    location = found.convert()
    folder, database = location.folder, location.database
    if not confirm or not client.forgot(Folder(folder)):
        backup.check(Folder(folder), database)
    if source is not None:
        made = backup.restore(source.absolute(), folder)
        click.echo(
            f"restored {made.size} entries to {folder}; serve it, let its clients show what they "
            "hold, then stop it and run `tequio-ledger restore --confirm`"
        )
    else:
        size = backup.confirm(Folder(folder.absolute()), notes, database)
        click.echo(f"confirmed: the log of {size} entries may be signed again")


@cli.command("doctor")
@with_settings(LEDGER)
@click.option("--json", "as_json", is_flag=True, help="Give findings as JSON, for machines.")
def doctor_command(settings: LedgerSettings, *, as_json: bool) -> None:
    """Check everything and say what to do; exit status 0 all well, 1 warnings, 2 errors."""
    runtime.configure(runtime.Style.CONSOLE, "critical")
    found = doctor.examine(settings, Folder(settings.folder), now_ms)
    if as_json:
        click.echo(msgspec.json.encode(found))
    else:
        for finding in found:
            click.echo(doctor.line(finding))
    sys.exit(doctor.worst(found))


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
    if importlib.util.find_spec("trio") is None:
        raise UserFacingError(
            "the organisers' commands are not installed here: install '.[client]' from the "
            "checkout, and use `tequio quarantine` where the organisers' keys are"
        )
    command = [sys.executable, "-m", "tequio_client", "quarantine", *words]
    sys.exit(subprocess.run(command, check=False).returncode)  # noqa: S603 - our own program


cli.add_command(connect)
cli.add_command(monitor)
cli.add_command(sign)
cli.add_command(witness)
cli.add_command(migrate)
cli.add_command(move)
