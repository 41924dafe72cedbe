"""The repository's words: unique class names, methods named after what they do, plain English.

CONTRIBUTING.md has the list in prose. Answer a false alarm with another sentence first; where the
word is right (a quotation, a term of the field), the line goes into ALLOWED with its reason.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
DISTRIBUTION = sorted(
    path
    for part in ("client", "ledger", "shared", "assets")
    for path in (ROOT / part).rglob("*.py")
)
TESTS = sorted(path for part in ("tests", "bench") for path in (ROOT / part).rglob("*.py"))
MODULES = [path for path in (*DISTRIBUTION, *TESTS) if path != Path(__file__)]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "docs").rglob("*.ipynb")),
    *sorted((ROOT / "installer").glob("*.toml")),
    *sorted((ROOT / "installer").glob("*.yaml")),
    *sorted((ROOT / "installer" / "systemd").iterdir()),
    ROOT / "installer" / "Dockerfile",
]
VAGUE = frozenset({"take", "look", "say", "tell", "hear", "note", "keep", "show"})
"""Verbs that no search finds and that name no action."""
_AFTER_NO = (
    "longer|more|less|other|such|need|way|one|different|better|worse|slower|faster|smaller|larger"
)
BANNED = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "anew": r"\banew\b",
        "for ever": r"\bfor ever\b",
        "(not) to be had": r"\bto be had\b",
        "whoever": r"\bwhoever\b",
        "came to": r"\bcame to\b(?! (?:be|this|the)\b)",
        "for eyes": r"\bfor (?:your |people's )?(?:own )?eyes\b",
        "shall": r"\bshall\b",
        "so many": r"\bso many\b(?! (?:of|that|as)\b)",
        "of ours": r"\bof (?:ours|theirs|one's own)\b",
        "treaty": r"\btreaty\b",
        "nonsense": r"\bnonsense\b",
        "has to be said": r"\bhas to be said\b",
        "also not": r"\balso not\b",
        "of own": r"\bof own\b",
        "may not what": r"\bwhat it may not\b",
        "is no X": r"(?<!there )\b(?:is|are|was) no "
        rf"(?!(?:{_AFTER_NO})\b)[a-z`{{]",
    }.items()
}
BANNED["Who … as a subject"] = re.compile(
    r"(?:^[ #\"'rfb]*|[.;:(] )Who (?!(?:is|are|was|did|does|may|can|won)\b|[a-z ]+\?)[a-z]+"
)
_SUSPECT = re.compile("|".join(p.pattern for p in BANNED.values()) + "|who [a-z]", re.IGNORECASE)
"""Found in every file in which one of BANNED is found, and in some others."""
PRONOUN = re.compile(
    r"(?:Its|Their|They|It|Who|Whose|Whether|What|That|Those|He|She)\b(?![^.\n]*\?)"
)
ALLOWED = {
    "Who made it": "a heading that asks",
}
"""Part of a line: why the word is right there."""


@pytest.mark.parametrize("modules", [DISTRIBUTION, TESTS], ids=["distribution", "tests"])
def test_no_class_name_stands_for_two_things(modules: list[Path]) -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules:
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: at for name, at in places.items() if len(at) > 1} == {}


def test_no_function_is_named_after_a_vague_verb() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in MODULES
        for node in ast.walk(_parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.strip("_") in VAGUE
    ]
    assert found == []


def test_strings_and_comments_are_plain_english() -> None:
    assert [found for path in MODULES for found in _odd_lines(path)] == []


def test_no_docstring_begins_with_a_pronoun() -> None:
    found = []
    for path in MODULES:
        for node in ast.walk(_parsed(path)):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))) if PRONOUN.match(text):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {text.splitlines()[0]}")
    assert found == []


def test_documents_are_plain_english() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {name}: {line.strip()}"
        for path in DOCUMENTS
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for name in _banned_in(line)
    ]
    assert found == []


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _odd_lines(path: Path) -> Iterator[str]:
    if not _SUSPECT.search(path.read_text()):
        return  # most files: to split all of them into tokens takes half a minute
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            for number, line in enumerate(token.string.splitlines(), token.start[0]):
                for name in _banned_in(line.strip(" #\"'rfb")):
                    yield f"{path.relative_to(ROOT)}:{number}: {name}: {line.strip()}"


def _banned_in(line: str) -> list[str]:
    if any(part in line for part in ALLOWED):
        return []
    return [name for name, pattern in BANNED.items() if pattern.search(line)]
