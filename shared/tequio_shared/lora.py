"""Runs that train adapters beside a frozen base: LoRA (Hu et al. 2021, arXiv:2106.09685).

Each target matrix W [out, in] of the base gets a pair of small ones, A [rank, in] and
B [out, rank], and the network computes W x + (alpha / rank) B (A x). Only the pairs are trained,
and only they are in heads and contributions; the base's files never change. Pairs bear the names
that the peft package writes: `base_model.model.<module>.lora_A.weight` and `.lora_B.weight`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from tequio_shared.fields import Bytes32Text, Positive
from tequio_shared.limits import JSON_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PREFIX = "base_model.model."
DOWN, UP = ".lora_A.weight", ".lora_B.weight"
RANK = 1_024
"""Highest rank; beyond, adapters of usual models are no smaller than what they stand for."""
_LEAST_BYTES = 2  # of a stored weight: bfloat16 or float16
_AXES = 2  # of a matrix

Sides = tuple[int, int]
"""Rows (outputs) and columns (inputs) of a matrix."""


class BaseFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A Safetensors file of the base: its name beside the others, and its tree."""

    name: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}\.safetensors\Z")]
    size_bytes: Positive
    root: Bytes32Text


class Base(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The frozen base and the rules of its adapters.

    `source` and `revision` say where the organiser took it from, for people and for peft; what
    counts are the files. `parameters` is how many weights the network has in them, tied ones once.
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
    rank: Annotated[int, Meta(ge=1, le=RANK)]
    alpha: Annotated[int, Meta(ge=1, le=65_535)]
    targets: Annotated[
        tuple[Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_]{1,64}\Z")], ...],
        Meta(min_length=1, max_length=64),
    ]

    @property
    def size_bytes(self) -> int:
        """Of all files together."""
        return sum(one.size_bytes for one in self.files)

    @property
    def scale(self) -> float:
        """What a pair's product is multiplied with."""
        return self.alpha / self.rank


def pairs(modules: Mapping[str, Sides], rank: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """[name, shape] of the pairs of these modules' matrices, ascending by the bytes of the name."""
    found: dict[str, tuple[int, ...]] = {}
    for module, (rows, columns) in modules.items():
        found[f"{PREFIX}{module}{DOWN}"] = (rank, columns)
        found[f"{PREFIX}{module}{UP}"] = (rows, rank)
    return tuple((name, found[name]) for name in sorted(found, key=str.encode))


def modules_of(listed: Sequence[tuple[str, Sequence[int]]]) -> dict[str, Sides]:
    """The modules whose pairs these tensors are, with the sides of their matrices."""
    shapes = {name: tuple(shape) for name, shape in listed}
    found: dict[str, Sides] = {}
    for name, shape in shapes.items():
        if name.startswith(PREFIX) and name.endswith(DOWN):
            module = name.removeprefix(PREFIX).removesuffix(DOWN)
            other = shapes.get(f"{PREFIX}{module}{UP}", ())
            if len(shape) == len(other) == _AXES:
                found[module] = (other[0], shape[1])
    return found


def faults(
    base: Base, listed: Sequence[tuple[str, Sequence[int]]], aliases: Sequence[object]
) -> Iterator[str]:
    """What is wrong with a base, as far as the manifest alone shows, and with its pairs."""
    names = [one.name.encode() for one in base.files]
    if names != sorted(set(names)):
        yield "base.files must be unique and in ascending byte order of their names"
    if base.size_bytes > JSON_INTEGER or base.size_bytes < _LEAST_BYTES * base.parameters:
        yield f"base.parameters is {base.parameters}, more than {base.size_bytes} bytes can hold"
    if list(base.targets) != sorted(set(base.targets)):
        yield "base.targets must be unique and ascending"
    if aliases:
        yield "model.aliases is empty where a base is frozen: adapters are not tied"
    yield from _pair_faults(base, listed)


def _pair_faults(base: Base, listed: Sequence[tuple[str, Sequence[int]]]) -> Iterator[str]:
    found = modules_of(listed)
    if pairs(found, base.rank) != tuple((name, tuple(shape)) for name, shape in listed):
        yield f"model.tensors are not pairs of rank {base.rank} as the base's rules make them"
    ends = {module.rpartition(".")[2] for module in found}
    strange = sorted(ends ^ set(base.targets))
    if strange:
        yield f"base.targets and model.tensors differ in {strange[0]!r}"
    for module, sides in found.items():
        if base.rank > min(sides):
            yield f"base.rank is {base.rank}, and {module} has only {min(sides)} rows or columns"
