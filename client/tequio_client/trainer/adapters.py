"""A frozen network from a base's files, with the adapter pairs that are trained beside it.

Any decoder of linear maps can be a base, whether its network is our own Llama or built by
transformers: the frozen modules of `frozen` take the place of its linear maps and of its token
embeddings. Pairs can be beside every linear map except the output layer, as in peft's `all-linear`.

Where memory is tight, each layer stores only its input and computes the rest again in the backward
pass.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from tequio_client.trainer import frozen, model
from tequio_client.trainer import weights as trainer_weights
from tequio_client.trainer.frozen import AdaptedLinear, FrozenEmbedding, FrozenLinear, freeze
from tequio_client.trainer.model import CausalModel
from tequio_shared.errors import UserFacingError
from tequio_shared.head import layout
from tequio_shared.head.layout import FrozenBase, Sides
from tequio_shared.round.manifest import Manifest

_WEIGHT, _BIAS = ".weight", ".bias"
_CONV1D = "Conv1D"  # transformers' own: GPT-2's linear maps
_FULL = 0.8
_BATCH_TOKENS = 4_096  # with fewer, an accelerator is not busy
_KEPT = 34  # bytes of activations for each token, layer and unit of width


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsOutline:
    """Pairs beside a network: their modules' names end in `targets`, which ascend.

    `parameters` counts the weights of the frozen network, tied ones once.
    """

    targets: tuple[str, ...]
    tensors: tuple[tuple[str, tuple[int, ...]], ...]
    parameters: int


def outline(config: bytes, rank: int, targets: Collection[str] = ()) -> PairsOutline:
    """List the pairs for a configuration's network; without targets, for all its linear maps.

    Raises UserFacingError for unknown targets, and for a rank above the sides of a target.
    """
    sketch = model.sketch(config)
    return _outline(sketch, rank, targets or _target_names(_linear_maps(sketch.network)))


def build_from_manifest(
    config: bytes, manifest: Manifest, files: Sequence[Path], memory_bytes: int = 0
) -> CausalModel:
    """Build the network of a manifest with a frozen base, from the base's files in its order.

    Manifest, configuration and files come from strangers: raises UserFacingError when they do not
    fit each other. `memory_bytes` is the device memory to stay within, 0 for no limit.
    """
    base, listed = manifest.frozen, manifest.model.tensors
    if base is None:
        raise UserFacingError("the manifest has no frozen base")
    sketch = model.sketch(config, len(listed))
    pairs = _outline(sketch, base.rank, base.targets)
    if pairs.tensors != listed:
        raise UserFacingError("the pairs for this base differ from the tensors of the manifest")
    if pairs.parameters != base.parameters:
        raise UserFacingError(
            f"the base has {pairs.parameters:,} weights, but the manifest says {base.parameters:,}"
        )
    for one, path in zip(base.files, files, strict=True):
        _check_size(path, one.name, one.size_bytes)
    made = build(sketch, base, trainer_weights.map_tensors(sketch, files))
    modules = layout.adapted_modules(listed)
    layers = {_layer_of(name) for name in modules} - {""}
    # Activations of a batch that keeps an accelerator busy, stored for the backward pass.
    width = min(columns for _, columns in modules.values())
    kept_bytes = _KEPT * _BATCH_TOKENS * len(layers) * width
    if memory_bytes and layout.held_bytes(base, listed) + kept_bytes > _FULL * memory_bytes:
        made.recompute_layers()
    return made


def build(sketch: CausalModel, base: FrozenBase, weights: Mapping[str, Tensor]) -> CausalModel:
    """Fill a sketch (`model.sketch`) with these frozen weights, and add pairs of zeros.

    In 4 bits, one matrix is converted after the other: no wider copy of the base exists.
    """
    network = sketch.network
    still = {name: freeze(one) for name, one in weights.items()}
    still |= {alias: still[name] for alias, name in sketch.aliases}  # tied weights stay tied
    targets = _targeted(network, base.targets)
    pairs: dict[str, nn.Parameter] = {}
    for name, module in list(network.named_modules()):
        if frozen.is_linear(module):
            made = _linear(name, still, base if name in targets else None)
            _replace(network, name, made)
            if isinstance(made, AdaptedLinear):
                pairs[f"{layout.LORA_PREFIX}{name}{layout.LORA_DOWN}"] = made.down
                pairs[f"{layout.LORA_PREFIX}{name}{layout.LORA_UP}"] = made.up
        elif isinstance(module, nn.Embedding) and _reads_tokens(network, module):
            _replace(network, name, FrozenEmbedding(module, still[name + _WEIGHT]))
    _fill_others(network, still)
    listed = {name: pairs[name] for name in sorted(pairs, key=str.encode)}
    return CausalModel(network=network, parameters=listed, aliases=(), hidden=frozenset(listed))


def initialise_pairs(made: CausalModel, seed: int) -> None:
    """Set the first values of pairs: A uniform within 1 / sqrt(columns), as in peft, B zero.

    The bits depend on the torch build, so everyone else uses the published head.
    """
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, one in made.parameters.items():
            if name.endswith(layout.LORA_DOWN):
                bound = 1 / math.sqrt(one.shape[1])
                one.uniform_(-bound, bound, generator=chance)
            else:
                one.zero_()


def _outline(sketch: CausalModel, rank: int, targets: Collection[str]) -> PairsOutline:
    found = _targeted(sketch.network, targets)
    module, sides = min(found.items(), key=lambda one: min(one[1]))
    if not 1 <= rank <= min(sides):
        raise UserFacingError(
            f"a pair of rank {rank} does not fit {module}, which has {sides[0]:,} rows and "
            f"{sides[1]:,} columns: choose a rank from 1 to {min(sides):,}, or leave "
            f"{module.rpartition('.')[2]} out of lora.targets"
        )
    return PairsOutline(
        targets=_target_names(found),
        tensors=layout.adapter_pairs(found, rank),
        parameters=sum(math.prod(shape) for _, shape in sketch.tensors),
    )


def _targeted(network: nn.Module, targets: Collection[str]) -> dict[str, Sides]:
    """Linear maps whose names end in `targets`; raises UserFacingError."""
    maps = _linear_maps(network)
    there = _target_names(maps)
    if not there:
        raise UserFacingError(
            "the base has no linear maps that adapters can be trained beside"
            + (
                f": this architecture computes with transformers' {_CONV1D}, as GPT-2 does; choose "
                "a base of another architecture, such as GPT-NeoX, Llama or Qwen 3"
                if any(type(one).__name__ == _CONV1D for one in network.modules())
                else "; choose a base of another architecture"
            )
        )
    strange = sorted(set(targets) - set(there))
    if strange or not targets:
        raise UserFacingError(
            f"the base has no matrices {', '.join(map(repr, strange)) or '(none named)'}; adapters "
            f"can train: {', '.join(there)}"
        )
    return {module: one for module, one in maps.items() if module.rpartition(".")[2] in targets}


def _linear_maps(network: nn.Module) -> dict[str, Sides]:
    """Sides of every linear map except the output layer, by its name."""
    head = model.output_layer(network)
    return {
        name: (module.out_features, module.in_features)
        for name, module in network.named_modules()
        if isinstance(module, nn.Linear) and frozen.is_linear(module) and module is not head
    }


def _target_names(modules: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted({module.rpartition(".")[2] for module in modules}))


def _layer_of(module: str) -> str:
    """Name of the layer that a module is in, to its number; empty for one outside all layers."""
    parts = module.split(".")
    numbers = [at for at, part in enumerate(parts) if part.isdigit()]
    return ".".join(parts[: numbers[0] + 1]) if numbers else ""


def _check_size(path: Path, name: str, size_bytes: int) -> None:
    try:
        found = path.stat().st_size
    except OSError as err:
        raise UserFacingError(f"cannot read {name} of the base: {err}") from err
    if found != size_bytes:
        raise UserFacingError(f"{name} of the base has {found} bytes instead of {size_bytes}")


def _linear(
    name: str, weights: Mapping[str, nn.Parameter], base: FrozenBase | None
) -> FrozenLinear:
    weight, bias = weights[name + _WEIGHT], weights.get(name + _BIAS)
    if base is None:
        return FrozenLinear(frozen.StoredMatrix(weight), bias)
    rows, columns = weight.shape
    return AdaptedLinear(
        frozen.Nf4Matrix.of(weight) if base.is_in_4_bits else frozen.StoredMatrix(weight),
        bias,
        (torch.zeros(base.rank, columns), torch.zeros(rows, base.rank)),
        base.scale,
    )


def _reads_tokens(network: nn.Module, table: nn.Embedding) -> bool:
    """True for a table that is called with ids alone: others may compute with their arguments."""
    is_plain = type(table).forward is nn.Embedding.forward
    return is_plain or table is model.input_table(network)


def _replace(network: nn.Module, name: str, made: nn.Module) -> None:
    parent, _, last = name.rpartition(".")
    setattr(network.get_submodule(parent), last, made)


def _fill_others(network: nn.Module, weights: Mapping[str, nn.Parameter]) -> None:
    """Set the remaining weights in float32: scales of norms, mostly."""
    for name, parameter in list(network.named_parameters(remove_duplicate=False)):
        if parameter.is_meta:
            parent, _, last = name.rpartition(".")
            setattr(network.get_submodule(parent), last, freeze(weights[name].float()))
