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

from tequio_client.trainer import model
from tequio_client.trainer.cell import PASS_TOKENS, filled
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.parts import PartsModel
from tequio_client.trainer.token_loss import TokenLoss, count_targets

if TYPE_CHECKING:
    from tequio_client.trainer.cell import Cell
    from tequio_client.trainer.device import ComputeDevice


class ShardedModel(PartsModel):
    """A model of which this rank has a part of every tensor."""

    def __init__(
        self, network: Llama, cell: Cell, device: ComputeDevice, separator: int | None = None
    ) -> None:
        """`network` has its parameters on "meta"; on the device they have meaningless values.

        `separator` is that of `CausalModel`.
        """
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
        super().__init__(model.of_network(network), cell, device)
        self.part.separator = separator

    def _compute_gradients(self, samples: Tensor, z_loss: float) -> float:
        targets = max(count_targets(samples), 1)
        losses = TokenLoss(self.part, self.device, most_logits=sys.maxsize, z_loss=z_loss)
        self.part.network.zero_grad()
        own = torch.chunk(filled(samples, self._cell.size), self._cell.size)[self._cell.rank]
        total = torch.zeros((), device=self.device.handle)
        for part in torch.split(own, max(PASS_TOKENS // (samples.shape[1] - 1), 1)):
            total += losses.backward(part, 1 / targets)
        return self._cell.total(lambda: float(total)) / targets
