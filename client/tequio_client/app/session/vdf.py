"""Valve's text format: `"key" "value"` and `"key" { … }`, as Steam writes its own files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator

Tree: TypeAlias = "dict[str, str | Tree]"
_TOKEN = re.compile(r'\s+|//[^\n]*|"((?:[^"\\]|\\.)*)"|([{}])|([^\s{}"]+)')
_ESCAPED = re.compile(r"\\(.)")
_DEEPEST = 32


def parsed(text: str) -> Tree:
    """All keys of a file, in lower case; raises MalformedError."""
    stack: list[Tree] = [{}]
    keys: list[str | None] = [None]  # of each level, the key that waits for its value
    for part in _parts(text):
        if part == "{":
            key = _taken(keys)
            stack.append({})
            keys.append(None)
            if len(stack) > _DEEPEST:
                raise MalformedError("brackets too deep")
            stack[-2][key] = stack[-1]
        elif part == "}":
            if len(stack) == 1 or keys.pop() is not None:
                raise MalformedError("a bracket that closes nothing")
            stack.pop()
        elif keys[-1] is None:
            keys[-1] = part[1:].lower()
        else:
            stack[-1][_taken(keys)] = part[1:]
    if keys != [None]:
        raise MalformedError("it ends in the middle")
    return stack[0]


def _parts(text: str) -> Iterator[str]:
    """Brackets, and words with a mark before them."""
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise MalformedError(f"no VDF at character {at}")
        at = token.end()
        if token[2]:
            yield token[2]
        elif token[1] is not None or token[3]:
            yield "=" + _ESCAPED.sub(_unescaped, token[1] or "") + (token[3] or "")


def _unescaped(found: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(found[1], found[1])


def _taken(keys: list[str | None]) -> str:
    key, keys[-1] = keys[-1], None
    if key is None:
        raise MalformedError("a bracket without a key")
    return key


def branch(tree: Tree, key: str) -> Tree:
    """The part under that key; empty when there is none."""
    found = tree.get(key, {})
    return found if isinstance(found, dict) else {}


def leaf(tree: Tree, key: str) -> str:
    """The value of that key; empty when there is none."""
    found = tree.get(key, "")
    return found if isinstance(found, str) else ""
