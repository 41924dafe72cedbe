"""A worker killed at every moment that matters, in one run with a real ledger and a real peer.

The worker is the real program (`tests.support.killable_worker` kills it from outside its code),
its trainer
a light one that shows from which error feedback it started. Each life begins in the folder that
the last one left, and ends by SIGKILL at the next moment of the table.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import IO, TYPE_CHECKING

import psutil
import pytest
import trio

from tequio_client.demo.programs import free_port
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import opening
from tequio_shared.head.contribution import ContributionHeader, contribution_id, payload_root
from tequio_shared.ids import digest_from_text, from_text, peer_id_text, to_text
from tequio_shared.round.documents import RoundResult
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.proof import Verdict
from tequio_shared.statements.network import MemberLeave
from tequio_shared.statements.runs import RoundClose, RoundVoid, WorkCommit
from tests.support import killable_worker, ledgers, synthetic_trainer
from tests.support.attack_table import attack
from tests.support.forked_program import ForkedProgram
from tests.support.history import LogHistory
from tests.support.plans import PLAN, write_plan
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tequio_shared.statements.statement import Entry


pytestmark = [pytest.mark.whole, pytest.mark.trio, pytest.mark.skipif("sys.platform == 'win32'")]

PATIENCE_S = 120.0
WHOLE_S = 600.0
CLOCKWORK = """
[inner]
steps = 2

[windows]
first = 2
most = 2

[audit]
newcomers = 0
others = 0
[rounds]
min_members = 2
warmup_s = 0.2
train_s = 200.0
train_limit_s = 200.0
witness_s = 200.0
grace_s = 0.2
attest_s = 200.0
cooldown_s = 20.0
most = 500
"""
TRAINED = (
    "feedback noted",
    "commitment to be kept",
    "commitment on disk",
    "signed, not kept",
    "signed copy kept",
    "sent, answer lost",
    "answer not noted",
    "commitment settled",
)
"""Moments from which on a worker does not train again in that round."""


@dataclass
class KilledWorkers:
    """A folder with a ledger, an open run, and the folders of two workers: ana and bo."""

    folder: Path
    port: int = field(default_factory=free_port)
    bo_port: int = field(default_factory=free_port)
    ledger: ledgers.Process | None = None
    workers: list[ForkedProgram] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where the ledger is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def journal(self) -> Path:
        """Folder with records of what ana signed and trained, and of each kill."""
        return self.folder / "journal-ana"

    def start_ledger(self) -> None:
        """Start it, on its old folder if there is one; returns when it answers."""
        self.ledger = ledgers.start(self.folder / "ledger", "--port", str(self.port))
        assert self.ledger.stderr is not None
        assert self.ledger.stderr.readline().startswith("{")
        log = self.folder / "ledger.log"
        threading.Thread(target=_copy, args=(self.ledger.stderr, log), daemon=True).start()

    def found(self) -> None:
        """Open the run and give both workers its first head and data."""
        plan = write_plan(self.folder)
        plan.write_text(PLAN + CLOCKWORK)
        home = self.folder / "organiser"
        home.mkdir(mode=0o700)
        (home / identity.KEY_FILE).touch(0o600)
        (home / identity.KEY_FILE).write_bytes(ledgers.ORGANISER.seed)
        opening.open_run(plan, self.url, home, self.folder / "seed")
        for name in ("ana", "bo"):
            (self.folder / name).mkdir(mode=0o700)
            shutil.copytree(self.folder / "seed" / "store", self.folder / name / "store")

    def key(self, name: str) -> str:
        """The public key of a worker."""
        return to_text(identity.load_or_create(self.folder / name).key)

    async def start(self, name: str, moment: str = "never") -> ForkedProgram:
        """Start a worker that lives until that moment."""
        bo = peer_id_text(identity.load_or_create(self.folder / "bo").key)
        port = self.bo_port if name == "bo" else 0
        options = ["--ledger", self.url, "--dir", str(self.folder / name), "--log-json"]
        options += ["--listen", f"/ip4/127.0.0.1/tcp/{port}"]
        if name != "bo":
            options += ["--peer", f"/ip4/127.0.0.1/tcp/{self.bo_port}/p2p/{bo}"]
        journal, log = self.folder / f"journal-{name}", self.folder / f"{name}.log"
        worker = await trio.to_thread.run_sync(
            partial(killable_worker.start, journal, moment, log, "worker", *options)
        )
        self.workers.append(worker)
        return worker

    def diary(self) -> list[str]:
        """Lines that all of ana's processes have written so far."""
        path = self.journal / "diary"
        return path.read_text().splitlines() if path.exists() else []

    def print_logs(self) -> None:
        """Print the end of every log."""
        for log in self.folder.glob("*.log"):
            sys.stderr.write(f"--- {log.name}\n{log.read_text()[-6000:]}\n")

    def end(self) -> None:
        """End what still runs."""
        for worker in self.workers:
            worker.kill()
            worker.wait()
        if self.ledger is not None:
            self.ledger.kill()
            self.ledger.wait()


