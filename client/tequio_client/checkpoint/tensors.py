"""A head as Safetensors files and back, tensor by tensor: memory is a few blocks.

The files are written here, because the library wants all tensors of a file in memory; they are
read with it. A tied tensor is written under the last of its names, which is the one transformers
keeps.

A head of adapters can also be merged into its frozen base: each target is W + (alpha / rank) B A,
with W as the trainers compute with it, which is the file's or what its 4 bits stand for.
The sum over the rank is taken in binary64, in order, every product and sum rounded by itself, and
the result once to binary32. So everybody with the base and the head gets the same bits, and a
folder can be checked by making it again. A tensor without adapters is widened, which changes no
value.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from tequio_client import files
from tequio_client.checkpoint import layout as checkpoint_layout
from tequio_shared.errors import MalformedError
from tequio_shared.head import layout, nf4
from tequio_shared.head.head import WEIGHT_UNIT
from tequio_shared.head.layout import Placement, WeightLayout
from tequio_shared.round.manifest import Manifest, ModelSpec

Append: TypeAlias = Callable[[NDArray[Any]], None]
"""Writes the next values of a file."""

# Theory of the float view. A parameter is W x 2^-24 with W an int32, and its float view is the
# nearest binary32, which has 24 bits: exact up to |W| = 2^24, that is up to weights of one. Beyond,
# W less the float view is the *remainder*, at most 64 either way, and few weights have one (scales
# of norms, mostly). Floats and remainders together give W back, and each W has one such pair only:
# floats that are not the nearest, lie between two integers, or are a negative zero are refused.

BLOCK = 1 << 22
"""Weights that are converted at once: 16 MiB of each kind."""
SHARD_BYTES = 1 << 30
"""Most bytes of weights in one file; a broken upload continues with the file where it stopped."""
_INT32 = np.iinfo(np.int32)
_POSITIONS, _REMAINDERS = "positions", "remainders"
_FLOAT = _INTEGER = 4


def floats_of(integers: NDArray[np.int32]) -> NDArray[np.float32]:
    return integers.astype(np.float32) * np.float32(WEIGHT_UNIT)


def remainders_of(
    integers: NDArray[np.int32], floats: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Positions at which the float view says too little, ascending, and what it lacks there."""
    lacking = integers.astype(np.int64) - _units(floats).astype(np.int64)
    at = np.flatnonzero(lacking)
    return at, lacking[at].astype(np.int8)


def integers_of(
    floats: NDArray[np.float32], at: NDArray[np.int64], remainders: NDArray[np.int8]
) -> NDArray[np.int32]:
    """The integers of floats and remainders; raises MalformedError for what no export writes."""
    units = _units(floats)
    if not np.isfinite(units).all():
        raise MalformedError("a weight is not a finite number")
    if (units != np.rint(units)).any() or (np.abs(units) > 2.0**31).any():
        raise MalformedError("a weight is not a multiple of 2^-24 within +-128")
    integers = units.astype(np.int64)
    integers[at] += remainders
    if ((integers < _INT32.min) | (integers > _INT32.max)).any():
        raise MalformedError("a weight with its remainder is not within +-128")
    found = integers.astype(np.int32)
    if (floats_of(found).view(np.uint32) != floats.view(np.uint32)).any():
        raise MalformedError("a weight is not the nearest number to what it stands for")
    return found


def _units(floats: NDArray[np.float32]) -> NDArray[np.float64]:
    return floats.astype(np.float64) / WEIGHT_UNIT


def names_in_files(model: ModelSpec) -> dict[str, str]:
    """Each tensor's name in the files, by its name in the manifest."""
    last = {name: name for name, _ in model.tensors}
    return last | {name: other for other, name in sorted(model.aliases)}


def write_weights(
    manifest: Manifest,
    head: Path,
    folder: Path,
    tick: Callable[[int], None],
    *,
    shard_bytes: int = SHARD_BYTES,
    only: str = "",
) -> None:
    """Write the weights of a head file, and the remainders, into a folder; `tick` gets bytes.

    With `only` all of them are in one file of that name.
    """
    write_model(
        manifest.model, manifest.layout, head, folder, tick, shard_bytes=shard_bytes, only=only
    )


