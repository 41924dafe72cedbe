"""Audits: a contribution against a repetition of its training.

The optimiser starts from zero in every round, so head, windows, steps and the trainer's key give
the pseudo-gradient d', up to the rounding of another device. What the trainer claims for its own is
in its contribution: with the error feedback before (e) and after (f) sending, opened in a sample of
chunks, it claims d = sent + f - decay * e. The trainer committed to sent and f in its header and to
e in an earlier one, before anyone could know the sample; so it cannot choose them to fit d'.

- `hidden`, `other`: |d - d'| / |d'|, in the hidden matrices and in all other tensors. This is the
  audit: every work not done shows here, whatever was sent.
- `rounding`: the part of d' that disappears when f is rounded to bfloat16, over |d'|. Beside a
  feedback hundreds of times as long as the update, the update itself would disappear, and any claim
  would fit.
- `leaves`: how much more was kept back than the encoding of sent + f keeps back, by energy, over
  what that encoding sends. An update that was scaled or turned around can be explained by a
  feedback that fits it, but is then not the encoding of the two together.
- `positions`, `signs`, `values`: sent against the encoding of decay * e + d'. Follows from the
  others; for people.
- `cosine`: of the payload with d', for leaves that were withheld.

DisTrO sends signs of DCT coefficients and no values. Its sent coefficients are zero in f, so they
claim nothing: `hidden`, `other` and `rounding` compare all other coefficients, and |d'| is that of
those. Signs move every chunk alike, however small its gradient. So these three are root mean
squares over the chunks, each relative to itself or to the group's median chunk. What was sent shows
in `leaves` alone: the energy of decay * e + d' at coefficients that should have been sent less that
at those that were, where a wrong sign counts as negative.

Differences are relative L2 norms; otherwise, in the first three, |d'| is at least that of as many
mean chunks.
docs/auditing.md has the measurements.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tequio_client.ipc.trainer import Audit, EarlierSketch, MeasuredFigures
from tequio_client.trainer import codecs, prepared, screen
from tequio_client.trainer.codecs import DisTrO, OuterAlgorithm
from tequio_client.trainer.inner import StepPlan
from tequio_client.trainer.pacing import FULL_PACE, Pacing
from tequio_shared.errors import UserFacingError
from tequio_shared.head.contribution import ContributionHeader, RecordShape
from tequio_shared.head.layout import CHUNK, NO_PADDING, Padding, WeightLayout
from tequio_shared.ids import from_text
from tequio_shared.limits import MOST_DIFFERENCE, SKETCH_NUMBERS

SKETCH_UNIT = 4_096
"""A sketch's number of one norm. Numbers are about normal: eight norms never occur."""
_SKETCH_PREFIX = b"tequio/v1/audit-sketch\0"
_I16_MOST = 2**15 - 1
_E4 = 10_000
_BLOCK = 2_048  # chunks at a time, as in the codecs
_MOST_FEEDBACK = 2.0**16
_POLL_S = 0.1
"""No element of an honest feedback comes near it: weights are within +-128."""


def repeated_plan(header: ContributionHeader, assigned: Sequence[tuple[int, int]]) -> StepPlan:
    """The steps that a header states: its number of windows, from the first assigned one on."""
    windows = StepPlan.from_ranges(assigned, 1).windows[: header.window_count]
    return StepPlan(windows=windows, steps=min(header.inner_steps, len(windows)))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedLeaves:
    """Error feedback in sampled chunks, bfloat16 bits uint16[m, 4096]: before and after sending.

    `before` is None for a feedback that started from zero, `after` where none was opened.
    """

    chunks: NDArray[np.int64]
    before: NDArray[np.uint16] | None
    after: NDArray[np.uint16] | None

    @classmethod
    def read(
        cls,
        chunks: Sequence[int],
        layout: WeightLayout,
        before: str | None,
        after: str | None,
    ) -> OpenedLeaves:
        """Map the files; raises UserFacingError for another size or an impossible sample."""
        numbers = np.array(chunks, np.int64)
        if (np.diff(numbers) <= 0).any() or not 0 <= numbers[0] <= numbers[-1] < layout.chunks:
            raise UserFacingError(
                f"the sampled chunks must ascend and be below {layout.chunks}, the model's number"
            )
        return cls(
            chunks=numbers,
            before=_leaves(before, len(chunks), "before sending"),
            after=_leaves(after, len(chunks), "after sending"),
        )

    @property
    def are_possible(self) -> bool:
        """False if a leaf has NaN, infinities or numbers that no feedback reaches."""
        there = [_floats(bits) for bits in (self.before, self.after) if bits is not None]
        return all(bool((one.abs() <= _MOST_FEEDBACK).all()) for one in there)


