"""Snapshots: a start from one is the start from entry 0, and one that is wrong is not used."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text
from structlog.testing import CapturingLogger

from tequio_ledger.log import documents, snapshots
from tequio_ledger.log.snapshots import newest_start
from tequio_ledger.store import log_rows
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import Digest, digest_from_text, sha256, to_text
from tequio_shared.limits import SNAPSHOT_ENTRIES
from tequio_shared.served import snapshot
from tequio_shared.served.state import State
from tequio_shared.statements.statement import Entry
from tests.ledger import test_replay
from tests.ledger.log.test_coordinator import LedgerSwarm
from tests.ledger.log.test_sequencer_keys import live
from tests.support import ledgers
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.sample_competitions import SampleCompetitions
from tests.support.snapshots import (
    author_of,
    due_for_snapshot,
    grow,
    state_snapshot,
    until_stated,
    with_snapshot,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tests.support.postgres import Cluster

CLOCK = VirtualClock()


@pytest.fixture(scope="module")
def due(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger whose first snapshot is due."""
    folder = tmp_path_factory.mktemp("due")
    due_for_snapshot(folder, CLOCK)
    return folder


@pytest.fixture(scope="module")
def made(due: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Digest]:
    """A folder with a ledger that has logged a snapshot, and the snapshot's name."""
    folder = shutil.copytree(due, tmp_path_factory.mktemp("made") / "ledger")
    return folder, state_snapshot(folder, CLOCK)


@pytest.fixture(scope="module")
def made_on_postgresql(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Digest, str]:
    """The same on PostgreSQL, with the URL of its database."""
    folder, url = tmp_path_factory.mktemp("made on postgresql"), cluster.database()
    with on_database(folder, url):
        return folder, with_snapshot(folder, CLOCK), url


@pytest.fixture
def folder(made: tuple[Path, Digest], tmp_path: Path) -> Path:
    """A copy of the folder on SQLite."""
    return shutil.copytree(made[0], tmp_path / "copy")


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, Digest]]:
    """A copy of either, and the snapshot's name."""
    if request.param == "sqlite":
        made, named = request.getfixturevalue("made")
        yield shutil.copytree(made, tmp_path / "copy"), named
        return
    made, named, url = request.getfixturevalue("made_on_postgresql")
    folder = shutil.copytree(made, tmp_path / "copy")
    with on_database(folder, request.getfixturevalue("cluster").database(url)):
        yield folder, named


@contextmanager
def on_database(folder: Path, url: str) -> Iterator[None]:
    """Let the ledger in this folder be in the database at a URL."""
    ledgers.DATABASES[folder] = url
    yield
    del ledgers.DATABASES[folder]


def replayed(ledger: Ledger) -> State:
    """Fold the stored log from its first entry."""
    state = State(ledger.genesis, ledger.blobs.read)
    with ledger.database.reader.begin() as connection:
        for row in log_rows.each_entry(connection, 0, ledger.log.size):
            state.apply(row.index, Entry.parse(row.leaf), row.at_ms)
    return state


def test_a_start_from_a_snapshot_is_the_start_from_entry_0(either: tuple[Path, Digest]) -> None:
    folder, named = either
    with opened(make_settings(folder), CLOCK) as ledger:
        start = newest_start(ledger.database, ledger.genesis, ledger.blobs)
        assert start.tree.size >= SNAPSHOT_ENTRIES
        assert sha256(snapshot.encode(start.state, start.tree.size)) == named
        size = ledger.log.size
        assert snapshot.encode(ledger.state, size) == snapshot.encode(replayed(ledger), size)


