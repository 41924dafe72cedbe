"""Verdicts on measured heads: fine, worse than an earlier head, or not measured yet.

Rules. A verdict is a function of the log alone: of the measures that drawn members state, of the
run's rules, and of its rollbacks. A head is judged once at least two members, and more than half of
those that the rules let measure, agree with the median, so one that lies moves no verdict. It is
compared with the best of the judged heads that it was made from, among the `COMPARED_HEADS`
measured before it. It is worse if its lowest measure lies above the highest measure of that head by
more than the margin. A verdict stops nothing: with `tequio run watch`, organisers act on it.
Among the last published heads of a run, one is `latest` and one `best`.
(docs/protocol.md, 9.9)

Theory. All heads of a run are measured on the same text, so the choice of the text adds no noise
between two of them. What remains is the arithmetic of devices, which the agreeing measures span,
and training itself, which goes up and down: the margin is for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from fractions import Fraction
from typing import TYPE_CHECKING

from tequio_shared.limits import COMPARED_HEADS, JSON_INTEGER
from tequio_shared.network.rollback import RollbackRounds, lineage
from tequio_shared.round import measures
from tequio_shared.scoring import MILLIBITS, power_of_two

if TYPE_CHECKING:
    from tequio_shared.round.manifest import MeasureRules
    from tequio_shared.statements.runs import HeadMeasure


@unique
class HeadVerdict(StrEnum):
    """The judgement of the members that measured a head."""

    UNMEASURED = "unmeasured"
    """Too few measures agree."""
    FINE = "fine"
    WORSE = "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRange:
    """The agreeing measures of one head, in millibits per byte."""

    round: int
    text: tuple[int, int]
    """Bytes and tokens of the text."""
    low: Fraction
    middle: Fraction
    high: Fraction
    agreeing: int

    @property
    def bits_per_byte(self) -> float:
        """The median."""
        return float(self.middle / MILLIBITS)

    @property
    def perplexity(self) -> float:
        """2 to the bits that the median needs for a token; infinite where that overflows."""
        size_bytes, tokens = self.text
        return power_of_two(self.bits_per_byte * size_bytes / tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedHead:
    """A verdict on the head of a round, and the head that it was compared with."""

    round: int
    verdict: HeadVerdict
    measured: MeasuredRange | None
    """None as long as too few measures agree."""
    best: MeasuredRange | None
    """The best head before it; None: there is none to compare with, or nothing to compare."""


def measured_range(
    round_number: int, of_head: Sequence[HeadMeasure], rules: MeasureRules
) -> MeasuredRange | None:
    """Span of the measures that agree with the median; None if they are too few to judge."""
    if not of_head:
        return None
    middle = measures.median(of_head)
    agreeing = [one for one in of_head if measures.agree(one, middle)]
    if len(agreeing) < rules.least_agreeing:
        return None
    values = [_millibits_per_byte(one) for one in agreeing]
    return MeasuredRange(
        round=round_number,
        text=(middle.size_bytes, middle.tokens),
        low=min(values),
        middle=_millibits_per_byte(middle),
        high=max(values),
        agreeing=len(agreeing),
    )


def judge(
    heads: Iterable[tuple[int, Sequence[HeadMeasure]]],
    rollbacks: Sequence[RollbackRounds],
    rules: MeasureRules,
) -> list[JudgedHead]:
    """Judge measured heads, ascending by round, each by those before it among the given ones.

    Each comes with its measures. `rollbacks` are those of the run, the oldest first. Costs
    O(heads x (`COMPARED_HEADS` + rollbacks)).
    """
    found: list[JudgedHead] = []
    for number, of_head in heads:
        made_from = lineage(rollbacks, number)
        earlier = [
            one.measured
            for one in found[-COMPARED_HEADS:]
            if one.measured is not None and _leads_to(made_from, one.round)
        ]
        measured = measured_range(number, of_head, rules)
        found.append(_judged(number, measured, earlier, rules.worse_margin))
    return found


def newest_fine(judged: Sequence[JudgedHead], rollbacks: Sequence[RollbackRounds]) -> int | None:
    """Round of the newest fine head that the next round builds on; None without any."""
    made_from = lineage(rollbacks, JSON_INTEGER)
    return next(
        (
            one.round
            for one in reversed(judged)
            if one.verdict is HeadVerdict.FINE and _leads_to(made_from, one.round)
        ),
        None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadAliases:
    """Rounds of the published heads that have a name; None if no head has it."""

    latest: int | None
    """The newest head."""
    best: int | None
    """The head with the fewest bits per byte, of those whose measures agree."""

    def of(self, round_number: int) -> tuple[str, ...]:
        """Names of the head of a round."""
        named = (("latest", self.latest), ("best", self.best))
        return tuple(name for name, number in named if number == round_number)


def head_aliases(
    published: Iterable[int],
    measured: Mapping[int, MeasuredRange | None],
    rollbacks: Sequence[RollbackRounds],
) -> HeadAliases:
    """Name heads among the published ones, by round; a head that was given up has no name.

    `measured` has at least the measured heads among them. Costs O(heads x rollbacks).
    """
    made_from = lineage(rollbacks, JSON_INTEGER)
    rounds = [number for number in published if _leads_to(made_from, number)]
    ranges = [one for number in rounds if (one := measured.get(number)) is not None]
    # Bits of different texts cannot be compared: the text that most heads were measured on counts.
    texts = Counter(one.text for one in sorted(ranges, key=lambda one: -one.round))
    text = texts.most_common(1)[0][0] if texts else None
    comparable = [one for one in ranges if one.text == text]
    best = min(comparable, key=lambda one: (one.middle, -one.round), default=None)
    return HeadAliases(latest=max(rounds, default=None), best=best.round if best else None)


def _leads_to(made_from: Sequence[range], round_number: int) -> bool:
    return round_number == 0 or any(round_number in rounds for rounds in made_from)


def _judged(
    number: int, measured: MeasuredRange | None, earlier: Sequence[MeasuredRange], margin: int
) -> JudgedHead:
    if measured is None:
        return JudgedHead(round=number, verdict=HeadVerdict.UNMEASURED, measured=None, best=None)
    # Bits of another text say nothing about this one: a liars' majority could name a longer text.
    comparable = [one for one in earlier if one.text == measured.text]
    # Of two equally good heads, the later one: members are more likely to have it still.
    best = min(comparable, key=lambda one: (one.high, -one.round), default=None)
    is_worse = best is not None and measured.low - best.high > margin
    verdict = HeadVerdict.WORSE if is_worse else HeadVerdict.FINE
    return JudgedHead(round=number, verdict=verdict, measured=measured, best=best)


def _millibits_per_byte(measure: HeadMeasure) -> Fraction:
    return Fraction(measure.millibits, measure.size_bytes)
