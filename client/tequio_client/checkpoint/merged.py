"""A whole model of a frozen base and a head of adapters: each target W + (alpha / rank) B A.

The sum over the rank is taken in binary64, in order, every product and sum rounded by itself, and
the result once to binary32. So everybody who has base and head gets the same bits, and a folder can
be checked by making it again. What no pair stands beside is widened, which changes no value.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from safetensors import SafetensorError, safe_open

from tequio_client.checkpoint import layout as checkpoint_layout
from tequio_client.checkpoint import tensors as checkpoint_tensors
from tequio_client.checkpoint.tensors import SHARD_BYTES, SafetensorsFile, weights_file_name
from tequio_shared.errors import MalformedError
from tequio_shared.head import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_client.checkpoint.tensors import BaseTensor
    from tequio_shared.round.manifest import Manifest

_FLOAT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Adapter of one matrix."""

    down: NDArray[np.float64]
    up: NDArray[np.float64]
    scale: float

    def added(self, first: int, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The rows from `first` with their part."""
        up = self.up[first : first + len(rows)]
        part = np.zeros(rows.shape)
        for at, direction in enumerate(self.down):
            part += up[:, at, None] * direction
        part *= self.scale
        part += rows
        return part.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedModel:
    """The tensors of the whole model, made as they are asked for."""

    tensors: tuple[BaseTensor, ...]
    pairs: Mapping[str, _Pair]

    @classmethod
    def of(cls, manifest: Manifest, head: NDArray[np.int32], base: Sequence[Path]) -> MergedModel:
        """Take a head's integers and the base's files; raises MalformedError."""
        rules = manifest.frozen
        if rules is None:
            raise MalformedError("the run trains all weights: there is nothing to merge")
        floats = {
            name: checkpoint_tensors.floats_of(one).astype(np.float64)
            for name, one in manifest.layout.unflatten(head).items()
        }
        pairs = {
            f"{module}.weight": _Pair(
                down=floats[layout.LORA_PREFIX + module + layout.LORA_DOWN],
                up=floats[layout.LORA_PREFIX + module + layout.LORA_UP],
                scale=rules.scale,
            )
            for module in layout.adapted_modules(manifest.model.tensors)
        }
        tensors = checkpoint_tensors.read_base_tensors(base)
        _check_targets(pairs, tensors)
        return cls(tensors=tensors, pairs=pairs)

    @property
    def size_bytes(self) -> int:
        """Of all of them in binary32."""
        return sum(_bytes(one) for one in self.tensors)

    def blocks(self, tensor: BaseTensor) -> Iterator[NDArray[np.float32]]:
        """The rows of one tensor, some at a time."""
        pair = self.pairs.get(tensor.name)
        for first, rows in tensor.blocks():
            yield rows if pair is None else pair.added(first, rows)

    def write(self, folder: Path, tick: Callable[[int], None], *, shard: int = SHARD_BYTES) -> None:
        """Write them as Hugging Face has a model; `tick` hears bytes."""
        groups, files = _groups(self.tensors, shard), {}
        for number, group in enumerate(groups, 1):
            name = weights_file_name(number, len(groups))
            shapes = {one.name: (np.dtype("<f4"), one.shape) for one in group}
            with SafetensorsFile(folder / name, shapes) as file:
                for one in group:
                    files[one.name] = name
                    for rows in self.blocks(one):
                        file.write(rows)
                        tick(rows.nbytes)
        if len(groups) > 1:
            index = {"metadata": {"total_size": self.size_bytes}, "weight_map": files}
            (folder / checkpoint_layout.INDEX).write_text(json.dumps(index, indent=2) + "\n")

    def check(self, folder: Path, tick: Callable[[int], None]) -> None:
        """Raise MalformedError unless the folder holds exactly these; FileNotFoundError."""
        files = checkpoint_layout.WeightFiles.of(folder, [one.name for one in self.tensors])
        for path in set(files.by_tensor.values()):
            path.stat()  # the library does not say which file is missing
        try:
            _check_names(set(files.by_tensor.values()), {one.name for one in self.tensors})
            for one in self.tensors:
                _check_tensor(files.by_tensor[one.name], one, self.blocks(one), tick)
        except SafetensorError as err:
            raise MalformedError(f"the merged weights cannot be read: {err}") from err


def _check_targets(pairs: Mapping[str, _Pair], tensors: Sequence[BaseTensor]) -> None:
    shapes = {one.name: one.shape for one in tensors}
    for name, pair in pairs.items():
        if shapes.get(name) != (len(pair.up), pair.down.shape[1]):
            raise MalformedError(f"the base has no {name} of the shape that the head's pair has")


def _check_names(files: set[Path], due: set[str]) -> None:
    """Extra tensors are refused too: they would be loaded with the head."""
    found: set[str] = set()
    for path in files:
        with safe_open(path, framework="numpy") as file:
            found |= set(file.keys())
    wrong = sorted(found ^ due)
    if wrong:
        what = "is not one of the base's" if wrong[0] in found else "is missing"
        raise MalformedError(f"the tensor {wrong[0]} {what}")


def _check_tensor(
    path: Path,
    tensor: BaseTensor,
    due: Iterator[NDArray[np.float32]],
    tick: Callable[[int], None],
) -> None:
    with safe_open(path, framework="numpy") as file:
        part = file.get_slice(tensor.name)
        if (part.get_dtype(), tuple(part.get_shape())) != ("F32", tensor.shape):
            raise MalformedError(f"{tensor.name} is not F32{list(tensor.shape)}")
        first = 0
        for rows in due:
            found = part[first : first + len(rows)] if len(tensor.shape) > 1 else part[:]
            if (found.reshape(rows.shape).view(np.uint32) != rows.view(np.uint32)).any():
                raise MalformedError(f"{tensor.name} is not what base and adapters make of it")
            first += len(rows)
            tick(rows.nbytes)


def _groups(tensors: Sequence[BaseTensor], shard: int) -> list[list[BaseTensor]]:
    groups: list[list[BaseTensor]] = [[]]
    size = 0
    for one in tensors:
        if groups[-1] and size + _bytes(one) > shard:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += _bytes(one)
    return groups


def _bytes(tensor: BaseTensor) -> int:
    rows, columns = tensor.sides
    return rows * columns * _FLOAT
