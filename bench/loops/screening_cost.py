"""Cost of screening: processor time and memory for 100M parameters and 16 contributions.

The kernels are compiled, and loaded, before the clock starts.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from loops import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tequio_client.trainer.screen import ScreenedCandidate
    from tequio_shared.head.contribution import RecordShape

PARAMETERS = 100_000_000
CONTRIBUTIONS = 16
LEANING = 0.8
"""Probability that a sign agrees with the majority."""
CASES = (("sparseloco", 64, 2), ("sparseloco", 256, 2))


def measure() -> list[dict[str, object]]:
    """Screen random contributions, each case in its own process."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return [pool.apply(_case, case) for case in CASES]


def table_of(cost: Sequence[Mapping[str, object]]) -> str:
    """The cases as a table."""
    columns = ("records", "payload, MB", "byte rules, s", "all of it, s", "memory, MB")
    names = ("payload_mb", "rules_s", "seconds", "memory_mb")
    rows = [[str(one["case"]), *(f"{one[name]:.1f}" for name in names)] for one in cost]
    return table.markdown(columns, rows)


def _case(algorithm: str, k: int, bits: int) -> dict[str, object]:
    from loops import repository  # noqa: F401 - finds the tests' laboratory
    from tequio_client.trainer import screen
    from tequio_shared.head.contribution import RecordShape
    from tequio_shared.head.layout import CHUNK, WeightLayout

    shape = RecordShape(algorithm=algorithm, k=k, bits=bits)  # type: ignore[arg-type]
    chunks = PARAMETERS // CHUNK
    layout = WeightLayout.of([("weights", (chunks, CHUNK))], "flat")
    own = np.random.default_rng(0).normal(0, 1e-3, layout.elements).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        candidates = [candidate(Path(folder), slot, chunks, shape) for slot in range(CONTRIBUTIONS)]
        witness = screen.WitnessContext(
            layout=layout,
            steps=20,
            rng=np.random.default_rng(1),
            past=[(one.header, one.payload) for one in candidates],
            own_delta=own,
            own_slot=0,
        )
        screen.screen(candidates[:2], witness)
        begun = time.process_time()
        if any(screen.broken_rule(one, layout) for one in candidates):
            raise AssertionError("a random contribution is invalid")
        rules_s = time.process_time() - begun
        before_mb = _peak_mb(from_now=True)
        begun = time.process_time()
        screen.screen(candidates, witness)
        return {
            "case": f"{algorithm} k {k} {bits} bits",
            "payload_mb": chunks * shape.record_bytes / 1e6,
            "rules_s": rules_s,
            "seconds": time.process_time() - begun,
            "memory_mb": float(_peak_mb(from_now=False) - before_mb),
        }


def candidate(folder: Path, slot: int, chunks: int, shape: RecordShape) -> ScreenedCandidate:
    """A random contribution: evenly spaced positions with random shifts.

    As in training, members agree about the sign of most positions.
    """
    from tests.support.training_lab import key_of

    from tequio_client.trainer import screen
    from tequio_shared.head.contribution import (
        ALGORITHM_CODES,
        LEVELS,
        ContributionHeader,
        ExpectedContribution,
        Records,
        WindowAssignment,
        encode_records,
        payload_seal,
    )
    from tequio_shared.head.contribution import payload_root as root_of
    from tequio_shared.ids import ZERO_DIGEST, HeadHash, RunId

    chance, k = np.random.default_rng(slot), shape.k
    gap = 4096 // k
    indices = (np.arange(k) * gap + chance.integers(0, gap, (chunks, k))).astype(np.uint16)
    signs = np.random.default_rng(CONTRIBUTIONS).choice([-1, 1], 4096)[indices]
    signs[chance.random((chunks, k)) >= LEANING] *= -1
    levels = (np.abs(chance.choice(LEVELS[shape.bits], (chunks, k))) * signs).astype(np.int8)
    scales = chance.integers(80, 120, chunks).astype(np.uint8)
    payload = encode_records(Records(scales=scales, indices=indices, levels=levels), shape)
    path = folder / str(slot)
    path.write_bytes(payload)
    header = ContributionHeader(
        algorithm=ALGORITHM_CODES[shape.algorithm],
        bits=shape.bits,
        k=k,
        inner_steps=20,
        chunk_count=chunks,
        round=1,
        window_first=slot,
        window_count=1,
        tokens=1,
        run_id=RunId(ZERO_DIGEST),
        base_head=HeadHash(ZERO_DIGEST),
        trainer=key_of(slot),
        payload_root=root_of(payload, shape),
    )
    expected = ExpectedContribution(
        shape=shape,
        chunks=chunks,
        run_id=RunId(ZERO_DIGEST),
        round=1,
        base_head=HeadHash(ZERO_DIGEST),
        assigned={key_of(slot): WindowAssignment(first=slot, count=1)},
        window_tokens=1,
        max_inner_steps=20,
    )
    return screen.ScreenedCandidate(
        slot=slot,
        header=header.pack(),
        seal=payload_seal(header.trainer, [payload]),
        payload=path,
        expected=expected,
    )


def _peak_mb(*, from_now: bool) -> int:
    """Peak resident memory so far, or from now on (Linux)."""
    if from_now:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM"))
