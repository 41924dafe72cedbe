"""The layers divided among the ranks of a cell: a pipeline of torch.distributed.pipelining.

Each rank has consecutive layers, with their gradients and their optimiser's state: its stage. The
first has the embedding too, the last the norm and the output layer, and computes the loss. A batch
is cut into micro-batches, which follow each other through the stages; torch's 1F1B schedule lets
each stage go back over a micro-batch as soon as it can. Between stages go the hidden values of a
micro-batch and their gradients, whatever the number of weights.

Tied embeddings are one tensor, on the last rank. The first has a copy without an optimiser's state:
it sends the copy's gradient in each step, and is sent the moved tensor.

Shapes: B samples, L tokens, D hidden, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.nn import functional

from tequio_client.ipc.cell import layers_of_stages
from tequio_client.trainer import inner, model
from tequio_client.trainer.cell import PASS_TOKENS, clip, exchanging, filled
from tequio_client.trainer.inner import StepPlan, TrainingControl, TrainingProgress
from tequio_client.trainer.llama import HEAD, Llama
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.token_loss import IGNORED, count_targets, inputs_and_targets

if TYPE_CHECKING:
    from tequio_client.trainer.cell import Cell, SampleSource
    from tequio_client.trainer.device import ComputeDevice
    from tequio_shared.round.manifest import InnerParams

_FOR_EACH_RANK = 4
"""Micro-batches of a pass for each rank, where samples and memory allow it.

Each of P ranks rests for P - 1 micro-batches in a pass: at most a fifth of the time.
torch has room for the hidden values of all of them.
"""


class PipelinedModel:
    """The layers that this rank has; owned by the trainer's thread."""

    def __init__(
        self, network: Llama, cell: Cell, device: ComputeDevice, separator: int | None = None
    ) -> None:
        """`network` has its parameters on "meta"; those of other ranks stay there.

        `separator` is that of `CausalModel`; at least as many layers as ranks.
        """
        self.device, self._cell = device, cell
        self._is_first, self._is_last = cell.rank == 0, cell.rank == cell.size - 1
        whole, parts = model.of_network(network), _parts(network, cell.size)
        # Of two with a tied tensor the last one owns it.
        ranks = {id(one): rank for rank, part in enumerate(parts) for one in part.parameters()}
        self._owners = {name: ranks[id(one)] for name, one in whole.parameters.items()}
        # Points count every trained weight, an embedding's too.
        numbers = [0] * cell.size
        for name, one in whole.parameters.items():
            numbers[self._owners[name]] += one.numel()
        self.rank_work = tuple(numbers)
        for part in parts[cell.rank]:
            part.to_empty(device=device.handle)
        here = {name: one for name, one in network.named_parameters() if not one.is_meta}
        own = {name: here[name] for name, rank in self._owners.items() if rank == cell.rank}
        self._copy = next((one for name, one in here.items() if name not in own), None)
        self._tied = own[HEAD] if network.config.is_tied and self._is_last else None
        self._stage = _Stage(network, device, separator)
        self.part = CausalModel(
            network=self._stage,
            parameters=own,
            aliases=(),
            hidden=whole.hidden & own.keys(),
        )
        """Tensors that this rank trains, with their names in the whole model."""
        self._schedule: tuple[MicroBatches, Schedule1F1B] | None = None

    def load(self, whole: CausalModel) -> None:
        """Take the weights of rank 0's whole model."""
        own = self.part.parameters
        for name in self._owners if self._is_first else own:
            if not self._is_first:
                self._cell.receive(own[name], 0)
            elif name in own:
                own[name].detach().copy_(whole.parameters[name].detach())
            else:
                self._cell.send(whole.parameters[name], self._owners[name])
        if self._copy is not None:
            self._copy.detach().copy_(whole.parameters[HEAD].detach())

    def store(self, whole: CausalModel) -> None:
        """Bring the weights back to rank 0's whole model."""
        own = self.part.parameters
        for name in self._owners if self._is_first else own:
            if not self._is_first:
                self._cell.send(own[name], 0)
            elif name in own:
                whole.parameters[name].detach().copy_(own[name].detach())
            else:
                self._cell.receive(whole.parameters[name], self._owners[name])

    def train(
        self, training: SampleSource, plan: StepPlan, recipe: InnerParams, watch: TrainingControl
    ) -> TrainingProgress:
        """Take the planned steps as `inner.train` does."""
        optimiser = inner.Optimiser(self.part, recipe)
        self._stage.train()

        def take_step(samples: Tensor) -> float:
            loss = self._compute_gradients(samples.to(self.device.handle), recipe.z_loss)
            own = [inner.gradient(one) for one in self.part.parameters.values()]
            clip(self._cell, own, recipe.clip_e3 / 1e3)
            optimiser.move()
            self._send_tied()
            return loss

        return inner.take_steps(training, plan, self._cell, watch, take_step)

    def _compute_gradients(self, samples: Tensor, z_loss: float) -> float:
        self._stage.zero_grad()
        targets = max(count_targets(samples), 1)
        size = MicroBatches.of(len(samples), samples.shape[1] - 1, self._cell.size)
        total = torch.zeros((), device=self.device.handle)
        rows = size.samples * size.number
        for part in torch.split(filled(samples, rows), rows):
            total += self._pass(part, size, {"scale": 1 / targets, "z_loss": z_loss})
        self._add_tied_gradient()
        return self._cell.total(lambda: float(total))

    def _pass(self, samples: Tensor, size: MicroBatches, given: dict[str, float]) -> Tensor:
        """Add the gradient of `_scaled_loss`, which the last rank returns, with `given` numbers."""
        inputs_bl, targets_bl = inputs_and_targets(samples)
        schedule, losses = self._schedule_for(size, inputs_bl), list[Tensor]()
        with exchanging():
            schedule.step(
                *((inputs_bl,) if self._is_first else ()),
                ids_bl=inputs_bl,
                target=targets_bl if self._is_last else None,
                losses=losses if self._is_last else None,
                return_outputs=False,
                loss_kwargs=given,
            )
        zero = torch.zeros((), device=self.device.handle)
        return torch.stack([zero, *(one.detach() for one in losses)]).sum()

    def _schedule_for(self, size: MicroBatches, ids_bl: Tensor) -> Schedule1F1B:
        # A schedule has room for its micro-batches; only one is kept.
        if self._schedule is None or self._schedule[0] != size:
            given, made = self._stage.examples(size.samples, ids_bl.shape[1])
            stage = PipelineStage(
                self._stage,
                self._cell.rank,
                self._cell.size,
                self.device.handle,
                input_args=given,
                output_args=made,
            )
            # Gradients are sums over all samples; torch would make means of them.
            schedule = Schedule1F1B(stage, size.number, _scaled_loss, scale_grads=False)
            self._schedule = size, schedule
        return self._schedule[1]

    def _add_tied_gradient(self) -> None:
        if self._copy is not None:
            self._cell.send(inner.gradient(self._copy), self._cell.size - 1)
        if self._tied is not None:
            other = torch.empty_like(self._tied)
            self._cell.receive(other, 0)
            inner.gradient(self._tied).add_(other)

    def _send_tied(self) -> None:
        if self._tied is not None:
            self._cell.send(self._tied, 0)
        if self._copy is not None:
            self._cell.receive(self._copy, self._cell.size - 1)


