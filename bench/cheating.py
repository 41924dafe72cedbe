"""An audit's figures of honest and of cheating contributions, and the gain that a cheat can expect.

The trainer's own code trains real models on Python's standard library, four trainers on separate
windows, from one head that advances round after round. In some rounds honest trainers and auditors
compute the same training in different ways, and every cheat replaces the last trainer's
contribution. Prints the audit's figures, the false positives of its limits by a fit of the honest
tail, the detection rates, and the expected gain of every cheat in points.

    python bench/cheating.py [--quick] [--json FILE] [--figures FILE] [--document FILE]
"""

from __future__ import annotations

import argparse
import itertools
import math
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import torch
from loops import repository, table
from loops.audited_rounds import (
    VARIANTS,
    PlayedRound,
    Subject,
    cheats,
    dense,
    feedback_of,
    train,
)
from loops.machine import machine
from loops.vesting import NEWCOMER, Odds
from tests.support.audit_limits import CONVICT, WARN, exceeded
from tests.support.training_lab import FP32, Recipe, TrainedContribution, TrainingLab

from tequio_client.dataset.sources import standard_library_files
from tequio_client.demo.script import ARCHITECTURE
from tequio_client.ipc.trainer import MeasuredFigures
from tequio_client.trainer import audit, codecs
from tequio_client.trainer.inner import StepPlan
from tequio_shared.head.layout import CHUNK
from tequio_shared.round.manifest import Algorithm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from loops.audited_rounds import Feedback, Floats
    from numpy.typing import NDArray

DOCUMENT = repository.ROOT / "docs" / "auditing.md"
TRAINERS, SUBJECT = 4, 3
AUDITED = (1, 3)
"""Slots whose honest work is repeated in every way."""
SAMPLE = 64
SAMPLES = {4: 3, 16: 3, 64: 3}
"""Sizes of samples of chunks, and how many of each are drawn."""
AGE = 40
"""Rounds that a veteran trained from one head."""
SIMULATED = 10_000
TAIL = 0.1
"""Largest share of the honest figures that the tail is fitted to."""
VESTING = 64
UNLIMITED = 50
"""Contributions: a plan that gains more is limited by its horizon only."""
SHORT = "one step"
"""Kinds that begin so are the noisiest, and have a fit of their own."""
JUDGES = ("fp32", "bf16 as on a GPU")
"""The auditors of a cheat; they must agree."""
DIFFERENCES = ("hidden", "other", "rounding", "leaves", "values")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBenchmark:
    """A training recipe and the rounds in which contributions are audited."""

    name: str
    recipe: Recipe
    rounds: tuple[int, ...]
    has_veterans: bool = False


SCENES = (
    AuditBenchmark(
        name="Muon, 10 steps",
        recipe=Recipe(config=ARCHITECTURE, steps=10, windows=20),
        rounds=(2, 6, 12),
        has_veterans=True,
    ),
    AuditBenchmark(
        name="Muon, 20 steps",
        recipe=Recipe(config=ARCHITECTURE, steps=20, windows=40),
        rounds=(3,),
    ),
    AuditBenchmark(
        name="AdamW, 10 steps",
        recipe=Recipe(config=ARCHITECTURE, steps=10, windows=20, optimiser="adamw", lr=0.001),
        rounds=(3,),
    ),
)


@dataclass(slots=True)
class AuditMeasurements:
    """All measurements: figures by kind and sample size, and cosines of sketches by kind."""

    honest: dict[str, dict[int, list[MeasuredFigures]]] = field(default_factory=dict)
    scenes: dict[str, list[MeasuredFigures]] = field(default_factory=dict)
    """Of all honest contributions, scene by scene."""
    cheats: dict[str, dict[int, list[tuple[MeasuredFigures, ...]]]] = field(default_factory=dict)
    work: dict[str, float] = field(default_factory=dict)
    sketches: dict[str, list[int]] = field(default_factory=dict)
    seconds: list[tuple[float, float]] = field(default_factory=list)
    """Of a repetition, and of its sketch."""


