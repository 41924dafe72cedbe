"""Where settings come from: the command line before the environment before the file.

Nothing is passed over in silence: a name that is no setting is a fault, in the file and in the
environment, for a limit with a typing error in its name would be no limit.
"""

from __future__ import annotations

import difflib
import enum
import json
import re
import tomllib
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

# --- One setting: its name, what its text must be, and how it is shown.
#
# The name is the key in the settings file, after two dashes the option of the command line, and
# in capitals after a prefix the variable of the environment. All of them give texts; a list is
# its parts with spaces between.

Value = TypeVar("Value")
Part = TypeVar("Part")
_PASSWORD = re.compile(r"(?<=://)([^:/@\s]*):[^@\s]*(?=@)")
_PASSWORD_IN_QUERY = re.compile(r"((?:password|secret|token)=)[^&\s]*", re.IGNORECASE)
_HIDDEN = "***"
_ORIGIN = re.compile(r"[a-z0-9][a-z0-9./_-]{0,127}")
_HOST = re.compile(r"[A-Za-z0-9.:_-]{1,253}")


class Form(enum.Enum):
    """How a settings file writes a value."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    LIST = "list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Generic[Value]):
    """What a person may choose; `parse` raises ValueError that goes on after "but must be"."""

    name: str
    default: str
    parse: Callable[[str], Value]
    help: str
    form: Form = Form.TEXT
    choices: tuple[str, ...] = ()

    def written(self, text: str) -> str:
        """Write a value as a settings file would have it, passwords hidden."""
        match self.form:
            case Form.NUMBER | Form.FLAG:
                return text
            case Form.LIST:
                return json.dumps(hide(text).split())
            case Form.TEXT:
                return json.dumps(hide(text), ensure_ascii=False)


def hide(text: str) -> str:
    """Put stars in the place of a password within a URL, rather too often than not."""
    return _PASSWORD_IN_QUERY.sub(rf"\1{_HIDDEN}", _PASSWORD.sub(rf"\1:{_HIDDEN}", text))


def number(least: int, most: int) -> Callable[[str], int]:
    """Make a reader of whole numbers."""

    def parse(text: str) -> int:
        try:
            value = msgspec.convert(text, int, strict=False)
        except msgspec.ValidationError:
            value = least - 1
        if not least <= value <= most:
            raise ValueError(f"a number from {least} to {most}")
        return value

    return parse


def pattern(shape: re.Pattern[str], promise: str) -> Callable[[str], str]:
    """Make a reader of texts of that shape."""

    def parse(text: str) -> str:
        if not shape.fullmatch(text):
            raise ValueError(promise)
        return text

    return parse


def choice(words: tuple[str, ...]) -> Callable[[str], str]:
    """Make a reader of one of some words."""

    def parse(text: str) -> str:
        if text not in words:
            raise ValueError("one of " + ", ".join(words))
        return text

    return parse


def flag(text: str) -> bool:
    """Read yes or no; raises ValueError."""
    if text not in ("true", "false"):
        raise ValueError("true or false")
    return text == "true"


def many(part: Callable[[str], Part]) -> Callable[[str], tuple[Part, ...]]:
    """Make a reader of lists."""
    return lambda text: tuple(part(one) for one in text.split())


def host(text: str) -> str:
    """Read a host name or address."""
    return pattern(_HOST, "a host name or address")(text)


def origin(text: str) -> str:
    """Read the name of a log."""
    return pattern(_ORIGIN, "an address such as ledger.example/net1")(text)


def place(text: str) -> Path:
    """Read the name of a folder or file."""
    if not text:
        raise ValueError("the name of a folder")
    return Path(text).expanduser().absolute()


def maybe_place(text: str) -> Path | None:
    """Read a name that may be left out."""
    return place(text) if text else None


def network(text: str) -> IPv4Network | IPv6Network:
    """Read a network of addresses."""
    try:
        return ip_network(text)
    except ValueError as err:
        raise ValueError(f"networks such as 10.0.0.0/8, which {text!r} is not") from err


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


# --- Texts turned into values, and every fault among them told at once.

ReaderValue = TypeVar("ReaderValue")


class Reader:
    """Collects the faults, so that a person sees all of them in one go."""

    def __init__(self, gathered: Gathered) -> None:
        self._values = gathered.values
        self._faults = list(gathered.faults)

    def of(self, setting: Setting[ReaderValue], instead: ReaderValue) -> ReaderValue:
        """Give a setting's value; one that cannot be is a fault, and something stands in for it."""
        try:
            return setting.parse(self._values[setting.name].text)
        except ValueError as err:
            self.fault(setting, str(err))
            return instead

    def fault(self, setting: Setting[Any], promise: str) -> None:
        """Say what a setting must be that it is not."""
        given = self._values[setting.name]
        source = f"the default of {setting.name}" if given.source == DEFAULT else given.source
        self._faults.append(f"{source} is {hide(given.text)!r}, but must be {promise}")

    def finish(self) -> None:
        """Raise UserFacingError if there was a fault."""
        if self._faults:
            raise UserFacingError("; ".join(self._faults))
