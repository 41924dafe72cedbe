"""docs/operating.md keeps its word: commands, alarms, statuses, and a test for every drill."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import yaml

from tequio_ledger.guard import Cause
from tests.support.command_lines import unknown_options

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "operating.md").read_text("utf-8")
DRILLS = ("Restore", "Key loss", "Split view", "Full disk", "Upgrade")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def section(heading: str) -> str:
    """The text under a heading, up to the next of its level or above."""
    match = re.search(
        rf"^(#+) {re.escape(heading)}$(.*?)(?=^#{{1,3}} |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL
    )
    assert match is not None, heading
    return match[2]


def drill(heading: str) -> str:
    whole = DOCUMENT.partition("\n## Drills\n")[2].partition("\n## ")[0]
    return whole.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("tequio-ledger ")]


@pytest.mark.parametrize("heading", DRILLS)
def test_every_drill_is_a_test(heading: str) -> None:
    named = TEST.findall(drill(heading))
    assert named, f"the drill {heading!r} names no test"


def test_every_test_that_is_named_exists() -> None:
    for file, name in TEST.findall(DOCUMENT):
        tree = ast.parse((ROOT / file).read_text("utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert name in functions, f"{file}::{name}"


@pytest.mark.parametrize("line", commands())
def test_every_command_has_the_options_that_it_is_given(line: str) -> None:
    bare = re.sub(r"\[.*?\]| \.\.\.", "", line)
    assert unknown_options(shlex.split(bare, comments=True)) == []


def test_every_alarm_says_what_to_do() -> None:
    rules = yaml.safe_load((ROOT / "installer" / "alerts.yml").read_text("utf-8"))
    alarms = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    rows = [line for line in section("Watch").splitlines() if line.startswith("| `Ledger")]
    assert {name for row in rows for name in re.findall(r"`(Ledger\w+)`", row)} == alarms


def test_every_status_of_healthz_is_explained() -> None:
    service = (ROOT / "ledger" / "tequio_ledger" / "service.py").read_text("utf-8")
    said = set(re.findall(r'status="([a-z-]+)"', service)) | {one.value for one in Cause}
    rows = re.findall(r"^\| `([a-z-]+)` \|", section("Watch"), re.MULTILINE)
    assert set(rows) == said - {"ok"}
