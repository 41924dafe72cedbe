"""Figures of audits, and measures of the screen, in runs with distro: of honest work and of cheats.

The trainer's own code trains real models on Python's standard library, three trainers on separate
windows, from one head that advances step after step. In some rounds each contribution is audited:
as it is, computed in another precision, and replaced by what a cheat would send. Two samples of
chunks each.

    python bench/distro.py [--quick] [--json FILE] [--documents]
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import torch
from loops import repository, table
from loops.machine import machine
from tests.support.audit_limits import CONVICT, WARN, exceeded
from tests.support.training_lab import BF16, Recipe, TrainedContribution, TrainingLab

from tequio_client.dataset.sources import standard_library_files
from tequio_client.demo.script import ARCHITECTURE
from tequio_client.trainer import audit, likeness, screen
from tequio_client.trainer.audit import AuditedModel, OpenedLeaves
from tequio_shared.head.layout import CHUNK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tequio_client.ipc.trainer import MeasuredFigures

    Floats = NDArray[np.float32]
    Bits = NDArray[np.uint16]

DOCS = repository.ROOT / "docs"
PLACES = {
    "audits of distro": DOCS / "auditing.md",
    "machine of distro": DOCS / "auditing.md",
    "screen of distro": DOCS / "screening.md",
}
"""Tables, and the documents that have them."""
TRAINERS, SAMPLES, SAMPLE = 3, 2, 64
FIGURES = ("hidden", "other", "rounding", "leaves")
_E4 = 1e4


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBenchmark:
    """A batch, and the rounds that are measured."""

    name: str
    windows: int
    rounds: tuple[int, ...]

    @property
    def recipe(self) -> Recipe:
        """Signs of 64 coefficients of each tile."""
        return Recipe(
            config=ARCHITECTURE,
            steps=1,
            windows=self.windows,
            k=64,
            bits=1,
            outer_lr=0.001,
            feedback=0.999,
            algorithm="distro",
        )


SCENES = (
    StepBenchmark(name="1,536 tokens, first rounds", windows=12, rounds=(1, 2)),
    StepBenchmark(name="1,536 tokens, rounds 12 and 24", windows=12, rounds=(12, 24)),
    StepBenchmark(name="4,096 tokens, first rounds", windows=32, rounds=(1, 2)),
    StepBenchmark(name="4,096 tokens, rounds 8 and 16", windows=32, rounds=(8, 16)),
)


@dataclass(slots=True)
class StepMeasurements:
    """Figures of audits by (scene, kind), and measures of honest contributions by scene."""

    figures: dict[str, dict[str, list[MeasuredFigures]]] = field(default_factory=dict)
    overlaps: dict[str, list[float]] = field(default_factory=dict)
    cosines: dict[str, list[float]] = field(default_factory=dict)


def main() -> None:
    """Measure all scenes; print, and write to files if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one scene")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--documents", action="store_true", help="write the tables into docs/")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = StepMeasurements()
    for _, scenes in itertools.groupby(SCENES[: 1 if options.quick else None], lambda s: s.windows):
        _play(list(scenes), found)
    tables = {"audits of distro": _audit_table(found), "screen of distro": _screen_table(found)}
    tables["machine of distro"] = ", ".join(f"{key} {value}" for key, value in machine().items())
    for name, content in tables.items():
        print(f"\n{name}\n\n{content}")
        if options.documents:
            table.put(PLACES[name], name, content)
    if options.json:
        options.json.write_text(json.dumps(msgspec.to_builtins(found), indent=1) + "\n")


def _play(scenes: Sequence[StepBenchmark], found: StepMeasurements) -> None:
    """Train one run to the last round that is measured."""
    names = {number: scene.name for scene in scenes for number in scene.rounds}
    with tempfile.TemporaryDirectory() as folder:
        lab = TrainingLab(Path(folder), scenes[0].recipe, standard_library_files())
        feedback: list[Bits | None] = [None] * TRAINERS
        while lab.round <= max(names):
            firsts = [lab.windows_of(slot, TRAINERS) for slot in range(TRAINERS)]
            made = [
                lab.made(slot, first, lab.delta(first), feedback[slot])
                for slot, first in enumerate(firsts)
            ]
            if lab.round in names:
                _measure(lab, made, feedback, names[lab.round], found)
            feedback = [one.encoded.feedback for one in made]
            lab.advance(made)


