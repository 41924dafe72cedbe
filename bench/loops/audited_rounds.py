"""Rounds of real training for the benchmark of audits: honest work, cheats, and repetitions.

An honest trainer and an auditor may compute in different ways (`VARIANTS`); a cheat sends something
without the work behind it (`cheats`). Everything is trained with the product's own code.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import torch
from tests.support import trainer_attacks
from tests.support.trainer_attacks import ATTACKS, Situation
from tests.support.training_lab import BF16, FP32, StepLimit, reversed_samples

from tequio_client.trainer import batch as batches
from tequio_client.trainer import inner
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.inner import StepPlan
from tequio_shared.head.contribution import SCALES, decode_records
from tequio_shared.head.head import WEIGHT_UNIT
from tequio_shared.head.layout import CHUNK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from tests.support.training_lab import TrainedContribution, TrainingLab
    from torch import Tensor

    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.prepared import TrainingData

    Floats = NDArray[np.float32]
    Feedback = NDArray[np.uint16] | None

UNIT = 2.0**-32


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to compute the same training: of an honest trainer, or of an auditor."""

    device: ComputeDevice = FP32
    threads: int = 1
    is_split: bool = False
    """One sample at a time, in reverse order."""
    is_gpu_like: bool = False
    """Newton-Schulz in bfloat16 too, as on a GPU."""


VARIANTS: Mapping[str, Variant] = {
    "fp32": Variant(),
    "fp32, sample by sample in reverse": Variant(is_split=True),
    "fp32, two threads": Variant(threads=2),
    "bf16": Variant(device=BF16),
    "bf16, sample by sample in reverse": Variant(device=BF16, is_split=True),
    "bf16 as on a GPU": Variant(device=BF16, is_gpu_like=True),
}


def train(
    lab: TrainingLab,
    plan: StepPlan,
    variant: Variant = VARIANTS["fp32"],
    *,
    steps: int | None = None,
    training: TrainingData | None = None,
) -> Floats:
    """Train from the lab's head; returns the pseudo-gradient, float32 in flat order."""
    lab.model.load(lab.weights, lab.layout)
    data = training or lab.training
    with _computing(lab, variant):
        inner.train(
            lab.model,
            reversed_samples(data) if variant.is_split else data,
            plan,
            lab.recipe.inner,
            BatchSize(data.sequence, variant.device),
            StepLimit(steps),
        )
    return delta_of(lab)


def delta_of(lab: TrainingLab) -> Floats:
    """The pseudo-gradient of the model's present weights."""
    out = np.zeros(lab.layout.elements, np.float32)
    if not lab.model.write_delta(lab.weights, lab.layout, out):
        raise AssertionError("training gave numbers that are not finite")
    return out


@contextmanager
def _computing(lab: TrainingLab, variant: Variant) -> Iterator[None]:
    with ExitStack() as stack:
        torch.set_num_threads(variant.threads)
        stack.callback(torch.set_num_threads, 1)
        if variant.is_split:
            sizes = {"cpu": lab.recipe.sequence}
            stack.enter_context(mock.patch.object(batches, "_BATCH_TOKENS", sizes))
        if variant.is_gpu_like:
            stack.enter_context(mock.patch.object(inner, "orthogonalise", _coarsely))
        yield


_orthogonalise = inner.orthogonalise


def _coarsely(stack: Tensor) -> Tensor:
    # inner.orthogonalise computes in the type of its input, and in bfloat16 on a GPU only.
    return _orthogonalise(stack.bfloat16()).to(stack.dtype)


def coast(lab: TrainingLab, plan: StepPlan, steps: int) -> Floats:
    """Take `steps` real steps; in the others only the optimiser's momentum moves the weights."""
    real = inner.compute_gradients
    count = iter(range(plan.steps))

    def compute(*given: object) -> float:
        if next(count) < steps:
            return real(*given)  # type: ignore[arg-type]  # passed on as they came
        for parameter in lab.model.parameters.values():
            parameter.grad = None
        return 0.0

    with mock.patch.object(inner, "compute_gradients", compute):
        return train(lab, plan)


