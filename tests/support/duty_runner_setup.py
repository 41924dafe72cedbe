"""A worker's DutyRunner with real store, outbox, feedback and trainer process.

The trainer is the synthetic one, and the ledger and the round's swarm are in memory.
"""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import trio

from tequio_client.ipc import trainer as link
from tequio_client.ledger.announcement import NetworkAnnouncement
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.releases import MinimumVersion
from tequio_client.worker.children.process import ChildProgram
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.ledger.follower import LedgerClock
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.points.points import PointsRecorder
from tequio_client.worker.points.points_db import PointsDatabase
from tequio_client.worker.rounds import duties
from tequio_client.worker.rounds.fault_reports import FaultReports
from tequio_client.worker.rounds.feedback import ErrorFeedback
from tequio_client.worker.rounds.run import DutyRunner
from tequio_client.worker.rounds.statements import RunContext
from tequio_client.worker.rounds.workdir import RecordedHeads, TrainerWorkdir, clear_work_folder
from tequio_client.worker.store.store import Store, StorePins
from tequio_client.worker.swarm.transfer import Exchange
from tequio_shared.ids import to_text
from tequio_shared.limits import PIECE_BYTES
from tequio_shared.network.run import first_head
from tequio_shared.statements.statement import Entry
from tests.support.authors import WORK_BITS
from tests.support.duty_swarm import ROLES
from tests.support.memory_log import NET, MemoryLog, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tequio_client.worker.rounds.gossip import EntryGossip
    from tequio_client.worker.rounds.omissions import OmissionWatch
    from tequio_client.worker.swarm.streams import BlobClient
    from tequio_client.worker.swarm.transfer import Fetcher
    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.round.corpus import Corpus
    from tequio_shared.round.round import RoundView
    from tequio_shared.statements.network import Role
    from tequio_shared.statements.statement import Body
    from tests.support.duty_swarm import DutySwarm


PAPER = (sys.executable, "-m", "tests.support.synthetic_trainer")


class RecordingAnnouncer:
    """Records the announced entries."""

    def __init__(self) -> None:
        self.announced: list[Entry] = []

    def announce(self, entry: Entry) -> None:
        """Record the entry."""
        self.announced.append(entry)


@dataclass
class DutyRunnerSetup:
    """One worker's folder in a swarm's round; every `open` is a new life of the worker."""

    folder: Path
    swarm: DutySwarm
    log: MemoryLog = field(default_factory=MemoryLog.founded)
    announcer: RecordingAnnouncer = field(default_factory=RecordingAnnouncer)
    store: Store | None = None  # of the current life
    held_out_documents: int = 5
    roles: tuple[Role, ...] = ROLES
    withheld: set[Digest] = field(default_factory=set)
    rank_owners: dict[int, PeerKey] = field(default_factory=dict)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[DutyRunner]:
        """Start the worker: everything but the folder and the ledger is new."""
        manifest, signer = self.swarm.manifest, self.swarm.members[0].voice.signer
        (self.folder / "manifest").write_bytes(manifest.encode())
        store = self.store = Store(self.folder / "store", quota_bytes=1 << 30)
        first = self.swarm.arithmetic.weights[first_head(manifest).weights_root]
        store.put_tree(first.astype("<i4").tobytes(), PIECE_BYTES)
        for payload in self.swarm.arithmetic.payloads.values():
            assert self.swarm.view.round is not None
            store.put_tree(payload, self.swarm.view.round.shape.group_bytes)
        pins = StorePins(store)
        clear_work_folder(self.folder / "work")
        paper = ChildProgram(command=PAPER, environment=os.environ, line_bytes=link.LINE_BYTES)
        trainer = TrainerProcess(paper)
        async with serving(self.log) as server, LedgerApi(server.url) as api:
            fetcher = cast("Fetcher", SimpleNamespace(store=store))
            exchange = Exchange(fetcher, api, lambda: ())
            async with (
                Outbox(api, self.folder, signer, clock=lambda: self.swarm.now_ms) as outbox,
                trio.open_nursery() as nursery,
            ):
                await outbox.open(NET, WORK_BITS)
                book = PointsDatabase.opened(self.folder, signer.key)
                nursery.start_soon(trainer.run)
                yield DutyRunner(
                    RunContext(
                        key=signer.key,
                        manifest=manifest,
                        corpus=cast("Corpus", _corpus(store, self.held_out_documents)),
                        roles=self.roles,
                        store=store,
                        pins=pins,
                        recorded_heads=RecordedHeads(self.folder, manifest.run_id),
                        starting_head=None,
                        exchange=exchange,
                        withheld=self.withheld,
                        client=cast("BlobClient", None),  # no audit is ordered
                        outbox=outbox,
                        announcer=cast("EntryGossip", self.announcer),
                        reports=FaultReports(outbox, signer.key, api, await api.network()),
                        omissions=cast("OmissionWatch", None),  # a driver's, not a runner's
                        prove=signer.prove,
                        workdir=TrainerWorkdir(
                            trainer=trainer,
                            prepare=self._prepare(),
                            folder=self.folder / "work",
                            pins=pins,
                            exchange=exchange,
                            frozen=None,
                        ),
                        feedback=ErrorFeedback(self.folder / "feedback", manifest.run_id),
                        ledger_clock=LedgerClock(lambda: self.swarm.now_ms),
                        minimum=MinimumVersion(api),
                        announcement=NetworkAnnouncement(api),
                        points=PointsRecorder(book, signer.key, to_text(manifest.run_id)),
                        rank_owners=self.rank_owners,
                        measures_every=0,
                    )
                )
                nursery.cancel_scope.cancel()
                book.close()

    def _prepare(self) -> link.Prepare:
        path = str(self.folder / "manifest")
        return link.Prepare(command=1, manifest=path, config=path, data_manifest=path)

    def logged(self, kind: type[Body]) -> list[Body]:
        """Bodies of that type in the ledger's log."""
        bodies = [Entry.parse(leaf).statement.body for leaf in self.log.leaves]
        return [body for body in bodies if isinstance(body, kind)]

    @property
    def round(self) -> RoundView:
        """The swarm's round."""
        assert self.swarm.view.round is not None
        return self.swarm.view.round

    async def hold_head(self, runner: DutyRunner) -> None:
        """Fetch the head that the round starts from; it is in the store already."""
        await runner.perform(duties.FetchDuty(first_head(self.swarm.manifest)), self.swarm.view)


def _corpus(store: Store, documents: int) -> SimpleNamespace:
    """A corpus with one stored shard to train on; with any documents, it is held out too."""
    shard = store.put_tree(b"tokens", PIECE_BYTES)
    listed = SimpleNamespace(root=to_text(shard.root), size_bytes=shard.size_bytes)
    return SimpleNamespace(
        held_out=(SimpleNamespace(**vars(listed), tokens=20_000, documents=documents),)
        if documents
        else (),
        train=(SimpleNamespace(root=to_text(shard.root), size_bytes=shard.size_bytes),),
        order=lambda _: SimpleNamespace(shards_of=lambda *_: (0,)),
    )
