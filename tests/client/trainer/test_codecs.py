"""Contributions carry the largest part of a pseudo-gradient; the rest stays behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
import torch

from tequio_client.trainer import codecs
from tequio_client.trainer.levels import CONTRIBUTION_UNIT
from tequio_shared.head.aggregate import COEFFICIENT_SHIFT, inverse_dct
from tequio_shared.head.contribution import (
    SCALES,
    RecordShape,
    decode_records,
    first_broken_record,
)
from tequio_shared.head.layout import CHUNK, TILE, WeightLayout
from tequio_shared.log import merkle
from tequio_shared.round.manifest import Algorithm

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAYOUT = WeightLayout.of([("matrix", (100, 100)), ("vector", (10,))], "flat")

pytestmark = pytest.mark.usefixtures("both_kernels")


def _delta(seed: int = 1, size: float = 1e-3) -> NDArray[np.float32]:
    chance = np.random.default_rng(seed)
    tensors = {
        "matrix": chance.normal(0, size, (100, 100)).astype(np.float32),
        "vector": chance.normal(0, size, 10).astype(np.float32),
    }
    return LAYOUT.flatten(tensors)


def _sparse(bits: Literal[1, 2, 4] = 2, k: int = 64) -> codecs.OuterAlgorithm:
    return codecs.outer_algorithm(Algorithm(bits=bits), k, 0.95)


def _decoded(
    encoded: codecs.EncodedContribution, algorithm: codecs.OuterAlgorithm
) -> NDArray[np.float64]:
    records = decode_records(encoded.payload, algorithm.shape)
    dense = np.zeros((LAYOUT.chunks, CHUNK))
    values = records.levels * SCALES[records.scales][:, None] * CONTRIBUTION_UNIT
    np.put_along_axis(dense, records.indices.astype(np.int64), values, axis=1)
    return dense.reshape(-1)


def _kept(encoded: codecs.EncodedContribution) -> NDArray[np.float32]:
    assert encoded.feedback is not None
    return (encoded.feedback.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_what_is_sent_and_what_stays_behind_make_the_whole(bits: Literal[1, 2, 4]) -> None:
    algorithm, delta = _sparse(bits), _delta()
    encoded = codecs.encode(algorithm, LAYOUT, delta, None)
    assert first_broken_record(encoded.payload, algorithm.shape) is None
    inside = delta != 0
    whole = _decoded(encoded, algorithm) + _kept(encoded)
    np.testing.assert_allclose(whole[inside], delta[inside], atol=3e-5)
    assert 0 < encoded.longer < 1


def test_the_largest_entries_are_sent_at_nearly_their_size() -> None:
    delta = _delta()
    sent = _decoded(codecs.encode(_sparse(4, 512), LAYOUT, delta, None), _sparse(4, 512))
    largest = np.argsort(-np.abs(delta))[:100]
    np.testing.assert_allclose(sent[largest], delta[largest], rtol=0.12)


def test_what_stayed_behind_is_sent_later() -> None:
    algorithm, delta = _sparse(), _delta()
    nothing = np.zeros_like(delta)
    feedback, sent = None, np.zeros(delta.size)
    for turn in range(60):
        encoded = codecs.encode(algorithm, LAYOUT, nothing if turn else delta, feedback)
        feedback, sent = encoded.feedback, sent + _decoded(encoded, algorithm)
    inside = delta != 0
    assert np.corrcoef(sent[inside], delta[inside])[0, 1] > 0.9


def test_padding_is_never_remembered() -> None:
    feedback = _kept(codecs.encode(_sparse(k=512), LAYOUT, _delta(), None))
    padding = LAYOUT.padding(0, LAYOUT.chunks)
    assert not feedback.reshape(-1, CHUNK)[padding.chunks][padding.masks].any()


def test_the_feedback_root_is_a_tree_over_chunks() -> None:
    encoded = codecs.encode(_sparse(), LAYOUT, _delta(), None)
    assert encoded.feedback is not None
    chunks = encoded.feedback.reshape(-1, CHUNK)
    assert encoded.feedback_root == merkle.root([chunk.tobytes() for chunk in chunks])


def test_a_zero_delta_sends_empty_chunks() -> None:
    encoded = codecs.encode(_sparse(), LAYOUT, np.zeros_like(_delta()), None)
    assert not decode_records(encoded.payload, _sparse().shape).scales.any()


def test_a_feedback_that_would_hide_the_update_is_left_out() -> None:
    large = codecs.encode(_sparse(), LAYOUT, _delta(size=0.01), None).feedback
    small = _delta(2, 1e-5)
    assert codecs.encode(_sparse(), LAYOUT, small, large).longer > codecs.LONGEST_FEEDBACK
    found = codecs.encode_auditable(_sparse(), LAYOUT, small, large)
    assert found.starts_over
    assert found.payload == codecs.encode(_sparse(), LAYOUT, small, None).payload
    assert found.feedback_root == codecs.encode(_sparse(), LAYOUT, small, None).feedback_root


def test_beside_a_feedback_an_update_of_zeros_sends_nothing() -> None:
    large = codecs.encode(_sparse(), LAYOUT, _delta(), None).feedback
    found = codecs.encode_auditable(_sparse(), LAYOUT, np.zeros_like(_delta()), large)
    assert found.starts_over
    assert not decode_records(found.payload, _sparse().shape).scales.any()


def test_feedback_of_tens_of_updates_is_normal_where_rates_fall() -> None:
    before = codecs.encode(_sparse(), LAYOUT, _delta(size=0.01), None).feedback
    encoded = codecs.encode_auditable(_sparse(), LAYOUT, _delta(2, 2e-4), before)
    moved = np.linalg.norm(_delta(2, 2e-4))
    assert np.linalg.norm(_kept(encoded)) > 20 * moved
    assert encoded.longer == pytest.approx(np.linalg.norm(_kept(encoded)) / moved, rel=0.01)
    assert not encoded.starts_over


def test_diloco_sends_everything_and_keeps_nothing() -> None:
    algorithm = codecs.outer_algorithm(Algorithm(name="diloco", k=4096, bits=8), 4096, 0.95)
    delta = _delta()
    encoded = codecs.encode(algorithm, LAYOUT, delta, None)
    assert first_broken_record(encoded.payload, algorithm.shape) is None
    np.testing.assert_allclose(_decoded(encoded, algorithm), delta, atol=3e-5)
    assert (encoded.feedback, encoded.feedback_root) == (None, bytes(32))


# --- distro --------------------------------------------------------------------------------------

TILES = WeightLayout.of([("edge", (70, 100)), ("square", (128, 64)), ("vector", (10,))], "tile64")
SQUARE = slice(4, 6)
"""Chunks of `square`, which has no padding."""


def _distro(k: int = 64) -> codecs.OuterAlgorithm:
    rules = Algorithm(name="distro", layout="tile64", bits=1)
    return codecs.outer_algorithm(rules, k, 0.999)


def _gradient(seed: int = 1, size: float = 1e-3) -> NDArray[np.float32]:
    chance = np.random.default_rng(seed)
    return TILES.flatten(
        {one.name: chance.normal(0, size, one.shape).astype(np.float32) for one in TILES.placements}
    )


def _coefficients(chunks: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """DCT-II by its definition, of chunks [n, 4096]."""
    frequency, place = np.arange(TILE)[:, None], np.arange(TILE)[None, :]
    basis = np.cos(np.pi / TILE * (place + 0.5) * frequency) * np.sqrt(2 / TILE)
    basis[0] /= np.sqrt(2)
    tiles = chunks.astype(np.float64).reshape(-1, TILE, TILE)
    return np.asarray((basis @ tiles @ basis.T).reshape(-1, CHUNK))


def _signs(payload: bytes, shape: RecordShape) -> NDArray[np.float64]:
    records = decode_records(payload, shape)
    found = np.zeros((len(records.scales), CHUNK))
    live = records.levels * (records.scales > 0)[:, None]
    np.put_along_axis(found, records.indices.astype(np.int64), live.astype(np.float64), axis=1)
    return found


def test_distro_sends_the_signs_of_the_largest_coefficients() -> None:
    algorithm, gradient = _distro(), _gradient()
    encoded = codecs.encode(algorithm, TILES, gradient, None)
    assert first_broken_record(encoded.payload, algorithm.shape) is None
    wanted = _coefficients(gradient.reshape(-1, CHUNK))
    sent = _signs(encoded.payload, algorithm.shape)
    largest = np.sort(np.abs(wanted), axis=1)[:, -algorithm.shape.k, None]
    assert ((sent != 0) == (np.abs(wanted) >= largest * (1 - 1e-6))).all()
    assert (np.sign(wanted) == sent)[sent != 0].all()


def test_the_protocol_decodes_what_distro_encoded() -> None:
    algorithm, gradient = _distro(512), _gradient()
    sent = _signs(codecs.encode(algorithm, TILES, gradient, None).payload, algorithm.shape)
    exact = inverse_dct((sent * 2**COEFFICIENT_SHIFT).astype(np.int64))
    floating = codecs.inverse_transform(torch.from_numpy(sent)).numpy() * 2**COEFFICIENT_SHIFT
    # The protocol's basis is rounded to 2^-14, and these are sums of 512 coefficients.
    np.testing.assert_allclose(exact, floating, atol=2**COEFFICIENT_SHIFT / 500)
    inside = gradient.reshape(-1, CHUNK) != 0
    assert np.corrcoef(np.sign(exact)[inside], gradient.reshape(-1, CHUNK)[inside])[0, 1] > 0.4


def test_what_was_sent_is_zero_in_the_momentum_and_the_rest_stays() -> None:
    algorithm, gradient = _distro(), _gradient()
    first = codecs.encode(algorithm, TILES, gradient, None)
    second = codecs.encode(algorithm, TILES, gradient, first.feedback)
    total = 0.999 * _kept(first) + gradient
    before = _coefficients(total.reshape(-1, CHUNK)[SQUARE])
    after = _coefficients(_kept(second).reshape(-1, CHUNK)[SQUARE])
    sent = _signs(second.payload, algorithm.shape)[SQUARE] != 0
    size = float(np.abs(before).max())
    np.testing.assert_allclose(after[sent], 0, atol=0.01 * size)
    np.testing.assert_allclose(after[~sent], before[~sent], atol=0.01 * size)


def test_the_momentum_never_remembers_padding_nor_grows_by_sending() -> None:
    algorithm = _distro()
    kept = codecs.encode(algorithm, TILES, _gradient(), None).feedback
    nothing, padding = np.zeros_like(_gradient()), TILES.padding(0, TILES.chunks)
    assert kept is not None
    for _ in range(20):
        encoded = codecs.encode(algorithm, TILES, nothing, kept)
        assert not _kept(encoded).reshape(-1, CHUNK)[padding.chunks][padding.masks].any()
        before, after = (
            np.linalg.norm(
                (one.astype(np.uint32) << 16).view(np.float32).reshape(-1, CHUNK), axis=1
            )
            for one in (kept, encoded.feedback)
            if one is not None
        )
        assert (after <= before * 1.001).all()
        kept = encoded.feedback
        assert kept is not None


@pytest.mark.parametrize("k", [32, 256])
def test_the_momentum_stays_bounded_under_a_lasting_gradient_with_noise(k: int) -> None:
    algorithm, lasting = _distro(k), _gradient(99)
    feedback, norms = None, []
    for turn in range(3 * 4096 // k):
        gradient = lasting + 3 * _gradient(turn % 50)
        encoded = codecs.encode_auditable(algorithm, TILES, gradient, feedback)
        feedback = encoded.feedback
        assert not encoded.starts_over
        norms.append(float(np.linalg.norm(_kept(encoded)) / np.linalg.norm(gradient)))
    third = len(norms) // 3
    assert max(norms[2 * third :]) < 1.3 * max(norms[third : 2 * third])
    assert max(norms) < codecs.LONGEST_FEEDBACK


def test_a_tile_of_zeros_has_no_signs() -> None:
    gradient = _gradient()
    gradient.reshape(-1, CHUNK)[SQUARE] = 0
    encoded = codecs.encode(_distro(), TILES, gradient, None)
    scales = decode_records(encoded.payload, _distro().shape).scales
    assert scales.tolist() == [1, 1, 1, 1, 0, 0, 1]


def test_a_momentum_that_would_hide_the_gradient_is_left_out() -> None:
    long = codecs.encode(_distro(), TILES, _gradient(size=2.0), None).feedback
    assert codecs.encode_auditable(_distro(), TILES, _gradient(2), long).starts_over
