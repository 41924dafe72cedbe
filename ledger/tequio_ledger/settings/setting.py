"""One setting: its name, what its text must be, and how it is shown.

The name is the key in the settings file, after two dashes the option of the command line, and in
capitals after a prefix the variable of the environment. All of them give texts; a list is its
parts with spaces between.
"""

from __future__ import annotations

import enum
import json
import re
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

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
