"""Processes that share a ledger: neither what another writes nor a lost connection ends one."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.log.clock_guard import ClockGuard
from tequio_ledger.log.documents import DocumentCache
from tequio_ledger.log.log import Log
from tequio_ledger.log.sequencer import ChangeSignal, Logged, Sequencer
from tequio_ledger.replicas import follower
from tequio_ledger.replicas.follower import Follower
from tequio_ledger.replicas.replica import SubmissionIntake
from tequio_ledger.signing import client
from tequio_ledger.store import submissions
from tequio_ledger.store.database import Database
from tequio_ledger.store.files import UnwritableError
from tequio_shared.errors import RefusedError, UserFacingError
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.served import snapshot
from tequio_shared.served.state import State
from tests.ledger.test_replay import CLOCK, live_through
from tests.support.authors import Author, newcomers
from tests.support.ledgers import VirtualClock, make_settings, opened, running

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from sqlalchemy import Connection

    from tequio_ledger.ledger import Ledger
    from tequio_shared.ids import Digest
    from tests.support.postgres import Cluster

REPLICA = b"another process!"
PATIENCE_S = 60
KEYS = ("log.key", "log.signed", "coordinator.key")
POISON = (b"\x00", b"\xff\xff too short", encode_bundle([b"no leaf at all"]), encode_bundle([b""]))


def put(ledger: Ledger, leaves: bytes) -> int:
    with ledger.database.writer.begin() as connection:
        return submissions.put(connection, REPLICA, leaves, ledger.clock())


async def answers(ledger: Ledger, numbers: set[int]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    async with asyncio.timeout(PATIENCE_S):
        while found.keys() != numbers:
            with ledger.database.writer.begin() as connection:
                found |= submissions.pop_answers(connection, REPLICA)
            await asyncio.sleep(0.01)
    return found


def test_a_row_that_no_process_wrote_so_is_refused_and_the_next_is_logged(tmp_path: Path) -> None:
    clock = VirtualClock()

    async def run(ledger: Ledger) -> tuple[list[bytes], bytes]:
        assert isinstance(ledger.sequencer, Sequencer)
        poison = [put(ledger, raw) for raw in POISON]
        entry = Author("passed on", ledger.genesis.network_id).register(clock())
        good = put(ledger, encode_bundle([entry.leaf()]))
        async with running(ledger):
            intake = SubmissionIntake(ledger.database, ledger.sequencer, clock)
            work = asyncio.create_task(intake.run())
            try:
                waiting = asyncio.create_task(answers(ledger, {*poison, good}))
                await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
                assert not work.done(), f"the intake ended: {work.exception()!r}"
                found = await waiting
            finally:
                work.cancel()
                waiting.cancel()
                with suppress(asyncio.CancelledError):
                    await work
        return [found[number] for number in poison], found[good]

    with opened(make_settings(tmp_path), clock) as ledger:
        refused, logged = asyncio.run(run(ledger))
    for said in refused:
        with pytest.raises(RefusedError) as told:
            follower.decode(said)
        assert told.value.code == "malformed"
    (outcome,) = follower.decode(logged)
    assert isinstance(outcome, Logged)


def test_what_was_answered_is_left_out_of_the_next_queries_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, ...]] = []
    waiting = submissions.waiting

    def recorded(connection: Connection, without: Collection[int], limit: int) -> dict[int, bytes]:
        asked.append(tuple(without))
        return waiting(connection, without, limit)

    monkeypatch.setattr(submissions, "waiting", recorded)
    clock = VirtualClock()

    async def run(ledger: Ledger) -> None:
        assert isinstance(ledger.sequencer, Sequencer)
        authors = [Author(f"passed on {at}", ledger.genesis.network_id) for at in range(3)]
        numbers = {put(ledger, encode_bundle([one.register(clock()).leaf()])) for one in authors}
        async with running(ledger):
            intake = SubmissionIntake(ledger.database, ledger.sequencer, clock)
            work = asyncio.create_task(intake.run())
            await answers(ledger, numbers)
            answered = len(asked)
            while len(asked) < answered + 3:  # noqa: ASYNC110 - queries of a thread
                await asyncio.sleep(0.01)
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    with opened(make_settings(tmp_path), clock) as ledger:
        asyncio.run(asyncio.wait_for(run(ledger), PATIENCE_S))
    assert asked[-1] == ()


def test_a_follower_whose_database_breaks_off_goes_on_with_the_entry_that_it_was_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
        documents, breaks = DocumentCache(ledger.blobs), [False, False, True]

        def read(digest: Digest) -> bytes:
            if breaks and breaks.pop(0):
                raise UnwritableError("the database does not answer")
            return documents.read(digest)

        log, state = ledger.log, State(ledger.genesis, read)
        signer = client.open_signer(DataFolder(tmp_path))
        copy = Log(ledger.database, ledger.genesis, signer, ledger.guard, CLOCK)
        one = Follower(copy, state, documents, ClockGuard(CLOCK), ChangeSignal())
        monkeypatch.setattr(
            ledger.database, "has_no_leader", lambda: one.published == log.published
        )
        asyncio.run(asyncio.wait_for(one.run(), PATIENCE_S))
        assert not breaks
        assert snapshot.encode(state, log.size) == snapshot.encode(ledger.state, log.size)


def test_a_follower_forwards_no_more_than_may_wait_and_takes_back_what_nobody_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "QUEUE_ENTRIES", 2)
    monkeypatch.setattr(follower, "ANSWER_S", 0.2)

    def waiting(ledger: Ledger) -> dict[int, bytes]:
        with ledger.database.writer.begin() as connection:
            return submissions.waiting(connection, (), 10)

    async def run(ledger: Ledger) -> None:
        one = Follower(
            ledger.log,
            State(ledger.genesis, DocumentCache(ledger.blobs).read),
            DocumentCache(ledger.blobs),
            ClockGuard(CLOCK),
            ChangeSignal(),
        )
        entries = newcomers("passed on", ledger.genesis.network_id, 3, CLOCK())
        first = asyncio.create_task(one.submit(entries[:2]))
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="2 statements are waiting") as full:
            await one.submit(entries[2:])
        with pytest.raises(RefusedError, match="no process writes the log now") as alone:
            await first
        assert (full.value.code, alone.value.code) == ("queue-full", "read-only")
        assert one.waiting == 0
        assert waiting(ledger) == {}

    with opened(make_settings(tmp_path), CLOCK) as ledger:
        asyncio.run(asyncio.wait_for(run(ledger), PATIENCE_S))


def test_a_second_ledger_without_a_place_for_blobs_does_not_start_beside_the_first(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tequio_ledger.ledger.FORMER_S", 0)
    url, (first, second) = cluster.database(), (tmp_path / "first", tmp_path / "second")

    def start_second() -> None:
        second.mkdir(mode=0o700)
        for name in KEYS:
            shutil.copy(first / name, second / name)
        with (
            pytest.raises(UserFacingError, match="several ledgers need --blobs"),
            opened(make_settings(second, database=url), CLOCK),
        ):
            pass

    async def run(ledger: Ledger) -> None:
        async with running(ledger):
            await asyncio.to_thread(start_second)

    with opened(make_settings(first, database=url), CLOCK) as ledger:
        asyncio.run(asyncio.wait_for(run(ledger), PATIENCE_S))


def test_a_ledger_without_a_place_for_blobs_starts_where_a_frozen_process_held_the_lead(
    tmp_path: Path, cluster: Cluster
) -> None:
    url = cluster.database()
    with opened(make_settings(tmp_path, database=url), CLOCK):
        pass
    with (
        closing(Database(url)) as frozen,
        frozen.log_writer.connect(),
        opened(make_settings(tmp_path, database=url), CLOCK) as ledger,
    ):
        assert ledger.database.has_no_leader()
