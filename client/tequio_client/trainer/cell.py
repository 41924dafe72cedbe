"""The common part of a cell's inner steps: torch's collectives, and when each of them is due.

Every rank has the whole model, unless `division` divides it, and takes the same steps. It computes
the losses of its own part of each batch; before the optimiser's step, gradients and losses of all
ranks are added up. So a step does what one device does with the whole batch, and differs from it by
rounding alone.

No rank may leave a step that the others are in, since they would wait for it. Where one device
stops by itself (out of memory, another task, the end of its time), all ranks first exchange what
they met, then all do the same.

DistributedDataParallel adds up gradients while a single backward pass runs. Here a step has several
(`token_loss`), any of which may run out of memory and be repeated with a smaller batch, so the
gradients are added up after them (docs/decisions/0047-cells.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import NoReturn, Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from tequio_client.ipc.cell import Division
from tequio_client.trainer.device import is_out_of_memory
from tequio_client.trainer.main import TaskReplacedError
from tequio_shared.errors import TequioError

_BUCKET_NUMBERS = 1 << 24
"""Numbers that are added up at once; a bucket takes 4 bytes for each."""
PASS_TOKENS = 4_096
"""Tokens that a rank of a divided model computes at once, but at least one sample."""
_MASKED = -1  # an id that is read as 0 and has no loss


class RankLostError(TequioError):
    """A rank of this cell ended, or cannot be reached; nothing goes on before the cell is new."""


class SampleSource(Protocol):
    """Samples of a run's windows, int64 [samples, sequence + 1]."""

    @property
    def window_samples(self) -> int: ...

    def samples(self, windows: Sequence[int]) -> Tensor: ...


class _Met(IntEnum):
    """Events in a part of a step; the largest of any rank counts for all."""

    NOTHING = 0
    OUT_OF_MEMORY = 1
    ANOTHER_TASK = 2


