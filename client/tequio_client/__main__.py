"""The command `tequio`."""

from __future__ import annotations

import sys

import click

from tequio_client.cli import LazyGroup
from tequio_client.runtime import disable_core_dumps
from tequio_shared.errors import TequioError, UserFacingError

COMMANDS = {
    "app": "tequio_client.cli.app:app",
    "worker": "tequio_client.cli.worker:worker",
    "seed": "tequio_client.cli.worker:seed",
    "run": "tequio_client.cli.run:run",
    "invite": "tequio_client.cli.invite:invite",
    "countersign": "tequio_client.cli.countersign:countersign",
    "connector": "tequio_client.cli.connector:connector",
    "join": "tequio_client.cli.join:join",
    "quarantine": "tequio_client.cli.quarantine:quarantine",
    "standing": "tequio_client.cli.standing:standing",
    "appeal": "tequio_client.cli.standing:appeal",
    "team": "tequio_client.cli.team:team",
    "data": "tequio_client.cli.data:data",
    "score": "tequio_client.cli.score:score",
    "audit": "tequio_client.cli.audit:audit",
    "competition": "tequio_client.cli.competition:competition",
    "verify-competition": "tequio_client.cli.verify_competition:verify_competition",
    "checkpoint": "tequio_client.cli.checkpoint:checkpoint",
    "connect": "tequio_client.cli.connect:connect",
    "status": "tequio_client.cli.lending:status",
    "contribute": "tequio_client.cli.lending:contribute",
    "pause": "tequio_client.cli.lending:pause",
    "snooze": "tequio_client.cli.lending:snooze",
    "finish": "tequio_client.cli.lending:finish",
    "points": "tequio_client.cli.lending:points",
    "diagnostics": "tequio_client.cli.lending:diagnostics",
    "key": "tequio_client.cli.key:key",
    "demo": "tequio_client.cli.demo:demo",
}


@click.command(cls=LazyGroup, commands_at=COMMANDS)
@click.version_option(package_name="tequio", message="%(version)s")
def cli() -> None:
    """Train open language models together, and check who did what."""


def main() -> None:
    """Run the command; what the person can act on becomes one sentence and exit status 1."""
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
    """Say which extra brings what is not installed; a module of our own that is gone is a bug."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    name = str(getattr(error, "name", None))
    if name.partition(".")[0] in ("tequio_client", "tequio_shared"):
        raise group
    told = f"this command is not installed here ({name} is missing)"
    way_out = "install '.[client]' from the checkout"
    return BaseExceptionGroup("", [UserFacingError(f"{told}: {way_out}")])


def _leave(group: BaseExceptionGroup[BaseException]) -> None:
    """What a person can act on comes before what merely failed along with it."""
    error: BaseException = group.subgroup(UserFacingError) or group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    click.echo(f"tequio: {error}", err=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