def _measure(
    lab: TrainingLab,
    made: Sequence[TrainedContribution],
    feedback: Sequence[Bits | None],
    scene: str,
    found: StepMeasurements,
) -> None:
    by_kind = found.figures.setdefault(scene, {})
    for one in made:
        before = feedback[one.slot]
        for kind, claimed, repeated in _kinds(lab, made, one):
            for seed in range(SAMPLES):
                figures = _audited(lab, claimed, repeated, before, seed)
                by_kind.setdefault(kind, []).append(figures)
    every = np.arange(lab.layout.chunks)
    rows = [lab.recipe.shape.rows(np.frombuffer(one.encoded.payload, np.uint8)) for one in made]
    sketches = [likeness.sketch(one, lab.recipe.shape, lab.layout, every) for one in rows]
    alike = likeness.compare(sketches, ())
    for mine, theirs in itertools.permutations(range(TRAINERS), 2):
        overlap = alike.pair(mine, theirs).overlap
        found.overlaps.setdefault(scene, []).append(overlap)
        reading = screen.read_payload(rows[mine], lab.recipe.shape, lab.layout, made[theirs].delta)
        found.cosines.setdefault(scene, []).append(reading.cosine or 0.0)


def _kinds(
    lab: TrainingLab, made: Sequence[TrainedContribution], one: TrainedContribution
) -> Iterator[tuple[str, Floats, Floats]]:
    """Kinds of work: what is claimed, and what an auditor repeats."""
    honest, count = one.delta, lab.recipe.windows
    coarse, _ = lab.delta(one.first, device=BF16)
    yield "fp32 by bf16", honest, coarse
    yield "bf16 by fp32", coarse, honest
    for share in (0.9, 0.75, 0.5):
        part, _ = lab.delta(one.first, windows=round(share * count))
        yield f"{share:.0%} of the windows", part, honest
    others = [other.delta for other in made if other is not one]
    yield "other windows", others[0], honest
    yield "mean of the others", np.asarray(np.mean(others, axis=0), np.float32), honest
    yield "no gradient", np.zeros_like(honest), honest


def _audited(
    lab: TrainingLab, claimed: Floats, repeated: Floats, before: Bits | None, seed: int
) -> MeasuredFigures:
    encoded = lab.encode(claimed, before)
    chance = np.random.default_rng([lab.round, seed])
    sample = np.sort(chance.choice(lab.layout.chunks, SAMPLE, replace=False))
    if encoded.feedback is None:
        raise AssertionError("distro keeps feedback")
    leaves = OpenedLeaves(
        chunks=sample,
        before=None if before is None else before.reshape(-1, CHUNK)[sample],
        after=encoded.feedback.reshape(-1, CHUNK)[sample],
    )
    model = AuditedModel(layout=lab.layout, hidden=lab.model.hidden, algorithm=lab.recipe.encoder)
    return audit.measure(model, repeated, np.frombuffer(encoded.payload, np.uint8), leaves)


def _audit_table(found: StepMeasurements) -> str:
    columns = ("contribution", "n", *FIGURES, "warned", "convicted")
    rows = []
    for scene, kinds in found.figures.items():
        rows.append([f"*{scene}*", *[""] * (len(columns) - 1)])
        for kind, some in kinds.items():
            spans = [_span([getattr(one, name) for one in some]) for name in FIGURES]
            rates = [
                f"{sum(bool(exceeded(one, limits)) for one in some) / len(some):.0%}"
                for limits in (WARN, CONVICT)
            ]
            rows.append([kind, str(len(some)), *spans, *rates])
    return table.markdown(columns, rows)


def _span(values: Sequence[int | None]) -> str:
    known = [one / _E4 for one in values if one is not None]
    return f"{min(known):.3f} / {sum(known) / len(known):.3f} / {max(known):.3f}"


def _screen_table(found: StepMeasurements) -> str:
    rows = [
        [
            scene,
            *(f"{min(some):.2f} to {max(some):.2f}" for some in (found.overlaps[scene], cosines)),
        ]
        for scene, cosines in found.cosines.items()
    ]
    return table.markdown(("honest work", "overlap", "cosine"), rows)


if __name__ == "__main__":
    main()
