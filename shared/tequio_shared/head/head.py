"""The head: the canonical model, and how it moves from round to round with integers only.

A parameter is W * 2^-24 with W an int32. Contributions pass the sign-agreement filter, are clipped
chunk by chunk, weighted with integer multipliers and added as integers; the sum moves W. Every
partial sum stays below 2^53 in every order, so any device that adds integers or binary64 computes
the same bits, and head hashes can be compared. This module is the reference: numpy, whole arrays,
for reading and for auditors. (docs/protocol.md, head)

Shapes: N elements, n = N / 4096 chunks, P members of the accepted set in ascending order of id.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.head.aggregate import (
    COEFFICIENT_SHIFT,
    STEP_SHIFT,
    ContributionEntries,
    down_link,
    effective_entries,
    filter_members,
    inverse_dct,
)
from tequio_shared.head.contribution import (
    KS,
    SCALES,
    Algorithm,
    ContributionHeader,
    Records,
    RecordShape,
    contribution_id,
    decode_records,
)
from tequio_shared.head.layout import CHUNK, NO_PADDING, LayoutKind, Padding, WeightLayout
from tequio_shared.ids import ZERO_DIGEST, ContributionId, Digest, HeadHash, RunId, sha256
from tequio_shared.log import merkle

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHT_UNIT = 2.0**-24
WEIGHT_BYTES = 4
LEAF_BYTES = 1 << 20
"""Chunk of a head in transfer: 262,144 weights, 64 layout chunks."""
_HEAD_PREFIX = b"tequio/v1/head\0"
_INT32 = np.iinfo(np.int32)
_DECAY_SHIFT = 30
_MOMENTUM_SHIFT = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class OuterParams:
    """The manifest's values for one round, with k and the schedule's row resolved.

    `alpha_q` is the outer learning rate in 2^-20 (for distro in weight units), `lambda_q` the
    weight decay per round in 2^-30, `mu_q` the momentum in 2^-15. Raises MalformedError for a
    value outside its range or an incompatible pair.
    """

    algorithm: Algorithm
    layout: LayoutKind
    k: int
    bits: int
    alpha_q: int
    lambda_q: int = 0
    delta: int = 8
    z2: int = 16
    token_cap: int = 1 << 40
    mu_q: int = 0
    down_k: int = 0

    def __post_init__(self) -> None:
        RecordShape(algorithm=self.algorithm, k=self.k, bits=self.bits)
        if (self.layout == "tile64") != (self.algorithm == "distro"):
            raise MalformedError(f"layout {self.layout} cannot be used with {self.algorithm}")
        for name, value, least, most in self._ranges():
            if not least <= value <= most:
                raise MalformedError(f"{name} is {value}, allowed are {least}..{most}")
        if self.down_k and (self.down_k not in KS or self.mu_q or self.algorithm == "distro"):
            raise MalformedError(
                f"down_k {self.down_k} cannot be used with {self.algorithm} or mu_q"
            )

    def _ranges(self) -> tuple[tuple[str, int, int, int], ...]:
        return (
            ("alpha_q", self.alpha_q, 1, 1 << (20 if self.algorithm == "distro" else 22)),
            ("lambda_q", self.lambda_q, 0, (1 << 22) - 1),
            ("delta", self.delta, 0, 200),
            ("z2", self.z2, 0, 1 << 20),
            ("token_cap", self.token_cap, 1, 1 << 40),
            ("mu_q", self.mu_q, 0, 32_440 if self.algorithm == "diloco" else 0),
            ("down_k", self.down_k, 0, 512),
        )

    @property
    def shape(self) -> RecordShape:
        return RecordShape(algorithm=self.algorithm, k=self.k, bits=self.bits)

    @property
    def aux_dtype(self) -> np.dtype[Any] | None:
        """Type of the state beside the weights: the residual, the momentum, or None."""
        return aux_dtype(mu_q=self.mu_q, down_k=self.down_k)


def aux_dtype(*, mu_q: int, down_k: int) -> np.dtype[Any] | None:
    """Type of the state beside the weights in a run with these rules."""
    if down_k:
        return np.dtype("<i8")
    return np.dtype("<i4") if mu_q else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OuterStep:
    """One outer step: from the head `parent`, over the accepted set of `round`, to the next."""

    run_id: RunId
    round: int
    parent: HeadHash
    layout: WeightLayout
    params: OuterParams

    def __post_init__(self) -> None:
        if self.layout.kind != self.params.layout:
            raise RefusedError(
                "layout", f"layout {self.layout.kind} does not fit a run with {self.params.layout}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHead:
    """The head after a step; `kept` are positions in the contributions as given."""

    weights: NDArray[np.int32]
    aux: NDArray[Any] | None
    hash: HeadHash
    weights_root: Digest
    aux_root: Digest
    set_root: Digest
    kept: tuple[int, ...]


def advance(
    step: OuterStep,
    weights: NDArray[np.int32],
    aux: NDArray[Any] | None,
    contributions: Sequence[tuple[bytes, bytes]],
) -> NewHead:
    """Compute the next head from valid (header, payload) pairs, given in any order.

    Weights are int32[N], aux is [N].

    A missing aux means zeros where the run has one. Raises RefusedError for an empty or repeated
    set (a round without contributions is void), MalformedError for a payload of another size.
    """
    params, layout = step.params, step.layout
    # By id, not by arrival: ties in filter and rounding must fall the same way for everybody.
    order = order_by_id([header for header, _ in contributions])
    padding = layout.padding(0, layout.chunks)
    records = [_records(contributions[at][1], step) for at in order]
    members = [effective_entries(one, entry_padding(params, padding)) for one in records]
    kept = filter_members(members, layout.elements, params.z2).kept
    tokens = [ContributionHeader.parse(contributions[order[at]][0]).tokens for at in kept]
    chosen = [members[at] for at in kept]
    clipped = clip_scales(np.stack([one.scales for one in chosen]), params)
    factors = multipliers(tokens, params)
    total = aggregate(params, chosen, clipped, factors, layout.elements)
    move, new_aux = outer_step(params, total, aux_or_zeros(params, aux, layout.elements), padding)
    new_weights = apply_move(weights, move, params.lambda_q, layout.matrix_end)
    roots = weights_root(new_weights), aux_root(new_aux)
    ids = set_root([contribution_id(header) for header, _ in contributions])
    return NewHead(
        weights=new_weights,
        aux=new_aux,
        hash=head_hash(step.run_id, step.round, step.parent, ids, *roots),
        weights_root=roots[0],
        aux_root=roots[1],
        set_root=ids,
        kept=tuple(sorted(order[at] for at in kept)),
    )


def order_by_id(headers: Sequence[bytes]) -> list[int]:
    """Positions of the headers by ascending contribution id, which numbers the members.

    Raises RefusedError for an empty set or a repeated header.
    """
    ids = [contribution_id(header) for header in headers]
    if not ids or len(set(ids)) < len(ids):
        raise RefusedError("set", f"{len(ids)} contributions, {len(set(ids))} of them distinct")
    return sorted(range(len(ids)), key=ids.__getitem__)


def _records(payload: bytes, step: OuterStep) -> Records:
    shape = step.params.shape
    if len(payload) != step.layout.chunks * shape.record_bytes:
        raise MalformedError(
            f"payload of {len(payload)} bytes, expected {step.layout.chunks * shape.record_bytes}"
        )
    return decode_records(payload, shape)


def entry_padding(params: OuterParams, padding: Padding) -> Padding:
    """Positions whose entries are ignored: none for distro, whose entries are coefficients."""
    return NO_PADDING if params.algorithm == "distro" else padding


def clip_scales(scales: NDArray[np.uint8], params: OuterParams) -> NDArray[np.uint8]:
    """Limit scale bytes uint8[P, n] to each chunk's lower median plus delta.

    The norm of an update is the one thing that the sign filter does not see: here a single member
    is bounded by what half of the others use. A chunk that more than half left empty does not move.
    Distro has no scales, and is not clipped.
    """
    if params.algorithm == "distro":
        return scales
    median = np.sort(scales, axis=0)[(len(scales) - 1) // 2].astype(np.int64)
    limit = np.where(median > 0, np.minimum(median + params.delta, params.shape.largest_scale), 0)
    return np.minimum(scales, limit.astype(np.uint8))


def multipliers(tokens: Sequence[int], params: OuterParams) -> list[int]:
    """Weights of the members, in 2^-20 with the outer learning rate; their sum is at most alpha_q.

    For distro every sign counts the same: 2^16.
    """
    if params.algorithm == "distro":
        return [1 << COEFFICIENT_SHIFT] * len(tokens)
    capped = [min(count, params.token_cap) for count in tokens]
    return [params.alpha_q * count // sum(capped) for count in capped]


def aggregate(
    params: OuterParams,
    members: Sequence[ContributionEntries],
    clipped: NDArray[np.uint8],
    factors: Sequence[int],
    elements: int,
) -> NDArray[np.int64]:
    """Sum all entries, weighted: int64[N] in units of 2^-52 (distro: DCT coefficients)."""
    total = np.zeros(elements, np.int64)
    for member, scales, factor in zip(members, clipped, factors, strict=True):
        value = factor * scale_values(params)[scales]
        # Integers only: floating-point sums depend on the order, and then on the device.
        total[member.positions] += member.levels * value[member.positions // CHUNK]
    return total


def scale_values(params: OuterParams) -> NDArray[np.int64]:
    """Table of scale values; for distro it only tells empty chunks from others."""
    return np.array([0, 1], np.int64) if params.algorithm == "distro" else SCALES


def outer_step(
    params: OuterParams, aggregated: NDArray[np.int64], aux: NDArray[Any] | None, padding: Padding
) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
    """Derive the move of the weights besides decay, int64[N] in weight units, and the next aux."""
    if params.algorithm == "distro":
        move = params.alpha_q * np.sign(inverse_dct(aggregated.reshape(-1, CHUNK)).reshape(-1))
        padding.blank(move)
        return move, None
    if params.down_k and aux is not None:
        link = down_link(aux, aggregated, params.down_k)
        return link.step, link.residual
    move = (aggregated + (1 << (STEP_SHIFT - 1))) >> STEP_SHIFT
    if params.mu_q and aux is not None:
        velocity = saturate(_slowed(aux, params.mu_q) + move)
        return move + _slowed(velocity, params.mu_q), velocity
    return move, None


def _slowed(velocity: NDArray[np.int32], mu_q: int) -> NDArray[np.int64]:
    """Momentum times mu, rounded half up."""
    half = 1 << (_MOMENTUM_SHIFT - 1)
    return (velocity.astype(np.int64) * mu_q + half) >> _MOMENTUM_SHIFT


def apply_move(
    weights: NDArray[np.int32], move: NDArray[np.int64], lambda_q: int, matrix_end: int
) -> NDArray[np.int32]:
    """Apply decay (to the matrix part) and the move to weights int32[N], limited to int32."""
    wide = weights.astype(np.int64)
    matrix = wide[:matrix_end]
    matrix -= (matrix * lambda_q + (1 << (_DECAY_SHIFT - 1))) >> _DECAY_SHIFT
    return saturate(wide - move)


def saturate(values: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.clip(values, _INT32.min, _INT32.max).astype(np.int32)


def aux_or_zeros(
    params: OuterParams, aux: NDArray[Any] | None, elements: int
) -> NDArray[Any] | None:
    """Check the aux [N], or start it with zeros; raises RefusedError for an unexpected one."""
    if params.aux_dtype is None:
        if aux is not None:
            raise RefusedError("aux", "this run has no state beside the weights")
        return None
    return np.zeros(elements, params.aux_dtype) if aux is None else aux


def quantise(values: NDArray[Any]) -> NDArray[np.int32]:
    """First weights from float16, float32 or float64: nearest multiple of 2^-24, ties to even.

    Raises RefusedError for NaN, infinity, or anything outside +-128. Widen bfloat16 to float32.
    """
    rounded = np.rint(np.asarray(values, np.float64) * 2.0**24)
    # NaN fails both comparisons, so it is refused as well.
    if not ((rounded >= _INT32.min) & (rounded <= _INT32.max)).all():
        raise RefusedError("weights", "a weight is not finite or is outside +-128")
    return rounded.astype(np.int32)


def weights_root(weights: NDArray[Any]) -> Digest:
    """Root of the RFC 6962 tree over an array's little-endian bytes in chunks of 1 MiB."""
    plain = np.ascontiguousarray(weights, weights.dtype.newbyteorder("<"))
    view = plain.reshape(-1).view(np.uint8).data
    leaves = (view[at : at + LEAF_BYTES] for at in range(0, len(view), LEAF_BYTES))
    return merkle.root_of_hashes([merkle.leaf_hash(bytes(leaf)) for leaf in leaves])


def aux_root(aux: NDArray[Any] | None) -> Digest:
    """Root of the same tree over residual or momentum; 32 zero bytes without either."""
    return ZERO_DIGEST if aux is None else weights_root(aux)


def set_root(ids: Sequence[ContributionId]) -> Digest:
    """Root over the ascending ids of an accepted set, before the filter."""
    return merkle.root(sorted(ids))


def head_hash(
    run_id: RunId,
    round_number: int,
    parent: HeadHash,
    set_root: Digest,
    weights_root: Digest,
    aux_root: Digest,
) -> HeadHash:
    """Hash of a head; head 0 has round 0, 32 zero bytes as parent and the root of no ids."""
    parts = (run_id, struct.pack("<Q", round_number), parent, set_root, weights_root, aux_root)
    return HeadHash(sha256(_HEAD_PREFIX, *parts))
