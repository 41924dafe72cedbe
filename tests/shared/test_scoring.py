"""Documents become windows and integers, in one way only."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared import scoring
from tequio_shared.scoring import Refusal, ScoreTotals, ScoringRules, scoring_windows
from tests.support import scoring_vectors

VECTORS = scoring_vectors.read("1-windows")
LN2 = math.log(2)


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: f"{case['window']}-{case['stride']}")
def test_the_published_windows(case: dict[str, object]) -> None:
    rules = ScoringRules(window=int(str(case["window"])), stride=int(str(case["stride"])))
    expected = case["expected"]
    assert isinstance(expected, list)
    for one in expected:
        found = [
            [part.first, part.end, part.scored] for part in scoring_windows(one["tokens"], rules)
        ]
        assert found == one["windows"]


@given(st.integers(0, 300), st.integers(1, 40), st.data())
def test_each_token_is_scored_once_with_all_the_context_that_fits(
    tokens: int, window: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, window))
    contexts = [
        target - part.first
        for part in scoring_windows(tokens, ScoringRules(window=window, stride=stride))
        for target in range(part.end - part.scored + 1, part.end + 1)
    ]
    assert len(contexts) == tokens
    beginning = min(tokens, window)
    assert contexts[:beginning] == list(range(1, beginning + 1))
    assert all(window - stride < context <= window for context in contexts[beginning:])


def test_the_last_window_reaches_back_as_far_as_any() -> None:
    *_, last = scoring_windows(130, ScoringRules(window=64, stride=64))
    assert (last.first, last.end, last.scored) == (66, 130, 2)


@pytest.mark.parametrize(("window", "stride"), [(4, 5), (4, 0), (0, 0)])
def test_a_stride_that_skips_tokens_is_no_rule(window: int, stride: int) -> None:
    with pytest.raises(ValueError, match="stride"):
        ScoringRules(window=window, stride=stride)


def test_a_document_is_rounded_to_thousandths_of_a_bit() -> None:
    one = scoring.score_document("niñas y niños", tokens=4, nats=10 * LN2 + 0.0004 * LN2)
    assert one.millibits == 10_000
    assert (one.size_bytes, one.words, one.tokens) == (15, 3, 4)


@pytest.mark.parametrize("nats", [math.nan, math.inf, -1.0, 1e300])
def test_what_is_no_likelihood_is_no_score(nats: float) -> None:
    with pytest.raises(ValueError, match="likelihood"):
        scoring.score_document("a", tokens=1, nats=nats)


def test_a_document_that_the_tokenizer_loses_costs_what_its_bytes_cost() -> None:
    one = scoring.score_unread("niña", Refusal.ROUND_TRIP)
    assert one.millibits == 5 * 8_000
    total = ScoreTotals.of([one, scoring.score_unread("", Refusal.EMPTY)])
    assert total.bits_per_byte == 8.0
    assert (total.documents, total.charged, total.empty) == (1, 1, 1)


def test_half_a_surrogate_pair_has_a_name_and_no_bytes() -> None:
    one = scoring.score_unread("\ud83d", Refusal.EMPTY)
    assert len(one.document) == 43
    assert (one.size_bytes, one.words, one.millibits) == (0, 0, 0)


def test_totals_are_quotients_of_sums() -> None:
    long = scoring.score_document("tequio " * 30, tokens=30, nats=300 * LN2)
    short = scoring.score_document("milpa", tokens=1, nats=20 * LN2)
    total = ScoreTotals.of([long, short])
    assert total.bits_per_byte == pytest.approx(320 / 215)
    assert scoring.nanobits_per_byte(total.millibits, total.size_bytes) == 320_000 * 10**6 // 215
    assert total.byte_perplexity == pytest.approx(2 ** (320 / 215))
    assert total.word_perplexity == pytest.approx(2 ** (320 / 32))  # 31 parts, the last one empty


def test_a_word_perplexity_beyond_all_numbers_is_infinite() -> None:
    assert (
        ScoreTotals.of([scoring.score_document("a", tokens=1, nats=2000.0)]).word_perplexity
        == math.inf
    )


def test_nothing_has_no_bits_per_byte() -> None:
    assert math.isnan(ScoreTotals.of([]).bits_per_byte)
    assert scoring.nanobits_per_byte(0, 0) == 0
