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
from typing import TYPE_CHECKING, NoReturn

import structlog
import trio

from tequio_client import clock
from tequio_client.ipc.control import (
    AskBenchmark,
    AskCompetitions,
    AskCurves,
    AskDiagnostics,
    AskRuns,
    DiagnosticsReply,
    Question,
    Reply,
    RunRow,
)
from tequio_client.ipc.facts import UNKNOWN_SESSION, MachineFacts, ProbeInstructions, SessionFacts
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
from tequio_client.worker.evaluate import CompetitionJudge, WorkerKnowledge
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
from tequio_client.worker.lending.meters import (
    EnergyMeter,
    MonthCounter,
    TransferCounters,
    TransferMeter,
)
from tequio_client.worker.node import Node
from tequio_client.worker.points import points
from tequio_client.worker.points.activity import ActivityDatabase, ActivityRecorder, Observation
from tequio_client.worker.points.points import Bookkeeping
from tequio_client.worker.points.points_db import PointsDatabase
from tequio_client.worker.rounds.join import RunOverError
from tequio_client.worker.session import RunSession
from tequio_shared.errors import RefusedError, TequioError, UserFacingError
from tequio_shared.keys import Signer

if TYPE_CHECKING:
    from tequio_client.worker.settings import WorkerSettings


log = structlog.get_logger(__name__)

SAVE_S = 30
"""Seconds between two writes of the meters."""
LOOK_S, RESTING_S = 1.0, 2.0
"""Seconds between two readings of the meters: while something computes, and while nothing does."""
RETRY_S = 30.0
"""Seconds until a worker that stays retries after an error."""
LEAVE_TIMEOUT_S = 2.0
_PLAIN_MACHINE = MachineFacts(gpus=(), on_battery=False, is_saving_power=False)


