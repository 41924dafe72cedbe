"""Loss gains of honest and of cheating contributions, and what their signs prove over rounds.

The trainer's own code trains real models on Python's standard library, four trainers on separate
windows, from one head that advances round after round. Every honest and every cheating contribution
is measured as witnesses measure it (`tequio_client.trainer.gain`), but on more windows than they
draw, so that draws of any size can be simulated. Prints gains, the share of positive signs, how
fast a cheat is suspected and how often an honest key, and the cost.

    python bench/gain.py [--quick] [--json FILE] [--figures FILE] [--document docs/screening.md]
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import torch
from loops import repository, table  # noqa: F401 - the former finds the tests
from loops.audited_rounds import VARIANTS, PlayedRound, dense, feedback_of, shortened, train
from loops.machine import machine
from tests.support import trainer_attacks
from tests.support.trainer_attacks import ATTACKS, Situation
from tests.support.training_lab import BF16, FP32, Recipe, TrainedContribution, TrainingLab

from tequio_client.dataset.sources import standard_library_files
from tequio_client.demo.script import ARCHITECTURE
from tequio_client.trainer import gain
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.inner import StepPlan
from tequio_shared.head.head import WEIGHT_UNIT
from tequio_shared.limits import GAIN_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tequio_client.trainer.device import ComputeDevice

    Floats = NDArray[np.float32]
    Feedback = NDArray[np.uint16] | None

TRAINERS = 4
SUBJECT = 3
"""The slot whose contribution is replaced."""
OWN, CONTROL = 12, 16
"""Windows measured of each contribution, and of nobody."""
DRAWS = (1, 2, 4)
"""Windows of either side in a simulated draw."""
WITNESSES = 2
DRAWN = 200
"""Simulated draws of each measured contribution."""
SIMULATED = 4_000
HORIZON = 1_000
SHARES = (1, 2, 5, 80, 160)
LOWEST = GAIN_ROUNDS // 2
"""Positive signs of the last `GAIN_ROUNDS` with which a key is suspected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GainScene:
    """A training recipe, and the rounds in which gains are measured."""

    name: str
    recipe: Recipe
    rounds: tuple[int, ...]


SCENES = (
    GainScene(
        name="Muon, k 256",
        recipe=Recipe(config=ARCHITECTURE, steps=10, windows=20),
        rounds=tuple(range(4, 44, 4)),
    ),
    GainScene(
        name="Muon, k 64",
        recipe=Recipe(config=ARCHITECTURE, steps=10, windows=20, k=64),
        rounds=(6, 12, 18, 24),
    ),
    GainScene(
        name="AdamW, k 256",
        recipe=Recipe(config=ARCHITECTURE, steps=10, windows=20, optimiser="adamw", lr=0.001),
        rounds=(6, 12, 18, 24),
    ),
)


@dataclass(frozen=True, slots=True)
class Falls:
    """Falls of the loss, nats per token, by window."""

    own: list[float]
    control: list[float]


@dataclass(slots=True)
class GainMeasurements:
    """All measurements, by scene and kind; seconds of training a share and of measuring a slot."""

    honest: dict[str, dict[str, list[Falls]]] = field(default_factory=dict)
    cheats: dict[str, dict[str, list[Falls]]] = field(default_factory=dict)
    training_s: list[float] = field(default_factory=list)
    measuring_s: list[float] = field(default_factory=list)
    machine: dict[str, str] = field(default_factory=dict)


