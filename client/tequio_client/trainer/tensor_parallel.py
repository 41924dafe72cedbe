"""Matrices divided among the ranks of a cell, which compute every token together (tensor parallel).

Each rank has some columns or rows of each matrix in a layer: some heads of the attention, some of
the inner values. It computes with them alone, and torch adds up what leaves a pair of matrices, so
all ranks have the same hidden values between pairs. Nothing is gathered for computing but logits,
of which `token_loss` has a bounded number at once.

Which matrix is cut how is transformers' knowledge (`tp_plan`), in words that torch's own styles are
named after. The input table is cut by tokens, the output layer too; norms are on every rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    RowwiseParallel,
    parallelize_module,
)
from torch.utils.checkpoint import set_checkpoint_early_stop

from tequio_client.ipc.cell_division import (
    COLUMNS,
    LLAMA_PLAN,
    ROWS,
    rounds_in_blocks,
    why_heads_uneven,
    why_unaligned,
    why_uneven,
)
from tequio_client.trainer import inner, model, parts, token_loss
from tequio_client.trainer.cell import PASS_TOKENS, RankLostError
from tequio_client.trainer.device import FORWARD_ERRORS
from tequio_client.trainer.llama import Llama
from tequio_client.trainer.parts import PartsModel
from tequio_client.trainer.token_loss import TokenLoss, count_targets
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_client.trainer.cell import Cell
    from tequio_client.trainer.device import ComputeDevice
    from tequio_shared.round.manifest import InnerParams

_SPLIT_ROWS = "rowwise_split_input"
_TOKENS, _LOGITS = "embedding_rowwise", "colwise_gather_output"
_SUMMED, _WHOLE = "replicated_with_grad_allreduce", "replicate"
_STYLES: Mapping[str, Callable[[], ParallelStyle]] = {
    COLUMNS: ColwiseParallel,
    ROWS: RowwiseParallel,
    _LOGITS: lambda: ColwiseParallel(output_layouts=Replicate()),
    _SPLIT_ROWS: lambda: RowwiseParallel(input_layouts=Replicate()),
    _TOKENS: lambda: RowwiseParallel(input_layouts=Replicate()),
}
_OTHER_RANKS = "with a number of ranks that does, or "
_APART = 0.25
"""Relative distance of a gradient from its mean over ranks. Those of ranks that saw different heads
are about 1 apart, those of cards that round differently less than 0.01."""
_PROBE_TOKENS, _PROBE_STD = 16, 0.05
_WHY_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorPlan:
    """How a network is divided: styles by module, and modules that see a part of the heads."""

    styles: Mapping[str, str]
    summed: tuple[str, ...]
    """Modules that are on every rank, but whose gradients are sums over ranks."""

    @classmethod
    def of(cls, network: nn.Module, ranks: int, recipe: InnerParams) -> TensorPlan:
        """Read the plan of transformers; raises UserFacingError for what it cannot divide."""
        known, found = _known_styles(network), dict[str, str]()
        if any(style == COLUMNS and "att" in name for name, style in known.items()):
            _check_heads(network, ranks)
        tables = {id(model.input_table(network)): _TOKENS, id(model.output_layer(network)): _LOGITS}
        for name, module in network.named_modules():
            words = ".".join("*" if part.isdigit() else part for part in name.split("."))
            style = tables.get(id(module)) or known.get(words, _WHOLE)
            if style != _WHOLE:
                _check(name, module, style, ranks)
                found[name] = style
        if rounds_in_blocks(recipe):
            _check_blocks(network, found, ranks)
        return cls(
            styles={name: style for name, style in found.items() if style in _STYLES},
            summed=tuple(name for name, style in found.items() if style == _SUMMED),
        )


def _known_styles(network: nn.Module) -> Mapping[str, str]:
    if isinstance(network, Llama):
        return {f"model.layers.*.{name}": style for name, style in LLAMA_PLAN.items()}
    config: Any = network.config  # of any kind
    if not getattr(config, "base_model_tp_plan", None):
        raise _refused(f"transformers has no plan for the model_type {config.model_type!r}")
    return cast("dict[str, str]", network.tp_plan)


def _check(name: str, module: nn.Module, style: str, ranks: int) -> None:
    if style == _SUMMED:
        return
    kind = nn.Embedding if style == _TOKENS else nn.Linear
    if style not in _STYLES or not isinstance(module, kind):
        raise _refused(f"{name} is a {type(module).__name__}, to be divided as {style!r}")
    sizes = {COLUMNS: "out_features", ROWS: "in_features"}
    size = getattr(module, sizes[style]) if style in sizes else 0
    if why := why_uneven(name, size, ranks):
        raise _refused(why, _OTHER_RANKS)


def _check_heads(network: nn.Module, ranks: int) -> None:
    if isinstance(network, Llama):
        heads, pairs = network.config.heads, network.config.key_value_heads
    else:
        config: Any = network.config  # of any kind
        heads = config.num_attention_heads
        pairs = getattr(config, "num_key_value_heads", None) or heads
    if why := why_heads_uneven(heads, pairs, ranks):
        raise _refused(why, _OTHER_RANKS)


def _check_blocks(network: nn.Module, styles: Mapping[str, str], ranks: int) -> None:
    """Refuse to cut matrices within the blocks of a row that AdamW's state rounds together."""
    for name, style in styles.items():
        size = getattr(network.get_submodule(name), "in_features", 0)
        if style in {ROWS, _SPLIT_ROWS} and (why := why_unaligned(name, size, ranks)):
            raise _refused(why, _OTHER_RANKS)