def upper_layers(lab: TrainingLab, plan: StepPlan) -> Floats:
    """Train the upper half of the layers and the output only: a third of the work is saved."""
    config = lab.recipe.config["num_hidden_layers"]
    if not isinstance(config, int):
        raise TypeError("the configuration has no number of layers")
    lower = ("embed", *(f"layers.{number}." for number in range(config // 2)))
    frozen = [one for name, one in lab.model.parameters.items() if any(t in name for t in lower)]
    for one in frozen:
        one.requires_grad = False
    try:
        return train(lab, plan)
    finally:
        for one in frozen:
            one.requires_grad = True


def shortened(data: TrainingData, share: float) -> TrainingData:
    """The same samples, each cut to a share of its tokens."""

    class Shortened(type(data)):  # type: ignore[misc]  # a class of the given data
        def samples(self, windows: Sequence[int]) -> Tensor:
            rows: Tensor = super().samples(windows)
            return rows[:, : 1 + int(share * (rows.shape[1] - 1))]

    return Shortened(
        order=data.order,
        sequence=data.sequence,
        window_samples=data.window_samples,
        vocab_size=data.vocab_size,
        shards=data.shards,
    )


def dense(lab: TrainingLab, payload: bytes) -> Floats:
    """Values of a payload at their places."""
    records = decode_records(payload, lab.recipe.shape)
    values = np.zeros((lab.layout.chunks, CHUNK), np.float32)
    levels = records.levels * (SCALES[records.scales] * UNIT)[:, None]
    np.put_along_axis(values, records.indices.astype(np.int64), levels.astype(np.float32), 1)
    return values.reshape(-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A contribution as an auditor sees it; `work` is the share of the training really done."""

    payload: bytes
    before: Feedback
    after: Feedback
    work: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRound:
    """One round of honest training, and what a cheat can know in it."""

    lab: TrainingLab
    plan: StepPlan
    """Of the cheat's slot."""
    honest: Floats
    """Pseudo-gradient of the cheat's slot, had it trained."""
    feedback: Feedback
    payload: bytes
    """Of the cheat's slot, had it trained."""
    own_last: bytes
    others: Sequence[bytes]
    others_last: Sequence[bytes]
    last_weights: NDArray[np.int32]

    def sent(self, delta: Floats, work: float) -> Subject:
        """Encode a pseudo-gradient as a trainer does."""
        made = self.lab.encode(delta, self.feedback)
        return Subject(payload=made.payload, before=self.feedback, after=made.feedback, work=work)

    def forged(self, payload: bytes, delta: Floats, work: float) -> Subject:
        """Send other bytes, with a feedback that makes them look like this pseudo-gradient."""
        before = _floats(self.feedback, delta) * np.float32(self.lab.recipe.feedback)
        after = _bits(before + delta - dense(self.lab, payload))
        return Subject(payload=payload, before=self.feedback, after=after, work=work)

    def like(self, direction: Floats) -> Floats:
        """A direction, as long as honest work."""
        size = np.linalg.norm(direction)
        return direction * np.float32(np.linalg.norm(self.honest) / max(float(size), 1e-12))


def _floats(bits: Feedback, like: Floats) -> Floats:
    if bits is None:
        return np.zeros_like(like)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _bits(values: Floats) -> NDArray[np.uint16]:
    found = torch.from_numpy(values).bfloat16().view(torch.uint16).numpy()
    return np.asarray(found, np.uint16)


def cheats(now: PlayedRound) -> Iterator[tuple[str, Subject]]:
    """Every cheat of the round, one after the other."""
    yield from _free_rides(now)
    yield from _little_work(now)
    yield from _forgeries(now)


def _free_rides(now: PlayedRound) -> Iterator[tuple[str, Subject]]:
    lab = now.lab
    moved = ((now.last_weights - lab.weights) * WEIGHT_UNIT).astype(np.float32)
    yield "difference of the last two heads", now.sent(now.like(moved), 0)
    last = np.mean([dense(lab, one) for one in now.others_last], axis=0)
    yield "mean of the last round", now.sent(now.like(last), 0)
    mean = np.mean([dense(lab, one) for one in now.others], axis=0)
    yield "mean of three of this round", now.sent(now.like(mean), 0)
    situation = _situation(now)
    for share in (0.45, 0.6):
        payload = trainer_attacks.copy(share)(situation)
        name = f"copy, {share:.0%} of its entries moved"
        yield name, now.forged(payload, dense(lab, payload), 0)
    yield from _swallowed(now)


def _swallowed(now: PlayedRound) -> Iterator[tuple[str, Subject]]:
    """A feedback chosen so that bfloat16 rounds the missing work away.

    20 times a power of two, times 7 to 12, stays a bfloat16 number when it decays by 0.95: whatever
    is much smaller than its last bit disappears beside it.
    """
    chance, size = np.random.default_rng(now.lab.round), now.honest.size
    numbers = chance.integers(7, 13, size) * 20 * chance.choice([-1, 1], size)
    root = np.linalg.norm(numbers) / np.linalg.norm(now.honest)
    for times in (30, 300, 3_000):
        unit = 2.0 ** np.round(np.log2(times / root))
        large = replace(now, feedback=_bits((numbers * unit).astype(np.float32)))
        yield (
            f"chosen feedback {times} times as long, no work",
            large.sent(np.zeros_like(now.honest), 0),
        )


def _little_work(now: PlayedRound) -> Iterator[tuple[str, Subject]]:
    lab, plan = now.lab, now.plan
    first = StepPlan(windows=plan.windows[:1], steps=1)
    yield "one window of all", now.sent(now.like(train(lab, first)), 1 / len(plan.windows))
    same = StepPlan(windows=(0,), steps=1)
    name = "the same window in every round"
    yield name, now.sent(now.like(train(lab, same)), 1 / len(plan.windows))
    for share in (0.5, 0.8, 0.9):
        steps = round(share * plan.steps)
        part = train(lab, plan, steps=steps)
        yield f"{share:.0%} of the steps", now.sent(part, share)
        name = f"{share:.0%} of the steps, times {1 / share:.2f}"
        yield name, now.sent(part / np.float32(share), share)
        name = f"{share:.0%} of the steps, the rest on momentum"
        yield name, now.sent(coast(lab, plan, steps), share)
    for share in (0.5, 0.75, 0.9):
        few = shortened(lab.training, share)
        name = f"{share:.0%} of the tokens of every window"
        yield name, now.sent(train(lab, plan, training=few), share)
    yield "upper half of the layers", now.sent(upper_layers(lab, plan), 2 / 3)
    away = lab.windows // 2
    elsewhere = tuple((one + away) % lab.windows for one in plan.windows)
    other = StepPlan(windows=elsewhere, steps=plan.steps)
    yield "other windows", now.sent(train(lab, other), 1)


def _forgeries(now: PlayedRound) -> Iterator[tuple[str, Subject]]:
    """The attacks of the tests. Those on own work explain themselves by a forged feedback."""
    situation, free = _situation(now), {"copy", "copy_10", "weak_copy", "stale", "replay"}
    for name, attack in ATTACKS.items():
        if name == "half_work":  # among the others
            continue
        payload = attack(situation)
        if name in free:
            yield name, now.forged(payload, dense(now.lab, payload), 0)
        else:
            yield name, now.forged(payload, now.honest, 1)


def _situation(now: PlayedRound) -> Situation:
    return Situation(
        shape=now.lab.recipe.shape,
        payload=now.payload,
        seed=now.lab.round,
        last=now.own_last,
        foreign=now.others[0],
        foreign_last=now.others_last[0],
    )


def feedback_of(made: TrainedContribution) -> Feedback:
    """Error feedback after sending."""
    return made.encoded.feedback
