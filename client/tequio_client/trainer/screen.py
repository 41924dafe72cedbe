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

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from tequio_client.ipc.trainer import ScreeningVerdict
from tequio_client.trainer import codecs, engines, likeness
from tequio_client.trainer.likeness import Likeness, Likenesses, Sketch
from tequio_client.trainer.pacing import FULL_PACE, Pacing
from tequio_shared.errors import MalformedError
from tequio_shared.head import contribution
from tequio_shared.head.aggregate import effective_entries
from tequio_shared.head.contribution import (
    SCALES,
    Algorithm,
    ContributionHeader,
    ExpectedContribution,
    RecordShape,
    decode_records,
    shape_of,
)
from tequio_shared.head.layout import CHUNK, NO_PADDING, WeightLayout
from tequio_shared.ids import to_text

_BLOCK = 2_048  # chunks at a time: bounds the memory, whatever the model's size
_LANE = 64  # the same of a thread, where all payloads are read together

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
    threads: int = 1
    pacing: Pacing = FULL_PACE


def screen(
    candidates: Sequence[ScreenedCandidate], witness: WitnessContext
) -> tuple[ScreeningVerdict, ...]:
    """Measure candidates, in the order of their commitments: of two alike the later is the copy.

    Time grows with the bytes of the candidates. All pairs are compared too, but by sketches of some
    100 KB each, which stay in memory.
    """
    if not candidates:
        return ()
    expected = candidates[0].expected
    sample = likeness.draw_sample(expected.chunks, expected.shape, witness.rng)
    with ThreadPoolExecutor(witness.threads) as pool:

        def check(candidate: ScreenedCandidate) -> str:
            witness.pacing.rest()
            return broken_rule(candidate, witness.layout)

        rules = list(pool.map(check, candidates))
        witness.pacing.begin()
        sound = [one for one, rule in zip(candidates, rules, strict=True) if not rule]
        there = _read(sound, witness, sample, pool)
        # Only for a valid candidate: past payloads are read from the disk, and invalid bytes are
        # free.
        past = _past(witness, sample) if there else []
        witness.pacing.rest()
        witness.pacing.begin()
        is_large = engines.pays_off(expected.shape.algorithm, witness.layout)
        sketches, together = [one.sketch for one in there], pool if is_large else None
        alike = likeness.compare(sketches, past, together, witness.pacing)
    most = witness.overlap_most
    if expected.shape.algorithm == "distro":
        most = overlap_limit(alike)
    verdicts = {
        one.candidate.slot: _measured(at, there, alike, witness, most)
        for at, one in enumerate(there)
    }
    return tuple(
        ScreeningVerdict(slot=candidate.slot, contribution=_name(candidate), reason=rule)
        if rule
        else verdicts[candidate.slot]
        for candidate, rule in zip(candidates, rules, strict=True)
    )


def overlap_limit(alike: Likenesses) -> float:
    """Overlap from which a contribution of DisTrO is a copy, given all valid ones of the round."""
    near = 1 - NEAR_OVERLAP * (1 - alike.usual_overlap())
    return min(max(near, MAX_OVERLAP), CERTAIN_OVERLAP)


def _name(candidate: ScreenedCandidate) -> str:
    return to_text(contribution.contribution_id(candidate.header))


def broken_rule(candidate: ScreenedCandidate, layout: WeightLayout) -> str:
    """Name the first broken rule of validity, "" for none."""
    expected = candidate.expected
    try:
        # The size first: a file may be a terabyte of zeros, and is then not read at all.
        if candidate.payload.stat().st_size != expected.chunks * expected.shape.record_bytes:
            return "length"
        payload = np.memmap(candidate.payload, np.uint8, "r")
    except OSError:
        return "unreadable"
    check = _record_check(expected.shape.algorithm, layout)
    rule = contribution.validate(candidate.header, payload.data, expected, candidate.seal, check)
    return rule or ""


def _record_check(
    algorithm: Algorithm, layout: WeightLayout
) -> Callable[[bytes | memoryview, RecordShape], str | None]:
    if not engines.pays_off(algorithm, layout):
        return contribution.first_broken_record
    from tequio_client.trainer import record_kernels  # noqa: PLC0415 - brings numba

    return record_kernels.first_broken_record


@dataclass(frozen=True, slots=True, kw_only=True)
class _Valid:
    """A valid contribution and what was read from it; `steps` are those that it can claim."""

    candidate: ScreenedCandidate
    steps: int
    reading: PayloadReading
    sketch: Sketch


