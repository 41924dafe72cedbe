"""Screening: what a witness measures about contributions, from their bytes and its own work alone.

First come the rules of validity; a broken one is the reason. Valid contributions are measured:

- `copy`: the share of positions in common with an earlier contribution, of this round or accepted
  in one of the last, and the share of equal signs there;
- `norm`: the length against the median of the round, for the inner steps that were done;
- `cosine`: the direction, chunk by chunk, against the witness's own pseudo-gradient from the same
  head; for a witness without one, the share of signs equal to the others'.

Claims in a header never help their author. Thresholds have a factor of about two or more to what
real training gave, on both sides: docs/screening.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from tequio_client.ipc.trainer import ScreeningVerdict
from tequio_client.trainer import codecs
from tequio_shared.errors import MalformedError
from tequio_shared.head import contribution
from tequio_shared.head.aggregate import effective_entries
from tequio_shared.head.contribution import (
    SCALES,
    ContributionHeader,
    ExpectedContribution,
    RecordShape,
    decode_records,
    shape_of,
)
from tequio_shared.head.layout import CHUNK, NO_PADDING, WeightLayout
from tequio_shared.ids import to_text

SAMPLE_CHUNKS = 1_024
"""Most chunks in a sample: at k 16, the fewest entries, an overlap is then known to 1 %."""
SAMPLE_BYTES = 1 << 18
"""Most bytes of records in a sample, but always at least 64 chunks: dense records are large."""
_LEAST_CHUNKS = 64
_CROWDED = 4  # times k: a chunk with fewer positions shares many of them by chance
_BLOCK = 2_048  # chunks at a time: bounds the memory, whatever the model's size

MAX_NORM_RATIO = 5.0
"""Largest norm, as a multiple of the median. Error feedback makes a veteran's honest update up to
4.3 times as long as a newcomer's; what stays below 5 is bounded by the outer step's clip."""
MIN_NORM_RATIO = 0.1
"""Smallest norm, as a multiple of the median, in proportion to the steps done."""
MIN_COSINE = 0.02
"""Smallest cosine with the witness's own update while the round has a direction."""
CLEAR_COSINE = 0.1
"""Median cosine of the others from which the round has a direction."""
CERTAIN_ERRORS = 4.0
"""Standard errors by which an update must fall short of that direction: in a small model the cosine
of a few chunks is a guess."""
OPPOSITE_COSINE = -0.3
"""Smallest cosine while the round has no direction, as when little is left to learn. A small cosine
then proves nothing: each of two honest updates would refuse the other, and no round would close."""
MAX_OVERLAP = 0.6
"""Largest share of positions in common with an earlier contribution."""
MAX_ADAPTER_OVERLAP = 0.85
"""The same where adapters are trained: beside one frozen base honest updates are far more alike."""
NEAR_OVERLAP = 0.25
"""Of DisTrO: a copy has at most that share of the positions not in common that two contributions of
the round usually have. Their overlap has no fixed bound: gradients of large batches choose the same
coefficients, most of all at the beginning of a run."""
CERTAIN_OVERLAP = 0.99
"""Of DisTrO: the overlap of a copy, however alike the others are."""
MAX_AGREEMENT = 0.8
"""Share of equal (or of opposite) signs at the common positions from which an overlap is a copy."""
MIN_COMPANY = 0.55
"""Share of signs equal to the others' from which an update has company; chance gives 0.5. Then it
is the witness's own update that is astray."""
_MEDIAN_OF = 3
"""Valid contributions that have a median; of two, either may be the cheat's."""
_PAIR = 2
"""Others that, with the witness's own update, make a direction; of three, any one may be astray."""
_CROWD = 3
"""Others that show the round's direction even to a witness without an update of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenedCandidate:
    """A contribution to screen; `expected` has its author's own assignment."""

    slot: int
    header: bytes
    seal: bytes
    payload: Path
    expected: ExpectedContribution


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessContext:
    """The witness's side: the model's layout, the inner steps of a full round, and its own update.

    `past` are (header, payload file) that were accepted in the last rounds. A witness that trained
    in the round has `own_delta`, float32 in flat order, and `own_slot`.
    """

    layout: WeightLayout
    steps: int
    rng: np.random.Generator
    past: Sequence[tuple[bytes, Path]] = ()
    own_delta: NDArray[np.float32] | None = None
    own_slot: int | None = None
    overlap_most: float = MAX_OVERLAP


