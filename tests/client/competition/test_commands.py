"""The commands of a competition before any ledger is asked: what they print and refuse."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a ledger for all commands; none answers there."""
    monkeypatch.setenv("TEQUIO_LEDGER", "http://127.0.0.1:9")


def test_the_example_is_a_plan() -> None:
    said = CliRunner().invoke(cli, ["competition", "rules", "--example"]).stdout
    assert tomllib.loads(said)["scoring"]["evaluators"] == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("enter", "Big Name"), "lowercase letters, digits and hyphens"),
        (("enter", "x" * 33), "lowercase letters, digits and hyphens"),
        (("submit", "maize"), "give either --run or --repo"),
        (("submit", "maize", "--run", "a", "--repo", "b/c"), "give either --run"),
        (("submit", "maize", "--repo", "b/c", "--round", "3"), "with --repo, use --revision"),
        (("submit", "maize", "--run", "a", "--revision", "main"), "with --run, use --round"),
        (("enter", "maize", "--run", ""), "the value is empty"),
        (("rules",), "give PLAN and --sealed"),
        (("challenge", "maize", "--document", "1"), "--evaluator"),
    ],
)
def test_a_wrong_word_is_refused_with_the_right_one(words: tuple[str, ...], told: str) -> None:
    found = CliRunner().invoke(cli, ["competition", *words])
    assert found.exit_code == 2
    assert told in " ".join(found.stderr.split())


def test_a_worker_that_ends_with_its_run_does_not_judge() -> None:
    found = CliRunner().invoke(cli, ["worker", "--judge"])
    assert found.exit_code == 2
    assert "--judge needs --apply-preferences" in found.stderr


def test_a_ledger_that_is_away_is_named(tmp_path: Path) -> None:
    words = ["competition", "list", "--ledger", "http://127.0.0.1:9"]
    error = CliRunner().invoke(cli, words).exception
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert "can't reach the network at http://127.0.0.1:9" in str(error)
    assert not any(tmp_path.iterdir())
