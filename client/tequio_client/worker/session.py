"""One device's stay in one run: its parts, and how they start, obey limits and stop together.

A worker has a session for each device that is in a run. They share key, node, store, outbox and
points; whatever a session joined, pinned or registered there is given back when it ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TypeVar

import msgspec
import structlog
import trio

from tequio_client.ipc.snapshot import Status
from tequio_client.ledger.announcement import NetworkAnnouncement
from tequio_client.ledger.releases import MinimumVersion
from tequio_client.worker import node as nodes
from tequio_client.worker.children.trainer import isolated_program, work_folder
from tequio_client.worker.ledger.follower import LogFollower
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.ledger.standing import StandingWatch, check_receivers, warn_about_tier
from tequio_client.worker.lending.facts import ENDED
from tequio_client.worker.lending.lending import Lending, LentDevice
from tequio_client.worker.node import Node
from tequio_client.worker.points.points import PointsRecorder
from tequio_client.worker.points.points_db import PointsDatabase
from tequio_client.worker.rounds import gossip, join, measure
from tequio_client.worker.rounds.fault_reports import FaultReports
from tequio_client.worker.rounds.join import JoinedRun, join_run
from tequio_client.worker.rounds.omissions import OmissionFile, OmissionWatch
from tequio_client.worker.rounds.run import DutyRunner, RunDriver
from tequio_client.worker.rounds.statements import RunContext
from tequio_client.worker.rounds.workdir import AllowedArchive, TrainerWorkdir, clear_work_folder
from tequio_client.worker.settings import WorkerSettings
from tequio_client.worker.store.store import StorePins
from tequio_client.worker.swarm.feedback_leaves import LeafSource
from tequio_shared.errors import PeerError
from tequio_shared.ids import to_text
from tequio_shared.round.documents import TRAINER
from tequio_shared.round.manifest import Manifest

log = structlog.get_logger(__name__)

_T = TypeVar("_T")

QUIET_S = 3.0
"""A worker stays after the run until no peer has fetched anything from it for this long."""
MAX_STAY_S = 600.0
"""Longest stay after the run."""
LEAVE_TOPIC_S = 2.0
"""Longest time for telling the peers that a topic is left, which must not hold up a pause."""


class RunSession:
    def __init__(  # noqa: PLR0913 - one for each part of the worker
        self,
        settings: WorkerSettings,
        node: Node,
        device: LentDevice,
        lending: Lending,
        points_db: PointsDatabase,
        outbox: Outbox,
        *,
        minimum: MinimumVersion,
        announcement: NetworkAnnouncement,
    ) -> None:
        self._settings = settings
        self._node = node
        self.device = device
        self._lending = lending
        self._points_db = points_db
        self._outbox = outbox
        self._minimum, self._announcement = minimum, announcement
        self._program = device.trainer.child.program
        self._work_folder = work_folder(settings.net.folder, device.id)
        clear_work_folder(self._work_folder)
        self._pins = StorePins(node.store)
        self._ended_s: float | None = None  # when the run was over
        self.driver: RunDriver | None = None  # None: the run is not joined yet
        self._follower: LogFollower | None = None  # as `driver`
        self.run_id = ""
        """Id of the joined run, as text; kept because computing it hashes the manifest."""

    async def run(self, wanted: str | None) -> None:
        """Join the run and take part until it ends; raises UserFacingError when that fails."""
        node, network = self._node, self._node.network_info
        await self._outbox.open(network.id, network.genesis.work_bits)
        try:
            async with trio.open_nursery() as nursery:
                # Fails if the ledger lost statements of this key, even while none is waiting.
                nursery.start_soon(self._outbox.send_waiting)
                if self._settings.net.status_lines:
                    nursery.start_soon(nodes.report_status, self.status)
                joined = await join_run(node, self._pins, wanted)
                self.run_id = to_text(joined.manifest.run_id)
                await self._isolate(joined.manifest)
                self._lending.set_run(self.device, joined.manifest)
                async with trio.open_nursery() as work:
                    work.start_soon(self._apply_limits)
                    await self._take_part(joined)
                    work.cancel_scope.cancel()
                await self._spread()
                nursery.cancel_scope.cancel()
        finally:
            self._pins.close()
            self.device.trainer.forget_run()
            self.device.trainer.child.replace_program(self._program)

    async def _isolate(self, manifest: Manifest) -> None:
        """Give a run that brings code a trainer of its own, and say so while it is not allowed."""
        code = manifest.trainer_code
        if code is None or TRAINER not in self._lending.roles(self.device):
            return
        isolated = partial(
            isolated_program,
            self._program,
            self._settings.net.folder,
            self.device.id,
            code.archive,
        )
        self.device.trainer.child.replace_program(await trio.to_thread.run_sync(isolated))
        if not self._lending.may_run(code):
            log.warning(
                "this run brings its own code; waiting for consent",
                plugin=code.label,
                allow=f"tequio plugin allow {code.archive}",
            )

    async def _apply_limits(self) -> None:
        """Apply the decision about the device and its limits, now and at every change."""
        while True:
            changed, limits = self._lending.changed, self._lending.limits(self.device)
            if self.driver is not None:
                self.driver.set_pause(self._lending.pause_reason(self.device))
                self.driver.context.workdir.apply_limits(limits)
            await changed.wait()

    async def _spread(self) -> None:
        """Stay while peers still fetch: this worker may be the only one with the last head."""
        self._ended_s = trio.current_time()
        self._lending.set_idle(ENDED, self.device)
        with trio.move_on_after(MAX_STAY_S):
            sent = -1
            while sent != self._node.blobs.sent_bytes:
                sent = self._node.blobs.sent_bytes
                await trio.sleep(QUIET_S)

    async def _take_part(self, joined: JoinedRun) -> None:
        node, signer, folder = self._node, self._node.signer, self._settings.net.folder
        roles, ledger_clock = self._lending.roles(self.device), node.ledger_clock
        points = PointsRecorder(self._points_db, signer.key, self.run_id)
        await points.begin()
        feedback = await join.recover_feedback(node, self._pins, joined)
        async with (
            AsyncExitStack() as stack,
            LogFollower(node.ledger, node.network_info, folder, rng=node.rng) as follower,
        ):
            self._follower = follower
            follower.on_proven = points.mark_proven
            reports = FaultReports(self._outbox, signer.key, node.ledger, node.network_info)
            announcer = await gossip.join_commitments(node, joined.view, reports.receive)
            stack.push_async_callback(_leave_topic, announcer.leave)
            attestations = await gossip.join_attestations(node, joined.view)
            stack.push_async_callback(_leave_topic, attestations.leave)
            _enlist(stack, self._outbox.on_sending, attestations.announce)
            omissions = OmissionWatch(
                signer=signer,
                ledger=node.ledger,
                net=node.network_info.id,
                view=joined.view,
                now_ms=ledger_clock.now_ms,
                file=OmissionFile(folder, joined.manifest.run_id),
                rng=node.rng,
            )
            standing = StandingWatch(signer.key, node.ledger, ledger_clock.now_ms)
            standing.tier_problem = await warn_about_tier(
                node.ledger, signer.key, joined.manifest, roles, ledger_clock.now_ms()
            )
            await standing.refresh()
            owners = self._settings.trainer.rank_owners
            await check_receivers(node.ledger, owners)
            context = RunContext(
                key=signer.key,
                manifest=joined.manifest,
                corpus=joined.corpus,
                roles=roles,
                store=node.store,
                pins=self._pins,
                recorded_heads=joined.recorded_heads,
                starting_head=joined.starting_head,
                exchange=node.exchange,
                withheld=node.blobs.withheld,
                client=node.fetcher.client,
                outbox=self._outbox,
                announcer=announcer,
                reports=reports,
                omissions=omissions,
                prove=signer.prove,
                workdir=self._workdir(joined),
                points=points,
                rank_owners=owners,
                measures_every=self._measures_every(joined.manifest),
                feedback=feedback,
                ledger_clock=ledger_clock,
                minimum=self._minimum,
                announcement=self._announcement,
            )
            # Nothing is awaited from here until the driver is set, so no change of limits is lost.
            self.driver = RunDriver(
                view=joined.view,
                context=context,
                runner=DutyRunner(context),
                standing=standing,
                rng=node.rng,
                upto=joined.upto,
                given_up=joined.given_up,
            )
            leaves = LeafSource(may_open=self.driver.may_open, file_of=feedback.file)
            _enlist(stack, node.leaves.sources, leaves)
            _enlist(stack, node.partners, self.driver.members)
            self.driver.set_pause(self._lending.pause_reason(self.device))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(announcer.exchange, self.driver.receive_commitment)
                nursery.start_soon(reports.run)
                nursery.start_soon(attestations.exchange, omissions.receive)
                nursery.start_soon(omissions.run)
                await self.driver.run(follower.entries(after=joined.after))
                nursery.cancel_scope.cancel()
        await trio.to_thread.run_sync(feedback.remove)
        await trio.to_thread.run_sync(joined.recorded_heads.remove)
        log.info("run ended", run=self.run_id[:10])

    def _measures_every(self, manifest: Manifest) -> int:
        """Rounds between two measurements for the local charts; 0 for none."""
        if manifest.trainer_code is not None and self.device.plugin is None:
            return 0  # a network that is not here predicts nothing
        return measure.CHART_INTERVAL if self._settings.applies_preferences else 0

    def _workdir(self, joined: JoinedRun) -> TrainerWorkdir:
        limits = self._lending.limits(self.device)
        return TrainerWorkdir(
            trainer=self.device.trainer,
            prepare=msgspec.structs.replace(
                joined.prepare,
                device=limits.device,
                threads=limits.threads,
                memory_mb=limits.memory_mb,
                share_percent=limits.share_percent,
            ),
            folder=self._work_folder,
            pins=self._pins,
            exchange=self._node.exchange,
            frozen=joined.manifest.frozen,
            plugin=AllowedArchive(
                self.device.plugin, self._pins, self._node.exchange, self._lending.may_run
            ),
        )

    async def leave(self) -> None:
        """Submit member.leave, unless the run is over or not joined yet."""
        if self.driver is not None and self._ended_s is None:
            await self.driver.leave()

    def _seconds_since(self, began_s: float | None) -> float:
        """Seconds from then until now, or until the run ended; 0 if it has not come to that."""
        return 0.0 if began_s is None else (self._ended_s or trio.current_time()) - began_s

    @property
    def checked_entries(self) -> int:
        """Entries of the log that were read and checked."""
        return self._follower.checked if self._follower else 0

    def status(self) -> Status:
        trainer, driver, is_over = self.device.trainer, self.driver, self._ended_s is not None
        heartbeat, ready = trainer.heartbeat, trainer.ready
        status = msgspec.structs.replace(
            nodes.node_status(
                self._node,
                self._settings.roles,
                str(driver.view.state) if driver else "joining",
            ),
            duty=heartbeat.doing if heartbeat else "spreading" if is_over else "starting",
            trainer_resident_mb=heartbeat.resident_mb if heartbeat else 0,
            device=ready.device if ready else "",
            problem=trainer.failure or "",
        )
        if driver is None:
            return status
        held, tally = driver.runner.heads.held, driver.runner.tally
        return msgspec.structs.replace(
            status,
            run=self.run_id,
            round=driver.view.number,
            head=to_text(held.hash) if held else "",
            head_round=held.round if held else -1,
            verdict=driver.verdict,
            rounds_trained=tally.rounds_trained,
            proofs=tally.proofs,
            tokens=tally.tokens,
            compute_seconds=tally.compute_seconds,
            round_seconds=self._seconds_since(tally.began_s),
            loss=tally.loss_last,
            waiting="" if is_over else driver.waiting_reason,
        )


async def _leave_topic(leave: Callable[[], Awaitable[None]]) -> None:
    # Shielded: the run is mostly left by a cancellation, while the peer network stays open.
    with trio.move_on_after(LEAVE_TOPIC_S) as scope, suppress(PeerError):
        scope.shield = True
        await leave()


def _enlist(stack: AsyncExitStack, where: list[_T], one: _T) -> None:
    """Append for as long as the stack is open."""
    where.append(one)
    stack.callback(where.remove, one)
