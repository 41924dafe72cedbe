"""The command `tequio simulate`: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_shared.errors import UserFacingError
from tests.support.plans import write_plan

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_plan(tmp_path)


def simulate(plan: Path, *words: str) -> Result:
    command = ["simulate", str(plan), "--peers", "12", "--days", "0.01", "--always-on"]
    return CliRunner().invoke(cli, [*command, "--tokens-per-s", "40000", *words])


def test_it_prints_what_an_organiser_asks(plan: Path) -> None:
    result = simulate(plan, "--liars", "copy=0.2", "--outage", "0.05", "0.02")
    assert result.exit_code == 0, result.output
    assert "12 peers, 14.4 minutes" in result.output
    for label in ("tokens per day", "a peer fetches", "the log", "the ledger", "a seed"):
        assert label in result.output
    assert "honest peers ever suspected  0" in result.output
    assert "sends a copy of other work as its own" in result.output


def test_it_tells_what_followers_fetch(plan: Path) -> None:
    plan.write_text(f"{plan.read_text()}[algorithm]\ndown_k = 64\n")
    result = simulate(plan, "--followers", "0.5")
    assert result.exit_code == 0, result.output
    assert "followers of steps           6 of the peers: one fetches " in result.output


def test_it_tells_what_cells_earn(plan: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    words = ("--cells", "0.5", "--cell-kind", "none", "--json", str(figures))
    result = simulate(plan, *words)
    assert result.exit_code == 0, result.output
    assert "6 of the peers: points for " in result.output
    report = json.loads(figures.read_text())
    assert report["cells"] == 6
    assert report["cell_day_tokens"] >= report["single_day_tokens"] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="has no /dev/full")
@pytest.mark.parametrize("option", ["--json", "--picture"])
def test_a_full_disk_is_told_in_a_sentence(plan: Path, tmp_path: Path, option: str) -> None:
    full = tmp_path / "full.svg"
    full.symlink_to("/dev/full")
    result = simulate(plan, option, str(full))
    assert isinstance(result.exception, UserFacingError)
    assert str(result.exception) == f"cannot write {full}: No space left on device"


def test_it_writes_figures_and_a_picture(plan: Path, tmp_path: Path) -> None:
    figures, picture = tmp_path / "figures.json", tmp_path / "picture.svg"
    result = simulate(plan, "--json", str(figures), "--picture", str(picture))
    assert result.exit_code == 0, result.output
    report = json.loads(figures.read_text())
    assert (report["peers"], report["rounds_void"], report["honest_suspected"]) == (12, 0, 0)
    assert report["down_bytes"] > report["seed_up_bytes"] > 0
    assert sum(report["entries"].values()) > 12 * report["rounds_closed"]
    root = ET.fromstring(picture.read_text())  # noqa: S314 - written by this test's own program
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "NaN" not in picture.read_text()


@pytest.mark.parametrize("words", [("1",), ("0.7", "0.2", "0.1"), ("copy=0.9", "0.1")])
def test_all_peers_may_be_liars(plan: Path, words: tuple[str, ...]) -> None:
    result = simulate(plan, *(word for share in words for word in ("--liars", share)))
    assert result.exit_code == 0, result.output
    assert "honest   " not in result.output


def test_all_peers_are_admitted_to_a_run_for_invited_members(plan: Path, tmp_path: Path) -> None:
    plan.write_text(f"{plan.read_text()}[admission]\ntrainer_tier = 2\nwitness_tier = 1\n")
    figures = tmp_path / "figures.json"
    result = simulate(plan, "--json", str(figures))
    assert result.exit_code == 0, result.output
    report = json.loads(figures.read_text())
    assert report["rounds_closed"] > 0
    assert report["members_mean"] >= report["witnesses_mean"] > 10


@pytest.mark.parametrize(
    ("rules", "words", "reason"),
    [
        ("[rounds]\nmin_members = 20\n", (), ": rounds.min_members is 20, and at most 12 peers"),
        ("[algorithm]\ndown_k = 64\n", ("--followers", "1"), ": no peer offers to witness"),
        ("", ("--outage", "0", "1"), " in that time: it went to an outage"),
    ],
)
def test_it_tells_why_no_round_began(
    plan: Path, rules: str, words: tuple[str, ...], reason: str
) -> None:
    plan.write_text(f"{plan.read_text()}{rules}")
    result = simulate(plan, *words)
    assert result.exit_code == 0, result.output
    assert f"no round began{reason}" in result.output


def test_a_round_that_began_but_did_not_end_has_begun(plan: Path) -> None:
    result = simulate(plan, "--tokens-per-s", "1", "--days", "0.001")
    assert result.exit_code == 0, result.output
    assert "0 closed, 0 void" in result.output
    assert "no round began" not in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--liars", "copie=0.1"), "no liars of the kind 'copie': there are copy, half, most"),
        (("--liars", "much"), "invalid share of liars 'much': expected a number from 0 to 1"),
        (("--liars", "0.6", "--liars", "copy=0.5"), "liars are 110% of the peers"),
        (("--picture", "seen.png"), "pictures are SVG files"),
        (
            ("--cells", "0.5"),
            "--cell-kind pipeline divides Llama networks with a layer for each of 4",
        ),
        (("--followers", "0.5"), "--followers 0.5, but the run has no down link"),
    ],
)
def test_what_cannot_be_simulated_is_said(
    plan: Path, words: tuple[str, ...], sentence: str
) -> None:
    result = simulate(plan, *words)
    assert isinstance(result.exception, UserFacingError)
    assert sentence in str(result.exception)
