"""Samples that go through the network at once, found by trial and remembered.

What fits into a device's memory is found once for a prepared model: a batch that does not fit is
halved, and the network recomputes its layers where that costs less. A pause ends the trainer's
process, so what was found is kept in a file of its own folder: otherwise each start would run out
of memory again, beside a desktop that needs it. It is forgotten after a day, because a program that
held memory meanwhile would make the batch small for good.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import structlog

from tequio_client import clock, files
from tequio_client.trainer.cell import ALONE, Cell
from tequio_client.trainer.device import ComputeDevice
from tequio_shared.errors import MalformedError

log = structlog.get_logger(__name__)

KEPT_MS = 24 * 3_600_000
FILE = "batch-sizes.json"
MOST_KEPT = 64
"""Models, or limits of one, in the file; the oldest is dropped."""
_BATCH_TOKENS = {"cpu": 2_048}
_GPU_BATCH_TOKENS = 65_536
_LOSS_SCALE = 8.0
"""First scale of the summed loss: that of 2^16, as usual, for a mean over 8,192 tokens."""


class FittedBatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A batch that fitted, and when that was found, in milliseconds since 1970."""

    samples: Annotated[int, msgspec.Meta(ge=1)]
    recomputes: bool
    at_ms: int


@dataclass(frozen=True, slots=True)
class FittedBatches:
    """The file of batches that fitted, by name: a model with its device and limits."""

    path: Path

    @classmethod
    def of_process(cls, variables: Mapping[str, str] = os.environ) -> FittedBatches | None:
        """The file in the folder that the worker gives its trainer for caches; None without one."""
        folder = variables.get("NUMBA_CACHE_DIR", "")
        return cls(Path(folder) / FILE) if folder else None

    def find(self, name: str) -> FittedBatch | None:
        found = self._read().get(name)
        return found if found and 0 <= clock.now_ms() - found.at_ms < KEPT_MS else None

    def record(self, name: str, samples: int, *, recomputes: bool) -> None:
        """Keep a batch that fitted; a file that cannot be written costs the next trial only."""
        kept = self._read()
        kept.pop(name, None)
        kept[name] = FittedBatch(samples=samples, recomputes=recomputes, at_ms=clock.now_ms())
        newest = dict(list(kept.items())[-MOST_KEPT:])
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            files.write_private(self.path, msgspec.json.encode(newest))
        except OSError as err:
            log.warning("cannot keep the batch size", problem=err.strerror)

    def _read(self) -> dict[str, FittedBatch]:
        try:
            return files.read_record(self.path, dict[str, FittedBatch]) or {}
        except (OSError, MalformedError) as err:
            log.warning("the kept batch sizes cannot be read: starting without", problem=str(err))
            return {}


class BatchSize:
    """Samples that go through the network at once on a device; halved when memory runs out.

    Owned by the trainer's thread. It grows only when it begins again. `loss_scale` is for float16,
    also that of another rank, and starts again in every round. Each rank of a cell takes that many
    at once.
    """

    def __init__(self, sequence: int, device: ComputeDevice, cell: Cell = ALONE) -> None:
        self.device, self.sequence, self.cell = device, sequence, cell
        self.recomputes = False
        """True if the network had to recompute its layers, and it cannot go back to storing."""
        self._kept: tuple[FittedBatches, str] | None = None
        self.begin()
        self.start_round()

    def begin(self) -> None:
        """Begin with the largest batch: the device has another memory limit."""
        tokens = _BATCH_TOKENS.get(self.device.handle.type, _GPU_BATCH_TOKENS)
        self.samples = max(tokens // self.sequence, 1)
        self._is_new = False

    def keep_in(self, batches: FittedBatches, name: str) -> None:
        """Begin with what fitted before under this name, and keep there what will fit."""
        self._kept = batches, name
        found = batches.find(name)
        if found is not None:
            self.samples = min(self.samples, found.samples)
            self.recomputes = self.recomputes or found.recomputes

    def start_round(self) -> None:
        """Scale the loss as at the beginning of every round, so that audits repeat it."""
        self.loss_scale = _LOSS_SCALE

    @property
    def tokens(self) -> int:
        return self.samples * self.sequence

    def halve(self) -> bool:
        """Halve the batch; False if it is a single sample."""
        if self.samples == 1:
            return False
        self.samples //= 2
        self._is_new = True
        return True

    def recompute(self) -> None:
        """Record that the network recomputes its layers from now on."""
        self.recomputes = self._is_new = True

    def record_fit(self) -> None:
        """Called after a batch that fitted: what had to be reduced for it is kept."""
        if self._is_new and self._kept is not None:
            batches, name = self._kept
            batches.record(name, self.samples, recomputes=self.recomputes)
        self._is_new = False
