"""Every tensor divided among the ranks of a cell (FSDP2).

Each rank has a part of every tensor, of its gradient and of the optimiser's state. torch gathers a
layer's tensors when it computes, and frees them again. All ranks go through the network equally
often, because each pass gathers every layer. A tensor is cut along its first dimension, as
`torch.chunk` does.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, Shard, distribute_tensor

from tequio_client.trainer import inner, model
from tequio_client.trainer.cell import PASS_TOKENS, clip, exchanging, filled
from tequio_client.trainer.inner import StepPlan, TrainingControl, TrainingProgress
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.moments import Moment, signed_moment
from tequio_client.trainer.token_loss import TokenLoss, count_targets

if TYPE_CHECKING:
    from tequio_client.trainer.cell import Cell, SampleSource
    from tequio_client.trainer.device import ComputeDevice
    from tequio_client.trainer.model import CausalModel
    from tequio_shared.round.manifest import InnerParams


class ShardedModel:
    """The part of a model that this rank has; owned by the trainer's thread."""

    def __init__(
        self, network: Llama, cell: Cell, device: ComputeDevice, separator: int | None = None
    ) -> None:
        """`network` has its parameters on "meta"; on the device they have meaningless values.

        `separator` is that of `CausalModel`.
        """
        self.device, self._cell = device, cell
        self.rank_work = (1,) * cell.size
        self._mesh = init_device_mesh(device.handle.type, (cell.size,))
        network.model.recomputes = True
        for layer in network.model.layers:
            fully_shard(layer, mesh=self._mesh)
        fully_shard(network, mesh=self._mesh)
        network.to_empty(device=device.handle)
        for module in network.modules():
            if isinstance(module, FSDPModule):
                # Gradients are sums over all samples; torch would make means of them.
                module.set_force_sum_reduction_for_comms(enable=True)
                module.set_gradient_divide_factor(1.0)
        self._model = model.of_network(network)
        self._model.separator = separator

    def load(self, whole: CausalModel) -> None:
        """Take the weights of rank 0's whole model."""
        for name, one in self._parts():
            full = torch.empty(one.shape, device=self.device.handle)
            if self._cell.rank == 0:
                full.copy_(whole.parameters[name].detach())
            with exchanging():
                cut = distribute_tensor(full, self._mesh, [Shard(0)])
            _local(one).copy_(cut.to_local())

    def store(self, whole: CausalModel) -> None:
        """Bring the weights back to rank 0's whole model."""
        for name, one in self._parts():
            with exchanging():
                full = cast("DTensor", one.detach()).full_tensor()
            if self._cell.rank == 0:
                whole.parameters[name].detach().copy_(full)

    def train(
        self, training: SampleSource, plan: StepPlan, recipe: InnerParams, watch: TrainingControl
    ) -> TrainingProgress:
        """Take the planned steps as `inner.train` does."""
        optimiser = _ShardedOptimiser(self._model, recipe, self._cell)
        self._model.network.train()

        def take_step(samples: Tensor) -> float:
            with exchanging():  # torch gathers and scatters in the midst of both
                loss = self._compute_gradients(samples.to(self.device.handle), recipe.z_loss)
                optimiser.step()
            return loss

        return inner.take_steps(training, plan, self._cell, watch, take_step)

    def _compute_gradients(self, samples: Tensor, z_loss: float) -> float:
        targets = max(count_targets(samples), 1)
        losses = TokenLoss(self._model, self.device, most_logits=sys.maxsize, z_loss=z_loss)
        self._model.network.zero_grad()
        own = torch.chunk(filled(samples, self._cell.size), self._cell.size)[self._cell.rank]
        total = torch.zeros((), device=self.device.handle)
        for part in torch.split(own, max(PASS_TOKENS // (samples.shape[1] - 1), 1)):
            total += losses.backward(part, 1 / targets)
        return self._cell.total(lambda: float(total)) / targets

    def _parts(self) -> Sequence[tuple[str, DTensor]]:
        return [(name, cast("DTensor", one)) for name, one in self._model.parameters.items()]


class _ShardedOptimiser:
    """The optimiser of `inner` for parts of tensors; Muon gathers one matrix after the other."""

    def __init__(self, sharded: CausalModel, recipe: InnerParams, cell: Cell) -> None:
        self._cell, self._clip = cell, recipe.clip_e3 / 1e3
        self._momentum = recipe.momentum
        self._lr, self._decay = recipe.lr_e9 / 1e9, recipe.decay_e6 / 1e6
        hidden = sharded.hidden if recipe.optimiser == "muon" else frozenset()
        tensors = {name: cast("DTensor", one) for name, one in sharded.parameters.items()}
        self._matrices = [tensors[name] for name in sorted(hidden)]
        bits = recipe.state_bits
        self._momenta = [signed_moment(_local(one), bits) for one in self._matrices]
        self._rest = [one for name, one in tensors.items() if name not in hidden]
        self._adam = inner.AdamW([_local(one) for one in self._rest], bits)
        self._adam.follow(recipe.adam_lr_e9 / 1e9, self._decay)

    @torch.no_grad()
    def step(self) -> None:
        """Clip the norm of all gradients together, and take one step."""
        clip(self._cell, [_gradient(one) for one in (*self._matrices, *self._rest)], self._clip)
        for one, momentum in zip(self._matrices, self._momenta, strict=True):
            self._move(one, momentum)
        for one, part in zip(self._rest, self._adam.parameters, strict=True):
            part.grad = _gradient(one)
        self._adam.step()

    def _move(self, matrix: DTensor, kept: Moment) -> None:
        gradient, part, momentum = _gradient(matrix), _local(matrix), kept.load()
        momentum.mul_(self._momentum).add_(gradient)
        kept.store(momentum)
        gradient.add_(momentum, alpha=self._momentum)
        whole = cast("DTensor", matrix.grad).full_tensor()
        flat = whole.flatten(1)
        is_tall = flat.shape[0] > flat.shape[1]
        update = inner.orthogonalise((flat.T if is_tall else flat)[None])[0]
        parts = torch.chunk((update.T if is_tall else update).reshape(whole.shape), self._cell.size)
        rate = self._lr * inner.UPDATE_RMS * math.sqrt(max(flat.shape))
        if self._decay:
            part.mul_(1 - self._lr * self._decay)
        if self._cell.rank < len(parts):  # else the matrix has fewer rows than the cell has ranks
            part.sub_(parts[self._cell.rank], alpha=rate)


def _local(one: DTensor) -> Tensor:
    """This rank's part of a tensor, in place."""
    return cast("DTensor", one.detach()).to_local()


def _gradient(one: DTensor) -> Tensor:
    return _local(cast("DTensor", one.grad))
