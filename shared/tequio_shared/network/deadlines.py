"""Deadlines of a round: the earliest time at which a phase may end, and why a round is void.

The outcome of a round follows from the log, but a coordinator that could end each phase at will
would choose its members: open and void until it likes the committee, or close before the others
have committed. So a phase ends early only when everybody present has answered, and otherwise not
before the manifest's time has passed between two of its statements. Each statement carries `ts`,
signed, in milliseconds since 1970 (docs/protocol.md, the round).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from tequio_shared.errors import RefusedError
from tequio_shared.network.run_states import VoidReason
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.statements.runs import RoundOpen

if TYPE_CHECKING:
    from tequio_shared.round.manifest import Manifest, RoundRules


class PhaseTimes(Protocol):
    manifest: Manifest
    rostered_ms: int
    promoted_ms: int
    witnessed_ms: int

    def is_anybody_present(self, slots: Iterable[int]) -> bool:
        """Return whether a member at one of these slots has not left since the round's roster."""


def check_forward(last_ms: int, ts: int) -> None:
    """Require that the coordinator's time never goes back from one statement to the next."""
    if ts < last_ms:
        raise RefusedError("clock-skew", f"signed at {ts}, before the coordinator's {last_ms}")


def check_open(view: PhaseTimes, current: RoundView, body: RoundOpen, ts: int) -> None:
    """A round opens when all witnesses present have drawn, or no earlier than the grace.

    It opens at its signed time, from which deadlines count.
    """
    if body.opened != ts:
        raise RefusedError("wrong-open", f"opened at {body.opened}, but signed at {ts}")
    # Else a coordinator that sees the lots arrive could open before the ones it dislikes.
    if not has_all_lots(view, current) and ts < opens_from(view):
        raise RefusedError("wrong-open", f"round {current.number} still waits for its witnesses")


def check_witness(view: PhaseTimes, current: RoundView, ts: int) -> None:
    """Training ends when all trainers present have committed, or at its deadline."""
    if not has_all_work(view, current) and ts < _train_by(current):
        raise RefusedError("wrong-witness", f"round {current.number} trains until its deadline")


def check_close(view: PhaseTimes, current: RoundView, ts: int) -> None:
    """A round closes when all witnesses present have answered, or no earlier than the grace."""
    times = view.manifest.rounds
    earliest = view.witnessed_ms + min(times.grace, times.witness)
    if not has_all_proofs(view, current) and ts < earliest:
        raise RefusedError("wrong-close", f"round {current.number} still waits for its witnesses")


def check_void(view: PhaseTimes, current: RoundView, ts: int) -> None:
    """A round is void when a phase has used its time without what the next one needs."""
    if ts < _void_from(view, current):
        raise RefusedError("wrong-void", f"round {current.number} has time left")


def void_reason(view: RoundView) -> VoidReason:
    """Reason why a round that ends now is void; raises RefusedError when it is not."""
    if view.phase is RoundPhase.ATTEST:
        if view.agreed_head() is not None:
            raise RefusedError("wrong-void", f"round {view.number} has a quorum for its head")
        return VoidReason.NO_HEAD_QUORUM
    if not view.commitments and view.is_training:
        return VoidReason.NO_COMMITMENTS
    if view.phase is RoundPhase.WITNESS and not view.has_quorum():
        return VoidReason.NO_PROOF_QUORUM
    if view.phase is RoundPhase.WITNESS and not view.accepted() and view.is_training:
        return VoidReason.NOTHING_ACCEPTED
    raise RefusedError("wrong-void", f"nothing makes round {view.number} void")


def opens_from(view: PhaseTimes) -> int:
    """Earliest time at which a round opens without the lots of some witnesses present."""
    quorum_ms = max(view.promoted_ms - view.rostered_ms, 0)
    return view.rostered_ms + quorum_ms + after_quorum(view.manifest.rounds, quorum_ms)


def after_quorum(times: RoundRules, quorum_ms: int) -> int:
    """Time for witnesses that compute the head more slowly than the quorum: as long again."""
    return min(max(times.grace, quorum_ms), times.attest)


def has_all_lots(view: PhaseTimes, current: RoundView) -> bool:
    return not view.is_anybody_present(current.without_lot)


def has_all_work(view: PhaseTimes, current: RoundView) -> bool:
    """Return whether all trainers have committed, and all auditors reported."""
    # Present ones only: one that left must not hold up those that stay.
    is_awaited = view.is_anybody_present(current.without_work)
    return not is_awaited and not view.is_anybody_present(current.without_report)


def has_all_proofs(view: PhaseTimes, current: RoundView) -> bool:
    return not view.is_anybody_present(current.without_proof)


def _void_from(view: PhaseTimes, current: RoundView) -> int:
    times = view.manifest.rounds
    match current.phase:
        case RoundPhase.ATTEST:
            return view.rostered_ms + times.attest
        case RoundPhase.TRAIN:
            return 0 if has_all_work(view, current) else _train_by(current)
    if not current.has_quorum():
        return view.witnessed_ms + times.witness
    waited = min(times.grace, times.witness)
    return 0 if has_all_proofs(view, current) else view.witnessed_ms + waited


def _train_by(current: RoundView) -> int:
    return current.open.train_by if current.open else 0
