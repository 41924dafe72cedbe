"""The worker as a whole: everything that lives as long as the process, and the runs it joins.

A plain worker joins one run and ends with it, or with the first error. A worker controlled by the
app, or by saved preferences, stays: it waits for consent, joins the chosen run, reports problems,
retries, and ends only when it is stopped.
"""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path
from random import Random
from typing import NoReturn

import structlog
import trio

from tequio_client import clock
from tequio_client.ipc import control
from tequio_client.ipc.facts import UNKNOWN_SESSION, MachineFacts, ProbeInstructions
from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import DesiredState, Snapshot
from tequio_client.ledger.api import LedgerApi
from tequio_client.runtime import recent_log_lines
from tequio_client.worker import node as nodes
from tequio_client.worker import shutdown
from tequio_client.worker.children.evaluator import EvaluatorProcess, evaluator_program
from tequio_client.worker.children.process import ProbeProcess, probe_program
from tequio_client.worker.children.trainer import TrainerProcess, run_benchmark, trainer_program
from tequio_client.worker.control import snapshot as control_snapshot
from tequio_client.worker.control.lists import CompetitionsList, RunsList, choose_run
from tequio_client.worker.evaluate import CompetitionJudge
from tequio_client.worker.ledger import key_changes
from tequio_client.worker.ledger.follower import FILE as LOG_FILE
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.lending.facts import (
    ENDED,
    JOINING,
    IdleCause,
    IdleReason,
    LendingFacts,
    LocalInstant,
    StepPace,
)
from tequio_client.worker.lending.lending import UNRESTRICTED, Lending, StoredChoices, local_now
from tequio_client.worker.lending.meters import EnergyMeter, TransferCounters, TransferMeter
from tequio_client.worker.node import Node
from tequio_client.worker.points import forecast, points
from tequio_client.worker.points.activity import ActivityDatabase, ActivityRecorder, Observation
from tequio_client.worker.points.points import Bookkeeping
from tequio_client.worker.points.points_db import PointsDatabase
from tequio_client.worker.rounds.join import RunOverError
from tequio_client.worker.rounds.run import RunDriver
from tequio_client.worker.session import RunSession
from tequio_client.worker.settings import WorkerSettings
from tequio_shared.errors import RefusedError, TequioError, UserFacingError
from tequio_shared.keys import Signer

log = structlog.get_logger(__name__)

SAVE_S = 30
"""Seconds between two writes of the meters."""
COMPUTING_INTERVAL_S, RESTING_INTERVAL_S = 1.0, 2.0
"""Seconds between two readings of the meters: while something computes, and while nothing does."""
RETRY_S = 30.0
"""Seconds until a worker that stays retries after an error."""
LEAVE_TIMEOUT_S = 2.0
_PLAIN_MACHINE = MachineFacts(gpus=(), on_battery=False, is_saving_power=False)


