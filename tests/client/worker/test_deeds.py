"""The deeds with real store, outbox, feedback and trainer process: what they leave and say.

The trainer is the paper one, the ledger in memory; the round is that of a swarm in memory.
"""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
import trio

from tequio_client.ledger_api import LedgerApi
from tequio_client.link import messages as link
from tequio_client.worker import duty as duties
from tequio_client.worker.base_files import BaseFiles
from tequio_client.worker.beacon_secrets import BeaconSecrets
from tequio_client.worker.deeds import Deeds
from tequio_client.worker.exchange import Exchange
from tequio_client.worker.feedback import Feedback
from tequio_client.worker.kept_heads import KeptHeads
from tequio_client.worker.ledger_clock import LedgerClock
from tequio_client.worker.means import Means
from tequio_client.worker.outbox import Outbox
from tequio_client.worker.points import Points
from tequio_client.worker.points_book import PointsBook
from tequio_client.worker.store import Store
from tequio_client.worker.trainer_process import TrainerProcess
from tequio_client.worker.voice import SAID_KEPT
from tequio_client.worker.workroom import Workroom, clear_work_folder
from tequio_shared.accepted import accepted_set
from tequio_shared.contribution import Header
from tequio_shared.errors import RefusedError
from tequio_shared.ids import from_text, to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.run import first_head
from tequio_shared.statement import Entry
from tequio_shared.statements.members import MemberReady
from tequio_shared.statements.rounds import (
    HeadAttest,
    HeadMeasure,
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundWitness,
    Sample,
    WitnessProof,
    WorkCommit,
)
from tests.client.worker.test_duty import stopped
from tests.support.authors import WORK_BITS
from tests.support.memory_log import NET, MemoryLog, serving
from tests.support.paper_trainer import DIARY, UNWRITTEN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tequio_client.worker.announce import Announcer
    from tequio_client.worker.fetch import Fetcher
    from tequio_client.worker.means import Tracker
    from tequio_shared.corpus import Corpus
    from tequio_shared.round import RoundView
    from tequio_shared.statements import Body
    from tests.support.dutiful import DutifulSwarm

pytestmark = pytest.mark.trio

PAPER = (sys.executable, "-m", "tests.support.paper_trainer")


class PaperAnnouncer:
    """Notes what is announced."""

    def __init__(self) -> None:
        self.announced: list[Entry] = []

    async def announce(self, entry: Entry) -> None:
        """Note it."""
        await trio.lowlevel.checkpoint()
        self.announced.append(entry)


@dataclass
class Desk:
    """One worker's folder in a swarm's round, opened as often as the test likes."""

    folder: Path
    swarm: DutifulSwarm
    log: MemoryLog = field(default_factory=MemoryLog.founded)
    announcer: PaperAnnouncer = field(default_factory=PaperAnnouncer)
    store: Store | None = None  # of the life that is open
    held_out_documents: int = 5

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Deeds]:
        """Begin a life: everything but the folder and the ledger is new."""
        manifest, signer = self.swarm.manifest, self.swarm.members[0].voice.signer
        (self.folder / "manifest").write_bytes(manifest.encode())
        store = self.store = Store(self.folder / "store", quota_bytes=1 << 30)
        first = self.swarm.workshop.weights[first_head(manifest).weights_root]
        store.put_tree(first.astype("<i4").tobytes(), PIECE_BYTES)
        for payload in self.swarm.workshop.payloads.values():
            assert self.swarm.view.round is not None
            store.put_tree(payload, self.swarm.view.round.shape.group_bytes)
        clear_work_folder(self.folder / "work")
        trainer = TrainerProcess(dict(os.environ), PAPER)
        async with serving(self.log) as server, LedgerApi(server.url) as api:
            exchange = Exchange(
                store=store, fetcher=cast("Fetcher", None), ledger=api, peers=lambda: ()
            )
            async with (
                Outbox(
                    self.folder,
                    signer=signer,
                    net=NET,
                    work_bits=WORK_BITS,
                    ledger=api,
                    clock=lambda: self.swarm.now_ms,
                    rng=Random(1),
                ) as outbox,
                trio.open_nursery() as nursery,
            ):
                book = PointsBook.opened(self.folder, signer.key)
                nursery.start_soon(trainer.run)
                yield Deeds(
                    Means(
                        key=signer.key,
                        manifest=manifest,
                        corpus=cast("Corpus", _corpus(store, self.held_out_documents)),
                        roles=("trainer", "witness"),
                        store=store,
                        kept=KeptHeads(self.folder, manifest.run_id),
                        base=None,
                        exchange=exchange,
                        outbox=outbox,
                        announcer=cast("Announcer", self.announcer),
                        secrets=BeaconSecrets(self.folder / "beacon.json", signer, NET),
                        workroom=Workroom(
                            trainer=trainer,
                            prepare=self._prepare(),
                            folder=self.folder / "work",
                            store=store,
                            exchange=exchange,
                            base=BaseFiles(None, store, exchange),
                        ),
                        feedback=Feedback(self.folder / "feedback", manifest.run_id),
                        ledger_clock=LedgerClock(lambda: self.swarm.now_ms),
                        points=Points(book, signer.key),
                        measures_every=0,
                    )
                )
                nursery.cancel_scope.cancel()
                book.close()

    def _prepare(self) -> link.Prepare:
        path = str(self.folder / "manifest")
        return link.Prepare(wish=1, manifest=path, config=path, data_manifest=path)

    def said(self, kind: type[Body]) -> list[Body]:
        """What the ledger has of ours, of that type."""
        bodies = [Entry.parse(leaf).statement.body for leaf in self.log.leaves]
        return [body for body in bodies if isinstance(body, kind)]

    @property
    def tracker(self) -> Tracker:
        """Who follows the run."""
        return cast("Tracker", SimpleNamespace(view=self.swarm.view, lately=tuple))

    @property
    def round(self) -> RoundView:
        """The swarm's round."""
        assert self.swarm.view.round is not None
        return self.swarm.view.round

    async def hold_head(self, deeds: Deeds) -> None:
        """Take up the head that the round starts from; it lies in the store."""
        await deeds.do(duties.FetchHead(first_head(self.swarm.manifest)), self.tracker)


