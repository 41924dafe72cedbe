"""The first head of a run: what an organiser publishes before anybody trains.

Weights that exist already are taken over to the nearest unit of 2^-24: float16 as it is, since all
its numbers are such units, bfloat16 as it is from 2^-17 on, everything else within 2^-25, and
nothing beyond +-128. What is then exported is taken over as it is.
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
    """A model before its first round: configuration, master copy, and both as files' content."""

    config: bytes
    model: Model
    layout: Layout
    master: NDArray[np.int32]

    def described(self, *, sequence: int, aux_dtype: np.dtype[np.generic] | None) -> manifest.Model:
        """Describe it as a run's manifest does; `aux_dtype` as `OuterParams.aux_dtype` says."""
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
    """Start from seeded random weights; raises UserFacingError for a model we cannot build."""
    return _origin(config, _fit(model.create(config, seed)), layout)


def from_folder(folder: Path, *, layout: LayoutKind) -> Origin:
    """Go on from a model's weights, Safetensors only; raises UserFacingError.

    The configuration is the model's own file, byte for byte.
    """
    config = trainer_weights.configured(folder)
    check_source(config, str(folder))
    paper = model.outline(config)
    _, loaded = trainer_weights.load(folder)
    if (loaded.tensors, loaded.aliases) != (paper.tensors, paper.aliases):
        raise UserFacingError(
            f"{folder} holds weights that its config.json ties to others, or the other way round: "
            "say in it what is (tie_word_embeddings)"
        )
    return _origin(config, _fit(loaded), layout)


def beside(
    config: bytes, base: Base, paths: Sequence[Path], *, seed: int, layout: LayoutKind
) -> Origin:
    """Start with seeded pairs beside a frozen base, that change nothing yet.

    Raises UserFacingError when the files are not of a network with that configuration.
    """
    weights = trainer_weights.read(config, paths)
    trainer_weights.check_finite(weights)
    made = adapters.build(config, base, weights)
    adapters.start(made, seed)
    return _origin(config, made, layout)


def check_source(config: bytes, source: str) -> None:
    """Refuse, by its configuration alone, what no run goes on from; raises UserFacingError."""
    model.configuration(config)
    trainer_weights.check_whole(config, source)


def _fit(made: Model) -> Model:
    """A network that is not ours, once it was seen to predict from what comes before."""
    if not isinstance(made.network, Llama):
        made.network.eval()
        fitness.check_causal(made.logits, model.vocabulary(made), model.context(made))
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """How far the master copy is from the weights that it was made of."""

    weights: int
    rounded: int
    largest: float


def rounding(origin: Origin) -> Rounding:
    """Compare the master copy with the network's weights."""
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
