"""Weights as Safetensors files store them: 16 or 32 bits each, mapped, never widened.

The files are a stranger's, and one of them may be as large as a disk. Headers alone are read until
names, shapes and kinds of numbers are those that the network asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError, safe_open

from tequio_client.trainer import llama
from tequio_client.trainer.llama import LlamaConfig
from tequio_client.trainer.model import configuration
from tequio_client.trainer.weight_files import not_safetensors
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

KINDS = ("F32", "F16", "BF16")


def plain(config: bytes) -> LlamaConfig:
    """Read the configuration of a base; raises UserFacingError for what is none of ours."""
    fields = configuration(config)
    found = LlamaConfig.of(fields)
    if found is None:
        raise UserFacingError(
            f"a frozen base is a Llama, and this is not one of ours ({llama.unlike(fields)}): take "
            "another base, or train all weights"
        )
    return found


def read(config: bytes, files: Sequence[Path]) -> dict[str, Tensor]:
    """Map every tensor that the configuration asks for, tied ones under both names.

    Raises UserFacingError that names what is missing, of another shape, or of other numbers.
    """
    ours = plain(config)
    where = _where(files)
    wanted = dict(llama.shapes(ours))
    source = {name: name for name in wanted}
    if ours.is_tied and llama.HEAD not in where:
        source[llama.HEAD] = llama.EMBEDDING
    for name, shape in wanted.items():
        _check(where, source[name], shape)
    found = {name: _tensor(where[source[name]], source[name]) for name in wanted}
    if ours.is_tied:
        _check_tied(where, found[llama.HEAD])
        found[llama.EMBEDDING] = found[llama.HEAD]
    return found


def check_finite(tensors: Mapping[str, Tensor]) -> None:
    """Refuse weights that are no numbers, since one of them makes every prediction nothing."""
    for name, weights in tensors.items():
        bad = int((~torch.isfinite(weights)).sum())
        if bad:
            raise UserFacingError(
                f"{bad:,} of the {weights.numel():,} weights of {name} are NaN or infinite; take "
                "the checkpoint from before the training broke"
            )


def _where(files: Sequence[Path]) -> dict[str, Path]:
    """Which file holds which tensor."""
    found: dict[str, Path] = {}
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                names = list(file.keys())
        except (SafetensorError, OSError) as err:
            raise UserFacingError(not_safetensors(path, err)) from err
        twice = next((name for name in names if name in found), None)
        if twice is not None:
            raise UserFacingError(f"{twice} is in {found[twice]} and in {path}: take one away")
        found |= dict.fromkeys(names, path)
    return found


def _check(where: Mapping[str, Path], name: str, wanted: tuple[int, ...]) -> None:
    if name not in where:
        raise UserFacingError(f"the base has no weights {name}, which its configuration asks for")
    with safe_open(where[name], framework="pt") as file:
        part = file.get_slice(name)
        shape, kind = tuple(part.get_shape()), part.get_dtype()
    if shape != wanted:
        raise UserFacingError(
            f"the base's {name} has the shape {list(shape)}, and its configuration says "
            f"{list(wanted)}"
        )
    if kind not in KINDS:
        raise UserFacingError(
            f"the base's {name} has weights of the kind {kind}, not {', '.join(KINDS)}: take the "
            "model that it was quantised from"
        )


def _check_tied(where: Mapping[str, Path], table: Tensor) -> None:
    """Files of tied weights may hold them twice, and then they have to be the same."""
    path = where.get(llama.EMBEDDING)
    if path is not None and not torch.equal(_tensor(path, llama.EMBEDDING), table):
        raise UserFacingError(
            "the base holds two tables of token embeddings, and its configuration says that they "
            "are one: set tie_word_embeddings to false there"
        )


def _tensor(path: Path, name: str) -> Tensor:
    with safe_open(path, framework="pt") as file:
        found: Tensor = file.get_tensor(name)
    return found
