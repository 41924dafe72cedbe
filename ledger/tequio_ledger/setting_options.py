"""The settings as options of a command."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import click

from tequio_ledger import setting_sources, settings
from tequio_ledger.setting import Form

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_ledger.setting import Setting
    from tequio_ledger.setting_sources import Gathered

_FILE = click.option(
    f"--{setting_sources.FILE}",
    metavar="FILE",
    help=f"Settings file (TOML); options win, then {setting_sources.ENVIRONMENT_PREFIX}...",
)


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every setting as an option, and what they come to as `gathered`."""
    return _with(command, settings.ALL)


def with_folder(command: Callable[..., None]) -> Callable[..., None]:
    """The same with the ledger's folder alone."""
    return _with(command, (settings.DIR,))


def _with(command: Callable[..., None], offered: tuple[Setting[Any], ...]) -> Callable[..., None]:
    @functools.wraps(command)
    def gathering(**values: Any) -> None:  # noqa: ANN401 - click's own: texts, flags, paths
        names = {setting.name.replace("-", "_"): setting.name for setting in offered}
        names[setting_sources.FILE] = setting_sources.FILE
        said = {name: _text(values.pop(key)) for key, name in names.items()}
        command(gathered=_gathered(said), **values)

    offering: Callable[..., None] = gathering
    for setting in reversed(offered):
        offering = _option(setting)(offering)
    return _FILE(offering)


def _gathered(said: dict[str, str | None]) -> Gathered:
    options = {name: text for name, text in said.items() if text is not None}
    return setting_sources.gather(settings.ALL, options, os.environ)


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
