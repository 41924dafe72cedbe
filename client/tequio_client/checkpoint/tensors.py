"""A head as Safetensors files and back, tensor by tensor: memory is a few blocks.

The files are written here, because the library wants all tensors of a file in memory; they are
read with it. A tied tensor is written under the last of its names, which is the one transformers
keeps.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from safetensors import SafetensorError, safe_open

from tequio_client import files
from tequio_client.checkpoint import exact, parts
from tequio_shared.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_shared.layout import Placement
    from tequio_shared.manifest import Manifest, Model

SHARD_BYTES = 1 << 30
"""Most bytes of weights in one file, so that an upload that broke goes on near where it was."""
_POSITIONS, _REMAINDERS = "positions", "remainders"
_FLOAT = _INTEGER = 4


@dataclass(slots=True)
class Remainders:
    """What the floats lack, over all tensors laid end to end in the manifest's order."""

    at: list[NDArray[np.int64]] = field(default_factory=list)
    values: list[NDArray[np.int8]] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write them as a Safetensors file of two arrays."""
        arrays = {
            _POSITIONS: np.concatenate([np.empty(0, np.int64), *self.at]),
            _REMAINDERS: np.concatenate([np.empty(0, np.int8), *self.values]),
        }
        with SafetensorsFile(
            path, {name: (one.dtype, one.shape) for name, one in arrays.items()}
        ) as file:
            for one in arrays.values():
                file.write(one)


def names_in_files(model: Model) -> dict[str, str]:
    """Each tensor's name in the files, by its name in the manifest."""
    last = {name: name for name, _ in model.tensors}
    return last | {name: other for other, name in sorted(model.aliases)}


def write(
    manifest: Manifest,
    head: Path,
    folder: Path,
    tick: Callable[[int], None],
    *,
    shard_bytes: int = SHARD_BYTES,
    only: str = "",
) -> None:
    """Write the weights of a head file, and the remainders, into a folder; `tick` hears bytes.

    With `only` all of them are in one file of that name.
    """
    layout, called = manifest.layout, names_in_files(manifest.model)
    flat: NDArray[np.int32] = np.memmap(head, "<i4", "r", shape=(layout.elements,))
    views = layout.unflatten(flat)
    groups = [list(layout.placements)] if only else _groups(layout.placements, shard_bytes)
    lacking, files = Remainders(), {}
    starts = dict(_starts(layout.placements))
    for number, group in enumerate(groups, 1):
        name = only or file_name(number, len(groups))
        shapes = {called[one.name]: (np.dtype("<f4"), one.shape) for one in group}
        with SafetensorsFile(folder / name, shapes) as file:
            for one in group:
                files[called[one.name]] = name
                _write_tensor(file, views[one.name], starts[one.name], lacking, tick)
    lacking.save(folder / parts.REMAINDER)
    if len(groups) > 1:
        size = sum(one.parameters for one in layout.placements) * _FLOAT
        index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(files.items()))}
        (folder / parts.INDEX).write_text(json.dumps(index, indent=2) + "\n")


def read(
    manifest: Manifest, folder: Path, into: Path, tick: Callable[[int], None]
) -> NDArray[np.int32]:
    """Turn a folder's weights back into the flat integers, in a file; gives it mapped.

    Raises MalformedError for what is no export of such a head, FileNotFoundError for what is
    missing.
    """
    layout, called = manifest.layout, names_in_files(manifest.model)
    names = list(called.values())
    if manifest.frozen is None:
        files = parts.WeightFiles.of(folder, names)
    else:
        files = parts.WeightFiles(dict.fromkeys(names, parts.adapter_of(folder)))
    for path in (*files.by_tensor.values(), folder / parts.REMAINDER):
        path.stat()  # the library does not say which file is missing
    _check_names(set(files.by_tensor.values()), set(called.values()))
    for one in layout.placements:
        _check_shape(files.by_tensor[called[one.name]], called[one.name], one.shape)
    at, values = _remainders(folder / parts.REMAINDER, layout.parameters)
    _reserve(into, layout.elements * _INTEGER)
    flat: NDArray[np.int32] = np.memmap(into, "<i4", "r+", shape=(layout.elements,))
    views = layout.unflatten(flat) if layout.kind == "flat" else {}
    whole: dict[str, NDArray[np.int32]] = {}
    for one, start in zip(layout.placements, _starts(layout.placements), strict=True):
        low, high = np.searchsorted(at, (start[1], start[1] + one.parameters))
        found = _read_tensor(
            files.by_tensor[called[one.name]],
            called[one.name],
            one,
            (at[low:high] - start[1], values[low:high]),
        )
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
    """Make a file of zeros that has its room on the disk: a mapped one cannot say that it has not.

    Raises OSError.
    """
    with path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        else:
            file.truncate(size_bytes)


