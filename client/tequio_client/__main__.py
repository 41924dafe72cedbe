"""The command `tequio`."""

from __future__ import annotations

import sys

import click

from tequio_client.cli import LazyGroup
from tequio_client.runtime import disable_core_dumps
from tequio_shared.errors import TequioError, UserFacingError

COMMANDS = {
    "app": "tequio_client.app.cli:app",
    "worker": "tequio_client.worker.cli:worker",
    "seed": "tequio_client.worker.cli:seed",
    "run": "tequio_client.organiser.cli:run",
    "invite": "tequio_client.organiser.cli:invite",
    "countersign": "tequio_client.organiser.cli:countersign",
    "connector": "tequio_client.organiser.cli:connector",
    "join": "tequio_client.worker.account_cli:join",
    "quarantine": "tequio_client.organiser.cli:quarantine",
    "standing": "tequio_client.worker.account_cli:standing",
    "appeal": "tequio_client.worker.account_cli:appeal",
    "team": "tequio_client.worker.account_cli:team",
    "data": "tequio_client.dataset.cli:data",
    "score": "tequio_client.scoring.cli:score",
    "audit": "tequio_client.verify.cli:audit",
    "competition": "tequio_client.competition.cli:competition",
    "verify-competition": "tequio_client.competition.verify_cli:verify_competition",
    "checkpoint": "tequio_client.checkpoint.cli:checkpoint",
    "connect": "tequio_client.worker.account_cli:connect",
    "status": "tequio_client.worker.cli:status",
    "contribute": "tequio_client.worker.cli:contribute",
    "pause": "tequio_client.worker.cli:pause",
    "snooze": "tequio_client.worker.cli:snooze",
    "finish": "tequio_client.worker.cli:finish",
    "points": "tequio_client.worker.cli:points",
    "diagnostics": "tequio_client.worker.cli:diagnostics",
    "key": "tequio_client.keys.cli:key",
    "demo": "tequio_client.demo.cli:demo",
}


@click.command(cls=LazyGroup, commands_at=COMMANDS)
@click.version_option(package_name="tequio", message="%(version)s")
def cli() -> None:
    """Train open language models together, and check who did what."""


def main() -> None:
    """Run the command; errors become one sentence and exit status 1."""
    disable_core_dumps()
    try:
        cli()
    except* TequioError as group:
        _leave(group)
    except* ModuleNotFoundError as group:
        _leave(_missing(group))


def _missing(
    group: BaseExceptionGroup[ModuleNotFoundError],
) -> BaseExceptionGroup[BaseException]:
    """Explain how to install a missing package; a missing module of our own is a bug."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    name = str(getattr(error, "name", None))
    if name.partition(".")[0] in ("tequio_client", "tequio_shared"):
        raise group
    message = (
        f"this command is not installed ({name} is missing): install '.[client]' from the checkout"
    )
    return BaseExceptionGroup("", [UserFacingError(message)])


def _leave(group: BaseExceptionGroup[BaseException]) -> None:
    """Print an error the person can act on before errors that only failed along with it."""
    error: BaseException = group.subgroup(UserFacingError) or group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    click.echo(f"tequio: {error}", err=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
