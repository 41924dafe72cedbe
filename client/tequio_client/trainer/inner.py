"""The inner steps: from a head and its windows to new weights, in ordinary floating point.

The optimiser starts from zero in every round, so that a contribution depends on head and windows
alone and can be computed again. Step h of H takes windows floor(h m / H) ..
floor((h + 1) m / H) - 1 of the m assigned. Muon (momentum, then five Newton-Schulz steps towards
the nearest orthogonal matrix; Jordan et al. 2024, scaled as in arXiv 2502.16982) moves the hidden
matrices, AdamW everything else. DisTrO's only step is `accumulate`: the gradient over all windows,
without an optimiser.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn

from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.cell import ALONE, Cell, SampleSource
from tequio_client.trainer.device import fastest_precision, is_out_of_memory
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.moments import Moment, positive_moment, signed_moment
from tequio_client.trainer.plugins.api import InnerOptimiser, OptimiserFactory, OptimiserRates
from tequio_client.trainer.token_loss import TokenLoss, count_targets
from tequio_shared.round.manifest import InnerParams

BETAS = (0.9, 0.95)
EPSILON = 1e-8
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
NEWTON_SCHULZ_STEPS = 5
UPDATE_RMS = 0.2
"""Muon's update is scaled to about the root mean square of an AdamW update."""
_BUSY_TOKENS = 4_096
"""Tokens of a batch that keep an accelerator busy."""
_LEAST_LOSS_SCALE = 2.0**-16
_MUON_NUMBERS = 1 << 25
"""Numbers of a stack of matrices; a step of Muon needs about 16 bytes more for each of them."""
_PART_NUMBERS = 1 << 24
"""Numbers that AdamW moves at a time."""
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan:
    windows: tuple[int, ...]
    steps: int

    @classmethod
    def from_ranges(cls, ranges: Sequence[tuple[int, int]], steps: int) -> StepPlan:
        """Plan `steps` steps over (first, count) ranges; fewer when there are fewer windows."""
        windows = tuple(first + i for first, count in ranges for i in range(count))
        return cls(windows=windows, steps=min(steps, len(windows)))

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The (first, count) ranges of all windows."""
        found: list[tuple[int, int]] = []
        for window in self.windows:
            first, count = found[-1] if found else (window, 0)
            if window == first + count and found:
                found[-1] = (first, count + 1)
            else:
                found.append((window, 1))
        return tuple(found)

    def at(self, step: int) -> tuple[int, ...]:
        """Windows of a step, counted from 0."""
        return self.windows[self.windows_done(step) : self.windows_done(step + 1)]

    def windows_done(self, steps: int) -> int:
        """Number of windows done after `steps` steps."""
        return steps * len(self.windows) // self.steps

    def may_stop(self, steps: int) -> bool:
        """True if the windows done, split evenly over `steps`, were split just as here.

        Headers state only steps and windows, so a re-run has no other way to split them.
        """
        done = self.windows_done(steps)
        return steps > 0 and all(h * done // steps == self.windows_done(h) for h in range(1, steps))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingProgress:
    """Inner steps so far, or parts of DisTrO's only step while it lasts.

    `targets` are the tokens that have a loss. Losses are nats for each of them, nan before the
    first step.
    """

    step: int = 0
    steps: int
    windows: int = 0
    tokens: int = 0
    targets: int = 0
    seconds: float = 0.0
    loss_first: float = math.nan
    loss_last: float = math.nan


class TrainingControl(Protocol):
    def check(self) -> None:
        """Called often, also within a step; raises to abandon the training."""

    def should_stop(self, progress: TrainingProgress) -> bool:
        """Called after every step; True to end with the steps so far. May sleep, and may raise."""


def train(  # noqa: PLR0913, PLR0917 - the last one is a plug-in's
    model: CausalModel,
    training: SampleSource,
    plan: StepPlan,
    inner: InnerParams,
    batch: BatchSize,
    watch: TrainingControl,
    factory: OptimiserFactory | None = None,
) -> TrainingProgress:
    """Take the planned inner steps, changing the model's weights in place.

    Once `watch.should_stop` returned true, training ends at the next step where `plan.may_stop`.
    A plug-in's `factory` makes the optimiser in place of the recipe's.
    """
    optimiser: InnerOptimiser = (
        PluginOptimiser(model, inner, factory) if factory else Optimiser(model, inner, batch.cell)
    )
    batch.start_round()
    model.network.train()

    def take_step(samples: Tensor) -> float:
        given = samples.to(batch.device.handle)
        loss = compute_gradients(model, given, batch, watch.check, inner.z_loss)
        optimiser.step()
        return loss

    return take_steps(training, plan, batch.cell, watch, take_step)


def take_steps(
    training: SampleSource,
    plan: StepPlan,
    cell: Cell,
    watch: TrainingControl,
    take_step: Callable[[Tensor], float],
) -> TrainingProgress:
    """Take the planned steps; `take_step` takes one with its samples, and returns its loss."""
    progress, must_stop = TrainingProgress(steps=plan.steps), False
    for step in range(plan.steps):
        begun = time.perf_counter()
        samples = training.samples(plan.at(step))
        loss = take_step(samples)
        progress = _after_step(progress, plan, samples, loss, time.perf_counter() - begun)
        must_stop = cell.decide(partial(watch.should_stop, progress)) or must_stop
        if must_stop and plan.may_stop(step + 1):
            break
    return progress


def _after_step(
    progress: TrainingProgress, plan: StepPlan, samples: Tensor, loss: float, seconds: float
) -> TrainingProgress:
    step = progress.step + 1
    return replace(
        progress,
        step=step,
        windows=plan.windows_done(step),
        tokens=progress.tokens + samples[:, 1:].numel(),
        targets=progress.targets + count_targets(samples),
        seconds=progress.seconds + seconds,
        loss_first=loss if progress.step == 0 else progress.loss_first,
        loss_last=loss,
    )


def accumulate(
    model: CausalModel,
    training: SampleSource,
    windows: Sequence[int],
    inner: InnerParams,
    batch: BatchSize,
    watch: TrainingControl,
) -> TrainingProgress:
    """Leave the clipped gradient of the mean loss over the windows in the model; no weight moves.

    Once `watch.should_stop` returned true, the gradient is that of the windows done.
    """
    batch.start_round()

    def compute(scale: float) -> TrainingProgress:
        losses = TokenLoss(model, batch.device, z_loss=inner.z_loss)
        return _sum_over_windows(losses, training, windows, batch, watch, scale)

    model.network.train()
    total = _gradients(model, batch, 1, compute)
    gradients = [gradient(one) for one in model.parameters.values()]
    targets = max(total.targets, 1)
    torch._foreach_mul_(gradients, 1 / targets)
    _clip(gradients, inner.clip_e3 / 1e3)
    loss = total.loss_last / targets
    return replace(total, step=1, steps=1, loss_first=loss, loss_last=loss)


def _sum_over_windows(
    losses: TokenLoss,
    training: SampleSource,
    windows: Sequence[int],
    batch: BatchSize,
    watch: TrainingControl,
    scale: float,
) -> TrainingProgress:
    """Add up gradients of the scaled sum of losses, as many windows at a time as fit into a batch.

    `loss_last` of the result is that sum, nats.
    """
    size = max(batch.samples * batch.cell.size // training.window_samples, 1)
    parts = [windows[at : at + size] for at in range(0, len(windows), size)]
    progress = TrainingProgress(steps=len(parts), loss_last=0.0)
    for part in parts:
        begun = time.perf_counter()
        samples = training.samples(part).to(batch.device.handle)
        loss = _accumulate(losses, samples, batch, watch.check, scale)
        seconds = time.perf_counter() - begun
        progress = replace(
            progress,
            step=progress.step + 1,
            windows=progress.windows + len(part),
            tokens=progress.tokens + samples[:, 1:].numel(),
            targets=progress.targets + count_targets(samples),
            seconds=progress.seconds + seconds,
            loss_last=progress.loss_last + loss,
        )
        if batch.cell.decide(partial(watch.should_stop, progress)):
            break
    return progress


def compute_gradients(
    model: CausalModel,
    samples: Tensor,
    batch: BatchSize,
    check: Callable[[], None],
    z_loss: float = 0.0,
) -> float:
    """Compute the gradient of the mean loss, with its z-loss; returns the loss, nats per target.

    Without targets both are 0. Raises what `is_out_of_memory` knows when not even one
    sample fits.
    """
    # Those of all samples: the gradient does not depend on how they are split into batches.
    targets = max(count_targets(samples), 1)

    def compute(scale: float) -> float:
        losses = TokenLoss(model, batch.device, z_loss=z_loss)
        return _accumulate(losses, samples, batch, check, scale)

    loss = _gradients(model, batch, targets, compute)
    return loss / targets


def _gradients(
    model: CausalModel, batch: BatchSize, divisor: int, compute: Callable[[float], _Result]
) -> _Result:
    """Compute gradients of the summed loss over `divisor`, again until memory and range suffice.

    `compute` adds the gradient of the summed loss times a scale.
    """
    is_scaled = batch.device.precision == torch.float16 or batch.cell.has_float16
    while True:
        # Again from zero: what a failed attempt added would count twice.
        for parameter in model.parameters.values():
            parameter.grad = None
        scale = batch.loss_scale if is_scaled else 1 / divisor
        try:
            found = compute(scale)
        except RuntimeError as err:
            cell = batch.cell
            is_common = cell.size == 1 or cell.common_error is err
            if not is_out_of_memory(err) or not is_common:
                raise
            # All ranks try again or none: one alone would wait for the others without end.
            if not cell.total(partial(_save_memory, model, batch)):
                cell.common_error = err
                raise
        else:
            batch.cell.add_up([gradient(one) for one in model.parameters.values()])
            if not is_scaled or _unscale(model, batch, divisor):
                batch.record_fit()
                return found
        # Not while the error is handled: it holds the tensors of the failed attempt.
        batch.device.release_memory()


def _save_memory(model: CausalModel, batch: BatchSize) -> bool:
    """Use less memory for a batch; False if nothing is left to save."""
    # A smaller batch costs no time while it keeps the device busy; after that, recomputing costs
    # less than idling.
    is_busy = batch.tokens > _BUSY_TOKENS
    if is_busy and batch.halve():
        return True
    if model.recompute_layers():
        batch.recompute()
        return True
    return batch.halve()


def _unscale(model: CausalModel, batch: BatchSize, divisor: int) -> bool:
    """Divide the gradients by scale and divisor; False if the scale was halved for another try."""
    # Powers of two change no bit of a number within range. So a repetition that needs another
    # scale, on another device, differs in what overflows or vanishes only.
    gradients = [gradient(one) for one in model.parameters.values()]
    if batch.loss_scale > _LEAST_LOSS_SCALE and not torch.isfinite(_norm(gradients)):
        batch.loss_scale /= 2
        return False
    torch._foreach_mul_(gradients, 1 / (batch.loss_scale * divisor))
    return True


def _accumulate(
    losses: TokenLoss,
    samples: Tensor,
    batch: BatchSize,
    check: Callable[[], None],
    scale: float,
) -> float:
    """Add the gradient of the summed loss times `scale`; returns the sum, nats.

    Of a cell, the gradient is that of this rank's part, and the sum that of all.
    """

    def compute() -> float:
        total = torch.zeros((), device=batch.device.handle)
        for part in torch.split(batch.cell.own(samples), batch.samples):
            check()
            if len(part):
                total += losses.backward(part, scale)
        return float(total)

    return batch.cell.total(compute)


class Optimiser:
    """Muon for hidden matrices, AdamW for the rest; the state starts from zero.

    A rank of a cell moves its share of the tensors, of which it alone has the state, and the others
    copy them: so all have the same bits after each step, also on cards that round differently.
    """

    def __init__(self, model: CausalModel, inner: InnerParams, cell: Cell = ALONE) -> None:
        self._cell, self._clip = cell, inner.clip_e3 / 1e3
        self._parameters = list(model.parameters.values())
        owners = cell.owners(self._parameters)
        self._shares = [
            [one for one, owner in zip(self._parameters, owners, strict=True) if owner == rank]
            for rank in range(cell.size)
        ]
        own = {id(one) for one in self._shares[cell.rank]}
        hidden = model.hidden if inner.optimiser == "muon" else frozenset()
        matrices = [model.parameters[name] for name in sorted(hidden)]
        rest = [one for name, one in model.parameters.items() if name not in hidden]
        self._muons = _muons([one for one in matrices if id(one) in own], inner)
        self._adam = AdamW([one for one in rest if id(one) in own], inner.state_bits)
        self.follow(inner)

    def follow(self, inner: InnerParams) -> None:
        """Take the learning rates and the weight decay of these rules from now on."""
        decay = inner.decay_e6 / 1e6
        for one in self._muons:
            one.follow(inner.lr_e9 / 1e9, decay)
        self._adam.follow(inner.adam_lr_e9 / 1e9, decay)

    @torch.no_grad()
    def step(self) -> None:
        """Clip the norm of all gradients together, and take one step."""
        _clip([gradient(one) for one in self._parameters], self._clip)
        self.move()

    @torch.no_grad()
    def move(self) -> None:
        """Move the weights by gradients that are clipped already."""
        for one in self._muons:
            one.step()
        self._adam.step()
        for rank, share in enumerate(self._shares):
            self._cell.copy_from(rank, share)


class PluginOptimiser:
    """An optimiser of a plug-in, made for one round: its gradients are clipped as all others."""

    def __init__(self, model: CausalModel, inner: InnerParams, factory: OptimiserFactory) -> None:
        self._clip = inner.clip_e3 / 1e3
        self._parameters = list(model.parameters.values())
        rates = OptimiserRates(
            lr=inner.lr_e9 / 1e9,
            adam_lr=inner.adam_lr_e9 / 1e9,
            weight_decay=inner.decay_e6 / 1e6,
        )
        self._made = factory(model.parameters, rates)

    @torch.no_grad()
    def step(self) -> None:
        _clip([gradient(one) for one in self._parameters], self._clip)
        self._made.step()


def _clip(gradients: list[Tensor], most: float) -> None:
    """Scale all gradients together to a norm of at most `most`."""
    torch._foreach_mul_(gradients, (most / (_norm(gradients) + 1e-6)).clamp(max=1.0))


def _norm(gradients: list[Tensor]) -> Tensor:
    norms = torch._foreach_norm(gradients)  # noqa: SLF001 - no public name
    found: Tensor = torch.linalg.vector_norm(torch.stack(norms))
    return found


def gradient(parameter: Tensor) -> Tensor:
    """A tensor's gradient; zeros from now on if it had none."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


