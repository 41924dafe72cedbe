"""A causal language model, and the conversion between its tensors and the master copy.

The master copy W is int32 in flat order; a parameter is W * 2^-24. Weights come from Safetensors
files or a seed, never from pickles. No code of a model's author is run, except that of a run's
plug-in, which `plugins` loads. Configurations and manifests come from strangers: they are compared
before anything is allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tequio_client.trainer import llama, network_checks
from tequio_client.trainer.llama import Llama, LlamaConfig
from tequio_client.trainer.model_config import check_sizes, context_of, parse_config
from tequio_shared.errors import UserFacingError
from tequio_shared.head.head import WEIGHT_UNIT
from tequio_shared.head.layout import LayoutKind, WeightLayout

_MOST_TENSORS = 1 << 16  # of a model without a manifest that lists them
_SKETCH_ERRORS = (ArithmeticError, ImportError, LookupError, RuntimeError, TypeError, ValueError)
"""Exceptions of torch and transformers for configurations that make no sense to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainNetwork:
    """Sizes of a network that maps ids [B, L] to logits [B, L, V] and has no other methods.

    `context` is the largest number of inputs, 0 if there is none.
    """

    vocabulary: int
    context: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class CausalModel:
    """A network with its tensors in the manifest's order.

    `parameters` maps each listed name to the tensor the network computes with; `hidden` are the
    matrices between embedding and output layer; `aliases` are (other name, listed name). With a
    `separator`, which begins each document, no token sees documents before its own.
    """

    network: nn.Module
    parameters: Mapping[str, nn.Parameter]
    aliases: tuple[tuple[str, str], ...]
    hidden: frozenset[str]
    separator: int | None = None
    plain: PlainNetwork | None = None
    """Of a plug-in's network; None for a Llama and for a network of transformers."""
    can_be_cut: bool | None = None
    """True if `token_loss` can cut a network of transformers before its output layer; None until
    it has tried."""

    @property
    def tensors(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """[name, shape] of every trainable tensor, once, ascending by the bytes of the name."""
        return tuple((name, tuple(one.shape)) for name, one in self.parameters.items())

    def layout(self, kind: LayoutKind) -> WeightLayout:
        """The places of the tensors in a flat array."""
        return WeightLayout.of(self.tensors, kind)

    def logits(self, ids_bl: Tensor) -> Tensor:
        """Predictions of the next token at every position: [B, L, V]."""
        if isinstance(self.network, Llama):
            logits: Tensor = self.network(ids_bl, self.separator)
        elif self.plain is not None:
            logits = self.network(ids_bl)
        else:
            logits = self.network(**self.hub_inputs(ids_bl)).logits
        return logits

    def hub_inputs(self, ids_bl: Tensor) -> dict[str, Any]:  # of many types
        """Arguments for a network of transformers, which reads documents off their positions."""
        given: dict[str, Any] = {"input_ids": ids_bl, "use_cache": False}
        if self.separator is not None:
            at_bl = torch.arange(ids_bl.shape[1], device=ids_bl.device).expand_as(ids_bl)
            begun_bl = torch.where(ids_bl == self.separator, at_bl, 0).cummax(1).values
            given["position_ids"] = at_bl - begun_bl
        return given

    def recompute_layers(self) -> bool:
        """From now on, store only the inputs of layers and compute the rest again when going back.

        This takes about a third more time. False if the network cannot, or does so already.
        """
        network = self.network
        if isinstance(network, Llama):
            changes = not network.model.recomputes
            network.model.recomputes = True
            return changes
        if self.plain is not None:
            return False
        if not network.supports_gradient_checkpointing or network.is_activation_checkpointing:
            return False
        network.activation_checkpointing_enable()  # type: ignore[operator]  # transformers' method
        return True

    def compile_layers(self, device: torch.device) -> None:
        """From now on, train with kernels made for this device, where it can have any."""
        if isinstance(self.network, Llama):
            self.network.model.compile_layers(device)

    def load(self, master: NDArray[np.int32], layout: WeightLayout) -> None:
        """Set every parameter to the master copy's value, rounded to float32."""
        arrays = layout.unflatten(master)
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                parameter.copy_(torch.from_numpy(arrays[name])).mul_(WEIGHT_UNIT)

    def write_delta(
        self, master: NDArray[np.int32], layout: WeightLayout, out: NDArray[np.float32]
    ) -> bool:
        """Write the way from `master` to the weights in flat order over zeros in `out`.

        Returns False unless it is finite.
        """
        start = layout.unflatten(master)

        def moved(name: str, parameter: nn.Parameter) -> Tensor:
            begun = torch.from_numpy(start[name]).to(torch.float32).mul_(WEIGHT_UNIT)
            return begun.sub_(parameter.detach().to("cpu", torch.float32))

        return self._write(moved, layout, out)

    def write_gradient(self, layout: WeightLayout, out: NDArray[np.float32]) -> bool:
        """Write the gradient in flat order over zeros in `out`; False unless finite."""

        def gradient(_: str, parameter: nn.Parameter) -> Tensor:
            found = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            return found.to("cpu", torch.float32)

        return self._write(gradient, layout, out)

    def _write(
        self,
        value: Callable[[str, nn.Parameter], Tensor],
        layout: WeightLayout,
        out: NDArray[np.float32],
    ) -> bool:
        is_flat = layout.kind == "flat"
        places = (
            layout.unflatten(out)
            if is_flat
            else {name: np.empty(shape, np.float32) for name, shape in self.tensors}
        )
        is_finite = True
        for name, parameter in self.parameters.items():
            found = value(name, parameter)
            # Of the sum: a tenth of the time, and infinities and NaN are in it as well.
            is_finite &= bool(torch.isfinite(found.sum()))
            torch.from_numpy(places[name]).copy_(found)
        if not is_flat:
            out[:] = layout.flatten(places)
        return is_finite


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutline:
    """A network without weights: its tensors as a manifest lists them, its vocabulary and context.

    `context` is the largest number of inputs, 0 if there is none; `chances` are the fields of the
    configuration that make its training random.
    """

    tensors: tuple[tuple[str, tuple[int, ...]], ...]
    aliases: tuple[tuple[str, str], ...]
    vocabulary: int
    context: int
    chances: Mapping[str, float] = field(default_factory=dict)


def build(config: bytes) -> CausalModel:
    """Build a configuration's network, with meaningless weights; raises UserFacingError."""
    return _network(parse_config(config))


def build_from_manifest(
    config: bytes, tensors: Sequence[tuple[str, Sequence[int]]], aliases: Sequence[tuple[str, str]]
) -> CausalModel:
    """Build a network that has exactly these tensors; raises UserFacingError, before allocation."""
    fields = parse_config(config)
    check_sizes(fields, len(tensors))
    try:
        plain = LlamaConfig.from_config(fields)
        if plain is not None:
            if llama.tensor_shapes(plain) != tensors or llama.aliases(plain) != aliases:
                raise UserFacingError("the configuration's tensors differ from the manifest's")
            return _network(fields)
        sketch = _on_meta(fields, len(tensors))  # on "meta": no memory for weights
    except _SKETCH_ERRORS as err:
        raise UserFacingError(f"cannot build a {fields['model_type']} model: {err}") from err
    if sketch.tensors != tensors or sketch.aliases != aliases:
        raise UserFacingError("the configuration's tensors differ from the manifest's")
    network_checks.check_tables(sketch.network)
    return _network(fields)


def outline(config: bytes) -> ModelOutline:
    """Lay out a configuration's network without its weights; raises UserFacingError."""
    fields = parse_config(config)
    plain = LlamaConfig.from_config(fields)
    if plain is not None:
        return ModelOutline(
            tensors=llama.tensor_shapes(plain),
            aliases=llama.aliases(plain),
            vocabulary=plain.vocab_size,
            context=0,
        )
    sketch = _on_meta(fields, _MOST_TENSORS)
    return ModelOutline(
        tensors=sketch.tensors,
        aliases=sketch.aliases,
        vocabulary=vocabulary_size(sketch),
        context=context_length(sketch),
        chances=network_checks.chance_fields(sketch.network),
    )


def _on_meta(fields: dict[str, Any], tensors: int) -> CausalModel:  # JSON of any model
    """Build a network of transformers on "meta", of about `tensors` tensors."""
    from tequio_client.trainer import hub_models  # noqa: PLC0415 - 120 MB

    check_sizes(fields, tensors)
    with hub_models.limit_modules(tensors), torch.device("meta"):
        made = of_network(hub_models.build(fields))
    network_checks.check_network(made.network, made.parameters)
    return made


def sketch(config: bytes, tensors: int = _MOST_TENSORS) -> CausalModel:
    """Build a network whose parameters are on "meta", to be filled from files.

    What it computes with besides parameters is real. Raises UserFacingError, also for more layers
    than `tensors`.
    """
    fields = parse_config(config)
    try:
        plain = LlamaConfig.from_config(fields)
        if plain is not None:
            check_sizes(fields, tensors)
            with torch.device("meta"):
                return of_network(Llama(plain))
        from tequio_client.trainer import hub_models  # noqa: PLC0415 - 120 MB

        network_checks.check_tables(_on_meta(fields, tensors).network)
        with hub_models.parameters_on_meta():
            return of_network(hub_models.build(fields))
    except _SKETCH_ERRORS as err:
        raise UserFacingError(f"cannot build a {fields['model_type']} model: {err}") from err


def vocabulary_size(model: CausalModel) -> int:
    """Number of token ids; raises UserFacingError for a network without an embedding table."""
    if isinstance(model.network, Llama):
        return model.network.config.vocab_size
    if model.plain is not None:
        return model.plain.vocabulary
    rows = getattr(input_table(model.network), "num_embeddings", None)
    if not isinstance(rows, int):
        raise UserFacingError("the network has no table of token embeddings")
    return rows


def input_table(network: nn.Module) -> object:
    """The module that token ids go through first."""
    if isinstance(network, Llama):
        return network.model.embed_tokens
    return network.get_input_embeddings()  # type: ignore[operator]  # transformers' method


def output_layer(network: nn.Module) -> object:
    """The module that gives logits; None for a network without one."""
    if isinstance(network, Llama):
        return network.lm_head
    return network.get_output_embeddings()  # type: ignore[operator]  # as above


def context_length(model: CausalModel) -> int:
    """The largest number of inputs; 0 if there is none."""
    if isinstance(model.network, Llama):
        return 0
    if model.plain is not None:
        return model.plain.context
    config = model.network.config
    return context_of(lambda name: getattr(config, name, None))


def build_random(config: bytes, seed: int) -> CausalModel:
    """Build a network with seeded weights, for the first head of a run.

    The bits depend on the torch build, so everyone else uses the published master copy.
    """
    torch.manual_seed(seed)
    model = build(config)
    if isinstance(model.network, Llama):
        model.network.initialise(torch.Generator().manual_seed(seed))
    return model


def master_copy(model: CausalModel, layout: WeightLayout) -> NDArray[np.int32]:
    """The weights in units of 2^-24, ties to even; raises UserFacingError beyond +-128."""
    with torch.no_grad():
        arrays = {
            name: _quantised(name, one.detach().cpu()) for name, one in model.parameters.items()
        }
    return layout.flatten(arrays)


def of_network(network: nn.Module, plain: PlainNetwork | None = None) -> CausalModel:
    """The model of a network; tied tensors are listed once, under the smallest of their names."""
    found = dict(network.named_parameters(remove_duplicate=False))
    first: dict[int, str] = {}
    for name in sorted(found, key=str.encode):
        first.setdefault(id(found[name]), name)
    listed = {name: found[name] for name in first.values()}
    pairs = ((name, first[id(one)]) for name, one in found.items() if name not in listed)
    return CausalModel(
        network=network,
        parameters=listed,
        aliases=tuple(sorted(pairs)),
        hidden=_hidden(network, listed, plain),
        plain=plain,
    )


def _hidden(
    network: nn.Module, listed: Mapping[str, nn.Parameter], plain: PlainNetwork | None
) -> frozenset[str]:
    """Matrices outside the output layer and the embedding tables."""
    outer = {id(module.weight) for module in network.modules() if isinstance(module, nn.Embedding)}
    if plain is None:
        head = output_layer(network)
        outer |= {id(one) for one in head.parameters()} if isinstance(head, nn.Module) else set()
    else:  # its output layer has no name, but a row or a column for each token
        outer |= {id(one) for one in listed.values() if plain.vocabulary in one.shape}
    return frozenset(n for n, one in listed.items() if one.dim() > 1 and id(one) not in outer)


def _quantised(name: str, weights: Tensor) -> NDArray[np.int32]:
    units = np.rint(weights.to(torch.float64).numpy() / WEIGHT_UNIT)
    if not (np.isfinite(units) & (units >= -(2.0**31)) & (units < 2.0**31)).all():
        raise UserFacingError(f"{name} has weights that are infinite, NaN or beyond +-128")
    return units.astype(np.int32)


def _network(fields: dict[str, Any]) -> CausalModel:  # JSON of any model
    plain = LlamaConfig.from_config(fields)
    if plain is not None:
        return of_network(Llama(plain))
    from tequio_client.trainer import hub_models  # noqa: PLC0415 - 120 MB

    return of_network(hub_models.build(fields))
