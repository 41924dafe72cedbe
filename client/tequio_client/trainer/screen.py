"""What a witness measures about contributions, from their bytes and its own work alone.

First the rules of contribution validity; a broken one is the reason. Then, among the valid ones:

- `copy`: how many positions it shares with an earlier contribution, of this round or accepted in
  one of the last, and how often with the same sign;
- `norm`: its length against the median of the round, for the inner steps that were done;
- `cosine`: where it points, chunk by chunk, against the witness's own pseudo-gradient from the same
  head; for a witness without one, how often its signs are those of the others.

What a trainer says about itself counts against it only: claimed steps beyond the run's are no
excuse for a longer update. The first of the three that speaks is the reason, in that order: bytes
are the same for every witness, a median nearly so, a pseudo-gradient is each witness's own. So
witnesses name one and the same reason for what shows in several measures (a flipped update ten
times as long is `norm` to all), and a quorum can agree. Thresholds stand over what real training
gave, with a factor of two or more on both sides: docs/screening.md.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tequio_shared.errors import MalformedError
from tequio_shared.head import contribution
from tequio_shared.head.aggregate import entries
from tequio_shared.head.contribution import SCALES, Header, decode_records, shape_of
from tequio_shared.head.layout import CHUNK, NO_PADDING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_shared.head.contribution import Expected, RecordShape
    from tequio_shared.head.layout import Layout

# --- A sketch: the signs of a contribution in a sample of chunks, to find copies of it by.
#
# Which chunks are in the sample is drawn by the witness and told to nobody, so whoever alters a
# copy cannot alter it in the right places. Two contributions are alike by how many positions they
# share and by how often they have the same sign there: both are shares of the bytes, not of what
# anybody says, so witnesses with other samples come to the same answer.

SAMPLE_CHUNKS = 1_024
"""Most chunks in a sample: at k 16, the fewest entries, an overlap is then known to 1 %."""
SAMPLE_BYTES = 1 << 18
"""Most bytes of records in a sample, but 64 chunks always: dense records are large."""
_LEAST_CHUNKS = 64
_CROWDED = 4  # times k: a chunk with fewer positions has many in common by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """Where a contribution is positive and where negative: bits, uint8[m, 512] each."""

    plus: NDArray[np.uint8]
    minus: NDArray[np.uint8]
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Share of positions in common, of the one with fewer; share of those with the same sign."""

    overlap: float
    agreement: float


UNLIKE = Likeness(overlap=0.0, agreement=0.5)


