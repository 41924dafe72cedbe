"""The command `tequio`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import click

from tequio_client.cli import LazyGroup
from tequio_client.platform import programs
from tequio_client.runtime import disable_core_dumps
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.version import BUILD

# Help is written here rather than read from the commands: `tequio --help` imports none of them,
# and works where the packages of some are not installed.
SECTIONS = {
    "Lend your computer": {
        "app": ("tequio_client.app.cli:app", "Open the Tequio app."),
        "worker": ("tequio_client.worker.cli:worker", "Run the worker without the app."),
        "join": ("tequio_client.worker.account_cli:join", "Join a network with an invitation."),
        "network": ("tequio_client.ledger.cli:network", "List and add networks to join."),
        "status": ("tequio_client.worker.cli:status", "Show what the worker is doing, and why."),
        "contribute": ("tequio_client.worker.cli:contribute", "Start lending this computer."),
        "pause": ("tequio_client.worker.cli:pause", "Stop lending until you start it again."),
        "snooze": ("tequio_client.worker.cli:snooze", "Stop lending for a while."),
        "finish": ("tequio_client.worker.cli:finish", "Finish the current round, then stop."),
        "points": ("tequio_client.worker.cli:points", "Show the points you have earned."),
        "runtime": ("tequio_client.releases.cli:runtime", "Manage the runtime that trains."),
        "update": ("tequio_client.releases.cli:update", "Fetch the newest version of Tequio."),
        "diagnostics": (
            "tequio_client.worker.cli:diagnostics",
            "Print a report for troubleshooting, without secrets.",
        ),
    },
    "Your key and standing": {
        "key": (
            "tequio_client.worker.key_cli:key",
            "Show, back up, restore, replace or revoke your key.",
        ),
        "standing": ("tequio_client.worker.account_cli:standing", "Show your key's standing."),
        "appeal": (
            "tequio_client.worker.account_cli:appeal",
            "Ask the organisers to review a quarantine or a ban.",
        ),
        "team": ("tequio_client.worker.account_cli:team", "Join or leave a team."),
        "connect": (
            "tequio_client.worker.account_cli:connect",
            "Link your key to an account such as GitHub.",
        ),
    },
    "Organise": {
        "run": ("tequio_client.organiser.cli:run", "Plan, open and control runs."),
        "data": ("tequio_client.dataset.cli:data", "Prepare the data of a run."),
        "seed": ("tequio_client.worker.cli:seed", "Run a public seed for the peers of a run."),
        "invite": ("tequio_client.organiser.cli:invite_group", "Manage invitations."),
        "connector": (
            "tequio_client.organiser.cli:connector",
            "Manage the connectors, which vouch for keys.",
        ),
        "quarantine": (
            "tequio_client.organiser.cli:quarantine",
            "Review quarantined keys and decide appeals.",
        ),
        "countersign": (
            "tequio_client.organiser.cli:countersign",
            "Sign a decision that another organiser has started.",
        ),
    },
    "Compete": {
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
    "Develop": {
        "demo": ("tequio_client.demo.cli:demo", "Run a whole network on this computer."),
        "release": (
            "tequio_client.releases.publish_cli:release",
            "Sign and publish versions of Tequio.",
        ),
    },
}


@click.command(cls=LazyGroup, sections=SECTIONS)
@click.version_option(BUILD, message="%(version)s")
def cli() -> None:
    """Train open language models together, and verify every contribution."""


def main() -> None:
    """Run the command; an error that the user can act on is one sentence, with exit status 1."""
    disable_core_dumps()
    message: str | None = None
    missing = ""
    try:
        cli()
    except* TequioError as group:
        # Tasks that failed along with the real cause are in the group too, often before it.
        message = str(_first_error(group.subgroup(UserFacingError) or group))
    except* ModuleNotFoundError as group:
        missing = str(getattr(_first_error(group), "name", None)).partition(".")[0]
        if missing in ("tequio_client", "tequio_shared"):
            raise  # a bug
    # Not inside `except*`: before Python 3.11.4 it wraps the end of the process in a group, which
    # is then printed with its traceback.
    if missing in programs.OF_RUNTIME and programs.is_packaged() and not programs.is_runtime():
        _run_with_torch()
    if missing:
        message = programs.not_installed(missing)
    if message is not None:
        _exit_with(message)


def _run_with_torch() -> NoReturn:
    """Run this command in the package's other program, which has what it lacks."""
    program, *words = programs.runtime_module("tequio_client", *sys.argv[1:])
    if not Path(program).is_file():
        _exit_with(
            "this command needs the runtime that trains, which is not installed: run "
            f"`tequio runtime install`, or set {programs.RUNTIME_VARIABLE} to its folder"
        )
    # The user's own words, passed on to a program of this package.
    sys.exit(subprocess.run((program, *words), check=False).returncode)  # noqa: S603


def _first_error(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _exit_with(message: str) -> NoReturn:
    click.echo(f"tequio: {message}", err=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