def _corpus(store: Store, documents: int) -> SimpleNamespace:
    """One shard, which is here, to train on and, with any documents, to measure with."""
    shard = store.put_tree(b"tokens", PIECE_BYTES)
    listed = SimpleNamespace(root=to_text(shard.root), size_bytes=shard.size_bytes)
    return SimpleNamespace(
        held_out=(SimpleNamespace(**vars(listed), tokens=20_000, documents=documents),)
        if documents
        else (),
        train=(SimpleNamespace(root=to_text(shard.root), size_bytes=shard.size_bytes),),
        train_roots=lambda: (shard.root,),
        order=lambda _: SimpleNamespace(shards_of=lambda *_: (0,)),
    )


async def test_training_leaves_payload_and_feedback_and_commits(tmp_path: Path) -> None:
    desk = Desk(tmp_path, stopped(RoundOpen))
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.do(duties.Train(1), desk.tracker)
            assert duties.Train(1) in deeds.said
            assert deeds.tally.rounds_trained == 1
        (body,) = desk.said(WorkCommit)
        assert isinstance(body, WorkCommit)
        header = Header.parse(from_text(body.header, None))
        assert not desk.round.broken_rule(desk.swarm.members[0].key, header)
        assert Store(tmp_path / "store", quota_bytes=1 << 30).has_tree(header.payload_root)
        assert Feedback(tmp_path / "feedback", header.run_id).open_header == header
        assert [one.statement.body for one in desk.announcer.announced] == [body]


async def test_who_comes_back_says_the_same_again_without_training(tmp_path: Path) -> None:
    desk = Desk(tmp_path, stopped(RoundOpen))
    with trio.fail_after(120):
        for _ in range(2):
            async with desk.open() as deeds:
                await desk.hold_head(deeds)
                await deeds.do(duties.Train(1), desk.tracker)
                assert duties.Train(1) in deeds.said
        assert deeds.tally.rounds_trained == 0
        assert len(desk.said(WorkCommit)) == 1


async def test_what_was_trained_and_not_said_is_said_without_training(tmp_path: Path) -> None:
    desk = Desk(tmp_path, stopped(RoundOpen))
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.do(duties.Train(1), desk.tracker)
        (tmp_path / "outbox.sqlite").unlink()
        (body,), desk.log = desk.said(WorkCommit), MemoryLog.founded()
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.do(duties.Train(1), desk.tracker)
            assert deeds.tally.rounds_trained == 0
        assert desk.said(WorkCommit) == [body]


async def test_a_secret_that_the_log_does_not_know_is_replaced(tmp_path: Path) -> None:
    desk = Desk(tmp_path, stopped(RoundRoster))
    desk.log.refusals["head.attest"] = "wrong-reveal"
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.do(duties.Attest(1), desk.tracker)
            assert duties.Attest(1) in deeds.said
            assert duties.Ready(desk.round.roster_index) in deeds.said
    assert not desk.said(HeadAttest)
    assert len(desk.said(MemberReady)) == 1


async def test_a_witness_vouches_for_what_is_here_and_says_it_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path, stopped(RoundWitness))
    with trio.fail_after(120):
        for _ in range(2):
            async with desk.open() as deeds:
                await deeds.do(duties.Prove(1), desk.tracker)
                assert duties.Prove(1) in deeds.said
    (body,) = desk.said(WitnessProof)
    assert isinstance(body, WitnessProof)
    assert body.count == len(desk.round.commitments) == 3


