"""Rounds of earlier lives, proven from a real ledger's log; and what a ledger that lies gets."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import asynccontextmanager, closing
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from tequio_client.ipc.points import AskActivity, AskPoints, AskRanking, PointsReply, RankingReply
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerUnavailableError, LogForkedError
from tequio_client.worker.ledger import last_checkpoint
from tequio_client.worker.ledger.follower import FILE as LOG_FILE
from tequio_client.worker.points.activity import ActivityDatabase
from tequio_client.worker.points.catch_up import RoundProofs
from tequio_client.worker.points.points import Bookkeeping
from tequio_client.worker.points.points_db import PointsDatabase
from tequio_shared import encoding
from tequio_shared.api.peers import PeerRoundsAnswer, RankedAnswer, RankingAnswer
from tequio_shared.errors import PeerError
from tequio_shared.ids import Digest, PeerKey, from_text, to_text
from tequio_shared.log.notes import Checkpoint
from tequio_shared.log.policy import Policy
from tests.ledger.log.test_sequencer_keys import replacement, successor
from tests.ledger.log.test_shared_points import shared_rounds
from tests.ledger.test_replay import CLOCK, live_through
from tests.support.cosigned_ledger import WitnessGroup, cosigned, wait_until_published
from tests.support.forged_tables import TRUSTING
from tests.support.ledgers import VirtualClock, make_settings, opened, running, served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

pytestmark = pytest.mark.trio


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger's folder after two closed rounds and a void one."""
    folder = tmp_path_factory.mktemp("lived")
    with opened(make_settings(folder), CLOCK) as ledger:
        asyncio.run(live_through(ledger))
    return folder


def copied(lived: Path, folder: Path, *lies: str) -> Path:
    """The ledger's folder with its derived rows changed: no byte of the log is touched."""
    shutil.copytree(lived, folder)
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as sql:
        for lie in lies:
            sql.execute(lie)
        sql.commit()
    return folder