def main() -> None:
    """Measure all scenes; print, and write to files if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one scene, one round")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--figures", type=Path, help="measure nothing; print such a file")
    parser.add_argument("--document", type=Path, help="write the tables into this document")
    options = parser.parse_args()
    torch.set_num_threads(1)
    quick = (replace(SCENES[0], rounds=(2,), has_veterans=False),)
    found = AuditMeasurements()
    if options.figures:
        found = msgspec.json.decode(options.figures.read_bytes(), type=AuditMeasurements)
    else:
        for scene in quick if options.quick else SCENES:
            _play(scene, found)
    for name, content in _tables(found).items():
        print(f"\n{name}\n\n{content}")
        if options.document:
            table.put(options.document, name, content)
    if options.json:
        options.json.write_bytes(msgspec.json.encode(found))


# --- rounds --------------------------------------------------------------------------------------


def _play(scene: AuditBenchmark, found: AuditMeasurements) -> None:
    """Train round after round; audit in the measured rounds."""
    with tempfile.TemporaryDirectory() as folder:
        lab = TrainingLab(Path(folder), scene.recipe, standard_library_files())
        history: list[list[TrainedContribution]] = []
        last_weights = lab.weights
        while lab.round <= max(scene.rounds):
            feedback = [feedback_of(history[-1][s]) if history else None for s in range(TRAINERS)]
            firsts = [lab.windows_of(slot, TRAINERS) for slot in range(TRAINERS)]
            made = [
                lab.made(slot, first, lab.delta(first), feedback[slot])
                for slot, first in enumerate(firsts)
            ]
            if lab.round in scene.rounds:
                print(f"{scene.name}: round {lab.round}", flush=True)
                now = _Measured(
                    scene=scene.name,
                    lab=lab,
                    made=made,
                    history=history,
                    last_weights=last_weights,
                    found=found,
                )
                now.measure(has_veterans=scene.has_veterans and lab.round == scene.rounds[-1])
            history = [*history[-1:], made]
            last_weights = lab.weights
            lab.advance(made)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """A round in which everything is audited; `history` has the last two."""

    scene: str
    lab: TrainingLab
    made: list[TrainedContribution]
    history: list[list[TrainedContribution]]
    last_weights: NDArray[np.int32]
    found: AuditMeasurements

    def measure(self, *, has_veterans: bool) -> None:
        repeated = {slot: self._repeat(slot) for slot in AUDITED}
        for slot, ways in repeated.items():
            self._pairs(slot, ways)
        if has_veterans:
            self._veterans(repeated[SUBJECT])
        self._early(AUDITED[0])
        self._cheats(repeated[SUBJECT])
        self._sketches(repeated[SUBJECT])

    def _plan(self, slot: int) -> StepPlan:
        recipe = self.lab.recipe
        return StepPlan.from_ranges([(self.made[slot].first, recipe.windows)], recipe.steps)

    def _repeat(self, slot: int) -> dict[str, Floats]:
        ways = {}
        for name, variant in VARIANTS.items():
            begun = time.process_time()
            ways[name] = train(self.lab, self._plan(slot), variant)
            trained = time.process_time()
            audit.sketch(ways[name], bytes(32))
            if variant.threads == 1 and variant.device is FP32 and not variant.is_split:
                self.found.seconds.append((trained - begun, time.process_time() - trained))
        return ways

    def _feedback(self, slot: int, rounds_ago: int) -> Feedback:
        return feedback_of(self.history[-rounds_ago][slot])

    def _pairs(self, slot: int, ways: dict[str, Floats]) -> None:
        """Every trainer's way against every auditor's."""
        for mine, theirs in itertools.permutations(ways, 2):
            kind = f"{_precision(mine)} by {_precision(theirs)}"
            self._honest(kind, ways[mine], ways[theirs], self._feedback(slot, 1))
        for mine, theirs in itertools.permutations(JUDGES, 2):
            new, older = "newcomer, the other precision", "after a round that did not count"
            self._honest(new, ways[mine], ways[theirs], None)
            if len(self.history) > 1:
                self._honest(older, ways[mine], ways[theirs], self._feedback(slot, 2))

    def _veterans(self, ways: dict[str, Floats]) -> None:
        lab, feedback = self.lab, self._feedback(SUBJECT, 1)
        for age in range(1, AGE):
            first = (self.made[SUBJECT].first + age * lab.recipe.windows) % (
                lab.windows - lab.recipe.windows
            )
            feedback = lab.encode(lab.delta(first)[0], feedback).feedback
        for mine, theirs in itertools.permutations(ways, 2):
            self._honest(f"after {AGE} rounds, all pairs", ways[mine], ways[theirs], feedback)
        self._stopped(SUBJECT, 1, f"{SHORT} after {AGE} rounds, and says so", feedback)

    def _early(self, slot: int) -> None:
        """A slow trainer ends early, and its header says so."""
        feedback = self._feedback(slot, 1)
        half = self._plan(slot).steps // 2
        self._stopped(slot, half, "half of the steps, and says so", feedback)
        self._stopped(slot, 1, f"{SHORT}, and says so", feedback)

    def _stopped(self, slot: int, steps: int, kind: str, feedback: Feedback) -> None:
        whole = self._plan(slot)
        plan = StepPlan(windows=whole.windows[: whole.windows_done(steps)], steps=steps)
        ways = [train(self.lab, plan, VARIANTS[name]) for name in JUDGES]
        early = train(self.lab, whole, steps=steps)
        for mine, theirs in ((early, ways[0]), (early, ways[1]), (ways[1], ways[0])):
            self._honest(kind, mine, theirs, feedback)

    def _honest(self, kind: str, mine: Floats, theirs: Floats, feedback: Feedback) -> None:
        made = self.lab.encode(mine, feedback)
        subject = Subject(payload=made.payload, before=feedback, after=made.feedback)
        kinds = self.found.honest.setdefault(kind, {size: [] for size in SAMPLES})
        for size, (figures,) in self._audited(subject, [theirs]):
            kinds[size].append(figures)
            if size == SAMPLE:
                self.found.scenes.setdefault(self.scene, []).append(figures)

    def _cheats(self, ways: dict[str, Floats]) -> None:
        mine, lab = self.made[SUBJECT], self.lab
        now = PlayedRound(
            lab=lab,
            plan=self._plan(SUBJECT),
            honest=mine.delta,
            feedback=self._feedback(SUBJECT, 1),
            payload=mine.encoded.payload,
            own_last=self.history[-1][SUBJECT].encoded.payload,
            others=[one.encoded.payload for one in self.made[:SUBJECT]],
            others_last=[one.encoded.payload for one in self.history[-1]],
            last_weights=self.last_weights,
        )
        for kind, subject in cheats(now):
            self.found.work[kind] = subject.work
            kinds = self.found.cheats.setdefault(kind, {size: [] for size in SAMPLES})
            for size, figures in self._audited(subject, [ways[name] for name in JUDGES]):
                kinds[size].append(figures)

    def _audited(
        self, subject: Subject, auditors: Sequence[Floats]
    ) -> Iterator[tuple[int, tuple[MeasuredFigures, ...]]]:
        """The figures of every auditor, for each size of sample and each sample."""
        lab = self.lab
        rules = Algorithm(k=lab.recipe.k, bits=lab.recipe.bits)  # type: ignore[arg-type]
        model = audit.AuditedModel(
            layout=lab.layout,
            hidden=lab.model.hidden,
            algorithm=codecs.outer_algorithm(rules, lab.recipe.k, lab.recipe.feedback),
        )
        payload = np.frombuffer(subject.payload, np.uint8)
        chance = np.random.default_rng(lab.round)
        for size, count in SAMPLES.items():
            for _ in range(count):
                chunks = np.sort(chance.choice(lab.layout.chunks, size, replace=False))
                leaves = audit.OpenedLeaves(
                    chunks=chunks,
                    before=_leaves(subject.before, chunks),
                    after=_leaves(subject.after, chunks),
                )
                yield (
                    size,
                    tuple(audit.measure(model, one, payload, leaves) for one in auditors),
                )

    def _sketches(self, ways: dict[str, Floats]) -> None:
        """Cosines of auditors' sketches, and of those that a lazy one can make."""
        lab, mine = self.lab, self.made[SUBJECT]
        for number in range(SAMPLES[SAMPLE]):
            seed = bytes([number, *bytes(31)])
            chance = np.random.default_rng(number)
            made = {name: audit.sketch(one, seed) for name, one in ways.items()}
            for one, other in itertools.combinations(made, 2):
                self._compared("two honest auditors", made[one], made[other])
            moved = (self.last_weights - lab.weights).astype(np.float32)
            sent = dense(lab, mine.encoded.payload)
            opened = sent.copy().reshape(-1, CHUNK)
            chunks = chance.choice(lab.layout.chunks, SAMPLE, replace=False)
            opened[chunks] = mine.delta.reshape(-1, CHUNK)[chunks]
            others = np.mean([one.delta for one in self.made[:SUBJECT]], axis=0)
            lazy = {
                "lazy: of the payload": sent,
                f"lazy: of payload and {SAMPLE} of {lab.layout.chunks} chunks": opened.reshape(-1),
                "lazy: of the difference of heads": moved,
                "lazy: of another trainer's work": self.made[0].delta,
                "lazy: of the mean of three others' work": others,
            }
            for kind, values in lazy.items():
                self._compared(kind, made["fp32"], audit.sketch(values, seed))

    def _compared(self, kind: str, one: tuple[int, ...], other: tuple[int, ...]) -> None:
        self.found.sketches.setdefault(kind, []).append(audit.sketch_cosine(one, other))