def _write_tensor(
    file: SafetensorsFile,
    integers: NDArray[np.int32],
    start: int,
    lacking: Remainders,
    tick: Callable[[int], None],
) -> None:
    flat = integers.reshape(-1)
    for first in range(0, flat.size, exact.BLOCK):
        block = flat[first : first + exact.BLOCK]
        floats = exact.floats_of(block)
        at, values = exact.remainders_of(block, floats)
        lacking.at.append(at + (start + first))
        lacking.values.append(values)
        file.write(floats)
        tick(floats.nbytes)


def _read_tensor(
    path: Path, name: str, placement: Placement, remainder: tuple[NDArray[Any], NDArray[Any]]
) -> NDArray[np.int32]:
    try:
        with safe_open(path, framework="numpy") as file:
            floats = file.get_tensor(name)
    except SafetensorError as err:
        raise MalformedError(f"{path.name} cannot be read: {err}") from err
    try:
        integers = exact.integers_of(floats.reshape(-1), *remainder)
    except MalformedError as err:
        raise MalformedError(f"{name}: {err}") from err
    return integers.reshape(placement.shape)


def _remainders(path: Path, parameters: int) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    try:
        with safe_open(path, framework="numpy") as file:
            at, values = file.get_tensor(_POSITIONS), file.get_tensor(_REMAINDERS)
    except SafetensorError as err:
        raise MalformedError(f"{parts.REMAINDER} cannot be read: {err}") from err
    kinds = (at.dtype, values.dtype) == (np.int64, np.int8) and at.shape == values.shape
    if not kinds or at.ndim != 1:
        raise MalformedError(f"{parts.REMAINDER} does not hold positions and remainders")
    rises = not at.size or (at[0] >= 0 and at[-1] < parameters and (np.diff(at) > 0).all())
    if not rises or not values.all():
        raise MalformedError(f"{parts.REMAINDER} has positions that do not rise inside the model")
    return at, values


def _check_names(files: set[Path], due: set[str]) -> None:
    """No tensor more or less than the manifest's: what is loaded beside them is no head's."""
    found: set[str] = set()
    for path in files:
        try:
            with safe_open(path, framework="numpy") as file:
                found |= set(file.keys())
        except SafetensorError as err:
            raise MalformedError(f"{path.name} cannot be read: {err}") from err
    wrong = sorted(found ^ due)
    if wrong:
        what = "is not one of the run's" if wrong[0] in found else "is missing"
        raise MalformedError(f"the tensor {wrong[0]} {what}")


def _check_shape(path: Path, name: str, shape: tuple[int, ...]) -> None:
    """By the file's header: no room is made for weights that are not there."""
    with safe_open(path, framework="numpy") as file:
        part = file.get_slice(name)
        found, kind = tuple(part.get_shape()), part.get_dtype()
    if (kind, found) != ("F32", shape):
        raise MalformedError(f"{name} is {kind}{list(found)}, not F32{list(shape)}")


def _groups(placements: Sequence[Placement], shard_bytes: int) -> list[list[Placement]]:
    groups: list[list[Placement]] = [[]]
    size = 0
    for one in placements:
        if groups[-1] and size + one.parameters * _FLOAT > shard_bytes:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += one.parameters * _FLOAT
    return groups


def _starts(placements: Sequence[Placement]) -> Iterator[tuple[str, int]]:
    """Where each tensor begins when all are laid end to end, without padding."""
    start = 0
    for one in placements:
        yield one.name, start
        start += one.parameters


def file_name(number: int, files: int) -> str:
    """What transformers calls a file of weights."""
    return parts.WEIGHTS if files == 1 else f"model-{number:05d}-of-{files:05d}.safetensors"


_DTYPES = {np.dtype("<f4"): "F32", np.dtype("<i8"): "I64", np.dtype("i1"): "I8"}


class SafetensorsFile:
    """A Safetensors file whose tensors are written in order; on the disk when the block ends."""

    def __init__(
        self, path: Path, tensors: dict[str, tuple[np.dtype[Any], tuple[int, ...]]]
    ) -> None:
        header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
        end = 0
        for name, (dtype, shape) in tensors.items():
            begin, end = end, end + dtype.itemsize * int(np.prod(shape, dtype=np.int64))
            header[name] = {"dtype": _DTYPES[dtype], "shape": shape, "data_offsets": [begin, end]}
        raw = json.dumps(header, separators=(",", ":")).encode()
        raw += b" " * (-len(raw) % 8)
        self._file = path.open("wb")
        self._file.write(len(raw).to_bytes(8, "little") + raw)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            files.sync(self._file)

    def write(self, values: NDArray[Any]) -> None:
        """Append the next values."""
        self._file.write(np.ascontiguousarray(values).data.cast("B") if values.size else b"")
