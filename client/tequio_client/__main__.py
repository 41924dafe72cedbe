"""The command `tequio`."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import TracebackException
from types import TracebackType
from typing import Any, NoReturn, TextIO

import click

from tequio_client.cli import LazyGroup
from tequio_client.platform import programs
from tequio_client.runtime import disable_core_dumps
from tequio_shared.errors import TequioError, UserFacingError, first_error
from tequio_shared.version import BUILD

# Help is written here rather than read from the commands: `tequio --help` imports none of them,
# and works where the packages of some are not installed.
SECTIONS = {
    "Volunteer": {
        "app": ("tequio_client.app.cli:app", "Open the Tequio app."),
        "worker": ("tequio_client.worker.cli:worker", "Run the worker without the app."),
        "cell": (
            "tequio_client.worker.cells.cli:cell",
            "Train together with others in your local network.",
        ),
        "join": ("tequio_client.worker.account_cli:join", "Join a network with an invitation."),
        "network": ("tequio_client.ledger.cli:network", "List and add networks to join."),
        "status": (
            "tequio_client.worker.control_cli:status",
            "Show what the worker is doing, and why.",
        ),
        "top": ("tequio_client.worker.control_cli:top", "Show the running worker live."),
        "contribute": (
            "tequio_client.worker.control_cli:contribute",
            "Start lending this computer.",
        ),
        "pause": (
            "tequio_client.worker.control_cli:pause",
            "Stop lending until you start it again.",
        ),
        "snooze": ("tequio_client.worker.control_cli:snooze", "Stop lending for a while."),
        "finish": (
            "tequio_client.worker.control_cli:finish",
            "Finish the current round, then stop.",
        ),
        "points": ("tequio_client.worker.control_cli:points", "Show the points you have earned."),
        "chat": (
            "tequio_client.checkpoint.chat_cli:chat",
            "Talk with the model that you help to train.",
        ),
        "runtime": ("tequio_client.releases.cli:runtime", "Manage the runtime that trains."),
        "update": ("tequio_client.releases.cli:update", "Fetch the newest version of Tequio."),
        "diagnostics": (
            "tequio_client.worker.control_cli:diagnostics",
            "Print a report for troubleshooting, without secrets.",
        ),
    },
    "Volunteer: key and standing": {
        "key": (
            "tequio_client.worker.key_cli:key",
            "Show, back up, restore, replace or revoke your key.",
        ),
        "standing": ("tequio_client.worker.account_cli:standing", "Show your key's standing."),
        "appeal": (
            "tequio_client.worker.account_cli:appeal",
            "Ask the organisers to review a quarantine or a ban.",
        ),
        "name": ("tequio_client.worker.account_cli:name", "Choose your public name."),
        "team": ("tequio_client.worker.account_cli:team", "Found, join, leave or lead a team."),
        "connect": (
            "tequio_client.worker.account_cli:connect",
            "Link your key to an account such as GitHub.",
        ),
    },
    "Organiser": {
        "run": ("tequio_client.organiser.cli:run", "Plan, open and control runs."),
        "plugin": (
            "tequio_client.organiser.plugin_cli:plugin",
            "Build, read and allow code that a run brings.",
        ),
        "simulate": (
            "tequio_client.simulator.cli:simulate",
            "Simulate a planned run with many peers.",
        ),
        "data": ("tequio_client.dataset.cli:data", "Prepare the data of a run."),
        "invite": ("tequio_client.organiser.cli:invite_group", "Manage invitations."),
        "connector": (
            "tequio_client.organiser.cli:connector",
            "Manage the connectors, which vouch for keys.",
        ),
        "quarantine": (
            "tequio_client.organiser.cli:quarantine",
            "Review quarantined keys and decide appeals.",
        ),
        "withdraw-name": (
            "tequio_client.organiser.cli:withdraw_name",
            "Withdraw an offensive name of a key or a team.",
        ),
        "announce": (
            "tequio_client.organiser.cli:announce_to_network",
            "Tell everybody in the network something.",
        ),
        "countersign": (
            "tequio_client.organiser.cli:countersign",
            "Sign a decision that another organiser has started.",
        ),
    },
    "Private groups": {
        "group": ("tequio_client.group.cli:group", "Train in a private group, without a ledger."),
    },
    "Competitions": {
        "competition": (
            "tequio_client.competition.cli:competition",
            "Enter, judge and organise competitions.",
        ),
        "score": ("tequio_client.scoring.cli:score", "Score models on texts."),
    },
    "Verify": {
        "audit": ("tequio_client.verify.cli:audit", "Check a ledger and the heads it certifies."),
        "verify-competition": (
            "tequio_client.competition.verify_cli:verify_competition",
            "Check the result of a competition.",
        ),
        "checkpoint": (
            "tequio_client.checkpoint.cli:checkpoint",
            "Export, verify and publish the models of runs.",
        ),
    },
    "Operator": {
        "seed": ("tequio_client.worker.cli:seed", "Run a public seed for the peers of a run."),
        "demo": ("tequio_client.demo.cli:demo", "Run a whole network on this computer."),
        "release": (
            "tequio_client.releases.publish_cli:release",
            "Sign and publish versions of Tequio.",
        ),
    },
}


EPILOG = """\b
Environment variables:
  TEQUIO_LEDGER      Address of the ledger, in place of --ledger.
  TEQUIO_TRUST       Policy file of the log's witnesses, in place of --trust.
  TEQUIO_CONNECTOR   Address of a connector, in place of --connector.
  TEQUIO_RUNTIME     Folder of the runtime that trains, for a packaged app.
  TEQUIO_SANDBOX     "off": run the trainer without its sandbox.

