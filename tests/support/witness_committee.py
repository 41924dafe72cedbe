"""The witnesses of a round in the training lab: the real screen, real proofs, the real count.

Every trainer is a witness with its own pseudo-gradient, as in a small swarm. The log is missing:
`ClosedRound` replaces the part of a closed round's view that the fold of standings reads, and
`proof.verdicts` counts the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np

from tequio_client.trainer import screen
from tequio_shared.ids import to_text
from tequio_shared.round import proof
from tequio_shared.round.documents import TRAINER, WITNESS, Roster, RosterMember
from tequio_shared.round.proof import RejectionReason, Verdict, WitnessFindings
from tests.support.training_lab import key_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tequio_client.ipc.trainer import ScreeningVerdict
    from tequio_shared.round.round import RoundView
    from tests.support.training_lab import TrainedContribution, TrainingLab

_REASONS = {reason.name.lower(): reason for reason in RejectionReason}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningResult:
    """The findings of a round's witnesses, by witness, and the verdict for each slot."""

    measured: Mapping[int, tuple[ScreeningVerdict, ...]]
    proofs: Mapping[int, WitnessFindings]
    verdicts: Mapping[int, tuple[Verdict, RejectionReason]]

    def complaints(self) -> list[tuple[int, ScreeningVerdict]]:
        """Pairs of a witness and a verdict of rejection, for error messages and reports."""
        found = self.measured.items()
        return [(witness, one) for witness, some in found for one in some if one.reason]

    def accepted(self, made: Sequence[TrainedContribution]) -> list[TrainedContribution]:
        """The accepted set."""
        return [one for one in made if self.verdicts[one.slot][0] is Verdict.ACCEPTED]


def screen_round(
    lab: TrainingLab,
    made: Sequence[TrainedContribution],
    past: Sequence[tuple[bytes, Path]] = (),
    liars: frozenset[int] = frozenset(),
) -> ScreeningResult:
    """Have every trainer screen the round; liars vouch for themselves and reject all others."""
    candidates = lab.candidates(made)
    measured, proofs = {}, {}
    for one in made:
        witness = screen.WitnessContext(
            layout=lab.layout,
            steps=lab.recipe.steps,
            rng=np.random.default_rng([lab.round, one.slot]),
            past=past,
            own_delta=one.delta,
            own_slot=one.slot,
        )
        measured[one.slot] = screen.screen(candidates, witness)
        proofs[one.slot] = _seen(measured[one.slot])
        if one.slot in liars:
            proofs[one.slot] = _lie(one.slot, made)
    slots = [one.slot for one in made]
    return ScreeningResult(
        measured=measured, proofs=proofs, verdicts=proof.verdicts(slots, proofs, slots)
    )


def _seen(measured: Sequence[ScreeningVerdict]) -> WitnessFindings:
    return WitnessFindings(
        vouched=frozenset(one.slot for one in measured if not one.reason),
        rejected={one.slot: _REASONS[one.reason] for one in measured if one.reason},
    )


def _lie(slot: int, made: Sequence[TrainedContribution]) -> WitnessFindings:
    others = {one.slot: RejectionReason.COSINE for one in made if one.slot != slot}
    return WitnessFindings(vouched=frozenset([slot]), rejected=others)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commitment:
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRound:
    """A closed round, as the fold of standings reads it."""

    hearing: ScreeningResult
    roster: Roster
    commitments: Mapping[int, _Commitment]

    @property
    def manifest(self) -> SimpleNamespace:
        """The run's id, which gains are kept by."""
        return SimpleNamespace(run_id=bytes(32))

    @property
    def gains(self) -> SimpleNamespace:
        """No gains are measured."""
        return SimpleNamespace(windows={})

    @property
    def proofs(self) -> Mapping[int, WitnessFindings]:
        """Proofs by slot."""
        return self.hearing.proofs

    def verdicts(self) -> Mapping[int, tuple[Verdict, RejectionReason]]:
        """Verdicts by slot."""
        return self.hearing.verdicts

    def accusers(self, slot: int, reason: RejectionReason) -> int:
        """The number of witnesses, without the slot itself, that reject it for that reason."""
        proofs = self.hearing.proofs.items()
        return sum(at != slot and seen.rejected.get(slot) is reason for at, seen in proofs)


def closed(hearing: ScreeningResult, slots: int, index: int) -> RoundView:
    """The round for the fold of standings, closed by the log entry at that index."""
    members = tuple(
        RosterMember(peer=to_text(key_of(slot)), roles=(TRAINER, WITNESS), speed=1, share=1)
        for slot in range(slots)
    )
    commitments = {slot: _Commitment(index=index - 1) for slot in hearing.verdicts}
    view = ClosedRound(
        hearing=hearing,
        roster=Roster(members=members, pool=(), train_ms=1),
        commitments=commitments,
    )
    return cast("RoundView", view)