def _precision(name: str) -> str:
    return name.partition(",")[0].partition(" ")[0]


def _leaves(feedback: Feedback, chunks: NDArray[np.int64]) -> NDArray[np.uint16] | None:
    return None if feedback is None else feedback.reshape(-1, CHUNK)[chunks]


# --- tables --------------------------------------------------------------------------------------


def _tables(found: AuditMeasurements) -> dict[str, str]:
    return {
        "honest contributions": _figures({k: v[SAMPLE] for k, v in found.honest.items()}),
        "cheating contributions": _figures(
            {k: [one for one, _ in v[SAMPLE]] for k, v in found.cheats.items()}
        ),
        "honest contributions, scene by scene": _figures(found.scenes),
        "limits": _limits(found),
        "number of chunks": _sizes(found),
        "detection": _detection(found),
        "gain": _gain(found),
        "vesting": _vesting(),
        "sketches": _sketch_table(found),
        "machine of the measurements": ", ".join(f"{k} {v}" for k, v in machine().items()),
    }


def _figures(kinds: dict[str, list[MeasuredFigures]]) -> str:
    columns = ("contribution", "n", *DIFFERENCES, "cosine")
    rows = []
    for kind, some in kinds.items():
        cells = [_range([getattr(one, name) for one in some]) for name in (*DIFFERENCES, "cosine")]
        rows.append([kind, str(len(some)), *cells])
    return table.markdown(columns, rows)