class AdamW:
    """AdamW for tensors with gradients, in place."""

    def __init__(self, parameters: Sequence[Tensor], state_bits: int) -> None:
        self.parameters = list(parameters)
        self._lr = self._decay = 0.0
        self._moments = [
            [(signed_moment(part, state_bits), positive_moment(part, state_bits)) for part in parts]
            for parts in map(_parts, parameters)
        ]
        self._steps = 0

    def follow(self, lr: float, decay: float) -> None:
        self._lr, self._decay = lr, decay

    def step(self) -> None:
        self._steps += 1
        for parameter, moments in zip(self.parameters, self._moments, strict=True):
            if self._decay and parameter.dim() > 1:
                parameter.mul_(1 - self._lr * self._decay)
            parts = zip(_parts(parameter), _parts(gradient(parameter)), moments, strict=True)
            for part, grad, (first, second) in parts:
                self._move(part, grad, first, second)

    def _move(self, part: Tensor, grad: Tensor, kept: Moment, kept_square: Moment) -> None:
        first, second = kept.load(), kept_square.load()
        first.lerp_(grad, 1 - BETAS[0])
        second.mul_(BETAS[1]).addcmul_(grad, grad, value=1 - BETAS[1])
        kept.store(first)
        kept_square.store(second)
        scale = (second / (1 - BETAS[1] ** self._steps)).sqrt_().add_(EPSILON)
        part.addcdiv_(first, scale, value=-self._lr / (1 - BETAS[0] ** self._steps))