def _refused(why: str, way_out: str = "") -> UserFacingError:
    return UserFacingError(
        f"--tensor cannot divide this model, since {why}: start the cell {way_out}without it"
    )


class TensorParallelModel(PartsModel):
    """A model of which this rank has a part of every layer's matrices."""

    def __init__(
        self,
        network: nn.Module,
        cell: Cell,
        device: ComputeDevice,
        recipe: InnerParams,
        separator: int | None = None,
    ) -> None:
        """`network` has its parameters on "meta"; on the device they have meaningless values.

        `recipe` is the run's, `separator` that of `CausalModel`. Raises UserFacingError, as
        `TensorPlan.of`.
        """
        plan, tied = TensorPlan.of(network, cell.size, recipe), model.of_network(network).aliases
        network.requires_grad_(requires_grad=True)
        parallelize_module(
            network,
            init_device_mesh(device.handle.type, (cell.size,)),
            {name: _STYLES[style]() for name, style in plan.styles.items()},
        )
        _to_device(network, tied, device.handle)
        super().__init__(model.of_network(network), cell, device)
        self.part.separator = separator
        self.part.recompute_layers()
        self._summed = [
            one for name in plan.summed for one in network.get_submodule(name).parameters()
        ]
        for one in self.part.parameters.values():
            if isinstance(one, DTensor):
                one.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]  # torch
                    _cut_gradient
                )
        if not isinstance(network, Llama):
            self._check_plan()

    def _compute_gradients(self, samples: Tensor, z_loss: float) -> float:
        targets = max(count_targets(samples), 1)
        # With its limit named, it compiles no kernel, which would be given tensors on their way.
        losses = TokenLoss(self.part, self.device, token_loss.MOST_LOGITS, z_loss=z_loss)
        self.part.network.zero_grad()
        total = torch.zeros((), device=self.device.handle)
        # Where a layer adds up two branches at its end, torch would stop computing it again between
        # them, with a sum over ranks that nobody waits for.
        with set_checkpoint_early_stop(isinstance(self.part.network, Llama)):
            for part in torch.split(samples, max(PASS_TOKENS // (samples.shape[1] - 1), 1)):
                total += losses.backward(part, 1 / targets)
        self._cell.add_up([inner.gradient(one) for one in self._summed])
        # Every rank has the same sum; rank 0's counts.
        return self._cell.total(lambda: 0.0 if self._cell.rank else float(total)) / targets

    def _check_plan(self) -> None:
        """Raise UserFacingError if ranks find different gradients of what all of them have.

        With a plan that forgot such a tensor, every contribution would differ from what an audit
        repeats. Costs a step with a few tokens, from weights by chance. Raises RankLostError where
        memory does not suffice for it.
        """
        for one in self.part.parameters.values():
            # Copies are alike on all ranks, and parts differ, or else their gradients would not.
            seed = 0 if parts.is_copy(one) else self._cell.rank
            chance = torch.Generator(self.device.handle).manual_seed(seed)
            parts.local(one).normal_(0, _PROBE_STD, generator=chance)
        ids = torch.arange(_PROBE_TOKENS + 1, device=self.device.handle)[None]
        ids %= model.vocabulary_size(self.part)
        try:
            self._compute_gradients(ids, z_loss=0.0)
        except torch.OutOfMemoryError as err:  # the others wait for this rank
            raise RankLostError(f"a rank has no room for a few tokens: {err}") from err
        except FORWARD_ERRORS as err:
            raise _refused(f"it fails with transformers' plan ({err})"[:_WHY_CHARS]) from err
        copies = {n: p for n, p in self.part.parameters.items() if parts.is_copy(p)}
        own = [parts.local_gradient(one) for one in copies.values()]
        means = [one / self._cell.size for one in own]
        self._cell.add_up(means)
        far = torch.zeros(len(own), device=self.device.handle)
        for at, (gradient, mean) in enumerate(zip(own, means, strict=True)):
            far[at] = (gradient - mean).norm() > _APART * mean.norm()
        self._cell.add_up([far])
        for name, ranks in zip(copies, far.tolist(), strict=True):
            if ranks:
                raise _refused(f"ranks find different gradients of {name} with transformers' plan")
        self.part.network.zero_grad()


def _to_device(network: nn.Module, tied: Sequence[tuple[str, str]], device: torch.device) -> None:
    """Make room for the weights; buffers, such as speeds of rotary positions, are brought along."""
    kept = {name: one.clone() for name, one in network.named_buffers()}
    network.to_empty(device=device)
    for name, one in network.named_buffers():
        one.copy_(kept[name])
    for name, first in tied:  # torch divided each name by itself
        owner, _, last = name.rpartition(".")
        setattr(network.get_submodule(owner), last, network.get_parameter(first))


def _cut_gradient(one: Tensor) -> None:
    """Keep a part of the gradient: torch computes that of the input table whole on every rank."""
    gradient = cast("DTensor", one.grad)
    placements = cast("DTensor", one).placements
    if gradient.placements != placements:
        one.grad = gradient.redistribute(placements=placements)
