"""The next head, from files to files: streamed block by block, with an engine that fits the model.

The sign-agreement filter reads the payloads once (again for every member it drops), because it
needs totals over the whole model. Then each block is moved, written and hashed while it is in the
cache. Memory is a few blocks per thread, whatever the model's size. All engines give the same head.
"""

from __future__ import annotations

import contextlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tequio_client.trainer.data import NewArray, PayloadFiles
from tequio_client.trainer.engines import Block, Engine, ReferenceEngine
from tequio_shared.errors import RefusedError
from tequio_shared.head.aggregate import filter_by
from tequio_shared.head.contribution import Header, contribution_id
from tequio_shared.head.head import head_hash, multipliers, order_by_id, set_root
from tequio_shared.head.layout import CHUNK
from tequio_shared.ids import ZERO_DIGEST, Digest, HeadHash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tequio_shared.head.head import Step

COMPILED_FROM = {"sparseloco": 8 << 20, "diloco": 2 << 20}
"""Elements from which compiled kernels pay. Below, numpy is quick enough, and numba would add
110 MB to a process that may have little. Distro has no kernels."""
_LEAF_CHUNKS = 64
_WEIGHT = np.dtype("<i4")

_Result = TypeVar("_Result")
_Span = tuple[int, int]  # first chunk, chunk after the last


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFiles:
    """Where a head is read and written: little-endian int32 weights; residual or momentum as aux.

    Without `aux_in` a run that keeps an aux starts from zeros, as at head 0.
    """

    weights_in: Path
    weights_out: Path
    aux_in: Path | None = None
    aux_out: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """The next head. `kept`: positions, in the contributions as given, that passed the filter."""

    head: HeadHash
    weights_root: Digest
    aux_root: Digest
    set_root: Digest
    kept: tuple[int, ...]
    seconds: float
    filter_seconds: float
    """Part of `seconds` that the sign-agreement filter took."""


def engine_for(step: Step, device: str = "cpu") -> Engine:
    """Choose the engine: `device` is a torch device; for MPS the CPU computes."""
    kind = device.partition(":")[0]
    if kind not in ("cpu", "mps"):  # MPS has neither float64 nor int64 atomics
        from tequio_client.trainer.engines import AcceleratorEngine  # noqa: PLC0415  (torch)

        return AcceleratorEngine(step.params, device)
    if step.layout.elements < COMPILED_FROM.get(step.params.algorithm, sys.maxsize):
        return ReferenceEngine(step.params)
    from tequio_client.trainer.engines import CompiledEngine  # noqa: PLC0415  (numba: 110 MB)

    return CompiledEngine(step.params)


def advance_files(
    *,
    step: Step,
    contributions: Sequence[tuple[bytes, Path]],
    files: HeadFiles,
    engine: Engine,
    threads: int = 1,
) -> Advanced:
    """Write the next head's files and return its name.

    `contributions` are (216-byte header, payload file) that passed `validate`, in any order. The
    new files appear under their names whole or not at all, aux before weights; nothing is synced to
    the disk, so after a power cut compare with the roots. Raises RefusedError for an empty or
    repeated set or files that do not fit the layout, MalformedError for a payload of another size.
    """
    started = time.perf_counter()
    order = order_by_id([header for header, _ in contributions])
    _check_files(step, files)
    paths = [contributions[at][1] for at in order]
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(threads))
        payloads = PayloadFiles(paths, step.params.shape, step.layout.chunks)
        work = _Work(step, engine, stack.enter_context(payloads), _Lanes(pool, threads))
        kept = filter_by(work.agreement, len(order), step.params.z2).kept
        filtered = time.perf_counter()
        tokens = [Header.parse(contributions[order[at]][0]).tokens for at in kept]
        roots = work.move(files, kept, multipliers(tokens, step.params))
    ids = set_root([contribution_id(header) for header, _ in contributions])
    return Advanced(
        head=head_hash(step.run_id, step.round, step.parent, ids, *roots),
        weights_root=roots[0],
        aux_root=roots[1],
        set_root=ids,
        kept=tuple(sorted(order[at] for at in kept)),
        seconds=time.perf_counter() - started,
        filter_seconds=filtered - started,
    )


