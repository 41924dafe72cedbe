"""History rewritten: on the ledger's disk, by its operator, or on the line. Layers: log, env."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import sqlite3
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from random import Random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.clock import BackOff
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import ApiLimits, LedgerUnavailableError, LogForkedError
from tequio_client.ledger.proofs import read_entries
from tequio_client.worker.ledger.follower import FollowerLimits, LogFollower
from tequio_ledger.log.sequencer import Logged
from tequio_shared.errors import (
    FatalLogError,
    PeerError,
    RefusedError,
    TequioError,
    UserFacingError,
)
from tequio_shared.ids import sha256
from tequio_shared.log import merkle
from tequio_shared.log.notes import VerifierKey, open_checkpoint
from tests.support.attack_table import attack
from tests.support.attackers_log import (
    ALICE,
    BLOB,
    STORED,
    flipping,
    furnish,
    log_of,
    seize,
    vandalise,
)
from tests.support.authors import Author
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.memory_log import NET, serving
from tests.support.merkle_proofs import consistency_proof

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tequio_ledger.ledger import Ledger


CLOCK = VirtualClock()
BRISK = ApiLimits(call_s=2.0, idle_s=2.0)


async def grown(folder: Path, count: int, names: str) -> bytes:
    """Log registrations through the sequencer; the last checkpoint."""
    with opened(make_settings(folder), CLOCK) as ledger:
        async with running(ledger):
            for at in range(count):
                author = Author(f"{names} {at}", ledger.state.net)
                (said,) = await ledger.sequencer.submit([author.register(CLOCK())])
                assert isinstance(said, Logged)
            return ledger.log.published.note


def checkpoints(ledger: Ledger) -> list[tuple[int, bytes]]:
    """Size and root of every checkpoint that the ledger ever signed, each signature checked."""
    vkey = VerifierKey.parse(ledger.genesis.log_key)
    with closing(sqlite3.connect(ledger.database.name)) as rows:
        notes = [note for (note,) in rows.execute("SELECT note FROM log_checkpoint ORDER BY size")]
    found = [open_checkpoint(note, vkey).checkpoint for note in notes]
    return [(one.size, one.root) for one in found]


def leaves_of(ledger: Ledger) -> list[bytes]:
    with closing(sqlite3.connect(ledger.database.name)) as rows:
        return [leaf for (leaf,) in rows.execute("SELECT leaf FROM log_entry ORDER BY idx")]


@attack("L5", layer="log", ends="found at the start, before anything is signed")
@pytest.mark.parametrize("what", STORED)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_flipped_bit_of_the_stored_log_stops_the_signing(
    tmp_path: Path, what: str, seed: int
) -> None:
    asyncio.run(grown(tmp_path, 12, "honest"))
    where = vandalise(tmp_path, what, seed)
    with pytest.raises(UserFacingError, match="damaged"), opened(make_settings(tmp_path), CLOCK):
        pytest.fail(f"started over a flipped {where}")


@attack("L4", layer="log", ends="the second one is refused; past the lock, the first stops")
def test_of_two_sequencers_only_one_writes(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(make_settings(tmp_path), CLOCK) as ledger:
            with pytest.raises(UserFacingError), opened(make_settings(tmp_path), CLOCK):
                pytest.fail("two ledgers on one folder")
            async with running(ledger):
                author = Author("first", ledger.state.net)
                assert isinstance(
                    (await ledger.sequencer.submit([author.register(CLOCK())]))[0], Logged
                )
                size = ledger.log.published.size
                seize(tmp_path)
                late = Author("late", ledger.state.net).register(CLOCK())
                with suppress(TimeoutError, TequioError):
                    said = await asyncio.wait_for(ledger.sequencer.submit([late]), 5)
                    assert not isinstance(said[0], Logged)
                assert max(checkpoints(ledger))[0] == size

    with pytest.raises(FatalLogError, match="another process"):
        asyncio.run(asyncio.wait_for(story(), 60))
    asyncio.run(grown(tmp_path, 2, "after"))


@attack("L4", layer="log", ends="one line of heads, each a prefix of the next")
def test_a_log_of_many_starts_has_one_line_of_heads(tmp_path: Path) -> None:
    for term in range(12):
        asyncio.run(grown(tmp_path, 4, f"term {term}"))
    with opened(make_settings(tmp_path), CLOCK) as ledger:
        heads, leaves = checkpoints(ledger), leaves_of(ledger)
    hashes = [merkle.leaf_hash(leaf) for leaf in leaves]
    assert len({size for size, _ in heads}) == len(heads) >= 48
    for (size, root), (next_size, next_root) in itertools.pairwise(heads):
        proof = consistency_proof(hashes[:next_size], size)
        merkle.verify_consistency(size, root, next_size, next_root, proof)


@attack("L2", layer="log", ends="signs nothing more once anyone shows it a lost entry")
def test_a_restored_backup_does_not_sign_a_second_history(tmp_path: Path) -> None:
    live, backup = tmp_path / "live", tmp_path / "backup"
    asyncio.run(grown(live, 5, "before"))
    shutil.copytree(live, backup)
    lost = asyncio.run(grown(live, 5, "lost"))

    async def story() -> None:
        with opened(make_settings(backup), CLOCK) as ledger:
            async with running(ledger):
                held = ledger.log.published
                assert not ledger.guard.judge(lost, held, ledger.database)
                entry = Author("after", ledger.state.net).register(CLOCK())
                with suppress(TimeoutError, TequioError):
                    said = await asyncio.wait_for(ledger.sequencer.submit([entry]), 5)
                    assert not isinstance(said[0], Logged)
                assert max(checkpoints(ledger))[0] == held.size
        with opened(make_settings(backup), CLOCK) as again:
            assert again.guard.reason is not None  # a new start does not forget

    asyncio.run(asyncio.wait_for(story(), 60))


async def read(
    url: str, folder: Path, count: int, ends: AbstractContextManager[object] | None = None
) -> None:
    """Follow the log as the worker of that folder does."""
    rng, limits = Random(1), FollowerLimits(poll_s=0.1, check_s=0.1, lag_s=0.5)
    back_off = BackOff(rng, longest_s=0.1, first_s=0.02)
    with trio.fail_after(20):
        async with LedgerApi(url, limits=BRISK) as ledger:
            network = await ledger.network()
            async with LogFollower(
                ledger, network, folder, rng=rng, limits=limits, back_off=back_off
            ) as log:
                entries = log.entries(-1)
                with ends or nullcontext():
                    for _ in range(count):
                        await anext(entries)


def files_in(folder: Path) -> dict[Path, bytes]:
    return {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@attack("L3", layer="log", ends="stopped with both signed roots named; the first one stays on disk")
@pytest.mark.trio
async def test_two_histories_are_told_apart_by_anyone_who_sees_both(tmp_path: Path) -> None:
    async with serving(log_of(20)) as server:
        await read(server.url, tmp_path, 21)
        memory = files_in(tmp_path)
        for fork in (log_of(19, 1), log_of(19, 8), log_of(5)):
            server.log = fork
            both = r"root [0-9a-f]{64}.* root [0-9a-f]{64}|size \d+.*size 21"
            await read(server.url, tmp_path, 30, pytest.raises(LogForkedError, match=both))
            assert memory.items() <= files_in(tmp_path).items()


async def _entries(api: LedgerApi) -> list[bytes]:
    network = await api.network()
    found = await read_entries(api, network, range(0, 12, 4))
    return [entry.leaf() for _, entry in sorted(found.items())]


async def _network(api: LedgerApi) -> LedgerNetwork:
    async with LedgerApi(api.url, limits=BRISK) as newcomer:  # others remember it
        return await newcomer.network()


DOORS: dict[str, Callable[[LedgerApi], Awaitable[object]]] = {
    "/v1/network": _network,
    "/log/checkpoint": lambda api: api.checkpoint(),
    "/log/tile/0": _entries,
    "/log/tile/entries": _entries,
    "/v1/blobs": lambda api: api.get_blob(sha256(BLOB)),
    "/v1/seeds": lambda api: api.seeds(NET),
}


def essence(answer: object) -> object:
    """The part of an answer on which a program relies."""
    return answer.id if isinstance(answer, LedgerNetwork) else answer


@attack("A2", layer="env", ends="refused by a signature, a hash or a proof; never accepted")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.trio
async def test_a_flipped_bit_on_the_line_is_never_taken(door: str) -> None:
    ask, chance, refused = DOORS[door], Random(f"2 {door}"), 0
    async with (
        serving(log_of(len(ALICE[:20]))) as server,
        LedgerApi(server.url, limits=BRISK) as api,
    ):
        furnish(server)
        await api.network()
        honest = essence(await ask(api))
        for _ in range(25):
            server.tamper = flipping(door, chance.randrange(4_000))
            try:
                said = essence(await ask(api))
            except (PeerError, RefusedError, LedgerUnavailableError):
                refused += 1
                continue
            assert said in (honest, ()), said  # a seed's record that does not hold is left out
    assert refused or door == "/v1/seeds"
