"""Peers tell each other what the ledger showed them: two histories do not stay apart."""

from __future__ import annotations

from contextlib import AsyncExitStack
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import ApiLimits, LogForkedError
from tequio_client.worker.ledger import last_checkpoint
from tequio_client.worker.swarm.checkpoint_gossip import (
    PER_TURN,
    CheckpointFilter,
    CheckpointGossip,
    checkpoint_topic,
)
from tequio_shared.errors import PeerError, first_error
from tequio_shared.ids import PeerKey
from tequio_shared.keys import Signer
from tequio_shared.log.cosigning import ForkEvidence
from tequio_shared.log.notes import NOTE_BYTES, VerifierKey, sign_checkpoint
from tests.support.fork_evidence import proves_fork
from tests.support.loopback import two_peers
from tests.support.memory_log import LOG_SIGNER, NET, MemoryLog, chain_of, genesis, problem, serving

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tequio_client.worker.swarm.peers import PeerNetwork
    from tests.support.memory_log import LogServer


BRISK = ApiLimits(call_s=10.0, idle_s=10.0)
PATIENCE_S = 60.0

# A watch that finds a fork cancels the other's request mid-body, which httpx does not close.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'httpx:ResourceWarning")
ALICE, BOB = chain_of(Signer(bytes([1]) * 32), 60), chain_of(Signer(bytes([2]) * 32), 60)
LOG_KEY = VerifierKey.parse(genesis().log_key)


def a_log(alice: int, bob: int = 0) -> MemoryLog:
    log = MemoryLog.founded()
    log.extend(ALICE[:alice])
    log.extend(BOB[:bob])
    return log


def note_of(log: MemoryLog) -> bytes:
    return sign_checkpoint(log.checkpoint(), LOG_SIGNER)


async def watch(
    stack: AsyncExitStack,
    peers: PeerNetwork,
    server: LogServer,
    folder: Path,
    seen: MemoryLog,
    **times: float,
) -> CheckpointGossip:
    """A watch of a peer that read the log up to there."""
    folder.mkdir()  # noqa: ASYNC240 - a test's
    last_checkpoint.store_checkpoint(
        folder / last_checkpoint.CHECKPOINT_FILE, seen.checkpoint(), note_of(seen)
    )
    ledger = await stack.enter_async_context(LedgerApi(server.url, limits=BRISK))
    return CheckpointGossip(
        peers,
        ledger,
        await ledger.network(),
        folder,
        rng=Random(3),
        **{"publish_every_s": 0.2, "withheld_s": 0.5, **times},
    )


def evidence(folder: Path) -> ForkEvidence:
    (path,) = (folder / "alarms").iterdir()
    return msgspec.json.decode(path.read_bytes(), type=ForkEvidence)


async def both_until(
    first: CheckpointGossip, second: CheckpointGossip, is_so: Callable[[], bool]
) -> None:
    """Run both until it is so; raises what one of them found."""
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first.run)
            nursery.start_soon(second.run)
            while not is_so():  # noqa: ASYNC110 - it follows from what two programs say
                await trio.sleep(0.05)
            nursery.cancel_scope.cancel()


async def side_by_side(*works: Callable[[], Awaitable[object]]) -> None:
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            for work in works:
                nursery.start_soon(work)


def fits(one: CheckpointGossip, size: int) -> bool:
    return size in {known for known, _ in one.fitting}


def ahead_of(one: CheckpointGossip) -> bytes | None:
    return one.largest_ahead


def alarm_of(group: BaseExceptionGroup[BaseException]) -> str:
    error = first_error(group)
    assert isinstance(error, LogForkedError), error
    return str(error)


