"""Settings of a test, read as a program of the ledger reads its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click
from click.testing import CliRunner

from tequio_ledger.config.options import with_found
from tequio_ledger.config.sources import FILE, Found, FoundSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tequio_ledger.config.sources import Program, SettingsT


def find(
    program: Program[SettingsT],
    options: Mapping[str, str],
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> FoundSettings[SettingsT]:
    """Run a command with the program's settings in that environment; returns the settings found."""

    @click.command
    @with_found(program)
    def command(found: Any) -> Any:  # noqa: ANN401 - passed through click
        return found

    named = {**options, **({FILE: str(file)} if file else {})}
    arguments = [f"--{name}={text}" for name, text in named.items()]
    outcome = CliRunner().invoke(command, arguments, env=environ, standalone_mode=False)
    if outcome.exception is not None:
        raise outcome.exception
    return cast("FoundSettings[SettingsT]", outcome.return_value)


def of_texts(program: Program[SettingsT], texts: Mapping[str, str]) -> SettingsT:
    """Convert these texts, with the defaults for the rest."""
    found = {name: Found(text, f"--{name}") for name, text in texts.items()}
    return FoundSettings(program.settings, found).convert()
