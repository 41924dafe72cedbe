"""The settings as options of a command."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import click

from tequio_ledger.config import settings, sources
from tequio_ledger.config.sources import Form

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tequio_ledger.config.sources import Program, Setting


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every setting as an option, and what they come to as `gathered`."""
    return _with(command, settings.ALL)


def with_places(command: Callable[..., None]) -> Callable[..., None]:
    """The same with nothing but where the ledger is kept: its folder, its database."""
    return _with(command, (settings.DIR, settings.DATABASE))


def with_those(
    known: Sequence[Setting[Any]], program: Program
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command of another program the settings of that one."""
    return lambda command: _with(command, known, known, program)


def _with(
    command: Callable[..., None],
    offered: Sequence[Setting[Any]],
    known: Sequence[Setting[Any]] = settings.ALL,
    program: Program = sources.LEDGER,
) -> Callable[..., None]:
    @functools.wraps(command)
    def gathering(**values: Any) -> None:  # noqa: ANN401 - click's own: texts, flags, paths
        names = {setting.name.replace("-", "_"): setting.name for setting in offered}
        names[sources.FILE] = sources.FILE
        said = {name: _text(values.pop(key)) for key, name in names.items()}
        options = {name: text for name, text in said.items() if text is not None}
        found = sources.gather(known, options, os.environ, program)
        command(gathered=found, **values)

    offering: Callable[..., None] = gathering
    for setting in reversed(offered):
        offering = _option(setting)(offering)
    return click.option(
        f"--{sources.FILE}",
        metavar="FILE",
        help=f"Settings file (TOML); options win, then {program.prefix}...",
    )(offering)


def _text(value: object) -> str | None:
    """Give the text of what click found; None for an option that was not there."""
    match value:
        case None | ():
            return None
        case tuple():
            return " ".join(value)
        case bool():
            return str(value).lower()
        case _:
            return str(value)


def _option(setting: Setting[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        f"--{setting.name}",
        default=None,
        is_flag=setting.form is Form.FLAG,
        multiple=setting.form is Form.LIST,
        metavar="|".join(setting.choices) or None,
        help=setting.help + (f"  [default: {setting.default}]" if setting.default else ""),
    )
