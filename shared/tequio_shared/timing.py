"""When the coordinator may end a phase: the earliest time, by its own signed clock.

What a round comes to follows from the log, but a coordinator that could end each phase at will
would choose who is in it: open and void until it likes the committee, or close before the others
have committed. So a phase ends early only when everybody present has answered, and otherwise not
before the manifest's time has passed between two of its statements. `ts` of a statement is signed,
in milliseconds since 1970. Raises RefusedError, as `RunView.apply` does. (docs/protocol.md, round)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tequio_shared.errors import RefusedError
from tequio_shared.round import Phase, RoundView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tequio_shared.manifest import Manifest
    from tequio_shared.statements.rounds import RoundOpen


class Timed(Protocol):
    """What a run's view tells of its phases."""

    manifest: Manifest
    rostered_ms: int
    witnessed_ms: int

    def present(self, slots: Iterable[int]) -> list[int]:
        """Those of the round's slots whose members have not left since its roster."""


def check_forward(last_ms: int, ts: int) -> None:
    """The coordinator's time moves forward from each of its statements to the next."""
    if ts < last_ms:
        raise RefusedError("clock-skew", f"signed at {ts}, after the coordinator signed {last_ms}")


def check_open(body: RoundOpen, ts: int) -> None:
    """A round opens when it says so: deadlines count from the signed time."""
    if body.opened != ts:
        raise RefusedError("wrong-open", f"opened at {body.opened}, but signed at {ts}")


def check_witness(view: Timed, current: RoundView, ts: int) -> None:
    """Training ends when all trainers present have committed, or at its deadline."""
    if not has_all_commitments(view, current) and ts < _train_by(current):
        raise RefusedError("wrong-witness", f"round {current.number} trains until its deadline")


def check_close(view: Timed, current: RoundView, ts: int) -> None:
    """A round closes when all witnesses present have answered, or after the grace at least."""
    times = view.manifest.rounds
    earliest = view.witnessed_ms + min(times.grace, times.witness)
    if not has_all_proofs(view, current) and ts < earliest:
        raise RefusedError("wrong-close", f"round {current.number} leaves its witnesses no time")


def check_void(view: Timed, current: RoundView, ts: int) -> None:
    """A round is void when a phase has had its time without what the next one needs."""
    if ts < _void_from(view, current):
        raise RefusedError("wrong-void", f"round {current.number} has time left")


def has_all_commitments(view: Timed, current: RoundView) -> bool:
    """Whether every trainer that is still there has committed."""
    return all(slot in current.commitments for slot in view.present(current.trainers))


def has_all_proofs(view: Timed, current: RoundView) -> bool:
    """Whether every elected witness that is still there has answered."""
    return all(slot in current.proofs for slot in view.present(current.elected))


def _void_from(view: Timed, current: RoundView) -> int:
    times = view.manifest.rounds
    match current.phase:
        case Phase.ATTEST:
            return view.rostered_ms + times.attest
        case Phase.TRAIN:
            return 0 if has_all_commitments(view, current) else _train_by(current)
    if not current.has_quorum():
        return view.witnessed_ms + times.witness
    waited = min(times.grace, times.witness)
    return 0 if has_all_proofs(view, current) else view.witnessed_ms + waited


def _train_by(current: RoundView) -> int:
    return current.open.train_by if current.open else 0
