"""Building a worker's snapshot from its parts, and the diagnostics text from a snapshot."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib import metadata

import msgspec
from msgspec.structs import replace

from tequio_client import clock
from tequio_client.ipc.facts import UNKNOWN_MACHINE
from tequio_client.ipc.snapshot import (
    CurrentRoundView,
    Decision,
    DiskView,
    JudgingView,
    LedgerView,
    Snapshot,
    TrafficView,
    TrainerView,
)
from tequio_client.ledger.http import Reachability
from tequio_client.names import redact_names
from tequio_client.worker.children.evaluator import EvaluatorProcess
from tequio_client.worker.children.trainer import TrainerProcess
from tequio_client.worker.lending.facts import LendingFacts
from tequio_client.worker.lending.lending import Lending
from tequio_client.worker.lending.meters import EnergyMeter, TransferMeter
from tequio_client.worker.points.points import Bookkeeping
from tequio_client.worker.session import RunSession
from tequio_shared.ids import PeerKey

_PACKAGES = ("tequio", "torch", "libp2p", "trio", "PySide6_Essentials", "nvidia-ml-py")
MOST = 100_000
HIDDEN_NAME = "[program]"
_RESTING, _TRAINING = "resting", "training"
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
    return redact_names("\n".join(lines))[:MOST]


def _discreet(shown: Snapshot) -> Snapshot:
    """Remove names of programs: which games somebody plays is private."""
    values = shown.decision.values
    if "program" in values:
        values = {**values, "program": HIDDEN_NAME}
    preferences = replace(
        shown.preferences, exclusive=(HIDDEN_NAME,) * len(shown.preferences.exclusive)
    )
    wish, snooze = shown.wish, shown.wish.snooze
    if snooze is not None and snooze.game:
        wish = replace(wish, snooze=replace(snooze, game=HIDDEN_NAME))
    decision = replace(shown.decision, values=values)
    return replace(shown, decision=decision, preferences=preferences, wish=wish)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def build_snapshot(  # noqa: PLR0913 - the parts of a worker that appear in its snapshot
    *,
    key: PeerKey,
    lending: Lending,
    trainer: TrainerProcess,
    evaluator: EvaluatorProcess,
    session: RunSession | None,
    bookkeeping: Bookkeeping,
    facts: LendingFacts,
    traffic: TransferMeter,
    energy: EnergyMeter,
    reach: Reachability,
    ledger_url: str,
) -> Snapshot:
    now_ms = clock.now_ms()
    return Snapshot(
        at_ms=now_ms,
        wish=lending.desired_state,
        preferences=lending.preferences,
        decision=lending.decision,
        status=session.status() if session else None,
        round=_round(session, key, trainer) if session else None,
        trainers=(_trainer(trainer, lending.decision),),
        judging=_judging(evaluator),
        machine=facts.machine or UNKNOWN_MACHINE,
        line=TrafficView(
            up_bytes_per_s=round(traffic.up_per_s),
            down_bytes_per_s=round(traffic.down_per_s),
            month_bytes=facts.month_bytes,
            month_cap_bytes=lending.preferences.month_gb * _GB,
        ),
        disk=DiskView(
            store_bytes=facts.store_bytes,
            cap_bytes=lending.preferences.disk_gib * _GIB,
            free_bytes=facts.free_disk_bytes or 0,
        ),
        ledger=LedgerView(
            url=ledger_url,
            is_reached=reach.is_reached,
            since_ms=reach.since_ms,
            problem=reach.problem,
        ),
        energy_today_j=energy.today_j,
        energy_total_j=energy.total_j,
        is_energy_measured=energy.is_measured,
        lending_since_ms=lending.since_ms,
        points=bookkeeping.totals(clock.midnight_ms(now_ms)),
        activity=bookkeeping.activity.number,
        rounds=bookkeeping.points_db.changes,
    )


def _trainer(trainer: TrainerProcess, decision: Decision) -> TrainerView:
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
        device=ready.device if ready else "",
        state=state,
        pid=trainer.child.pid or 0,
        resident_mb=alive.resident_mb if alive else 0,
        step=alive.step if alive else 0,
        steps=alive.steps if alive else 0,
        share_percent=decision.share_percent,
        freed_in_ms=round((trainer.child.freed_in_s or 0.0) * 1000),
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


def _round(session: RunSession, key: PeerKey, trainer: TrainerProcess) -> CurrentRoundView | None:
    view = session.view
    if view is None:
        return None
    current, manifest, alive = view.round, view.manifest, trainer.heartbeat
    slot = current.slot_of.get(key) if current else None
    is_trainer = current is not None and slot in current.trainers
    opened = current.open if current else None
    done_percent = None
    if alive is not None and alive.doing == _TRAINING and alive.steps:
        done_percent = min(100 * alive.step // alive.steps, 100)
    return CurrentRoundView(
        run=session.run_id,
        run_name=manifest.name,
        number=view.number,
        rounds=manifest.rounds.most,
        role="" if slot is None else "trainer" if is_trainer else "witness",
        opened_ms=opened.opened if opened else 0,
        ends_ms=min(opened.opened + manifest.rounds.train, opened.train_by) if opened else 0,
        done_percent=done_percent,
        loss=session.loss,
        bits_per_byte=session.bits_per_byte,
    )
