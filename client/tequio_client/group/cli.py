"""`tequio group`: private groups, which train one model together without a ledger."""

from __future__ import annotations

from pathlib import Path

import click

from tequio_client import cli
from tequio_shared.wording import plural

_FILE = click.argument(
    "file", type=click.Path(path_type=Path, dir_okay=False), metavar="GROUP-FILE"
)


@click.group(cls=cli.PlainGroup)
def group() -> None:
    """Train a model in a private group, without a ledger.

    The members' texts never leave their computers, and nobody sees the update of a single member:
    only sums are ever unmasked.
    """


@group.command()
@click.argument("plan", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_FILE
@cli.folder_option("group")
def new(*, plan: Path, file: Path, folder: Path) -> None:
    """Make a group file from a plan, without members yet."""
    from tequio_client import files
    from tequio_client.group.head_store import HeadStore
    from tequio_client.group.plan import make_group
    from tequio_client.runtime import locked
    from tequio_shared.errors import UserFacingError

    if file.exists():
        raise UserFacingError(f"{file} exists already: choose another name, or delete it")
    made = make_group(plan)
    with locked(folder):
        HeadStore.write_origin(folder, made.head.master, made.tokenizer)
    files.write_for_user(file, made.group.encode())
    click.echo(
        f"{file}: the group {made.group.name}, a model of {made.group.model.parameters:,} "
        f"parameters\nEvery member now adds a key: tequio group add {file} --name NAME"
    )


@group.command()
@_FILE
@click.option("--name", required=True, help="Name of the member, for the others.")
@click.option("--key", "key_text", help="Public key of the member. Default: the folder's own.")
@click.option(
    "--address",
    "addresses",
    multiple=True,
    help="Multiaddr at which the member can be reached, such as /ip4/…/tcp/…; may be repeated.",
)
@cli.folder_option("group")
def add(
    *, file: Path, name: str, key_text: str | None, addresses: tuple[str, ...], folder: Path
) -> None:
    """Add a member's key to a group file."""
    from tequio_client import files
    from tequio_client.group import group_file
    from tequio_client.group.head_store import read_group
    from tequio_client.group.run import fingerprint
    from tequio_client.keys import identity
    from tequio_client.runtime import locked
    from tequio_shared.ids import to_text

    if key_text is None:
        with locked(folder):
            key_text = to_text(identity.load_or_create(folder).key)
    member = group_file.new_member(name, key_text, addresses)
    grown = group_file.with_member(read_group(file), member)
    files.write_for_user(file, grown.encode())
    click.echo(
        f"{file}: {', '.join(one.name for one in grown.members)}\nOnce all members are in it, "
        "everybody needs this very file, and compares the fingerprint over another channel: "
        f"{fingerprint(grown)}"
    )


@group.command()
@cli.folder_option("group")
def key(*, folder: Path) -> None:
    """Print this computer's public key for `tequio group add --key`."""
    from tequio_client.keys import identity
    from tequio_client.runtime import locked
    from tequio_shared.ids import to_text

    with locked(folder):
        click.echo(to_text(identity.load_or_create(folder).key))


@group.command()
@_FILE
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with your own texts: .txt, .md and .jsonl files.",
)
@cli.folder_option("group")
@cli.listen_option
@click.option(
    "--announce",
    multiple=True,
    help="Multiaddr that other members should dial; may be repeated.",
)
@click.option(
    "--peer",
    "peers",
    multiple=True,
    help="Multiaddr of a member to dial, with its peer id; may be repeated.",
)
@cli.device_option
@cli.threads_option
@cli.logging_options
def run(  # noqa: PLR0913 - options of a command
    *,
    file: Path,
    data: Path,
    folder: Path,
    listen: tuple[str, ...],
    announce: tuple[str, ...],
    peers: tuple[str, ...],
    device: str,
    threads: int | None,
    log_level: str,
    log_json: bool,
) -> None:
    """Take part in a group until you stop the program."""
    cli.set_up_logs(log_json=log_json, log_level=log_level)
    from tequio_client.group import run as program
    from tequio_client.group.head_store import read_group
    from tequio_client.group.updates import TrainerOptions

    trainer = TrainerOptions(
        data=data, device=device, threads=threads or 1, log_style="json" if log_json else "console"
    )
    program.run(
        read_group(file),
        program.GroupOptions(
            folder=folder, trainer=trainer, listen=listen, announce=announce, peers=peers
        ),
    )


@group.command()
@cli.folder_option("group")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(*, folder: Path, as_json: bool) -> None:
    """Show the group, its head, and this computer's own losses."""
    from tequio_client.group.report import read_report

    report = read_report(folder)
    click.echo(report.as_json() if as_json else report.as_text())


@group.command()
@click.argument("to", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER")
@cli.folder_option("group")
def export(*, to: Path, folder: Path) -> None:
    """Write the group's model to a new folder that transformers loads."""
    from tequio_client.group.report import export_head

    number = export_head(folder, to)
    click.echo(f"{to}: the model after {plural(number, 'round')}")
