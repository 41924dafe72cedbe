"""The worker program as a volunteer meets it: what it cannot do it says, and it stops when told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tequio_client.keys import identity
from tequio_client.organiser import opening
from tequio_client.worker.main import NUMBERING
from tests.support.forked_program import CLIENT, ForkedProgram
from tests.support.ledgers import ORGANISER, served
from tests.support.plans import PLAN, write_plan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("network")


@pytest.fixture(scope="module")
def ledger(place: Path) -> Iterator[str]:
    """A ledger with one open run, named tiny."""
    plan = write_plan(place)
    home = place / "organiser"
    home.mkdir()
    (home / identity.KEY_FILE).touch(0o600)
    (home / identity.KEY_FILE).write_bytes(ORGANISER.seed)
    with served(place / "ledger") as program:
        opening.open_run(plan, program.url, home, place / "seed")
        yield program.url


LEAVE_AT_ONCE = """
import sys
from pathlib import Path
from tequio_client.worker import main
from tequio_client.worker.children.trainer import trainer_environment
from tequio_client.worker.settings import NetSettings, WorkerSettings

folder = Path(sys.argv[1])
net = NetSettings(ledger="http://127.0.0.1:9", folder=folder)
main.run(WorkerSettings(net=net, applies_preferences=True, is_linked=True))
(folder / "variables").write_text(" ".join(trainer_environment(folder, "cuda:0")))
"""
"""A worker whose app has gone, and the variables of the trainer that it would start."""


def start(ledger: str, folder: Path, *options: str) -> ForkedProgram:
    where = ("--ledger", ledger, "--dir", str(folder), "--listen", "/ip4/127.0.0.1/tcp/0")
    return ForkedProgram(CLIENT, "worker", *where, *options, stderr=subprocess.PIPE)


def said(worker: ForkedProgram) -> tuple[int, list[str]]:
    """Exit status, and the lines on standard error."""
    _, text = worker.communicate(timeout=60)
    return worker.wait(), text.strip().splitlines()


def test_a_missing_device_is_said_once_and_ends_the_worker(ledger: str, tmp_path: Path) -> None:
    status, lines = said(start(ledger, tmp_path, "--device", "cuda:99"))
    assert status == 1
    assert lines[-1].startswith("tequio: this computer cannot train the run: ")
    assert "cuda:99" in lines[-1]
    assert not any("Traceback" in line for line in lines), "\n".join(lines)
    assert sum("trainer started" in line for line in lines) == 1


def test_an_unknown_run_is_told_with_those_that_are_open(ledger: str, tmp_path: Path) -> None:
    status, lines = said(start(ledger, tmp_path, "--run", "tony", "--log-level", "error"))
    assert status == 1
    (line,) = lines
    assert line.startswith("tequio: no run 'tony'; open runs: tiny (")


def test_a_trainer_numbers_the_cards_as_the_probe_does(tmp_path: Path) -> None:
    """Else the rules would watch one card, and another would be lent."""
    ended = subprocess.run(
        [sys.executable, "-c", LEAVE_AT_ONCE, str(tmp_path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "CUDA_CACHE_MAXSIZE": "9", **dict.fromkeys(NUMBERING, "1")},
        check=True,
    )
    passed = (tmp_path / "variables").read_text().split()
    assert "CUDA_CACHE_MAXSIZE" in passed
    assert not set(NUMBERING) & set(passed)
    assert "CUDA_VISIBLE_DEVICES" in ended.stdout, "its user is told"


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(ledger: str, tmp_path: Path, number: int) -> None:
    worker = start(ledger, tmp_path, "--log-json")
    assert worker.stderr is not None
    for line in worker.stderr:
        if '"run joined"' in line:
            break
    worker.send_signal(number)
    assert worker.wait(5) == 0
    worker.stderr.close()


def test_of_several_open_runs_one_must_be_chosen(ledger: str, place: Path, tmp_path: Path) -> None:
    plan = place / "second.toml"
    plan.write_text(PLAN.replace("tiny", "second"))
    opening.open_run(plan, ledger, place / "organiser", place / "seed")
    status, lines = said(start(ledger, tmp_path, "--log-level", "error"))
    assert status == 1
    (line,) = lines
    assert "several runs are open: tiny (" in line
    assert "--run" in line