def _range(values: Iterable[int | None]) -> str:
    there = sorted(one / 1e4 for one in values if one is not None)
    if not there:
        return "none"
    return f"{there[0]:.3f} / {np.mean(there):.3f} / {there[-1]:.3f}"


def _limits(found: AuditMeasurements) -> str:
    """Each limit with its false positives."""
    columns = (
        "figure and contributions",
        "n",
        "largest",
        "tail begins",
        "exponent",
        "warns above",
        "rate",
        "convicts above",
        "rate",
        f"alarms of one auditor in {SIMULATED} rounds",
        "convictions by two",
    )
    groups: dict[str, list[MeasuredFigures]] = {}
    for kind, by in found.honest.items():
        name = "one step" if kind.startswith(SHORT) else "half of the steps or more"
        groups.setdefault(name, []).extend(by[SAMPLE])
    rows = []
    for name, (group, some) in itertools.product(CONVICT, groups.items()):
        figures = [value for one in some if (value := getattr(one, name)) is not None]
        tail = _Tail.fit(figures)
        warn, convict = WARN[name], CONVICT[name]
        draws = tail.draw(np.random.default_rng(1), SIMULATED, 2)
        rows.append(
            [
                f"{name}: {group}",
                str(len(figures)),
                f"{tail.largest / 1e4:.3f}",
                f"{tail.start / 1e4:.3f}",
                f"{tail.exponent:.1f}",
                f"{warn / 1e4:.2f}",
                f"{tail.beyond(warn):.0e}",
                f"{convict / 1e4:.2f}",
                f"{tail.beyond(convict):.0e}",
                str(int((draws > convict).any(axis=1).sum())),
                str(int((draws > convict).all(axis=1).sum())),
            ]
        )
    return table.markdown(columns, rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tail:
    """Honest figures, and a Pareto tail fitted to the largest (Hill 1975)."""

    values: NDArray[np.float64]
    start: float
    exponent: float

    @classmethod
    def fit(cls, figures: Sequence[int]) -> _Tail:
        values = np.sort(np.maximum(np.array(figures, np.float64), 1.0))
        start = float(np.quantile(values, 1 - TAIL))
        excess = np.log(values[values > start] / start)
        return cls(
            values=values,
            start=start,
            exponent=1 / float(excess.mean()) if excess.size else math.inf,
        )

    @property
    def largest(self) -> float:
        return float(self.values[-1])

    def beyond(self, limit: float) -> float:
        """Probability of a figure above the limit."""
        return TAIL * (limit / self.start) ** -self.exponent if limit > self.start else TAIL

    def draw(self, chance: np.random.Generator, *shape: int) -> NDArray[np.float64]:
        """Bootstrap from the measured figures; those of the tail come from the fit."""
        drawn = chance.choice(self.values, shape)
        tails = self.start * (1 - chance.random(shape)) ** (-1 / self.exponent)
        return np.where(drawn > self.start, tails, drawn)


def _sizes(found: AuditMeasurements) -> str:
    """Figures of the same contributions in samples of different sizes."""
    columns = ("chunks", "hidden, honest", "other, honest", "hidden, 80% of the steps", "detected")
    rows = []
    for size in SAMPLES:
        honest = [one for by in found.honest.values() for one in by[size]]
        some = found.cheats["80% of the steps"][size]
        rows.append(
            [
                str(size),
                *(_range([getattr(one, name) for one in honest]) for name in ("hidden", "other")),
                _range([one.hidden for one, _ in some]),
                f"{_found_by(some, 2):.0%}",
            ]
        )
    return table.markdown(columns, rows)


def _found_by(some: Sequence[tuple[MeasuredFigures, ...]], auditors: int) -> float:
    """Share of audits in which at least so many of the two auditors convict."""
    votes = [sum(bool(exceeded(one, CONVICT)) for one in pair) for pair in some]
    return float(np.mean([count >= auditors for count in votes]))


def _detection(found: AuditMeasurements) -> str:
    columns = ("cheat", "audits", "warned", "one convicts", "both convict", "by")
    rows = []
    for kind, by in found.cheats.items():
        some = by[SAMPLE]
        warned = np.mean([bool(exceeded(pair[0], WARN)) for pair in some])
        names = {name for pair in some for name in exceeded(pair[0], CONVICT)}
        shares = [f"{_found_by(some, count):.0%}" for count in (1, 2)]
        reasons = ", ".join(sorted(names)) or "none"
        rows.append([kind, str(len(some)), f"{warned:.0%}", *shares, reasons])
    return table.markdown(columns, rows)


def _gain(found: AuditMeasurements) -> str:
    """Gains in contributions; cheats that do all the work gain nothing and are left out."""
    columns = (
        "cheat",
        "share of the work",
        "detected",
        "conviction, veteran",
        "conviction, newcomer",
        f"a veteran, once, V = {VESTING}",
        "smallest V",
        f"best plan of a key, V = {VESTING}",
    )
    rows = []
    for kind, by in found.cheats.items():
        odds = Odds(work=found.work[kind], found=_found_by(by[SAMPLE], 2))
        if odds.work == 1:
            continue
        least, best = odds.least_vesting(), odds.best(VESTING, needs_presence=True)
        rows.append(
            [
                kind,
                f"{odds.work:.2f}",
                f"{odds.found:.0%}",
                f"{odds.conviction(NEWCOMER):.3f}",
                f"{odds.conviction(0):.3f}",
                f"{odds.once(VESTING):+.2f}",
                "none" if least is None else str(least),
                f"{1 - odds.work:.2f} of every one" if best > UNLIMITED else f"{best:+.2f}",
            ]
        )
    return table.markdown(columns, rows)


def _vesting() -> str:
    """Gains of free rides that are always found, for several vesting periods."""
    columns = (
        "V",
        "a veteran, once",
        "always, fresh key",
        "best plan, V in rounds",
        "best plan, V in its own contributions",
        "the same, half of the work done",
    )
    ride, half = Odds(work=0.0, found=1.0), Odds(work=0.5, found=1.0)
    rows = []
    for vesting in (16, 32, 64, 96, 128, 256):
        gains = [
            ride.once(vesting),
            ride.always(vesting),
            ride.best(vesting, needs_presence=False),
            ride.best(vesting, needs_presence=True),
            half.best(vesting, needs_presence=True),
        ]
        rows.append([str(vesting), *(f"{one:+.2f}" for one in gains)])
    return table.markdown(columns, rows)


def _sketch_table(found: AuditMeasurements) -> str:
    columns = ("sketches", "n", "cosine: least / mean / most")
    rows = [[kind, str(len(some)), _range(some)] for kind, some in found.sketches.items()]
    repeat, sketch = (sum(column) for column in zip(*found.seconds, strict=True))
    text = f"\n\nA sketch took {sketch / repeat:.1%} of the processor time of the repetition."
    return table.markdown(columns, rows) + text


if __name__ == "__main__":
    main()