class Worker:
    """All parts of one worker process."""

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
        self.probe = ProbeProcess(probe_program()) if settings.is_minded else None
        self.node: Node | None = None
        self.session: RunSession | None = None
        self._fault = IdleCause.NO_SWARM  # what an error means at the present step; owned by _stay
        fixed = None if settings.is_minded else UNRESTRICTED
        self.choices = StoredChoices(
            folder, wish=DesiredState(lend=not settings.is_linked), fixed=fixed
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
            ledger=ledger,
            outbox=self.outbox,
            lending=self.lending,
            process=self.evaluator,
            known=WorkerKnowledge(
                machine=lambda: self.facts().known_machine(),
                trained=self._trained,
                parameters=self.runs.parameters,
            ),
        )
        self.competitions = CompetitionsList(ledger, self.points_db.file, self.judge.role_in)
        self.traffic = TransferMeter(MonthCounter(folder))
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
            if self.settings.is_minded:
                await self._stay()
            else:
                await self._take_part()
            nursery.cancel_scope.cancel()

    async def leave(self) -> None:
        if self.session is not None:
            await self.session.leave()

    # --- taking part

    async def _stay(self) -> NoReturn:
        """Take part in the chosen run while there is consent."""
        while True:
            chosen = self.lending.preferences
            if chosen.consent:
                self.lending.set_idle(JOINING)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._cancel_when_changed, chosen, nursery.cancel_scope)
                    await self._keep_trying(chosen.run)
            else:
                await self.lending.changed().wait()

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
                await trio.sleep(LOOK_S)
            machine = self.facts().known_machine()
            found = choose_run(rows, machine, self.lending.preferences, self.signer.key)
            if isinstance(found, RunRow):
                self.lending.set_idle(JOINING)
                return found.run
            self.lending.set_idle(found)
            await trio.sleep(self._retry_s)

    async def _cancel_when_changed(self, chosen: Preferences, scope: trio.CancelScope) -> None:
        while _membership(self.lending.preferences) == _membership(chosen):
            await self.lending.changed().wait()
        with trio.move_on_after(LEAVE_TIMEOUT_S):
            await self.leave()
        scope.cancel()

    async def _take_part(self, wanted: str | None = None) -> None:
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
                    await self.session.run(wanted or settings.net.run)
                finally:
                    self.node, self.session = None, None
                nursery.cancel_scope.cancel()

    async def _meter(self) -> NoReturn:
        """Read the meters and decide again, regularly."""
        kept_s = -math.inf
        while True:
            self.traffic.observe(self._counters(), local_now())
            self._count_energy(local_now())
            share = self.lending.decision.share_percent
            self.step_pace.observe(self.trainer.heartbeat, share, trio.current_time())
            if self.probe is not None:
                children = (self.trainer.child.pid, self.evaluator.child.pid)
                ours = (os.getpid(), *(pid for pid in children if pid))
                on_battery = self.probe.facts is not None and self.probe.facts.on_battery
                is_quiet = bool(on_battery) and not self.lending.preferences.on_battery
                watch = ProbeInstructions(
                    ours=ours, is_computing=self._is_computing, is_quiet=is_quiet
                )
                self.probe.send_instructions(watch)
            self.lending.update()
            self._record_activity()
            if trio.current_time() >= kept_s + SAVE_S:
                kept_s = trio.current_time()
                self.choices.save()
                await trio.to_thread.run_sync(self._keep_counts)
            await trio.sleep(LOOK_S if self._is_computing else RESTING_S)

    def _record_activity(self) -> None:
        standing = self.session.standing if self.session else ""
        look = Observation(shown=self.snapshot(), standing=standing, steady_ms=clock.steady_ms())
        self.activity_recorder.observe(look)

    def _counters(self) -> TransferCounters | None:
        node = self.node
        if node is None:
            return None
        received_bytes = node.fetcher.client.streams.received_bytes
        return TransferCounters(node=node, up=node.blobs.sent_bytes, down=received_bytes)

    def _count_energy(self, moment: LocalInstant) -> None:
        ready, alive = self.trainer.ready, self.evaluator.heartbeat
        machine = self.facts().known_machine()
        device = ready.device if ready else alive.device if alive else ""
        lent = tuple(one for one in machine.gpus or () if one.id == device)
        self.energy.observe(lent, moment.day(), moment.steady_ms)
        view = self.session.view if self.session else None
        current = view.round if view else None
        is_in = current is not None and self.signer.key in current.slot_of
        self.bookkeeping.assign_energy(
            self.energy.total_j, current.roster_index if current and is_in else None
        )

    def _keep_counts(self) -> None:
        self.bookkeeping.save()
        for count in (self.traffic, self.energy):
            try:
                count.save()
            except UserFacingError as err:
                log.warning("meter not written", error=str(err))

    async def _keep_trainer(self) -> None:
        while True:
            await self.trainer.run()
            if not self.settings.is_minded:
                raise UserFacingError(
                    self.trainer.failure or "the trainer process ended: start the worker again"
                )
            self.lending.update()
            while self.trainer.failure is not None:
                await self.lending.changed().wait()

    # --- controllers

    def changed(self) -> trio.Event:
        return self.lending.changed()

    def snapshot(self) -> Snapshot:
        return control_snapshot.build_snapshot(
            key=self.signer.key,
            lending=self.lending,
            trainer=self.trainer,
            evaluator=self.evaluator,
            session=self.session,
            bookkeeping=self.bookkeeping,
            facts=self.facts(),
            traffic=self.traffic,
            energy=self.energy,
            reach=self.ledger.http.reach,
            ledger_url=self.settings.net.ledger,
        )

    def apply_state(self, wish: DesiredState) -> None:
        self.lending.apply_state(wish)

    def apply_preferences(self, preferences: Preferences) -> None:
        self.lending.apply_preferences(preferences)

    def apply_session_facts(self, facts: SessionFacts, controller: object) -> None:
        self.lending.apply_session_facts(facts, controller)

    def drop_controller(self, controller: object) -> None:
        self.lending.drop_controller(controller)

    async def answer(self, question: Question) -> Reply:
        """Answer a controller's question; raises TequioError."""
        match question:
            case AskRuns():
                return await self.runs.read(self.session.run_id if self.session else "")
            case AskCompetitions() | AskCurves():
                return await self.competitions.answer(question)
            case AskDiagnostics():
                text = control_snapshot.diagnostics_text(self.snapshot(), recent_log_lines())
                return DiagnosticsReply(text=text)
            case AskBenchmark(device=device):
                if self.trainer.child.pid is not None:
                    raise RefusedError("busy", "pause lending first to get a meaningful result")
                return await run_benchmark(device, self.settings.net.folder)
            case _:
                return await self.bookkeeping.answer(question)

    # --- what is known

    @property
    def _is_computing(self) -> bool:
        return self.trainer.child.pid is not None or self.evaluator.child.pid is not None

    async def _trained(self) -> frozenset[str]:
        """Runs in which this key took part, and the present one."""
        found = await trio.to_thread.run_sync(points.run_ids, self.points_db.file)
        return found | ({self.session.run_id} if self.session else set())

    def facts(self) -> LendingFacts:
        """All facts for the lending policy, read now."""
        probe, told = self.probe, self.lending.session_report
        now_s, now_ms = trio.current_time(), clock.steady_ms()
        session = told.facts if told else UNKNOWN_SESSION if self.settings.is_linked else None
        reach = self.ledger.http.reach
        folder, store = self.settings.net.folder, self.node.store if self.node else None
        return LendingFacts(
            session=session,
            session_age_s=(now_ms - told.at_ms) / 1000 if told else 0.0,
            machine=probe.facts if probe else _PLAIN_MACHINE,
            machine_age_s=now_s - probe.at_s if probe else 0.0,
            month_bytes=self.traffic.month_bytes,
            free_disk_bytes=_free_bytes(folder),
            store_bytes=store.used_bytes if store else 0,
            need_mb=self.lending.need_mb if self.settings.is_minded else 0,
            is_computing=self._is_computing,
            slowdown=self.step_pace.slowdown,
            round=self.session.current_round if self.session else None,
            trainer_problem=self.trainer.failure or "",
            standing_problem=self.session.idle_reason if self.session else "",
            ledger_problem=reach.problem,
            was_ledger_reached=reach.was_reached,
            outside=self.lending.idle_reason if self.settings.is_minded else None,
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