def screen(
    candidates: Sequence[ScreenedCandidate], witness: WitnessContext
) -> tuple[ScreeningVerdict, ...]:
    """Measure candidates, in the order of their commitments: of two alike the later is the copy.

    Time grows with the bytes of the candidates. All pairs are compared too, but by sketches of at
    most 1 MiB each, which stay in memory.
    """
    if not candidates:
        return ()
    expected = candidates[0].expected
    # One sample for all candidates of the call, drawn for each round and told to nobody: the
    # author of a copy cannot know where to alter it. Shares of equal positions are about the same
    # in every sample, so witnesses with different samples still agree.
    sample = draw_sample(expected.chunks, expected.shape, witness.rng)
    rules = [broken_rule(candidate) for candidate in candidates]
    valid = [
        None if rule else _read(candidate, witness, sample)
        for candidate, rule in zip(candidates, rules, strict=True)
    ]
    there = [one for one in valid if one is not None]
    # Only for a valid candidate: past payloads are read from the disk, and invalid bytes are free.
    past = _past(witness, sample) if there else []
    most = witness.overlap_most
    if expected.shape.algorithm == "distro":
        most = overlap_limit([one.sketch for one in there])
    return tuple(
        ScreeningVerdict(slot=candidate.slot, contribution=_name(candidate), reason=rule)
        if one is None
        else _measured(one, there, past, witness, most)
        for candidate, rule, one in zip(candidates, rules, valid, strict=True)
    )


def _name(candidate: ScreenedCandidate) -> str:
    return to_text(contribution.contribution_id(candidate.header))


def broken_rule(candidate: ScreenedCandidate) -> str:
    """Name the first broken rule of validity, "" for none."""
    expected = candidate.expected
    try:
        # The size first: a file may be a terabyte of zeros, and is then not read at all.
        if candidate.payload.stat().st_size != expected.chunks * expected.shape.record_bytes:
            return "length"
        payload = np.memmap(candidate.payload, np.uint8, "r")
    except OSError:
        return "unreadable"
    return contribution.validate(candidate.header, payload.data, expected, candidate.seal) or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Valid:
    """A valid contribution and what was read from it; `steps` are those that it can claim."""

    candidate: ScreenedCandidate
    steps: int
    reading: PayloadReading
    sketch: Sketch


def _read(
    candidate: ScreenedCandidate, witness: WitnessContext, sample: NDArray[np.int64]
) -> _Valid:
    shape, layout = candidate.expected.shape, witness.layout
    rows = shape.rows(np.memmap(candidate.payload, np.uint8, "r"))
    header = ContributionHeader.parse(candidate.header)
    return _Valid(
        candidate=candidate,
        # A step takes at least one window. Claimed steps beyond that, or beyond the run's, would
        # excuse a longer update, so they do not count.
        steps=min(header.inner_steps, header.window_count, witness.steps),
        reading=read_payload(rows, shape, layout, witness.own_delta),
        sketch=sketch(rows[sample], shape, layout, sample),
    )


def _past(witness: WitnessContext, sample: NDArray[np.int64]) -> list[Sketch]:
    """Sketches of contributions accepted in the last rounds."""
    found = []
    # Only accepted ones: the author of a refused update still has its error feedback, and may
    # rightly send something like it again. A file that is gone or damaged by now is skipped, since
    # no candidate is to blame for the witness's own store.
    for header, payload in witness.past:
        with suppress(OSError, ValueError, MalformedError):
            shape = shape_of(ContributionHeader.parse(header))
            rows = shape.rows(np.memmap(payload, np.uint8, "r"))
            # A payload of another size is not of this model: its chunks mean other weights.
            if len(rows) == witness.layout.chunks:
                found.append(sketch(rows[sample], shape, witness.layout, sample))
    return found


