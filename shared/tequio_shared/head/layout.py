"""The layout: the place of each parameter in the flat array that is the master copy.

Matrices (two or more axes) come first, in the manifest's order, each padded by itself; then the
pool of all vectors without gaps; then padding to a whole chunk. `flat` stores a matrix row by row,
`tile64` as 64 x 64 tiles, one tile per chunk. Positions without a parameter are padding: their
master value is always 0. (docs/protocol.md, master copy)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.head import nf4
from tequio_shared.ids import Bytes32Text, Positive
from tequio_shared.limits import JSON_INTEGER

if TYPE_CHECKING:
    from numpy.typing import NDArray


CHUNK = 4096
"""Elements in a chunk: the unit that has one scale byte and one record."""
TILE = 64
MOST_CHUNKS = 2**32 - 1
"""Most chunks of a model: chunk_count in the contribution header is a u32."""

LayoutKind = Literal["flat", "tile64"]
LORA_PREFIX = "base_model.model."
LORA_DOWN, LORA_UP = ".lora_A.weight", ".lora_B.weight"
MOST_RANK = 1_024
"""Highest rank; above it, adapters of usual models are no smaller than the matrices."""
_LEAST_BYTES = 2  # of a stored weight: bfloat16 or float16
_AXES = 2  # of a matrix
Sides = tuple[int, int]
"""Rows (outputs) and columns (inputs) of a matrix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One tensor: `offset` is the flat position of its first element."""

    name: str
    shape: tuple[int, ...]
    offset: int

    @property
    def is_matrix(self) -> bool:
        """True for two or more axes: such tensors decay and are padded separately."""
        return len(self.shape) > 1

    @property
    def parameters(self) -> int:
        """Number of parameters, without padding."""
        return math.prod(self.shape)

    @property
    def sides(self) -> tuple[int, int]:
        """Rows (first axis) and columns (product of the others) of a matrix."""
        return self.shape[0], math.prod(self.shape[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """Padding in a run of chunks: which have any, int64[m] from 0, and masks bool[m, 4096]."""

    chunks: NDArray[np.int64]
    masks: NDArray[np.bool_]

    def blank(self, values: NDArray[Any]) -> None:
        """Set padding to 0 in `values`, which covers the same run of chunks."""
        if self.chunks.size:
            rows = values.reshape(-1, CHUNK)
            rows[self.chunks] = np.where(self.masks, values.dtype.type(0), rows[self.chunks])


NO_PADDING = Padding(chunks=np.empty(0, np.int64), masks=np.empty((0, CHUNK), np.bool_))


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightLayout:
    """Flat positions of all tensors; two layouts are equal when kind and placements are.

    `elements` is N, a multiple of 4096; `matrix_end` is where the pool begins. `padded_chunks`
    (int64[m], ascending) are the chunks with padding in them, `padding_bits` (uint8[m, 512]) their
    padding positions, least significant bit first.
    """

    kind: LayoutKind
    placements: tuple[Placement, ...]
    elements: int
    matrix_end: int
    padded_chunks: NDArray[np.int64] = field(compare=False, repr=False)
    padding_bits: NDArray[np.uint8] = field(compare=False, repr=False)

    @classmethod
    def of(cls, tensors: Sequence[tuple[str, Sequence[int]]], kind: LayoutKind) -> WeightLayout:
        """Place the manifest's tensors (name, shape).

        Raises MalformedError when names do not ascend strictly by their UTF-8 bytes, a side is
        below 1, the list is empty, or it needs 2^32 chunks or more.
        """
        placements, matrix_end, elements = _placed(tensors, kind)
        chunks, bits = _padding(placements, kind, elements)
        return cls(
            kind=kind,
            placements=placements,
            elements=elements,
            matrix_end=matrix_end,
            padded_chunks=chunks,
            padding_bits=bits,
        )

    @property
    def chunks(self) -> int:
        """Number of chunks, n."""
        return self.elements // CHUNK

    @property
    def parameters(self) -> int:
        """Number of parameters, without padding."""
        return sum(placement.parameters for placement in self.placements)

    def padding(self, first: int, stop: int) -> Padding:
        """Padding of chunks first..stop-1."""
        low, high = np.searchsorted(self.padded_chunks, (first, stop))
        bits = np.unpackbits(self.padding_bits[low:high], axis=1, bitorder="little")
        return Padding(chunks=self.padded_chunks[low:high] - first, masks=bits.view(np.bool_))

    def flatten(self, tensors: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Write all tensors into a flat array [elements], padding 0, in their common dtype.

        Raises RefusedError when names or shapes differ from the layout's.
        """
        if tensors.keys() != {placement.name for placement in self.placements}:
            raise RefusedError("layout", "tensor names differ from the layout's")
        flat = np.zeros(self.elements, np.result_type(*tensors.values()))
        for placement in self.placements:
            self._write(flat, placement, tensors[placement.name])
        return flat

    def unflatten(self, flat: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Split a flat array [elements] into tensors by name: views where the layout allows it.

        Raises RefusedError for another number of elements.
        """
        if flat.shape != (self.elements,):
            raise RefusedError("layout", f"expected {self.elements} elements, got {flat.shape}")
        return {placement.name: self._read(flat, placement) for placement in self.placements}

    def _write(self, flat: NDArray[Any], placement: Placement, tensor: NDArray[Any]) -> None:
        if tensor.shape != placement.shape:
            raise RefusedError(
                "layout", f"{placement.name} has shape {tensor.shape}, expected {placement.shape}"
            )
        if self.kind == "flat" or not placement.is_matrix:
            end = placement.offset + placement.parameters
            flat[placement.offset : end] = tensor.reshape(-1)
            return
        rows, columns = placement.sides
        padded = np.zeros((_tiles(rows) * TILE, _tiles(columns) * TILE), flat.dtype)
        padded[:rows, :columns] = tensor.reshape(rows, columns)
        tiles = padded.reshape(_tiles(rows), TILE, _tiles(columns), TILE).swapaxes(1, 2)
        flat[placement.offset : placement.offset + padded.size] = tiles.reshape(-1)

    def _read(self, flat: NDArray[Any], placement: Placement) -> NDArray[Any]:
        if self.kind == "flat" or not placement.is_matrix:
            end = placement.offset + placement.parameters
            return flat[placement.offset : end].reshape(placement.shape)
        rows, columns = placement.sides
        high, wide = _tiles(rows), _tiles(columns)
        tiles = flat[placement.offset : placement.offset + high * wide * CHUNK]
        padded = tiles.reshape(high, wide, TILE, TILE).swapaxes(1, 2)
        return padded.reshape(high * TILE, wide * TILE)[:rows, :columns].reshape(placement.shape)


def count_chunks(tensors: Sequence[tuple[str, Sequence[int]]], kind: LayoutKind) -> int:
    """Number of chunks of a layout, without building it: the cost of its padding is unbounded.

    Raises MalformedError as `Layout.of` does.
    """
    return _placed(tensors, kind)[2] // CHUNK


def _placed(
    tensors: Sequence[tuple[str, Sequence[int]]], kind: LayoutKind
) -> tuple[tuple[Placement, ...], int, int]:
    """Placements in list order, the end of the matrix part, and the number of elements."""
    _check(tensors, kind)
    offsets: dict[str, int] = {}
    at = 0
    for name, shape in tensors:
        if len(shape) > 1:
            offsets[name] = at
            at += _matrix_elements(shape, kind)
    matrix_end = at
    for name, shape in tensors:
        if len(shape) < 2:  # noqa: PLR2004  (a vector, or a single number)
            offsets[name] = at
            at += math.prod(shape)
    placements = tuple(
        Placement(name=name, shape=tuple(shape), offset=offsets[name]) for name, shape in tensors
    )
    elements = _whole_chunks(at)
    if elements // CHUNK > MOST_CHUNKS:
        raise MalformedError(f"{elements} elements do not fit in {MOST_CHUNKS} chunks")
    return placements, matrix_end, elements


def _check(tensors: Sequence[tuple[str, Sequence[int]]], kind: str) -> None:
    if kind not in ("flat", "tile64"):
        raise MalformedError(f"unknown layout {kind!r}")
    if not tensors:
        raise MalformedError("a model needs at least one tensor")
    names = [name.encode() for name, _ in tensors]
    if any(one >= other for one, other in itertools.pairwise(names)):
        raise MalformedError("tensor names must ascend by their UTF-8 bytes")
    for name, shape in tensors:
        if any(side < 1 for side in shape):
            raise MalformedError(f"{name} has an empty side: {list(shape)}")


def _matrix_elements(shape: Sequence[int], kind: LayoutKind) -> int:
    if kind == "flat":
        return _whole_chunks(math.prod(shape))
    return _tiles(shape[0]) * _tiles(math.prod(shape[1:])) * CHUNK


def _padding(
    placements: tuple[Placement, ...], kind: LayoutKind, elements: int
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Chunks with padding, ascending, and their padding bits."""
    chunks: list[NDArray[np.int64]] = []
    masks: list[NDArray[np.bool_]] = []
    for placement in placements:
        if placement.is_matrix and kind == "tile64":
            _edge_tiles(placement, chunks, masks)
        elif placement.is_matrix:
            _tail(placement.offset + placement.parameters, chunks, masks)
    vectors = [one for one in placements if not one.is_matrix]
    if vectors:
        _tail(vectors[-1].offset + vectors[-1].parameters, chunks, masks)
    if not chunks:
        return np.empty(0, np.int64), np.empty((0, CHUNK // 8), np.uint8)
    where = np.concatenate(chunks)
    order = np.argsort(where)
    return where[order], np.packbits(np.concatenate(masks)[order], axis=1, bitorder="little")


def _tail(end: int, chunks: list[NDArray[np.int64]], masks: list[NDArray[np.bool_]]) -> None:
    """Pad from `end` to the end of its chunk, unless it is at a chunk's start."""
    if end % CHUNK:
        chunks.append(np.array([end // CHUNK], np.int64))
        masks.append((np.arange(CHUNK) >= end % CHUNK)[None])


def _edge_tiles(
    placement: Placement, chunks: list[NDArray[np.int64]], masks: list[NDArray[np.bool_]]
) -> None:
    """Pad the last row and the last column of a matrix's tiles."""
    rows, columns = placement.sides
    high, wide = _tiles(rows), _tiles(columns)
    tile = np.arange(high * wide, dtype=np.int64)
    rows_left = np.minimum(rows - tile // wide * TILE, TILE)
    columns_left = np.minimum(columns - tile % wide * TILE, TILE)
    edge = np.flatnonzero((rows_left < TILE) | (columns_left < TILE))
    step = np.arange(TILE)
    below = step[None, :, None] >= rows_left[edge, None, None]
    beside = step[None, None, :] >= columns_left[edge, None, None]
    chunks.append(placement.offset // CHUNK + edge)
    masks.append((below | beside).reshape(edge.size, CHUNK))


def _tiles(side: int) -> int:
    return -(-side // TILE)


def _whole_chunks(elements: int) -> int:
    return -(-elements // CHUNK) * CHUNK


class BaseFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A Safetensors file of the base: its name and its tree."""

    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}\.safetensors\Z")]
    size_bytes: Positive
    root: Bytes32Text


class FrozenBase(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The frozen base and the rules of its adapters: LoRA (Hu et al. 2021, arXiv:2106.09685).

    Each target matrix W [out, in] gets a pair of small ones, A [rank, in] and B [out, rank], and
    the network computes W x + (alpha / rank) B (A x). Only the pairs are trained, and only they are
    in heads and contributions; the base's files never change. Pairs have the names that the peft
    package writes: `base_model.model.<module>.lora_A.weight` and `.lora_B.weight`.

    `source` and `revision` name the organiser's source, for people and for peft; only the files
    count. `parameters` is the number of weights in them, tied ones once.
    """

    source: Annotated[
        str,
        Meta(
            pattern=r"\A(?:[A-Za-z0-9][A-Za-z0-9._-]{0,95}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?)?\Z"
        ),
    ]
    revision: Annotated[str, Meta(pattern=r"\A(?:[0-9a-f]{40})?\Z")]
    parameters: Positive
    files: Annotated[tuple[BaseFile, ...], Meta(min_length=1, max_length=1_024)]
    rank: Annotated[int, Meta(ge=1, le=MOST_RANK)]
    alpha: Annotated[int, Meta(ge=1, le=65_535)]
    targets: Annotated[
        tuple[Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_]{1,64}\Z")], ...],
        Meta(min_length=1, max_length=64),
    ]
    bits: Literal[4] | UnsetType = UNSET
    """Absent: W is as in the files. 4: W is what its NF4 codes stand for (`nf4`), in each target
    matrix; everything else is as in the files."""

    @property
    def size_bytes(self) -> int:
        return sum(one.size_bytes for one in self.files)

    @property
    def is_in_4_bits(self) -> bool:
        return self.bits == 4  # noqa: PLR2004  (the name says it)

    @property
    def scale(self) -> float:
        """Factor of a pair's product."""
        return self.alpha / self.rank


def adapter_pairs(
    modules: Mapping[str, Sides], rank: int
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """[name, shape] of the pairs for these modules, ascending by the bytes of the name."""
    found: dict[str, tuple[int, ...]] = {}
    for module, (rows, columns) in modules.items():
        found[f"{LORA_PREFIX}{module}{LORA_DOWN}"] = (rank, columns)
        found[f"{LORA_PREFIX}{module}{LORA_UP}"] = (rows, rank)
    return tuple((name, found[name]) for name in sorted(found, key=str.encode))


def adapted_modules(listed: Sequence[tuple[str, Sequence[int]]]) -> dict[str, Sides]:
    """Modules that these tensors adapt, with the sides of their matrices."""
    shapes = {name: tuple(shape) for name, shape in listed}
    found: dict[str, Sides] = {}
    for name, shape in shapes.items():
        if name.startswith(LORA_PREFIX) and name.endswith(LORA_DOWN):
            module = name.removeprefix(LORA_PREFIX).removesuffix(LORA_DOWN)
            other = shapes.get(f"{LORA_PREFIX}{module}{LORA_UP}", ())
            if len(shape) == len(other) == _AXES:
                found[module] = (other[0], shape[1])
    return found


def held_bytes(base: FrozenBase, listed: Sequence[tuple[str, Sequence[int]]]) -> int:
    """Memory of a base beside the pairs `listed`: its files' size, or less in 4 bits.

    In 4 bits it is an estimate: every weight is taken to have the same size in the files.
    """
    if not base.is_in_4_bits:
        return base.size_bytes
    sides = adapted_modules(listed).values()
    weights = min(sum(rows * columns for rows, columns in sides), base.parameters)
    others = base.size_bytes * (base.parameters - weights) // base.parameters
    return others + sum(nf4.size_bytes(*one) for one in sides)


def base_faults(
    base: FrozenBase, listed: Sequence[tuple[str, Sequence[int]]], aliases: Sequence[object]
) -> Iterator[str]:
    """Faults of a base and its pairs, as far as the manifest alone shows them."""
    names = [one.name.encode() for one in base.files]
    if names != sorted(set(names)):
        yield "base.files must be unique and in ascending byte order of their names"
    if base.size_bytes > JSON_INTEGER or base.size_bytes < _LEAST_BYTES * base.parameters:
        yield f"base.parameters is {base.parameters}, too many for {base.size_bytes} bytes"
    if list(base.targets) != sorted(set(base.targets)):
        yield "base.targets must be unique and ascending"
    if aliases:
        yield "model.aliases must be empty with a frozen base: adapters are not tied"
    yield from _pair_faults(base, listed)


def _pair_faults(base: FrozenBase, listed: Sequence[tuple[str, Sequence[int]]]) -> Iterator[str]:
    found = adapted_modules(listed)
    if adapter_pairs(found, base.rank) != tuple((name, tuple(shape)) for name, shape in listed):
        yield f"model.tensors must be exactly the pairs of rank {base.rank} for base.targets"
    ends = {module.rpartition(".")[2] for module in found}
    strange = sorted(ends ^ set(base.targets))
    if strange:
        yield f"base.targets and model.tensors differ in {strange[0]!r}"
    for module, sides in found.items():
        if base.rank > min(sides):
            yield f"base.rank is {base.rank}, but {module} has only {min(sides)} rows or columns"