async def test_what_was_measured_before_a_duty_came_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = tmp_path / "diary"
    monkeypatch.setenv(DIARY, str(diary))
    desk = Desk(tmp_path, stopped(RoundOpen))
    asked = duties.Measure(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await called_away(desk, deeds, asked, diary, 3)
            assert not deeds.said
            await deeds.do(asked, desk.tracker)
            assert asked in deeds.said
            assert deeds.measuring.bits_per_byte == pytest.approx(3.0)
    begun = [int(line.split()[1]) for line in diary.read_text().splitlines()]
    assert begun == [0, 1, 2, 2, 3]
    (body,) = desk.said(HeadMeasure)
    assert body == HeadMeasure(
        head=to_text(asked.head.hash),
        millibits=98_304_000,
        size_bytes=32_768,
        tokens=16_384,
        sample=Sample(prompt="Words", text=" of document 0"),
    )


async def called_away(
    desk: Desk, deeds: Deeds, asked: duties.Measure, diary: Path, slices: int
) -> None:
    """Measure until so many slices were begun."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deeds.do, asked, desk.tracker)
        while lines(diary) < slices:  # noqa: ASYNC110 - another process writes it
            await trio.sleep(0.01)
        nursery.cancel_scope.cancel()


def lines(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


async def test_weights_stay_while_a_measure_of_them_waits_for_more_urgent_duties(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = tmp_path / "diary"
    monkeypatch.setenv(DIARY, str(diary))
    desk = Desk(tmp_path, stopped(RoundOpen), held_out_documents=1)
    asked = duties.Measure(first_head(desk.swarm.manifest), is_drawn=True)
    weights = asked.head.weights_root
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            await called_away(desk, deeds, asked, diary, 1)
            deeds.measuring.let_go_but([asked.head])
            desk.store.remove(weights)
            await deeds.do(asked, desk.tracker)
            assert desk.store.has_tree(weights)
            desk.store.remove(weights)
            assert not desk.store.has_tree(weights), "it is measured"


async def test_weights_of_a_head_that_nobody_asks_for_any_more_may_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = tmp_path / "diary"
    monkeypatch.setenv(DIARY, str(diary))
    desk = Desk(tmp_path, stopped(RoundOpen), held_out_documents=1)
    asked = duties.Measure(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            await called_away(desk, deeds, asked, diary, 1)
            deeds.measuring.let_go_but([])
            desk.store.remove(asked.head.weights_root)
            assert not desk.store.has_tree(asked.head.weights_root)


async def test_damaged_weights_of_an_old_head_are_not_measured(tmp_path: Path) -> None:
    desk = Desk(tmp_path, stopped(RoundOpen), held_out_documents=1)
    asked = duties.Measure(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            assert desk.store is not None
            file = desk.store.tree_path(asked.head.weights_root)
            file.chmod(0o644)
            file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
            with pytest.raises(RefusedError, match="damaged here"):
                await deeds.do(asked, desk.tracker)
            assert asked in deeds.said
    assert not desk.said(HeadMeasure)


async def test_a_head_that_writes_nothing_is_measured_all_the_same(tmp_path: Path) -> None:
    desk = Desk(tmp_path, stopped(RoundOpen), held_out_documents=1)
    head = replace(first_head(desk.swarm.manifest), round=UNWRITTEN)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await deeds.do(duties.Measure(head, is_drawn=True), desk.tracker)
    (body,) = desk.said(HeadMeasure)
    assert isinstance(body, HeadMeasure)
    assert body.tokens == 4_096
    assert body.sample is msgspec.UNSET


async def test_who_comes_back_says_what_it_measured_before_and_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = tmp_path / "diary"
    monkeypatch.setenv(DIARY, str(diary))
    desk = Desk(tmp_path, stopped(RoundOpen), held_out_documents=1)
    asked = duties.Measure(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        for _ in range(2):
            async with desk.open() as deeds:
                await deeds.do(asked, desk.tracker)
                assert asked in deeds.said
    assert lines(diary) == 1
    assert len(desk.said(HeadMeasure)) == 1


async def test_a_measure_that_failed_is_remembered_for_as_long_as_it_is_asked_for(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, stopped(RoundOpen), held_out_documents=0)
    asked = duties.Measure(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            with pytest.raises(RefusedError):
                await deeds.do(asked, desk.tracker)
            for _ in range(SAID_KEPT):
                await deeds.do(duties.TakeLeave(1), desk.tracker)
            assert asked in deeds.said


async def test_what_cannot_be_measured_is_not_tried_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, stopped(RoundOpen), held_out_documents=0)
    asked = duties.Measure(first_head(desk.swarm.manifest), is_drawn=True)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            with pytest.raises(RefusedError, match="no held-out text"):
                await deeds.do(asked, desk.tracker)
            assert asked in deeds.said
    assert not desk.said(HeadMeasure)


async def test_a_closed_round_leads_to_the_head_that_everybody_computes(tmp_path: Path) -> None:
    swarm = stopped(RoundClose)
    desk = Desk(tmp_path, swarm)
    closed = accepted_set(len(swarm.entries) - 1, desk.round)
    with trio.fail_after(120):
        async with desk.open() as deeds:
            await desk.hold_head(deeds)
            await deeds.do(duties.Advance(closed), desk.tracker)
            held = deeds.held
    while not isinstance(swarm.entries[-1].statement.body, HeadPromote):
        assert swarm.step()
    assert held == swarm.view.head
