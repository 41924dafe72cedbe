"""A program's settings as options of its commands, read by click.

click decides which source wins: an option, then an environment variable, then the settings file
(its `default_map`), then the default. As everywhere in click, an empty variable counts as unset.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from tequio_ledger.config import sources
from tequio_ledger.config.sources import FILE, Found, FoundSettings, Program, Setting

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_STATE = "tequio_ledger.settings"


def with_settings(program: Program[Any]) -> Decorator:
    """Give a command the program's settings as options, and their values as `settings`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def converting(found: FoundSettings[Any], **others: Any) -> Any:  # noqa: ANN401 - click's own
            return command(settings=found.convert(), **others)

        return with_found(program)(converting)

    return decorate


def with_found(program: Program[Any], settings: type[msgspec.Struct] | None = None) -> Decorator:
    """Give a command the texts of its settings as `found`, not converted.

    `settings` can be a smaller struct: the command offers and reads only these, while file and
    environment may name all settings of the program.
    """
    offered = sources.settings_of(settings or program.settings)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def finding(**values: Any) -> Any:  # noqa: ANN401 - click's own: texts, flags, paths
            context = click.get_current_context()
            path, faults = context.meta[_STATE]
            texts = {}
            for one in offered:
                value = values.pop(_parameter(one.name))
                if source := _source(context, program, one.name, path):
                    texts[one.name] = Found(sources.text_of(value) or "", source)
            found = FoundSettings(settings or program.settings, texts, faults)
            return command(found=found, **values)

        with_options: Callable[..., Any] = finding
        for one in reversed(offered):
            with_options = _option(program, one)(with_options)
        return _file_option(program)(with_options)

    return decorate


def _parameter(name: str) -> str:
    return name.replace("-", "_")


def _source(
    context: click.Context, program: Program[Any], name: str, path: Path | None
) -> str | None:
    """Name the source of a value, as messages show it; None for the default."""
    match context.get_parameter_source(_parameter(name)):
        case ParameterSource.COMMANDLINE:
            return f"--{name}"
        case ParameterSource.ENVIRONMENT:
            return program.variable(name)
        case ParameterSource.DEFAULT_MAP:
            return f"{name} in {path}"
        case _:
            return None


def _option(program: Program[Any], one: Setting) -> Decorator:
    default = f"  [default: {one.default_text}]" if one.default_text else ""
    return click.option(
        f"--{one.name}",
        default=None,
        envvar=program.variable(one.name),
        is_flag=one.is_flag,
        multiple=one.is_list,
        metavar="|".join(one.choices) or None,
        help=f"{one.description}{default}",
    )


def _file_option(program: Program[Any]) -> Decorator:
    """Read the settings file before any other option, as click's map of defaults."""

    def load(context: click.Context, _: click.Parameter, path: Path | None) -> None:
        path = path and path.expanduser()
        texts, faults = sources.read_file(program, path) if path else ({}, [])
        lists = {one.name for one in sources.settings_of(program.settings) if one.is_list}
        context.default_map = {
            _parameter(name): text.split() if name in lists else text
            for name, text in texts.items()
        }
        faults += sources.unknown_variables(program, os.environ)
        context.meta[_STATE] = (path, tuple(faults))

    return click.option(
        f"--{FILE}",
        metavar="FILE",
        type=click.Path(path_type=Path),
        envvar=program.variable(FILE),
        is_eager=True,
        expose_value=False,
        callback=load,
        help=f"Settings file (TOML). Options and then {program.prefix}... variables override it.",
    )