def _copy(lines: IO[str], path: Path) -> None:
    with lines, path.open("a") as log:
        log.writelines(lines)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[KilledWorkers, LogHistory]]:
    place = KilledWorkers(folder)
    place.start_ledger()
    try:
        await trio.to_thread.run_sync(place.found)
        async with LedgerApi(place.url) as api:
            yield place, LogHistory(api)
    except BaseException:
        place.print_logs()
        raise
    finally:
        place.end()


async def ended(worker: ForkedProgram, what: str) -> int:
    """Wait for a worker's end; return its exit status."""
    try:
        return await trio.to_thread.run_sync(worker.wait, PATIENCE_S)
    except subprocess.TimeoutExpired as err:
        raise AssertionError(f"not within {PATIENCE_S:.0f} s: {what}") from err


async def until(what: str, holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something holds; raises AssertionError when it does not in time."""
    with trio.move_on_after(PATIENCE_S):
        while True:
            if await holds():
                return
            await trio.sleep(0.05)
    raise AssertionError(f"not within {PATIENCE_S:.0f} s: {what}")


async def until_closed(history: LogHistory, more: int) -> None:
    """Wait until `more` more rounds have closed."""
    await history.read()
    goal = len(history.rounds(RoundClose)) + more

    async def holds() -> bool:
        await history.read()
        return len(history.rounds(RoundClose)) >= goal

    await until(f"{goal} rounds closed", holds)


@attack(
    "M5", layer="cli", ends="continues with key, statements, work and feedback; sends nothing twice"
)
async def test_a_worker_killed_at_any_moment_goes_on_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    with trio.fail_after(WHOLE_S):
        async with opened(tmp_path) as (place, history):
            await place.start("bo")
            for moment in killable_worker.MOMENTS:
                ana = await place.start("ana", moment)
                status = await ended(ana, f"killed: {moment}")
                assert status == -signal.SIGKILL, f"{moment}: it ended with {status}"
            await _the_ledger_is_away_meanwhile(place, history)
            ana = await place.start("ana")
            await until_closed(history, 2)
            await _a_signal_ends_it(place, history, ana)
            assert not history.rounds(RoundVoid)
            _check_signed(killable_worker.signed(place.journal / "signed"))
            _check_diary(place.diary())
            _check_presence(place, history)
            await _check_feedback(place, history)


async def _the_ledger_is_away_meanwhile(place: KilledWorkers, history: LogHistory) -> None:
    """Killed with a signed commitment that was never sent; started while no ledger is there."""
    ana = await place.start("ana", "signed copy kept")
    assert await ended(ana, "signed") == -signal.SIGKILL
    word = [one for one in killable_worker.signed(place.journal / "signed") if _is_commitment(one)][
        -1
    ]
    assert place.ledger is not None
    place.ledger.kill()
    place.ledger.wait()
    ana = await place.start("ana", "commitment settled")
    await trio.sleep(3)  # the time that it is away
    place.start_ledger()
    assert await ended(ana, "committed") == -signal.SIGKILL
    await history.read()
    logged = history.statements_by(place.key("ana"), WorkCommit)[-1]
    assert logged.body == word.statement.body
    assert logged.round == word.statement.round


def _is_commitment(entry: Entry) -> bool:
    return isinstance(entry.statement.body, WorkCommit)


async def _a_signal_ends_it(place: KilledWorkers, history: LogHistory, ana: ForkedProgram) -> None:
    trainers = psutil.Process(ana.pid).children()
    assert len(trainers) == 1
    begun = time.monotonic()
    ana.terminate()
    assert await ended(ana, "ended by a signal") == 0
    assert time.monotonic() - begun < allowed_s(5)
    assert not trainers[0].is_running()
    await history.read()
    assert history.statements_by(place.key("ana"), MemberLeave)


def _check_signed(entries: list[Entry]) -> None:
    """One number, one statement; one round, one word of each type: whatever was signed at all."""
    by_number, by_round = defaultdict(set), defaultdict(set)
    for entry in entries:
        one = entry.statement
        if one.seq > 1:
            by_number[one.seq].add(one.digest)
        if one.round is not None:
            by_round[one.type, one.round].add(one.body)
    assert all(len(found) == 1 for found in by_number.values())
    assert all(len(found) == 1 for found in by_round.values())
    kinds = {kind for kind, _ in by_round} - {"head.measure"}  # who is drawn measures a head too
    assert kinds == {"head.attest", "work.commit", "witness.proof"}


def _check_diary(lines: list[str]) -> None:
    """Finished and recorded training is not repeated after a kill."""
    died = [line.removeprefix("died: ") for line in lines if line.startswith("died: ")]
    assert set(died) == set(killable_worker.MOMENTS)
    for at, line in enumerate(lines):
        if line.removeprefix("died: ") in TRAINED:
            last = next(one for one in reversed(lines[:at]) if one.startswith("trained "))
            assert last not in lines[at:], f"{last} after {line}"


def _check_presence(place: KilledWorkers, history: LogHistory) -> None:
    """Ana came back in time after each kill: she committed in every round that listed her."""
    ana = place.key("ana")
    for number in history.rounds(RoundClose):
        if ana in history.rosters[number]:
            assert ana in history.committed(number)


async def _check_feedback(place: KilledWorkers, history: LogHistory) -> None:
    """Every contribution started from what an uninterrupted trainer would have held back."""
    async with LedgerApi(place.url) as api:
        accepted = set()
        for _, body in history.all_of(RoundClose):
            raw = await api.get_blob(digest_from_text(body.result))
            assert raw is not None
            rows = RoundResult.parse(raw).slots
            accepted |= {row.contribution for row in rows if row.verdict == Verdict.ACCEPTED}
        (run,) = await api.runs()
        raw = await api.get_blob(digest_from_text(run.run))
    assert raw is not None
    manifest = Manifest.parse(raw)
    held_back, seen = b"", 0
    for one in history.statements_by(place.key("ana"), WorkCommit):
        assert isinstance(one.body, WorkCommit)
        header = ContributionHeader.parse(from_text(one.body.header, None))
        seed = synthetic_trainer.training_seed(
            run.run, header.round, to_text(header.base_head), place.key("ana"), held_back
        )
        payload = synthetic_trainer.payload_of(seed, manifest, header.k)
        shape = synthetic_trainer.shape_of(manifest, header.k)
        assert header.payload_root == payload_root(payload, shape), f"round {header.round}"
        if to_text(contribution_id(header.pack())) in accepted:
            held_back = synthetic_trainer.feedback_of(seed, manifest)
            seen += 1
    assert seen >= 3
