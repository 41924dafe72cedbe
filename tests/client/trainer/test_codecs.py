"""Contributions carry the largest part of a pseudo-gradient; the rest stays behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
import torch

from tequio_client.trainer import codecs
from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import SCALES, decode_records, first_broken_record
from tequio_shared.head.layout import CHUNK, WeightLayout
from tequio_shared.log import merkle
from tequio_shared.round.manifest import Algorithm

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAYOUT = WeightLayout.of([("matrix", (100, 100)), ("vector", (10,))], "flat")
CPU = torch.device("cpu")


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
    values = records.levels * SCALES[records.scales][:, None] * codecs.CONTRIBUTION_UNIT
    np.put_along_axis(dense, records.indices.astype(np.int64), values, axis=1)
    return dense.reshape(-1)


def _kept(encoded: codecs.EncodedContribution) -> NDArray[np.float32]:
    assert encoded.feedback is not None
    return (encoded.feedback.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_what_is_sent_and_what_stays_behind_make_the_whole(bits: Literal[1, 2, 4]) -> None:
    algorithm, delta = _sparse(bits), _delta()
    encoded = codecs.encode(algorithm, LAYOUT, delta, None, CPU)
    assert first_broken_record(encoded.payload, algorithm.shape) is None
    inside = delta != 0
    whole = _decoded(encoded, algorithm) + _kept(encoded)
    np.testing.assert_allclose(whole[inside], delta[inside], atol=3e-5)
    assert encoded.warnings == ()


def test_the_largest_entries_are_sent_at_nearly_their_size() -> None:
    delta = _delta()
    sent = _decoded(codecs.encode(_sparse(4, 512), LAYOUT, delta, None, CPU), _sparse(4, 512))
    largest = np.argsort(-np.abs(delta))[:100]
    np.testing.assert_allclose(sent[largest], delta[largest], rtol=0.12)


def test_what_stayed_behind_is_sent_later() -> None:
    algorithm, delta = _sparse(), _delta()
    nothing = np.zeros_like(delta)
    feedback, sent = None, np.zeros(delta.size)
    for turn in range(60):
        encoded = codecs.encode(algorithm, LAYOUT, nothing if turn else delta, feedback, CPU)
        feedback, sent = encoded.feedback, sent + _decoded(encoded, algorithm)
    inside = delta != 0
    assert np.corrcoef(sent[inside], delta[inside])[0, 1] > 0.9


def test_padding_is_never_remembered() -> None:
    feedback = _kept(codecs.encode(_sparse(k=512), LAYOUT, _delta(), None, CPU))
    padding = LAYOUT.padding(0, LAYOUT.chunks)
    assert not feedback.reshape(-1, CHUNK)[padding.chunks][padding.masks].any()


def test_the_feedback_root_is_a_tree_over_chunks() -> None:
    encoded = codecs.encode(_sparse(), LAYOUT, _delta(), None, CPU)
    assert encoded.feedback is not None
    chunks = encoded.feedback.reshape(-1, CHUNK)
    assert encoded.feedback_root == merkle.root([chunk.tobytes() for chunk in chunks])


def test_a_zero_delta_sends_empty_chunks() -> None:
    encoded = codecs.encode(_sparse(), LAYOUT, np.zeros_like(_delta()), None, CPU)
    assert not decode_records(encoded.payload, _sparse().shape).scales.any()


def test_a_trainer_is_warned_of_saturation_and_of_growing_feedback() -> None:
    assert codecs.encode(_sparse(), LAYOUT, _delta(size=1.0), None, CPU).warnings == ("saturated",)
    large = codecs.encode(_sparse(), LAYOUT, _delta(size=0.01), None, CPU).feedback
    assert "feedback" in codecs.encode(_sparse(), LAYOUT, _delta(2, 1e-5), large, CPU).warnings


def test_diloco_sends_everything_and_keeps_nothing() -> None:
    algorithm = codecs.outer_algorithm(Algorithm(name="diloco", k=4096, bits=8), 4096, 0.95)
    delta = _delta()
    encoded = codecs.encode(algorithm, LAYOUT, delta, None, CPU)
    assert first_broken_record(encoded.payload, algorithm.shape) is None
    np.testing.assert_allclose(_decoded(encoded, algorithm), delta, atol=3e-5)
    assert (encoded.feedback, encoded.feedback_root) == (None, bytes(32))


def test_an_algorithm_without_an_encoder_is_refused() -> None:
    with pytest.raises(RefusedError, match="distro"):
        codecs.outer_algorithm(Algorithm(name="distro", layout="tile64", k=64, bits=1), 64, 0.95)
