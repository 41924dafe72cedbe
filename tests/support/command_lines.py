"""Command lines in documents and units, checked against the programs' own options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tequio_client.__main__ import cli as client
from tequio_ledger.__main__ import cli as ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAMS: dict[str, click.Group] = {"tequio": client, "tequio-ledger": ledger}

_MISSING = " does not exist."


def fault(words: Sequence[str]) -> str | None:
    """The error that the program would report for a command line; None if it accepts it.

    Nothing is run. A folder that the command writes to must exist; a missing file that it reads is
    ignored, since an earlier command makes it.
    """
    command: click.Command = PROGRAMS[Path(words[0]).name]
    rest = list(words[1:])
    context = click.Context(command, info_name=words[0])
    try:
        while isinstance(command, click.Group):
            _, found, rest = command.resolve_command(context, rest)
            assert found is not None, words
            command = found
            if not isinstance(command, click.Group):
                context = command.make_context(command.name, rest, parent=context)
    except click.exceptions.Exit:  # --help or --version
        return None
    except click.ClickException as err:
        return None if _MISSING in err.message else err.format_message()
    return None


def unknown_options(words: Sequence[str]) -> list[str]:
    """Options that the program does not have; fails at an unknown command, and at a group."""
    command: click.Command = PROGRAMS[Path(words[0]).name]
    context = click.Context(command)
    rest = list(words[1:])
    while isinstance(command, click.Group):
        assert rest, f"{' '.join(words)} only prints its help"
        found = command.get_command(context, rest.pop(0))
        assert found is not None, words
        command = found
    known = {option for one in command.get_params(context) for option in one.opts}
    named = [word.partition("=")[0] for word in rest if word.startswith("--")]
    return [option for option in named if option not in known]
