"""Heads: the right bytes of the right head, at the price of what is missing; real stores and peers.

The trainer is not needed: nothing here gets as far as computing a head.
"""

from __future__ import annotations

import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.lending.needs import MAX_HEADS
from tequio_client.worker.rounds.catch_up import payload_refs
from tequio_client.worker.rounds.head import STALL_TIMEOUT_S, HeadKeeper
from tequio_client.worker.rounds.workdir import HEADS_FILE, RecordedHeads
from tequio_client.worker.store.store import Store, StorePins
from tequio_client.worker.store.trees import head_refs
from tequio_client.worker.swarm.blob_server import BlobServer
from tequio_client.worker.swarm.transfer import Exchange, Fetcher
from tequio_shared.errors import PeerError, first_error
from tequio_shared.head.chain import AcceptedSet, AcceptedWork, Head
from tequio_shared.head.contribution import ExpectedContribution, RecordShape, payload_seal
from tequio_shared.ids import ZERO_DIGEST, ContributionId, Digest, HeadHash, RunId, sha256
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.round.manifest import Algorithm
from tests.support import memory_log
from tests.support.attack_table import attack
from tests.support.loopback import two_peers
from tests.support.partial_trees import flip

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tequio_client.worker.rounds.statements import RunContext
    from tequio_shared.ids import PeerKey
    from tequio_shared.round.manifest import Manifest


PIECES = 5
WEIGHTS = random.Random(1).randbytes(PIECES * PIECE_BYTES)
RUN = RunId(sha256(b"run"))


class IdleTrainer:
    """A prepared trainer without requests."""

    async def prepare_trainer(self) -> None:
        """At once."""
        await trio.lowlevel.checkpoint()


@dataclass(frozen=True, kw_only=True)
class HeadPeers:
    """Our heads, our store, and another peer with its own."""

    heads: HeadKeeper
    ours: Store
    theirs: Store
    exchange: Exchange
    fetcher: Fetcher
    other: PeerKey


@asynccontextmanager
async def peers(
    folder: Path,
    base: Head | None = None,
    stall_timeout_s: float = STALL_TIMEOUT_S,
    aux_bytes: int = 0,
) -> AsyncIterator[HeadPeers]:
    ours, theirs = (Store(folder / name, quota_bytes=10**9) for name in ("ours", "theirs"))
    async with two_peers() as (there, here), LedgerApi(memory_log.unused_url()) as api:
        BlobServer(there, theirs)
        async with Fetcher(here, ours, rng=random.Random(1)) as fetcher:
            exchange = Exchange(fetcher, api, here.connected_peers)
            rules = cast(
                "Manifest",
                SimpleNamespace(
                    run_id=RUN,
                    weights_bytes=len(WEIGHTS),
                    aux_bytes=aux_bytes,
                    algorithm=Algorithm(),
                ),
            )
            means = SimpleNamespace(
                manifest=rules,
                refs=lambda head: head_refs(rules, head),
                store=ours,
                pins=StorePins(ours),
                exchange=exchange,
                workdir=IdleTrainer(),
                recorded_heads=RecordedHeads(folder, RUN),
                starting_head=base,
            )
            with trio.fail_after(60):
                yield HeadPeers(
                    heads=HeadKeeper(cast("RunContext", means), stall_timeout_s=stall_timeout_s),
                    ours=ours,
                    theirs=theirs,
                    exchange=exchange,
                    fetcher=fetcher,
                    other=there.key,
                )


def head_of(content: bytes, store: Store, round_: int = 7) -> Head:
    """Put weights into a store as those of a head."""
    return head_named(store.put_tree(content, PIECE_BYTES).root, round_)


def head_named(weights: Digest, round_: int = 7, aux: Digest = ZERO_DIGEST) -> Head:
    parent, fixed = HeadHash(sha256(b"parent")), sha256(b"set")
    return Head.of(RUN, round_, parent=parent, set_root=fixed, weights_root=weights, aux_root=aux)


