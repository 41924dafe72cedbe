"""The first head of a run, which an organiser publishes before anyone trains.

Existing weights are rounded to the nearest unit of 2^-24: float16 is exact, since all its numbers
are such units, bfloat16 is exact from 2^-17 on, everything else is within 2^-25. Weights beyond
+-128 are refused. A head that is exported and imported again stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tequio_client.trainer import adapters, data, fitness, model
from tequio_client.trainer import weights as trainer_weights
from tequio_client.trainer.llama import Llama
from tequio_shared.errors import UserFacingError
from tequio_shared.head import head
from tequio_shared.ids import sha256, to_text
from tequio_shared.round import manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.trainer.model import Model
    from tequio_shared.head.layout import Base, Layout, LayoutKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A model before its first round, with its configuration file and its master copy."""

    config: bytes
    model: Model
    layout: Layout
    master: NDArray[np.int32]

    def described(self, *, sequence: int, aux_dtype: np.dtype[np.generic] | None) -> manifest.Model:
        """The model's entry in a manifest; `aux_dtype` is `OuterParams.aux_dtype`."""
        aux = None if aux_dtype is None else np.zeros(self.layout.elements, aux_dtype)
        return manifest.Model(
            config=to_text(sha256(self.config)),
            parameters=self.layout.parameters,
            tensors=self.model.tensors,
            aliases=self.model.aliases,
            weights_root=to_text(head.weights_root(self.master)),
            aux_root=to_text(head.aux_root(aux)),
            sequence=sequence,
        )

    def write(self, path: Path) -> None:
        """Write the master copy: int32 little-endian in flat order."""
        data.write(path, self.master.astype("<i4", copy=False).data)


def from_config(config: bytes, *, seed: int, layout: LayoutKind) -> Origin:
    """Start from seeded random weights; raises UserFacingError for a model that cannot be built."""
    return _origin(config, _fit(model.create(config, seed)), layout)


def from_folder(folder: Path, *, layout: LayoutKind) -> Origin:
    """Start from a model's weights, Safetensors only; raises UserFacingError.

    The configuration is the model's own file, byte for byte.
    """
    config = trainer_weights.configured(folder)
    check_source(config, str(folder))
    paper = model.outline(config)
    _, loaded = trainer_weights.load(folder)
    if (loaded.tensors, loaded.aliases) != (paper.tensors, paper.aliases):
        raise UserFacingError(
            f"the weights in {folder} do not match tie_word_embeddings in its config.json: correct "
            "it there"
        )
    return _origin(config, _fit(loaded), layout)


def beside(
    config: bytes, base: Base, paths: Sequence[Path], *, seed: int, layout: LayoutKind
) -> Origin:
    """Start with seeded pairs for a frozen base, which change nothing yet.

    Raises UserFacingError when the files do not fit the configuration.
    """
    weights = trainer_weights.read(config, paths)
    trainer_weights.check_finite(weights)
    made = adapters.build(config, base, weights)
    adapters.start(made, seed)
    return _origin(config, made, layout)


def check_source(config: bytes, source: str) -> None:
    """Raise UserFacingError for a configuration that no run can start from."""
    model.configuration(config)
    trainer_weights.check_whole(config, source)


def _fit(made: Model) -> Model:
    """The model, after a check that a network of transformers predicts only from earlier tokens."""
    if not isinstance(made.network, Llama):
        made.network.eval()
        fitness.check_causal(made.logits, model.vocabulary(made), model.context(made))
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """The difference between a master copy and its source: weights in all, weights that changed."""

    weights: int
    rounded: int
    largest: float


def rounding(origin: Origin) -> Rounding:
    arrays = origin.layout.unflatten(origin.master)
    rounded, largest = 0, 0.0
    for name, parameter in origin.model.parameters.items():
        weights = parameter.detach().cpu().numpy().astype(np.float64)
        apart = np.abs(arrays[name] * model.WEIGHT_UNIT - weights)
        rounded += int(np.count_nonzero(apart))
        largest = max(largest, float(apart.max()))
    return Rounding(weights=origin.layout.parameters, rounded=rounded, largest=largest)


def _origin(config: bytes, made: Model, kind: LayoutKind) -> Origin:
    layout = made.layout(kind)
    return Origin(config=config, model=made, layout=layout, master=model.master_copy(made, layout))
