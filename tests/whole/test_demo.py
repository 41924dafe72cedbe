"""`tequio demo --quick`, once, by its outcome and by what it leaves in its folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from tequio_client.demo import programs
from tequio_shared.ids import to_text
from tequio_shared.limits import SAMPLE_PROMPT_BYTES
from tequio_shared.round.points import exact_points
from tests.support.browser import CHROMIUM, NARROW, WatchedPage, barriers, chromium, watched
from tests.support.real_network import left_over

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_S = 300
ROUNDS = 5
PEERS = 4
DRAWN = 3
UNTRAINED_BITS = 8.0
"""Bits per byte of a model that knows nothing: all 256 bytes alike."""
ENOUGH_TOKENS = 20_000
"""A slow machine trains on fewer in the time of its rounds, and the model gains less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A demo that has ended."""

    folder: Path
    outcome: dict[str, Any]
    exit_status: int
    screen: str


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Play the demo, once for all tests of this session."""
    place = tmp_path_factory.mktemp("demo")
    folder, outcome = place / "network", place / "outcome.json"
    command = (sys.executable, "-m", "tequio_client", "demo", "--quick")
    with subprocess.Popen(
        [*command, "--dir", str(folder), "--json", str(outcome)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
    ) as process:
        screen = _read_to_the_end(process)
    assert outcome.exists(), screen
    return Demo(
        folder=folder,
        outcome=json.loads(outcome.read_text()),
        exit_status=process.returncode,
        screen=screen,
    )


def _read_to_the_end(process: subprocess.Popen[str]) -> str:
    """Read its output; a demo that takes too long gets a signal and ends its programs."""
    try:
        return process.communicate(timeout=PATIENCE_S)[1]
    finally:
        process.terminate()


@pytest.mark.whole
def test_the_demo_ends_well_and_its_audit_finds_nothing(demo: Demo) -> None:
    assert demo.exit_status == 0, demo.screen
    assert demo.outcome["audit_exit"] == 0


@pytest.mark.whole
def test_the_outcome_has_exactly_the_documented_fields(demo: Demo) -> None:
    assert set(demo.outcome) == {
        "rounds_committed",
        "rounds_void",
        "heads",
        "heads_agree",
        "peers",
        "held_out",
        "tokens_accepted",
        "tokens_per_s",
        "log",
        "audit_exit",
        "ledger_rss_mb",
        "seed_rss_mb",
        "seconds",
    }
    assert set(demo.outcome["held_out"]) == {
        "bits_per_byte_start",
        "bits_per_byte_end",
        "perplexity_end",
    }
    assert set(demo.outcome["log"]) == {"size", "root"}
    for peer in demo.outcome["peers"]:
        assert set(peer) == {
            "peer_id",
            "roles",
            "head",
            "gflop",
            "bytes_sent",
            "bytes_received",
            "worker_rss_mb",
            "trainer_rss_mb",
            "compute_fraction",
        }


@pytest.mark.whole
def test_every_round_counts_and_every_peer_ends_with_the_same_head(demo: Demo) -> None:
    outcome = demo.outcome
    assert (outcome["rounds_committed"], outcome["rounds_void"]) == (ROUNDS, 0)
    assert outcome["heads_agree"] is True
    assert len(outcome["heads"]) == len(set(outcome["heads"])) == ROUNDS + 1
    assert all(len(bytes.fromhex(head)) == 32 for head in outcome["heads"])
    assert len(outcome["peers"]) == PEERS
    assert {peer["head"] for peer in outcome["peers"]} == {outcome["heads"][-1]}


def trained_bits(demo: Demo) -> float:
    """Bits per byte that the model of so long a training is below."""
    has_enough = demo.outcome["tokens_accepted"] >= ENOUGH_TOKENS
    return 5.5 if has_enough else UNTRAINED_BITS - 1


@pytest.mark.whole
def test_the_model_learns_what_it_was_not_shown(demo: Demo) -> None:
    held_out = demo.outcome["held_out"]
    assert held_out["bits_per_byte_start"] == pytest.approx(UNTRAINED_BITS, abs=0.3)
    assert held_out["bits_per_byte_end"] < trained_bits(demo)
    assert held_out["perplexity_end"] == pytest.approx(2 ** held_out["bits_per_byte_end"], rel=0.01)


@pytest.mark.whole
def test_peers_that_were_drawn_measure_the_same(demo: Demo) -> None:
    with served_again(demo.folder) as url:
        (run,) = httpx.get(f"{url}/v1/runs").json()["runs"]
        heads = httpx.get(f"{url}/v1/runs/{run['run']}/measures").json()["heads"]
    names = ("millibits", "size_bytes", "tokens")
    said = {
        head["round"]: [tuple(one[name] for name in names) for one in head["measures"]]
        for head in heads
    }
    assert set(said) <= {0, 2, 4, ROUNDS}, said
    assert max(len(measures) for measures in said.values()) == DRAWN, said
    for head in heads:
        assert set(said[head["round"]]) == {tuple(head[name] for name in names)}
        assert head["head"] in demo_heads(demo)
        assert len({one["peer"] for one in head["measures"]}) == len(head["measures"]) <= DRAWN
        assert not any(one["is_outlier"] for one in head["measures"])
        assert head["sample"]["entry"] in [one["entry"] for one in head["measures"]]
        assert 0 < len(head["sample"]["prompt"].encode()) <= SAMPLE_PROMPT_BYTES
    assert any(head["sample"]["text"] for head in heads)
    bits = [head["millibits"] / head["size_bytes"] / 1_000 for head in heads]
    least = 2 if demo.outcome["tokens_accepted"] >= ENOUGH_TOKENS else 1
    assert bits[-1] < bits[0] - least, "the model learns"
    assert all(later < 1.02 * earlier for earlier, later in pairwise(bits)), bits
    assert bits[-1] < UNTRAINED_BITS - 1


def demo_heads(demo: Demo) -> set[str]:
    """Heads as the API writes them."""
    return {to_text(bytes.fromhex(head)) for head in demo.outcome["heads"]}


@pytest.mark.whole
def test_every_peer_trains_shares_and_earns(demo: Demo) -> None:
    for peer in demo.outcome["peers"]:
        assert peer["roles"] == ["trainer", "witness"]
        assert peer["gflop"] > 0
        assert peer["bytes_received"] > 0
        assert 0 < peer["compute_fraction"] < 1
    assert sum(peer["bytes_sent"] for peer in demo.outcome["peers"]) > 0
    assert demo.outcome["tokens_accepted"] > 0
    assert demo.outcome["tokens_per_s"] > 0


@pytest.mark.whole
def test_programs_stay_small(demo: Demo) -> None:
    for peer in demo.outcome["peers"]:
        assert 0 < peer["worker_rss_mb"] < 160
        assert 0 < peer["trainer_rss_mb"] < 450
    assert 0 < demo.outcome["seed_rss_mb"] < 140
    assert 0 < demo.outcome["ledger_rss_mb"] < 150


@pytest.mark.whole
def test_no_program_outlives_the_demo_and_none_ends_in_a_traceback(demo: Demo) -> None:
    assert not left_over(demo.folder)
    for path in (demo.folder / "logs").glob("*.log"):
        assert "Traceback" not in path.read_text(), path.name


@pytest.mark.whole
def test_the_screen_names_the_peers_and_the_log(demo: Demo) -> None:
    for peer in demo.outcome["peers"]:
        assert peer["peer_id"] in demo.screen
    root = demo.outcome["log"]["root"]
    assert len(bytes.fromhex(root)) == 32
    assert root[:16] in demo.screen
    assert demo.outcome["log"]["size"] > ROUNDS * PEERS


@pytest.mark.whole
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh tools")
def test_the_pages_of_its_ledger_lead_from_the_run_to_a_verified_entry(demo: Demo) -> None:
    with served_again(demo.folder) as url, chromium() as browser, watched(browser) as window:
        page = window.page
        window.open(url)
        page.locator(".run a").first.click()
        page.get_by_role("heading", name="Finished").wait_for()
        assert f"in {ROUNDS} closed rounds" in page.locator(".stats").inner_text()
        assert page.locator("#loss-summary").inner_text().startswith("The median loss")
        said = page.locator("section[aria-labelledby=measures-title] tbody tr")
        assert said.count() == DRAWN
        assert page.locator(".writing dd").first.inner_text().strip()
        assert page.locator("svg.plot.wide").count() >= 2  # of heads too, if there was time for two
        assert page.locator(".strip a.ok").count() == ROUNDS
        page.locator(".strip a.ok").last.click()
        page.get_by_role("heading", name=f"Round {ROUNDS}").wait_for()
        accepted = httpx.get(page.url.replace("/runs/", "/v1/runs/")).json()["accepted"]
        assert accepted > 0  # not always all: who audits does not train in that round
        assert page.locator("td", has_text="Accepted").count() == accepted
        page.get_by_role("link", name="proof", exact=True).first.click()
        page.get_by_role("button", name="Verify in this browser").click()
        page.locator("#check-says.verdict.good").wait_for()
        for peer in demo.outcome["peers"]:
            window.open(f"{url}/search?q={peer['peer_id']}")
            points = page.locator(".stat", has_text="exactly").inner_text()
            assert exact_points(peer["gflop"]) in points
        assert window.faults == []


@pytest.mark.whole
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh tools")
def test_every_kind_of_page_about_it_can_be_reached_and_shuts_nobody_out(demo: Demo) -> None:
    with served_again(demo.folder) as url, chromium() as browser:
        with watched(browser) as window:
            found = kinds_of_pages(window, url)
            wrong = []
            for path in found.values():
                window.open(url + path)
                if shut_out := barriers(window.page):
                    wrong.append((path, shut_out))
            assert window.faults == []
        assert wrong == []
        assert found.keys() >= KINDS
        with watched(browser, "dark", NARROW, scripts=False) as window:
            for kind, path in found.items():
                window.open(url + path)
                assert window.page.locator("h1").inner_text(), kind
            assert window.faults == []


KINDS = {
    "/",
    "/runs/*",
    "/runs/*/rounds",
    "/runs/*/rounds/*",
    "/peers/*",
    "/leaderboard",
    "/quarantine",
    "/entries",
    "/entries/*",
    "/status",
    "/about",
}
"""Kinds of pages that links lead to, starting from the first page."""
_NAMES = re.compile(r"(?<=/)(?:[A-Za-z0-9_-]{43}|\d+)(?=/|$)")
_STILL = ("/static/", "/v1/", "/log/", "/openapi", "/metrics", "/healthz")
"""Prefixes of paths that are not pages."""


def kinds_of_pages(window: WatchedPage, url: str) -> dict[str, str]:
    """Follow links to one page of each kind; a kind's names and numbers are stars."""
    found = {"/": "/"}
    waiting = ["/"]
    while waiting:
        window.open(url + waiting.pop())
        links = window.page.locator("a[href^='/']").all()
        for path in [urlsplit(one.get_attribute("href") or "").path for one in links]:
            kind = _NAMES.sub("*", path)
            is_page = not path.startswith(_STILL) and not path.endswith(".atom")
            if kind not in found and is_page:
                found[kind] = path
                waiting.append(path)
    return found


@contextmanager
def served_again(folder: Path) -> Iterator[str]:
    """Serve the ledger that the demo left behind."""
    command = programs.ledger_command(folder / "ledger", 0, "A" * 43)
    with subprocess.Popen(
        [*command[: command.index("--organiser")], "--log-json"], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            started = process.stderr.readline()
            assert "url" in started, started + process.stderr.read()
            yield json.loads(started)["url"]
        finally:
            process.terminate()