@pytest.mark.trio
@pytest.mark.parametrize("bobs", [10, 12])
async def test_a_split_view_is_found_with_evidence(tmp_path: Path, bobs: int) -> None:
    """One operator, one key, two histories: of one size, and of different sizes."""
    async with (
        serving(a_log(10, 5)) as one,
        serving(a_log(5, bobs)) as other,
        two_peers() as (first, second),
        AsyncExitStack() as stack,
    ):
        ours = await watch(stack, first, one, tmp_path / "one", one.log)
        theirs = await watch(stack, second, other, tmp_path / "other", other.log)
        with pytest.raises(BaseExceptionGroup) as caught:
            await side_by_side(ours.run, theirs.run)
        alarm = alarm_of(caught.value)
        assert "another history of log.test/net1" in alarm
        where = tmp_path / ("one" if str(tmp_path / "one") in alarm else "other")
        kept = evidence(where)
        assert {note.encode() for note in kept.notes} == {note_of(one.log), note_of(other.log)}
        assert proves_fork(kept) is (bobs == 10)
        assert "POST /log/checkpoint" in one.requests + other.requests, "the ledger hears of it"


@pytest.mark.trio
async def test_two_notes_of_one_size_prove_a_fork_by_themselves(tmp_path: Path) -> None:
    async with serving(a_log(10, 5)) as server, two_peers() as (first, second):
        async with AsyncExitStack() as stack:
            ours = await watch(stack, first, server, tmp_path / "one", server.log)
            forked = note_of(a_log(5, 10))

            async def publish_fork() -> None:
                judge = CheckpointFilter(LOG_KEY)
                (await second.subscribe(checkpoint_topic(NET), judge)).close()
                while True:
                    await second.publish(checkpoint_topic(NET), forked)
                    await trio.sleep(0.5)

            with pytest.raises(BaseExceptionGroup) as caught:
                await side_by_side(publish_fork, ours.run)
            assert alarm_of(caught.value)
        assert proves_fork(evidence(tmp_path / "one"))


@pytest.mark.trio
async def test_two_notes_ahead_of_ours_are_held_against_each_other(tmp_path: Path) -> None:
    """A peer with an old checkpoint gets both halves of a split view; neither is its own."""
    async with serving(a_log(4)) as server, two_peers() as (first, _), AsyncExitStack() as stack:
        ours = await watch(stack, first, server, tmp_path / "one", a_log(4))
        halves = note_of(a_log(10, 5)), note_of(a_log(5, 10))
        await ours.compare(halves[0])
        await ours.compare(halves[0])
        assert not (tmp_path / "one" / "alarms").exists()
        with pytest.raises(LogForkedError, match="two roots of size 16"):
            await ours.compare(halves[1])
        kept = evidence(tmp_path / "one")
        assert {note.encode() for note in kept.notes} == set(halves)
        assert proves_fork(kept)
        assert server.requests.count("POST /log/checkpoint") == 2, "the ledger hears of both"


@pytest.mark.trio
@pytest.mark.parametrize(("behind", "least", "most"), [(1, 0, 3), (20, 5, 100)])
async def test_a_recent_checkpoint_of_another_peer_is_enough_and_an_old_one_is_not(
    tmp_path: Path, behind: int, least: int, most: int
) -> None:
    """An old one fits both histories of a split view: it must silence nobody."""
    async with (
        serving(a_log(60)) as server,
        two_peers() as (first, second),
        AsyncExitStack() as stack,
    ):
        ours = await watch(stack, first, server, tmp_path / "one", a_log(25))
        judge = CheckpointFilter(LOG_KEY, publish_every_s=0.2)
        received = await second.subscribe(checkpoint_topic(NET), judge)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ours.run)
            for entries in range(26, 60):
                log = a_log(entries)
                last_checkpoint.store_checkpoint(
                    tmp_path / "one" / last_checkpoint.CHECKPOINT_FILE,
                    log.checkpoint(),
                    note_of(log),
                )
                await second.publish(checkpoint_topic(NET), note_of(a_log(entries - behind)))
                await trio.sleep(0.08)
            nursery.cancel_scope.cancel()
        published = 0
        with trio.move_on_after(1):
            async for one in received:
                published += one.author == first.key
    assert least <= published <= most