def _measured(
    one: _Valid,
    there: Sequence[_Valid],
    past: Sequence[Sketch],
    witness: WitnessContext,
    overlap_most: float,
) -> ScreeningVerdict:
    # Only earlier ones can be originals: the author of a copy must have seen one.
    earlier = [other.sketch for other in there[: there.index(one)]]
    # The witness's own contribution gives no direction: the cosine compares with it already.
    own_slot = witness.own_slot
    others = [other for other in there if other is not one and other.candidate.slot != own_slot]
    cosines = sorted(other.reading.cosine for other in others if other.reading.cosine is not None)
    measures = ScreeningMeasures(
        # The closest one, not all together: a copy has one original, and many partial overlaps are
        # what honest work has.
        like=closest(one.sketch, [*earlier, *past]),
        norm_ratio=_norm_ratio(one, there, own_slot),
        cosine=one.reading.cosine,
        error=one.reading.error,
        # The lower median: a minority of cheats cannot make a round without direction look clear.
        direction=cosines[(len(cosines) - 1) // 2] if cosines else None,
        company=agreement(one.sketch, [other.sketch for other in others]),
        others=len(others),
        work=one.steps / witness.steps,
        overlap_most=overlap_most,
    )
    return ScreeningVerdict(
        slot=one.candidate.slot,
        contribution=_name(one.candidate),
        reason=measures.reason,
        norm_ratio=measures.norm_ratio,
        cosine=measures.cosine,
        overlap=measures.like.overlap,
        agreement=measures.like.agreement,
    )


def _norm_ratio(one: _Valid, there: Sequence[_Valid], own_slot: int | None) -> float | None:
    """Norm over the norm expected from the others' norms and steps; None if none can be trusted."""
    if not one.reading.norm:
        return 0.0  # also beside others that are empty: nothing was sent
    # Of three or more, the lower median: a minority cannot move it beyond the honest norms. Of two,
    # either may be the cheat's, so only a witness that trained can judge, by its own norm.
    trusted = there
    if len(there) < _MEDIAN_OF:
        trusted = [other for other in there if other.candidate.slot == own_slot]
    # An update grows at most in proportion to its steps. With fewer steps it may be as long all the
    # same, since it also sends the error feedback of earlier rounds; so never scale down.
    expected = sorted(other.reading.norm * max(one.steps / other.steps, 1.0) for other in trusted)
    if not expected:
        return None
    median = expected[(len(expected) - 1) // 2]
    return one.reading.norm / median if median else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningMeasures:
    """The measures of one contribution, None where not measured, and the rules that judge them.

    `error` is the standard error of `cosine`; `work` is the share of a full round's inner steps.
    Of the other contributions, without the witness's own, `direction` is the lower median cosine,
    `company` the share of signs equal to theirs, and `others` their number. An overlap above
    `overlap_most` may be a copy.
    """

    like: Likeness
    norm_ratio: float | None
    cosine: float | None
    error: float
    direction: float | None
    company: float | None
    others: int
    work: float
    overlap_most: float = MAX_OVERLAP

    @property
    def reason(self) -> str:
        """The first of the checks that fails: `copy`, `norm`, `cosine`, or "" if none does."""
        # Bytes are the same for every witness, the median nearly so, a pseudo-gradient is each
        # witness's own. In this order witnesses name the same reason for what fails several checks
        # (a flipped update ten times as long is `norm` to all), so a quorum can agree.
        checks = {"copy": self.is_copy, "norm": self.has_odd_norm, "cosine": self.has_odd_direction}
        return next((name for name, fails in checks.items() if fails), "")

    @property
    def is_copy(self) -> bool:
        """True if it is the same work as an earlier one, or its mirror image."""
        # Overlap alone proves little: honest work moves many of the same weights. Only agreement
        # far from chance, in either direction, does.
        certainty = max(self.like.agreement, 1 - self.like.agreement)
        return self.like.overlap > self.overlap_most and certainty > MAX_AGREEMENT

    @property
    def has_odd_norm(self) -> bool:
        """True if it is far longer, or far shorter, than its steps explain."""
        # Only the lower bound shrinks with the steps: an update of few steps is rightly short, but
        # the upper bound protects the head, however much each member did.
        least = self.work * MIN_NORM_RATIO
        return self.norm_ratio is not None and not least <= self.norm_ratio <= MAX_NORM_RATIO

    @property
    def has_odd_direction(self) -> bool:
        """True if it points elsewhere although the round has a direction, and does so alone."""
        # Checked first: with company, it is the witness's own update that stands alone.
        if self.company is not None and self.company >= MIN_COMPANY:
            return False
        if self.cosine is None:
            # Signs against three or more others: less sharp than a cosine, but all that a witness
            # without work of its own has.
            return (
                self.others >= _CROWD
                and self.company is not None
                and self.company < 1 - MIN_COMPANY
            )
        if self.direction is None:
            return False  # alone with the witness's own update: nobody can say which is astray
        short = self.direction - self.cosine > CERTAIN_ERRORS * self.error
        is_clear = self.others >= _PAIR and self.direction >= CLEAR_COSINE and short
        return self.cosine < (MIN_COSINE if is_clear else OPPOSITE_COSINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadReading:
    """Euclidean norm in contribution units, and mean cosine with the witness's own pseudo-gradient.

    The cosine is None without entries and without an own pseudo-gradient. `error` is the standard
    error of that mean, infinite for a single chunk.
    """

    norm: float
    cosine: float | None
    error: float


def read_payload(
    rows: NDArray[np.uint8],
    shape: RecordShape,
    layout: WeightLayout,
    own_delta: NDArray[np.float32] | None,
) -> PayloadReading:
    """Read a valid payload's records, uint8[n, R]; `own_delta` is float32 in flat order.

    As in the outer step, entries of empty chunks and at padding count for nothing. The entries of
    DisTrO are coefficients, and are compared with those of the pseudo-gradient.
    """
    is_distro = shape.algorithm == "distro"
    square, cosines = 0.0, list[NDArray[np.float64]]()
    for first in range(0, len(rows), _BLOCK):
        stop = min(first + _BLOCK, len(rows))
        padding = NO_PADDING if is_distro else layout.padding(first, stop)
        sent = effective_entries(decode_records(rows[first:stop].tobytes(), shape), padding)
        at = sent.positions // CHUNK
        # Levels times scales, as sent and without the outer step's clip: a scale far above the
        # others' must show in the norm.
        values = np.asarray(sent.levels * SCALES[sent.scales[at]], np.float64)
        square += float(values @ values)
        if own_delta is not None:
            own = own_delta[first * CHUNK : stop * CHUNK]
            if is_distro:
                chunks = torch.from_numpy(np.array(own)).view(-1, CHUNK)
                own = codecs.transform(chunks).numpy().reshape(-1)
            # On the contribution's support only: what it does not send is not held against it.
            there = own[sent.positions].astype(np.float64)
            cosines.append(_cosines(at, values, there, stop - first))
    # The mean over chunks, not one cosine of the whole: a few weights that swing far, now one way
    # and now the other, would outweigh all the rest and refuse honest work. That was seen in
    # training, in a model that had learnt its data.
    found = np.concatenate(cosines) if cosines else np.empty(0)
    return PayloadReading(
        norm=float(np.sqrt(square)),
        cosine=float(found.mean()) if len(found) else None,
        error=float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else np.inf,
    )


def _cosines(
    at: NDArray[np.int64], values: NDArray[np.float64], there: NDArray[np.float64], chunks: int
) -> NDArray[np.float64]:
    """The cosine within each chunk that has one; `at` is each entry's chunk."""
    products, squares, ours = (
        np.bincount(at, weights, chunks)
        for weights in (values * there, values * values, there * there)
    )
    scale = np.sqrt(squares * ours)
    # A chunk that is empty on either side has no direction; as a zero it would lower the mean.
    live = scale > 0
    return np.asarray(products[live] / scale[live], np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """The signs of a contribution in a sample of chunks, as bits: uint8[m, 512] each.

    Signs rather than values: a copy that was scaled, or requantised, still has them.
    """

    plus: NDArray[np.uint8]
    minus: NDArray[np.uint8]
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Share of positions in common, of the sketch with fewer; share of those with equal signs."""

    overlap: float
    agreement: float


NO_LIKENESS = Likeness(overlap=0.0, agreement=0.5)


def draw_sample(chunks: int, shape: RecordShape, chance: np.random.Generator) -> NDArray[np.int64]:
    """Draw a sample of `chunks` chunks: int64[m], ascending."""
    most = min(SAMPLE_CHUNKS, max(SAMPLE_BYTES // shape.record_bytes, _LEAST_CHUNKS))
    return np.sort(chance.choice(chunks, min(chunks, most), replace=False)).astype(np.int64)


def sketch(
    rows: NDArray[np.uint8], shape: RecordShape, layout: WeightLayout, sample: NDArray[np.int64]
) -> Sketch:
    """Sketch a valid contribution from the records of the sample's chunks, uint8[m, R]."""
    records = decode_records(rows.tobytes(), shape)
    live = (records.levels != 0) & (records.scales > 0)[:, None]
    signs = np.zeros((len(rows), CHUNK), np.int8)
    np.put_along_axis(signs, records.indices.astype(np.int64), np.sign(records.levels) * live, 1)
    if shape.algorithm != "distro":  # coefficients have no padding
        # Sparse records pick k positions: in a chunk with hardly more than k of them, two honest
        # updates would look like copies. Dense records always have all positions.
        _blank_padding(signs, layout, sample, 0 if shape.is_dense else _CROWDED * shape.k)
    plus, minus = np.packbits(signs > 0, axis=1), np.packbits(signs < 0, axis=1)
    return Sketch(plus=plus, minus=minus, entries=int(np.count_nonzero(signs)))


def _blank_padding(
    signs: NDArray[np.int8], layout: WeightLayout, sample: NDArray[np.int64], least: int
) -> None:
    """Clear padding, and every chunk that has fewer than `least` other positions."""
    _, mine, theirs = np.intersect1d(sample, layout.padded_chunks, return_indices=True)
    masks = np.unpackbits(layout.padding_bits[theirs], axis=1, bitorder="little").view(np.bool_)
    signs[mine] = np.where(masks | (masks.sum(1, keepdims=True) > CHUNK - least), 0, signs[mine])


def likeness(one: Sketch, other: Sketch) -> Likeness:
    """Compare two sketches of the same sample; one without entries is like no other."""
    shared, same = _common(one, other)
    if not shared:
        return NO_LIKENESS
    # Of the one with fewer entries: adding entries of its own to a copy must not dilute it.
    return Likeness(overlap=shared / min(one.entries, other.entries), agreement=same / shared)


def overlap_limit(sketches: Sequence[Sketch]) -> float:
    """Overlap from which a contribution of DisTrO is a copy, given all valid ones of the round."""
    usual = sorted(
        _upper_median([likeness(one, other).overlap for other in sketches if other is not one])
        for one in sketches
    )
    # Upper medians of medians: whatever a minority sends, it cannot make honest work a copy.
    near = 1 - NEAR_OVERLAP * (1 - _upper_median(usual))
    return min(max(near, MAX_OVERLAP), CERTAIN_OVERLAP)


def _upper_median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 1.0


def agreement(one: Sketch, others: Sequence[Sketch]) -> float | None:
    """Share of equal signs at all positions shared with others; None if there are none."""
    common = [_common(one, other) for other in others]
    shared = sum(count for count, _ in common)
    return sum(same for _, same in common) / shared if shared else None


def closest(one: Sketch, others: Sequence[Sketch]) -> Likeness:
    """The likeness to the sketch that shares most positions with it."""
    every = (likeness(one, other) for other in others)
    return max(every, key=lambda like: like.overlap, default=NO_LIKENESS)


def _common(one: Sketch, other: Sketch) -> tuple[int, int]:
    """Positions in both, and those of them with equal signs."""
    shared = _count((one.plus | one.minus) & (other.plus | other.minus))
    return shared, _count(one.plus & other.plus) + _count(one.minus & other.minus)


def _count(bits: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(bits).sum())
