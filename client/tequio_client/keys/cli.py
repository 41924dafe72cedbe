"""`tequio key …`: manage the key of a worker's folder without a window.

Secrets come from a prompt or from standard input, never from arguments or the environment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from tequio_client import cli
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.keys.identity import KeyStore
    from tequio_shared.ids import PeerKey
    from tequio_shared.keys import Signer

    F = TypeVar("F", bound=Callable[..., object])

_IN_ROW = 4
FROM_STDIN = click.option(
    "--stdin",
    "from_stdin",
    is_flag=True,
    help="Read the answers to prompts from standard input, one per line.",
)


@click.group(cls=cli.PlainGroup)
def key() -> None:
    """Manage the key that owns this volunteer's identity and points."""


@key.command()
@cli.folder_option("worker")
def show_command(*, folder: Path) -> None:
    """Show the public key, how its secret is stored, and whether there is a backup."""
    from tequio_client.keys.state import KeyProtection

    state = open_store(folder).state()
    if state.protection is KeyProtection.ABSENT:
        click.echo(f"no key in {folder}: start the app or a worker, or restore one from a backup")
        return
    forms = {
        KeyProtection.KEYRING: "encrypted, unlocked by the system's keyring",
        KeyProtection.PASSPHRASE: "encrypted with a passphrase",
        KeyProtection.OPEN: "NOT encrypted: anyone who can read the file has the key",
    }
    backup = {"words": "as words", "file": "as a file", "": "NONE: run `tequio key backup FILE`"}
    click.echo(f"key     {state.record.key or 'unknown until the file is opened'}")
    click.echo(f"file    {forms[state.protection]}")
    click.echo(f"backup  {backup[state.record.backup]}")


@key.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@cli.folder_option("worker")
@FROM_STDIN
def backup(*, path: Path, folder: Path, from_stdin: bool) -> None:
    """Save the key to a new file, encrypted with a passphrase, and check that it opens."""
    from tequio_client.keys.backup import save_backup
    from tequio_client.keys.state import IdentityError

    if path.exists():
        raise IdentityError("backup-unusable", path=str(path), why="the file exists already")
    store = open_store(folder)
    signer = open_key(store, from_stdin=from_stdin)
    phrase = new_passphrase("Passphrase for the backup", from_stdin=from_stdin)
    save_backup(path, signer.seed, phrase)
    store.record_backup(signer, "file")
    click.echo(f"saved to {path}: keep it and its passphrase in different places")


@key.command()
@cli.folder_option("worker")
@FROM_STDIN
@click.option("--anyway", is_flag=True, help="Print the words even if this is not a terminal.")
def words(*, folder: Path, from_stdin: bool, anyway: bool) -> None:
    """Show the key as 24 words, to be written on paper."""
    from tequio_client.keys.backup import to_words

    if not (anyway or sys.stdout.isatty()):
        raise click.UsageError("the words should only be shown on a screen: run this in a terminal")
    store = open_store(folder)
    signer = open_key(store, from_stdin=from_stdin)
    print_words(to_words(signer.seed))
    click.echo("Anyone with these words has your key and its points. Tequio never asks for them.")
    if anyway or click.confirm("Have you written them down?", default=True):
        store.record_backup(signer, "words")


@key.command()
@click.argument(
    "path", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@cli.folder_option("worker")
@click.option(
    "--keep",
    "way",
    type=click.Choice(["keyring", "passphrase", "open"]),
    default="keyring",
    show_default=True,
    help="How the key is stored here; `open` is an unencrypted file.",
)
@FROM_STDIN
def restore(*, path: Path | None, folder: Path, way: str, from_stdin: bool) -> None:
    """Restore the key from the backup PATH or from 24 words; a different key is kept aside."""
    from tequio_client.keys.backup import from_words, read_backup
    from tequio_client.keys.state import KeyProtection
    from tequio_client.runtime import locked
    from tequio_shared.ids import to_text

    with locked(folder):  # a worker that runs has another key
        store, how = open_store(folder), KeyProtection(way)
        if path is None:
            seed = from_words(ask_secret("The 24 words", from_stdin=from_stdin))
        else:
            seed = read_backup(path, ask_secret("Passphrase of the backup", from_stdin=from_stdin))
        phrase = None
        if how is KeyProtection.PASSPHRASE:
            phrase = new_passphrase("Passphrase for the key here", from_stdin=from_stdin)
        signer = store.restore(seed, "file" if path else "words", how, phrase)
    if how is KeyProtection.OPEN:
        click.echo("the key is stored unencrypted: anyone who can read its file has it", err=True)
    click.echo(f"restored the key {to_text(signer.key)}")


def print_words(words: Sequence[str]) -> None:
    numbered = [f"{at:2}. {word:9}" for at, word in enumerate(words, 1)]
    for at in range(0, len(numbered), _IN_ROW):
        click.echo("  ".join(numbered[at : at + _IN_ROW]).rstrip())


def open_store(folder: Path) -> KeyStore:
    from tequio_client import clock
    from tequio_client.keys.identity import KeyStore

    return KeyStore(folder, clock.now_ms)


def public_key(store: KeyStore, *, from_stdin: bool) -> PeerKey:
    """Read the public key, for which a file is opened only if nobody has opened it here yet."""
    from tequio_shared.ids import key_from_text

    known = store.state().record.key
    return key_from_text(known) if known else open_key(store, from_stdin=from_stdin).key


def open_key(store: KeyStore, *, from_stdin: bool) -> Signer:
    return open_with_passphrase(store, from_stdin=from_stdin)[0]


def open_with_passphrase(store: KeyStore, *, from_stdin: bool) -> tuple[Signer, str | None]:
    from tequio_client.keys.state import KeyProtection

    how = store.state().protection
    if how is KeyProtection.ABSENT:
        raise UserFacingError(
            f"no key found in {store.folder}: give the --dir of your worker, or start a worker "
            "first"
        )
    if how is not KeyProtection.PASSPHRASE:
        return store.open(), None
    phrase = ask_secret("Passphrase of the key", from_stdin=from_stdin)
    return store.open(phrase), phrase


def new_passphrase(what: str, *, from_stdin: bool) -> str:
    from tequio_client.keys.backup import check_passphrase

    phrase = ask_secret(what, from_stdin=from_stdin, twice=True)
    check_passphrase(phrase)
    return phrase


def ask_secret(what: str, *, from_stdin: bool, twice: bool = False) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(click.prompt(what, hide_input=True, confirmation_prompt=twice))