def write_model(  # noqa: PLR0913 - two options
    model: ModelSpec,
    layout: WeightLayout,
    head: Path,
    folder: Path,
    tick: Callable[[int], None],
    *,
    shard_bytes: int = SHARD_BYTES,
    only: str = "",
) -> None:
    """Write the weights of a head file of that model and layout; as `write_weights`."""
    called = names_in_files(model)
    flat: NDArray[np.int32] = np.memmap(head, "<i4", "r", shape=(layout.elements,))
    views, starts = layout.unflatten(flat), _starts(layout.placements)
    by_name = {called[one.name]: one for one in layout.placements}
    positions, remainders = [np.empty(0, np.int64)], [np.empty(0, np.int8)]

    def write(name: str, append: Append) -> None:
        own = by_name[name].name
        tensor = views[own].reshape(-1)
        for first in range(0, tensor.size, BLOCK):
            floats = floats_of(tensor[first : first + BLOCK])
            at, values = remainders_of(tensor[first : first + BLOCK], floats)
            positions.append(at + (starts[own] + first))
            remainders.append(values)
            append(floats)
            tick(floats.nbytes)

    shapes = {name: one.shape for name, one in by_name.items()}
    _write_files(folder, shapes, write, shard_bytes, only)
    arrays: dict[str, NDArray[Any]] = {
        _POSITIONS: np.concatenate(positions),
        _REMAINDERS: np.concatenate(remainders),
    }
    kinds = {name: (one.dtype, one.shape) for name, one in arrays.items()}
    with _new_file(folder / checkpoint_layout.REMAINDER, kinds) as append:
        for one in arrays.values():
            append(one)


def read_weights(
    manifest: Manifest, folder: Path, into: Path, tick: Callable[[int], None]
) -> NDArray[np.int32]:
    """Turn a folder's weights back into the flat integers, in a file; returns it mapped.

    Raises MalformedError if the files are not an export of such a head, FileNotFoundError if one
    is missing.
    """
    layout, called = manifest.layout, names_in_files(manifest.model)
    names = list(called.values())
    if manifest.frozen is None:
        files = checkpoint_layout.weight_files(folder, names)
    else:
        files = dict.fromkeys(names, checkpoint_layout.adapter_of(folder))
    (folder / checkpoint_layout.REMAINDER).stat()
    _check_names(set(files.values()), set(names), "run")
    for one in layout.placements:
        _check_shape(files[called[one.name]], called[one.name], one.shape)
    at, values = _remainders(folder / checkpoint_layout.REMAINDER, layout.parameters)
    _reserve(into, layout.elements * _INTEGER)
    flat: NDArray[np.int32] = np.memmap(into, "<i4", "r+", shape=(layout.elements,))
    views = layout.unflatten(flat) if layout.kind == "flat" else {}
    whole: dict[str, NDArray[np.int32]] = {}
    starts = _starts(layout.placements)
    for one in layout.placements:
        start, name = starts[one.name], called[one.name]
        low, high = np.searchsorted(at, (start, start + one.parameters))
        remainder = at[low:high] - start, values[low:high]
        found = _read_tensor(files[name], name, one, remainder)
        if views:
            views[one.name][...] = found
        else:
            whole[one.name] = found
        tick(one.parameters * _FLOAT)
    if whole:
        flat[:] = layout.flatten(whole)
    return flat


def first_difference(
    manifest: Manifest, one: NDArray[np.int32], other: NDArray[np.int32]
) -> tuple[str, int] | None:
    """The first tensor in the manifest's order that differs, and at how many places."""
    layout = manifest.layout
    ours, theirs = layout.unflatten(one), layout.unflatten(other)
    for name in ours:
        count = int(np.count_nonzero(ours[name] != theirs[name]))
        if count:
            return name, count
    return None


def _reserve(path: Path, size_bytes: int) -> None:
    """Create a file of zeros; raises OSError for a full disk, which a mapped file cannot."""
    with path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        else:
            file.truncate(size_bytes)


def _read_tensor(
    path: Path, name: str, placement: Placement, remainder: tuple[NDArray[Any], NDArray[Any]]
) -> NDArray[np.int32]:
    with _opened(path) as file:
        floats = file.get_tensor(name)
    try:
        integers = integers_of(floats.reshape(-1), *remainder)
    except MalformedError as err:
        raise MalformedError(f"{name}: {err}") from err
    return integers.reshape(placement.shape)


def _remainders(path: Path, parameters: int) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    with _opened(path) as file:
        at, values = file.get_tensor(_POSITIONS), file.get_tensor(_REMAINDERS)
    are_typed = (at.dtype, values.dtype) == (np.int64, np.int8)
    if not are_typed or at.shape != values.shape or at.ndim != 1:
        raise MalformedError(
            f"{checkpoint_layout.REMAINDER} does not hold positions and remainders"
        )
    rises = not at.size or (at[0] >= 0 and at[-1] < parameters and (np.diff(at) > 0).all())
    if not rises or not values.all():
        raise MalformedError(
            f"{checkpoint_layout.REMAINDER} has positions that do not rise inside the model"
        )
    return at, values


