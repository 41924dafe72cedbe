"""`tequio key recovery|replace|revoke`: keys that end, added to the group `tequio key`."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client import cli
from tequio_client.keys.cli import (
    FROM_STDIN,
    ask_secret,
    key,
    new_passphrase,
    open_key,
    open_store,
    open_with_passphrase,
    print_words,
)

if TYPE_CHECKING:
    from tequio_shared.keys import Signer

_RECOVERY = click.option(
    "--recovery",
    "recovery_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File with the recovery key; without it the 24 words are asked for, where needed.",
)


@key.command()
@click.argument("path", required=False, type=click.Path(dir_okay=False, path_type=Path))
@cli.ledger_option
@cli.folder_option("worker")
@_RECOVERY
@FROM_STDIN
def recovery(
    *, path: Path | None, ledger: str, folder: Path, recovery_file: Path | None, from_stdin: bool
) -> None:
    """Make a recovery key, in the file PATH or as 24 words, and bind it to the key.

    Keep it away from this computer. If the computer is stolen, the recovery key stops its key and
    moves points and standing to a new one; the thief cannot do that. Where a recovery key is bound
    already, its holder must agree: give it with --recovery.
    """
    from tequio_client.ipc.account import AccountReply, AskAccount, RequestRecovery
    from tequio_client.keys.backup import save_backup, to_words
    from tequio_client.worker.ledger import key_commands
    from tequio_shared.errors import UserFacingError
    from tequio_shared.ids import to_text
    from tequio_shared.keys import Signer

    if path is not None and path.exists():
        raise UserFacingError(f"the file {path} exists already: name a new one")
    if path is None and not (from_stdin or sys.stdout.isatty()):
        raise click.UsageError("the words should only be shown on a screen: run this in a terminal")
    load = cache(lambda: open_key(open_store(folder), from_stdin=from_stdin))
    # Asked in the same way as it is bound, so that what would prevent that is met before the
    # recovery key is handed out.
    known = key_commands.carry_out(ledger, folder, load, AskAccount(), AccountReply)
    if not known.standing:
        raise UserFacingError(f"the key {known.key} is not registered yet: start a worker first")
    former = _recovery(recovery_file, from_stdin=from_stdin) if known.recovery else None
    made = Signer(key_commands.new_seed())
    if path is not None:
        phrase = new_passphrase("Passphrase for the recovery file", from_stdin=from_stdin)
        save_backup(path, made.seed, phrase)
        click.echo(f"saved to {path}: move it to another place, away from this computer")
    else:
        print_words(to_words(made.seed))
        if not from_stdin:
            click.confirm("Have you written them down?", abort=True)
    request = RequestRecovery(
        seed=to_text(made.seed), former=to_text(former.seed) if former else ""
    )
    key_commands.carry_out(ledger, folder, load, request, AccountReply)
    click.echo(f"the recovery key {to_text(made.key)} is bound to {known.key}")


@key.command()
@click.argument("former", cls=cli.LogIdArgument, required=False)
@cli.ledger_option
@cli.folder_option("worker")
@_RECOVERY
@cli.sure_option
@FROM_STDIN
def replace(
    *,
    former: str | None,
    ledger: str,
    folder: Path,
    recovery_file: Path | None,
    is_sure: bool,
    from_stdin: bool,
) -> None:
    """Put a new key in the place of this folder's, or of the key FORMER of a lost computer.

    The new key is stored in the folder; it gets points, standing, owner and team. The former key
    can never be used again. A former key with a recovery key needs that one, and FORMER always
    does. Stop the worker of that folder first.
    """
    from tequio_client.worker.ledger import key_commands
    from tequio_shared.ids import key_from_text, to_text

    store = open_store(folder)
    signer, phrase = open_with_passphrase(store, from_stdin=from_stdin)
    old = signer.key if former is None else key_from_text(former)
    known = key_commands.account(ledger, old)
    by = signer
    if known.recovery or old != signer.key:
        by = _recovery(recovery_file, from_stdin=from_stdin)
    _confirm(
        f"Replace the key {to_text(old)}? It can never be used again.",
        is_sure=is_sure or from_stdin,
    )
    made = key_commands.replace(ledger, store, old, by, phrase)
    click.echo(f"{to_text(made.key)} took the place of {to_text(old)}")
    click.echo("back it up: `tequio key backup FILE`; the former key file was kept aside")


@key.command()
@click.argument("lost", metavar="[KEY]", cls=cli.LogIdArgument, required=False)
@cli.ledger_option
@cli.folder_option("worker")
@_RECOVERY
@cli.sure_option
@FROM_STDIN
def revoke(
    *,
    lost: str | None,
    ledger: str,
    folder: Path,
    recovery_file: Path | None,
    is_sure: bool,
    from_stdin: bool,
) -> None:
    """Revoke this folder's key, or the KEY of a lost computer with its recovery key.

    A revoked key signs and earns nothing more. If it had a recovery key, `tequio key replace` can
    still move its points and standing. Stop the worker of that folder first.
    """
    from tequio_client.worker.ledger import key_commands
    from tequio_shared.ids import key_from_text, to_text

    store = open_store(folder)
    signer = open_key(store, from_stdin=from_stdin)
    ended = signer.key if lost is None else key_from_text(lost)
    by = () if ended == signer.key else (_recovery(recovery_file, from_stdin=from_stdin),)
    known = key_commands.account(ledger, ended)
    if not known.recovery:
        click.echo("this key has no recovery key: its points and standing are lost", err=True)
    _confirm(
        f"Revoke the key {to_text(ended)}? It can never be used again.",
        is_sure=is_sure or from_stdin,
    )
    key_commands.revoke(ledger, folder, signer, ended, *by)
    click.echo(f"revoked {to_text(ended)}")


def _recovery(path: Path | None, *, from_stdin: bool) -> Signer:
    """Read a recovery key from its file, or from 24 words."""
    from tequio_client.keys.backup import from_words, read_backup
    from tequio_shared.keys import Signer

    if path is None:
        return Signer(
            from_words(ask_secret("The 24 words of the recovery key", from_stdin=from_stdin))
        )
    phrase = ask_secret("Passphrase of the recovery file", from_stdin=from_stdin)
    return Signer(read_backup(path, phrase))


def _confirm(question: str, *, is_sure: bool) -> None:
    if not is_sure:
        click.confirm(question, abort=True)