def main() -> None:
    """Measure all scenes; print, and write to files if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one scene, two rounds")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--figures", type=Path, help="measure nothing; print such a file")
    parser.add_argument("--document", type=Path, help="write the tables into this document")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = GainMeasurements(machine={name: str(one) for name, one in machine().items()})
    if options.figures:
        found = msgspec.json.decode(options.figures.read_bytes(), type=GainMeasurements)
    else:
        for scene in (replace(SCENES[0], rounds=(3, 4)),) if options.quick else SCENES:
            _play(scene, found, options.json)
    for name, content in _tables(found).items():
        print(f"\n{name}\n\n{content}")
        if options.document:
            table.put(options.document, name, content)


# --- rounds --------------------------------------------------------------------------------------


def _play(scene: GainScene, found: GainMeasurements, json: Path | None) -> None:
    """Train round after round; measure in the measured rounds."""
    with tempfile.TemporaryDirectory() as folder:
        lab = TrainingLab(Path(folder), scene.recipe, standard_library_files())
        before: list[TrainedContribution] = []
        last_weights = lab.weights
        while lab.round <= max(scene.rounds):
            begun = time.process_time()
            made = []
            for slot in range(TRAINERS):
                first = lab.windows_of(slot, TRAINERS)
                feedback = feedback_of(before[slot]) if before else None
                made.append(lab.made(slot, first, lab.delta(first), feedback))
            found.training_s.append((time.process_time() - begun) / TRAINERS)
            if lab.round in scene.rounds:
                print(f"{scene.name}: round {lab.round}", flush=True)
                MeasuredRound(
                    lab=lab, made=made, before=before, last_weights=last_weights, found=found
                ).measure(scene.name)
                if json:
                    json.write_bytes(msgspec.json.encode(found))
            before, last_weights = made, lab.weights
            lab.advance(made)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRound:
    """One round in which every kind of contribution is measured."""

    lab: TrainingLab
    made: list[TrainedContribution]
    before: list[TrainedContribution]
    last_weights: NDArray[np.int32]
    found: GainMeasurements

    def measure(self, scene: str) -> None:
        honest = self.found.honest.setdefault(scene, {})
        cheats = self.found.cheats.setdefault(scene, {})
        for kind, payload, windows, device in self._honest():
            honest.setdefault(kind, []).append(self._falls(payload, windows, device))
        for kind, payload in self._cheats():
            cheats.setdefault(kind, []).append(self._falls(payload, self._windows(SUBJECT)))

    def _windows(self, slot: int) -> range:
        first = self.made[slot].first
        return range(first, first + self.lab.recipe.windows)

    def _honest(self) -> Iterator[tuple[str, bytes, range, ComputeDevice]]:
        lab, feedback = self.lab, feedback_of(self.before[SUBJECT])
        for slot in range(TRAINERS):
            yield (
                "a share of 20 windows",
                self.made[slot].encoded.payload,
                self._windows(slot),
                FP32,
            )
        mine = self.made[SUBJECT]
        yield "the same, seen in bf16", mine.encoded.payload, self._windows(SUBJECT), BF16
        newcomer = lab.encode(mine.delta, None)
        yield "newcomer without feedback", newcomer.payload, self._windows(SUBJECT), FP32
        delta, _ = lab.delta(mine.first, device=BF16)
        yield "bf16", lab.encode(delta, feedback).payload, self._windows(SUBJECT), FP32
        away = (self.made[0].first + lab.windows // 2) % (lab.windows - 2_000)
        for share in SHARES:
            delta, _ = lab.delta(away, windows=share)
            kind = f"a share of {share} window{'s' if share > 1 else ''}"
            yield kind, lab.encode(delta, feedback).payload, range(away, away + share), FP32

    def _cheats(self) -> Iterator[tuple[str, bytes]]:
        lab, plan = self.lab, StepPlan.from_ranges([tuple_of(self._windows(SUBJECT))], 10)
        mine = self.made[SUBJECT]
        now = PlayedRound(
            lab=lab,
            plan=plan,
            honest=mine.delta,
            feedback=feedback_of(self.before[SUBJECT]),
            payload=mine.encoded.payload,
            own_last=self.before[SUBJECT].encoded.payload,
            others=[one.encoded.payload for one in self.made[:SUBJECT]],
            others_last=[one.encoded.payload for one in self.before],
            last_weights=self.last_weights,
        )
        moved = ((self.last_weights - lab.weights) * WEIGHT_UNIT).astype(np.float32)
        yield "difference of the last two heads", now.sent(now.like(moved), 0).payload
        mean = np.mean([dense(lab, one) for one in now.others], axis=0)
        yield "mean of three of this round", now.sent(now.like(mean), 0).payload
        situation = Situation(
            shape=lab.recipe.shape,
            payload=now.payload,
            seed=lab.round,
            last=now.own_last,
            foreign=now.others[0],
            foreign_last=now.others_last[0],
        )
        yield "copy, 60% of its entries moved", trainer_attacks.copy(0.6)(situation)
        for name in ("copy", "stale", "replay", "noise"):
            yield name, ATTACKS[name](situation)
        yield from self._little_work(now)

    def _little_work(self, now: PlayedRound) -> Iterator[tuple[str, bytes]]:
        lab, plan = self.lab, now.plan

        def sent(delta: Floats) -> bytes:
            return now.sent(delta, 0).payload

        one = train(lab, StepPlan(windows=plan.windows[:1], steps=1))
        yield "one window of all", sent(now.like(one))
        same = train(lab, StepPlan(windows=(0,), steps=1))
        yield "the same window in every round", sent(now.like(same))
        away = tuple((one + lab.windows // 3) % lab.windows for one in plan.windows)
        yield "other windows", sent(train(lab, StepPlan(windows=away, steps=plan.steps)))
        half = train(lab, plan, steps=plan.steps // 2)
        yield "50% of the steps", sent(half)
        yield "50% of the steps, times 2", sent(half * np.float32(2))
        short = shortened(lab.training, 0.25)
        yield (
            "25% of the tokens of every window",
            sent(train(lab, plan, VARIANTS["fp32"], training=short)),
        )

    def _falls(self, payload: bytes, windows: range, device: ComputeDevice = FP32) -> Falls:
        lab = self.lab
        chance = np.random.default_rng(lab.round)
        own = sorted(chance.choice(windows, min(OWN, len(windows)), replace=False).tolist())
        fresh = max(one.first for one in self.made) + lab.recipe.windows
        pool = range(fresh, fresh + TRAINERS * lab.recipe.windows)
        control = chance.choice(pool, CONTROL, replace=False).tolist()
        context = gain.GainContext(
            model=lab.model,
            layout=lab.layout,
            params=lab.recipe.outer,
            master=lab.weights,
            data=lab.training,
            batch=BatchSize(lab.recipe.sequence, device),
            check=lambda: None,
        )
        lab.model.load(lab.weights, lab.layout)
        before = gain.window_losses(context, [*own, *control])
        begun = time.process_time()
        gain.apply_contribution(context, np.frombuffer(payload, np.uint8))
        after = gain.window_losses(context, [*own, *control])
        falls = (before - after)[:, 0] / before[:, 1]
        # A slot's windows are met twice and the control windows once: the head's are shared.
        share = 3 * WITNESSES / (len(own) + len(control))
        self.found.measuring_s.append((time.process_time() - begun) * share)
        return Falls(falls[: len(own)].tolist(), falls[len(own) :].tolist())


def tuple_of(windows: range) -> tuple[int, int]:
    """(first, count) of consecutive windows."""
    return windows.start, len(windows)


# --- draws ---------------------------------------------------------------------------------------


def gains_of(some: Iterable[Falls], count: int) -> NDArray[np.float64]:
    """Gains in simulated draws of `count` windows on either side."""
    chance = np.random.default_rng(0)
    found = []
    for one in some:
        for _ in range(DRAWN):
            own = chance.choice(one.own, min(count, len(one.own)), replace=False)
            found.append(own.mean() - chance.choice(one.control, count, replace=False).mean())
    return np.array(found)


def chance_of_suspicion(positive: float) -> float:
    """Probability that at most `LOWEST` of `GAIN_ROUNDS` independent signs are positive."""
    return math.fsum(
        math.comb(GAIN_ROUNDS, count) * positive**count * (1 - positive) ** (GAIN_ROUNDS - count)
        for count in range(LOWEST + 1)
    )


def rounds_until(positive: float) -> tuple[float, float]:
    """Median of the measured rounds until a key is suspected, and the share within the horizon."""
    chance = np.random.default_rng(1)
    signs = chance.random((SIMULATED, HORIZON)) < positive
    sums = np.cumsum(signs, axis=1, dtype=np.int64)
    sums[:, GAIN_ROUNDS:] -= sums[:, :-GAIN_ROUNDS].copy()
    low = sums[:, GAIN_ROUNDS - 1 :] <= LOWEST
    first = np.where(low.any(1), low.argmax(1) + GAIN_ROUNDS, np.inf)
    return float(np.median(first)), float(np.isfinite(first).mean())


# --- tables --------------------------------------------------------------------------------------


def _tables(found: GainMeasurements) -> dict[str, str]:
    slot, share = np.mean(found.measuring_s), np.mean(found.training_s)
    cost = (
        f"A share of 20 windows took {share:.2f} s of processor time to train, a slot {slot:.3f} s "
        f"to measure on {WITNESSES} + {WITNESSES} windows: {slot / share:.1%} of it."
    )
    return {
        "gains of honest contributions": _gains(_joined(found.honest)),
        "gains of cheating contributions": _gains(_joined(found.cheats)),
        "gains, scene by scene": _scenes(found),
        "signs over rounds": _suspicion(found),
        "cost of measuring gains": cost,
        "machine of the gains": ", ".join(f"{k} {v}" for k, v in found.machine.items()),
    }


def _joined(scenes: Mapping[str, Mapping[str, list[Falls]]]) -> dict[str, list[Falls]]:
    joined: dict[str, list[Falls]] = {}
    for kinds in scenes.values():
        for kind, some in kinds.items():
            joined.setdefault(kind, []).extend(some)
    return joined


def _gains(kinds: Mapping[str, list[Falls]]) -> str:
    columns = ("contribution", "n", "gain", "deviation", *(f"positive, {n} + {n}" for n in DRAWS))
    return table.markdown(columns, [_row(kind, some) for kind, some in kinds.items()])


def _scenes(found: GainMeasurements) -> str:
    columns = ("contribution", "n", "gain", "deviation", *(f"positive, {n} + {n}" for n in DRAWS))
    rows = []
    for name, kinds in found.honest.items():
        rows += [
            _row(f"{name}: {kind}", kinds[kind]) for kind in kinds if kind.endswith("0 windows")
        ]
        free = [one for some in _free(found)[name].values() for one in some]
        rows.append(_row(f"{name}: free rides", free))
    return table.markdown(columns, rows)


WORKING = ("50%", "25%", "one window")
"""Kinds that begin so do a part of the work: they are not free rides."""


def _free(found: GainMeasurements) -> dict[str, dict[str, list[Falls]]]:
    return {
        name: {kind: some for kind, some in kinds.items() if not kind.startswith(WORKING)}
        for name, kinds in found.cheats.items()
    }


def _row(kind: str, some: Sequence[Falls]) -> list[str]:
    gains = {count: gains_of(some, count) for count in DRAWS}
    shown = gains[WITNESSES]
    return [
        kind,
        str(len(some)),
        f"{shown.mean():+.3f}",
        f"{shown.std():.3f}",
        *(f"{(one > 0).mean():.0%}" for one in gains.values()),
    ]


def _suspicion(found: GainMeasurements) -> str:
    columns = (
        "contribution",
        f"positive, {WITNESSES} + {WITNESSES}",
        f"suspected after {GAIN_ROUNDS}",
        "median of rounds",
        f"within {HORIZON}",
    )
    rows = []
    weak = {
        f"least of all: {kind} ({name})": some
        for name, kinds in found.honest.items()
        for kind, some in kinds.items()
    }
    least = min(weak, key=lambda kind: _positive(weak[kind]))
    for kinds in (_joined(found.honest), {least: weak[least]}, _joined(found.cheats)):
        for kind, some in kinds.items():
            positive = _positive(some)
            median, within = rounds_until(positive)
            rounds = f"{median:.0f}" if math.isfinite(median) else "none"
            chance = chance_of_suspicion(positive)
            rows.append([kind, f"{positive:.0%}", f"{chance:.0e}", rounds, f"{within:.1%}"])
    return table.markdown(columns, rows)


def _positive(some: Sequence[Falls]) -> float:
    return float((gains_of(some, WITNESSES) > 0).mean())


if __name__ == "__main__":
    main()
