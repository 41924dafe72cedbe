"""The table of attacks that the tests claim to stop, read from the tests' source.

`@attack("W3", layer="gate", ends="...")` on a test states how that attack ends. The attacks
themselves, in groups, are in tests/attacks/attacks.toml. Tests are read, never imported, so the
table costs nothing and needs none of their libraries. (python -m tests.security)
"""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TESTS = Path(__file__).parent.parent
PAGE = TESTS.parent / "docs" / "security.md"
BEGIN, END = "<!-- attacks: made by `make security` -->", "<!-- end of attacks -->"

LAYERS = {
    "net": "transport: identities, frames, limits",
    "env": "envelope: signature, canonical form, network id",
    "log": "sequencer and Merkle log",
    "adm": "admission",
    "coord": "the rules of run and round, which every reader applies",
    "asg": "assignment of windows",
    "gate": "the rules of a contribution's bytes, before any tensor",
    "agg": "the outer step",
    "wit": "witnesses, their proofs and measures",
    "pts": "points",
    "qua": "standing and quarantine",
    "mdl": "manifest, heads, download",
    "cli": "the client's processes and files",
}

_Test = TypeVar("_Test", bound="Callable[..., object]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attack that somebody may try; `open` names what no test covers, if anything."""

    id: str
    says: str
    open: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defence:
    """A test's claim: the attack it makes, the layer that stops it, and how it ends."""

    attack: str
    layer: str
    ends: str
    path: Path
    test: str


def attack(name: str, *, layer: str, ends: str) -> Callable[[_Test], _Test]:
    """Mark a test as the defence against an attack of attacks.toml; literals only."""
    if name not in known() or not set(layer.split(", ")) <= set(LAYERS) or not ends:
        raise ValueError(f"no attack {name!r}, or no layer {layer!r}")
    return lambda test: test


@cache
def groups() -> tuple[tuple[str, tuple[Attack, ...]], ...]:
    """Title and attacks of each group, in the order of the file."""
    tree = tomllib.loads((TESTS / "attacks" / "attacks.toml").read_text())
    return tuple(
        (group["title"], tuple(Attack(**one) for one in group["attack"])) for group in tree["group"]
    )


def known() -> dict[str, Attack]:
    """Every attack by its id."""
    return {one.id: one for _, attacks in groups() for one in attacks}


def defences() -> list[Defence]:
    """The marks of all tests, in the order of files and lines."""
    return [
        found
        for path in sorted(TESTS.rglob("test_*.py"))
        if "@attack(" in (source := path.read_text())
        for found in _marks(path, ast.parse(source))
    ]


def page_with_table(page: str) -> str:
    """Put the current table into the page."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{_table()}\n{END}{after}"


def _marks(path: Path, tree: ast.Module) -> Iterator[Defence]:
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "attack":
                said = {one.arg: ast.literal_eval(one.value) for one in mark.keywords}
                name = ast.literal_eval(mark.args[0])
                yield Defence(
                    attack=name,
                    layer=said["layer"],
                    ends=said["ends"],
                    path=path,
                    test=node.name,
                )


def _table() -> str:
    """One section per group, one row per test; an attack's description is in its first row."""
    by_attack: dict[str, list[Defence]] = {}
    for one in defences():
        by_attack.setdefault(one.attack, []).append(one)
    parts = []
    for title, attacks in groups():
        parts += [f"### {title}", "", "| | attack | stopped at | how it ends | test |"]
        parts += ["|---|---|---|---|---|"]
        for known_one in attacks:
            parts += _rows(known_one, by_attack.get(known_one.id, []))
        parts.append("")
    return "\n".join(parts)


def _rows(one: Attack, found: list[Defence]) -> Iterator[str]:
    first = (one.id, one.says)
    for defence in found:
        link = f"[{_sentence(defence.test)}](../{defence.path.relative_to(TESTS.parent)})"
        yield f"| {first[0]} | {first[1]} | {defence.layer} | {defence.ends} | {link} |"
        first = ("", "")
    if one.open:
        yield f"| {first[0]} | {first[1]} | - | *open:* {one.open} | - |"


def _sentence(test: str) -> str:
    return test.removeprefix("test_").replace("_", " ")
