"""Outer algorithms on the trainer's side: from a pseudo-gradient to the bytes of a contribution.

Nothing here needs to be exact: any valid bytes will do. The difference to what was sent is stored
as error feedback, e = decay * e + d - sent, and is sent in later rounds. For DisTrO, d is the
gradient of the round's only step, and e is the momentum.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tequio_client.trainer import engines
from tequio_client.trainer.levels import (
    CONTRIBUTION_UNIT,
    ONE_BIT,
    byte_above,
    fitted_scale,
    nearest_byte,
    nearest_levels,
    scale_value,
)
from tequio_client.trainer.pacing import FULL_PACE, Pacing
from tequio_shared.errors import RefusedError
from tequio_shared.head import contribution
from tequio_shared.head.aggregate import effective_entries
from tequio_shared.head.contribution import SCALES, Records, RecordShape
from tequio_shared.head.layout import CHUNK, TILE, Padding, WeightLayout
from tequio_shared.ids import ZERO_DIGEST, Digest
from tequio_shared.log import merkle
from tequio_shared.round.manifest import Algorithm

LONGEST_FEEDBACK = 150.0
"""Norm of the feedback, in pseudo-gradients, above which a trainer starts from none.

There its rounding to bfloat16 hides a quarter of a pseudo-gradient from an audit, which warns of
it, and convicts at twice that. An entry waits up to 4096 / k rounds, and longer where learning
rates fall, behind larger entries from before: norms of some tens are normal.
"""
_BLOCK = 2_048  # chunks at a time: 32 MiB of float32
_LANE = 256  # the same of a thread


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedBlock:
    """Encoded chunks: records and error feedback, float32 [n, 4096]."""

    payload: bytes
    feedback: Tensor


class OuterAlgorithm(Protocol):
    """An encoding of pseudo-gradients. Rounds know nothing else about an algorithm."""

    @property
    def shape(self) -> RecordShape:
        """The form of its records."""

    keeps_feedback: ClassVar[bool]
    """True if `EncodedBlock.feedback` must be stored for the next round."""
    sends_gradients: ClassVar[bool]
    """True if the pseudo-gradient is the gradient of one step, and no weight moves before it."""

    def encode(self, delta: Tensor, feedback: Tensor) -> EncodedBlock:
        """Encode chunks: pseudo-gradient and last feedback, float32 [n, 4096], padding zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedContribution:
    """A whole payload; `feedback` is bfloat16 bits in flat order, None for an algorithm without it.

    `longer` is the norm of that feedback, in pseudo-gradients; infinity beside a zero one. With
    `starts_over`, the last feedback was left out.
    """

    payload: bytes
    payload_root: Digest
    feedback: NDArray[np.uint16] | None
    feedback_root: Digest
    longer: float
    starts_over: bool = False


def outer_algorithm(algorithm: Algorithm, k: int, feedback_decay: float) -> OuterAlgorithm:
    """The manifest's algorithm with the round's k."""
    shape = RecordShape(algorithm=algorithm.name, k=k, bits=algorithm.bits)
    if algorithm.name == "sparseloco":
        return SparseLoCo(shape=shape, feedback_decay=feedback_decay)
    if algorithm.name == "diloco":
        return DiLoCo(shape=shape)
    return DisTrO(shape=shape, feedback_decay=feedback_decay)


def encode_auditable(
    algorithm: OuterAlgorithm,
    layout: WeightLayout,
    delta: NDArray[np.float32],
    feedback: NDArray[np.uint16] | None,
    threads: int = 1,
    pacing: Pacing = FULL_PACE,
) -> EncodedContribution:
    """Encode as `encode` does, but leave out a feedback that would hide the pseudo-gradient.

    After rounds of larger learning rates, the feedback can be so long beside a few steps that an
    audit could not tell this work from none.
    """
    found = encode(algorithm, layout, delta, feedback, threads=threads, pacing=pacing)
    if feedback is None or found.longer <= LONGEST_FEEDBACK:
        return found
    bare = encode(algorithm, layout, delta, None, threads=threads, pacing=pacing)
    return replace(bare, starts_over=True)