class Cell:
    """The ranks that take inner steps together; with one, all methods do as one device does.

    Owned by the trainer's thread. torch.distributed is set up for the ranks before it is made.
    """

    def __init__(
        self, rank: int = 0, size: int = 1, wire: str = "cpu", division: Division = "none"
    ) -> None:
        """`wire` is the device on which tensors are exchanged."""
        self.rank, self.size, self.division = rank, size, division
        self._wire = torch.device(wire)
        self.common_error: Exception | None = None
        """The last error that all ranks raised together."""
        self.has_float16 = False
        """True if any rank computes in float16: all of them then scale their losses alike."""

    def exchange_precisions(self, own: torch.dtype) -> None:
        """Find out whether any rank computes in float16; called by all of them at once."""
        self.has_float16 = self.total(lambda: float(own == torch.float16)) > 0

    def own(self, samples: Tensor) -> Tensor:
        """This rank's part of a batch that all ranks have; it may be empty."""
        return torch.tensor_split(samples, self.size)[self.rank]

    def total(self, compute: Callable[[], float]) -> float:
        """Sum of what all ranks compute.

        Raises torch.OutOfMemoryError or TaskReplacedError on all of them when one of them did.
        """
        if self.size == 1:
            return compute()
        found, met = 0.0, _Met.NOTHING
        # Only noted here: the handled error would hold the tensors of the failed attempt.
        try:
            found = compute()
        except RuntimeError as err:
            if not is_out_of_memory(err):
                raise
            met = _Met.OUT_OF_MEMORY
        except TaskReplacedError:
            met = _Met.ANOTHER_TASK
        everybody = torch.zeros(self.size, 2, dtype=torch.float64)
        everybody[self.rank] = torch.tensor([found, float(met)], dtype=torch.float64)
        with exchanging():
            dist.all_reduce(everybody)
        self._raise_together(int(everybody[:, 1].max()))
        return float(everybody[:, 0].sum())

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Set each tensor to its sum over all ranks, with the same bits on every rank."""
        if self.size == 1:
            return
        for bucket in _buckets(tensors):
            flat = torch.cat([one.flatten() for one in bucket]).to(self._wire)
            with exchanging():
                dist.all_reduce(flat)
            self._set(bucket, flat)

    def copy_from(self, rank: int, tensors: Sequence[Tensor]) -> None:
        """Set each tensor, of one type, to that of a rank."""
        if self.size == 1:
            return
        for bucket in _buckets(tensors):
            held = [one.detach().flatten() for one in bucket]
            flat = torch.cat(held).to(self._wire)
            with exchanging():
                dist.broadcast(flat, rank)
            if self.rank != rank:
                self._set(bucket, flat)

    def send(self, one: Tensor, rank: int) -> None:
        """Send a tensor to a rank, which receives it meanwhile."""
        with exchanging():
            dist.send(one.detach().to(self._wire).contiguous(), rank)

    def receive(self, one: Tensor, rank: int) -> None:
        """Set a tensor to one of the same shape and type that a rank sends."""
        found = torch.empty(one.shape, dtype=one.dtype, device=self._wire)
        with exchanging():
            dist.recv(found, rank)
        one.detach().copy_(found)

    def owners(self, tensors: Sequence[Tensor]) -> list[int]:
        """Rank that looks after each tensor: large ones first, each to the rank with the least."""
        numbers = [0] * self.size
        found = [0] * len(tensors)
        for at in sorted(range(len(tensors)), key=lambda one: -tensors[one].numel()):
            found[at] = min(range(self.size), key=numbers.__getitem__)
            numbers[found[at]] += tensors[at].numel()
        return found

    def decide(self, ask: Callable[[], bool]) -> bool:
        """Answer of rank 0, which alone is asked; raises TaskReplacedError everywhere if it did."""
        if self.size == 1:
            return ask()
        answer, met = False, _Met.NOTHING
        if self.rank == 0:
            try:
                answer = ask()
            except TaskReplacedError:
                met = _Met.ANOTHER_TASK
        decided = torch.tensor([int(answer), int(met)])
        with exchanging():
            dist.broadcast(decided, 0)
        self._raise_together(int(decided[1]))
        return bool(decided[0])

    @staticmethod
    def _set(bucket: Sequence[Tensor], flat: Tensor) -> None:
        parts = torch.split(flat, [one.numel() for one in bucket])
        for one, part in zip(bucket, parts, strict=True):
            one.detach().copy_(part.view_as(one))

    def _raise_together(self, met: int) -> None:
        error: Exception | None = None
        if met == _Met.OUT_OF_MEMORY:
            error = torch.OutOfMemoryError("a rank of the cell ran out of memory")
        elif met == _Met.ANOTHER_TASK:
            error = TaskReplacedError("another task is in force")
        self.common_error = error
        if error is not None:
            raise error


ALONE = Cell()
"""One device by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSamples:
    """The same samples on every rank of a cell; rank 0 reads them from `source`."""

    cell: Cell
    sequence: int
    window_samples: int
    source: SampleSource | None = None

    def samples(self, windows: Sequence[int]) -> Tensor:
        """Samples of these windows; raises as the source does, on rank 0."""
        if self.source is not None:
            found = self.source.samples(windows)
        else:
            rows = len(windows) * self.window_samples
            found = torch.empty((rows, self.sequence + 1), dtype=torch.int64)
        with exchanging():
            dist.broadcast(found, 0)
        return found


def filled(samples: Tensor, multiple: int) -> Tensor:
    """The samples, and as many without a loss as it takes to have a multiple of that number."""
    missing = -len(samples) % multiple
    return torch.cat([samples, samples.new_full((missing, samples.shape[1]), _MASKED)])


def clip(
    cell: Cell, gradients: Sequence[Tensor], most: float, copies: Sequence[Tensor] = ()
) -> None:
    """Scale the gradients of all ranks together to a norm of at most `most`.

    `copies` are gradients that every rank has alike: they count once.
    """
    counted = gradients if cell.rank else (*gradients, *copies)
    square = torch.stack([one.square().sum() for one in counted]).sum()
    cell.add_up([square])
    factor = (most / (square.sqrt() + 1e-6)).clamp(max=1.0)
    for one in (*gradients, *copies):
        one.mul_(factor)


def _buckets(tensors: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    bucket: list[Tensor] = []
    numbers = 0
    for one in tensors:
        if bucket and numbers + one.numel() > _BUCKET_NUMBERS:
            yield bucket
            bucket, numbers = [], 0
        bucket.append(one)
        numbers += one.numel()
    if bucket:
        yield bucket


@contextmanager
def exchanging() -> Iterator[None]:
    """Raise RankLostError for the errors of torch's backends, which are plain RuntimeErrors."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as err:
        if isinstance(err.__cause__, Exception):  # of a network, as torch's pipelines wrap them
            raise err.__cause__ from None
        _raise_lost(err)


def _raise_lost(err: RuntimeError) -> NoReturn:
    raise RankLostError(f"another rank of the cell is gone: {err}"[:1_000]) from err
