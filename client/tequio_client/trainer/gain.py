"""Loss gains: how much more a contribution helps on its own windows than on windows of nobody.

The contribution alone is applied to the base head, as its trainer had it before the outer step;
DisTrO's signs by the outer step itself, as they have no size of their own. The gain is the fall of
the loss on its windows minus the fall on the control windows, in 2^-16 nats per target. Forward
passes only: `tequio_shared.round.gain` draws few enough windows that a witness spends a small part
of a share's training. docs/screening.md has the measurements.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from tequio_client.trainer import codecs
from tequio_client.trainer.batch import BatchSize
from tequio_client.trainer.engines import Block, ReferenceEngine
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.prepared import TrainingData
from tequio_client.trainer.token_loss import IGNORED, TokenLoss, inputs_and_targets
from tequio_shared.head.head import OuterParams, multipliers
from tequio_shared.head.layout import CHUNK, WeightLayout
from tequio_shared.limits import GAIN_MOST

_UNIT = 2.0**16  # gains in a nat
_BLOCK = 2_048  # chunks at a time: bounds the memory, whatever the model's size


@dataclass(frozen=True, slots=True, kw_only=True)
class GainContext:
    """The base head, the data, and the batches that gains are measured with."""

    model: CausalModel
    layout: WeightLayout
    params: OuterParams
    master: NDArray[np.int32]
    data: TrainingData
    batch: BatchSize
    check: Callable[[], None]
    """Called between batches; raises to abandon the measuring."""


def measure_gains(
    context: GainContext,
    payloads: Mapping[int, NDArray[np.uint8]],
    windows: Mapping[int, Sequence[int]],
    control: Sequence[int],
    budget_s: float,
) -> dict[int, int]:
    """Measure valid payloads, by slot, in their order; those not begun within the budget are left.

    `windows` has those of every slot. Gains that are not finite count as the lowest one.
    """
    begun = time.perf_counter()
    context.model.load(context.master, context.layout)
    every = [one for slot in payloads for one in windows[slot]]
    before = window_losses(context, [*control, *every])
    gains = dict[int, int]()
    at = len(control)
    for number, (slot, payload) in enumerate(payloads.items(), 1):
        mine = before[at : at + len(windows[slot])]
        at += len(windows[slot])
        apply_contribution(context, payload)
        after = window_losses(context, [*control, *windows[slot]])
        others = _fall(before[: len(control)], after[: len(control)])
        gains[slot] = _units(_fall(mine, after[len(control) :]) - others)
        # One more takes about as long as those so far on average, the base head included.
        if (time.perf_counter() - begun) * (number + 1) / number > budget_s:
            break
    return gains


def apply_contribution(context: GainContext, payload: NDArray[np.uint8]) -> None:
    """Load the base head minus the contribution into the model."""
    layout, shape = context.layout, context.params.shape
    rows = shape.rows(payload)
    if shape.algorithm == "distro":
        context.model.load(_moved_by_signs(context, rows), layout)
        return
    values = np.zeros(layout.elements, np.float32)
    for first in range(0, len(rows), _BLOCK):
        stop = min(first + _BLOCK, len(rows))
        sent = codecs.decode(rows[first:stop], shape, layout.padding(first, stop))
        values[first * CHUNK : stop * CHUNK] = sent
    context.model.load(context.master, layout)
    changes = layout.unflatten(values)
    with torch.no_grad():
        for name, parameter in context.model.parameters.items():
            parameter.sub_(torch.from_numpy(changes[name]).to(parameter.device, parameter.dtype))


def _moved_by_signs(context: GainContext, rows: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Master copy after an outer step of this contribution alone, without decay."""
    params, layout = replace(context.params, lambda_q=0), context.layout
    engine, factors = ReferenceEngine(params), multipliers([1], params)
    moved = np.empty_like(context.master)
    for first in range(0, len(rows), _BLOCK):
        stop = min(first + _BLOCK, len(rows))
        inside = slice(first * CHUNK, stop * CHUNK)
        block = Block(
            records=rows[None, first:stop],
            weights=context.master[inside],
            aux=None,
            padding=layout.padding(first, stop),
            matrix_elements=0,
        )
        moved[inside], _ = engine.move(block, factors)
    return moved


def window_losses(context: GainContext, windows: Sequence[int]) -> NDArray[np.float64]:
    """Summed loss of each window, in nats, and the targets that it is of: [windows, 2]."""
    samples = context.data.samples(windows)
    context.model.network.eval()
    losses, found = TokenLoss(context.model, context.batch.device), []
    for part in torch.split(samples, context.batch.samples):
        context.check()
        ids = part.to(context.batch.device.handle)
        inputs_bl, targets_bl = inputs_and_targets(ids)
        # Added up by the processor: some accelerators have no float64.
        nats = losses.losses(inputs_bl, targets_bl).cpu().double().sum(1)
        found.append(torch.stack((nats, (targets_bl != IGNORED).sum(1).cpu()), 1))
    sums = torch.cat(found).view(len(windows), -1, 2).sum(1)
    return np.asarray(sums.numpy(), np.float64)


def _fall(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    nats, targets = (before - after)[:, 0].sum(), before[:, 1].sum()
    return float(nats / max(targets, 1))


def _units(fall: float) -> int:
    if not np.isfinite(fall):
        return -GAIN_MOST
    return int(np.clip(np.rint(fall * _UNIT), -GAIN_MOST, GAIN_MOST))
