"""A network that stays frozen as it is stored, and the adapter pairs that are trained beside it.

A target's output is W x + (alpha / rank) B (A x), as in `tequio_shared.head.layout`. Frozen
matrices keep the 16 bits of their files. They are widened when they are used, and again in the
backward pass, so that no wider copy outlives its layer. One-dimensional weights (norm scales,
biases) and the activations between layers are float32: with float32 on the device, the results are
those of the widened model.

Where memory is tight, each layer stores only its input and computes the rest again in the backward
pass.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tequio_client.trainer import llama
from tequio_client.trainer import weights as trainer_weights
from tequio_client.trainer.llama import Llama, LlamaConfig
from tequio_client.trainer.model import CausalModel
from tequio_client.trainer.model_config import check_sizes, parse_config
from tequio_shared.errors import UserFacingError
from tequio_shared.head import layout
from tequio_shared.head.layout import FrozenBase, Sides
from tequio_shared.round.manifest import Manifest

_LAYERS = "model.layers."
_WEIGHT = ".weight"
_FULL = 0.8
_BATCH_TOKENS = 4_096  # with fewer, an accelerator is not busy
_KEPT = 34  # bytes of activations for each token, layer and unit of width


def outline(
    config: bytes, rank: int, targets: Collection[str]
) -> tuple[tuple[tuple[str, tuple[int, ...]], ...], int]:
    """List the pairs for a configuration's network, and count its frozen parameters.

    Raises UserFacingError for unknown targets, and for a rank above the sides of a target.
    """
    plain = trainer_weights.llama_config(config)
    found = _targeted(plain, targets)
    module, sides = min(found.items(), key=lambda one: min(one[1]))
    if not 1 <= rank <= min(sides):
        raise UserFacingError(
            f"a pair of rank {rank} does not fit {module}, which has {sides[0]:,} rows and "
            f"{sides[1]:,} columns: choose a rank from 1 to {min(sides):,}"
        )
    return layout.adapter_pairs(found, rank), sum(
        math.prod(shape) for _, shape in llama.tensor_shapes(plain)
    )


def build_from_manifest(
    config: bytes, manifest: Manifest, files: Sequence[Path], memory_bytes: int = 0
) -> CausalModel:
    """Build the network of a manifest with a frozen base, from the base's files in its order.

    Manifest, configuration and files come from strangers: raises UserFacingError when they do not
    fit each other. `memory_bytes` is the device memory to stay within, 0 for no limit.
    """
    base = manifest.frozen
    if base is None:
        raise UserFacingError("the manifest has no frozen base")
    check_sizes(parse_config(config), len(manifest.model.tensors))
    tensors, parameters = outline(config, base.rank, base.targets)
    if tensors != manifest.model.tensors:
        raise UserFacingError("the pairs for this base differ from the tensors of the manifest")
    if parameters != base.parameters:
        raise UserFacingError(
            f"the base has {parameters:,} weights, but the manifest says {base.parameters:,}"
        )
    for one, path in zip(base.files, files, strict=True):
        _check_size(path, one.name, one.size_bytes)
    model = build(config, base, trainer_weights.map_tensors(config, files))
    plain = trainer_weights.llama_config(config)
    # Activations of a batch that keeps an accelerator busy, stored for the backward pass.
    kept_bytes = _KEPT * _BATCH_TOKENS * plain.layers * plain.hidden_size
    if memory_bytes and base.size_bytes + kept_bytes > _FULL * memory_bytes:
        model.recompute_layers()
    return model


def build(config: bytes, base: FrozenBase, weights: Mapping[str, Tensor]) -> CausalModel:
    """Build the network of these frozen weights, with pairs of zeros."""
    plain = trainer_weights.llama_config(config)
    with torch.device("meta"):  # frozen weights stay mapped to their files
        network = Llama(plain)
    targets = set(_targeted(plain, base.targets))
    once = {id(one): _still(one) for one in weights.values()}  # tied weights stay tied
    still = {name: once[id(one)] for name, one in weights.items()}
    pairs: dict[str, nn.Parameter] = {}
    for name, module in list(network.named_modules()):
        made = _frozen(name, module, still, base if name in targets else None)
        if made is not None:
            parent, _, last = name.rpartition(".")
            setattr(network.get_submodule(parent), last, made)
        if isinstance(made, AdaptedLinear):
            pairs[f"{layout.LORA_PREFIX}{name}{layout.LORA_DOWN}"] = made.down
            pairs[f"{layout.LORA_PREFIX}{name}{layout.LORA_UP}"] = made.up
    _fill_vectors(network, still)
    listed = {name: pairs[name] for name in sorted(pairs, key=str.encode)}
    return CausalModel(network=network, parameters=listed, aliases=(), hidden=frozenset(listed))


def initialise_pairs(model: CausalModel, seed: int) -> None:
    """Set the first values of pairs: A uniform within 1 / sqrt(columns), as in peft, B zero.

    The bits depend on the torch build, so everyone else uses the published head.
    """
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, one in model.parameters.items():
            if name.endswith(layout.LORA_DOWN):
                bound = 1 / math.sqrt(one.shape[1])
                one.uniform_(-bound, bound, generator=chance)
            else:
                one.zero_()


class FrozenLinear(nn.Module):
    """A linear map that is not trained; its matrix keeps the type of its file."""

    def __init__(self, weight: nn.Parameter, bias: Tensor | None) -> None:
        super().__init__()
        self.weight = weight
        self.bias = None if bias is None else _still(bias.float())

    def forward(self, wide: Tensor) -> Tensor:
        out: Tensor = _Through.apply(wide, self.weight)  # type: ignore[no-untyped-call]  # torch's
        return out if self.bias is None else out + self.bias


class AdaptedLinear(FrozenLinear):
    """A frozen linear map with the pair that is trained beside it."""

    def __init__(
        self, weight: nn.Parameter, bias: Tensor | None, *, rank: int, scale: float
    ) -> None:
        super().__init__(weight, bias)
        rows, columns = weight.shape
        self.scale = scale
        self.down = nn.Parameter(torch.zeros(rank, columns))
        self.up = nn.Parameter(torch.zeros(rows, rank))

    def forward(self, wide: Tensor) -> Tensor:
        narrow = functional.linear(wide, self.down)
        return super().forward(wide) + functional.linear(narrow, self.up) * self.scale


class FrozenEmbedding(nn.Module):
    """A table of token embeddings that is not trained; its outputs are float32."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, ids: Tensor) -> Tensor:
        return functional.embedding(ids, self.weight).float()


