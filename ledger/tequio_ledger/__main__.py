"""The command `tequio-ledger`.

The process that holds the log's key is loaded alone: no web server, no database, nothing else that
could have a hole in it.
"""

from __future__ import annotations

import sys

import click

from tequio_shared.errors import FatalLogError, UserFacingError


def main() -> None:
    """Run the command; what the person can act on becomes one sentence and exit status 1."""
    try:
        _commands(sys.argv[1:2])()
    except* UserFacingError as group:
        _leave(group, 1)
    except* FatalLogError as group:
        _leave(group, 2)


def _commands(first: list[str]) -> click.Group:
    if first == ["sign"]:
        from tequio_ledger.signing.process import sign

        return click.Group(commands=[sign])
    from tequio_ledger.cli import cli

    return cli


def _leave(group: BaseExceptionGroup[BaseException], status: int) -> None:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    click.echo(f"tequio-ledger: {error}", err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