@pytest.mark.trio
async def test_weights_that_are_here_are_hashed_before_they_are_held(tmp_path: Path) -> None:
    async with peers(tmp_path) as now:
        head = head_of(WEIGHTS, now.theirs)
        now.ours.put_tree(WEIGHTS, PIECE_BYTES)
        await now.heads.fetch(head)
        assert now.heads.held == head
        assert now.fetcher.client.streams.received_bytes == 0
        flip(now.ours.tree_path(head.weights_root), 2 * PIECE_BYTES + 5)
        await now.heads.fetch(head)
        assert dict(now.exchange.received) == {now.other: PIECE_BYTES}
        assert now.fetcher.client.streams.received_bytes <= PIECE_BYTES + 100
        assert now.ours.tree_path(head.weights_root).read_bytes() == WEIGHTS


@attack("M8", layer="mdl", ends="the pieces that differ come from the others")
@pytest.mark.trio
async def test_of_a_head_that_differs_from_our_own_only_that_is_fetched(tmp_path: Path) -> None:
    mistaken = bytearray(WEIGHTS)
    mistaken[4 * PIECE_BYTES] ^= 8
    async with peers(tmp_path) as now:
        await now.heads.fetch(head_of(bytes(mistaken), now.ours))
        right = head_of(WEIGHTS, now.theirs)
        await now.heads.fetch(right)
        assert now.heads.held == right
        assert dict(now.exchange.received) == {now.other: PIECE_BYTES}
        assert now.fetcher.client.streams.received_bytes <= PIECE_BYTES + 32 * PIECES + 100


@pytest.mark.trio
async def test_the_state_beside_the_weights_is_fetched_and_mended_too(tmp_path: Path) -> None:
    momentum = random.Random(2).randbytes(2 * PIECE_BYTES)
    async with peers(tmp_path, aux_bytes=len(momentum)) as now:
        weights, aux = (now.theirs.put_tree(one, PIECE_BYTES).root for one in (WEIGHTS, momentum))
        head = head_named(weights, aux=aux)
        await now.heads.fetch(head)
        assert now.heads.held == head
        assert now.ours.tree_path(aux).read_bytes() == momentum
        flip(now.ours.tree_path(aux), 9)
        await now.heads.fetch(head)
        assert now.ours.tree_path(aux).read_bytes() == momentum
        assert dict(now.exchange.received) == {now.other: (PIECES + 3) * PIECE_BYTES}


@pytest.mark.trio
async def test_the_zeros_beside_the_first_head_are_not_fetched(tmp_path: Path) -> None:
    async with peers(tmp_path, stall_timeout_s=0.5, aux_bytes=PIECE_BYTES) as now:
        weights = now.theirs.put_tree(WEIGHTS, PIECE_BYTES).root
        head = head_named(weights, 0, aux=sha256(b"nobody has it"))
        await now.heads.fetch(head)
        assert now.heads.held == head


def closed_after(parent: Head, payloads: list[bytes], trainer: PeerKey) -> AcceptedSet:
    """A round that accepted these payloads."""
    shape = RecordShape(algorithm="sparseloco", k=8, bits=2)
    works = tuple(
        AcceptedWork(
            trainer=trainer,
            id=ContributionId(sha256(payload)),
            header=b"",
            payload_root=sha256(payload),  # nobody has such a tree
            seal=payload_seal(trainer, [payload]),
        )
        for payload in payloads
    )
    expected = ExpectedContribution(
        shape=shape,
        chunks=4,
        run_id=RUN,
        round=parent.round + 1,
        base_head=parent.hash,
        assigned={},
        window_tokens=1,
        max_inner_steps=1,
    )
    return AcceptedSet(index=9, expected=expected, set_root=sha256(b"set"), works=works)


