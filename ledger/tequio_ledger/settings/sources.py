"""Where settings come from: the command line before the environment before the file.

Nothing is passed over in silence: a name that is no setting is a fault, in the file and in the
environment, for a limit with a typing error in its name would be no limit.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tequio_ledger.settings.setting import Setting


FILE = "settings"
"""The name of the one option that is no setting: it names the file."""
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Program:
    """By what names one program's settings are found."""

    prefix: str
    """What the names of its variables begin with."""
    listed_by: str
    """The command that lists them."""


LEDGER = Program("TEQUIO_LEDGER_", "tequio-ledger settings")


@dataclass(frozen=True, slots=True)
class Given:
    """A text, and where it was found, in words for people."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found for each setting, its default if nothing, and what is wrong with the places.

    Values that cannot be are not judged here.
    """

    values: Mapping[str, Given]
    faults: tuple[str, ...] = ()


def variable(name: str, program: Program = LEDGER) -> str:
    """Name the environment variable of a setting."""
    return program.prefix + name.upper().replace("-", "_")


def gather(
    settings: Iterable[Setting[Any]],
    options: Mapping[str, str],
    environ: Mapping[str, str],
    program: Program = LEDGER,
) -> Gathered:
    """Read all places; `options` holds what the command line says and nothing else."""
    known = {setting.name: setting for setting in settings}
    found = _Found(known, program)
    values = {name: Given(one.default, DEFAULT) for name, one in known.items()}
    file = options.get(FILE) or environ.get(variable(FILE, program))
    if file:
        values |= found.file(Path(file).expanduser())
    values |= found.environment(environ)
    values |= {name: Given(text, f"--{name}") for name, text in options.items() if name in known}
    return Gathered(values, tuple(found.faults))


class _Found:
    """Reads one place after the other and collects the faults."""

    def __init__(self, known: Mapping[str, Setting[Any]], program: Program) -> None:
        self._known = known
        self._program = program
        self.faults: list[str] = []

    def environment(self, environ: Mapping[str, str]) -> dict[str, Given]:
        names = {variable(name, self._program): name for name in self._known}
        found = {}
        for key, text in environ.items():
            if key in names:
                found[names[key]] = Given(text, key)
            elif key.startswith(self._program.prefix) and key != variable(FILE, self._program):
                self.faults.append(
                    f"{key} in the environment is no setting{self._near(key, names)}"
                )
        return found

    def file(self, path: Path) -> dict[str, Given]:
        try:
            document = tomllib.loads(path.read_text("utf-8"))
        except OSError as err:
            self.faults.append(f"the settings file {path} cannot be read: {err.strerror or err}")
            return {}
        except ValueError as err:  # no TOML, or no UTF-8
            self.faults.append(f"the settings file {path} is no TOML: {err}")
            return {}
        return dict(self._document(path, document))

    def _document(self, path: Path, document: dict[str, Any]) -> Iterator[tuple[str, Given]]:
        for name, value in document.items():
            source = f"{name} in {path}"
            text = _text(value)
            if name not in self._known:
                self.faults.append(f"{source} is no setting{self._near(name, self._known)}")
            elif text is None:
                self.faults.append(
                    f"{source} is {value!r}, but must be a text, a whole number, true or false, "
                    "or a list of texts"
                )
            else:
                yield name, Given(text, source)

    def _near(self, name: str, names: Iterable[str]) -> str:
        close = difflib.get_close_matches(name, list(names), 1)
        if close:
            return f": do you mean {close[0]}?"
        return f" (`{self._program.listed_by}` lists them)"


def _text(value: object) -> str | None:
    """Give the text of a TOML value; None for what no setting can be."""
    match value:
        case bool():
            return str(value).lower()
        case str() | int():
            return str(value)
        case list() if all(isinstance(part, str) for part in value):
            return " ".join(value)
        case _:
            return None