class _Stage(nn.Module):
    """Ids [B, L], or hidden values [B, L, D], to hidden values, or logits [B, L, V]."""

    def __init__(self, network: Llama, device: ComputeDevice, separator: int | None) -> None:
        super().__init__()
        trunk = network.model
        trunk.layers = nn.ModuleList(one for one in trunk.layers if not _is_elsewhere(one))
        trunk.recomputes = True
        self._embeds = not _is_elsewhere(trunk.embed_tokens)
        self._predicts = not _is_elsewhere(network.lm_head)
        self._network, self._device, self._separator = network, device, separator

    def forward(self, given: Tensor, ids_bl: Tensor) -> Tensor:
        network = self._network
        with self._device.autocast():
            hidden_bld = network.model.embed_tokens(given) if self._embeds else given
            hidden_bld = network.model.through_layers(hidden_bld, ids_bl, self._separator)
            if not self._predicts:
                return hidden_bld
            logits_blv: Tensor = network.lm_head(network.model.norm(hidden_bld))
            return logits_blv

    def examples(self, samples: int, tokens: int) -> tuple[Tensor, Tensor]:
        """Tensors on "meta" like those that go into the stage and come out of it."""
        sizes, shape = self._network.config, (samples, tokens)
        ids_bl = torch.empty(shape, dtype=torch.int64, device="meta")
        # Sums of embeddings and layers have the type of weights, whatever layers compute in.
        hidden_bld = torch.empty(*shape, sizes.hidden_size, device="meta", requires_grad=True)
        logits_blv = torch.empty(
            *shape,
            sizes.vocab_size,
            dtype=self._device.precision,
            device="meta",
            requires_grad=True,
        )
        return (
            ids_bl if self._embeds else hidden_bld,
            logits_blv if self._predicts else hidden_bld,
        )


def _is_elsewhere(module: nn.Module) -> bool:
    return all(one.is_meta for one in module.parameters())


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatches:
    """Samples of each micro-batch, and micro-batches of each pass through the pipeline."""

    samples: int
    number: int

    @classmethod
    def of(cls, samples: int, tokens: int, ranks: int) -> MicroBatches:
        """Cut a batch of samples, each of `tokens` tokens; the last pass may have to be filled."""
        most = _FOR_EACH_RANK * ranks
        size = max(min(PASS_TOKENS // tokens, -(-samples // most)), 1)
        number = -(-samples // size)
        passes = -(-number // most)
        # torch's schedule needs as many as there are ranks.
        return cls(samples=size, number=max(-(-number // passes), ranks))


def layers_of_ranks(network: Llama, ranks: int) -> list[range]:
    """Consecutive layers for each rank, so that the largest number of weights is least."""
    layers = network.model.layers
    counts = layers_of_stages(
        len(layers),
        ranks,
        each=sum(one.numel() for one in layers[0].parameters()),
        first=network.model.embed_tokens.weight.numel(),
        last=network.lm_head.weight.numel(),
    )
    ends = accumulate(counts)
    return [range(end - count, end) for end, count in zip(ends, counts, strict=True)]


def _parts(network: Llama, ranks: int) -> Sequence[nn.ModuleList]:
    """The modules of each rank."""
    trunk = network.model
    parts = [
        nn.ModuleList(trunk.layers[at] for at in layers)
        for layers in layers_of_ranks(network, ranks)
    ]
    parts[0].append(trunk.embed_tokens)
    parts[-1].extend((trunk.norm, network.lm_head))
    return parts


def _scaled_loss(logits_blv: Tensor, targets_bl: Tensor, scale: float, z_loss: float) -> Tensor:
    """`scale` times the summed loss; a z-loss is in its gradient alone, as in `token_loss`."""
    logits_nv, targets = logits_blv.flatten(0, 1).float(), targets_bl.flatten()
    loss = functional.cross_entropy(logits_nv, targets, ignore_index=IGNORED, reduction="sum")
    if z_loss:
        log_z = torch.logsumexp(logits_nv, 1)
        squares = z_loss * (log_z.square() * (targets != IGNORED)).sum()
        loss = loss + squares - squares.detach()
    return loss * scale