@pytest.fixture(scope="module")
def honest(lived: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of that ledger, served as it is, for tests that only ask it."""
    with served(copied(lived, tmp_path_factory.mktemp("honest") / "ledger")) as program:
        yield program.url


@asynccontextmanager
async def talking(folder: Path) -> AsyncIterator[LedgerApi]:
    with served(folder, setup=TRUSTING) as program:  # it serves what its tables hold
        async with LedgerApi(program.url) as api:
            yield api


@asynccontextmanager
async def keeping(api: LedgerApi, key: PeerKey, home: Path) -> AsyncIterator[Bookkeeping]:
    with (
        closing(PointsDatabase.opened(home, key)) as book,
        closing(ActivityDatabase.opened(home, lambda: 5)) as activity,
    ):
        kept = Bookkeeping(book, activity, api, key, home / LOG_FILE, rng=Random(1))
        yield kept


async def ranked(api: LedgerApi) -> Sequence[RankedAnswer]:
    return encoding.read(await api.http.call("/v1/ranking"), RankingAnswer).rows


async def best(api: LedgerApi) -> PeerKey:
    return PeerKey(from_text((await ranked(api))[0].key))


async def listed(kept: Bookkeeping) -> PointsReply:
    found = await kept.answer(AskPoints())
    assert isinstance(found, PointsReply)
    return found


async def test_a_key_in_no_roster_proves_the_points_that_it_received(tmp_path: Path) -> None:
    clock, folder = VirtualClock(), tmp_path / "ledger"
    with opened(make_settings(folder), clock) as ledger:

        async def share() -> PeerKey:
            async with running(ledger):
                return (await shared_rounds(ledger, clock))[1].key

        owner = await trio.to_thread.run_sync(lambda: asyncio.run(share()))
    async with talking(folder) as api:
        claimed = await api.peer(owner)
        assert claimed.gflop == claimed.received == claimed.unvested > 0
        async with keeping(api, owner, tmp_path) as kept:
            await kept.catch_up.run_once()
            shown = kept.totals(0)
            assert (shown.total, shown.unverified) == (claimed.gflop, 0)
            found = await listed(kept)
            assert [row.received == row.gflop > 0 for row in found.rows] == [True, True]
            assert all(row.size is not None for row in found.rows)
            before = await api.peer_rounds(owner)
            await kept.catch_up.run_once()
            assert kept.catch_up.is_complete
            assert len(before.rounds) == 2


async def test_a_successor_proves_what_it_receives_later_by_the_name_of_its_former_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, folder = VirtualClock(), tmp_path / "ledger"
    with opened(make_settings(folder), clock) as ledger:

        async def share() -> PeerKey:
            async with running(ledger):
                swarm, owner = await shared_rounds(ledger, clock)
                heir = successor(swarm, owner)
                body = replacement(swarm, owner.key, heir)
                await swarm.post([heir.sign(body, clock(), owner.signer)])
                await swarm.play(*swarm.peers[:3])
                return heir.key

        heir = await trio.to_thread.run_sync(lambda: asyncio.run(share()))
    async with talking(folder) as api, keeping(api, heir, tmp_path) as kept:
        rounds = api.peer_rounds

        async def without_the_newest(key: PeerKey, **page: int) -> PeerRoundsAnswer:
            found = await rounds(key, **page)
            return msgspec.structs.replace(found, rounds=found.rounds[1:])

        with monkeypatch.context() as earlier:
            earlier.setattr(api, "peer_rounds", without_the_newest)
            await kept.catch_up.run_once()
            assert len((await listed(kept)).rows) == 2
            assert kept.totals(0).unverified > 0
        await kept.catch_up.run_once()
        assert kept.catch_up.is_complete
        assert len((await listed(kept)).rows) == 3
        with monkeypatch.context() as later:
            later.setattr(LedgerApi, "entries", None)  # nothing is to be proven any more
            await kept.catch_up.run_once()
        asked: list[PeerKey] = []

        async def counted(key: PeerKey, **page: int) -> PeerRoundsAnswer:
            asked.append(key)
            return await rounds(key, **page)

        monkeypatch.setattr(api, "peer_rounds", counted)
        async with keeping(api, heir, tmp_path) as again:
            again.catch_up.page_rounds = 1
            await again.catch_up.run_once()
            assert again.catch_up.is_complete
            assert len(asked) == len(set(asked)) == 2, "after a start, the last page of each key"


async def test_every_key_proves_its_points_to_the_gflop(honest: str, tmp_path: Path) -> None:
    async with LedgerApi(honest) as api:
        rows = await ranked(api)
        assert len(rows) == 2, "the third is quarantined, and has lost what had not vested"
        for row in rows:
            home = tmp_path / row.key[:6]
            home.mkdir()
            async with keeping(api, PeerKey(from_text(row.key)), home) as kept:
                await kept.catch_up.run_once()
                shown = kept.totals(0)
                assert (shown.total, shown.unverified, shown.pending) == (row.gflop, 0, 0)
                found = await listed(kept)
                assert sum(one.gflop for one in found.rows) == row.gflop
                size = (await api.checkpoint()).size
                assert all(one.size == size and one.root for one in found.rows)
                assert {one.run_name for one in found.rows} == {"paper"}
                assert [one.state for one in found.rows].count("verified") == 2
                void = [one for one in found.rows if one.reason == "void"]
                assert [one.state for one in void] == ["rejected"]


async def test_it_goes_on_where_it_was_and_asks_for_no_proof_twice(
    honest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with LedgerApi(honest) as api:
        key = await best(api)
        async with keeping(api, key, tmp_path) as kept:
            kept.catch_up.page_rounds = 1
            kept.catch_up.pause_s = 3_600  # it waits after the first proof
            with trio.fail_after(60):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(kept.catch_up.run_once)
                    while not (await listed(kept)).rows:  # noqa: ASYNC110 - a thread writes them
                        await trio.sleep(0.02)
                    nursery.cancel_scope.cancel()
            first = await listed(kept)
            assert len(first.rows) == 1
        async with keeping(api, key, tmp_path) as kept:
            kept.catch_up.page_rounds, kept.catch_up.pause_s = 1, 0
            await kept.catch_up.run_once()
            assert len((await listed(kept)).rows) == 3
            assert first.rows[0] in (await listed(kept)).rows
            monkeypatch.setattr(LedgerApi, "entries", None)  # nothing is to be proven any more
            await kept.catch_up.run_once()
            assert kept.totals(0).unverified == 0


LIES = {
    "a round that is hidden": (
        "DELETE FROM attended WHERE closed_index = (SELECT MIN(closed_index) FROM attended)",
    ),
    "a round that was not ours": (
        "UPDATE round SET roster_index = roster_index + 1 WHERE round = 1",
        "UPDATE peer SET gflop = gflop + 5 WHERE gflop > 0",
    ),
}


@pytest.mark.parametrize("lie", LIES)
async def test_what_a_ledger_claims_beyond_its_log_stays_unverified(
    lived: Path, tmp_path: Path, lie: str
) -> None:
    async with talking(copied(lived, tmp_path / "ledger", *LIES[lie])) as api:
        key = await best(api)
        claimed = (await api.peer(key)).gflop
        async with keeping(api, key, tmp_path) as kept:
            kept.catch_up.pause_s = 0
            await kept.catch_up.run_once()
            await kept.catch_up.run_once()
            shown = kept.totals(0)
            assert shown.total != claimed
            assert shown.unverified == max(claimed - shown.total, 0)
            events = kept.activity.answer(AskActivity()).rows
            assert [(row.code, row.level) for row in events] == [("points-differ", "warning")]


async def test_a_roster_of_one_round_and_the_end_of_another_prove_nothing(
    honest: str, tmp_path: Path
) -> None:
    async with LedgerApi(honest) as api:
        key = await best(api)
        *_, second, first = (await api.peer_rounds(key)).rounds
        told = msgspec.structs.replace(second, roster_index=first.roster_index)
        with closing(PointsDatabase.opened(tmp_path, key)) as book:
            proofs = RoundProofs(api, key, book, tmp_path / LOG_FILE)
            with pytest.raises(PeerError, match="not of one round"):
                await proofs.prove(told)


async def test_a_credit_that_the_log_does_not_give_is_not_counted(
    lived: Path, tmp_path: Path
) -> None:
    lie = "UPDATE credit SET gflop = 1000000000"
    async with talking(copied(lived, tmp_path / "ledger", lie)) as api:
        key = await best(api)
        async with keeping(api, key, tmp_path) as kept:
            await kept.catch_up.run_once()
            assert kept.totals(0).total == (await api.peer(key)).gflop < 1_000_000_000


async def test_another_log_than_the_remembered_one_proves_nothing(
    honest: str, tmp_path: Path
) -> None:
    async with LedgerApi(honest) as api:
        key, signed = await best(api), await api.checkpoint()
        forked = Checkpoint(origin=signed.origin, size=signed.size - 1, root=Digest(bytes(32)))
        last_checkpoint.store_checkpoint(tmp_path / LOG_FILE, forked)
        async with keeping(api, key, tmp_path) as kept:
            with pytest.raises(LogForkedError):
                await kept.catch_up.run_once()
            with trio.fail_after(10):
                await kept.catch_up.run()  # returns: it is of no use to ask again
            assert kept.totals(0).total == 0
            assert kept.totals(0).unverified > 0
        later = Checkpoint(origin=signed.origin, size=signed.size + 9, root=Digest(bytes(32)))
        last_checkpoint.store_checkpoint(tmp_path / LOG_FILE, later)
        async with keeping(api, key, tmp_path) as kept:
            with pytest.raises(LedgerUnavailableError, match="older"):
                await kept.catch_up.run_once()


async def test_points_that_no_witness_has_cosigned_yet_are_neither_believed_nor_doubted(
    lived: Path, tmp_path: Path
) -> None:
    copied(lived, tmp_path / "ledger")
    with WitnessGroup(tmp_path, 1) as ring:
        policy = ring.policy("all")
        trust = Policy.parse(policy.read_bytes())
        ring.witnesses[0].kill()
        with cosigned(ring, policy) as program:
            async with LedgerApi(program.url, trust=trust) as api:
                key = await best(api)
                async with keeping(api, key, tmp_path) as kept:
                    with pytest.raises(LedgerUnavailableError):
                        await kept.catch_up.run_once()
                    assert not kept.activity.answer(AskActivity()).rows, "nobody is accused"
                    assert kept.totals(0).total == 0
                    ring.start(0)
                    size = (await api.peer(key)).as_of
                    assert size is not None
                    await trio.to_thread.run_sync(wait_until_published, program, policy, size.size)
                    await kept.catch_up.run_once()
                    assert kept.catch_up.is_complete
                    assert kept.totals(0).unverified == 0


async def test_a_key_that_nobody_knows_has_nothing(honest: str, tmp_path: Path) -> None:
    nobody = PeerKey(bytes([9]) * 32)
    async with LedgerApi(honest) as api, keeping(api, nobody, tmp_path) as kept:
        await kept.catch_up.run_once()
        assert kept.catch_up.is_complete
        assert kept.totals(0).total == kept.totals(0).unverified == 0


async def test_the_book_is_written_anew_after_it_was_lost(honest: str, tmp_path: Path) -> None:
    async with LedgerApi(honest) as api:
        key = await best(api)
        async with keeping(api, key, tmp_path) as kept:
            await kept.catch_up.run_once()
            before = await listed(kept)
        (tmp_path / "points.sqlite").write_bytes(b"no book any more, but bytes" * 1_000)
        async with keeping(api, key, tmp_path) as kept:
            assert (await listed(kept)).rows == ()
            await kept.catch_up.run_once()
            assert await listed(kept) == before
            events = kept.activity.answer(AskActivity()).rows
            assert [row.code for row in events] == ["file-kept-aside"]


async def test_the_ranking_shows_us_among_our_neighbours(honest: str, tmp_path: Path) -> None:
    async with LedgerApi(honest) as api:
        rows = await ranked(api)
        key = PeerKey(from_text(rows[1].key))
        async with keeping(api, key, tmp_path) as kept:
            found = await kept.answer(AskRanking(around=1))
            assert isinstance(found, RankingReply)
            assert [(row.rank, row.key, row.is_ours) for row in found.rows] == [
                (row.rank, row.key, row.key == to_text(key)) for row in rows
            ]
            assert (kept.totals(0).rank, kept.totals(0).ranked) == (2, 2)
