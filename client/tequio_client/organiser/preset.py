"""The values of a new plan: from the model's size and the peers that are expected.

How they come about, so that whoever disagrees knows with what:

- Inner steps 30 with sparse 2-bit updates, outer step 1.0: SparseLoCo (Sarfi et al. 2025), whose
  k is left to the ledger, which sends less of each update the more peers train.
- Learning rate 6e-4 at 125M parameters, falling with the cube root of the size, which is near what
  Brown et al. (2020) used from 125M to 6.7B; Muon is scaled to AdamW's steps, so both share it.
  Weights that were trained already get a third. Adapters get AdamW at 2e-4, as QLoRA trained them
  at 7B (Dettmers et al. 2023, table 9): a pair's update is the product's, so that making A's and
  B's orthogonal each by itself, as Muon would, makes the product's of no known size.
- A round trains for four times as long as its transfer takes on the slowest line expected, so that
  a fifth of the time goes to the line, and at least as long as is usual for the size.
- Tokens of the whole run: 20 for each trained parameter (Hoffmann et al. 2022; for adapters no more
  than a habit), 2 for a model that was trained already.
- Newcomers, whose speed nobody knows, get what a card of a quarter of the expected speed trains in
  a round, and at least a window for each inner step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tequio_client.organiser import plan as plans
from tequio_client.organiser.reckoning import TOKENS_PER_PARAMETER, speed, transfer_s

if TYPE_CHECKING:
    from tequio_client.organiser.outline import Outline
    from tequio_client.organiser.plan import Plan
    from tequio_shared.manifest import Manifest

STEPS = 30
RATE, RATE_SIZE = 6e-4, 125e6
MOST_RATE = 3e-3
GOING_ON = 1 / 3
ADAPTER_RATE = 2e-4
GOING_ON_TOKENS = 2
LINE_TIMES = 4
_WINDOW_TOKENS = 4_096
_USUAL_S = ((10e6, 60), (100e6, 300), (1e9, 600))
_LONG_S = 1_200
_DAY_S = 86_400
_LEAST_S = 60
_SLOW = 4
_MOST_PEERS = 256
_FACTOR = 4
_LEAST_ROUNDS, _MOST_ROUNDS = 10, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What a new plan says beside model and data."""

    inner: plans.InnerPlan
    windows: plans.WindowsPlan
    rounds: plans.RoundsPlan


def preset(outline: Outline, expect: plans.ExpectPlan, tokens: int | None) -> Preset:
    """Choose the values; `tokens` are those of the whole run, if somebody wants so many."""
    manifest, is_fresh = outline.manifest, outline.source.is_fresh
    size, sequence = manifest.model.parameters, manifest.model.sequence
    still = manifest.frozen.parameters if manifest.frozen else 0
    line_s = transfer_s(manifest, expect, expect.peers)
    train_s = _tens(min(max(_usual_s(size + still), LINE_TIMES * line_s), _DAY_S / 3))
    pace = speed(size, expect, still)
    samples = max(_WINDOW_TOKENS // sequence, 1)
    slow = int(pace / _SLOW * train_s / (samples * sequence))
    is_few = not is_fresh and not still
    wanted = tokens or size * (GOING_ON_TOKENS if is_few else TOKENS_PER_PARAMETER)
    rounds = math.ceil(wanted / max(expect.peers * pace * train_s, 1))
    rate = ADAPTER_RATE if still else _rate(size, is_fresh=is_fresh)
    return Preset(
        inner=plans.InnerPlan(
            optimiser="adamw" if still else "muon", steps=STEPS, lr=rate, adam_lr=rate
        ),
        windows=plans.WindowsPlan(samples=samples, first=min(max(slow, STEPS), 100_000)),
        rounds=plans.RoundsPlan(
            min_members=max(expect.peers // 2, 2),
            most_members=_most_members(manifest, expect, train_s),
            train_s=train_s,
            train_limit_s=3 * train_s,
            witness_s=_tens(min(max(3 * line_s, _LEAST_S), _DAY_S)),
            attest_s=_tens(min(max(2 * line_s, _LEAST_S), _DAY_S)),
            cooldown_s=_LEAST_S,
            most=min(max(rounds, _LEAST_ROUNDS), _MOST_ROUNDS),
        ),
    )


def filled(plan: Plan, chosen: Preset) -> Plan:
    """The plan with these values."""
    return msgspec.structs.replace(
        plan, inner=chosen.inner, windows=chosen.windows, rounds=chosen.rounds
    )


def _usual_s(size: int) -> int:
    return next((seconds for most, seconds in _USUAL_S if size < most), _LONG_S)


def _rate(size: int, *, is_fresh: bool) -> float:
    rate = min(RATE * (RATE_SIZE / size) ** (1 / 3), MOST_RATE) * (1 if is_fresh else GOING_ON)
    return float(f"{rate:.1e}")


def _most_members(manifest: Manifest, expect: plans.ExpectPlan, train_s: float) -> int:
    """Up to four times the peers, as long as their contributions get through while they train."""
    most = expect.peers
    while most < min(_FACTOR * expect.peers, _MOST_PEERS):
        if transfer_s(manifest, expect, most + 1) > train_s / 2:
            break
        most += 1
    return most


def _tens(seconds: float) -> float:
    return float(math.ceil(seconds / 10) * 10)
