"""Verdicts on heads: what is worse, what is noise, and whose word moves nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tequio_shared.ids import to_text
from tequio_shared.limits import COMPARED_HEADS, WORSE_MARGIN
from tequio_shared.network.rollback import Rollback
from tequio_shared.network.verdicts import (
    HeadAliases,
    HeadVerdict,
    JudgedHead,
    head_aliases,
    judge,
    measured_range,
    newest_fine,
)
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.statements.runs import HeadMeasure

RULES = MeasureRules()
BYTES, TOKENS = 10_000, 3_000
FINE, WORSE, UNMEASURED = HeadVerdict.FINE, HeadVerdict.WORSE, HeadVerdict.UNMEASURED


def said(*millibits_per_byte: float, size_bytes: int = BYTES) -> list[HeadMeasure]:
    """One measure for each figure."""
    return [
        HeadMeasure(
            head=to_text(bytes(32)),
            millibits=round(one * size_bytes),
            size_bytes=size_bytes,
            tokens=TOKENS,
        )
        for one in millibits_per_byte
    ]


def judged(
    *heads: Sequence[HeadMeasure],
    rules: MeasureRules = RULES,
    rollbacks: Sequence[Rollback] = (),
) -> list[JudgedHead]:
    """Judge the heads of rounds 0, 10, 20 and so on."""
    return judge([(10 * at, one) for at, one in enumerate(heads)], rollbacks, rules)


def verdicts(found: Sequence[JudgedHead]) -> list[tuple[HeadVerdict, int | None]]:
    return [(one.verdict, one.best.round if one.best else None) for one in found]


def agreeing(value: float) -> list[HeadMeasure]:
    return said(value, value, value)


def back(head_round: int, last_round: int) -> Rollback:
    return Rollback(index=0, head_round=head_round, last_round=last_round)


def test_a_head_is_worse_than_the_best_before_it_and_not_than_the_last() -> None:
    found = judged(agreeing(1_500), agreeing(1_000), agreeing(1_015), agreeing(1_030))
    assert verdicts(found) == [(FINE, None), (FINE, 0), (FINE, 10), (WORSE, 10)]
    last = found[-1]
    assert last.measured is not None
    assert last.best is not None
    assert (last.measured.bits_per_byte, last.best.bits_per_byte) == (1.03, 1.0)
    assert last.best.perplexity == 2 ** (BYTES / TOKENS)


def test_what_the_margin_and_the_devices_explain_is_noise() -> None:
    edge = 1_000 + WORSE_MARGIN
    assert judged(agreeing(1_000), agreeing(edge))[-1].verdict is FINE
    assert judged(agreeing(1_000), agreeing(edge + 1))[-1].verdict is WORSE
    # The lowest of the new measures against the highest of the old ones.
    spread = judged(said(1_000, 1_000, 1_001), said(edge + 1, edge + 1, edge + 1))
    assert spread[-1].verdict is FINE
    wide = MeasureRules(margin=200)
    assert judged(agreeing(1_000), agreeing(1_200), rules=wide)[-1].verdict is FINE
    assert judged(agreeing(1_000), agreeing(1_201), rules=wide)[-1].verdict is WORSE


def test_a_member_that_lies_moves_no_verdict() -> None:
    good, bad = 1_000, 9_000
    for lie in (bad, 1):
        found = judged(agreeing(good), said(good, good, lie), said(good, lie, good))
        assert [one.verdict for one in found] == [FINE, FINE, FINE]
        assert judged(agreeing(good), said(lie))[-1].verdict is UNMEASURED
        assert judged(agreeing(good), said(good, lie))[-1].verdict is UNMEASURED
    # Nor can one hide what the others see, or make an earlier head look better than it was.
    assert judged(agreeing(good), said(bad, bad, 1))[-1].verdict is WORSE
    assert verdicts(judged(said(good, good, 1), agreeing(good)))[-1] == (FINE, 0)


def test_more_than_half_of_those_that_measure_have_to_agree() -> None:
    five = MeasureRules(members=5)
    assert judged(agreeing(1_000), said(9_000, 9_000), rules=five)[-1].verdict is UNMEASURED
    assert judged(agreeing(1_000), agreeing(9_000), rules=five)[-1].verdict is WORSE
    one = MeasureRules(members=1)
    assert judged(said(1_000), said(9_000), rules=one)[-1].verdict is UNMEASURED
    two = MeasureRules(members=2)
    assert judged(said(1_000, 1_000), said(9_000, 9_000), rules=two)[-1].verdict is WORSE


def test_heads_on_another_text_are_not_compared() -> None:
    found = judged(agreeing(1_000), said(9_000, 9_000, size_bytes=BYTES + 1))
    assert verdicts(found) == [(FINE, None), (FINE, None)]


def test_heads_that_were_given_up_are_compared_with_nothing() -> None:
    heads = [agreeing(1_500), agreeing(1_200), agreeing(1_000), agreeing(1_210)]
    assert verdicts(judged(*heads))[-1] == (WORSE, 20)
    gone = (back(10, 25),)
    assert verdicts(judged(*heads, rollbacks=gone))[-1] == (FINE, 10)
    # The first head leads to everything.
    assert verdicts(judged(*heads, rollbacks=(back(0, 25),)))[-1] == (FINE, 0)


def test_a_later_rollback_changes_no_verdict() -> None:
    heads = [agreeing(1_000), agreeing(9_000)]
    assert judged(*heads) == judged(*heads, rollbacks=(back(0, 14),))


def test_the_newest_fine_head_is_one_that_the_next_round_builds_on() -> None:
    found = judged(agreeing(1_500), agreeing(1_200), agreeing(1_100), agreeing(2_000), said(1))
    assert newest_fine(found, ()) == 20
    assert newest_fine(found, (back(10, 45),)) == 10
    assert newest_fine(found, (back(0, 45),)) == 0
    assert newest_fine(judged(said(1)), ()) is None


def test_only_so_many_heads_before_it_are_compared() -> None:
    later = [agreeing(2_000)] * COMPARED_HEADS
    assert verdicts(judged(agreeing(1_000), *later))[-1] == (WORSE, 0)
    assert verdicts(judged(agreeing(1_000), *later, agreeing(2_000)))[-1] == (
        FINE,
        10 * COMPARED_HEADS,
    )


@pytest.mark.parametrize("members", range(1, 17))
def test_the_rules_ask_for_a_majority_and_never_for_one_alone(members: int) -> None:
    least = MeasureRules(members=members).least_agreeing
    assert least >= 2
    assert 2 * least > members


def aliases(
    heads: Mapping[int, Sequence[HeadMeasure]],
    *,
    published: Sequence[int],
    rollbacks: Sequence[Rollback] = (),
) -> HeadAliases:
    measured = {number: measured_range(number, one, RULES) for number, one in heads.items()}
    return head_aliases(published, measured, rollbacks)


def test_the_latest_head_is_the_newest_published_one_and_the_best_has_the_fewest_bits() -> None:
    heads = {10: agreeing(1_100), 20: agreeing(900), 30: agreeing(1_000), 40: agreeing(800)}
    found = aliases(heads, published=(10, 20, 30))
    assert (found.latest, found.best) == (30, 20), "that of round 40 is not published"
    assert (found.of(30), found.of(20), found.of(10)) == (("latest",), ("best",), ())
    both = aliases({10: agreeing(1_000), 20: agreeing(1_000)}, published=(10, 20))
    assert both.of(20) == ("latest", "best"), "of two that are equally good, the later one"


def test_a_head_on_which_too_few_agree_and_one_of_another_text_are_not_the_best() -> None:
    lied = said(100), said(100, 1_000, 2_000), said(100, 100, 100, size_bytes=BYTES * 9)
    for at, measures in enumerate(lied):
        heads = {10: agreeing(1_000), 20: agreeing(1_001), 30: measures}
        assert aliases(heads, published=(10, 20, 30)).best == 10, at
    other = said(1_200, 1_200, 1_200, size_bytes=BYTES * 9)
    assert aliases({10: agreeing(1_000), 20: other}, published=(10, 20)).best == 20, "the newest"
    assert aliases({}, published=(10, 20)) == HeadAliases(latest=20, best=None)
    assert aliases({}, published=()) == HeadAliases(latest=None, best=None)


def test_a_head_that_was_given_up_has_no_alias() -> None:
    heads = {0: agreeing(3_000), 10: agreeing(1_000), 20: agreeing(900), 30: agreeing(950)}
    found = aliases(heads, published=(0, 10, 20), rollbacks=[back(10, 20)])
    assert found == HeadAliases(latest=10, best=10)
    found = aliases(heads, published=(0, 10, 20, 30), rollbacks=[back(10, 20)])
    assert found == HeadAliases(latest=30, best=30)
