"""Task files have one spelling, and counts of right answers are exact."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.multiple_choice import (
    ChoiceLosses,
    ChoiceQuestion,
    ChoiceTask,
    ChoiceTotals,
    interval_95,
    round_losses,
)


def _question(number: int = 0, right: int = 1, **changes: object) -> ChoiceQuestion:
    fields = {
        "characters": (5, 4, 3),
        "contexts": (f"{number} and two are",),
        "continuations": (" three", " four", " six"),
        "right": right,
    } | changes
    return ChoiceQuestion(**fields)  # type: ignore[arg-type] # of wrong types on purpose, too


def _task(count: int = 3) -> ChoiceTask:
    questions = tuple(_question(number) for number in range(count))
    return ChoiceTask(name="sums", source="a test", questions=questions)


def _losses(*millibits: int) -> ChoiceLosses:
    return ChoiceLosses(millibits=millibits)


def test_a_file_is_read_back_in_its_one_spelling() -> None:
    raw = _task().encode()
    assert ChoiceTask.parse(raw) == _task()
    with pytest.raises(MalformedError, match="non-canonical"):
        ChoiceTask.parse(json.dumps(json.loads(raw)).encode())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"right": 3}, "choice 3 is right, but the last one is 2"),
        ({"contexts": ("a", "b")}, "2 contexts for 3 choices"),
        ({"continuations": (" a", " b")}, "2 continuations for 3 choices"),
        ({"continuations": (" a",)}, "one context and one continuation for 3 choices"),
        ({"continuations": (" a", "", " b")}, "a continuation is empty"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(changes: dict[str, object], told: str) -> None:
    with pytest.raises(MalformedError, match=told):
        _question(**changes)  # type: ignore[arg-type] # as above


@pytest.mark.parametrize(
    ("field", "value"), [("name", "../sums"), ("source", "a\nb"), ("questions", [])]
)
def test_a_file_with_an_invalid_field_is_refused(field: str, value: object) -> None:
    fields = json.loads(_task().encode()) | {field: value}
    with pytest.raises(MalformedError, match="not a valid ChoiceTask"):
        ChoiceTask.parse(encoding.encode(fields))


def test_text_that_is_not_unicode_has_no_file() -> None:
    task = ChoiceTask(name="a", source="b", questions=(_question(contexts=("\ud800",)),))
    with pytest.raises(MalformedError, match="not text"):
        task.encode()


def test_requests_pair_one_context_with_each_choice_or_each_with_its_own() -> None:
    assert _question().requests[2] == ("0 and two are", " six")
    many = _question(contexts=("a", "b", "c"), continuations=(" d",))
    assert many.requests == (("a", " d"), ("b", " d"), ("c", " d"))


def test_the_draw_is_the_same_for_every_order_and_keeps_the_order() -> None:
    task = _task(40)
    drawn = task.drawn(10)
    assert len(drawn.questions) == 10
    places = [task.questions.index(one) for one in drawn.questions]
    assert places == sorted(places)
    assert places != list(range(10))
    backwards = ChoiceTask(name="sums", source="a test", questions=task.questions[::-1])
    assert set(backwards.drawn(10).questions) == set(drawn.questions)
    assert task.drawn(100) == task


def test_chance_is_the_mean_over_questions() -> None:
    two = _question(characters=(1, 1), continuations=(" a", " b"))
    task = ChoiceTask(name="a", source="b", questions=(two, _question()))
    assert task.chance == (Fraction(1, 2) + Fraction(1, 3)) / 2


def test_the_cheapest_choice_is_the_answer_and_the_first_of_equals() -> None:
    questions = [_question(right=0), _question(right=1), _question(right=1)]
    losses = [_losses(9_000, 9_000, 50_000), _losses(9_000, 9_000, 50_000), _losses(9, 2, 9)]
    totals = ChoiceTotals.of(questions, losses)
    assert (totals.asked, totals.right) == (3, 2)
    assert totals.accuracy == 2 / 3


def test_the_normed_answer_is_the_cheapest_for_its_length() -> None:
    # 5, 4 and 3 characters: 2.0, 2.1 and 2.2 bits for each.
    totals = ChoiceTotals.of([_question(right=0)], [_losses(10_000, 8_400, 6_600)])
    assert (totals.right, totals.right_normed) == (0, 1)


@pytest.mark.parametrize(
    ("losses", "right", "close"),
    [
        ((20_000, 20_000, 90_000), 0, 1),  # equal: the first of them
        ((20_043, 20_000, 90_000), 1, 0),
        ((20_042, 20_000, 90_000), 1, 1),  # 20.02 + 20, and a millibit each for the rounding
        ((90_000, 20_000, 20_001), 1, 1),
        ((20_000, 20_001, 90_000), 0, 1),
        ((20_000, 20_001, 20_000), 0, 1),
        ((10_000, 20_000, 10_000), 0, 0),  # two are close, but neither is right
    ],
)
def test_close_are_questions_in_which_honest_computers_may_differ(
    losses: tuple[int, ...], right: int, close: int
) -> None:
    totals = ChoiceTotals.of([_question(right=1)], [_losses(*losses)])
    assert (totals.right, totals.close) == (right, close)


@pytest.mark.parametrize(
    ("losses", "right", "close"),
    [
        ((10_000, 100_250, 1_003), 1, 1),  # as two honest computers may find it: 1.1 and 2.003
        ((10_011, 100_250, 1_001), 0, 1),  # per character are allowed to the first and last
        ((10_000, 100_250, 1_004), 1, 0),
        ((10_000, 99_000, 1_000), 0, 0),  # the second is cheaper by more than is allowed
    ],
)
def test_per_length_a_third_choice_may_be_close(
    losses: tuple[int, ...], right: int, close: int
) -> None:
    question = _question(right=0, characters=(10, 100, 1))
    totals = ChoiceTotals.of([question], [_losses(*losses)])
    assert (totals.right_normed, totals.close_normed) == (right, close)


def test_a_question_that_was_not_read_is_not_right() -> None:
    losses = [_losses(), ChoiceLosses(millibits=(2, 1, 3), is_cut=True)]
    totals = ChoiceTotals.of([_question(right=0), _question(right=1)], losses)
    assert (totals.asked, totals.unread, totals.cut, totals.right) == (2, 1, 1, 1)


def test_losses_are_rounded_to_thousandths_of_a_bit() -> None:
    assert round_losses([math.log(2), 0.0], is_cut=False).millibits == (1_000, 0)
    for wrong in (math.nan, math.inf, -1.0):
        with pytest.raises(ValueError, match="invalid negative log-likelihood"):
            round_losses([wrong], is_cut=False)


def test_the_interval_is_wilsons() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table I.
    for right, asked, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)):
        assert interval_95(right, asked) == pytest.approx((low, high), abs=5e-5)
    assert interval_95(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert interval_95(29, 29) == pytest.approx((0.8830, 1.0), abs=5e-5)