def draw(chunks: int, shape: RecordShape, chance: np.random.Generator) -> NDArray[np.int64]:
    """Draw the sample of a model with so many chunks: int64[m], ascending."""
    most = min(SAMPLE_CHUNKS, max(SAMPLE_BYTES // shape.record_bytes, _LEAST_CHUNKS))
    return np.sort(chance.choice(chunks, min(chunks, most), replace=False)).astype(np.int64)


def sketch(
    rows: NDArray[np.uint8],
    shape: RecordShape,
    layout: Layout,
    sample: NDArray[np.int64],
) -> Sketch:
    """Sketch a valid contribution from the records of the sample's chunks, uint8[m, R]."""
    records = decode_records(rows.tobytes(), shape)
    live = (records.levels != 0) & (records.scales > 0)[:, None]
    signs = np.zeros((len(rows), CHUNK), np.int8)
    np.put_along_axis(signs, records.indices.astype(np.int64), np.sign(records.levels) * live, 1)
    if shape.algorithm != "distro":
        _blank_padding(signs, layout, sample, 0 if shape.is_dense else _CROWDED * shape.k)
    plus, minus = np.packbits(signs > 0, axis=1), np.packbits(signs < 0, axis=1)
    return Sketch(plus=plus, minus=minus, entries=int(np.count_nonzero(signs)))


def likeness(one: Sketch, other: Sketch) -> Likeness:
    """Compare two sketches of the same sample; what has no entries is like nothing."""
    shared, same = _common(one, other)
    if not shared:
        return UNLIKE
    return Likeness(overlap=shared / min(one.entries, other.entries), agreement=same / shared)


def agreement(one: Sketch, others: Sequence[Sketch]) -> float | None:
    """Share of equal signs, of all the positions shared with others; None where there are none."""
    common = [_common(one, other) for other in others]
    shared = sum(count for count, _ in common)
    return sum(same for _, same in common) / shared if shared else None


def most_alike(one: Sketch, others: Sequence[Sketch]) -> Likeness:
    """The likeness to the other that shares most positions with it."""
    return max(
        (likeness(one, other) for other in others), key=lambda like: like.overlap, default=UNLIKE
    )


def _common(one: Sketch, other: Sketch) -> tuple[int, int]:
    """Positions in both, and those of them with the same sign."""
    shared = _count((one.plus | one.minus) & (other.plus | other.minus))
    return shared, _count(one.plus & other.plus) + _count(one.minus & other.minus)


def _blank_padding(
    signs: NDArray[np.int8], layout: Layout, sample: NDArray[np.int64], least: int
) -> None:
    """Count no padding, and nothing of a chunk that has fewer than `least` positions beside it."""
    _, mine, theirs = np.intersect1d(sample, layout.padded_chunks, return_indices=True)
    masks = np.unpackbits(layout.padding_bits[theirs], axis=1, bitorder="little").view(np.bool_)
    signs[mine] = np.where(masks | (masks.sum(1, keepdims=True) > CHUNK - least), 0, signs[mine])


def _count(bits: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(bits).sum())


# --- What a witness reads from one valid contribution: how long it is, and where it points.
#
# Both count what moves the head: entries of empty chunks and at padding are nothing. The cosine
# is taken on the contribution's support, the positions that it has an entry for: elsewhere it
# says nothing, and nothing is held against it. It is the mean over chunks of the cosine within
# each: a few weights that swing far, now one way and now the other, would else outweigh all the
# rest and speak against honest work (seen in training, in a model that had learnt its data).

_BLOCK = 2_048  # chunks at a time: bounds the memory, whatever the model's size


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Euclidean norm in contribution units; mean cosine with our own pseudo-gradient, if there.

    There is no cosine of a contribution without entries, nor of one whose entries are coefficients
    (distro) and not places in the model. `error` is the standard error of that mean, infinite when
    it is the cosine of a single chunk.
    """

    norm: float
    cosine: float | None
    error: float


def read(
    rows: NDArray[np.uint8],
    shape: RecordShape,
    layout: Layout,
    own_delta: NDArray[np.float32] | None,
) -> Reading:
    """Read a valid payload's records, uint8[n, R]; `own_delta` is float32 in flat order."""
    is_distro = shape.algorithm == "distro"
    own = None if is_distro else own_delta
    square, cosines = 0.0, list[NDArray[np.float64]]()
    for first in range(0, len(rows), _BLOCK):
        stop = min(first + _BLOCK, len(rows))
        padding = NO_PADDING if is_distro else layout.padding(first, stop)
        sent = entries(decode_records(rows[first:stop].tobytes(), shape), padding)
        at = sent.positions // CHUNK
        values = np.asarray(sent.levels * SCALES[sent.scales[at]], np.float64)
        square += float(values @ values)
        if own is not None:
            there = own[first * CHUNK : stop * CHUNK][sent.positions].astype(np.float64)
            cosines.append(_cosines(at, values, there, stop - first))
    found = np.concatenate(cosines) if cosines else np.empty(0)
    return Reading(
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
    live = scale > 0
    return np.asarray(products[live] / scale[live], np.float64)


NORM_RATIO_MOST = 5.0
"""Times the median norm. Above it an update shouts: error feedback makes a veteran's honest update
several times as long as newcomers' are, and the outer step's clip bounds what stays below."""
NORM_RATIO_LEAST = 0.1
"""Times the median norm, in proportion to the steps done. Below it next to nothing was sent."""
COSINE_LEAST = 0.02
"""Below it an update does not point where the witness's own points, if the others' do."""
COSINE_CLEAR = 0.1
"""Of the others: from here on the round has a direction."""
COSINE_CERTAIN = 4.0
"""Standard errors by which an update must fall short of that direction: in a small model the cosine
of a few chunks is a guess."""
COSINE_OPPOSITE = -0.3
"""Where it has none, as when there is little left to learn from so few tokens, only an update that
points so far the other way is refused. Of two updates nobody can say which is astray."""
OVERLAP_MOST = 0.6
"""Share of positions in common with an earlier contribution. Above it the later may be a copy."""
PAIR_OVERLAP_MOST = 0.85
"""The same where adapters are trained: beside one frozen base honest updates are far more alike."""
AGREEMENT_MOST = 0.8
"""And this share of the common signs equal (or opposite): then it is one."""
COMPANY_LEAST = 0.55
"""Share of equal signs with the others. From here on an update has company, and what speaks against
it is the witness's own work; chance gives 0.5."""
_MEDIAN_OF = 3
"""So many valid contributions have a median; of two, either may be the liar's."""
_PAIR = 2
"""So many others, and ourselves, make a direction: of three updates any one may be astray."""
_CROWD = 3
"""So many others tell even a witness without work of its own where the round goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A contribution to screen, and the round's demands with its author's own assignment."""

    slot: int
    header: bytes
    payload: Path
    expected: Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """What the witness brings: the model's layout, the inner steps of a full round, and chance.

    `past` are (header, payload file) that were accepted in the last rounds. Who trained in the
    round has its own pseudo-gradient and its own slot. Above `overlap_most` two may be copies.
    """

    layout: Layout
    steps: int
    chance: np.random.Generator
    past: Sequence[tuple[bytes, Path]] = ()
    own_delta: NDArray[np.float32] | None = None
    own_slot: int | None = None
    overlap_most: float = OVERLAP_MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The outcome for one candidate: reason ("" for none), and measures (None: not taken)."""

    slot: int
    contribution: bytes
    reason: str
    norm_ratio: float | None = None
    cosine: float | None = None
    overlap: float | None = None
    agreement: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Valid:
    """A valid contribution, read."""

    candidate: Candidate
    steps: int
    reading: Reading
    sketch: Sketch


def screen(candidates: Sequence[Candidate], witness: Witness) -> tuple[Measured, ...]:
    """Measure candidates, in the order of their commitments: of two alike the later is the copy.

    Work and memory grow with the bytes of the candidates; copies are looked for in a sample.
    """
    if not candidates:
        return ()
    expected = candidates[0].expected
    sample = draw(expected.chunks, expected.shape, witness.chance)
    rules = [_broken_rule(candidate) for candidate in candidates]
    valid = [
        None if rule else _read(candidate, witness, sample)
        for candidate, rule in zip(candidates, rules, strict=True)
    ]
    there = [one for one in valid if one is not None]
    past = _past(witness, sample) if there else []
    return tuple(
        _refused(candidate, rule) if one is None else _measured(one, there, past, witness)
        for candidate, rule, one in zip(candidates, rules, valid, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What was measured of one contribution; None: not measured.

    `error` is the standard error of the cosine. Of the others, without the witness's own:
    `direction` is their lower median cosine, `company` the share of signs equal to theirs, `crowd`
    how many they are. `work` is the share of a full round's inner steps that was done.
    """

    like: Likeness
    norm_ratio: float | None
    cosine: float | None
    error: float
    direction: float | None
    company: float | None
    crowd: int
    work: float
    overlap_most: float = OVERLAP_MOST

    @property
    def reason(self) -> str:
        """Name what speaks against it, the most certain first; empty if nothing does."""
        checks = (("copy", self.is_copy), ("norm", self.is_amiss), ("cosine", self.is_astray))
        return next((name for name, speaks in checks if speaks), "")

    @property
    def is_copy(self) -> bool:
        """Whether it is the same work as an earlier one, or its mirror image."""
        certainty = max(self.like.agreement, 1 - self.like.agreement)
        return self.like.overlap > self.overlap_most and certainty > AGREEMENT_MOST

    @property
    def is_amiss(self) -> bool:
        """Whether it is far longer, or far shorter, than its work lets expect."""
        least = self.work * NORM_RATIO_LEAST
        return self.norm_ratio is not None and not least <= self.norm_ratio <= NORM_RATIO_MOST

    @property
    def is_astray(self) -> bool:
        """Whether it points elsewhere although there is a direction, and does so alone."""
        if self.company is not None and self.company >= COMPANY_LEAST:
            return False
        if self.cosine is None:
            return (
                self.crowd >= _CROWD
                and self.company is not None
                and self.company < 1 - COMPANY_LEAST
            )
        if self.direction is None:
            return False
        short = self.direction - self.cosine > COSINE_CERTAIN * self.error
        is_clear = self.crowd >= _PAIR and self.direction >= COSINE_CLEAR and short
        return self.cosine < (COSINE_LEAST if is_clear else COSINE_OPPOSITE)


def _broken_rule(candidate: Candidate) -> str:
    """Name the first broken rule of validity; reads nothing of a file of another size."""
    expected = candidate.expected
    try:
        if candidate.payload.stat().st_size != expected.chunks * expected.shape.record_bytes:
            return "length"
        payload = np.memmap(candidate.payload, np.uint8, "r")
    except OSError:
        return "unreadable"
    return contribution.validate(candidate.header, payload.data, expected) or ""


def _read(candidate: Candidate, witness: Witness, sample: NDArray[np.int64]) -> _Valid:
    shape, layout = candidate.expected.shape, witness.layout
    rows = shape.rows(np.memmap(candidate.payload, np.uint8, "r"))
    return _Valid(
        candidate=candidate,
        steps=_steps(Header.parse(candidate.header), witness),
        reading=read(rows, shape, layout, witness.own_delta),
        sketch=sketch(rows[sample], shape, layout, sample),
    )


def _steps(header: Header, witness: Witness) -> int:
    """The inner steps that it can have done, whatever it claims: a step takes a window at least."""
    return min(header.inner_steps, header.window_count, witness.steps)


def _refused(candidate: Candidate, rule: str) -> Measured:
    name = contribution.contribution_id(candidate.header)
    return Measured(slot=candidate.slot, contribution=name, reason=rule)


def _measured(
    one: _Valid, there: Sequence[_Valid], past: Sequence[Sketch], witness: Witness
) -> Measured:
    earlier = [other.sketch for other in there[: there.index(one)]]
    own_slot = witness.own_slot
    others = [other for other in there if other is not one and other.candidate.slot != own_slot]
    measures = Measures(
        like=most_alike(one.sketch, [*earlier, *past]),
        norm_ratio=_norm_ratio(one, there, own_slot),
        cosine=one.reading.cosine,
        error=one.reading.error,
        direction=_direction(others),
        company=agreement(one.sketch, [other.sketch for other in others]),
        crowd=len(others),
        work=one.steps / witness.steps,
        overlap_most=witness.overlap_most,
    )
    return Measured(
        slot=one.candidate.slot,
        contribution=contribution.contribution_id(one.candidate.header),
        reason=measures.reason,
        norm_ratio=measures.norm_ratio,
        cosine=measures.cosine,
        overlap=measures.like.overlap,
        agreement=measures.like.agreement,
    )


def _direction(others: Sequence[_Valid]) -> float | None:
    cosines = sorted(other.reading.cosine for other in others if other.reading.cosine is not None)
    return cosines[(len(cosines) - 1) // 2] if cosines else None


def _past(witness: Witness, sample: NDArray[np.int64]) -> list[Sketch]:
    """Sketches of what was accepted before; a file that is gone or torn by now is passed over."""
    found = []
    for header, payload in witness.past:
        with suppress(OSError, ValueError, MalformedError):
            shape = shape_of(Header.parse(header))
            rows = shape.rows(np.memmap(payload, np.uint8, "r"))
            if len(rows) == witness.layout.chunks:
                found.append(sketch(rows[sample], shape, witness.layout, sample))
    return found


# --- norm ----------------------------------------------------------------------------------------


def _norm_ratio(one: _Valid, there: Sequence[_Valid], own_slot: int | None) -> float | None:
    """Norm over what the others' norms and steps let expect; None where nobody is to be believed.

    Of three or more the lower median is believed, which a minority cannot move beyond honest ones;
    of two only our own. Nothing at all is 0.
    """
    if not one.reading.norm:
        return 0.0
    believed = there
    if len(there) < _MEDIAN_OF:
        believed = [other for other in there if other.candidate.slot == own_slot]
    expected = sorted(_expected_norm(one, other) for other in believed)
    if not expected:
        return None
    median = expected[(len(expected) - 1) // 2]
    return one.reading.norm / median if median else None


def _expected_norm(one: _Valid, other: _Valid) -> float:
    """The longest that `one` may be if `other` is right: an update grows with its steps at most.

    One with fewer steps may be as long, since it sends what stayed behind earlier.
    """
    return other.reading.norm * max(one.steps / other.steps, 1.0)
