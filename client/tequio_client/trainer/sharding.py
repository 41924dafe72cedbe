"""Every tensor divided among the ranks of a cell (FSDP2).

Each rank has a part of every tensor, of its gradient and of the optimiser's state. torch gathers a
layer's tensors when it computes, and frees them again. All ranks go through the network equally
often, because each pass gathers every layer. A tensor is cut along its first dimension.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard

from tequio_client.trainer import inner, model, parts
from tequio_client.trainer.cell import PASS_TOKENS, exchanging, filled
from tequio_client.trainer.inner import StepPlan, TrainingControl, TrainingProgress
from tequio_client.trainer.llama import Llama
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
        mesh = init_device_mesh(device.handle.type, (cell.size,))
        network.model.recomputes = True
        for layer in network.model.layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(network, mesh=mesh)
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
        parts.load(self._model, whole, self._cell, self.device.handle)

    def store(self, whole: CausalModel) -> None:
        """Bring the weights back to rank 0's whole model."""
        parts.store(self._model, whole, self._cell)

    def train(
        self, training: SampleSource, plan: StepPlan, recipe: InnerParams, watch: TrainingControl
    ) -> TrainingProgress:
        """Take the planned steps as `inner.train` does."""
        optimiser = parts.PartsOptimiser(self._model, recipe, self._cell)
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
