"""Figures that do not follow from the log, in the tables of a ledger: real programs, real HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tests.support import forged_tables
from tests.support.attack_table import attack
from tests.support.forged_tables import FORGERIES, Forgery, copied
from tests.support.forked_program import CLIENT, LEDGER, run_forked
from tests.support.ledgers import UNLIMITED, served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.ledgers import Served

FORGED = pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES)
SHOWN_BY_API = pytest.mark.parametrize(
    "forged",
    [one for one in FORGERIES.values() if one.is_in_api],
    ids=[name for name, one in FORGERIES.items() if one.is_in_api],
)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger") / "lived"
    forged_tables.lived_through(folder)
    return folder


def audit(ledger: Served) -> tuple[int, str]:
    done = run_forked(CLIENT, "audit", "--ledger", ledger.url, "--from-log-only", timeout_s=60)
    return done.returncode, done.stdout + done.stderr


def monitor(ledger: Served, folder: Path) -> tuple[int, str]:
    words = ("monitor", ledger.url, "--dir", str(folder), "--once")
    done = run_forked(LEDGER, *words, timeout_s=60)
    return done.returncode, done.stdout + done.stderr


def test_an_honest_ledger_passes_audit_and_monitor(history: Path, tmp_path: Path) -> None:
    with served(copied(history, tmp_path / "ledger"), *UNLIMITED) as ledger:
        status, printed = audit(ledger)
        assert status == 0, printed
        status, printed = monitor(ledger, tmp_path / "monitor")
        assert status == 0, printed


@attack("L10", layer="log", ends="an auditor and a monitor name the figure and what the log says")
@SHOWN_BY_API
def test_an_audit_and_a_monitor_find_a_forged_figure(
    history: Path, tmp_path: Path, forged: Forgery
) -> None:
    folder = copied(history, tmp_path / "ledger", forged)
    with served(folder, *UNLIMITED) as ledger:
        status, printed = audit(ledger)
        assert status == 2, printed
        status, printed = monitor(ledger, tmp_path / "monitor")
        assert status == 2, printed
        assert (tmp_path / "monitor" / "alarms").exists()


@attack("L10", layer="log", ends="the ledger finds it, says so, and shows the figure nowhere")
@FORGED
def test_a_ledger_started_over_a_forged_figure_does_not_show_it(
    history: Path, tmp_path: Path, forged: Forgery
) -> None:
    with served(copied(history, tmp_path / "ledger", forged), *UNLIMITED) as ledger:
        health = httpx.get(f"{ledger.url}/healthz", timeout=30)
        assert health.json()["status"] == "damaged"
