"""Building a worker's snapshot from its parts, and the diagnostics text from a snapshot."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace

from tequio_client import clock
from tequio_client.ipc.facts import UNKNOWN_MACHINE
from tequio_client.ipc.snapshot import (
    AuditsView,
    CurrentRoundView,
    Decision,
    DiskView,
    JudgingView,
    LedgerView,
    ReachabilityView,
    Snapshot,
    TrafficView,
    TrainerView,
)
from tequio_client.names import redact_names
from tequio_client.worker.children.evaluator import EvaluatorProcess
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.lending.lending import local_now
from tequio_client.worker.session import RunSession

if TYPE_CHECKING:
    from tequio_client.ledger.announcement import NetworkAnnouncement
    from tequio_client.ledger.api import LedgerApi
    from tequio_client.worker.ledger.outbox import Outbox
    from tequio_client.worker.lending.facts import LendingFacts
    from tequio_client.worker.lending.lending import Lending, LentDevice, StoredChoices
    from tequio_client.worker.lending.meters import EnergyMeter, TransferMeter
    from tequio_client.worker.node import Node
    from tequio_client.worker.points.points import Bookkeeping
    from tequio_client.worker.settings import WorkerSettings
    from tequio_shared.ids import PeerKey
    from tequio_shared.keys import Signer


_PACKAGES = ("tequio", "torch", "libp2p", "trio", "PySide6_Essentials", "nvidia-ml-py")
MOST = 100_000
HIDDEN_NAME = "[program]"
_RESTING, _TRAINING, _AUDITING = "resting", "training", "auditing"
_GIB = 1 << 30
_GB = 10**9


def diagnostics_text(shown: Snapshot, log: Sequence[str] = ()) -> str:
    """Write a troubleshooting report: versions, snapshot, log lines; no secret or name."""
    lines = [
        f"Tequio diagnostics, {platform.platform()}, Python {platform.python_version()}",
        *(f"{name} {_version(name)}" for name in _PACKAGES),
        "",
        msgspec.json.format(msgspec.json.encode(_discreet(shown)), indent=1).decode(),
        "",
        *log,
    ]
    text = "\n".join(lines)
    for gpu in shown.machine.gpus or ():  # a serial identifies the computer
        text = text.replace(gpu.serial, gpu.id) if gpu.serial else text
    return redact_names(text)[:MOST]


def _discreet(shown: Snapshot) -> Snapshot:
    """Remove names of programs: which games somebody plays is private."""
    preferences = replace(
        shown.preferences, exclusive=(HIDDEN_NAME,) * len(shown.preferences.exclusive)
    )
    wish, snooze = shown.wish, shown.wish.snooze
    if snooze is not None and snooze.game:
        wish = replace(wish, snooze=replace(snooze, game=HIDDEN_NAME))
    trainers = tuple(
        replace(one, decision=_discreet_decision(one.decision)) for one in shown.trainers
    )
    # The address of somebody's home is not for a report that strangers read; how many there are is.
    hosts = ("[address]",) * len(shown.reach.addresses)
    return replace(
        shown,
        reach=replace(shown.reach, addresses=hosts, router_problem=""),
        decision=_discreet_decision(shown.decision),
        trainers=trainers,
        preferences=preferences,
        wish=wish,
    )


def _discreet_decision(decision: Decision) -> Decision:
    if "program" not in decision.values:
        return decision
    return replace(decision, values={**decision.values, "program": HIDDEN_NAME})


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


class WorkerParts(Protocol):
    """The parts of a worker that appear in its snapshot."""

    settings: WorkerSettings
    signer: Signer
    ledger: LedgerApi
    announcement: NetworkAnnouncement
    evaluator: EvaluatorProcess
    node: Node | None
    outbox: Outbox
    sessions: dict[str, RunSession]
    choices: StoredChoices
    lending: Lending
    bookkeeping: Bookkeeping
    traffic: TransferMeter
    energy: EnergyMeter
    working_bytes: int

    def facts(self, name: str) -> LendingFacts: ...


def build_snapshot(worker: WorkerParts) -> Snapshot:
    lending, choices, key = worker.lending, worker.choices, worker.signer.key
    session = _find_session(worker)
    traffic, energy, reach = worker.traffic, worker.energy, worker.ledger.http.reach
    facts, now_ms = worker.facts(""), clock.now_ms()
    told = worker.announcement.current
    return Snapshot(
        at_ms=now_ms,
        wish=choices.desired_state,
        preferences=choices.preferences,
        decision=lending.decision,
        status=session.status() if session else None,
        round=_round(session, key),
        audits=_audits(session, key),
        trainers=tuple(
            _trainer(one, worker.sessions.get(one.id), key) for one in lending.devices.values()
        ),
        judging=_judging(worker.evaluator),
        machine=facts.machine or UNKNOWN_MACHINE,
        has_session=facts.session is not None,
        is_probe_starting=facts.is_probe_starting,
        line=TrafficView(
            up_bytes_per_s=round(traffic.up_per_s),
            down_bytes_per_s=round(traffic.down_per_s),
            month_bytes=facts.month_bytes,
            month_cap_bytes=choices.preferences.month_gb * _GB,
            cap_reached_ms=traffic.cap_reached_ms(choices.preferences.month_gb * _GB, local_now()),
        ),
        disk=DiskView(
            store_bytes=facts.store_bytes,
            working_bytes=worker.working_bytes,
            cap_bytes=choices.preferences.disk_gib * _GIB,
            free_bytes=facts.free_disk_bytes or 0,
        ),
        ledger=LedgerView(
            url=worker.settings.net.ledger,
            is_reached=reach.is_reached,
            since_ms=reach.since_ms,
            waiting=worker.outbox.unlogged,
            problem=reach.problem,
            size=max((one.checked_entries for one in worker.sessions.values()), default=0),
            announcement=told.text if told else "",
            announcement_entry=told.index if told else 0,
            announced_ms=told.ts if told else 0,
        ),
        reach=worker.node.reach() if worker.node else ReachabilityView(),
        energy_today_j=energy.counts.day_j,
        energy_total_j=energy.counts.total_j,
        is_energy_measured=energy.is_measured,
        points=worker.bookkeeping.totals(clock.midnight_ms(now_ms)),
        activity=worker.bookkeeping.activity.number,
        rounds=worker.bookkeeping.points_db.changes,
    )


def _find_session(worker: WorkerParts) -> RunSession | None:
    """The session that is shown for the whole computer."""
    sessions, devices = worker.sessions, worker.lending.devices
    decision = worker.lending.decision
    shown = [name for name in sessions if devices[name].decision == decision]
    return next((sessions[name] for name in (*shown, *sessions)), None)


def _trainer(device: LentDevice, session: RunSession | None, key: PeerKey) -> TrainerView:
    trainer, decision = device.trainer, device.decision
    alive, ready = trainer.heartbeat, trainer.ready
    if trainer.failure is not None:
        state = "broken"
    elif trainer.child.pid is None:
        state = "off"
    elif not decision.may_compute:
        state = "stopping"
    elif ready is None or alive is None:
        state = "starting"
    else:
        state = "idle" if alive.doing == _RESTING else "computing"
    return TrainerView(
        device=device.id,
        decision=decision,
        round=_round(session, key),
        audits=_audits(session, key),
        state=state,
        pid=trainer.child.pid or 0,
        resident_mb=alive.resident_mb if alive else 0,
        step=alive.step if alive else 0,
        steps=alive.steps if alive else 0,
        share_percent=decision.share_percent,
        sandbox=trainer.sandbox,
    )


def _judging(evaluator: EvaluatorProcess) -> JudgingView | None:
    alive, pid = evaluator.heartbeat, evaluator.child.pid
    if pid is None:
        return None
    if alive is None:
        return JudgingView(competition=evaluator.competition, doing="starting", pid=pid)
    return JudgingView(
        competition=evaluator.competition,
        doing=alive.doing,
        entrant=alive.entrant,
        documents=alive.documents,
        of_documents=alive.of_documents,
        models=alive.models,
        of_models=alive.of_models,
        pid=pid,
        resident_mb=alive.resident_mb,
    )


def _round(session: RunSession | None, key: PeerKey) -> CurrentRoundView | None:
    driver = session.driver if session else None
    if session is None or driver is None:
        return None
    view, tally, held = driver.view, driver.runner.tally, driver.runner.heads.held
    current, manifest = view.round, view.manifest
    slot = current.slot_of.get(key) if current else None
    is_trainer = current is not None and slot in current.trainers
    opened = current.open if current else None
    announcement, pause_reason = view.notices.announcement, view.notices.pause_reason
    return CurrentRoundView(
        run=session.run_id,
        run_name=manifest.name,
        number=manifest.rounds.shown(view.number),
        rounds=manifest.rounds.most,
        role="" if slot is None else "trainer" if is_trainer else "witness",
        opened_ms=opened.opened if opened else 0,
        ends_ms=min(opened.opened + manifest.rounds.train, opened.train_by) if opened else 0,
        done_percent=_done_percent(session.device.trainer),
        loss=tally.loss_last if tally.rounds_trained else None,
        bits_per_byte=driver.newest_measure.bits_per_byte,
        perplexity=driver.newest_measure.perplexity,
        state=str(view.state),
        head_round=held.round if held else -1,
        announcement=announcement.text if announcement else "",
        announcement_entry=announcement.index if announcement else 0,
        pause_reason=pause_reason.text if pause_reason else "",
    )


def _audits(session: RunSession | None, key: PeerKey) -> AuditsView:
    driver = session.driver if session else None
    if session is None or driver is None:
        return AuditsView()
    current, auditing = driver.view.round, driver.runner.auditing
    slot = current.slot_of.get(key) if current else None
    order = current.orders.get(slot) if current and slot is not None else None
    alive, declined = session.device.trainer.heartbeat, auditing.declined
    return AuditsView(
        ordered_round=order.round if order else 0,
        is_running=order is not None and alive is not None and alive.doing == _AUDITING,
        declined_round=declined.round if declined else 0,
        declined_of=declined.of_round if declined else 0,
        declined_reason=declined.code if declined else "",
        warned_round=auditing.warned_round,
    )


def _done_percent(trainer: TrainerProcess) -> int | None:
    alive = trainer.heartbeat
    if alive is None or alive.doing not in (_TRAINING, _AUDITING) or not alive.steps:
        return None
    return min(100 * alive.step // alive.steps, 100)
