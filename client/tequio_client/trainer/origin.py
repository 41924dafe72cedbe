"""The first head of a run: what an organiser publishes before anybody trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tequio_client.trainer import files, model
from tequio_shared import head, manifest
from tequio_shared.ids import sha256, to_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.trainer.model import Model
    from tequio_shared.layout import Layout, LayoutKind


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
        files.write(path, self.master.astype("<i4", copy=False).data)


def from_config(config: bytes, *, seed: int, layout: LayoutKind) -> Origin:
    """Start from seeded random weights; raises UserFacingError for a model we cannot build."""
    return _origin(config, model.create(config, seed), layout)


def from_pretrained(source: str, *, layout: LayoutKind) -> Origin:
    """Start from a folder or a name of the Hub, Safetensors only; raises UserFacingError."""
    config, loaded = model.load_pretrained(source)
    return _origin(config, loaded, layout)


def _origin(config: bytes, made: Model, kind: LayoutKind) -> Origin:
    layout = made.layout(kind)
    return Origin(config=config, model=made, layout=layout, master=model.master_copy(made, layout))
