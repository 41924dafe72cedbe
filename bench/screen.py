"""A witness's measures of honest and cheating contributions, and the results of its checks.

The trainer's own code trains real models on Python's standard library: four trainers on separate
windows, from one head that advances round after round. In some rounds every kind of honest and
cheating contribution replaces the last trainer's, and two of the others screen the round with the
product's screen, each with its own pseudo-gradient. Prints the measures, how often each check
rejects a contribution, and the cost of screening.

    python bench/screen.py [--quick] [--json FILE] [--document docs/screening.md]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from loops import repository, screening_cost, table
from loops.machine import machine
from tests.support import trainer_attacks
from tests.support.trainer_attacks import ATTACKS, Situation
from tests.support.training_lab import (
    BF16,
    Recipe,
    TrainedContribution,
    TrainingLab,
    reversed_samples,
)

from tequio_client.dataset.sources import standard_library_files
from tequio_client.demo.script import ARCHITECTURE
from tequio_client.trainer import screen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tequio_client.ipc.trainer import ScreeningVerdict


TRAINERS, WITNESSES = 4, 2
SUBJECT = 3
"""The slot whose contribution is replaced; it commits last."""
DOCUMENT = repository.ROOT / "docs" / "screening.md"
HONEST = (
    "fp32",
    "bf16",
    "other order of summation",
    "newcomer without feedback",
    "after a round that did not count",
    "half of the windows, and says so",
    "one step, and says so",
    "one step, newcomer, and says so",
    "among newcomers",
    "among newcomers, after 40 rounds",
    "seen by a witness with one step",
)
AGE = 40
"""Rounds that a veteran trained from one head, so that its error feedback accumulates."""
LIES = ("trained on other windows", "half of the steps, says all", "half of the steps, times 2")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenBenchmark:
    """A training recipe and the rounds in which every kind of contribution is measured."""

    name: str
    recipe: Recipe
    rounds: tuple[int, ...]


SCENES = (
    ScreenBenchmark(
        name="1M, Muon, k 256",
        recipe=Recipe(config=ARCHITECTURE, steps=10, windows=20),
        rounds=(1, 2, 4, 8),
    ),
    ScreenBenchmark(
        name="1M, Muon, k 64",
        recipe=Recipe(config=ARCHITECTURE, steps=10, windows=20, k=64),
        rounds=(1, 3),
    ),
    ScreenBenchmark(
        name="1M, AdamW, k 256",
        recipe=Recipe(config=ARCHITECTURE, steps=10, windows=20, optimiser="adamw", lr=0.001),
        rounds=(1, 3),
    ),
)


def main() -> None:
    """Measure all scenes and the cost; print, and write to files if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one scene, two rounds")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--document", type=Path, help="write the tables into this document")
    options = parser.parse_args()
    torch.set_num_threads(1)
    scenes = (replace(SCENES[0], rounds=(1, 2)),) if options.quick else SCENES
    found: dict[str, list[ScreeningVerdict]] = {}
    for scene in scenes:
        for kind, measured in _play(scene):
            found.setdefault(kind, []).append(measured)
            found.setdefault(f"{kind}: {scene.name}", []).append(measured)
    cost = screening_cost.measure()
    tables = {
        "honest contributions": _table(found, HONEST),
        "cheating contributions": _table(found, (*ATTACKS, *LIES)),
        "honest contributions, scene by scene": _by_scene(found, scenes),
        "cost of screening": screening_cost.table_of(cost),
        "machine of the measurements": ", ".join(f"{k} {v}" for k, v in machine().items()),
    }
    for name, content in tables.items():
        print(f"\n{name}\n\n{content}")
        if options.document:
            table.put(options.document, name, content)
    if options.json:
        rows = {kind: [_numbers(one) for one in some] for kind, some in found.items()}
        options.json.write_text(json.dumps({**machine(), "measured": rows, "cost": cost}))


# --- rounds --------------------------------------------------------------------------------------


