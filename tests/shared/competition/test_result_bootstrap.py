"""Models are told apart by integers that everybody computes alike."""

from __future__ import annotations

import hashlib
import math
import struct
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_shared.competition import result
from tequio_shared.ids import digest_from_text
from tests.support import scoring_vectors

if TYPE_CHECKING:
    from tequio_shared.competition.result import ModelRanking
    from tests.support.scoring_vectors import Comparison

ZERO = bytes(32)


@cache
def _ranked(name: str) -> tuple[Comparison, ModelRanking]:
    case = scoring_vectors.comparison(name)
    ranking = result.rank_models(
        case.millibits, case.sizes, beacon=case.beacon, replicates=case.replicates
    )
    return case, ranking


@pytest.mark.parametrize("case", scoring_vectors.read("2-draws"), ids=lambda case: case["units"])
def test_the_published_draws(case: dict[str, object]) -> None:
    drawn = result.replicate_draw(
        digest_from_text(str(case["beacon"])), int(str(case["replicate"])), int(str(case["units"]))
    )
    assert drawn[:8].tolist() == case["first"]
    assert hashlib.sha256(drawn.astype(">u4").tobytes()).hexdigest() == case["sha256"]


@pytest.mark.parametrize("name", ["3-few-documents", "4-two-thousand-documents"])
def test_the_published_rankings(name: str) -> None:
    case, ranking = _ranked(name)
    assert scoring_vectors.spelled(ranking) == {
        key: case.expected[key] for key in ("places", "pairs")
    }
    assert {name: sum(row) for name, row in case.millibits.items()} == case.expected["totals"]


def test_a_plain_program_finds_the_same_intervals_and_counts() -> None:
    """Nothing but the standard library, one draw at a time."""
    case = scoring_vectors.comparison("3-few-documents")
    north, south = case.millibits["north"], case.millibits["south"]
    found: list[Fraction] = []
    for replicate in range(case.replicates):
        state = b"tequio/v1/boot\0" + case.beacon + struct.pack(">I", replicate)
        numbers = struct.unpack(">5I", hashlib.shake_256(state).digest(20))
        drawn = [number * 5 >> 32 for number in numbers]
        bits = sum(north[at] - south[at] for at in drawn)
        found.append(Fraction(bits * 10**6, sum(case.sizes[at] for at in drawn)))
    found.sort()
    pair = result.rank_models(
        case.millibits, case.sizes, beacon=case.beacon, replicates=case.replicates
    ).pairs[0]
    assert (pair.first, pair.other) == ("north", "south")
    assert pair.interval.low == math.floor(found[4])
    assert pair.interval.high == math.floor(found[195])
    assert pair.against == sum(one >= 0 for one in found)


def test_a_hundredth_of_a_bit_is_told_apart_and_a_copy_is_a_tie() -> None:
    _, ranking = _ranked("4-two-thousand-documents")
    better, worse = (next(one for one in ranking.places if one.name == name) for name in ("a", "b"))
    assert 9_000_000 < worse.nanobits_per_byte - better.nanobits_per_byte < 12_000_000
    assert {one.name: one.rank for one in ranking.places} == {"a": 1, "c": 1, "b": 3}
    winners = {(one.first, one.other): one.winner for one in ranking.pairs}
    assert winners == {("a", "b"): "a", ("a", "c"): "", ("b", "c"): "c"}


def test_another_beacon_gives_other_intervals_and_the_same_ranks() -> None:
    case = scoring_vectors.comparison("4-two-thousand-documents")
    one, other = (
        result.rank_models(case.millibits, case.sizes, beacon=bytes([number]) * 32, replicates=500)
        for number in (1, 2)
    )
    assert [place.rank for place in one.places] == [place.rank for place in other.places]
    assert [place.interval for place in one.places] != [place.interval for place in other.places]


def test_a_difference_within_what_computers_differ_by_is_a_tie() -> None:
    sizes = [1_000] * 200
    same = [999_000] * 200
    slightly = [1_000_000] * 200  # every document, so that no chance is left; 0.1 %
    clearly = [1_000_200] * 200
    ranking = result.rank_models(
        {"same": same, "slightly": slightly, "clearly": clearly}, sizes, beacon=ZERO
    )
    assert {one.name: one.rank for one in ranking.places} == {
        "same": 1,
        "slightly": 1,
        "clearly": 2,
    }


@pytest.mark.parametrize(("documents", "winner"), [(29, ""), (30, "better")])
def test_few_documents_have_no_winner(documents: int, winner: str) -> None:
    scores = {"better": [7_000] * documents, "worse": [8_000] * documents}
    ranking = result.rank_models(scores, [1_000] * documents, beacon=ZERO, replicates=400)
    (pair,) = ranking.pairs
    assert (pair.against, pair.winner) == (0, winner)
    assert [one.rank for one in ranking.places] == [1, 2 if winner else 1]