@attack("M7", layer="mdl", ends="given up; the process continues with the attested head")
@pytest.mark.trio
async def test_contributions_that_nobody_has_are_given_up(tmp_path: Path) -> None:
    async with peers(tmp_path, stall_timeout_s=0.5) as now:
        head = head_of(WEIGHTS, now.ours)
        await now.heads.fetch(head)
        closed = closed_after(head, [b"a", b"b"], now.other)
        assert len(list(payload_refs(closed))) == 2
        with pytest.raises((PeerError, ExceptionGroup)) as caught:
            await now.heads.advance(closed)
        assert "no contribution of round 8 arrived for" in str(first_error(caught.value))
        assert now.heads.held == head


@attack("M8", layer="mdl", ends="found by its hash before use, and repaired")
@pytest.mark.trio
async def test_a_parent_that_was_damaged_is_mended_before_the_next_head(tmp_path: Path) -> None:
    async with peers(tmp_path, stall_timeout_s=3.0) as now:
        head = head_of(WEIGHTS, now.ours)
        now.theirs.put_tree(WEIGHTS, PIECE_BYTES)
        await now.heads.fetch(head)
        flip(now.ours.tree_path(head.weights_root), 77)
        with pytest.raises((PeerError, ExceptionGroup)):
            await now.heads.advance(closed_after(head, [b"a"], now.other))
        assert now.ours.tree_path(head.weights_root).read_bytes() == WEIGHTS
        assert dict(now.exchange.received) == {now.other: PIECE_BYTES}


@pytest.mark.trio
async def test_an_old_head_that_nobody_has_any_more_is_given_up(tmp_path: Path) -> None:
    gone = head_named(sha256(b"gone"))
    async with peers(tmp_path, base=gone, stall_timeout_s=0.5) as now:
        assert now.heads.fetching == gone
        with pytest.raises(PeerError, match="no peer sent any of head 7"):
            await now.heads.fetch(gone)
        assert now.heads.fetching is None


@pytest.mark.trio
async def test_a_head_is_held_whole_though_the_log_overtakes_it_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = RecordedHeads.record
    async with peers(tmp_path) as now:
        heads = [head_of(bytes([number]), now.ours, number) for number in range(MAX_HEADS + 1)]
        for head in heads[:-1]:
            await now.heads.fetch(head)
        with trio.CancelScope() as duty:

            def record_overtaken(self: RecordedHeads, head: Head) -> tuple[Head, ...]:
                trio.from_thread.run_sync(duty.cancel)
                return record(self, head)

            monkeypatch.setattr(RecordedHeads, "record", record_overtaken)
            await now.heads.fetch(heads[-1])
            await trio.lowlevel.checkpoint()
        assert duty.cancelled_caught
        assert not now.ours.has_tree(heads[0].weights_root), "the oldest has no place any more"
        monkeypatch.undo()
        await now.heads.fetch(heads[-1])
        assert now.heads.held == heads[-1]


def test_heads_are_written_down_for_a_later_life_in_the_same_run(tmp_path: Path) -> None:
    kept = RecordedHeads(tmp_path, RUN)
    heads = [head_named(sha256(bytes([number])), number) for number in range(MAX_HEADS + 3)]
    left = [one for head in heads for one in kept.record(head)]
    assert left == heads[:3], "those that the file has no place for"
    assert kept.record(heads[-2]) == ()
    expected = (heads[-2], heads[-1], *reversed(heads[3:-2]))
    assert RecordedHeads(tmp_path, RUN).heads == expected
    assert not RecordedHeads(tmp_path, RunId(sha256(b"other"))).heads
    (file,) = tmp_path.glob(HEADS_FILE.format(run="*"))
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"round":9,', b'"round":8,'))
    assert not RecordedHeads(tmp_path, RUN).heads, "another round gives another hash"
    file.write_bytes(content[:-9])
    assert not RecordedHeads(tmp_path, RUN).heads


def test_a_list_of_heads_that_another_program_reads_hinders_no_end_of_a_run(tmp_path: Path) -> None:
    kept = RecordedHeads(tmp_path, RUN)
    kept.record(head_named(sha256(b"head"), 1))
    (file,) = tmp_path.iterdir()
    with file.open("rb"):
        kept.remove()
        assert file.exists()
    kept.remove()
    assert not file.exists()
