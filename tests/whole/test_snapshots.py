"""Every reader of a whole log finds a snapshot that does not follow from it."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio
from structlog.testing import CapturingLogger

from tequio_client.platform.programs import tequio
from tequio_client.verify.audit import AuditOptions, audit_live
from tequio_client.verify.report import AuditGrade, NoProgress
from tequio_ledger.log import snapshots
from tequio_ledger.monitor.alarms import AlarmKind, Alarms, FoundError
from tequio_ledger.monitor.mirror import Mirror
from tequio_ledger.monitor.remote import RemoteLedger
from tequio_ledger.monitor.watch import Watch
from tequio_shared.ids import from_text
from tequio_shared.limits import SNAPSHOT_ENTRIES
from tequio_shared.network.genesis import Genesis
from tests.support.authors import Author
from tests.support.ledgers import Served, VirtualClock, make_settings, opened, served
from tests.support.real_network import PATIENCE_S, running_network, start_with_trainers
from tests.support.small_network import found
from tests.support.snapshots import grow, until_stated, with_snapshot, with_wrong_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.verify.report import LogReport
    from tequio_shared.statements.network import LogSnapshot

DAY_MS = 86_400_000


def yesterday() -> VirtualClock:
    """A clock that a program started now has already passed."""
    return VirtualClock(time.time_ns() // 1_000_000 - DAY_MS)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("honest")
    with_snapshot(folder, yesterday())
    with served(folder) as program:
        yield program


@pytest.fixture(scope="module")
def lying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, LogSnapshot]]:
    folder = tmp_path_factory.mktemp("lying")
    wrong = with_wrong_snapshot(folder, yesterday())
    with served(folder) as program:
        yield program, wrong


def audited(url: str) -> LogReport:
    work = partial(audit_live, url, AuditOptions(), cache=None, progress=NoProgress())
    return trio.run(work)


@contextmanager
def watching(url: str, folder: Path) -> Iterator[Watch]:
    clock = yesterday()
    folder.mkdir(exist_ok=True)
    with RemoteLedger(url) as remote:
        genesis = Genesis.parse(from_text(remote.ask("/v1/network")["genesis"], None))

        def open_mirror() -> Mirror:
            mirror = Mirror(folder, genesis, remote.blob, clock)
            mirror.load()
            return mirror

        alarms = Alarms(folder / "alarms", url, clock)
        with closing(Watch(remote, open_mirror, alarms, None, clock)) as watch:
            yield watch


def test_an_audit_repeats_an_honest_ledgers_snapshot(honest: Served) -> None:
    report = audited(honest.url)
    assert report.findings == []
    assert report.checked["snapshots"] == 1


def test_an_audit_names_the_entry_of_a_wrong_snapshot_and_the_right_hash(
    lying: tuple[Served, LogSnapshot],
) -> None:
    program, wrong = lying
    (finding,) = audited(program.url).findings
    assert (finding.grade, finding.what) == (AuditGrade.MISMATCH, "snapshot")
    assert finding.place.entry == wrong.size + 1
    assert finding.found == wrong.state
    assert finding.expected != wrong.state
    assert finding.detail == f"the state after {wrong.size} entries is another one"


def test_a_monitor_rings_for_a_wrong_snapshot_with_the_entry_as_evidence(
    lying: tuple[Served, LogSnapshot], tmp_path: Path
) -> None:
    program, wrong = lying
    with watching(program.url, tmp_path / "m") as watch:
        with pytest.raises(FoundError) as caught:
            watch.check()
        alarm = caught.value.alarm
        assert alarm.kind is AlarmKind.RULES
        assert f"names {wrong.state} as the state after {wrong.size} entries" in alarm.why
        assert list(alarm.entries) == [str(wrong.size + 1)]


def test_a_monitor_starts_again_at_its_own_snapshot(
    honest: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watching(honest.url, tmp_path / "m") as watch:
        watch.check()
        size, root = watch.mirror.size, watch.mirror.root
    logged = CapturingLogger()  # a logger that is in use already is not caught by `capture_logs`
    monkeypatch.setattr(snapshots, "log", logged)
    with watching(honest.url, tmp_path / "m") as watch:
        assert ("begins at a snapshot",) in [call.args for call in logged.calls]
        assert (watch.mirror.size, watch.mirror.root) == (size, root)
        watch.check()


@pytest.mark.whole
@pytest.mark.trio
async def test_a_seed_begins_at_a_snapshot_and_caches_its_runs(tmp_path: Path) -> None:
    with trio.fail_after(300):
        async with running_network(tmp_path, start_with_trainers) as stage:
            organiser = await found(stage)
            (ledger,) = stage.actors
            ledger.send(signal.SIGTERM)
            await ledger.wait_ended(PATIENCE_S)
            size = await trio.to_thread.run_sync(_grow, tmp_path / "ledger")
            await stage.ledger(organiser)
            (tmp_path / "other").mkdir()
            seed = stage.start("other", tequio("seed", *stage.node_options("other")))
            await stage.until("the seed logs", seed.program.log.exists)
            await stage.until("it caches the run", lambda: any(seed.events("caching run")))
            (begun,) = seed.events("begins at a snapshot")
            assert (begun["runs"], begun["entries"]) == (1, size)


def _grow(folder: Path) -> int:
    """Let a stopped ledger's log grow until it names a snapshot; gives the size of that one."""
    clock = yesterday()
    clock.pass_ms(DAY_MS)
    settings = make_settings(folder, network="demo")
    with opened(settings, clock) as ledger:
        grow(ledger, clock, SNAPSHOT_ENTRIES, Author("ana", ledger.genesis.network_id))
        asyncio.run(until_stated(ledger))
        (stated,) = ledger.state.snapshots.stated
        return stated.size