def _parts(tensor: Tensor) -> Sequence[Tensor]:
    """Views of some rows each, so that a step needs little memory beside a large table."""
    rows = tensor if tensor.dim() else tensor[None]
    return torch.split(rows, max(_PART_NUMBERS // max(math.prod(rows.shape[1:]), 1), 1))


def _muons(parameters: Sequence[nn.Parameter], inner: InnerParams) -> list[_Muon]:
    """Muons for each size of matrix, so that equal sizes (up to transposition) share a batch."""
    groups: dict[tuple[int, int], list[nn.Parameter]] = {}
    for parameter in parameters:
        rows, columns = parameter.shape[0], parameter[0].numel()
        groups.setdefault((min(rows, columns), max(rows, columns)), []).append(parameter)
    found = []
    for sides, group in groups.items():
        size = max(_MUON_NUMBERS // math.prod(sides), 1)
        parts = [group[at : at + size] for at in range(0, len(group), size)]
        found += [_Muon(part, sides, inner) for part in parts]
    return found


class _Muon:
    """Matrices of one size, stacked for each step: [N, short, long]."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], sides: tuple[int, int], inner: InnerParams
    ) -> None:
        self._parameters, self._momentum = list(parameters), inner.momentum
        self._short, self._long = sides
        self._rate, self._shrink = 0.0, 1.0
        self._momenta = [signed_moment(one, inner.state_bits) for one in parameters]

    def follow(self, lr: float, decay: float) -> None:
        self._rate = lr * UPDATE_RMS * math.sqrt(self._long)
        self._shrink = 1 - lr * decay

    def step(self) -> None:
        updates = orthogonalise(self._directions())
        for parameter, update in zip(self._parameters, updates, strict=True):
            if self._shrink != 1:
                parameter.mul_(self._shrink)
            self._flat(parameter).sub_(update, alpha=self._rate)

    def _directions(self) -> Tensor:
        """Add the gradients to the momenta; returns where both point, [N, short, long]."""
        grads = [gradient(one) for one in self._parameters]
        momenta = [one.load() for one in self._momenta]
        torch._foreach_mul_(momenta, self._momentum)
        torch._foreach_add_(momenta, grads)
        for kept, momentum in zip(self._momenta, momenta, strict=True):
            kept.store(momentum)
        return torch.stack(
            [
                self._flat(torch.add(grad, momentum, alpha=self._momentum))
                for grad, momentum in zip(grads, momenta, strict=True)
            ]
        )

    def _flat(self, matrix: Tensor) -> Tensor:
        """A view of a matrix with its short side first."""
        flat = matrix.flatten(1)
        return flat if flat.shape[0] == self._short else flat.T


def orthogonalise(stack: Tensor) -> Tensor:
    """Approximate the nearest matrix with equal singular values, for each of [N, short, long]."""
    linear, cubic, quintic = NEWTON_SCHULZ
    wide: Tensor = stack / (stack.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    if stack.device.type != "cpu":
        wide = wide.to(fastest_precision(stack.device))  # not before: float16 would lose small ones
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = wide @ wide.mT
        mix = torch.baddbmm(gram, gram, gram, beta=cubic, alpha=quintic)
        wide = torch.baddbmm(wide, mix, wide, beta=linear)
    return wide.to(stack.dtype)
