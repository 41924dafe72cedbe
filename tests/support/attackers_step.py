"""Accepted members of a round, honest and hostile, for the outer step: real bytes, no labels.

Honest updates share one direction, each with its own noise; hostile ones are made from an honest
one's records by a function of this module.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tequio_client.trainer.head import ComputedHead, HeadFiles, compute_next_head
from tequio_client.trainer.kernels import CompiledEngine
from tequio_shared.head.contribution import (
    ALGORITHM_CODES,
    ContributionHeader,
    Records,
    RecordShape,
    encode_records,
    payload_root,
)
from tequio_shared.head.head import NewHead, OuterParams, OuterStep, advance
from tequio_shared.head.layout import CHUNK, WeightLayout
from tequio_shared.ids import ZERO_DIGEST, HeadHash, PeerKey, RunId, sha256

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

SHAPE = RecordShape(algorithm="sparseloco", k=64, bits=2)
LAYOUT = WeightLayout.of((("a", (128, 96)), ("b", (64, 64))), "flat")
TOKENS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """A round's accepted contributions (header, payload), the weights before it, and its rules."""

    weights: NDArray[np.int32]
    members: tuple[tuple[bytes, bytes], ...]
    params: OuterParams

    def reference(self) -> NewHead:
        """The next head as the specification's own code computes it."""
        return advance(self._step(), self.weights, None, list(self.members))

    def live(self, folder: Path) -> tuple[ComputedHead, NDArray[np.int32]]:
        """The next head as a trainer computes it, through files, and its weights."""
        self.weights.tofile(folder / "in")
        placed = []
        for at, (header, payload) in enumerate(self.members):
            (folder / f"payload {at}").write_bytes(payload)
            placed.append((header, folder / f"payload {at}"))
        files = HeadFiles(
            weights_in=folder / "in", weights_out=folder / "out", aux_in=None, aux_out=None
        )
        made = compute_next_head(
            step=self._step(),
            contributions=placed,
            files=files,
            engine=CompiledEngine(self.params),
            threads=1,
        )
        return made, np.fromfile(folder / "out", np.int32)

    def _step(self) -> OuterStep:
        return OuterStep(
            run_id=RunId(ZERO_DIGEST),
            round=1,
            parent=HeadHash(ZERO_DIGEST),
            layout=LAYOUT,
            params=self.params,
        )


def cohort(
    seed: int,
    honest: int,
    *hostile: Callable[[Records], Records],
    z2: int = 16,
    tokens: int = TOKENS,
) -> Cohort:
    """A round with `honest` honest members, and one member for each hostile change."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal((LAYOUT.chunks, CHUNK))
    plain = [_honest(rng, direction) for _ in range(honest)]
    theirs = [change(_honest(rng, direction)) for change in hostile]
    return Cohort(
        weights=np.zeros(LAYOUT.elements, np.int32),
        members=tuple(
            _member(at, records, TOKENS if at < honest else tokens)
            for at, records in enumerate([*plain, *theirs])
        ),
        params=OuterParams(
            algorithm="sparseloco", layout="flat", k=64, bits=2, alpha_q=1 << 20, z2=z2
        ),
    )


def flipped(records: Records) -> Records:
    """Flip all signs."""
    return replace(records, levels=-records.levels)


def loudest(records: Records) -> Records:
    """Set the largest scale and level of the format in every chunk."""
    return replace(
        records,
        scales=np.full_like(records.scales, 200),
        levels=(3 * np.sign(records.levels)).astype(np.int8),
    )


def flipped_and_tripled(records: Records) -> Records:
    """Flip all signs, at about three times the size (8 steps of the scale double it)."""
    loud = replace(records, scales=(records.scales + 13).astype(np.uint8))
    return flipped(loud)


def _honest(rng: np.random.Generator, direction: NDArray[np.float64]) -> Records:
    own = direction + rng.standard_normal(direction.shape)
    index = np.sort(np.argsort(-np.abs(own), axis=1)[:, : SHAPE.k], axis=1)
    signs = np.sign(np.take_along_axis(own, index, axis=1))
    return Records(
        scales=rng.integers(98, 103, len(own), np.uint8),
        indices=index.astype(np.uint16),
        levels=(2 * signs).astype(np.int8),
    )


def _member(number: int, records: Records, tokens: int) -> tuple[bytes, bytes]:
    payload = encode_records(records, SHAPE)
    header = ContributionHeader(
        algorithm=ALGORITHM_CODES[SHAPE.algorithm],
        bits=SHAPE.bits,
        k=SHAPE.k,
        inner_steps=1,
        chunk_count=LAYOUT.chunks,
        round=1,
        window_first=0,
        window_count=1,
        tokens=tokens,
        run_id=RunId(ZERO_DIGEST),
        base_head=HeadHash(ZERO_DIGEST),
        trainer=PeerKey(sha256(b"member", bytes([number]))),
        payload_root=payload_root(payload, SHAPE),
    )
    return header.pack(), payload