def opened_files(task: Audit, check: Callable[[], None]) -> tuple[str | None, str | None]:
    """Wait for the opened leaves; returns their files before and after sending, as far as opened.

    They come while the audit trains. The worker limits the wait: `check` ends it with the task.
    """
    if task.opened is None:
        return task.feedback_in, task.feedback_out
    opened = Path(task.opened)
    while not opened.exists():
        check()
        time.sleep(_POLL_S)
    return (task.feedback_in, task.feedback_out) if opened.stat().st_size else (None, None)


def _leaves(path: str | None, chunks: int, when: str) -> NDArray[np.uint16] | None:
    if path is None:
        return None
    try:
        return prepared.map_array(Path(path), "<u2", chunks * CHUNK).reshape(chunks, CHUNK)
    except (OSError, ValueError) as err:
        raise UserFacingError(f"cannot use the opened feedback {when}: {err}") from err


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedModel:
    """The model's side of an audit; `hidden` names its hidden matrices."""

    layout: WeightLayout
    hidden: Collection[str]
    algorithm: OuterAlgorithm
    threads: int = 1
    pacing: Pacing = FULL_PACE


def measure(
    model: AuditedModel,
    delta: NDArray[np.float32],
    payload: NDArray[np.uint8],
    leaves: OpenedLeaves,
) -> MeasuredFigures:
    """Compare a valid payload and its opened leaves with the repeated `delta`, in flat order.

    Costs one pass over payload and delta for the cosine, and one for energies; the rest is limited
    to the sample.
    """
    shape, layout = model.algorithm.shape, model.layout
    rows = shape.rows(payload)
    with ThreadPoolExecutor(model.threads) as pool:
        cosine = screen.read_payloads([rows], shape, layout, delta, pool, model.pacing)[0].cosine
    figures = MeasuredFigures(cosine=None if cosine is None else round(cosine * _E4))
    if leaves.after is None and model.algorithm.keeps_feedback:
        return figures
    if not leaves.are_possible:
        # They would make NaN of every figure, and a NaN exceeds no limit.
        return msgspec.structs.replace(figures, hidden=MOST_DIFFERENCE, other=MOST_DIFFERENCE)
    sample = _Sample.read(model, delta, rows, leaves)
    is_hidden = hidden_chunks(layout, model.hidden)
    energies = _energies(model, delta, rows)
    share = _mean_share if isinstance(model.algorithm, DisTrO) else _share_of_group
    missing = sample.claimed - sample.repeated
    return MeasuredFigures(
        hidden=share(missing, energies, is_hidden, leaves.chunks),
        other=share(missing, energies, ~is_hidden, leaves.chunks),
        rounding=share(sample.rounding, energies, np.ones_like(is_hidden), leaves.chunks),
        positions=_share((sample.sent != 0) & (sample.own != 0), sample.sent != 0),
        signs=_share(sample.sent * sample.own > 0, (sample.sent != 0) & (sample.own != 0)),
        values=_units(math.sqrt(_energy(sample.sent - sample.own)), math.sqrt(_energy(sample.own))),
        leaves=sample.held_back,
        cosine=figures.cosine,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """The sampled chunks, float32 [m, 4096] each, padding zero.

    `claimed` and `repeated` pseudo-gradient; `rounding` of the feedback; `sent`; `own`, what the
    repeated training would send. `held_back` is the figure `leaves`.
    """

    claimed: Tensor
    repeated: Tensor
    rounding: Tensor
    sent: Tensor
    own: Tensor
    held_back: int

    @classmethod
    def read(
        cls,
        model: AuditedModel,
        delta: NDArray[np.float32],
        rows: NDArray[np.uint8],
        leaves: OpenedLeaves,
    ) -> _Sample:
        algorithm = model.algorithm
        padding = _padding(model.layout, leaves.chunks)
        repeated = torch.from_numpy(delta.reshape(-1, CHUNK)[leaves.chunks])
        sent = _dense(rows[leaves.chunks], algorithm.shape, padding)
        nothing = torch.zeros_like(repeated)
        before, after = (
            nothing if bits is None else _floats(bits) for bits in (leaves.before, leaves.after)
        )
        block = algorithm.encode(repeated, before)
        own = _dense(algorithm.shape.rows(block.payload), algorithm.shape, padding)
        if isinstance(algorithm, DisTrO):
            total = algorithm.total(repeated, before)
            coefficients = codecs.transform(total)
            kept = _blanked(algorithm.rest(total, coefficients, sent != 0), padding)
            rounded = kept.bfloat16().float()
            return cls(
                claimed=repeated + (after - rounded),
                repeated=repeated,
                rounding=kept - rounded,
                sent=sent,
                own=own,
                held_back=_held_back_by_signs(coefficients, sent, own),
            )
        if not algorithm.keeps_feedback:  # all that was claimed was sent
            return cls(
                claimed=repeated + (sent - own),
                repeated=repeated,
                rounding=nothing,
                sent=sent,
                own=own,
                held_back=0,
            )
        # What the repeated training would have kept back after the same sending. In this order an
        # equal payload leaves exactly the codec's own feedback, and rounding it as the trainer did
        # makes equal training equal to the last bit: the leaves' rounding then counts for nothing.
        kept = _blanked(block.feedback + (own - sent), padding)
        rounded = kept.bfloat16().float()
        encoded = algorithm.encode(after + sent, nothing)
        honest = _dense(algorithm.shape.rows(encoded.payload), algorithm.shape, padding)
        # Energies, not the distance of sent from `honest`: of two places of nearly equal size,
        # rounding decides which is sent, and such a swap must not count.
        more = _energy(after) - _energy(_blanked(encoded.feedback, padding))
        return cls(
            claimed=repeated + (after - rounded),
            repeated=repeated,
            rounding=kept - rounded,
            sent=sent,
            own=own,
            held_back=_units(math.sqrt(max(more, 0.0)), math.sqrt(_energy(honest))),
        )


def _blanked(values: Tensor, padding: Padding) -> Tensor:
    padding.blank(values.numpy().reshape(-1))
    return values


def _held_back_by_signs(coefficients: Tensor, sent: Tensor, own: Tensor) -> int:
    """Energy that the sent signs miss of what their own encoding sends, as a norm over that."""
    signed = coefficients.double() * coefficients.abs()
    due = float((signed * own.sign()).sum())
    more = due - float((signed * sent.sign()).sum())
    return _units(math.sqrt(max(more, 0.0)), math.sqrt(due))


def hidden_chunks(layout: WeightLayout, hidden: Collection[str]) -> NDArray[np.bool_]:
    """True for each chunk of a hidden matrix; a matrix has its chunks for itself."""
    found = np.zeros(layout.chunks, np.bool_)
    starts = [one.offset // CHUNK for one in layout.placements if one.is_matrix]
    ends = [*sorted(starts)[1:], layout.matrix_end // CHUNK]
    matrices = sorted((one for one in layout.placements if one.is_matrix), key=lambda o: o.offset)
    for placement, end in zip(matrices, ends, strict=True):
        found[placement.offset // CHUNK : end] = placement.name in hidden
    return found


def _padding(layout: WeightLayout, chunks: NDArray[np.int64]) -> Padding:
    """Padding of any ascending chunks, as if they were a run."""
    _, mine, theirs = np.intersect1d(chunks, layout.padded_chunks, return_indices=True)
    bits = np.unpackbits(layout.padding_bits[theirs], axis=1, bitorder="little")
    return Padding(chunks=mine.astype(np.int64), masks=bits.view(np.bool_))


def _dense(rows: NDArray[np.uint8], shape: RecordShape, padding: Padding) -> Tensor:
    """Values of records uint8[m, R] at their places; for DisTrO, its coefficients."""
    where = NO_PADDING if shape.algorithm == "distro" else padding
    return torch.from_numpy(codecs.decode(rows, shape, where)).view(-1, CHUNK)


def _floats(bits: NDArray[np.uint16]) -> Tensor:
    return torch.from_numpy(np.array(bits, np.uint16)).view(torch.bfloat16).to(torch.float32)


def _energies(
    model: AuditedModel, delta: NDArray[np.float32], rows: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Energy of each chunk, float64 [n]; for DisTrO, without the coefficients that were sent."""
    deltas, found = delta.reshape(-1, CHUNK), []
    for first in range(0, len(deltas), _BLOCK):
        model.pacing.rest()
        block = deltas[first : first + _BLOCK]
        if isinstance(model.algorithm, DisTrO):
            sent = _dense(rows[first : first + _BLOCK], model.algorithm.shape, NO_PADDING)
            coefficients = codecs.transform(torch.from_numpy(np.array(block)))
            block = coefficients.masked_fill_(sent != 0, 0.0).numpy()
        found.append(np.square(block, dtype=np.float64).sum(axis=1))
    return np.concatenate(found)


def _share_of_group(
    part: Tensor,
    energies: NDArray[np.float64],
    among: NDArray[np.bool_],
    chunks: NDArray[np.int64],
) -> int | None:
    """Relative L2 norm in the sampled chunks of a group, in 1/10000; None without any."""
    there = among[chunks]
    if not there.any():
        return None
    # A few chunks that hardly moved, such as embeddings of rare tokens, are all rounding: they are
    # compared with the group's mean chunk.
    mean = float(energies[among].mean()) * int(there.sum())
    whole = max(float(energies[chunks][there].sum()), mean)
    return _units(math.sqrt(_energy(part[torch.from_numpy(there)])), math.sqrt(whole))


def _mean_share(
    part: Tensor,
    energies: NDArray[np.float64],
    among: NDArray[np.bool_],
    chunks: NDArray[np.int64],
) -> int | None:
    """Root mean square of the chunks' relative L2 norms, in 1/10000; None without any."""
    there = among[chunks]
    if not there.any():
        return None
    # Gradients of some chunks are a thousandth of others', and all rounding.
    moved = energies[among & (energies > 0)]
    usual = float(np.median(moved)) if len(moved) else 0.0
    parts = part[torch.from_numpy(there)].double().square().sum(dim=1).numpy()
    wholes = np.maximum(energies[chunks][there], usual)
    if not wholes.all():
        return MOST_DIFFERENCE if parts.any() else 0
    return _units(math.sqrt(float((parts / wholes).mean())), 1.0)


def _energy(values: Tensor) -> float:
    return float(values.double().square().sum())


def _units(size: float, unit: float) -> int:
    """A ratio in 1/10000, at most `MOST_DIFFERENCE`: what should be zero may not be."""
    if size == 0:
        return 0
    return round(min(size / unit * _E4, MOST_DIFFERENCE)) if unit else MOST_DIFFERENCE


def _share(part: Tensor, whole: Tensor) -> int | None:
    count = int(whole.sum())
    return round(int(part.sum()) / count * _E4) if count else None


# --- sketches ------------------------------------------------------------------------------------


def sketch(
    delta: NDArray[np.float32],
    seed: bytes,
    *,
    has_unit_chunks: bool = False,
    pacing: Pacing = FULL_PACE,
) -> tuple[int, ...]:
    """Project a pseudo-gradient in flat order on 64 seeded directions, in 1/4096 of its norm.

    Direction j has the sign t[i, j] u[c, j] at position i of chunk c. SHAKE-256 of the seed gives
    64 bits for each position 0..4095, then for each chunk, least significant first; 1 is minus. So
    a sketch costs one product with a matrix of 64 columns. Rounding aside, all machines agree, and
    two sketches are as far apart as their pseudo-gradients are (Achlioptas 2003).

    With `has_unit_chunks`, each chunk counts as if its norm were 1: a few chunks have most of a
    gradient's energy, and there all gradients are alike.
    """
    rows = delta.reshape(-1, CHUNK)
    size = SKETCH_NUMBERS // 8
    raw = hashlib.shake_256(_SKETCH_PREFIX + seed).digest((CHUNK + len(rows)) * size)
    within, across = _signs(raw[: CHUNK * size]), raw[CHUNK * size :]
    total, square = np.zeros(SKETCH_NUMBERS), 0.0
    for first in range(0, len(rows), _BLOCK):
        pacing.rest()
        stop = min(first + _BLOCK, len(rows))
        block = np.ascontiguousarray(rows[first:stop])
        if has_unit_chunks:
            norms = np.linalg.norm(block, axis=1, keepdims=True)
            block = np.divide(block, norms, out=np.zeros_like(block), where=norms > 0)
        products = (block @ within) * _signs(across[first * size : stop * size])
        total += products.sum(axis=0, dtype=np.float64)
        square += float(np.vdot(block, block))
    scaled = np.rint(total / math.sqrt(square) * SKETCH_UNIT) if square else total
    return tuple(int(one) for one in np.clip(scaled, -_I16_MOST - 1, _I16_MOST))


def _signs(raw: bytes) -> NDArray[np.float32]:
    """+1 or -1 for each bit, float32 [rows, 64]."""
    bits = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")
    return (1 - 2 * bits.astype(np.float32)).reshape(-1, SKETCH_NUMBERS)


def check_sketches(
    delta: NDArray[np.float32],
    earlier: Iterable[EarlierSketch],
    *,
    has_unit_chunks: bool = False,
    pacing: Pacing = FULL_PACE,
) -> tuple[int, ...]:
    """Cosine, in 1/10000, of each earlier sketch with that of `delta` from the same seed."""
    found = []
    for one in earlier:
        own = sketch(delta, from_text(one.seed), has_unit_chunks=has_unit_chunks, pacing=pacing)
        found.append(max(min(sketch_cosine(own, one.sketch), _E4), -_E4))
    return tuple(found)


def sketch_cosine(one: Sequence[int], other: Sequence[int]) -> int:
    """Cosine of two sketches in 1/10000, rounded down; 0 if one is zero. All in integers."""
    product = sum(a * b for a, b in zip(one, other, strict=True))
    squares = sum(a * a for a in one) * sum(b * b for b in other)
    return product * _E4 // math.isqrt(squares) if squares else 0