@pytest.mark.trio
async def test_peers_at_different_places_of_one_log_live_on(tmp_path: Path) -> None:
    async with (
        serving(a_log(20)) as server,
        two_peers() as (first, second),
        AsyncExitStack() as stack,
    ):
        behind = await watch(stack, first, server, tmp_path / "behind", a_log(4))
        ahead = await watch(stack, second, server, tmp_path / "ahead", a_log(20))
        await both_until(
            behind, ahead, lambda: fits(ahead, 5) and ahead_of(behind) == note_of(a_log(20))
        )
        last_checkpoint.store_checkpoint(
            tmp_path / "behind" / last_checkpoint.CHECKPOINT_FILE,
            server.log.checkpoint(),
            note_of(server.log),
        )
        await behind.compare(note_of(a_log(20)))
        assert ahead_of(behind) is None
    assert not (tmp_path / "behind" / "alarms").exists()
    assert not (tmp_path / "ahead" / "alarms").exists()


@pytest.mark.trio
async def test_a_ledger_that_withholds_is_shown_what_others_have(tmp_path: Path) -> None:
    async with (
        serving(a_log(4)) as server,
        two_peers() as (first, second),
        AsyncExitStack() as stack,
    ):
        behind = await watch(stack, first, server, tmp_path / "behind", a_log(4))
        ahead = await watch(stack, second, server, tmp_path / "ahead", a_log(20))
        await both_until(behind, ahead, lambda: "POST /log/checkpoint" in server.requests)


@pytest.mark.trio
async def test_a_ledger_that_was_not_asked_for_long_withholds_nothing(tmp_path: Path) -> None:
    async with serving(a_log(20)) as server, two_peers() as (first, _), AsyncExitStack() as stack:
        ours = await watch(stack, first, server, tmp_path / "one", a_log(4), withheld_s=0.0)
        for _ in range(3):
            await ours.compare(note_of(a_log(20)))
        assert fits(ours, 21)
        assert "POST /log/checkpoint" not in server.requests


@pytest.mark.trio
async def test_a_ledger_that_is_away_proves_nothing(tmp_path: Path) -> None:
    async with serving(a_log(20)) as server, two_peers() as (first, _), AsyncExitStack() as stack:
        ours = await watch(stack, first, server, tmp_path / "one", a_log(20))
        server.tamper = lambda *_: problem("read-only", "", 503)
        await ours.compare(note_of(a_log(4)))
        assert not (tmp_path / "one" / "alarms").exists()


@pytest.mark.trio
async def test_old_checkpoints_that_are_replayed_do_not_become_requests(tmp_path: Path) -> None:
    async with serving(a_log(60)) as server, two_peers() as (first, _), AsyncExitStack() as stack:
        seen = a_log(60)
        ours = await watch(stack, first, server, tmp_path / "one", seen, publish_every_s=1_000.0)
        for entries in range(40):
            await ours.compare(note_of(a_log(entries)))
        assert len(ours.fitting) == PER_TURN


def test_few_notes_of_one_author_are_passed_on() -> None:
    judge = CheckpointFilter(LOG_KEY, clock=lambda: 0.0)
    note = note_of(a_log(3))
    for author in (PeerKey(bytes(32)), PeerKey(bytes(31) + b"1")):
        passed = [judge.check(author, note) for _ in range(PER_TURN + 2)]
        assert passed == [True] * PER_TURN + [False] * 2


def test_only_what_the_log_signed_is_passed_on() -> None:
    judge, stranger = CheckpointFilter(LOG_KEY, clock=lambda: 0.0), PeerKey(bytes(32))
    note = note_of(a_log(3))
    assert judge.screen(stranger, note)
    assert judge.check(stranger, note)
    assert not judge.screen(stranger, bytes(NOTE_BYTES))
    forged = sign_checkpoint(a_log(3).checkpoint(), Signer(bytes([9]) * 32))
    for content in (forged, b"", note[:-5]):
        with pytest.raises(PeerError):
            judge.check(stranger, content)


def test_the_topic_follows_from_the_network() -> None:
    assert checkpoint_topic(NET) == f"/tequio/{NET.hex()[:16]}/checkpoint/1"