@contextmanager
def _opened(path: Path) -> Iterator[Any]:  # the library has no types
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except SafetensorError as err:
        raise MalformedError(f"{path.name} cannot be read: {err}") from err


def _check_names(files: set[Path], due: set[str], owner: str) -> None:
    """Extra tensors are refused too: they would be loaded with the head."""
    found: set[str] = set()
    for path in files:
        path.stat()  # the library does not say which file is missing
        with _opened(path) as file:
            found |= set(file.keys())
    wrong = sorted(found ^ due)
    if wrong:
        what = f"is not one of the {owner}'s" if wrong[0] in found else "is missing"
        raise MalformedError(f"the tensor {wrong[0]} {what}")


def _check_shape(path: Path, name: str, shape: tuple[int, ...]) -> None:
    """Check the file's header: nothing is allocated for weights that are not there."""
    with _opened(path) as file:
        part = file.get_slice(name)
        found, kind = tuple(part.get_shape()), part.get_dtype()
    if (kind, found) != ("F32", shape):
        raise MalformedError(f"{name} is {kind}{list(found)}, not F32{list(shape)}")


def _starts(placements: Sequence[Placement]) -> dict[str, int]:
    """The start of each tensor when all are laid end to end, without padding."""
    ends = accumulate(one.parameters for one in placements)
    return {one.name: end - one.parameters for one, end in zip(placements, ends, strict=True)}


def _write_files(
    folder: Path,
    shapes: Mapping[str, tuple[int, ...]],
    write: Callable[[str, Append], None],
    shard_bytes: int,
    only: str = "",
) -> None:
    """Write tensors of binary32 in files as transformers does; `write` appends one's values."""
    groups = [list(shapes)] if only else _groups(shapes, shard_bytes)
    files: dict[str, str] = {}
    for number, group in enumerate(groups, 1):
        name = only or checkpoint_layout.WEIGHTS
        if len(groups) > 1:
            name = f"model-{number:05d}-of-{len(groups):05d}.safetensors"
        kinds = {one: (np.dtype("<f4"), shapes[one]) for one in group}
        with _new_file(folder / name, kinds) as append:
            for one in group:
                files[one] = name
                write(one, append)
    if len(groups) > 1:
        size = sum(map(_float_bytes, shapes.values()))
        index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(files.items()))}
        (folder / checkpoint_layout.INDEX).write_bytes(json.dumps(index, indent=2).encode() + b"\n")


def _groups(shapes: Mapping[str, tuple[int, ...]], shard_bytes: int) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    size = 0
    for name, shape in shapes.items():
        if groups[-1] and size + _float_bytes(shape) > shard_bytes:
            groups.append([])
            size = 0
        groups[-1].append(name)
        size += _float_bytes(shape)
    return groups


def _float_bytes(shape: tuple[int, ...]) -> int:
    return math.prod(shape) * _FLOAT


_DTYPES = {np.dtype("<f4"): "F32", np.dtype("<i8"): "I64", np.dtype("i1"): "I8"}


