"""`tequio plugin`: build and read code of a run's own, and allow it on this computer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli
from tequio_client.cli import PlainGroup

if TYPE_CHECKING:
    from tequio_client.plugins.archive import PluginArchive


@click.group(cls=PlainGroup)
def plugin() -> None:
    """Build, read and allow code that a run brings.

    Such code runs in the trainer alone, after the owner of the computer has allowed exactly its
    bytes; docs/plugins.md has both sides.
    """


@plugin.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=cli.OutputFile(), help="Archive to write (default: NAME-VERSION.zip).")
def build(folder: Path, out: Path | None) -> None:
    """Build the archive of the plug-in in FOLDER.

    The same sources make the same archive everywhere, so that anybody can compare them.
    """
    from tequio_client import files
    from tequio_client.plugins import archive

    found = archive.build(folder)
    path = out or Path(f"{found.spec.name}-{found.spec.version}.zip")
    files.write_for_user(path, found.content)
    click.echo(f"{path}: {found.spec.size_bytes:,} bytes")
    click.echo(found.spec.archive)


@plugin.command("show")
@cli.log_id_argument("what")
@cli.ledger_option_unless("what", os.path.exists)
@click.option("--code", "with_code", is_flag=True, help="Print the sources, too.")
def print_plugin(what: str, ledger: str, *, with_code: bool) -> None:
    """Show a plug-in: an archive file, the hash of one, or the run that brings it.

    An archive that is not a file here is read from the ledger. Nothing of it is run.
    """
    found = _find(what, ledger)
    for line in _lines(found):
        click.echo(line)
    for path, source in sorted(found.sources.items()):
        click.echo(f"  {path}: {len(source.encode()):,} bytes")
        if with_code:
            click.echo(f"\n{source}")


@plugin.command()
@cli.log_id_argument("what")
@cli.ledger_option_unless("what", os.path.exists)
@cli.folder_option("worker")
@cli.sure_option
def allow(what: str, ledger: str, folder: Path, *, is_sure: bool) -> None:
    """Allow a plug-in on this computer: a file, a hash, or the run that brings it.

    A worker that waits for it goes on within seconds. Another version of the same plug-in has
    another hash, and is not covered.
    """
    from tequio_client.clock import now_ms
    from tequio_client.plugins.consents import PluginConsent, PluginConsents

    found = _find(what, ledger)
    for line in (*_lines(found), "", *_consequences()):
        click.echo(line)
    if not is_sure:
        click.confirm("Allow this code on this computer?", abort=True)
    spec = found.spec
    consent = PluginConsent(archive=spec.archive, label=spec.label, at_ms=now_ms())
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    PluginConsents(folder).allow(consent)
    click.echo(f"allowed: {spec.label}")


@plugin.command()
@cli.log_id_argument("archive")
@cli.folder_option("worker")
def revoke(archive: str, folder: Path) -> None:
    """Take back the consent for the plug-in with this hash, or the beginning of it.

    A running worker ends its trainer within seconds, and leaves the round.
    """
    from tequio_client.plugins.consents import PluginConsents
    from tequio_shared.errors import UserFacingError

    consents = PluginConsents(folder)
    found = [one for one in consents.allowed if one.archive.startswith(archive)]
    if len(found) != 1:
        raise UserFacingError(
            f"{len(found)} allowed plug-ins have a hash that begins with {archive}: see "
            "`tequio plugin list`"
        )
    consents.revoke(found[0].archive)
    click.echo(f"revoked: {found[0].label}")


@plugin.command("list")
@cli.folder_option("worker")
def list_allowed(folder: Path) -> None:
    """List the plug-ins that are allowed on this computer."""
    from datetime import UTC, datetime

    from tequio_client.plugins.consents import REVIEWED, PluginConsents

    consents = PluginConsents(folder)
    if consents.problem:
        click.echo(consents.problem)
    for one in consents.allowed:
        day = datetime.fromtimestamp(one.at_ms / 1000, UTC).date()
        click.echo(f"{one.archive}  {one.label}  allowed on {day}")
    for reviewed in sorted(REVIEWED):
        click.echo(f"{reviewed}  reviewed with this release")
    if not consents.allowed and not REVIEWED:
        click.echo("No plug-in is allowed on this computer.")


def _find(what: str, ledger: str) -> PluginArchive:
    """The archive in a file, of a hash, or of a run; raises UserFacingError."""
    from tequio_client.organiser import own_code
    from tequio_client.plugins import archive

    path = Path(what)
    return archive.read(path) if path.exists() else own_code.fetch_archive(what, ledger)


def _lines(found: PluginArchive) -> list[str]:
    spec, provides = found.spec, found.declaration.provides
    return [
        f"{spec.label}, {spec.size_bytes:,} bytes, {len(found.sources)} sources",
        f"archive {spec.archive}",
        *(f"brings the {seam}: {place}" for seam, place in sorted(provides.items())),
    ]


def _consequences() -> list[str]:
    from tequio_client.platform import sandbox

    may = "It runs in the trainer: it computes, and reads the run's files and most of the system's."
    if not sandbox.is_available():
        return [
            may,
            "WARNING: this computer has no sandbox for it. It could read your files and your key,",
            "and use the network. Allow it only if you trust its author as you trust this program.",
        ]
    return [
        may,
        "The sandbox keeps it from your key, your home folder, the network and other programs.",
        "It makes what your key signs in this run: bad code can cost points, or your standing.",
    ]