class _Through(torch.autograd.Function):
    """x W^T in the current precision; backward returns the gradient of x, none for W.

    Autograd would store the widened W of every layer until the backward pass.
    """

    @staticmethod
    def forward(ctx: Any, wide: Tensor, weight: Tensor) -> Tensor:  # noqa: ANN401 - torch's
        kind = wide.device.type
        has_autocast = torch.is_autocast_enabled(kind)
        dtype = torch.get_autocast_dtype(kind) if has_autocast else wide.dtype
        ctx.save_for_backward(weight)
        ctx.dtype = wide.dtype
        with torch.autocast(kind, enabled=False):
            return functional.linear(wide.to(dtype), weight.to(dtype))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401 - torch's
        (weight,) = ctx.saved_tensors
        (grad,) = grads
        return (grad @ weight.to(grad.dtype)).to(ctx.dtype), None


def _targeted(config: LlamaConfig, targets: Collection[str]) -> dict[str, Sides]:
    """Modules of the layers whose names end in `targets`; raises UserFacingError."""
    found: dict[str, Sides] = {}
    for name, shape in llama.tensor_shapes(config):
        if name.startswith(_LAYERS) and len(shape) > 1:
            found[name.removesuffix(_WEIGHT)] = (shape[0], shape[1])
    there = {module.rpartition(".")[2] for module in found}
    strange = sorted(set(targets) - there)
    if strange or not targets:
        raise UserFacingError(
            f"the base has no matrices {', '.join(map(repr, strange)) or '(none named)'}; adapters "
            f"can train: {', '.join(sorted(there))}"
        )
    return {module: one for module, one in found.items() if module.rpartition(".")[2] in targets}


def _check_size(path: Path, name: str, size_bytes: int) -> None:
    try:
        found = path.stat().st_size
    except OSError as err:
        raise UserFacingError(f"cannot read {name} of the base: {err}") from err
    if found != size_bytes:
        raise UserFacingError(f"{name} of the base has {found} bytes instead of {size_bytes}")


def _frozen(
    name: str, module: nn.Module, weights: Mapping[str, nn.Parameter], base: FrozenBase | None
) -> nn.Module | None:
    """The replacement of a module with a matrix; None for any other."""
    if isinstance(module, nn.Embedding):
        return FrozenEmbedding(weights[name + _WEIGHT])
    if not isinstance(module, nn.Linear):
        return None
    weight, bias = weights[name + _WEIGHT], weights.get(f"{name}.bias")
    if base is None:
        return FrozenLinear(weight, bias)
    return AdaptedLinear(weight, bias, rank=base.rank, scale=base.scale)


def _fill_vectors(network: nn.Module, weights: Mapping[str, nn.Parameter]) -> None:
    """Set the remaining weights, the scales of norms."""
    for name, parameter in list(network.named_parameters()):
        if parameter.is_meta:
            parent, _, last = name.rpartition(".")
            setattr(network.get_submodule(parent), last, _still(weights[name].float()))


def _still(weights: Tensor) -> nn.Parameter:
    return nn.Parameter(weights, requires_grad=False)
