"""The command `tequio-ledger`."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import subprocess
import sys

import click

from tequio_ledger import SOFTWARE
from tequio_shared.errors import FatalLogError, UserFacingError, first_error

# A command's module is imported when the command is called. So `sign`, the process that holds the
# log's key, contains no web server and no database in which a hole could be found, and `--help`
# imports nothing: that is why the help is written here.
COMMANDS = {
    "serve": ("tequio_ledger.app:serve", "Serve the ledger."),
    "settings": ("tequio_ledger.app:settings", "Print the settings of `serve`."),
    "doctor": ("tequio_ledger.admin.doctor:doctor", "Check the ledger and say what to do."),
    "backup": ("tequio_ledger.admin.backup:backup_command", "Copy the ledger to a new folder."),
    "restore": (
        "tequio_ledger.admin.backup:restore_command",
        "Restore a ledger from a backup; let it sign again.",
    ),
    "migrate": ("tequio_ledger.admin.move:migrate", "Update the tables of the database."),
    "move": ("tequio_ledger.admin.move:move", "Move the ledger to another database."),
    "replay": ("tequio_ledger.replay:replay_command", "Check the log and rebuild derived tables."),
    "sign": ("tequio_ledger.signing.process:sign", "Hold the log's key in a separate process."),
    "witness": ("tequio_ledger.witness.app:witness", "Cosign the checkpoints of other logs."),
    "monitor": ("tequio_ledger.monitor.cli:monitor", "Verify a log as it grows."),
    "connect": (
        "tequio_ledger.connector.app:connect",
        "Let accounts such as GitHub's vouch for keys.",
    ),
    "quarantine": (
        "tequio_ledger.__main__:quarantine",
        "Run `tequio quarantine`, for organisers.",
    ),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        gc.disable()  # otherwise an eighth of the import's time; little of it becomes garbage
        try:
            command: click.Command = getattr(importlib.import_module(module), attribute)
        finally:
            gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in COMMANDS.items()])


@click.command(cls=_Commands)
@click.version_option(version=SOFTWARE, message="%(version)s")
def cli() -> None:
    """Coordinate training rounds and keep a log of them that anyone can verify."""


@click.command(
    "quarantine", add_help_option=False, context_settings={"ignore_unknown_options": True}
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def quarantine(words: tuple[str, ...]) -> None:
    """Run `tequio quarantine`: review quarantined keys and decide appeals.

    The ledger does not hold the organisers' keys, so the command belongs to the client.
    """
    if importlib.util.find_spec("trio") is None:
        raise UserFacingError(
            "the organisers' commands are not installed here: install Tequio with its extra "
            "'client', and use `tequio quarantine` where the organisers' keys are"
        )
    command = [sys.executable, "-m", "tequio_client", "quarantine", *words]
    sys.exit(subprocess.run(command, check=False).returncode)  # noqa: S603 - our own program


def main() -> None:
    """Run the command.

    An error that the user can act on is printed as one sentence; the exit status is 1, or 2 when
    the log itself is in danger.
    """
    failure: tuple[str, int] | None = None
    try:
        importlib.import_module("tequio_ledger.resources").prepare_process()
        cli()
    except* UserFacingError as group:
        failure = str(first_error(group)), 1
    except* FatalLogError as group:
        failure = str(first_error(group)), 2
    except* ModuleNotFoundError as group:
        name = str(getattr(first_error(group), "name", None)).partition(".")[0]
        if name.startswith("tequio"):
            raise  # a bug
        failure = (
            f"{name} is not installed here: install Tequio with its extra 'ledger', for example "
            "with `pipx install --force '.[ledger]'` in a checkout",
            1,
        )
    # Not inside `except*`: before Python 3.11.4 it wraps the end of the process in a group, which
    # is then printed with its traceback.
    if failure is not None:
        message, status = failure
        click.echo(f"tequio-ledger: {message}", err=True)
        sys.exit(status)


if __name__ == "__main__":
    main()
