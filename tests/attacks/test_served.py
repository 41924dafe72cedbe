"""Figures that do not follow from the log, in the tables of a ledger: real programs, real HTTP."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import msgspec
import pytest
from structlog.testing import capture_logs

from tests.support import forged_tables
from tests.support.attack_table import attack
from tests.support.forged_tables import FORGERIES, TRUSTING, Forgery, copied, forge
from tests.support.forked_program import CLIENT, LEDGER, run_forked
from tests.support.ledgers import UNLIMITED, VirtualClock, make_settings, opened, served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.ledgers import Served

PATIENCE_S = 30.0
NETWORK = ("--network", "test", "--origin", "ledger.example/test")
LEADERBOARD, WITHHELD = "/leaderboard", "These figures are withheld"
IN_ANSWERS = {name: one for name, one in FORGERIES.items() if one.answer}
IN_TABLES = pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Findings of an audit and of a monitor about one ledger."""

    audited: str
    watched: str


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger") / "lived"
    forged_tables.lived_through(folder)
    return folder


def check(ledger: Served, folder: Path) -> tuple[int, int, Checked]:
    """Run `tequio audit` and `tequio-ledger monitor`; their exit statuses and findings."""
    audit = run_forked(CLIENT, "audit", "--ledger", ledger.url, "--from-log-only", timeout_s=60)
    words = ("monitor", ledger.url, "--dir", str(folder / "monitor"), "--once")
    monitor = run_forked(LEDGER, *words, timeout_s=60)
    alarms = [msgspec.json.decode(one.read_bytes()) for one in folder.glob("monitor/alarms/*")]
    lines = [line for alarm in alarms for line in alarm["differences"]]
    printed = Checked(audited=audit.stdout + audit.stderr, watched="\n".join(lines))
    assert "Traceback" not in monitor.stderr + printed.audited
    return audit.returncode, monitor.returncode, printed


def test_an_honest_ledger_passes_audit_and_monitor(history: Path, tmp_path: Path) -> None:
    with served(copied(history, tmp_path / "ledger"), *UNLIMITED) as ledger:
        *statuses, printed = check(ledger, tmp_path)
        assert statuses == [0, 0], printed
        assert httpx.get(f"{ledger.url}/healthz", timeout=30).json() == {"status": "ok"}


@pytest.fixture(scope="module")
def dishonest(history: Path, tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """All forgeries at once, at a ledger that does not check its tables."""
    folder = tmp_path_factory.mktemp("dishonest")
    forged = copied(history, folder / "ledger", *FORGERIES.values())
    with served(forged, *UNLIMITED, setup=TRUSTING) as ledger:
        *statuses, printed = check(ledger, folder)
        assert statuses == [2, 2]
        return printed


@attack("L10", layer="log", ends="an audit and a monitor name the figure and what the log says")
@pytest.mark.parametrize("forged", IN_ANSWERS.values(), ids=IN_ANSWERS)
def test_an_audit_and_a_monitor_find_a_forged_figure(dishonest: Checked, forged: Forgery) -> None:
    assert re.search(forged.answer, dishonest.audited), dishonest.audited
    assert re.search(forged.answer, dishonest.watched), dishonest.watched


@pytest.fixture(scope="module")
def reported(history: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The wrong rows that a ledger reports when it starts over all forgeries at once."""
    folder = tmp_path_factory.mktemp("careful")
    forged = copied(history, folder / "ledger", *FORGERIES.values())
    clock = VirtualClock(time.time_ns() // 1_000_000)
    with capture_logs() as events, opened(make_settings(forged), clock) as ledger:
        assert ledger.health().status == "damaged"
        # Without a limit, for a machine on which the start's second is not enough.
        ledger.tables.start(ledger.state, ledger.log.published, PATIENCE_S)
    wrong = [one for one in events if one["event"] == "a row does not follow from the log"]
    assert all(one["stored"] != one["due"] for one in wrong)
    return [f"{one['table']} {one['row']} {one['column']}" for one in wrong]


@attack("L10", layer="log", ends="the ledger's log names table, row, stored and correct value")
@IN_TABLES
def test_a_ledger_finds_a_forged_figure_in_its_tables(reported: list[str], forged: Forgery) -> None:
    assert any(re.match(f"{forged.table} {forged.event}", one) for one in reported), reported


def wait_for_damage(ledger: Served) -> httpx.Response:
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        health = httpx.get(f"{ledger.url}/healthz", timeout=30)
        if health.json()["status"] == "damaged" or time.monotonic() > deadline_s:
            return health
        time.sleep(0.1)


@attack("L10", layer="log", ends="the ledger starts, says so, and shows the figure nowhere")
@pytest.mark.parametrize(
    "name", ["a key that is not in the log at rank 1", "a round missing from a key's list"]
)
def test_a_ledger_withholds_what_is_made_from_a_forged_table(
    history: Path, tmp_path: Path, name: str
) -> None:
    forged = FORGERIES[name]
    with served(copied(history, tmp_path / "ledger", forged), *UNLIMITED) as ledger:
        health = httpx.get(f"{ledger.url}/healthz", timeout=30)
        assert (health.status_code, health.json()["status"]) == (503, "damaged")
        assert f"table {forged.table}" in health.json()["detail"]
        run = httpx.get(f"{ledger.url}/v1/runs", timeout=30).json()["runs"][0]["run"]
        key = key_of(ledger, forged)
        withheld = {"peer": ("/v1/ranking", "/v1/peers"), "attended": (f"/v1/peers/{key}/rounds",)}
        for path in withheld[forged.table]:
            answer = httpx.get(f"{ledger.url}{path}", timeout=30)
            assert (answer.status_code, answer.json()["type"][-8:]) == (503, ":damaged"), path
        page = LEADERBOARD if forged.table == "peer" else f"/peers/{key}"
        shown = httpx.get(f"{ledger.url}{page}", timeout=30, headers={"accept": "text/html"})
        assert shown.status_code == 503
        assert WITHHELD in shown.text
        # What is not made from that table is served as before.
        for path in (f"/v1/peers/{key}", f"/v1/runs/{run}/rounds", "/log/checkpoint", "/entries"):
            assert httpx.get(f"{ledger.url}{path}", timeout=30).status_code == 200, path


def key_of(ledger: Served, forged: Forgery) -> str:
    """Give a registered key, from an answer that does not depend on the forged table."""
    path = "/v1/quarantine" if forged.table == "attended" else "/v1/network"
    answer = httpx.get(f"{ledger.url}{path}", timeout=30).json()
    return str(answer["coordinator"] if forged.table == "peer" else answer["peers"][0]["key"])


@attack("L10", layer="log", ends="found while the ledger serves, and mended by a replay")
def test_a_row_that_is_changed_while_the_ledger_serves_is_found_and_a_replay_mends_it(
    history: Path, tmp_path: Path
) -> None:
    folder = copied(history, tmp_path / "ledger")
    with served(folder, *UNLIMITED) as ledger:
        assert httpx.get(f"{ledger.url}/healthz", timeout=30).json() == {"status": "ok"}
        forge(folder, FORGERIES["a wrong loss"])
        health = wait_for_damage(ledger).json()
        assert "loss_q16" in health["detail"]
        assert "tequio-ledger replay" in health["detail"]
    done = run_forked(LEDGER, "replay", "--dir", str(folder), *NETWORK, timeout_s=60)
    assert done.returncode == 0, done.stderr
    with served(folder, *UNLIMITED) as ledger:
        assert httpx.get(f"{ledger.url}/healthz", timeout=30).json() == {"status": "ok"}