def test_a_start_continues_a_round_in_progress_with_its_times_of_arrival(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(_train(ledger, clock))
        (view,) = ledger.state.runs.values()
        assert view.round is not None
        times = {slot: one.at_ms for slot, one in view.round.commitments.items()}
        assert times
        assert set(times.values()) == {clock()}
        size = ledger.log.size
        raw = snapshot.encode(ledger.state, size)
        with ledger.database.reader.begin() as connection:
            state, _ = snapshot.decode(
                raw,
                ledger.genesis,
                ledger.blobs.read,
                arrival_ms=partial(log_rows.arrival_ms, connection),
            )
        (again,) = state.runs.values()
        assert again.round == view.round


async def _train(ledger: Ledger, clock: VirtualClock) -> None:
    async with running(ledger):
        swarm = LedgerSwarm(ledger, clock)
        await swarm.open()
        await swarm.start_round(*swarm.peers[:3])
        await swarm.post([peer.commit() for peer in swarm.peers[:2]])


@pytest.mark.parametrize("what", ["missing", "damaged"])
def test_a_start_without_the_bytes_folds_the_whole_log(
    folder: Path, made: tuple[Path, Digest], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = made[1]
    with opened(make_settings(folder), CLOCK) as ledger:
        path, before = ledger.blobs.path(named), ledger.log.published
        expected = sha256(snapshot.encode(ledger.state, ledger.log.size))
    path.unlink()
    if what == "damaged":
        path.write_bytes(b"something else")
    logged = CapturingLogger()  # a logger that is in use already is not caught by `capture_logs`
    monkeypatch.setattr(snapshots, "log", logged)
    with opened(make_settings(folder), CLOCK) as ledger:
        assert ledger.log.published == before
        assert sha256(snapshot.encode(ledger.state, ledger.log.size)) == expected
    assert f"blob {named.hex()} is missing or damaged" in str(logged.calls)


def test_a_statement_that_was_changed_in_the_database_is_not_begun_from(folder: Path) -> None:
    with opened(make_settings(folder), CLOCK) as ledger:
        (stated,) = ledger.state.snapshots.stated
        lie = sha256(b"another state")
        with ledger.database.writer.begin() as connection:
            query = text("SELECT leaf FROM log_entry WHERE idx = :at")
            leaf = connection.execute(query, {"at": stated.index}).scalar_one()
            changed = bytes(leaf).replace(to_text(stated.digest).encode(), to_text(lie).encode())
            connection.execute(
                text("UPDATE log_entry SET leaf = :leaf WHERE idx = :at"),
                {"leaf": changed, "at": stated.index},
            )
        start = newest_start(ledger.database, ledger.genesis, ledger.blobs)
        assert start.tree.size == 0
    damaged = pytest.raises(UserFacingError, match="the stored log is damaged")
    with damaged, opened(make_settings(folder), CLOCK):
        pass


def test_a_wrong_tile_before_the_snapshot_is_found_at_the_start(
    either: tuple[Path, Digest],
) -> None:
    folder, _ = either
    with opened(make_settings(folder), CLOCK) as ledger, ledger.database.writer.begin() as rows:
        tile = rows.execute(text("SELECT data FROM log_tile WHERE level = 1")).scalar_one()
        wrong = bytes([tile[0] ^ 1]) + bytes(tile[1:])
        rows.execute(text("UPDATE log_tile SET data = :data WHERE level = 1"), {"data": wrong})
    damaged = pytest.raises(UserFacingError, match="the stored log is damaged")
    with damaged, opened(make_settings(folder), CLOCK):
        pass


def test_killed_before_the_statement_a_ledger_makes_the_same_snapshot_again(
    due: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(due, tmp_path / "copy")
    with opened(make_settings(folder), CLOCK) as ledger:
        (size,) = ledger.state.snapshots.due
        body = ledger.snapshots.make(size)
        assert ledger.blobs.has(digest_from_text(body.state))
    with opened(make_settings(folder), CLOCK) as ledger:
        assert newest_start(ledger.database, ledger.genesis, ledger.blobs).tree.size == 0
        asyncio.run(until_stated(ledger))
        (stated,) = ledger.state.snapshots.stated
        assert (stated.size, to_text(stated.digest)) == (body.size, body.state)


def test_no_snapshot_is_made_without_a_document_that_the_log_names(tmp_path: Path) -> None:
    with opened(make_settings(tmp_path), test_replay.CLOCK) as ledger:
        asyncio.run(test_replay.live_through(ledger))
        with ledger.database.reader.begin() as connection:
            *_, (_, digest) = documents.documents(connection)
        ledger.blobs.path(digest).unlink()
        with pytest.raises(UserFacingError, match=f"blob {digest.hex()}, .* is missing or damaged"):
            ledger.snapshots.make(ledger.log.size)


def test_after_one_that_is_too_large_no_snapshot_is_tried_again_and_health_tells(
    due: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, sizes, encoded = shutil.copytree(due, tmp_path / "copy"), list[int](), snapshot.encode
    monkeypatch.setattr(snapshots, "BLOB_BYTES", 100)
    monkeypatch.setattr(snapshots, "RETRY_S", 0.0)
    monkeypatch.setattr(snapshots, "CHECK_S", 0.0)

    def encode(state: State, size: int) -> bytes:
        sizes.append(size)
        return encoded(state, size)

    async def until_given_up(ledger: Ledger) -> None:
        async with asyncio.timeout(120), running(ledger):
            while ledger.health().status == "ok" and len(sizes) < 2:
                await ledger.sequencer.changed.wait(0.05)
            await ledger.sequencer.changed.wait(0.2)

    with opened(make_settings(folder), CLOCK) as ledger:
        monkeypatch.setattr(snapshot, "encode", encode)
        asyncio.run(until_given_up(ledger))
        assert len(sizes) == 1
        assert ledger.health().status == "no-snapshots"
        assert "of which at most 100 can be stored" in (ledger.health().detail or "")


def test_only_the_last_two_snapshots_are_stored(folder: Path) -> None:
    async def make_two_more(ledger: Ledger) -> None:
        for count in (2, 3):
            grow(ledger, CLOCK, SNAPSHOT_ENTRIES, author_of(ledger))
            await until_stated(ledger, count)

    with opened(make_settings(folder), CLOCK) as ledger:
        asyncio.run(make_two_more(ledger))
        stated = ledger.state.snapshots.stated
        assert [ledger.blobs.has(one.digest) for one in stated] == [False, True, True]
        sizes = [one.size for one in stated]
        assert sizes == sorted(sizes)


def played_competitions(ledger: Ledger, clock: VirtualClock) -> Awaitable[object]:
    return SampleCompetitions(ledger, clock).live()


@pytest.mark.parametrize("play", [live, played_competitions])
def test_the_logs_of_ended_keys_and_of_competitions_lead_to_the_same_state_from_any_entry(
    tmp_path: Path, play: Callable[[Ledger, VirtualClock], Awaitable[object]]
) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger) -> None:
        async with running(ledger):
            await play(ledger, clock)

    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(run(ledger))
        with ledger.database.reader.begin() as connection:
            rows = list(log_rows.each_entry(connection, 0, ledger.log.size))
        state = going_on = State(ledger.genesis, ledger.blobs.read)
        for row in rows:
            entry = Entry.parse(row.leaf)
            state.apply(row.index, entry, row.at_ms)
            if going_on is not state:
                going_on.apply(row.index, entry, row.at_ms)
            raw = snapshot.encode(state, row.index + 1)
            assert snapshot.encode(going_on, row.index + 1) == raw, row.index
            if row.index % 7 == 0:
                going_on, _ = snapshot.decode(raw, ledger.genesis, ledger.blobs.read)
        assert state.competitions.views or state.links.replaced
        for name in snapshot.PARTS:
            assert getattr(going_on, name) == getattr(state, name), name