def _read(
    candidates: Sequence[ScreenedCandidate],
    witness: WitnessContext,
    sample: NDArray[np.int64],
    pool: ThreadPoolExecutor,
) -> list[_Valid]:
    if not candidates:
        return []
    shape, layout = candidates[0].expected.shape, witness.layout
    payloads = [shape.rows(np.memmap(one.payload, np.uint8, "r")) for one in candidates]
    readings = read_payloads(payloads, shape, layout, witness.own_delta, pool, witness.pacing)
    found = []
    for candidate, rows, reading in zip(candidates, payloads, readings, strict=True):
        witness.pacing.rest()
        header = ContributionHeader.parse(candidate.header)
        found.append(
            _Valid(
                candidate=candidate,
                # A step takes at least one window. Claimed steps beyond that, or beyond the run's,
                # would excuse a longer update, so they do not count.
                steps=min(header.inner_steps, header.window_count, witness.steps),
                reading=reading,
                sketch=likeness.sketch(rows[sample], shape, layout, sample),
            )
        )
    return found


def _past(witness: WitnessContext, sample: NDArray[np.int64]) -> list[Sketch]:
    """Sketches of contributions accepted in the last rounds."""
    found = []
    # Only accepted ones: the author of a refused update still has its error feedback, and may
    # rightly send something like it again. A file that is gone or damaged by now is skipped, since
    # no candidate is to blame for the witness's own store.
    for header, payload in witness.past:
        witness.pacing.rest()
        with suppress(OSError, ValueError, MalformedError):
            shape = shape_of(ContributionHeader.parse(header))
            rows = shape.rows(np.memmap(payload, np.uint8, "r"))
            # A payload of another size is not of this model: its chunks mean other weights.
            if len(rows) == witness.layout.chunks:
                found.append(likeness.sketch(rows[sample], shape, witness.layout, sample))
    return found


def _measured(
    at: int,
    there: Sequence[_Valid],
    alike: Likenesses,
    witness: WitnessContext,
    overlap_most: float,
) -> ScreeningVerdict:
    one = there[at]
    # The witness's own contribution gives no direction: the cosine compares with it already.
    own_slot = witness.own_slot
    numbers = [n for n, other in enumerate(there) if n != at and other.candidate.slot != own_slot]
    others = [there[number] for number in numbers]
    cosines = sorted(other.reading.cosine for other in others if other.reading.cosine is not None)
    measures = ScreeningMeasures(
        # The closest one, not all together: a copy has one original, and many partial overlaps are
        # what honest work has.
        like=alike.closest(at),
        norm_ratio=_norm_ratio(one, there, own_slot),
        cosine=one.reading.cosine,
        error=one.reading.error,
        # The lower median: a minority of cheats cannot make a round without direction look clear.
        direction=cosines[(len(cosines) - 1) // 2] if cosines else None,
        company=alike.company(at, numbers),
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


def read_payloads(
    payloads: Sequence[NDArray[np.uint8]],
    shape: RecordShape,
    layout: WeightLayout,
    own_delta: NDArray[np.float32] | None,
    pool: ThreadPoolExecutor,
    pacing: Pacing = FULL_PACE,
) -> list[PayloadReading]:
    """Read valid payloads of a round as `read_payload` does; own_delta is read once for all."""
    if not engines.pays_off(shape.algorithm, layout):
        return [read_payload(rows, shape, layout, own_delta, pacing) for rows in payloads]
    from tequio_client.trainer import record_kernels  # noqa: PLC0415 - brings numba

    own = np.empty(0, np.float32) if own_delta is None else own_delta

    def lane(first: int) -> NDArray[np.float64]:
        pacing.rest()
        stop = min(first + _LANE, layout.chunks)
        return record_kernels.read_block(
            np.stack([rows[first:stop] for rows in payloads]),
            shape,
            layout.padding(first, stop),
            own[first * CHUNK : stop * CHUNK],
        )

    sums = sum(pool.map(lane, range(0, layout.chunks, _LANE)), np.zeros((len(payloads), 4)))
    pacing.begin()
    return [_reading(*one) for one in sums.tolist()]


def _reading(square: float, chunks: float, cosines: float, squares: float) -> PayloadReading:
    """From the sums of `record_kernels.read_block`."""
    mean = cosines / chunks if chunks else None
    error = math.inf
    if mean is not None and chunks > 1:
        error = math.sqrt(max(squares - chunks * mean * mean, 0.0) / (chunks - 1) / chunks)
    return PayloadReading(norm=math.sqrt(square), cosine=mean, error=error)


def read_payload(
    rows: NDArray[np.uint8],
    shape: RecordShape,
    layout: WeightLayout,
    own_delta: NDArray[np.float32] | None,
    pacing: Pacing = FULL_PACE,
) -> PayloadReading:
    """Read a valid payload's records, uint8[n, R]; `own_delta` is float32 in flat order.

    As in the outer step, entries of empty chunks and at padding count for nothing. The entries of
    DisTrO are coefficients, and are compared with those of the pseudo-gradient.
    """
    is_distro = shape.algorithm == "distro"
    square, cosines = 0.0, list[NDArray[np.float64]]()
    for first in range(0, len(rows), _BLOCK):
        pacing.rest()
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
