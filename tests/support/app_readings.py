"""A fixed minute of readings that ends in those of a snapshot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.ipc.facts import AcceleratorFacts
    from tequio_client.ipc.snapshot import Snapshot

SECONDS = 60


def minute(snapshot: Snapshot) -> Iterator[Snapshot]:
    """Snapshots of a minute; the last one is the given one."""
    machine = snapshot.machine
    for second in range(SECONDS - 1):
        gpus = None if machine.gpus is None else tuple(_then(gpu, second) for gpu in machine.gpus)
        others = machine.others_cpu
        if others is not None:
            others = min(1.0, max(0.0, others + 0.09 * abs(math.sin(second / 4.0))))
        free = machine.free_memory_mb
        if free is not None:
            free = round(free * (1 - 0.05 * math.sin(second / 9.0)))
        then = replace(machine, gpus=gpus, others_cpu=others, free_memory_mb=free)
        yield replace(snapshot, machine=then)
    yield snapshot


def _then(gpu: AcceleratorFacts, second: int) -> AcceleratorFacts:
    """The card, that many seconds into a minute in which it began to work."""
    part = min(1.0, second / 14) - 0.04 * abs(math.sin(second / 1.7))
    part = max(part, 0.0)
    return replace(
        gpu,
        load=None if gpu.load is None else gpu.load * part,
        others_load=None
        if gpu.others_load is None
        else min(1.0, gpu.others_load + 0.04 * abs(math.sin(second / 3.1))),
        temperature_c=None
        if gpu.temperature_c is None
        else gpu.temperature_c - 24 * math.exp(-second / 16),
        watts=None if gpu.watts is None else gpu.watts * (0.12 + 0.88 * part),
        free_mb=None
        if gpu.free_mb is None or gpu.memory_mb is None
        else round(gpu.memory_mb - (gpu.memory_mb - gpu.free_mb) * min(1.0, 0.1 + second / 9)),
    )