The server of a network has a command of its own: tequio-ledger --help.
"""
VERBOSE = "--verbose"


@click.command(cls=LazyGroup, sections=SECTIONS, epilog=EPILOG)
@click.version_option(BUILD, message="%(version)s")
@click.option(
    VERBOSE, "_is_verbose", is_flag=True, expose_value=False, help="Show the details of an error."
)
def cli() -> None:
    """Train open language models together, and verify every contribution."""


def main() -> None:
    """Run the command; an error that the user can act on is one sentence, with exit status 1."""
    disable_core_dumps()
    sys.excepthook = _print_all_of_it
    sys.stdout = PipedOutput.over(sys.stdout)
    # Also after a command: nobody who sees an error knows where the option has to be.
    words = [word for word in sys.argv[1:] if word != VERBOSE]
    ended: BaseExceptionGroup[BaseException] | None = None
    try:
        cli.main(args=words)
    except* (OutputClosedError, KeyboardInterrupt, TequioError, ModuleNotFoundError) as group:
        ended = group
    # Not inside `except*`: before Python 3.11.4 it wraps the end of the process in a group, which
    # is then printed with its traceback.
    if ended is not None:
        _exit_after(ended)


def _print_all_of_it(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an error that nobody foresaw with its cause, however deep in groups of tasks it is.

    Python leaves out what lies in more than ten groups, and each nursery on the way makes one.
    """
    whole = TracebackException(kind, error, trace, max_group_depth=100)
    click.echo("".join(whole.format()), err=True, nl=False)


def _exit_after(ended: BaseExceptionGroup[BaseException]) -> NoReturn:
    if ended.subgroup(OutputClosedError):
        sys.exit(0)
    if ended.subgroup(KeyboardInterrupt):  # click handles one that is in no group
        click.echo("\nAborted!", err=True)
        sys.exit(1)
    if without := ended.subgroup(ModuleNotFoundError):
        missing = str(getattr(first_error(without), "name", None)).partition(".")[0]
        if missing in ("tequio_client", "tequio_shared"):
            raise ended  # a bug
        _handle_missing(missing)
    # Tasks that failed along with the real cause are in the group too, often before it.
    _exit_with_error(first_error(ended.subgroup(UserFacingError) or ended))


def _handle_missing(package: str) -> NoReturn:
    is_app = programs.is_packaged() and not programs.is_runtime()
    if package in programs.OF_RUNTIME and is_app:
        _run_with_torch()
    _exit_with(programs.not_installed(package))


def _exit_with_error(error: BaseException) -> NoReturn:
    if VERBOSE in sys.argv and error.__cause__ is not None:
        click.echo(f"details: {first_error(error.__cause__)}", err=True)
    _exit_with(str(error))


class OutputClosedError(BaseException):
    """The reader of the output has closed it, as `head` does: there is nobody to print for.

    No Exception, because no command may take it for an error of its own connections.
    """


class PipedOutput(io.BufferedWriter):
    """Standard output that ends the program when it cannot be written: quietly without a reader."""

    @classmethod
    def over(cls, output: TextIO) -> TextIO:
        """Return text over one; a stream without a file, as in a test, stays as it is."""
        try:
            file = open(output.fileno(), "wb", 0, closefd=False)  # noqa: SIM115 - not closed
        except (AttributeError, OSError):  # closed, and so None; io.UnsupportedOperation
            return output
        output.flush()
        is_by_line = output.line_buffering if isinstance(output, io.TextIOWrapper) else False
        # A code page of Windows lacks letters that names, announcements and models may have.
        return io.TextIOWrapper(
            cls(file), output.encoding, "backslashreplace", line_buffering=is_by_line
        )

    def write(self, data: Any) -> int:  # noqa: ANN401 - whatever has bytes
        with self._closing():
            return super().write(data)

    def flush(self) -> None:
        with self._closing():
            super().flush()

    @contextmanager
    def _closing(self) -> Iterator[None]:
        try:
            yield
        except OSError as err:
            # What is still buffered goes nowhere, and is not tried again at the end.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if isinstance(err, BrokenPipeError):
                raise OutputClosedError from None
            raise UserFacingError(f"cannot write the output: {err.strerror}") from err


def _run_with_torch() -> NoReturn:
    """Run this command in the package's other program, which has what it lacks."""
    program, *words = programs.runtime_module("tequio_client", *sys.argv[1:])
    if not Path(program).is_file():
        _exit_with(
            f"this command needs the runtime that trains, which is not in {Path(program).parent}: "
            f"run `tequio runtime install`, or set {programs.RUNTIME_VARIABLE} to its folder"
        )
    # The user's own words, passed on to a program of this package.
    sys.exit(subprocess.run((program, *words), check=False).returncode)  # noqa: S603


def _exit_with(message: str) -> NoReturn:
    click.echo(f"tequio: {message}", err=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