@pytest.mark.parametrize(("better", "worse"), [("a", "b"), ("b", "a")])
def test_draws_without_a_difference_count_against_it(better: str, worse: str) -> None:
    scores = {better: [7_000] * 30, worse: [7_000] * 29 + [9_000]}
    ranking = result.rank_models(scores, [1_000] * 30, beacon=ZERO, replicates=400)
    (pair,) = ranking.pairs
    assert pair.against > 100, "a third of the draws leave the one document out"
    assert not pair.winner


def test_many_models_make_each_pair_harder_to_tell_apart() -> None:
    chance = np.random.default_rng(5)
    sizes = [1_000] * 60
    base = chance.integers(900_000, 1_100_000, 60)
    noise = chance.normal(0, 20_000, 60)
    noisy = base + (noise - noise.mean() + 6_500).astype(int)  # 2.5 standard errors
    alone = {"a": base.tolist(), "b": noisy.tolist()}
    crowd = {f"c{at}": base.tolist() for at in range(12)}
    pair = result.rank_models(alone, sizes, beacon=ZERO).pairs[0]
    among = result.rank_models(alone | crowd, sizes, beacon=ZERO)
    assert pair.winner == "a"
    assert next(one for one in among.pairs if (one.first, one.other) == ("a", "b")).winner == ""


@pytest.mark.parametrize(
    ("replicates", "winners"), [(119, ["best", "best", "near"]), (118, ["", "", ""])]
)
def test_the_weaker_of_three_differences_needs_a_third_of_the_evidence(
    replicates: int, winners: list[str]
) -> None:
    models = {
        "best": [900_000] * 30,
        "near": [920_000] * 9 + [898_000] * 21,
        "worst": [1_100_000] * 30,
    }
    ranking = result.rank_models(models, [1_000] * 30, beacon=ZERO, replicates=replicates)
    assert [one.against for one in ranking.pairs] == [2, 0, 0]
    assert [one.winner for one in ranking.pairs] == winners


def test_entrants_that_are_bad_on_purpose_leave_the_good_ones_their_ranks() -> None:
    chance = np.random.default_rng(7)
    sizes = [1_000] * 60

    def scores(bits_per_byte: float) -> list[int]:
        return [int(one) for one in chance.normal(bits_per_byte, 0.02, 60) * 1e6]

    models = {"best": scores(0.7), "second": scores(1.0)}
    models |= {f"junk {at}": scores(7.9) for at in range(result.MOST_COMPARED)}
    ranking = result.rank_models(models, sizes, beacon=ZERO)
    ranks = {place.name: place.rank for place in ranking.places}
    assert (ranks.pop("best"), ranks.pop("second")) == (1, 2)
    assert len(ranking.pairs) == result.MOST_COMPARED * (result.MOST_COMPARED - 1) // 2
    compared = {name for pair in ranking.pairs for name in (pair.first, pair.other)}
    left_out = [rank for name, rank in ranks.items() if name not in compared]
    assert left_out == [result.MOST_COMPARED + 1] * 2


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 4_000)), min_size=1, max_size=20))
def test_an_interval_leaves_zero_out_only_where_the_pair_is_significant(
    rows: list[tuple[int, int]],
) -> None:
    sizes = [size for size, _ in rows]
    scores = {"a": [size * 1_000 for size in sizes], "b": [bits for _, bits in rows]}
    (pair,) = result.rank_models(scores, sizes, beacon=ZERO, replicates=400).pairs
    is_outside = pair.interval.low > 0 or pair.interval.high < 0
    assert not is_outside or 40 * (pair.against + 1) <= 401


EVERY, SOME = "needs a score for each document", "at least one byte, and a score of 0"


@pytest.mark.parametrize(
    ("scores", "sizes", "beacon", "replicates", "said"),
    [
        ({}, [1], ZERO, 100, EVERY),
        ({"a": [1]}, [1, 2], ZERO, 100, EVERY),
        ({"a": []}, [], ZERO, 100, EVERY),
        ({"a": [1]}, [0], ZERO, 100, SOME),
        ({"a": [-1]}, [1], ZERO, 100, SOME),
        ({"a": [1]}, [1], b"short", 100, "a beacon has 32 bytes, not 5"),
        ({"a": [1]}, [1], ZERO, 39, "39 replicates of 1 documents"),
        ({"a": [2**62, 2**62]}, [1, 1], ZERO, 100, "too large to be added"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    scores: dict[str, list[int]], sizes: list[int], beacon: bytes, replicates: int, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        result.rank_models(scores, sizes, beacon=beacon, replicates=replicates)