def encode(
    algorithm: OuterAlgorithm,
    layout: WeightLayout,
    delta: NDArray[np.float32],
    feedback: NDArray[np.uint16] | None,
    threads: int = 1,
    pacing: Pacing = FULL_PACE,
) -> EncodedContribution:
    """Encode a pseudo-gradient in flat order; without the last `feedback`, it starts from zero.

    The processor does it, whatever the model is trained on: reading the arrays is most of it, and
    some accelerators have no float64. A large model's SparseLoCo takes `threads` threads.
    """
    if isinstance(algorithm, SparseLoCo) and engines.pays_off("sparseloco", layout):
        return _encode_compiled(algorithm, layout, delta, feedback, threads, pacing)
    left = np.empty(delta.size, np.uint16) if algorithm.keeps_feedback else None
    parts, energy = [], torch.zeros(2, dtype=torch.float64)
    for first in range(0, layout.chunks, _BLOCK):
        pacing.rest()
        stop = min(first + _BLOCK, layout.chunks)
        inside = slice(first * CHUNK, stop * CHUNK)
        moved = torch.from_numpy(delta[inside]).view(-1, CHUNK)
        block = algorithm.encode(moved, _feedback(feedback, inside, moved))
        parts.append(block.payload)
        if left is not None:
            kept = block.feedback
            # Padding reaches no weight: its feedback would only grow from round to round.
            layout.padding(first, stop).blank(kept.numpy().reshape(-1))
            energy += torch.stack([_energy(kept), _energy(moved)])
            left[inside] = kept.bfloat16().view(torch.uint16).numpy().reshape(-1)
    payload = b"".join(parts)
    return EncodedContribution(
        payload=payload,
        payload_root=contribution.payload_root(payload, algorithm.shape),
        feedback=left,
        feedback_root=feedback_root(left),
        longer=_norm_ratio(float(energy[0]), float(energy[1])),
    )