def _play(scene: ScreenBenchmark) -> Iterator[tuple[str, ScreeningVerdict]]:
    """Train round after round; measure every kind in the measured rounds."""
    with tempfile.TemporaryDirectory() as folder:
        lab = TrainingLab(Path(folder), scene.recipe, standard_library_files())
        feedback: list[list[NDArray[np.uint16] | None]] = [[None] * TRAINERS] * 2
        before: list[TrainedContribution] = []
        past: list[tuple[bytes, Path]] = []
        while lab.round <= max(scene.rounds):
            made = [_honest(lab, slot, feedback[1][slot]) for slot in range(TRAINERS)]
            if lab.round in scene.rounds:
                round_ = Round(lab=lab, made=made, before=before, feedback=feedback, past=past)
                print(f"{scene.name}: round {lab.round}", flush=True)
                yield from round_.measured()
            past = _kept(lab, made)
            before = made
            feedback = [feedback[1], [one.encoded.feedback for one in made]]
            lab.advance(made)


def _honest(
    lab: TrainingLab, slot: int, feedback: NDArray[np.uint16] | None
) -> TrainedContribution:
    first = lab.windows_of(slot, TRAINERS)
    return lab.made(slot, first, lab.delta(first), feedback)


def _kept(lab: TrainingLab, made: Sequence[TrainedContribution]) -> list[tuple[bytes, Path]]:
    """The round's contributions as files, for the next round's witnesses."""
    kept = []
    for one in made:
        path = lab.folder / f"past-{lab.round % 2}-{one.slot}"
        path.write_bytes(one.encoded.payload)
        kept.append((lab.header(one), path))
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round to measure in, with the previous round's data."""

    lab: TrainingLab
    made: list[TrainedContribution]
    before: list[TrainedContribution]
    feedback: list[list[NDArray[np.uint16] | None]]
    past: list[tuple[bytes, Path]]

    def measured(self) -> Iterator[tuple[str, ScreeningVerdict]]:
        """Every kind of contribution, measured by each witness."""
        for kind, subject in (*self._honest(), *self._lies(), *self._attacks()):
            for witness in range(WITNESSES):
                yield kind, self._seen(subject, witness, self.made[witness].delta)
        for witness in range(WITNESSES):
            for one in self._all_seen(self.made[SUBJECT], witness, self.made[witness].delta):
                if one.slot not in (witness, SUBJECT):
                    yield HONEST[0], one
            for kind, subject in self._among_newcomers():
                yield (
                    kind,
                    self._seen(subject, witness, self.made[witness].delta, self._newcomers()),
                )
            poor = self.lab.delta(self.made[witness].first, steps=1)[0]
            yield HONEST[-1], self._seen(self.made[SUBJECT], witness, poor)

    def _honest(self) -> Iterator[tuple[str, TrainedContribution]]:
        lab, mine = self.lab, self.made[SUBJECT]
        yield HONEST[0], mine
        yield HONEST[1], self._trained(lab.delta(mine.first, device=BF16))
        yield (
            HONEST[2],
            self._trained(lab.delta(mine.first, training=reversed_samples(lab.training))),
        )
        yield HONEST[3], self._sent(mine.delta, mine.steps, None)
        yield HONEST[4], self._sent(mine.delta, mine.steps, self.feedback[0][SUBJECT])
        few = lab.recipe.windows // 2
        delta, steps = lab.delta(mine.first, windows=few, steps=lab.recipe.steps // 2)
        yield HONEST[5], replace(self._trained((delta, steps)), windows=few)
        delta, steps = lab.delta(mine.first, steps=1)
        yield HONEST[6], self._trained((delta, steps))
        yield HONEST[7], self._sent(delta, steps, None)

    def _newcomers(self) -> list[TrainedContribution]:
        """The other trainers' same work, sent without error feedback."""
        lab = self.lab
        return [replace(one, encoded=lab.encode(one.delta, None)) for one in self.made[:SUBJECT]]

    def _among_newcomers(self) -> Iterator[tuple[str, TrainedContribution]]:
        mine = self.made[SUBJECT]
        yield HONEST[8], mine
        lab, feedback = self.lab, mine.encoded.feedback
        for age in range(1, AGE):
            first = (mine.first + age * lab.recipe.windows) % (lab.windows - lab.recipe.windows)
            feedback = lab.encode(lab.delta(first)[0], feedback).feedback
        yield HONEST[9], replace(mine, encoded=lab.encode(mine.delta, feedback))

    def _lies(self) -> Iterator[tuple[str, TrainedContribution]]:
        lab, mine = self.lab, self.made[SUBJECT]
        elsewhere = (mine.first + lab.windows // 2) % (lab.windows - lab.recipe.windows)
        yield LIES[0], self._trained(lab.delta(elsewhere))
        delta, _ = lab.delta(mine.first, steps=lab.recipe.steps // 2)
        lazy = self._trained((delta, lab.recipe.steps))
        yield LIES[1], lazy
        now = Situation(shape=lab.recipe.shape, payload=lazy.encoded.payload)
        loud = trainer_attacks.forged(trainer_attacks.rescale(2.0), lazy.encoded, now)
        yield LIES[2], replace(lazy, encoded=loud)

    def _attacks(self) -> Iterator[tuple[str, TrainedContribution]]:
        mine = self.made[SUBJECT]
        last = self.before[SUBJECT].encoded.payload if self.before else None
        now = Situation(
            shape=self.lab.recipe.shape,
            payload=mine.encoded.payload,
            seed=self.lab.round,
            last=last,
            foreign=self.made[1].encoded.payload,
            foreign_last=self.before[1].encoded.payload if self.before else None,
        )
        for name, attack in ATTACKS.items():
            needs_past = name in ("stale", "replay")
            if name != "half_work" and not (needs_past and last is None):
                encoded = trainer_attacks.forged(attack, mine.encoded, now)
                yield name, replace(mine, encoded=encoded)

    def _trained(self, trained: tuple[NDArray[np.float32], int]) -> TrainedContribution:
        return self._sent(*trained, self.feedback[1][SUBJECT])

    def _sent(
        self, delta: NDArray[np.float32], steps: int, feedback: NDArray[np.uint16] | None
    ) -> TrainedContribution:
        first = self.made[SUBJECT].first
        return self.lab.made(SUBJECT, first, (delta, steps), feedback)

    def _seen(
        self,
        subject: TrainedContribution,
        witness: int,
        delta: NDArray[np.float32],
        others: Sequence[TrainedContribution] | None = None,
    ) -> ScreeningVerdict:
        return self._all_seen(subject, witness, delta, others)[SUBJECT]

    def _all_seen(
        self,
        subject: TrainedContribution,
        witness: int,
        delta: NDArray[np.float32],
        others: Sequence[TrainedContribution] | None = None,
    ) -> tuple[ScreeningVerdict, ...]:
        brings = screen.WitnessContext(
            layout=self.lab.layout,
            steps=self.lab.recipe.steps,
            rng=np.random.default_rng(self.lab.round),
            past=self.past,
            own_delta=delta,
            own_slot=witness,
        )
        return screen.screen(
            self.lab.candidates([*(others or self.made[:SUBJECT]), subject]), brings
        )


# --- tables --------------------------------------------------------------------------------------

COLUMNS = ("contribution", "n", "norm ratio", "cosine", "overlap", "copy", "norm", "cosine", "any")


def _table(found: dict[str, list[ScreeningVerdict]], kinds: Sequence[str]) -> str:
    return table.markdown(COLUMNS, [_row(kind, found[kind]) for kind in kinds if kind in found])


def _by_scene(found: dict[str, list[ScreeningVerdict]], scenes: Sequence[ScreenBenchmark]) -> str:
    names = [f"{HONEST[0]}: {scene.name}" for scene in scenes]
    return _table(found, names)


def _row(kind: str, some: Sequence[ScreeningVerdict]) -> list[str]:
    reasons = Counter(one.reason for one in some)
    shares = [reasons[name] / len(some) for name in ("copy", "norm", "cosine")]
    return [
        kind,
        str(len(some)),
        _range([one.norm_ratio for one in some]),
        _range([one.cosine for one in some]),
        _range([one.overlap for one in some]),
        *(f"{share:.0%}" for share in (*shares, 1 - reasons[""] / len(some))),
    ]


def _range(values: Sequence[float | None]) -> str:
    there = sorted(one for one in values if one is not None)
    if not there:
        return "none"
    return f"{there[0]:.3f} to {there[-1]:.3f}"


def _numbers(one: ScreeningVerdict) -> list[float | str | None]:
    return [one.reason, one.norm_ratio, one.cosine, one.overlap, one.agreement]


if __name__ == "__main__":
    main()
