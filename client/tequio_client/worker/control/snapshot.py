"""Building a worker's snapshot from its parts, and the diagnostics text from a snapshot."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

import msgspec
from msgspec.structs import replace

from tequio_client import clock
from tequio_client.ipc.facts import UNKNOWN_MACHINE
from tequio_client.ipc.snapshot import (
    CurrentRoundView,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSources:
    """Parts of a worker that appear in its snapshot."""

    key: PeerKey
    lending: Lending
    trainer: TrainerProcess
    evaluator: EvaluatorProcess
    volunteer: RunSession | None
    books: Bookkeeping
    facts: LendingFacts
    traffic: TransferMeter
    energy: EnergyMeter
    reach: Reachability
    ledger_url: str


def build_snapshot(parts: SnapshotSources) -> Snapshot:
    lending, volunteer, facts = parts.lending, parts.volunteer, parts.facts
    now_ms = clock.now_ms()
    return Snapshot(
        at_ms=now_ms,
        wish=lending.desired_state,
        preferences=lending.preferences,
        decision=lending.decision,
        status=volunteer.status() if volunteer else None,
        round=_round(parts, volunteer) if volunteer else None,
        trainers=(_trainer(parts),),
        judging=_judging(parts.evaluator),
        machine=facts.machine or UNKNOWN_MACHINE,
        line=TrafficView(
            up_bytes_per_s=round(parts.traffic.up_per_s),
            down_bytes_per_s=round(parts.traffic.down_per_s),
            month_bytes=facts.month_bytes,
            month_cap_bytes=lending.preferences.month_gb * _GB,
        ),
        disk=DiskView(
            store_bytes=facts.store_bytes,
            cap_bytes=lending.preferences.disk_gib * _GIB,
            free_bytes=facts.free_disk_bytes or 0,
        ),
        ledger=LedgerView(
            url=parts.ledger_url,
            is_reached=parts.reach.is_reached,
            since_ms=parts.reach.since_ms,
            problem=parts.reach.problem,
        ),
        energy_today_j=parts.energy.today_j,
        energy_total_j=parts.energy.total_j,
        is_energy_measured=parts.energy.is_measured,
        lending_since_ms=lending.since_ms,
        points=parts.books.totals(clock.midnight_ms(now_ms)),
        activity=parts.books.activity.number,
        rounds=parts.books.points_db.changes,
    )


def _trainer(parts: SnapshotSources) -> TrainerView:
    trainer, decision = parts.trainer, parts.lending.decision
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


def _round(parts: SnapshotSources, volunteer: RunSession) -> CurrentRoundView | None:
    view = volunteer.view
    if view is None:
        return None
    current, manifest = view.round, view.manifest
    slot = current.slot_of.get(parts.key) if current else None
    is_trainer = current is not None and slot in current.trainers
    opened = current.open if current else None
    return CurrentRoundView(
        run=volunteer.run_id,
        run_name=manifest.name,
        number=view.number,
        rounds=manifest.rounds.most,
        role="" if slot is None else "trainer" if is_trainer else "witness",
        opened_ms=opened.opened if opened else 0,
        ends_ms=min(opened.opened + manifest.rounds.train, opened.train_by) if opened else 0,
        done_percent=_done_percent(parts),
        loss=volunteer.loss,
        bits_per_byte=volunteer.bits_per_byte,
    )


def _done_percent(parts: SnapshotSources) -> int | None:
    alive = parts.trainer.heartbeat
    if alive is None or alive.doing != _TRAINING or not alive.steps:
        return None
    return min(100 * alive.step // alive.steps, 100)
