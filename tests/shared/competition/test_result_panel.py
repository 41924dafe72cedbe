"""Several evaluators: the median of each document, and who is off."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared import scoring
from tequio_shared.competition import result
from tequio_shared.scoring import DocumentScore, Refusal

TEXTS = [f"document {at} " * (at + 1) for at in range(6)]


def _scores(*off_ppm: int) -> tuple[DocumentScore, ...]:
    """Score the texts, each off by its number of parts per million."""
    return tuple(
        scoring.score_document(text, tokens=9, nats=1_000.0 * (1 + ppm / 1e6))
        for text, ppm in zip(TEXTS, off_ppm, strict=True)
    )


HONEST = _scores(*[0] * 6)


def test_each_document_has_its_own_median() -> None:
    low = _scores(-50_000, 0, 0, 0, 0, 0)
    high = _scores(0, 50_000, 0, 0, 0, 0)
    assert result.medians([low, high, HONEST]) == HONEST


def test_the_upper_one_of_two_is_taken() -> None:
    high = _scores(*[500] * 6)
    assert result.medians([HONEST, high]) == high


def test_a_liar_moves_nothing_and_is_named_with_the_documents() -> None:
    liar = _scores(0, 0, 0, -300_000, 2_000, 0)
    other = _scores(3, -3, 5, 0, 0, 1)
    found = result.deviations({"liar": liar, "one": HONEST, "other": other})
    assert found["liar"].is_outlier
    assert found["liar"].outside == (3, 4)
    assert not found["one"].is_outlier
    assert not found["other"].is_outlier


def test_a_little_on_every_document_is_an_outlier_by_its_total() -> None:
    leaning = _scores(*[-500] * 6)
    found = result.deviations({"a": HONEST, "b": HONEST, "leaning": leaning})
    assert found["leaning"].outside == ()
    assert found["leaning"].is_outlier


def test_refusing_what_others_read_is_outside() -> None:
    cheap = tuple(
        msgspec.structs.replace(one, refusal=Refusal.ROUND_TRIP) if at == 2 else one
        for at, one in enumerate(HONEST)
    )
    found = result.deviations({"a": HONEST, "b": HONEST, "c": cheap})["c"]
    assert found.outside == (2,)
    assert found.is_outlier
    assert result.medians([cheap, HONEST]) == result.medians([HONEST, cheap])


def test_evaluations_of_other_documents_are_refused() -> None:
    with pytest.raises(ValueError, match="different documents"):
        result.medians([HONEST, HONEST[1:]])
    with pytest.raises(ValueError, match="different documents"):
        result.medians([])
