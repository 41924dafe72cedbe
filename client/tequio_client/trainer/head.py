"""The next head, from files to files: streamed block by block, with an engine that fits the model.

The sign-agreement filter reads the payloads once (again for every member it drops), because it
needs totals over the whole model. Then each block is computed, written and hashed while it is in
the cache. Memory is a few blocks per thread, whatever the model's size. All engines give the same
head.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tequio_client.files import delete, move
from tequio_client.trainer.engines import Block, Engine, ReferenceEngine, pays_off
from tequio_client.trainer.pacing import FULL_PACE, Pacing
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.head.aggregate import filter_with
from tequio_shared.head.contribution import ContributionHeader, RecordShape, contribution_id
from tequio_shared.head.head import (
    LEAF_BYTES,
    OuterStep,
    head_hash,
    multipliers,
    order_by_id,
    set_root,
)
from tequio_shared.head.layout import CHUNK, WeightLayout
from tequio_shared.ids import ZERO_DIGEST, Digest, HeadHash
from tequio_shared.log import merkle

_OPEN_FILES = 256  # payloads mapped at once; the others are opened for each read
_LEAF_CHUNKS = 64
WEIGHT = np.dtype("<i4")

_Result = TypeVar("_Result")
_Span = tuple[int, int]  # first chunk, chunk after the last


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFiles:
    """Files of a head before and after: int32 little-endian weights; residual or momentum as aux.

    Without `aux_in`, a run that has an aux starts from zeros, as at head 0.
    """

    weights_in: Path
    weights_out: Path
    aux_in: Path | None = None
    aux_out: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedHead:
    """The next head; `kept` are the indices of the given contributions that passed the filter."""

    head: HeadHash
    weights_root: Digest
    aux_root: Digest
    set_root: Digest
    kept: tuple[int, ...]


def engine_for(step: OuterStep, device: str = "cpu") -> Engine:
    """Choose the engine for a torch device; in place of MPS the CPU computes."""
    kind = device.partition(":")[0]
    if kind not in ("cpu", "mps"):  # MPS has neither float64 nor int64 atomics
        from tequio_client.trainer.device import AcceleratorEngine  # noqa: PLC0415 - brings torch

        return AcceleratorEngine(step.params, device)
    if not pays_off(step.params.algorithm, step.layout):
        return ReferenceEngine(step.params)
    from tequio_client.trainer.kernels import CompiledEngine  # noqa: PLC0415 - brings numba

    return CompiledEngine(step.params)


def compute_next_head(
    *,
    step: OuterStep,
    contributions: Sequence[tuple[bytes, Path]],
    files: HeadFiles,
    engine: Engine,
    threads: int = 1,
    pacing: Pacing = FULL_PACE,
) -> ComputedHead:
    """Write the next head's files and return its hash.

    `contributions` are (216-byte header, payload file) that passed `validate`, in any order. Each
    new file appears under its name complete or not at all, aux before weights. Nothing is synced to
    the disk: after a power cut, compare with the roots. Raises RefusedError for an empty set, a
    repeated contribution or files that do not fit the layout, MalformedError for a payload of
    another size.
    """
    order = order_by_id([header for header, _ in contributions])
    _check_files(step, files)
    paths = [contributions[at][1] for at in order]
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(threads))
        payloads = PayloadFiles(paths, step.params.shape, step.layout.chunks)
        work = _Work(step, engine, stack.enter_context(payloads), pool, threads, pacing)
        kept = filter_with(work.agreement, len(order), step.params.z2).kept
        tokens = [ContributionHeader.parse(contributions[order[at]][0]).tokens for at in kept]
        roots = work.move(files, kept, multipliers(tokens, step.params))
    ids = set_root([contribution_id(header) for header, _ in contributions])
    return ComputedHead(
        head=head_hash(step.run_id, step.round, step.parent, ids, *roots),
        weights_root=roots[0],
        aux_root=roots[1],
        set_root=ids,
        kept=tuple(sorted(order[at] for at in kept)),
    )


def _check_files(step: OuterStep, files: HeadFiles) -> None:
    kind = step.params.aux_dtype
    if (kind is None) != (files.aux_out is None) or (kind is None and files.aux_in is not None):
        raise RefusedError("aux", "these aux files do not fit the run's outer optimiser")
    _check_size(files.weights_in, step.layout.elements * WEIGHT.itemsize)
    if files.aux_in is not None and kind is not None:
        _check_size(files.aux_in, step.layout.elements * kind.itemsize)


def _check_size(path: Path, size_bytes: int) -> None:
    if path.stat().st_size != size_bytes:
        raise RefusedError("head", f"{path.name} has {path.stat().st_size} bytes, not {size_bytes}")


@dataclass(frozen=True, slots=True)
class _Work:
    """One outer step over a model's blocks, shared between threads."""

    step: OuterStep
    engine: Engine
    payloads: PayloadFiles
    pool: ThreadPoolExecutor
    threads: int
    pacing: Pacing

    def agreement(self, members: Sequence[int]) -> list[tuple[int, int]]:
        """Measure (a, t) of each of these members over the whole model."""

        def lane(spans: Sequence[_Span]) -> NDArray[np.int64]:
            # One sum a thread, integers: neither their number nor their order changes the total.
            total = np.zeros((len(members), 2), np.int64)
            for span in spans:
                self.pacing.rest()
                records = self.payloads.read(members, *span)
                total += self.engine.agreement(records, self.step.layout.padding(*span))
            return total

        total = sum(self._run(lane), np.zeros((len(members), 2), np.int64))
        return [(int(agreed), int(compared)) for agreed, compared in total]

    def move(
        self, files: HeadFiles, members: Sequence[int], factors: Sequence[int]
    ) -> tuple[Digest, Digest]:
        """Write the next weights and aux, and return their roots."""
        elements, kind = self.step.layout.elements, self.step.params.aux_dtype
        with contextlib.ExitStack() as stack:
            weights = NewArray(files.weights_out, elements, WEIGHT)
            stack.callback(weights.discard)
            aux = None
            if kind is not None and files.aux_out is not None:
                aux = NewArray(files.aux_out, elements, kind)
                stack.callback(aux.discard)

            def lane(spans: Sequence[_Span]) -> None:
                for span in spans:
                    self.pacing.rest()
                    block = self._block(files, members, span)
                    new_weights, new_aux = self.engine.move(block, factors)
                    weights.write(span[0] * CHUNK, new_weights)
                    if aux is not None and new_aux is not None:
                        aux.write(span[0] * CHUNK, new_aux)

            self._run(lane)
            roots = weights.root(), ZERO_DIGEST if aux is None else aux.root()
            # Weights last: their name is the sign that the head is complete.
            if aux is not None:
                aux.publish()
            weights.publish()
        return roots

    def _run(self, lane: Callable[[Sequence[_Span]], _Result]) -> list[_Result]:
        """Call `lane` in each thread; thread i gets block i, i + threads, and so on."""
        size, chunks = self.engine.leaves * _LEAF_CHUNKS, self.step.layout.chunks
        spans = [(first, min(first + size, chunks)) for first in range(0, chunks, size)]
        shares = [spans[at :: self.threads] for at in range(self.threads)]
        done = list(self.pool.map(lane, shares))
        self.pacing.begin()  # a thread that waited for the slowest has rested meanwhile
        return done

    def _block(self, files: HeadFiles, members: Sequence[int], span: _Span) -> Block:
        first, stop = span
        begin, elements = first * CHUNK, (stop - first) * CHUNK
        layout, kind = self.step.layout, self.step.params.aux_dtype
        aux = None if kind is None else np.zeros(elements, kind)
        if kind is not None and files.aux_in is not None:
            aux = read_numbers(files.aux_in, begin, elements, kind)
        return Block(
            records=self.payloads.read(members, first, stop),
            weights=read_numbers(files.weights_in, begin, elements, WEIGHT),
            aux=aux,
            padding=layout.padding(first, stop),
            matrix_elements=decaying(layout, begin, elements),
        )