def decode(rows: NDArray[np.uint8], shape: RecordShape, padding: Padding) -> NDArray[np.float32]:
    """Values of records uint8[n, R] at their places, float32 [n * 4096]; DisTrO's coefficients."""
    sent = effective_entries(contribution.decode_records(rows.tobytes(), shape), padding)
    values = np.zeros(len(rows) * CHUNK, np.float32)
    scales = SCALES[sent.scales[sent.positions // CHUNK]] * np.float32(CONTRIBUTION_UNIT)
    values[sent.positions] = sent.levels * scales
    return values


def _encode_compiled(
    algorithm: SparseLoCo,
    layout: WeightLayout,
    delta: NDArray[np.float32],
    feedback: NDArray[np.uint16] | None,
    threads: int,
    pacing: Pacing,
) -> EncodedContribution:
    from tequio_client.trainer import encode_kernels, record_kernels  # noqa: PLC0415 - numba

    shape, left = algorithm.shape, np.empty(delta.size, np.uint16)

    def lane(first: int) -> tuple[NDArray[np.uint8], list[bytes], NDArray[np.float64]]:
        pacing.rest()
        stop = min(first + _LANE, layout.chunks)
        inside = slice(first * CHUNK, stop * CHUNK)
        rows, sums = encode_kernels.encode_chunks(
            shape,
            delta[inside],
            None if feedback is None else feedback[inside],
            algorithm.feedback_decay,
            layout.padding(first, stop),
            left[inside],
        )
        return rows, _feedback_leaves(left[inside]), sums

    with ThreadPoolExecutor(threads) as pool:
        done = list(pool.map(lane, range(0, layout.chunks, _LANE)))
    payload = np.concatenate([rows for rows, _, _ in done]).tobytes()
    if record_kernels.first_broken_record(payload, shape) is not None:
        raise RefusedError("records", "no record can hold these scales, indices or levels")
    kept, moved = np.sum([sums for _, _, sums in done], axis=0)
    return EncodedContribution(
        payload=payload,
        payload_root=contribution.payload_root(payload, shape),
        feedback=left,
        feedback_root=merkle.root_of_hashes([leaf for _, leaves, _ in done for leaf in leaves]),
        longer=_norm_ratio(kept, moved),
    )


def _norm_ratio(kept: float, moved: float) -> float:
    """Norm of the feedback over that of the pseudo-gradient, from their energies."""
    return math.sqrt(kept / moved) if moved else math.inf if kept else 0.0


def feedback_root(feedback: NDArray[np.uint16] | None) -> Digest:
    """Merkle root over the chunks of the error feedback, 8,192 bytes each; zero for none."""
    if feedback is None:
        return ZERO_DIGEST
    return merkle.root_of_hashes(_feedback_leaves(feedback))


def _feedback_leaves(feedback: NDArray[np.uint16]) -> list[bytes]:
    rows = feedback.astype("<u2", copy=False).reshape(-1, CHUNK)
    return [merkle.leaf_hash(row.tobytes()) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseLoCo:
    """The k largest entries of each chunk, as sign and magnitude bits (arXiv 2508.15706)."""

    keeps_feedback: ClassVar[bool] = True
    sends_gradients: ClassVar[bool] = False
    shape: RecordShape
    feedback_decay: float

    def encode(self, delta: Tensor, feedback: Tensor) -> EncodedBlock:
        """Send the largest entries of feedback and pseudo-gradient together."""
        total = feedback * self.feedback_decay + delta
        index = total.abs().topk(self.shape.k, dim=1).indices.sort(dim=1).values
        picked = total.gather(1, index)
        scale = fitted_scale(picked.abs(), self.shape.bits)
        scale_byte = nearest_byte(scale, self.shape.largest_scale)
        step = scale_value(scale_byte)
        levels = nearest_levels(picked, step, self.shape.bits)
        feedback = total.scatter_add_(1, index, -levels * step)
        return EncodedBlock(
            payload=_records(scale_byte, index, levels, self.shape),
            feedback=feedback,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DiLoCo:
    """Every entry as eight bits (arXiv 2311.08105, quantised), without error feedback."""

    keeps_feedback: ClassVar[bool] = False
    sends_gradients: ClassVar[bool] = False
    shape: RecordShape

    def encode(self, delta: Tensor, feedback: Tensor) -> EncodedBlock:
        """Send all entries, the largest of a chunk as level 127 or less."""
        top = self.shape.largest_level
        scale = delta.abs().amax(dim=1, keepdim=True) / top
        scale_byte = byte_above(scale, self.shape.largest_scale)
        step = scale_value(scale_byte)
        levels = (delta / step.clamp(min=CONTRIBUTION_UNIT)).round_().clamp_(-top, top)
        scale_byte = scale_byte * levels.any(dim=1, keepdim=True)
        index = torch.arange(CHUNK).expand(len(delta), CHUNK)
        return EncodedBlock(
            payload=_records(scale_byte, index, levels, self.shape),
            feedback=feedback,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DisTrO:
    """Signs of the k largest DCT coefficients of each tile (DeMo, arXiv 2411.19870).

    The feedback is the momentum: it gains every gradient, and loses the coefficients that are sent,
    whatever their size. So each coefficient waits until it is among the largest.
    """

    keeps_feedback: ClassVar[bool] = True
    sends_gradients: ClassVar[bool] = True
    shape: RecordShape
    feedback_decay: float

    def encode(self, delta: Tensor, feedback: Tensor) -> EncodedBlock:
        """Send the signs of the largest coefficients of momentum and gradient together."""
        total = self.total(delta, feedback)
        coefficients = transform(total)
        index = coefficients.abs().topk(self.shape.k, dim=1).indices.sort(dim=1).values
        picked = coefficients.gather(1, index)
        is_sent = torch.zeros_like(total, dtype=torch.bool).scatter_(1, index, value=True)
        # A tile of zeros, such as the embeddings of tokens that never came, has no signs to send.
        is_live = picked.any(dim=1, keepdim=True)
        return EncodedBlock(
            payload=_records(is_live, index, nearest_levels(picked, picked, ONE_BIT), self.shape),
            feedback=self.rest(total, coefficients, is_sent),
        )

    def total(self, delta: Tensor, feedback: Tensor) -> Tensor:
        """Momentum after this gradient, before sending."""
        return feedback * self.feedback_decay + delta

    @staticmethod
    def rest(total: Tensor, coefficients: Tensor, is_sent: Tensor) -> Tensor:
        """Subtract the coefficients that were sent, bool [n, 4096], from a momentum with these."""
        return total - inverse_transform(coefficients * is_sent)


def transform(tiles: Tensor) -> Tensor:
    """Orthonormal 64 x 64 DCT-II of chunks [n, 4096]: coefficient f * 64 + g of each."""
    basis = torch.from_numpy(_basis()).to(tiles.device, tiles.dtype)
    return (basis @ tiles.view(-1, TILE, TILE) @ basis.T).view(-1, CHUNK)


def inverse_transform(coefficients: Tensor) -> Tensor:
    """Chunks [n, 4096] with these coefficients."""
    basis = torch.from_numpy(_basis()).to(coefficients.device, coefficients.dtype)
    return (basis.T @ coefficients.view(-1, TILE, TILE) @ basis).view(-1, CHUNK)


@cache
def _basis() -> NDArray[np.float64]:
    angle = (2 * np.arange(TILE)[None, :] + 1) * np.arange(TILE)[:, None] * np.pi / (2 * TILE)
    rows: NDArray[np.float64] = np.cos(angle) * np.sqrt(2 / TILE)
    rows[0] = np.sqrt(1 / TILE)
    return rows


def _records(scale_byte: Tensor, index: Tensor, levels: Tensor, shape: RecordShape) -> bytes:
    records = Records(
        scales=scale_byte.reshape(-1).to(torch.uint8).numpy(),
        indices=index.to(torch.int32).numpy().astype(np.uint16),
        levels=levels.to(torch.int8).numpy(),
    )
    return contribution.encode_records(records, shape)


def _feedback(feedback: NDArray[np.uint16] | None, inside: slice, like: Tensor) -> Tensor:
    if feedback is None:
        return torch.zeros_like(like)
    bits = torch.from_numpy(np.ascontiguousarray(feedback[inside]))
    return bits.view(torch.bfloat16).view(-1, CHUNK).to(torch.float32)


def _energy(values: Tensor) -> Tensor:
    return values.square().sum(dtype=torch.float64)
