"""A model of whose tensors each rank of a cell has a part (torch's DTensor): its steps.

`sharding` cuts every tensor along its first dimension, `tensor_parallel` matrices along either one.
A tensor that is not cut is the same on every rank: a DTensor of copies, or a plain one. Cuts are
those of `torch.chunk`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn
from torch.distributed import tensor as dtensor
from torch.distributed.tensor import DTensor, Shard, distribute_tensor

from tequio_client.trainer import inner
from tequio_client.trainer.cell import clip, exchanging
from tequio_client.trainer.moments import Moment, signed_moment

if TYPE_CHECKING:
    from tequio_client.trainer.cell import Cell, SampleSource
    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.inner import StepPlan, TrainingControl, TrainingProgress
    from tequio_client.trainer.model import CausalModel
    from tequio_shared.round.manifest import InnerParams


class PartsModel(ABC):
    """The part of a model that this rank has; owned by the trainer's thread."""

    def __init__(self, part: CausalModel, cell: Cell, device: ComputeDevice) -> None:
        self.part = part
        """Tensors of which this rank has a part, with their names in the whole model."""
        self.device, self._cell = device, cell
        self.rank_work = (1,) * cell.size

    def load(self, whole: CausalModel) -> None:
        """Take the weights of rank 0's whole model, one tensor after the other."""
        for name, one in self.part.parameters.items():
            full = torch.empty(one.shape, device=self.device.handle)
            if self._cell.rank == 0:
                full.copy_(whole.parameters[name].detach())
            if isinstance(one, DTensor):
                with exchanging():
                    cut = distribute_tensor(full, one.device_mesh, one.placements)
                local(one).copy_(cut.to_local())
            else:
                self._cell.copy_from(0, [full])
                one.detach().copy_(full)

    def store(self, whole: CausalModel) -> None:
        """Bring the weights back to rank 0's whole model, one tensor after the other."""
        for name, one in self.part.parameters.items():
            full = one.detach()
            if isinstance(full, DTensor):
                with exchanging():
                    full = full.full_tensor()
            if self._cell.rank == 0:
                whole.parameters[name].detach().copy_(full)

    def train(
        self, training: SampleSource, plan: StepPlan, recipe: InnerParams, watch: TrainingControl
    ) -> TrainingProgress:
        """Take the planned steps as `inner.train` does."""
        optimiser = PartsOptimiser(self.part, recipe, self._cell)
        self.part.network.train()

        def take_step(samples: Tensor) -> float:
            with exchanging():  # torch gathers and adds up in the midst of both
                loss = self._compute_gradients(samples.to(self.device.handle), recipe.z_loss)
                optimiser.step()
            return loss

        return inner.take_steps(training, plan, self._cell, watch, take_step)

    @abstractmethod
    def _compute_gradients(self, samples: Tensor, z_loss: float) -> float:
        """Add those of a step to the part, over all ranks' samples; returns the step's loss."""


class PartsOptimiser:
    """The optimiser of `inner` for parts of tensors; Muon gathers one matrix after the other.

    What is not cut moves on every rank, and is then rank 0's: cards may round differently.
    """

    def __init__(self, parts: CausalModel, recipe: InnerParams, cell: Cell) -> None:
        self._cell, self._clip = cell, recipe.clip_e3 / 1e3
        self._momentum = recipe.momentum
        self._lr, self._decay = recipe.lr_e9 / 1e9, recipe.decay_e6 / 1e6
        hidden = parts.hidden if recipe.optimiser == "muon" else frozenset()
        tensors, bits = parts.parameters, recipe.state_bits
        self._matrices = [tensors[name] for name in sorted(hidden)]
        self._momenta = [signed_moment(_rows_of_zeros(one), bits) for one in self._matrices]
        self._rest = [one for name, one in tensors.items() if name not in hidden]
        self._adam = inner.AdamW([local(one) for one in self._rest], bits)
        self._adam.follow(recipe.adam_lr_e9 / 1e9, self._decay)

    @torch.no_grad()
    def step(self) -> None:
        """Clip the norm of all gradients together, and take one step."""
        every = (*self._matrices, *self._rest)
        cut, copies = list[Tensor](), list[Tensor]()
        for one in every:
            (copies if is_copy(one) else cut).append(local_gradient(one))
        clip(self._cell, cut, self._clip, copies)
        for one, momentum in zip(self._matrices, self._momenta, strict=True):
            self._move(one, momentum)
        for one, part in zip(self._rest, self._adam.parameters, strict=True):
            part.grad = local_gradient(one)
        self._adam.step()
        self._cell.copy_from(0, [local(one) for one in every if is_copy(one)])

    def _move(self, matrix: nn.Parameter, kept: Moment) -> None:
        rows, part, momentum = _rows(inner.gradient(matrix)), local(matrix), kept.load()
        gradient = local(rows)
        momentum.mul_(self._momentum).add_(gradient)
        kept.store(momentum)
        gradient.add_(momentum, alpha=self._momentum)
        whole = rows.full_tensor() if isinstance(rows, DTensor) else rows
        flat = whole.flatten(1)
        is_tall = flat.shape[0] > flat.shape[1]
        update = inner.orthogonalise((flat.T if is_tall else flat)[None])[0]
        update = (update.T if is_tall else update).reshape(whole.shape)
        rate = self._lr * inner.UPDATE_RMS * math.sqrt(max(flat.shape))
        if self._decay:
            part.mul_(1 - self._lr * self._decay)
        own = self._own(update, matrix)
        if own is not None:
            part.sub_(own, alpha=rate)

    def _own(self, update: Tensor, matrix: Tensor) -> Tensor | None:
        """This rank's part; None if the matrix has fewer rows than the cell has ranks."""
        if is_copy(matrix):
            return update
        parts = torch.chunk(update, self._cell.size, _cut_dimension(matrix))
        return parts[self._cell.rank] if self._cell.rank < len(parts) else None


def local(one: Tensor) -> Tensor:
    """This rank's part of a tensor, in place."""
    found = one.detach()
    return found.to_local() if isinstance(found, DTensor) else found


def is_copy(one: Tensor) -> bool:
    """True if this rank has all of a tensor, as the others do."""
    return not isinstance(one, DTensor) or one.placements[0].is_replicate()


def _cut_dimension(one: Tensor) -> int:
    placement = cast("DTensor", one).placements[0]
    return placement.dim % one.dim() if isinstance(placement, Shard) else 0


def local_gradient(one: nn.Parameter) -> Tensor:
    return local(inner.gradient(one))


def _rows(gradient: Tensor) -> Tensor:
    """The gradient cut into rows, however it is cut: Muon's state rounds along whole rows."""
    if isinstance(gradient, DTensor) and not is_copy(gradient):
        return gradient.redistribute(placements=[Shard(0)])
    return gradient


def _rows_of_zeros(one: Tensor) -> Tensor:
    if isinstance(one, DTensor) and not is_copy(one):
        return dtensor.zeros(
            one.shape, device_mesh=one.device_mesh, placements=[Shard(0)]
        ).to_local()
    return torch.zeros_like(local(one))
