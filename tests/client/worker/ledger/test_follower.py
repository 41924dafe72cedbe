"""Following a log that may be cut, slow, forked, shrunken or forged: nothing passes in silence."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from tequio_client.clock import BackOff
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import ApiLimits, LogForkedError
from tequio_client.ledger.proofs import LogProofs, read_entries
from tequio_client.worker.ledger import follower, last_checkpoint
from tequio_client.worker.ledger.follower import FollowerLimits, LogFollower
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.ids import sha256
from tequio_shared.keys import Signer
from tequio_shared.log.cosigning import ForkEvidence
from tequio_shared.log.merkle import verify_consistency
from tequio_shared.log.notes import Checkpoint, sign_checkpoint
from tequio_shared.statements.network import NetNotice
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.fork_evidence import proves_fork
from tests.support.memory_log import (
    LOG_SIGNER,
    NET,
    LogServer,
    MemoryLog,
    Reply,
    chain_of,
    problem,
    serving,
)
from tests.support.merkle_proofs import inclusion_proof

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tequio_client.ledger.api import LedgerNetwork
    from tequio_shared.log.notes import Checkpoint


ME, OTHER = Signer(bytes([1]) * 32), Signer(bytes([2]) * 32)
BRISK = ApiLimits(call_s=1.0, idle_s=1.0)
LIMITS = FollowerLimits(poll_s=0.1, check_s=0.1, quiet_s=0.3, lag_s=0.5, uncovered_s=0.5)
ALICE, BOB = chain_of(ME, 700), chain_of(OTHER, 300)


def a_log(count: int, entries: list[Entry] = ALICE) -> MemoryLog:
    """A log of the genesis and the first `count` entries."""
    log = MemoryLog.founded()
    log.extend(entries[:count])
    return log


@asynccontextmanager
async def reading(
    server: LogServer, folder: Path, after: int = -1, limits: FollowerLimits = LIMITS
) -> AsyncIterator[AsyncIterator[tuple[int, Entry]]]:
    """The entries of a served log, as the worker of `folder` reads them."""
    with trio.fail_after(10):
        async with LedgerApi(server.url, limits=BRISK) as ledger:
            network = await ledger.network()
            async with following(ledger, network, folder, limits) as log:
                yield log.entries(after)


def following(
    ledger: LedgerApi, network: LedgerNetwork, folder: Path, limits: FollowerLimits = LIMITS
) -> LogFollower:
    rng = Random(1)
    back_off = BackOff(rng, longest_s=0.1, first_s=0.02)
    return LogFollower(ledger, network, folder, rng=rng, limits=limits, back_off=back_off)


async def next_entries(
    entries: AsyncIterator[tuple[int, Entry]], count: int
) -> list[tuple[int, bytes]]:
    """The next `count` entries, as (index, leaf)."""
    entries_read = [await anext(entries) for _ in range(count)]
    return [(index, entry.leaf()) for index, entry in entries_read]


async def read_out(entries: AsyncIterator[tuple[int, Entry]]) -> None:
    """Read until an error comes."""
    async for _ in entries:
        pass


async def remembered(server: LogServer, folder: Path) -> None:
    """Let the worker of `folder` see the log as it is now."""
    async with reading(server, folder) as entries:
        await next_entries(entries, len(server.log.leaves))


@pytest.mark.parametrize("after", [-1, 0, 6, 254, 255, 256, 599, 600])
@pytest.mark.trio
async def test_reading_may_start_anywhere_and_goes_on(tmp_path: Path, after: int) -> None:
    async with serving(a_log(600)) as server, reading(server, tmp_path, after) as entries:
        expected = list(enumerate(server.log.leaves))
        assert await next_entries(entries, 600 - after) == expected[after + 1 :]
        server.log.extend(BOB[:2])
        assert await next_entries(entries, 2) == [(601, BOB[0].leaf()), (602, BOB[1].leaf())]


@pytest.mark.trio
async def test_reading_goes_on_where_a_cut_stream_left_off(tmp_path: Path) -> None:
    async with serving(a_log(3)) as server, reading(server, tmp_path) as entries:
        server.cut_events_after = 2
        await next_entries(entries, 4)
        for at in range(0, 20, 4):
            server.log.extend(BOB[at : at + 4])
            await next_entries(entries, 4)


@pytest.mark.trio
async def test_without_an_event_stream_bundles_do(tmp_path: Path) -> None:
    def tamper(_method: str, path: str, reply: Reply) -> Reply:
        return problem("method-not-allowed", "", 405) if "events" in path else reply

    async with serving(a_log(3)) as server, reading(server, tmp_path) as entries:
        server.tamper = tamper
        await next_entries(entries, 4)
        server.log.extend(BOB[:3])
        await next_entries(entries, 3)


@pytest.mark.trio
async def test_a_stream_that_withholds_entries_is_left(tmp_path: Path) -> None:
    async with serving(a_log(3)) as server, reading(server, tmp_path) as entries:
        await next_entries(entries, 4)
        await trio.sleep(0.1)  # the stream is open
        grown = server.log.grown
        server.log.grown = trio.Event()
        server.log.extend(BOB[:3])  # nobody wakes the stream, which waits for the old event
        assert not grown.is_set()
        await next_entries(entries, 3)


@pytest.mark.parametrize(
    "away", [problem("read-only", "", 503), Reply(status=404, body=b"404 page not found\n")]
)
@pytest.mark.trio
async def test_the_ledger_may_go_away_and_come_back(tmp_path: Path, away: Reply) -> None:
    async with serving(a_log(3)) as server, reading(server, tmp_path) as entries:
        server.tamper = lambda *_: away
        with trio.move_on_after(0.3):
            await anext(entries)
        server.tamper = lambda _method, _path, reply: reply
        await next_entries(entries, 4)
        server.tamper = lambda *_: away
        server.log.extend(BOB[:3])
        with trio.move_on_after(0.5):  # the stream stays; a checkpoint is asked for
            await next_entries(entries, 4)
        server.tamper = lambda _method, _path, reply: reply
        server.log.extend(BOB[3:6])
        await next_entries(entries, 3)


@pytest.mark.trio
async def test_a_log_that_forks_while_we_read_is_refused(tmp_path: Path) -> None:
    async with serving(a_log(10)) as server, reading(server, tmp_path) as entries:
        await next_entries(entries, 11)
        fork = a_log(9)
        fork.extend(BOB[:5])
        old, server.log = server.log, fork
        old.extend(ALICE[10:11])  # still seen on the open stream
        with pytest.raises(LogForkedError, match=r"root [0-9a-f]{64}.*root [0-9a-f]{64}"):
            await read_out(entries)
        with pytest.raises(LogForkedError):
            await anext(entries)


@pytest.mark.parametrize("count", [0, 5, 255, 256, 300])
@pytest.mark.trio
async def test_a_log_shorter_than_remembered_is_refused(tmp_path: Path, count: int) -> None:
    async with serving(a_log(400)) as server:
        await remembered(server, tmp_path)
        server.log = a_log(count)
        async with reading(server, tmp_path) as entries:
            with pytest.raises(LogForkedError, match=f"size {count + 1}.*size 401"):
                await anext(entries)


@pytest.mark.trio
async def test_an_older_checkpoint_of_a_cache_is_no_fork_at_the_start(tmp_path: Path) -> None:
    async with serving(a_log(10)) as server:
        older = [sign_checkpoint(a_log(9).checkpoint(), LOG_SIGNER)]
        await remembered(server, tmp_path)

        def tamper(method: str, path: str, reply: Reply) -> Reply:
            is_asked = (method, path) == ("GET", "/log/checkpoint")
            return replace(reply, body=older.pop()) if older and is_asked else reply

        server.tamper = tamper
        async with reading(server, tmp_path) as entries:
            await next_entries(entries, 11)
    assert not older
    assert not (tmp_path / "alarms").exists()


@pytest.mark.parametrize("count", [398, 399, 400, 699])
@pytest.mark.trio
async def test_a_log_that_does_not_continue_the_remembered_one_is_refused(
    tmp_path: Path, count: int
) -> None:
    async with serving(a_log(399)) as server:
        await remembered(server, tmp_path)
        server.log = a_log(398)
        server.log.extend(BOB[:1])
        server.log.extend(ALICE[398:count])
        async with reading(server, tmp_path, after=100) as entries:
            with pytest.raises(LogForkedError, match="forked"):
                await anext(entries)
        (path,) = (tmp_path / "alarms").iterdir()
        evidence = msgspec.json.decode(path.read_bytes(), type=ForkEvidence)
        assert proves_fork(evidence) is (count == 398), "two roots of one size need no proof"
        before = path.read_bytes(), path.stat().st_mtime_ns
        for start in (100, 7):  # as often as somebody starts the program again
            async with reading(server, tmp_path, after=start) as entries:
                with pytest.raises(LogForkedError, match="forked"):
                    await anext(entries)
        assert [*(tmp_path / "alarms").iterdir()] == [path], "one fork, one file"
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before, "it is left as it was"


@pytest.mark.trio
async def test_a_log_that_shrinks_while_we_read_is_refused(tmp_path: Path) -> None:
    patient = replace(LIMITS, uncovered_s=60.0)  # what is tested is not how long it waits
    async with serving(a_log(10)) as server, reading(server, tmp_path, limits=patient) as entries:
        await next_entries(entries, 11)
        server.log = a_log(5)
        with pytest.raises(LogForkedError, match=r"size 6.*after size 11"):
            await read_out(entries)


def flip_last_byte(path: str) -> Callable[[str, str, Reply], Reply]:
    """Flip a bit in the answers to one path."""

    def tamper(_method: str, asked: str, reply: Reply) -> Reply:
        if not asked.startswith(path):
            return reply
        return replace(reply, body=reply.body[:-1] + bytes((reply.body[-1] ^ 1,)))

    return tamper


@pytest.mark.trio
async def test_an_entry_with_a_flipped_bit_is_never_handed_on(tmp_path: Path) -> None:
    async with serving(a_log(10)) as server:
        server.tamper = flip_last_byte("/log/tile/entries/")
        async with reading(server, tmp_path) as entries:
            await next_entries(entries, 10)
            with pytest.raises(MalformedError):
                await anext(entries)


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("unsigned", "the signature by .* does not verify"),
        ("no organiser's", "only organisers may"),
    ],
)
@pytest.mark.trio
async def test_a_logged_entry_that_nobody_or_the_wrong_key_signed_is_not_handed_on(
    tmp_path: Path, what: str, why: str
) -> None:
    asked = ALICE[3].statement
    entry = Entry(((ME.key, bytes(64)),), asked)
    if what == "no organiser's":
        body, prev = NetNotice(text="Stop"), asked.prev
        notice = make(body=body, author=ME.key, seq=4, ts=asked.ts, exp=asked.exp, prev=prev)
        entry = sign(NET, notice, ME)
    async with serving(a_log(3)) as server, LedgerApi(server.url) as ledger:
        server.log.append(entry)
        async with reading(server, tmp_path) as entries:
            await next_entries(entries, 4)
            with pytest.raises(PeerError, match=why):
                await anext(entries)
        with pytest.raises(PeerError, match=why):
            await read_entries(ledger, await ledger.network(), [4])


@pytest.mark.trio
async def test_tiles_with_a_flipped_bit_do_not_make_a_start(tmp_path: Path) -> None:
    async with serving(a_log(10)) as server:
        server.tamper = flip_last_byte("/log/tile/0/")
        async with reading(server, tmp_path, after=5) as entries:
            with pytest.raises(LogForkedError):
                await anext(entries)


@pytest.mark.trio
async def test_a_checkpoint_of_another_signer_is_refused(tmp_path: Path) -> None:
    async with serving(a_log(10)) as server:
        forged = sign_checkpoint(server.log.checkpoint(), ME)

        def tamper(_method: str, path: str, reply: Reply) -> Reply:
            return replace(reply, body=forged) if path == "/log/checkpoint" else reply

        server.tamper = tamper
        async with reading(server, tmp_path) as entries:
            with pytest.raises(PeerError, match="no known key"):
                await anext(entries)


@pytest.mark.trio
async def test_entries_that_no_checkpoint_covers_are_not_read_for_long(tmp_path: Path) -> None:
    async with serving(a_log(10)) as server, reading(server, tmp_path) as entries:
        await next_entries(entries, 11)
        old = sign_checkpoint(server.log.checkpoint(), LOG_SIGNER)

        def tamper(_method: str, path: str, reply: Reply) -> Reply:
            return replace(reply, body=old) if path == "/log/checkpoint" else reply

        server.tamper = tamper
        server.log.extend(BOB[:2])
        with pytest.raises(PeerError, match="no checkpoint covers entry 12"):
            await read_out(entries)


@pytest.mark.trio
async def test_a_ledger_that_is_too_busy_for_checkpoints_is_waited_for(tmp_path: Path) -> None:
    async with serving(a_log(10)) as server, reading(server, tmp_path) as entries:
        await next_entries(entries, 11)

        def tamper(_method: str, path: str, reply: Reply) -> Reply:
            return problem("overloaded", "", 503) if path == "/log/checkpoint" else reply

        server.tamper = tamper
        server.log.extend(BOB[:2])
        await next_entries(entries, 2)
        await trio.sleep(3 * LIMITS.uncovered_s)
        server.log.extend(BOB[2:4])
        with trio.move_on_after(LIMITS.uncovered_s) as late:
            await anext(entries)
        assert late.cancelled_caught, "nothing is read on without proof"
        server.tamper = lambda _method, _path, reply: reply
        await next_entries(entries, 2)


@pytest.mark.trio
async def test_only_so_many_entries_are_handed_on_unchecked(tmp_path: Path) -> None:
    strict = replace(LIMITS, unchecked=8)
    async with serving(a_log(10)) as server, reading(server, tmp_path, limits=strict) as entries:
        await next_entries(entries, 11)
        old = sign_checkpoint(server.log.checkpoint(), LOG_SIGNER)

        def tamper(_method: str, path: str, reply: Reply) -> Reply:
            return replace(reply, body=old) if path == "/log/checkpoint" else reply

        server.tamper = tamper
        server.log.extend(BOB[:100])
        await next_entries(entries, 8)
        with pytest.raises(PeerError, match="no checkpoint covers"):
            await anext(entries)


@pytest.mark.trio
async def test_single_entries_come_with_proof(tmp_path: Path) -> None:
    async with serving(a_log(600)) as server, LedgerApi(server.url) as ledger:
        network = await ledger.network()
        found = await read_entries(ledger, network, [600, 0, 255, 256, 0])
        assert {index: entry.leaf() for index, entry in found.items()} == {
            index: server.log.leaves[index] for index in (0, 255, 256, 600)
        }
        with pytest.raises(PeerError, match="entry 601"):
            await read_entries(ledger, network, [601])
        signed = server.log.checkpoint()
        server.log.leaves[7] = BOB[7].leaf()  # a sound entry, but not the one that was logged
        with pytest.raises(PeerError, match="proof leads to"):
            await read_entries(ledger, network, [7])
        assert server.log.checkpoint() == signed


@pytest.mark.trio
async def test_proofs_from_tiles_are_the_tree_s_own(tmp_path: Path) -> None:
    async with serving(a_log(699)) as server, LedgerApi(server.url) as ledger:
        hashes, signed = server.log.hashes, server.log.checkpoint()
        proofs = LogProofs(ledger, signed)
        for index in (0, 1, 255, 256, 511, 512, 698, 699):
            assert await proofs.inclusion(index) == inclusion_proof(hashes, index)
        for size in (1, 2, 255, 256, 257, 512, 640, 699, 700):
            edge = await proofs.frontier(size)
            proof = await proofs.consistency(size)
            verify_consistency(size, edge.root(), 700, signed.root, proof)


@pytest.mark.trio
async def test_a_damaged_memory_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / follower.FILE).write_bytes(b"{}")
    async with serving(a_log(1)) as server, reading(server, tmp_path) as entries:
        with pytest.raises(UserFacingError, match="move it away"):
            await anext(entries)


@pytest.mark.trio
async def test_what_a_signed_root_covers_is_told(tmp_path: Path) -> None:
    proven: list[tuple[int, int]] = []
    done = trio.Event()

    async def record_proven(size: int, checkpoint: Checkpoint) -> None:
        assert checkpoint.root == server.log.checkpoint().root
        proven.append((size, checkpoint.size))
        if size == len(server.log.leaves):
            done.set()
        await trio.lowlevel.checkpoint()

    async with serving(a_log(20)) as server, LedgerApi(server.url, limits=BRISK) as ledger:
        network = await ledger.network()
        async with following(ledger, network, tmp_path) as log:
            log.on_proven = record_proven
            entries = log.entries(after=4)
            await next_entries(entries, 16)
            with trio.fail_after(5):
                await done.wait()
    assert all(size <= most for size, most in proven), "never more than is signed"
    assert proven[-1] == (21, 21)
    assert proven[0][0] >= 5


def test_an_earlier_checkpoint_never_replaces_a_later_one(tmp_path: Path) -> None:
    """The followers of two runs share the file, and one of them may be slower."""
    path = tmp_path / follower.FILE
    late, early = (Checkpoint(origin="test", size=size, root=sha256(b"")) for size in (9, 4))
    for checkpoint in (late, early):
        last_checkpoint.store_checkpoint(path, checkpoint)
    assert last_checkpoint.load_checkpoint(path) == late