def decaying(layout: WeightLayout, begin: int, elements: int) -> int:
    """How many of these elements lie in matrices, which decay; they come first."""
    return min(max(layout.matrix_end - begin, 0), elements)


def read_numbers(path: Path, begin: int, elements: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Read some elements of a file of numbers."""
    return np.fromfile(path, dtype, elements, offset=begin * dtype.itemsize)


class PayloadFiles:
    """The payloads of a set, readable from any thread while the context is open.

    Raises MalformedError at once for a file that does not have `chunks` records.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        shape: RecordShape,
        chunks: int,
        *,
        open_files: int = _OPEN_FILES,
    ) -> None:
        self._paths = paths
        self._open_files = open_files
        self._record_bytes = shape.record_bytes
        self._maps: list[mmap.mmap] = []
        size_bytes = chunks * shape.record_bytes
        for path in paths:
            if path.stat().st_size != size_bytes:
                raise MalformedError(
                    f"{path.name} has {path.stat().st_size} bytes, not {size_bytes}"
                )

    def __enter__(self) -> Self:
        for path in self._paths[: self._open_files]:
            with path.open("rb") as file:
                self._maps.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return self

    def __exit__(self, *_exc: object) -> None:
        for mapped in self._maps:
            mapped.close()

    def read(self, members: Sequence[int], first: int, stop: int) -> NDArray[np.uint8]:
        """Copy the records of chunks first..stop-1 of these payloads: uint8[P, c, R]."""
        begin, size = first * self._record_bytes, (stop - first) * self._record_bytes
        records = np.empty((len(members), size), np.uint8)
        for row, member in enumerate(members):
            if member < len(self._maps):
                part = self._maps[member][begin : begin + size]
                records[row] = np.frombuffer(part, np.uint8)
            else:
                records[row] = np.fromfile(self._paths[member], np.uint8, size, offset=begin)
        return records.reshape(len(members), stop - first, self._record_bytes)


