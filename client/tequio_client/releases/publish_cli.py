"""The command `tequio release`, for the maintainers of a distribution of Tequio."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import click

from tequio_client import cli
from tequio_client.ledger.networks import read_list
from tequio_client.platform.bundle import Accelerator, pack_folder, this_system
from tequio_client.platform.versions import NETWORKS
from tequio_client.releases.mirror import ReleaseList, fetch_metadata
from tequio_client.releases.repository import (
    ROLES,
    SEVERAL,
    ReleaseRepository,
    create_key,
    read_key,
    read_public_key,
)
from tequio_client.releases.update import ACCELERATORS
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.network import SoftwareRelease

_folder_argument = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
_file = click.Path(dir_okay=False, exists=True, path_type=Path)
_packed = click.Path(file_okay=False, exists=True, path_type=Path)
_RENEWAL_DAYS = 60
"""Time for several people to sign; then programs refuse what has expired."""
_PASSPHRASE = "TEQUIO_RELEASE_PASSPHRASE"  # noqa: S105 - the name of a variable


@click.group()
def release() -> None:
    """Sign and publish versions of Tequio, as The Update Framework (TUF) describes.

    FOLDER is what a web server serves: metadata/, targets/ and chunks/.
    """


@release.command("key")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--no-passphrase", is_flag=True, help="For a key that a machine signs with.")
def key_command(*, path: Path, no_passphrase: bool) -> None:
    """Create a key.

    PATH is to be kept secret, and PATH.pub to be given to the others.
    """
    passphrase = None if no_passphrase else _passphrase(path, is_new=True)
    click.echo(f"key {create_key(path, passphrase).public_key.keyid}")


@release.command("init")
@_folder_argument
@click.option("--root-key", multiple=True, required=True, type=_file, help="A public key.")
@click.option("--targets-key", multiple=True, required=True, type=_file, help="A public key.")
@click.option("--online-key", required=True, type=_file, help="Public key of what says the newest.")
@click.option("--root-threshold", default=1, type=click.IntRange(1, 16), show_default=True)
@click.option("--targets-threshold", default=1, type=click.IntRange(1, 16), show_default=True)
def init_command(
    *,
    folder: Path,
    root_key: tuple[Path, ...],
    targets_key: tuple[Path, ...],
    online_key: Path,
    root_threshold: int,
    targets_threshold: int,
) -> None:
    """Begin a repository.

    `tequio release sign` with its keys publishes it.
    """
    online = [read_public_key(online_key)]
    ReleaseRepository(folder).create(
        {
            "root": [read_public_key(one) for one in root_key],
            "targets": [read_public_key(one) for one in targets_key],
            "snapshot": online,
            "timestamp": online,
        },
        {"root": root_threshold, "targets": targets_threshold},
    )
    _show_state(folder)


@release.command("add")
@_folder_argument
@click.option("--version", required=True, help="Version to publish, such as 0.12.3.")
@click.option("--app", type=_packed, help="Folder of the app's package.")
@click.option(
    "--runtime",
    nargs=2,
    multiple=True,
    type=click.Tuple([click.Choice(ACCELERATORS), _packed]),
    metavar="NAME FOLDER",
    help="Accelerator (cpu, cuda, …) and folder of a runtime.",
)
@click.option("--system", default=this_system, help="Such as linux-x86_64.  [default: this one]")
@click.option("--networks", type=_file, help="JSON list of networks that the app proposes.")
def add_command(
    *,
    folder: Path,
    version: str,
    app: Path | None,
    runtime: tuple[tuple[str, Path], ...],
    system: str,
    networks: Path | None,
) -> None:
    """Propose a version, to be signed.

    Its packages are cut into chunks beside the list.
    """
    packed = [("app", "", app)] if app else []
    packed += [("runtime", accelerator, path) for accelerator, path in runtime]
    bundles = []
    for part, accelerator, path in packed:
        made = pack_folder(
            path,
            folder,
            part="app" if part == "app" else "runtime",
            version=version,
            system=system,
            accelerator=cast("Accelerator", accelerator),
        )
        click.echo(f"{made.target}: {made.download_bytes / 1e6:,.0f} MB")
        bundles.append(made)
    extra = {NETWORKS: read_list(networks)} if networks else {}
    ReleaseRepository(folder).add(bundles, version, extra)
    _show_state(folder)


@release.command("sign")
@_folder_argument
@click.option("--key", "keys", multiple=True, required=True, type=_file, help="A private key.")
def sign_command(*, folder: Path, keys: tuple[Path, ...]) -> None:
    """Sign what waits, and publish what has enough signatures.

    With the key of snapshot and timestamp this also renews the timestamp, which clients believe
    for a week: run it at least every few days.
    """
    signers = [read_key(path, _passphrase(path, is_new=False)) for path in keys]
    published = ReleaseRepository(folder).sign(signers)
    click.echo(f"published: {', '.join(published) or 'nothing yet'}")
    _show_state(folder)


@release.command("rotate")
@_folder_argument
@click.argument("role", type=click.Choice(ROLES))
@click.option("--add", type=_file, help="Public key to trust from now on.")
@click.option("--remove", default="", help="Id of a key to trust no more.")
@click.option("--threshold", default=0, type=click.IntRange(0, 16), help="Signatures needed.")
def rotate_command(
    *, folder: Path, role: str, add: Path | None, remove: str, threshold: int
) -> None:
    """Propose other keys for a role.

    Keys of the old and the new root sign it.
    """
    public = read_public_key(add) if add else None
    ReleaseRepository(folder).rotate(role, add=public, remove=remove, threshold=threshold)
    _show_state(folder)


@release.command("renew")
@_folder_argument
@click.argument("role", type=click.Choice(SEVERAL))
def renew_command(*, folder: Path, role: str) -> None:
    """Propose the same content with a later expiry."""
    ReleaseRepository(folder).renew(role)
    _show_state(folder)


@release.command("announce")
@click.option(
    "--metadata",
    required=True,
    metavar="FILE|URL",
    help="The published list: metadata/N.targets.json of the repository or of a mirror.",
)
@click.option("--version", required=True, help="Newest version in it, such as 0.12.3.")
@click.option("--minimum", required=True, help="Oldest version that members should run.")
@cli.ledger_option
@cli.signing_options
def announce_command(
    *,
    metadata: str,
    version: str,
    minimum: str,
    ledger: str,
    folders: tuple[Path, ...],
    out: Path | None,
) -> None:
    """Name a list of releases in a network's log.

    It was published before, and the network's organisers sign; of two or more, two do. From then on
    members install nothing from a mirror with another list of the same number. Members with a
    version older than the minimum take part in no further round until they are updated.
    """
    from tequio_client.organiser import signing

    try:
        listed = ReleaseList.parse(_content(metadata))
        body = SoftwareRelease(
            version=version,
            minimum=minimum,
            targets=to_text(listed.hash),
            targets_version=listed.version,
        )
    except MalformedError as err:
        raise UserFacingError(f"cannot announce {metadata}: {err}") from err
    options = signing.SigningOptions(ledger=ledger, folders=folders, out=out)
    click.echo(signing.decide(body, options))


def _content(metadata: str) -> bytes:
    if metadata.startswith(("http://", "https://")):
        return fetch_metadata(metadata)
    try:
        return Path(metadata).read_bytes()
    except OSError as err:
        raise UserFacingError(f"cannot read {metadata}: {err.strerror}") from err


@release.command("trust")
@_folder_argument
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--mirror", "mirrors", multiple=True, required=True, help="Address of a mirror.")
def trust_command(*, folder: Path, out: Path, mirrors: tuple[str, ...]) -> None:
    """Write what a build carries.

    Commit OUT as installer/trust: `make package` takes it from there.
    """
    ReleaseRepository(folder).trust(list(mirrors), out)


def _show_state(folder: Path) -> None:
    repository = ReleaseRepository(folder)
    waiting = repository.waiting()
    for role, (valid, needed) in waiting.items():
        click.echo(f"{role} waits for signatures: {valid} of {needed}")
    soon = datetime.now(UTC) + timedelta(days=_RENEWAL_DAYS)
    for role, end in repository.ends().items():
        remedy = f": run `tequio release renew {folder} {role}`, and have it signed"
        is_due = role in SEVERAL and role not in waiting and end < soon
        click.echo(f"{role} is valid until {end:%Y-%m-%d}{remedy if is_due else ''}")


def _passphrase(path: Path, *, is_new: bool) -> bytes | None:
    if (given := os.environ.get(_PASSPHRASE)) is not None:
        return given.encode() or None
    if not is_new and b"ENCRYPTED" not in path.read_bytes():
        return None
    text = click.prompt(f"Passphrase of {path}", hide_input=True, confirmation_prompt=is_new)
    if not text and is_new:
        raise UserFacingError("a key without a passphrase needs --no-passphrase")
    return str(text).encode()
