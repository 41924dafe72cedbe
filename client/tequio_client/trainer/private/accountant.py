"""The record of what a member's documents have spent, and the epsilon that follows from it.

Each round adds to epsilon, so the record has to outlive the process. A round is recorded, durably,
before its first step: a process that is killed may have counted steps that it never took, but never
fails to count one. The record holds what Opacus's accountant calls its history, and Opacus computes
epsilon from it, by Rényi differential privacy (Mironov 2017) of the Gaussian mechanism under
Poisson sampling (Mironov, Talwar and Zhang 2019), which is an upper bound.

The record is tied to the documents: those of two groups have two records, and a document that is in
both has spent the sum.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from tequio_client import files
from tequio_client.ipc.private import MILLIONTHS, TRILLIONTHS, PrivacyRules
from tequio_shared.errors import MalformedError, UserFacingError

RECORD_NAME = "spent.json"
_MECHANISM = "rdp"
ORDERS: tuple[float, ...] = (
    *(1 + step / 100 for step in range(1, 10)),
    *(1 + step / 10 for step in range(1, 100)),
    *range(12, 64),
    *(64, 80, 96, 128, 192, 256, 384, 512, 1024),
)
"""Rényi orders that are tried: Opacus's own, and more on both sides for much and little noise."""


class BudgetSpentError(UserFacingError):
    """A round would bring epsilon above the group's limit."""


class SpentSteps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Steps that had the same noise and drew documents at the same rate."""

    noise_multiplier: Annotated[float, msgspec.Meta(gt=0)]
    sample_rate: Annotated[float, msgspec.Meta(gt=0, le=1)]
    steps: Annotated[int, msgspec.Meta(ge=1)]


class SpentRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All steps that were begun, in order, and the number of rounds."""

    format: Literal[1] = 1
    rounds: Annotated[int, msgspec.Meta(ge=0)] = 0
    entries: tuple[SpentSteps, ...] = ()
    epsilon: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """After them, for programs that cannot load Opacus; rounds compute it from `entries`."""
    delta_e12: Annotated[int, msgspec.Meta(ge=0)] = 0
    """The delta at which that is `epsilon`."""

    def epsilon_by(self, rules: PrivacyRules) -> float | None:
        """Epsilon at the rules' delta; None before the first round that has it."""
        return self.epsilon if not self.entries or self.delta_e12 == rules.delta_e12 else None

    def with_round(self, added: SpentSteps) -> SpentRecord:
        """The record after one more round."""
        before = self.entries
        if before and _is_alike(before[-1], added):
            added = msgspec.structs.replace(added, steps=before[-1].steps + added.steps)
            before = before[:-1]
        return SpentRecord(rounds=self.rounds + 1, entries=(*before, added))


def read_record(folder: Path) -> SpentRecord:
    """Read the record of a state folder, empty if it has none; raises UserFacingError."""
    path = folder / RECORD_NAME
    try:
        return files.read_record(path, SpentRecord) or SpentRecord()
    except (OSError, MalformedError) as err:
        raise UserFacingError(
            f"{path} does not say any more what your documents have spent ({err}): restore it from "
            "a backup, or leave the group"
        ) from err


def begin_round(folder: Path, rules: PrivacyRules, *, sample_rate: float, steps: int) -> float:
    """Record a round before its first step, and return epsilon after it.

    Raises BudgetSpentError, and records nothing, if that is above the rules' limit.
    """
    record = read_record(folder)
    noise = rules.noise_e6 / MILLIONTHS
    after = record.with_round(
        SpentSteps(noise_multiplier=noise, sample_rate=sample_rate, steps=steps)
    )
    delta, most = rules.delta_e12 / TRILLIONTHS, rules.epsilon_e6 / MILLIONTHS
    spent = epsilon(after.entries, delta)
    if most and spent > most:
        before = epsilon(record.entries, delta)
        raise BudgetSpentError(
            f"your documents have spent epsilon {before:.2f}, and this round would bring it to "
            f"{spent:.2f}, above the group's limit of {most:g} (most_epsilon, at delta {delta:g}): "
            "they take part in no more such rounds. A group with another plan would count from 0: "
            f"copy {folder / RECORD_NAME} into its folder before you train with it"
        )
    after = msgspec.structs.replace(after, epsilon=spent, delta_e12=rules.delta_e12)
    files.write_private(folder / RECORD_NAME, msgspec.json.encode(after))
    return spent


def epsilon(entries: Sequence[SpentSteps], delta: float) -> float:
    """The epsilon of these steps at `delta`; 0 for none. Raises ModuleNotFoundError for opacus."""
    if not entries:
        return 0.0
    from opacus.accountants import RDPAccountant  # noqa: PLC0415 - 118 MB, for few

    accountant = RDPAccountant()
    history = [(one.noise_multiplier, one.sample_rate, one.steps) for one in entries]
    accountant.load_state_dict({"history": history, "mechanism": _MECHANISM})
    with warnings.catch_warnings():
        # That the best order is the first or last one: the bound holds, if not quite tight.
        warnings.filterwarnings("ignore", "Optimal order is", UserWarning)
        return float(accountant.get_epsilon(delta, alphas=list(ORDERS)))


def _is_alike(one: SpentSteps, other: SpentSteps) -> bool:
    return (one.noise_multiplier, one.sample_rate) == (other.noise_multiplier, other.sample_rate)