class NewArray:
    """A little-endian array, written in any order, that gets its file name when it is complete.

    Parts must begin and end at leaf borders (1 MiB), except the last. Writing from many threads is
    safe as long as no part is written twice.
    """

    def __init__(self, path: Path, elements: int, dtype: np.dtype[Any]) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._dtype = dtype
        size_bytes = elements * dtype.itemsize
        self._leaves = [b""] * -(-size_bytes // LEAF_BYTES)
        with self._part.open("wb") as file:
            file.truncate(size_bytes)

    def write(self, first: int, values: NDArray[Any]) -> None:
        """Put `values` at element `first` and hash their leaves."""
        view = np.ascontiguousarray(values, self._dtype).view(np.uint8).data
        begin = first * self._dtype.itemsize
        with self._part.open("r+b") as file:
            file.seek(begin)
            file.write(view)
        for at in range(0, len(view), LEAF_BYTES):
            self._leaves[(begin + at) // LEAF_BYTES] = _leaf_hash(view[at : at + LEAF_BYTES])

    def root(self) -> Digest:
        """Root over the leaves; raises MalformedError while a part is missing."""
        return merkle.root_of_hashes(self._leaves)

    def publish(self) -> None:
        """Give the file its name, replacing an older one."""
        move(self._part, self._path)

    def discard(self) -> None:
        """Remove the file unless it was published."""
        delete(self._part)


def _leaf_hash(leaf: memoryview) -> bytes:
    # As merkle.leaf_hash, but without a copy of the megabyte.
    state = hashlib.sha256(b"\x00")
    state.update(leaf)
    return state.digest()
