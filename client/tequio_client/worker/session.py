"""One worker's stay in one run: its parts, and how they start, obey limits and stop together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import structlog
import trio

from tequio_client import clock
from tequio_client.ipc import trainer as link
from tequio_client.ipc.snapshot import Status
from tequio_client.worker import node as nodes
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.ledger import standing as ledger_standing
from tequio_client.worker.ledger.follower import LedgerClock, LogFollower
from tequio_client.worker.ledger.standing import StandingWatch
from tequio_client.worker.lending.facts import ENDED
from tequio_client.worker.node import Node
from tequio_client.worker.points.points import PointsRecorder
from tequio_client.worker.points.points_db import PointsDatabase
from tequio_client.worker.rounds import join, measure
from tequio_client.worker.rounds.announce import CommitmentGossip
from tequio_client.worker.rounds.dispatch import DutyRunner
from tequio_client.worker.rounds.join import JoinedRun, join_run
from tequio_client.worker.rounds.run import RunDriver, run_fields
from tequio_client.worker.rounds.statements import BeaconSecrets, EquivocationReporter, RunContext
from tequio_client.worker.rounds.workdir import BaseFiles, TrainerWorkdir, clear_work_folder
from tequio_shared.ids import to_text
from tequio_shared.network.run import RunView

if TYPE_CHECKING:
    from tequio_client.worker.ledger.outbox import Outbox
    from tequio_client.worker.lending.lending import Lending
    from tequio_client.worker.settings import WorkerSettings


log = structlog.get_logger(__name__)

QUIET_S = 3.0
"""A worker stays after the run until no peer has fetched anything from it for this long."""
MAX_STAY_S = 600.0
"""Longest stay after the run."""


class RunSession:
    """One worker's stay in one run, from joining it until it is over."""

    def __init__(
        self,
        settings: WorkerSettings,
        node: Node,
        trainer: TrainerProcess,
        lending: Lending,
        book: PointsDatabase,
        outbox: Outbox,
    ) -> None:
        self._settings = settings
        self._node = node
        self._trainer = trainer
        self._lending = lending
        self._book = book
        self._outbox = outbox
        self._work = settings.net.folder / "work"
        clear_work_folder(self._work)
        self._started = trio.current_time()
        self._ended: float | None = None  # when the run was over
        self._rounds: RunDriver | None = None
        self._deeds: DutyRunner | None = None
        self._workroom: TrainerWorkdir | None = None
        self._standing: StandingWatch | None = None
        self.run_id = ""
        """Id of the joined run, as text; kept because computing it hashes the manifest."""

    async def run(self, wanted: str | None) -> None:
        """Join the run and take part until it ends; raises UserFacingError when that fails."""
        node, network = self._node, self._node.network_info
        await self._outbox.open(network.id, network.genesis.work_bits)
        async with trio.open_nursery() as nursery:
            # Fails if the ledger lost statements of this key, even while none is waiting.
            nursery.start_soon(self._outbox.send_waiting)
            if self._settings.net.status_lines:
                nursery.start_soon(nodes.report_status, self.status)
            joined = await join_run(node, wanted)
            self.run_id = to_text(joined.manifest.run_id)
            self._lending.set_run(joined.manifest)
            async with trio.open_nursery() as work:
                work.start_soon(self._apply_limits)
                await self._take_part(joined)
                work.cancel_scope.cancel()
            await self._spread()
            nursery.cancel_scope.cancel()

    async def _apply_limits(self) -> None:
        """Apply the lending decision and its limits, now and at every change."""
        while True:
            changed, limits = self._lending.changed(), self._lending.limits()
            self._node.upload.limit(limits.upload_bytes_per_s)
            self._node.download.limit(limits.download_bytes_per_s)
            await trio.to_thread.run_sync(self._node.store.set_quota, limits.store_bytes)
            if self._rounds is not None:
                self._rounds.set_pause(self._lending.pause_reason())
            if self._workroom is not None:
                await self._workroom.apply_limits(limits)
            await changed.wait()

    async def _spread(self) -> None:
        """Stay while peers still fetch: this worker may be the only one with the last head."""
        self._ended = trio.current_time()
        self._lending.set_idle(ENDED)
        with trio.move_on_after(MAX_STAY_S):
            sent = -1
            while sent != self._node.blobs.sent_bytes:
                sent = self._node.blobs.sent_bytes
                await trio.sleep(QUIET_S)

    async def _take_part(self, joined: JoinedRun) -> None:
        node, run = self._node, joined.manifest.run_id
        points = PointsRecorder(self._book, node.signer.key)
        await points.begin()
        ledger_clock = LedgerClock(clock.now_ms)
        node.ledger.http.on_date = ledger_clock.record_date
        feedback = await join.recover_feedback(node, joined)
        async with LogFollower(
            node.ledger,
            node.network_info,
            self._settings.net.folder,
            rng=node.rng,
        ) as follower:
            follower.on_proven = points.mark_proven
            path = self._settings.net.folder / "beacon.json"
            secrets = BeaconSecrets(path, node.signer, node.network_info.id)
            announcer = await CommitmentGossip.join(node, joined.manifest)
            self._workroom = workroom = self._room(joined)
            means = RunContext(
                key=node.signer.key,
                manifest=joined.manifest,
                corpus=joined.corpus,
                roles=self._lending.roles(),
                store=node.store,
                kept=joined.kept,
                base=joined.base,
                exchange=node.exchange,
                outbox=self._outbox,
                announcer=announcer,
                secrets=secrets,
                workroom=workroom,
                points=points,
                measures_every=measure.CHART_INTERVAL if self._settings.is_minded else 0,
                feedback=feedback,
                ledger_clock=ledger_clock,
            )
            self._deeds = DutyRunner(means)
            self._standing = standing = StandingWatch(
                node.signer.key, node.ledger, ledger_clock.now_ms
            )
            await standing.refresh()
            await ledger_standing.warn_about_tier(
                node.ledger,
                node.signer.key,
                joined.manifest,
                self._lending.roles(),
                ledger_clock.now_ms(),
            )
            self._rounds = RunDriver(
                view=joined.view,
                means=means,
                deeds=self._deeds,
                standing=standing,
                rng=node.rng,
                upto=joined.upto,
            )
            self._rounds.set_pause(self._lending.pause_reason())
            reporter = EquivocationReporter(self._outbox, node.signer.key)
            announcer.on_conflict = reporter.receive
            announcer.follow(joined.view)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(announcer.listen, self._rounds.receive_announcement)
                nursery.start_soon(reporter.run)
                await self._rounds.run(follower.entries(after=joined.after))
                nursery.cancel_scope.cancel()
        await trio.to_thread.run_sync(feedback.remove)
        log.info("run ended", run=to_text(run)[:10])

    def _room(self, joined: JoinedRun) -> TrainerWorkdir:
        limits = self._lending.limits()
        return TrainerWorkdir(
            trainer=self._trainer,
            prepare=link.Prepare(
                command=1,
                manifest=str(joined.manifest_path),
                config=str(joined.config_path),
                data_manifest=str(joined.corpus_path),
                tokenizer=str(joined.tokenizer_path) if joined.tokenizer_path else None,
                device=limits.device,
                threads=limits.threads,
                memory_mb=limits.memory_mb,
                share_percent=limits.share_percent,
            ),
            folder=self._work,
            store=self._node.store,
            exchange=self._node.exchange,
            base=BaseFiles(joined.manifest.frozen, self._node.store, self._node.exchange),
        )

    async def leave(self) -> None:
        """Submit member.leave, unless the run is over or not joined yet."""
        if self._rounds is not None and self._ended is None:
            await self._rounds.leave()

    @property
    def current_round(self) -> int | None:
        """Number of the round in which this key has a slot, until it is over."""
        return self._rounds.current_round if self._rounds is not None else None

    @property
    def idle_reason(self) -> str:
        """Why this key may be in no roster now; empty: it may."""
        return self._standing.idle_reason() if self._standing is not None else ""

    @property
    def standing(self) -> str:
        """Standing of this key, in the protocol's word; empty: not known yet."""
        known = self._standing.known if self._standing is not None else None
        return known.standing if known is not None else ""

    @property
    def view(self) -> RunView | None:
        """The run's view as of the last entry read; None: not joined yet."""
        return self._rounds.view if self._rounds is not None else None

    @property
    def loss(self) -> float | None:
        """Loss of this worker's last training, nats per token; None: nothing trained yet."""
        tally = self._deeds.tally if self._deeds is not None else None
        return tally.loss_last if tally is not None and tally.rounds_trained else None

    @property
    def bits_per_byte(self) -> float | None:
        """Loss of the newest measured head on held-out text, bits per byte."""
        return self._rounds.bits_per_byte if self._rounds is not None else None

    def status(self) -> Status:
        node, alive, ready = self._node, self._trainer.heartbeat, self._trainer.ready
        facts = run_fields(self._rounds.view) if self._rounds else {}
        held = self._deeds.held if self._deeds else None
        tally = self._deeds.tally if self._deeds else None
        ended_s = trio.current_time() if self._ended is None else self._ended
        return msgspec.structs.replace(
            nodes.node_status(
                node,
                self._settings.roles,
                str(facts.get("state", "joining")),
                ended_s - self._started,
            ),
            run=self.run_id if self._rounds else "",
            round=self._rounds.view.number if self._rounds else 0,
            duty=alive.doing if alive else "starting" if self._ended is None else "spreading",
            head=to_text(held.hash) if held else "",
            head_round=held.round if held else -1,
            verdict=self._rounds.verdict if self._rounds else "",
            rounds_trained=tally.rounds_trained if tally else 0,
            proofs=tally.proofs if tally else 0,
            tokens=tally.tokens if tally else 0,
            train_seconds=tally.train_seconds if tally else 0.0,
            loss=tally.loss_last if tally else 0.0,
            trainer_resident_mb=alive.resident_mb if alive else 0,
            device=ready.device if ready else "",
            waiting=self._rounds.waiting_reason if self._rounds and self._ended is None else "",
            problem=self._trainer.failure or "",
        )
