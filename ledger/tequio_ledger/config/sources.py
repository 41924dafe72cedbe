"""A program's settings as one msgspec struct, and how texts become its values.

A field's name in kebab case is the key in the settings file, after two dashes the option of the
command line, and in capitals after the program's prefix the environment variable. Every source
gives text; the parts of a list are separated by spaces. msgspec converts and bounds a value
unless its type names a `Parse` function. An unknown name is an error, in the file and in the
environment: a misspelt limit would be no limit.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta

from tequio_shared.errors import UserFacingError

FILE = "settings"
"""The option that names the settings file; it is not itself a setting."""
_HIDDEN = "***"
_PASSWORD = re.compile(r"(?<=://)([^:/@\s]*):[^@\s]*(?=@)")
_PASSWORD_IN_QUERY = re.compile(r"((?:password|secret|token)=)[^&\s]*", re.IGNORECASE)
_META = ("description", "title", "ge", "le")
_TOML_TYPES = "a text, a whole number, true or false, or a list of texts"


@dataclass(frozen=True, slots=True)
class Parse:
    """Marks a type that msgspec cannot convert from text.

    The function raises ValueError with what the value must be.
    """

    text: Callable[[str], Any]


class ProgramSettings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """Base of every program's settings, with those of the program's own log."""

    log_json: Annotated[bool, Meta(description="Write the program's log as JSON lines.")] = False
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="Least severe messages to log."),
    ] = "info"

    def conflicts(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each setting that does not fit another, and what it must be."""
        yield from ()