@contextmanager
def _new_file(
    path: Path, tensors: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]
) -> Iterator[Append]:
    """Write a Safetensors file, tensor by tensor in order; on the disk when the block ends."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, shape) in tensors.items():
        begin, end = end, end + dtype.itemsize * math.prod(shape)
        header[name] = {"dtype": _DTYPES[dtype], "shape": shape, "data_offsets": [begin, end]}
    raw = json.dumps(header, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    with path.open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)

        def append(values: NDArray[Any]) -> None:
            file.write(np.ascontiguousarray(values).data.cast("B") if values.size else b"")

        yield append
        files.sync(file)


# The library gives numpy no bfloat16, so the headers of a base are read here. The library has
# checked each file before, and the run's manifest names its bytes by hash.

_KINDS: dict[str, str] = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTensor:
    name: str
    shape: tuple[int, ...]
    kind: str
    path: Path
    start: int

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All rows in order, some at a time: the number of the first, and their values."""
        rows = self.shape[0] if len(self.shape) > 1 else 1
        columns = math.prod(self.shape) // max(rows, 1)
        dtype = np.dtype(_KINDS[self.kind])
        stored: NDArray[Any] = np.memmap(self.path, dtype, "r", self.start, (rows, columns))
        step = max(BLOCK // max(columns, 1), 1)
        for first in range(0, rows, step):
            block = stored[first : first + step]
            if self.kind == "BF16":  # the upper half of a binary32
                yield first, (block.astype(np.uint32) << 16).view(np.float32)
            else:
                yield first, block.astype(np.float32)


def read_base_tensors(files: Sequence[Path]) -> tuple[BaseTensor, ...]:
    """List every tensor of floating-point numbers, ascending; raises MalformedError."""
    found = [one for path in files for one in _of_file(path)]
    return tuple(sorted(found, key=lambda one: one.name.encode()))


def _of_file(path: Path) -> Iterator[BaseTensor]:
    try:
        with safe_open(path, framework="numpy"):
            pass  # the library checks that offsets lie inside and do not overlap
    except SafetensorError as err:
        raise MalformedError(f"{path.name} of the base cannot be read: {err}") from err
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        header = json.loads(file.read(length))
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] in _KINDS and 0 not in entry["shape"]:
            yield BaseTensor(
                name=name,
                shape=tuple(entry["shape"]),
                kind=entry["dtype"],
                path=path,
                start=_LENGTH_BYTES + length + entry["data_offsets"][0],
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    down: NDArray[np.float64]
    up: NDArray[np.float64]
    scale: float
    is_in_4_bits: bool

    def added(self, first: int, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.is_in_4_bits:
            rows = nf4.dequantise(*nf4.quantise(rows), rows.shape[1])
        up = self.up[first : first + len(rows)]
        part = np.zeros(rows.shape)
        for at, direction in enumerate(self.down):
            part += up[:, at, None] * direction
        part *= self.scale
        part += rows
        return part.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedModel:
    """The tensors of the whole model, computed when they are asked for."""

    tensors: Mapping[str, BaseTensor]
    """Tensors by name, ascending by its bytes."""
    pairs: Mapping[str, _Pair]

    @classmethod
    def of(cls, manifest: Manifest, head: NDArray[np.int32], base: Sequence[Path]) -> MergedModel:
        """Merge a head's integers into the base's files; raises MalformedError."""
        rules = manifest.frozen
        if rules is None:
            raise MalformedError("the run trains all weights: there is nothing to merge")
        floats = {
            name: floats_of(one).astype(np.float64)
            for name, one in manifest.layout.unflatten(head).items()
        }
        pairs = {
            f"{module}.weight": _Pair(
                down=floats[layout.LORA_PREFIX + module + layout.LORA_DOWN],
                up=floats[layout.LORA_PREFIX + module + layout.LORA_UP],
                scale=rules.scale,
                is_in_4_bits=rules.is_in_4_bits,
            )
            for module in layout.adapted_modules(manifest.model.tensors)
        }
        tensors = {one.name: one for one in read_base_tensors(base)}
        for name, pair in pairs.items():
            if name not in tensors or tensors[name].shape != (len(pair.up), pair.down.shape[1]):
                raise MalformedError(
                    f"the base has no {name} of the shape that the head's pair has"
                )
        return cls(tensors=tensors, pairs=pairs)

    @property
    def size_bytes(self) -> int:
        """Size of all of them in binary32."""
        return sum(_float_bytes(one.shape) for one in self.tensors.values())

    def blocks(self, tensor: BaseTensor) -> Iterator[NDArray[np.float32]]:
        """The rows of one tensor, some at a time."""
        pair = self.pairs.get(tensor.name)
        for first, rows in tensor.blocks():
            yield rows if pair is None else pair.added(first, rows)

    def write(self, folder: Path, tick: Callable[[int], None], *, shard: int = SHARD_BYTES) -> None:
        """Write them as Hugging Face has a model; `tick` gets bytes."""

        def write(name: str, append: Append) -> None:
            for rows in self.blocks(self.tensors[name]):
                append(rows)
                tick(rows.nbytes)

        _write_files(folder, {name: one.shape for name, one in self.tensors.items()}, write, shard)

    def check(self, folder: Path, tick: Callable[[int], None]) -> None:
        """Raise MalformedError unless the folder holds exactly these; FileNotFoundError."""
        files = checkpoint_layout.weight_files(folder, list(self.tensors))
        _check_names(set(files.values()), set(self.tensors), "base")
        for name, one in self.tensors.items():
            _check_tensor(files[name], one, self.blocks(one), tick)


def _check_tensor(
    path: Path, tensor: BaseTensor, due: Iterator[NDArray[np.float32]], tick: Callable[[int], None]
) -> None:
    _check_shape(path, tensor.name, tensor.shape)
    with _opened(path) as file:
        part = file.get_slice(tensor.name)
        first = 0
        for rows in due:
            found = part[first : first + len(rows)] if len(tensor.shape) > 1 else part[:]
            if (found.reshape(rows.shape).view(np.uint32) != rows.view(np.uint32)).any():
                raise MalformedError(f"{tensor.name} is not what base and adapters make of it")
            first += len(rows)
            tick(rows.nbytes)
