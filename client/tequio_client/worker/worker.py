"""The worker as a whole: everything that lives as long as the process, and the runs it joins.

A plain worker joins one run with one device, and ends with it, or with the first error. A worker
controlled by the app, or by saved preferences, stays: it waits for consent, joins a run with each
device that is lent, reports problems, retries, and ends only when it is stopped.

One key makes one contribution to a round, so no two devices are in the same run. Everything else is
shared: key, peer network, store, outbox and points (docs/decisions/0037-several-cards.md).
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import NoReturn

import structlog
import trio

from tequio_client import clock, files
from tequio_client.ipc import control
from tequio_client.ipc.account import AccountQuestion
from tequio_client.ipc.competitions import AskCompetitions
from tequio_client.ipc.facts import (
    UNKNOWN_SESSION,
    AcceleratorFacts,
    MachineFacts,
    ProbeInstructions,
)
from tequio_client.ipc.preferences import usable_disk_bytes
from tequio_client.ipc.runs import AskCurves, AskRuns, PluginConsentReply, RequestPluginConsent
from tequio_client.ipc.snapshot import DesiredState, Snapshot
from tequio_client.ledger.announcement import NetworkAnnouncement
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.releases import MinimumVersion
from tequio_client.platform import programs
from tequio_client.runtime import NETWORK_FILE, recent_log_lines
from tequio_client.worker import node as nodes
from tequio_client.worker import shutdown
from tequio_client.worker.children.evaluator import EvaluatorProcess, evaluator_program
from tequio_client.worker.children.probe import ProbeProcess, probe_program
from tequio_client.worker.children.runtime_trial import RuntimeVerdict
from tequio_client.worker.children.trainer import (
    TrainerProcess,
    benchmark_child,
    run_benchmark,
    trainer_program,
    work_folder,
)
from tequio_client.worker.control import snapshot as control_snapshot
from tequio_client.worker.control.lists import CompetitionsList, RunsList, assign_runs
from tequio_client.worker.evaluate import CompetitionJudge
from tequio_client.worker.ledger import key_changes
from tequio_client.worker.ledger.follower import FILE as LOG_FILE
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.lending.facts import (
    CPU,
    ENDED,
    JOINING,
    IdleCause,
    IdleReason,
    LendingFacts,
    LocalInstant,
    select_chosen_devices,
)
from tequio_client.worker.lending.lending import (
    UNRESTRICTED,
    Lending,
    LentDevice,
    StoredChoices,
    local_now,
)
from tequio_client.worker.lending.meters import EnergyMeter, TransferCounters, TransferMeter
from tequio_client.worker.node import Node
from tequio_client.worker.points import forecast, points
from tequio_client.worker.points.activity import ActivityDatabase, ActivityRecorder, Observation
from tequio_client.worker.points.points import Bookkeeping
from tequio_client.worker.points.points_db import PointsDatabase
from tequio_client.worker.rounds.feedback import open_payloads
from tequio_client.worker.rounds.join import FEEDBACK_FOLDER, RunOverError
from tequio_client.worker.session import RunSession
from tequio_client.worker.settings import WorkerSettings
from tequio_shared.errors import RefusedError, TequioError, UserFacingError, first_error
from tequio_shared.keys import Signer
from tequio_shared.round.plugin import PluginSpec

log = structlog.get_logger(__name__)

SAVE_S = 30
"""Seconds between two writes of the meters."""
COMPUTING_INTERVAL_S, RESTING_INTERVAL_S = 1.0, 2.0
"""Seconds between two readings of the meters: while something computes, and while nothing does."""
RETRY_S = 30.0
"""Seconds until a worker that stays retries after an error."""
LEAVE_TIMEOUT_S = 2.0


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
        self._was_in_network = (folder / NETWORK_FILE).exists()
        self.outbox = Outbox(ledger, folder, signer)
        self.minimum = MinimumVersion(ledger)
        self.announcement = NetworkAnnouncement(ledger)
        self.traffic = TransferMeter(folder)
        self.evaluator = EvaluatorProcess(
            evaluator_program(folder),
            lambda body, documents: self.outbox.submit(body, documents=documents),
            self.traffic.count_fetched,
        )
        rng = Random(signer.key)  # noqa: S311 - back-off only
        self.probe = ProbeProcess(probe_program()) if settings.applies_preferences else None
        self.node: Node | None = None
        self.sessions: dict[str, RunSession] = {}  # of devices in a run, by id
        self.working_bytes = 0
        """Taken by working files and error feedback when last counted."""
        self._choosing = trio.Lock()  # held while a device chooses its run
        self._plain_machine = _plain_machine(settings.trainer.device)
        fixed = None if settings.applies_preferences else UNRESTRICTED
        self.choices = StoredChoices(
            folder, default=DesiredState(lend=not settings.is_linked), fixed=fixed
        )
        self.points_db = PointsDatabase.opened(folder, signer.key)
        self.runtime_verdict = RuntimeVerdict(
            lambda run: points.last_accepted(self.points_db.file, run),
            lambda: self.minimum.oldest,
        )
        style, cell = settings.trainer.log_style, settings.trainer.cell
        self.lending = Lending(
            settings,
            self.choices,
            self.evaluator,
            lambda name: TrainerProcess(
                trainer_program(folder, style, device=name, cell=cell),
                lambda reason: self.runtime_verdict.judge(reason, self.lending.devices[name].run),
            ),
            self.facts,
        )
        activity = ActivityDatabase.opened(folder, clock.now_ms)
        self.bookkeeping = Bookkeeping(
            self.points_db, activity, ledger, signer.key, folder / LOG_FILE, rng=rng
        )
        self.activity_recorder = ActivityRecorder(activity)
        self.runs = RunsList(ledger, self.lending.consents.covers)
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
        self.energy = EnergyMeter(folder)

    async def run(self) -> None:
        """Run until a plain worker's run ends; a worker that stays runs until cancelled.

        Raises UserFacingError, from a plain worker only.
        """
        self.lending.update()
        await self.runtime_verdict.begin()
        async with self.outbox, trio.open_nursery() as nursery:
            nursery.start_soon(self._meter)
            nursery.start_soon(self._with_each_device, self._keep_trainer)
            if self.probe is not None:
                nursery.start_soon(self.probe.run)
                nursery.start_soon(self.judge.run)
            if self.settings.applies_preferences:
                await self._stay()
            else:
                (device,) = self.lending.devices.values()
                async with self._open_node():
                    await self._take_part(device, self.settings.net.run)
                log.info("this worker ends with its run", to_stay="--apply-preferences")
            nursery.cancel_scope.cancel()

    async def leave(self) -> None:
        """Leave all runs; a port on the router is closed meanwhile."""
        if self.node is not None:
            self.node.router.end()
        async with trio.open_nursery() as nursery:
            for session in self.sessions.values():
                nursery.start_soon(session.leave)

    async def _stay(self) -> NoReturn:
        """Stay in the swarm while there is consent."""
        while True:
            if self.choices.preferences.consent:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._cancel_without_consent, nursery.cancel_scope)
                    await self._keep_open()
            else:
                await self.lending.changed.wait()

    async def _cancel_without_consent(self, scope: trio.CancelScope) -> None:
        while self.choices.preferences.consent:
            await self.lending.changed.wait()
        with trio.move_on_after(LEAVE_TIMEOUT_S):
            await self.leave()
        scope.cancel()

    async def _keep_open(self) -> NoReturn:
        """Open and reopen the node; the last failure is shown until it is open again."""
        self.lending.set_idle(JOINING)
        while True:
            try:
                async with self._open_node():
                    self.lending.set_idle(None)
                    await self._with_each_device(self._lend)
            except* TequioError as group:
                self._record_failure(group, IdleCause.NO_SWARM)
            await trio.sleep(self._retry_s)

    @asynccontextmanager
    async def _open_node(self) -> AsyncIterator[None]:
        settings = self.settings
        feedback = settings.net.folder / FEEDBACK_FOLDER
        withheld = await trio.to_thread.run_sync(open_payloads, feedback)
        with shutdown.explain_untrusted_log(settings.net.ledger):
            async with (
                nodes.open_node(
                    settings.net, self.signer, self.ledger, is_seed=False, withheld=withheld
                ) as node,
                trio.open_nursery() as nursery,
            ):
                self.node = node
                nodes.log_start(node, "worker", roles=",".join(settings.roles))
                nursery.start_soon(node.run)
                nursery.start_soon(self.bookkeeping.run)
                nursery.start_soon(self.announcement.poll)
                nursery.start_soon(self._apply_net_limits, node)
                try:
                    yield
                finally:
                    self._count_traffic()
                    self.node = None
                nursery.cancel_scope.cancel()

    async def _apply_net_limits(self, node: Node) -> NoReturn:
        while True:
            changed, limits = self.lending.changed, self.lending.net_limits()
            node.upload.limit(limits.upload_bytes_per_s)
            node.download.limit(limits.download_bytes_per_s)
            node.blobs.may_transfer = node.chunks.may_transfer = limits.may_transfer
            node.router.set_wanted(is_wanted=limits.opens_router_port)
            node.lan.set_wanted(is_wanted=limits.finds_lan_peers)
            await trio.to_thread.run_sync(node.store.set_quota, limits.store_bytes)
            await changed.wait()

    async def _with_each_device(self, work: Callable[[LentDevice], Awaitable[None]]) -> NoReturn:
        """Run that for every device, also for those that are chosen later."""
        async with trio.open_nursery() as nursery:
            seen: set[str] = set()
            while True:
                for name, device in self.lending.devices.items():
                    if name not in seen:
                        seen.add(name)
                        nursery.start_soon(work, device)
                await self.lending.changed.wait()

    async def _lend(self, device: LentDevice) -> NoReturn:
        """Take part with one device while it is chosen, in the run that it is chosen for."""
        while True:
            if not device.is_chosen:
                await self.lending.changed.wait()
                continue
            before = self._membership(device)
            self.lending.set_idle(JOINING, device)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._cancel_when_changed, device, before, nursery.cancel_scope)
                await self._keep_trying(device)

    async def _cancel_when_changed(
        self, device: LentDevice, before: object, scope: trio.CancelScope
    ) -> None:
        while self._membership(device) == before:
            await self.lending.changed.wait()
        session = self.sessions.get(device.id)
        if session is not None:
            with trio.move_on_after(LEAVE_TIMEOUT_S):
                await session.leave()
        scope.cancel()

    def _membership(self, device: LentDevice) -> object:
        """The choices that decide which run a device joins, and in which role."""
        choice = self.lending.choice(device)
        return device.is_chosen, choice.role, choice.run or self.choices.preferences.run

    async def _keep_trying(self, device: LentDevice) -> NoReturn:
        """Join and rejoin a run; the last failure is shown until the device is in a run again."""
        while True:
            # An error of the log is met by every run, and by the node, which would not mend it.
            try:
                with shutdown.explain_untrusted_log(self.settings.net.ledger):
                    await self._take_part(device, await self._chosen_run(device))
            except* TequioError as group:
                self._record_failure(group, IdleCause.BARRED, device)
            finally:
                device.run = ""
            await trio.sleep(self._retry_s)

    def _record_failure(
        self,
        group: BaseExceptionGroup[TequioError],
        cause: IdleCause,
        device: LentDevice | None = None,
    ) -> None:
        error = first_error(group.subgroup(UserFacingError) or group)
        log.warning("not in a run", why=str(error), device=device.id if device else "")
        known = device.idle_reason if device else self.lending.idle_reason
        if isinstance(error, RunOverError):
            reason = ENDED
        elif self.ledger.http.reach.problem:  # shown by a rule of its own, for as long as it lasts
            reason = known or JOINING
        else:
            reason = IdleReason(why=cause, problem=str(error))
        self.lending.set_idle(reason, device)

    async def _chosen_run(self, device: LentDevice) -> str:
        """Choose a run for a device, as soon as one fits; no other device can have it then."""
        while True:
            async with self._choosing:
                listed = await self.runs.read()
                await trio.to_thread.run_sync(self._count_working_files)
                facts, chosen = self.facts(device.id), self.choices.preferences
                lent = select_chosen_devices(facts.known_machine(), chosen) or ()
                taken = {one.id: one.run for one in self.lending.devices.values() if one.run}
                # An unknown disk has no room: nothing is lent until it is known.
                used_bytes = facts.store_bytes + self.working_bytes
                disk_bytes = usable_disk_bytes(chosen, used_bytes, facts.free_disk_bytes or 0)
                assigned = assign_runs(listed, lent, taken, chosen, self.signer.key, disk_bytes)
                found = assigned.get(device.id, JOINING)
                if isinstance(found, str):
                    device.run = found
                    self.lending.set_idle(JOINING, device)
                    return found
            self.lending.set_idle(found, device)
            await trio.sleep(self._retry_s)

    async def _take_part(self, device: LentDevice, wanted: str | None) -> None:
        node = self.node
        if node is None:
            raise AssertionError("a run is joined by an open node")
        # Before the run is read: an old version may not understand it.
        await self.minimum.refresh()
        session = RunSession(
            self.settings,
            node,
            device,
            self.lending,
            self.points_db,
            self.outbox,
            minimum=self.minimum,
            announcement=self.announcement,
        )
        self.sessions[device.id] = session
        try:
            await session.run(wanted)
        finally:
            del self.sessions[device.id]

    async def _meter(self) -> NoReturn:
        """Read the meters and decide again, regularly; write them at the end too."""
        saved_s = -math.inf
        try:
            while True:
                self._read_meters()
                if trio.current_time() >= saved_s + SAVE_S:
                    saved_s = trio.current_time()
                    self.choices.save()
                    await trio.to_thread.run_sync(self._save_counts)
                    await trio.to_thread.run_sync(self._count_working_files)
                await trio.sleep(COMPUTING_INTERVAL_S if self._is_computing else RESTING_INTERVAL_S)
        finally:
            self._count_traffic()
            self._save_counts()

    def _read_meters(self) -> None:
        self._count_traffic()
        self._count_energy(local_now())
        for one in self.lending.devices.values():
            share = one.decision.share_percent
            one.step_pace.observe(one.trainer.heartbeat, share, trio.current_time())
        self._instruct_probe()
        self.lending.update()
        driver = next((one.driver for one in self.sessions.values() if one.driver), None)
        standing = driver.standing.known if driver else None
        self.activity_recorder.observe(
            Observation(
                shown=self.snapshot(),
                standing=standing.standing if standing else "",
                cause=standing.cause if standing else None,
                steady_ms=clock.steady_ms(),
            )
        )

    def _instruct_probe(self) -> None:
        if self.probe is None:
            return
        trainers = [one.trainer.child.pid for one in self.lending.devices.values()]
        measuring = [one.pid for one in self.lending.measuring.values()]
        children = (*trainers, *measuring, self.evaluator.child.pid)
        on_battery = self.probe.facts is not None and bool(self.probe.facts.on_battery)
        may_lend = self.choices.preferences.on_battery or self.choices.desired_state.anyway
        self.probe.send_instructions(
            ProbeInstructions(
                ours=(os.getpid(), *(pid for pid in children if pid)),
                is_computing=self._is_computing,
                is_quiet=on_battery and not may_lend,
            )
        )

    def _count_traffic(self) -> None:
        node, counters = self.node, None
        if node is not None:
            up = node.network.limiter.written_bytes
            counters = TransferCounters(node=node, up=up, down=node.fetcher.read_bytes)
        self.traffic.observe(counters, local_now())

    def _count_energy(self, now: LocalInstant) -> None:
        """Count the energy of the devices that compute, and assign it to the rounds they are in."""
        heartbeat = self.evaluator.heartbeat
        active = {one.id for one in self.lending.devices.values() if one.trainer.ready}
        scoring = heartbeat.device if heartbeat else ""
        gpus = self.facts("").known_machine().gpus or ()
        lent = tuple(one for one in gpus if one.id in active or one.id == scoring)
        drawn_j = self.energy.observe(lent, now.day(), now.steady_ms)
        for name, joules in drawn_j.items():
            session = self.sessions.get(name)
            current = session.driver.view.round if session and session.driver else None
            if current is not None and name in active and self.signer.key in current.slot_of:
                self.bookkeeping.add_energy(current.roster_index, joules)

    def _count_working_files(self) -> None:
        folder = self.settings.net.folder
        places = (work_folder(folder), folder / FEEDBACK_FOLDER)
        self.working_bytes = sum(files.folder_bytes(one) for one in places)

    def _save_counts(self) -> None:
        self.bookkeeping.save()
        for count in (self.traffic.months, self.energy):
            try:
                count.save()
            except UserFacingError as err:
                log.warning("meter not written", error=str(err))

    async def _keep_trainer(self, device: LentDevice) -> NoReturn:
        trainer = device.trainer
        while True:
            await trainer.run()
            if not self.settings.applies_preferences:
                raise UserFacingError(
                    trainer.failure or "the trainer process ended: start the worker again"
                )
            self.lending.update()
            while trainer.failure is not None:
                await self.lending.changed.wait()

    def snapshot(self) -> Snapshot:
        return control_snapshot.build_snapshot(self)

    async def answer(self, question: control.Question) -> control.Reply:
        """Answer a controller's question; raises TequioError."""
        match question:
            case AskRuns():
                ours = {one.run_id for one in self.sessions.values()}
                speed, book = await self._speed(), self.points_db.file
                firsts = await trio.to_thread.run_sync(points.first_rounds, book)
                listed = await self.runs.read(
                    ours,
                    flop_per_s=speed,
                    first_rounds=firsts,
                    is_witness=self.lending.is_witness,
                )
                return await self.runs.with_names(listed)
            case AskCompetitions() | AskCurves():
                return await self.competitions.answer(question)
            case _ if isinstance(question, AccountQuestion):
                return await key_changes.answer(self.ledger, self.outbox, self.signer, question)
            case control.AskDiagnostics():
                text = control_snapshot.diagnostics_text(self.snapshot(), recent_log_lines())
                return control.DiagnosticsReply(text=text)
            case RequestPluginConsent() | control.AskBenchmark() | control.AskChunk():
                return await self._carry_out(question)
            case _:
                return await self.bookkeeping.answer(question)

    async def _carry_out(
        self, question: RequestPluginConsent | control.AskBenchmark | control.AskChunk
    ) -> PluginConsentReply | control.BenchmarkReply | control.ChunkReply:
        if isinstance(question, RequestPluginConsent):
            archive, is_allowed = question.archive, question.is_allowed
            self.lending.set_plugin_consent(archive, question.label, is_allowed=is_allowed)
            return PluginConsentReply(archive=archive, is_allowed=is_allowed)
        if isinstance(question, control.AskBenchmark):
            return await self._benchmark(question.device)
        if self.node is None:
            raise RefusedError("no-peers", "the worker is not connected to any peer yet")
        return await self.node.chunks.answer(question)

    async def _benchmark(self, device: str) -> control.BenchmarkReply:
        if self._is_busy(device):
            raise RefusedError("busy", "suspend the device first, for a meaningful result")
        self._refuse_to_disturb(device)
        folder = self.settings.net.folder
        child = benchmark_child(folder, device)
        child.device = self.lending.lock(device)
        self.lending.measuring[device] = child
        try:
            found = await run_benchmark(child, device, self._instruct_probe)
        except RefusedError:
            self._refuse_to_disturb(device)  # it was ended for that, which is then the reason
            raise
        finally:
            del self.lending.measuring[device]
        if found.flop_per_s > 0:
            await trio.to_thread.run_sync(forecast.record_speed, folder, device, found.flop_per_s)
        return found

    def _refuse_to_disturb(self, device: str) -> None:
        if program := self.lending.disturbance(device):
            raise RefusedError("busy", f"close {program} first, then measure the device")

    async def _speed(self) -> float:
        """FLOP/s of the fastest device that is lent, as measured; 0: none was."""
        speeds = await trio.to_thread.run_sync(forecast.read_speeds, self.settings.net.folder)
        lent = [one.id for one in self.lending.devices.values() if one.is_chosen]
        return max((speeds.get(one, 0.0) for one in lent), default=0.0)

    def _is_busy(self, name: str) -> bool:
        """True while a child process computes on that device."""
        device = self.lending.devices.get(name)
        if name in self.lending.measuring or device is None:
            return name in self.lending.measuring
        is_judging = device is self.lending.judging and self.evaluator.child.pid is not None
        return is_judging or device.trainer.child.pid is not None

    @property
    def _is_computing(self) -> bool:
        return any(self._is_busy(name) for name in self.lending.devices)

    async def _trained_runs(self) -> frozenset[str]:
        """Runs in which this key took part, and the present ones."""
        found = await trio.to_thread.run_sync(points.run_ids, self.points_db.file)
        return found | {one.run_id for one in self.sessions.values()}

    def _missing_plugin(self, device: LentDevice | None) -> PluginSpec | None:
        """Code that the device's run needs and that is not allowed here."""
        plugin = device.plugin if device else None
        return None if plugin is None or self.lending.may_run(plugin) else plugin

    def facts(self, name: str) -> LendingFacts:
        """All facts for the lending policy, read now, about the device of that id or about none."""
        probe, report = self.probe, self.lending.session_report
        device, session = self.lending.devices.get(name), self.sessions.get(name)
        driver = session.driver if session else None
        idle_reason = self.lending.idle_reason or (device.idle_reason if device else None)
        unreported = UNKNOWN_SESSION if self.settings.is_linked else None
        http = self.ledger.http
        return LendingFacts(
            device=name,
            session=report.facts if report else unreported,
            session_age_s=(clock.steady_ms() - report.at_ms) / 1000 if report else 0.0,
            machine=probe.facts if probe else self._plain_machine,
            machine_age_s=trio.current_time() - probe.at_s if probe else 0.0,
            is_probe_starting=probe is not None and probe.is_starting,
            month_bytes=self.traffic.month_bytes,
            free_disk_bytes=_free_bytes(self.settings.net.folder),
            store_bytes=self.node.store.used_bytes if self.node else 0,
            need_mb=device.need_mb if device and self.settings.applies_preferences else 0,
            is_computing=self._is_busy(name),
            slowdown=device.step_pace.slowdown if device else None,
            round=driver.current_round if driver else None,
            has_runtime=programs.has_runtime(),
            trainer_problem=(device.trainer.failure if device else None) or "",
            plugin=self._missing_plugin(device),
            standing_problem=driver.standing.idle_reason() if driver else "",
            ledger=self.settings.net.ledger,
            wanted_version=self.minimum.wanted,
            clock_ahead_ms=http.clock_ahead_ms if self.outbox.is_clock_refused else 0,
            ledger_problem=http.reach.problem,
            was_ledger_reached=http.reach.was_reached or self._was_in_network,
            idle_reason=idle_reason if self.settings.applies_preferences else None,
        )


def _plain_machine(device: str) -> MachineFacts:
    """The machine of a worker without a probe: the device on its command line."""
    gpus = () if device == CPU else (AcceleratorFacts(id=device, name=device),)
    return MachineFacts(gpus=gpus, on_battery=False, is_saving_power=False)


def _free_bytes(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