SettingsT = TypeVar("SettingsT", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Program(Generic[SettingsT]):
    """One program's settings and the names under which they are found."""

    settings: type[SettingsT]
    prefix: str
    """Start of the names of its environment variables."""
    listed_by: str
    """The command that lists its settings."""

    def variable(self, name: str) -> str:
        return self.prefix + name.upper().replace("-", "_")


@dataclass(frozen=True, slots=True)
class Found:
    """A setting's text and the place it was found in, such as `--port`."""

    text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting, derived from a field of a program's struct."""

    field: str
    """Attribute of the struct."""
    name: str
    type: Any
    """The whole type of the field, with its bounds."""
    kind: Any
    """The type without its bounds: a class, a Literal, a union."""
    description: str
    expected: str
    """Describes allowed values in errors."""
    parse: Callable[[str], Any] | None
    default: Any
    """NODEFAULT when a value is required."""

    @property
    def is_flag(self) -> bool:
        return self.kind is bool

    @property
    def is_list(self) -> bool:
        """True if a settings file has a list, and the option can be repeated."""
        return get_origin(self.kind) is tuple

    @property
    def choices(self) -> tuple[str, ...]:
        """Give the words that are allowed; empty when there is no such list."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def default_text(self) -> str:
        """Give the default as a source would; empty when there is none."""
        if self.default is NODEFAULT or self.default is None:
            return ""
        text = text_of(self.default)
        return str(self.default) if text is None else text

    def convert(self, text: str) -> object:
        """Convert and bound a value; raises ValueError with what it must be."""
        if self.parse is not None:
            return self.parse(text)
        try:
            return msgspec.convert(text, self.type, strict=False)
        except msgspec.ValidationError as err:
            raise ValueError(self.expected) from err

    def written(self, text: str) -> str:
        """Write a value as a settings file has it, with passwords hidden."""
        if self.kind in (int, bool):
            return text
        if self.is_list:
            return json.dumps(hide(text).split())
        return json.dumps(hide(text), ensure_ascii=False)


def settings_of(settings: type[msgspec.Struct]) -> tuple[Setting, ...]:
    """Derive the settings of a struct, those of the program's log last."""
    fields = msgspec.structs.fields(settings)
    of_log = ProgramSettings.__struct_fields__
    return tuple(_setting(one) for one in sorted(fields, key=lambda one: one.name in of_log))


def _setting(field: msgspec.structs.FieldInfo) -> Setting:
    kind, *marks = get_args(field.type)  # every field is Annotated, at least with a description
    meta: dict[str, Any] = {}
    for mark in marks:
        if isinstance(mark, Meta):
            meta |= {name: value for name in _META if (value := getattr(mark, name)) is not None}
    return Setting(
        field=field.name,
        name=field.encode_name,
        type=field.type,
        kind=kind,
        description=meta["description"],
        expected=_expected(kind, meta),
        parse=next((mark.text for mark in marks if isinstance(mark, Parse)), None),
        default=field.default,
    )


def _expected(kind: object, meta: Mapping[str, Any]) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if kind is int:
        return f"a whole number from {meta['ge']} to {meta['le']}"
    return str(meta.get("title", "true or false"))


@dataclass(frozen=True, slots=True)
class FoundSettings(Generic[SettingsT]):
    """The texts of a program's settings with their sources, not yet converted."""

    settings: type[SettingsT]
    texts: Mapping[str, Found]
    faults: tuple[str, ...] = ()
    """Errors in the sources themselves."""

    def convert(self) -> SettingsT:
        """Convert what was found, defaults for the rest; one UserFacingError names every fault."""
        values: dict[str, object] = {}
        faults = list(self.faults)
        for one in settings_of(self.settings):
            found = self.texts.get(one.name)
            try:
                if found is not None or one.default is NODEFAULT:
                    values[one.field] = one.convert(found.text if found else "")
            except ValueError as err:
                faults.append(_fault(one.name, found, str(err)))
                values[one.field] = found.text.split() if found and one.is_list else one.default
        # With stand-ins for what could not be converted, conflicts are named in the same error: a
        # list keeps its length.
        made = self.settings(**values)
        if isinstance(made, ProgramSettings):
            conflicts = made.conflicts()
            faults += [_fault(name, self.texts.get(name), must) for name, must in conflicts]
        if faults:
            raise UserFacingError("; ".join(faults))
        return made

    def listing(self) -> Iterator[str]:
        """Yield every setting as a line of a settings file, with its source, passwords hidden."""
        for one in settings_of(self.settings):
            found = self.texts.get(one.name, Found(one.default_text, "default"))
            yield f"{one.name} = {one.written(found.text)}  # {found.source}"


def _fault(name: str, found: Found | None, expected: str) -> str:
    if found is None:
        return f"--{name} is missing: expected {expected}"
    return f"{found.source} is {hide(found.text)!r}, but must be {expected}"


def read_file(program: Program[Any], path: Path) -> tuple[dict[str, str], list[str]]:
    """Read a settings file: the texts of the settings it names, and what is wrong with it."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as err:
        return {}, [f"the settings file {path} cannot be read: {err.strerror or err}"]
    except ValueError as err:  # not TOML, or not UTF-8
        return {}, [f"the settings file {path} is not valid TOML: {err}"]
    texts, faults = {}, []
    known = {one.name for one in settings_of(program.settings)}
    for name, value in document.items():
        text = text_of(value)
        if name not in known:
            faults.append(f"{name} in {path} is an unknown setting{_hint(program, name, known)}")
        elif text is None:
            faults.append(f"{name} in {path} is {value!r}, but must be {_TOML_TYPES}")
        else:
            texts[name] = text
    return texts, faults


def unknown_variables(program: Program[Any], environ: Iterable[str]) -> Iterator[str]:
    """Yield a fault for each variable with the program's prefix that is not a setting."""
    names = {program.variable(one.name) for one in settings_of(program.settings)}
    for name in environ:
        if name.startswith(program.prefix) and name not in {*names, program.variable(FILE)}:
            hint = _hint(program, name, names)
            yield f"{name} in the environment is an unknown setting{hint}"


def hide(text: str) -> str:
    """Replace passwords within URLs by stars, rather too many than too few."""
    return _PASSWORD_IN_QUERY.sub(rf"\1{_HIDDEN}", _PASSWORD.sub(rf"\1:{_HIDDEN}", text))


def _hint(program: Program[Any], name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    if close:
        return f": did you mean {close[0]}?"
    return f" (`{program.listed_by}` lists all settings)"


def text_of(value: object) -> str | None:
    """Give the text of a TOML value; None for a type that no setting has."""
    match value:
        case bool():
            return str(value).lower()
        case str() | int():
            return str(value)
        case list() | tuple() if all(isinstance(part, str) for part in value):
            return " ".join(value)
        case _:
            return None
