"""Reader of plans, which are TOML files written by people.

An error is one sentence with its place in the file and the names or values that are allowed there.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from tequio_shared.errors import MalformedError, UserFacingError

T = TypeVar("T")
_FAULT = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<place>[^`]*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_CHOICE = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_KIND = re.compile(r"`(\w+)`")
_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
"""Plain words for Python's and JSON's type names in msgspec's messages."""
_FORM = re.compile(r"of length (?P<length>.*)|matching regex '(?P<form>.*)'", re.DOTALL)
_FORMS = (
    ("https?:", "that is an address with http:// or https://"),
    ("[A-Za-z0-9]", "of letters, digits, spaces and ._- alone, a letter or digit first"),
)
"""Part of a pattern, and the form that it requires in words."""


def read(path: Path, kind: type[T], plain: Callable[[dict[str, Any]], object] = dict) -> T:
    """Read a plan, converted by `plain` first; raises UserFacingError that names file and error."""
    tree: object = {}
    try:
        tree = plain(tomllib.loads(path.read_text("utf-8")))
        return msgspec.convert(tree, kind)
    except OSError as err:
        raise UserFacingError(f"cannot read the plan {path}: {err.strerror}") from err
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as err:
        raise UserFacingError(f"the plan {path} is not valid: {err}") from err
    except msgspec.ValidationError as err:
        why = explain_fault(str(err), kind, tree)
        raise UserFacingError(f"the plan {path} is not valid: {why}") from err


def explain_malformed(err: MalformedError, kind: type, tree: object) -> str:
    """Explain why a document built from a plan (given as a tree) is not a valid `kind`."""
    return explain_fault(str(err).removeprefix(f"not a valid {kind.__name__}: "), kind, tree)


def explain_fault(message: str, kind: type, tree: object) -> str:
    """Translate msgspec's message about a tree into the terms of the plan's author."""
    found = _FAULT.fullmatch(message)
    if found is None:
        return message
    what, place = found["what"], found["place"] or ""
    table = f"[{place}]" if place else "it"
    names = [name for name in place.split(".") if name]
    if unknown := _UNKNOWN.fullmatch(what):
        return f"{table} has no `{unknown[1]}`; {_known(unknown[1], _fields(_at(kind, names)))}"
    if missing := _MISSING.fullmatch(what):
        return f"{table} lacks `{missing[1]}`"
    if choice := _CHOICE.fullmatch(what):
        return f"{place} is {choice[1]}, and can be {_choices(_at(kind, names))}"
    due = _KIND.sub(lambda kind: _KINDS.get(kind[1], kind[0]), what[:1].lower() + what[1:])
    return f"{place or 'it'}{_quote(tree, names)}: {_FORM.sub(_form, due)}"


def _form(found: re.Match[str]) -> str:
    if found["length"]:
        return f"of {found['length']} letters"
    return next((words for part, words in _FORMS if part in found["form"]), found[0])


def _quote(tree: object, names: Sequence[str]) -> str:
    """Quote the value at that place, if it is a plain one."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    is_plain = isinstance(tree, str | int | float) and not isinstance(tree, bool)
    return f" is {tree!r:.60}" if is_plain else ""


def _known(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"`{near[0]}` may be meant" if near else f"there is: {', '.join(known)}"


def _at(kind: type, names: Sequence[str]) -> inspect.Type | None:
    """Find the declared type at that place; None if no table declares it."""
    found: inspect.Type | None = inspect.type_info(kind)
    for name in names:
        struct = _struct(found)
        fields = struct.fields if struct else ()
        found = next((one.type for one in fields if one.encode_name == name), None)
    return found


def _struct(found: inspect.Type | None) -> inspect.StructType | None:
    parts = found.types if isinstance(found, inspect.UnionType) else (found,)
    return next((one for one in parts if isinstance(one, inspect.StructType)), None)


def _fields(found: inspect.Type | None) -> list[str]:
    struct = _struct(found)
    return [one.encode_name for one in struct.fields] if struct else []


def _choices(found: inspect.Type | None) -> str:
    values = found.values if isinstance(found, inspect.LiteralType) else ()
    return ", ".join(map(repr, values)) or "none of that kind"