class Worker:
    def __init__(
        self,
        settings: WorkerSettings,
        signer: Signer,
        ledger: LedgerApi,
        *,
        retry_s: float = RETRY_S,
    ) -> None:
        """Raises UserFacingError when the folder cannot be used."""
        self._retry_s = retry_s
        self.settings = settings
        self.signer = signer
        self.ledger = ledger
        folder = settings.net.folder
        device = trio.Lock()  # held by the child process that computes
        self.trainer = TrainerProcess(trainer_program(folder, settings.trainer.log_style), device)
        self.outbox = Outbox(ledger, folder, signer)
        self.evaluator = EvaluatorProcess(
            evaluator_program(folder),
            lambda body, documents: self.outbox.submit(body, documents=documents),
            device,
        )
        rng = Random(signer.key)  # noqa: S311 - back-off only
        self.probe = ProbeProcess(probe_program()) if settings.applies_preferences else None
        self.node: Node | None = None
        self.session: RunSession | None = None
        self._fault = IdleCause.NO_SWARM  # what an error means at the present step; owned by _stay
        fixed = None if settings.applies_preferences else UNRESTRICTED
        self.choices = StoredChoices(
            folder, default=DesiredState(lend=not settings.is_linked), fixed=fixed
        )
        self.lending = Lending(settings, self.choices, self.trainer, self.evaluator, self.facts)
        self.points_db = PointsDatabase.opened(folder, signer.key)
        activity = ActivityDatabase.opened(folder, clock.now_ms)
        self.bookkeeping = Bookkeeping(
            self.points_db, activity, ledger, signer.key, folder / LOG_FILE, rng=rng
        )
        self.activity_recorder = ActivityRecorder(activity)
        self.runs = RunsList(ledger)
        self.judge = CompetitionJudge(
            settings=settings,
            key=signer.key,
            prove=signer.prove,
            ledger=ledger,
            outbox=self.outbox,
            lending=self.lending,
            process=self.evaluator,
            parameters=self.runs.parameters,
            trained_runs=self._trained_runs,
        )
        self.competitions = CompetitionsList(ledger, self.points_db.file, self.judge.role_in)
        self.traffic = TransferMeter(folder)
        self.energy = EnergyMeter(folder)
        self.step_pace = StepPace()

    async def run(self) -> None:
        """Run until a plain worker's run ends; a worker that stays runs until cancelled.

        Raises UserFacingError, from a plain worker only.
        """
        async with self.outbox, trio.open_nursery() as nursery:
            nursery.start_soon(self._meter)
            nursery.start_soon(self._keep_trainer)
            if self.probe is not None:
                nursery.start_soon(self.probe.run)
                nursery.start_soon(self.judge.run)
            if self.settings.applies_preferences:
                await self._stay()
            else:
                await self._take_part(self.settings.net.run)
            nursery.cancel_scope.cancel()

    async def leave(self) -> None:
        if self.session is not None:
            await self.session.leave()

    async def _stay(self) -> NoReturn:
        """Take part in the chosen run while there is consent."""
        while True:
            chosen = self.choices.preferences
            if chosen.consent:
                self.lending.set_idle(JOINING)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._cancel_when_changed, chosen, nursery.cancel_scope)
                    await self._keep_trying(chosen.run)
            else:
                await self.lending.changed.wait()

    async def _keep_trying(self, wanted: str) -> NoReturn:
        """Join and rejoin a run; the last failure is shown until the worker is in a run again."""
        while True:
            self._fault = IdleCause.NO_SWARM
            try:
                await self._take_part(wanted or await self._chosen_run())
            except* TequioError as group:
                self._record_failure(shutdown.first_error(group.subgroup(UserFacingError) or group))
            await trio.sleep(self._retry_s)

    def _record_failure(self, error: BaseException) -> None:
        log.warning("not in a run", why=str(error))
        if isinstance(error, RunOverError):
            self.lending.set_idle(ENDED)
        elif self.ledger.http.reach.problem:  # shown by a rule of its own, for as long as it lasts
            self.lending.set_idle(self.lending.idle_reason or JOINING)
        else:
            self.lending.set_idle(IdleReason(why=self._fault, problem=str(error)))

    async def _chosen_run(self) -> str:
        """Choose a run for the volunteer, as soon as one fits."""
        while True:
            rows = (await self.runs.read()).rows
            while self.facts().machine is None:  # noqa: ASYNC110 - without it no fit can be judged
                await trio.sleep(COMPUTING_INTERVAL_S)
            machine = self.facts().known_machine()
            found = choose_run(rows, machine, self.choices.preferences, self.signer.key)
            if isinstance(found, control.RunRow):
                self.lending.set_idle(JOINING)
                return found.run
            self.lending.set_idle(found)
            await trio.sleep(self._retry_s)

    async def _cancel_when_changed(self, chosen: Preferences, scope: trio.CancelScope) -> None:
        while _membership(self.choices.preferences) == _membership(chosen):
            await self.lending.changed.wait()
        with trio.move_on_after(LEAVE_TIMEOUT_S):
            await self.leave()
        scope.cancel()

    async def _take_part(self, wanted: str | None) -> None:
        settings = self.settings
        with shutdown.explain_untrusted_log(settings.net.ledger):
            async with (
                nodes.open_node(settings.net, self.signer, self.ledger, is_seed=False) as node,
                trio.open_nursery() as nursery,
            ):
                self.node, self._fault = node, IdleCause.BARRED
                nodes.log_start(node, "worker", roles=",".join(settings.roles))
                nursery.start_soon(node.membership.run)
                nursery.start_soon(node.checkpoints.run)
                nursery.start_soon(self.bookkeeping.run)
                self.session = RunSession(
                    settings, node, self.trainer, self.lending, self.points_db, self.outbox
                )
                try:
                    await self.session.run(wanted)
                finally:
                    self.node, self.session = None, None
                nursery.cancel_scope.cancel()

    async def _meter(self) -> NoReturn:
        """Read the meters and decide again, regularly."""
        saved_s = -math.inf
        while True:
            now = local_now()
            self.traffic.observe(self._transferred(), now)
            self._count_energy(now)
            share = self.lending.decision.share_percent
            self.step_pace.observe(self.trainer.heartbeat, share, trio.current_time())
            self._instruct_probe()
            self.lending.update()
            standing = self.driver.standing.known if self.driver else None
            self.activity_recorder.observe(
                Observation(
                    shown=self.snapshot(),
                    standing=standing.standing if standing else "",
                    cause=standing.cause if standing else None,
                    steady_ms=clock.steady_ms(),
                )
            )
            if trio.current_time() >= saved_s + SAVE_S:
                saved_s = trio.current_time()
                self.choices.save()
                await trio.to_thread.run_sync(self._save_counts)
            await trio.sleep(COMPUTING_INTERVAL_S if self._is_computing else RESTING_INTERVAL_S)

    def _instruct_probe(self) -> None:
        if self.probe is None:
            return
        children = (self.trainer.child.pid, self.evaluator.child.pid)
        on_battery = self.probe.facts is not None and bool(self.probe.facts.on_battery)
        self.probe.send_instructions(
            ProbeInstructions(
                ours=(os.getpid(), *(pid for pid in children if pid)),
                is_computing=self._is_computing,
                is_quiet=on_battery and not self.choices.preferences.on_battery,
            )
        )

    def _transferred(self) -> TransferCounters | None:
        node = self.node
        if node is None:
            return None
        received_bytes = node.fetcher.client.streams.received_bytes
        return TransferCounters(node=node, up=node.blobs.sent_bytes, down=received_bytes)

    def _count_energy(self, now: LocalInstant) -> None:
        active = self.trainer.ready or self.evaluator.heartbeat
        machine = self.facts().known_machine()
        lent = tuple(one for one in machine.gpus or () if active and one.id == active.device)
        self.energy.observe(lent, now.day(), now.steady_ms)
        current = self.driver.view.round if self.driver else None
        is_in = current is not None and self.signer.key in current.slot_of
        self.bookkeeping.assign_energy(
            self.energy.counts.total_j, current.roster_index if current and is_in else None
        )

    def _save_counts(self) -> None:
        self.bookkeeping.save()
        for count in (self.traffic.months, self.energy):
            try:
                count.save()
            except UserFacingError as err:
                log.warning("meter not written", error=str(err))

    async def _keep_trainer(self) -> None:
        while True:
            await self.trainer.run()
            if not self.settings.applies_preferences:
                raise UserFacingError(
                    self.trainer.failure or "the trainer process ended: start the worker again"
                )
            self.lending.update()
            while self.trainer.failure is not None:
                await self.lending.changed.wait()

    def snapshot(self) -> Snapshot:
        return control_snapshot.build_snapshot(self)

    async def answer(self, question: control.Question) -> control.Reply:
        """Answer a controller's question; raises TequioError."""
        match question:
            case control.AskRuns():
                run = self.session.run_id if self.session else ""
                return await self.runs.read(run, flop_per_s=await self._speed())
            case control.AskCompetitions() | control.AskCurves():
                return await self.competitions.answer(question)
            case (
                control.AskAccount()
                | control.RequestAppeal()
                | control.RequestRecovery()
                | control.RequestRevocation()
                | control.RequestReplacement()
            ):
                return await key_changes.answer(self.ledger, self.outbox, self.signer, question)
            case control.AskDiagnostics():
                text = control_snapshot.diagnostics_text(self.snapshot(), recent_log_lines())
                return control.DiagnosticsReply(text=text)
            case control.AskBenchmark(device=device):
                if self.trainer.child.pid is not None:
                    raise RefusedError("busy", "pause lending first to get a meaningful result")
                return await self._benchmark(device)
            case _:
                return await self.bookkeeping.answer(question)

    async def _benchmark(self, device: str) -> control.BenchmarkReply:
        folder = self.settings.net.folder
        found = await run_benchmark(device, folder)
        if found.flop_per_s > 0:
            await trio.to_thread.run_sync(forecast.record_speed, folder, device, found.flop_per_s)
        return found

    async def _speed(self) -> float:
        """FLOP/s of the device that is lent, as measured; 0: it was not."""
        speeds = await trio.to_thread.run_sync(forecast.read_speeds, self.settings.net.folder)
        return speeds.get(self.lending.limits().device, 0.0)

    @property
    def driver(self) -> RunDriver | None:
        """The driver of the joined run; None: in no run."""
        return self.session.driver if self.session else None

    @property
    def _is_computing(self) -> bool:
        return self.trainer.child.pid is not None or self.evaluator.child.pid is not None

    async def _trained_runs(self) -> frozenset[str]:
        """Runs in which this key took part, and the present one."""
        found = await trio.to_thread.run_sync(points.run_ids, self.points_db.file)
        return found | ({self.session.run_id} if self.session else set())

    def facts(self) -> LendingFacts:
        """All facts for the lending policy, read now."""
        probe, report, driver = self.probe, self.lending.session_report, self.driver
        unreported = UNKNOWN_SESSION if self.settings.is_linked else None
        reach = self.ledger.http.reach
        return LendingFacts(
            session=report.facts if report else unreported,
            session_age_s=(clock.steady_ms() - report.at_ms) / 1000 if report else 0.0,
            machine=probe.facts if probe else _PLAIN_MACHINE,
            machine_age_s=trio.current_time() - probe.at_s if probe else 0.0,
            month_bytes=self.traffic.month_bytes,
            free_disk_bytes=_free_bytes(self.settings.net.folder),
            store_bytes=self.node.store.used_bytes if self.node else 0,
            need_mb=self.lending.need_mb if self.settings.applies_preferences else 0,
            is_computing=self._is_computing,
            slowdown=self.step_pace.slowdown,
            round=driver.current_round if driver else None,
            trainer_problem=self.trainer.failure or "",
            standing_problem=driver.standing.idle_reason() if driver else "",
            ledger_problem=reach.problem,
            was_ledger_reached=reach.was_reached,
            idle_reason=self.lending.idle_reason if self.settings.applies_preferences else None,
        )


def _membership(preferences: Preferences) -> object:
    """The preferences that decide which run to join, and in which role."""
    roles = [(one.id, one.use, one.role) for one in preferences.devices]
    return preferences.consent, preferences.run, roles


def _free_bytes(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