def _check_files(step: Step, files: HeadFiles) -> None:
    kind = step.params.aux_dtype
    if (kind is None) != (files.aux_out is None) or (kind is None and files.aux_in is not None):
        raise RefusedError("aux", "aux files do not go with what the run keeps beside the weights")
    _check_size(files.weights_in, step.layout.elements * _WEIGHT.itemsize)
    if files.aux_in is not None and kind is not None:
        _check_size(files.aux_in, step.layout.elements * kind.itemsize)


def _check_size(path: Path, size_bytes: int) -> None:
    if path.stat().st_size != size_bytes:
        raise RefusedError("head", f"{path.name}: {path.stat().st_size} bytes, not {size_bytes}")


class _Lanes:
    """Threads that share the blocks between them: lane i takes block i, i + threads, and so on.

    Results are added up, or have their own place, so the number of lanes does not show.
    """

    def __init__(self, pool: ThreadPoolExecutor, threads: int) -> None:
        self._pool = pool
        self._threads = threads

    def run(
        self, lane: Callable[[Sequence[_Span]], _Result], spans: Sequence[_Span]
    ) -> list[_Result]:
        """Call `lane` with each lane's share of the spans."""
        shares = [spans[at :: self._threads] for at in range(self._threads)]
        return list(self._pool.map(lane, shares))


class _Work:
    """One step over a model's blocks."""

    def __init__(self, step: Step, engine: Engine, payloads: PayloadFiles, lanes: _Lanes) -> None:
        self._step = step
        self._engine = engine
        self._payloads = payloads
        self._lanes = lanes
        size, chunks = engine.leaves * _LEAF_CHUNKS, step.layout.chunks
        self._spans = [(first, min(first + size, chunks)) for first in range(0, chunks, size)]

    def agreement(self, members: Sequence[int]) -> list[tuple[int, int]]:
        """Measure (a, t) of each of these members over the whole model."""

        def lane(spans: Sequence[_Span]) -> NDArray[np.int64]:
            total = np.zeros((len(members), 2), np.int64)
            for span in spans:
                records = self._payloads.read(members, *span)
                total += self._engine.agreement(records, self._step.layout.padding(*span))
            return total

        total = sum(self._lanes.run(lane, self._spans), np.zeros((len(members), 2), np.int64))
        return [(int(agreed), int(compared)) for agreed, compared in total]

    def move(
        self, files: HeadFiles, members: Sequence[int], factors: Sequence[int]
    ) -> tuple[Digest, Digest]:
        """Write the next weights and aux; returns their roots."""
        elements, kind = self._step.layout.elements, self._step.params.aux_dtype
        with contextlib.ExitStack() as stack:
            weights = NewArray(files.weights_out, elements, _WEIGHT)
            stack.callback(weights.discard)
            aux = None
            if kind is not None and files.aux_out is not None:
                aux = NewArray(files.aux_out, elements, kind)
                stack.callback(aux.discard)

            def lane(spans: Sequence[_Span]) -> None:
                for span in spans:
                    block = self._block(files, members, span)
                    new_weights, new_aux = self._engine.move(block, factors)
                    weights.write(span[0] * CHUNK, new_weights)
                    if aux is not None and new_aux is not None:
                        aux.write(span[0] * CHUNK, new_aux)

            self._lanes.run(lane, self._spans)
            roots = weights.root(), ZERO_DIGEST if aux is None else aux.root()
            if aux is not None:
                aux.publish()
            weights.publish()
        return roots

    def _block(self, files: HeadFiles, members: Sequence[int], span: _Span) -> Block:
        first, stop = span
        begin, elements = first * CHUNK, (stop - first) * CHUNK
        layout = self._step.layout
        return Block(
            records=self._payloads.read(members, first, stop),
            weights=_read(files.weights_in, begin, elements, _WEIGHT),
            aux=self._aux(files, begin, elements),
            padding=layout.padding(first, stop),
            matrix_elements=min(max(layout.matrix_end - begin, 0), elements),
        )

    def _aux(self, files: HeadFiles, begin: int, elements: int) -> NDArray[Any] | None:
        kind = self._step.params.aux_dtype
        if kind is None or files.aux_in is None:
            return None if kind is None else np.zeros(elements, kind)
        return _read(files.aux_in, begin, elements, kind)


def _read(path: Path, begin: int, elements: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.fromfile(path, dtype, elements, offset=begin * dtype.itemsize)
