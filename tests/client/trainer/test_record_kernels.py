"""Machine code and numpy give the same records, rules, measures and likenesses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from tequio_client.trainer import codecs, engines, likeness, record_kernels, screen
from tequio_shared.head.contribution import (
    KS,
    RecordShape,
    decode_records,
    empty_record,
    first_broken_record,
)
from tequio_shared.head.layout import CHUNK, WeightLayout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

LAYOUT = WeightLayout.of([("a", (70, 1_000)), ("b", (333, 77)), ("c", (55,))], "flat")
WHOLE = [chunk for chunk in range(LAYOUT.chunks) if chunk not in LAYOUT.padded_chunks]
"""Chunks without padding, in which no zeros tie for the last place."""


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


def _delta(seed: int) -> NDArray[np.float32]:
    delta = np.random.default_rng(seed).normal(0, 1e-3, LAYOUT.elements).astype(np.float32)
    delta[: 2 * CHUNK] = 0  # chunks that did not move
    LAYOUT.padding(0, LAYOUT.chunks).blank(delta)
    return delta


def _compiled(monkeypatch: pytest.MonkeyPatch, *, is_on: bool) -> None:
    least = {"sparseloco": 0, "diloco": 0} if is_on else {}
    monkeypatch.setattr(engines, "COMPILED_FROM", least)


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("bits", [1, 2, 4])
def test_both_encode_alike_from_round_to_round(
    monkeypatch: pytest.MonkeyPatch, bits: Literal[1, 2, 4], k: int
) -> None:
    shape = RecordShape(algorithm="sparseloco", k=k, bits=bits)
    algorithm = codecs.SparseLoCo(shape=shape, feedback_decay=0.95)
    feedback = None
    for turn in range(3):
        made = []
        for is_on in (False, True):
            _compiled(monkeypatch, is_on=is_on)
            given = (algorithm, LAYOUT, _delta(turn), feedback)
            made.append(codecs.encode(*given, threads=2))
        ours, theirs = made
        rows = [shape.rows(np.frombuffer(one.payload, np.uint8))[WHOLE] for one in made]
        np.testing.assert_array_equal(rows[0], rows[1])
        assert ours.feedback is not None
        assert theirs.feedback is not None
        kept = [one.reshape(-1, CHUNK)[WHOLE] for one in (ours.feedback, theirs.feedback)]
        np.testing.assert_array_equal(kept[0], kept[1])
        assert theirs.feedback_root == codecs.feedback_root(theirs.feedback)
        assert ours.longer == pytest.approx(theirs.longer, rel=1e-6)
        feedback = ours.feedback


def test_of_equal_sizes_the_lower_places_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    _compiled(monkeypatch, is_on=True)
    shape = RecordShape(algorithm="sparseloco", k=8, bits=1)
    delta = np.full(LAYOUT.elements, -1e-3, np.float32)
    delta[100] = 2e-3
    algorithm = codecs.SparseLoCo(shape=shape, feedback_decay=0.95)
    payload = codecs.encode(algorithm, LAYOUT, delta, None).payload
    first = decode_records(payload, shape)
    assert first.indices[0].tolist() == [0, 1, 2, 3, 4, 5, 6, 100]
    assert first.levels[0].tolist() == [-1] * 7 + [1]


def _payload(shape: RecordShape, seed: int) -> NDArray[np.uint8]:
    """Records uint8[n, R] of random work."""
    if shape.is_dense:
        algorithm: codecs.OuterAlgorithm = codecs.DiLoCo(shape=shape)
    else:
        algorithm = codecs.SparseLoCo(shape=shape, feedback_decay=0.95)
    made = codecs.encode(algorithm, LAYOUT, _delta(seed), None)
    return shape.rows(np.frombuffer(made.payload, np.uint8)).copy()


SHAPES = [
    RecordShape(algorithm="sparseloco", k=8, bits=1),
    RecordShape(algorithm="sparseloco", k=64, bits=2),
    RecordShape(algorithm="sparseloco", k=512, bits=4),
    RecordShape(algorithm="diloco", k=CHUNK, bits=8),
]
NAMES = [f"{one.algorithm}-{one.k}" for one in SHAPES]


def _ends(shape: RecordShape) -> list[int]:
    if shape.is_dense:
        return []
    return [shape.high_at - 1, shape.high_at, shape.codes_at - 1]


@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_both_name_the_same_broken_rule(shape: RecordShape) -> None:
    chance, rows = np.random.default_rng(1), _payload(shape, 1)
    assert record_kernels.first_broken_record(rows.tobytes(), shape) is None
    found = set()
    for _ in range(600):
        spoilt = rows[:6].copy()
        for _ in range(int(chance.integers(1, 4))):
            chunk = chance.integers(len(spoilt))
            # Scales, and the ends of each part, break more rules than other bytes.
            anywhere = int(chance.integers(shape.record_bytes))
            at = chance.choice(np.array([0, 1, *_ends(shape), anywhere]))
            spoilt[chunk, at] = chance.choice(np.array([0, 128, 201, 255, chance.integers(256)]))
        rule = first_broken_record(spoilt.tobytes(), shape)
        assert record_kernels.first_broken_record(spoilt.tobytes(), shape) == rule
        found.add(rule)
    assert len(found) >= 3


@pytest.mark.parametrize("has_own", [True, False], ids=["own", "none"])
@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_both_measure_the_same(
    monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor, shape: RecordShape, *, has_own: bool
) -> None:
    payloads = [_payload(shape, seed) for seed in (1, 2, 3)]
    payloads[1][:, :] = empty_record(shape)
    own = _delta(2) + _delta(1) if has_own else None
    _compiled(monkeypatch, is_on=True)
    read = screen.read_payloads(payloads, shape, LAYOUT, own, pool)
    for one, rows in zip(read, payloads, strict=True):
        expected = screen.read_payload(rows, shape, LAYOUT, own)
        assert one.norm == pytest.approx(expected.norm, rel=1e-9)
        assert one.cosine == pytest.approx(expected.cosine, abs=1e-9)
        assert one.error == pytest.approx(expected.error, abs=1e-9)


def test_both_find_the_same_positions_in_common(pool: ThreadPoolExecutor) -> None:
    sample = np.arange(LAYOUT.chunks)
    now, before = SHAPES[1], SHAPES[0]  # rounds may differ in k
    candidates = [likeness.sketch(_payload(now, n), now, LAYOUT, sample) for n in (1, 2, 1)]
    earlier = [likeness.sketch(_payload(before, n), before, LAYOUT, sample) for n in (5, 2)]
    plain = likeness.compare(candidates, earlier)
    together = likeness.compare(candidates, earlier, pool)
    np.testing.assert_array_equal(plain.shared, together.shared)
    np.testing.assert_array_equal(plain.same, together.same)
    assert plain.shared[1, 4] > 0  # the same work at another k
    assert together.closest(2) == likeness.Likeness(overlap=1.0, agreement=1.0)
    assert together.closest(0).overlap < 0.2  # the copy that came later is not its original
    assert together.company(0, [1, 2]) == plain.company(0, [1, 2])


def test_nothing_is_like_nothing(pool: ThreadPoolExecutor) -> None:
    assert likeness.compare([], [], pool).shared.shape == (0, 0)
    empty = likeness.Sketch(indices=np.zeros((2, 8), np.uint16), signs=np.zeros((2, 8), np.int8))
    alike = likeness.compare([empty, empty], [], pool)
    assert alike.closest(1) == likeness.NO_LIKENESS
    assert alike.company(0, [1]) is None
