"""Measures of heads: who is drawn, what is taken from whom and how long, and what they come to."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared import vrf
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import from_text, sha256, to_text
from tequio_shared.limits import MEASURED_HEADS
from tequio_shared.network.run import RunView
from tequio_shared.network.run_states import RunState
from tequio_shared.round import measures
from tequio_shared.round.manifest import Manifest, MeasureRules
from tequio_shared.statements.runs import HeadAttest, HeadMeasure, HeadPromote
from tests.support.attack_table import attack
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from tequio_shared.head.chain import Head
    from tequio_shared.round.measures import MeasureDraw
    from tests.support.volunteers import Volunteer


MEMBERS = 6


def measuring(every: int = 2, *, seed: int = 0, most: int = 4) -> Swarm:
    """Let members of a run that measures train; nobody measures unless a test lets it."""
    rules = msgspec.structs.replace(tiny_manifest(most=most), measure=MeasureRules(every=every))
    swarm = Swarm(manifest=rules, seed=seed)
    for at in range(MEMBERS):
        swarm.volunteer(f"v{at}")
    return swarm


def until_draw(swarm: Swarm) -> MeasureDraw:
    """Go on to the next draw."""
    before = swarm.view.drawn
    while swarm.view.drawn is before:
        assert swarm.step()
    assert swarm.view.drawn is not None
    return swarm.view.drawn


def drawn(swarm: Swarm, draw: MeasureDraw) -> list[Volunteer]:
    by_key = {one.key: one for one in swarm.volunteers}
    return [by_key[key] for key in draw.drawn]


def told(swarm: Swarm) -> tuple[int | None, float | None]:
    """Of which head anything is known, and what."""
    draw = swarm.view.measured
    return (None, None) if draw is None else (draw.head.round, draw.bits_per_byte)


def said(head: Head, millibits: int = 7_000_000, size_bytes: int = 1_000) -> StatementDraft:
    body = HeadMeasure(
        head=to_text(head.hash), millibits=millibits, size_bytes=size_bytes, tokens=900
    )
    return StatementDraft(body, head.round)


def test_the_lowest_lots_of_those_that_attest_the_head_by_its_promotion_measure() -> None:
    swarm = measuring()
    draw = until_draw(swarm)
    current = swarm.view.round
    assert current is not None
    assert isinstance(swarm.entries[-1].statement.body, HeadPromote)
    assert draw.head == swarm.view.head
    keys = current.roster.keys
    order = sorted(
        current.attests,
        key=lambda slot: sha256(
            b"tequio/v1/measure\0", vrf.output(from_text(current.attests[slot].vrf, 80))
        ),
    )
    assert draw.drawn == tuple(keys[slot] for slot in sorted(order[:3]))
    assert len(current.attests) < MEMBERS, "a quorum is enough, so the others cannot be drawn"


def test_who_states_another_head_is_not_drawn() -> None:
    swarm = measuring()
    while swarm.view.round is None:
        assert swarm.step()
    current = swarm.view.round
    while swarm.view.drawn is None:
        assert swarm.step()
    head = swarm.view.drawn.head
    liars = copy.deepcopy(current)
    for slot, attest in list(liars.attests.items())[:2]:
        other = to_text(sha256(b"another head"))
        liars.attests[slot] = msgspec.structs.replace(attest, head=other)
    assert isinstance(next(iter(liars.attests.values())), HeadAttest)
    keys = liars.roster.keys
    honest = {keys[slot] for slot, one in liars.attests.items() if one.head == to_text(head.hash)}
    draws = measures.MeasureDraws(is_whole=True)
    draws.draw_for(liars, head)
    assert draws.last is not None
    assert set(draws.last.drawn) <= honest


def test_the_lot_falls_on_others_from_head_to_head() -> None:
    swarm = measuring(every=1)
    draws = {until_draw(swarm).drawn for _ in range(4)}
    assert len(draws) > 1


def test_heads_of_every_so_many_rounds_are_drawn_for_and_the_last_one() -> None:
    swarm = measuring(every=2, most=3)
    heads = [until_draw(swarm).head.round for _ in range(3)]
    assert heads == [0, 2, 3]
    assert swarm.view.state is RunState.COOLDOWN


@pytest.mark.parametrize("measure", [MeasureRules(every=0), msgspec.UNSET])
def test_a_run_that_measures_nothing_draws_nobody(measure: MeasureRules) -> None:
    rules = msgspec.structs.replace(tiny_manifest(most=2), measure=measure)
    swarm = Swarm(manifest=rules)
    one = swarm.volunteer("one")
    swarm.volunteer("other")
    swarm.run()
    assert swarm.view.drawn is None
    head = swarm.view.head
    assert head is not None
    with pytest.raises(RefusedError, match="no measures are open"):
        swarm.post(one, said(head))


def test_a_drawn_member_is_heard_once_and_the_median_stands() -> None:
    swarm = measuring()
    draw = until_draw(swarm)
    assert told(swarm) == (None, None)
    for one, millibits in zip(drawn(swarm, draw), (7_100_000, 90_000_000, 7_000_000), strict=True):
        swarm.post(one, said(draw.head, millibits))
    assert told(swarm) == (draw.head.round, 7.1)
    with pytest.raises(RefusedError) as refusal:
        swarm.post(drawn(swarm, draw)[0], said(draw.head))
    assert refusal.value.code == "already-said"
    assert len(draw.measures) == 3


@attack("P10", layer="coord", ends="refused unless from a drawn member, for the drawn head, once")
def test_what_nobody_asked_for_is_refused_without_a_trace() -> None:
    swarm = measuring()
    draw = until_draw(swarm)
    one = drawn(swarm, draw)[0]
    outside = next(each for each in swarm.volunteers if each.key not in draw.drawn)
    asked = said(draw.head)
    another = msgspec.structs.replace(asked.body, head=to_text(sha256(b"another head")))
    refused = (
        (outside, asked, "wrong-role"),
        (one, StatementDraft(another, draw.head.round), "wrong-head"),
        (one, StatementDraft(asked.body, draw.head.round + 1), "wrong-head"),
    )
    before = copy.deepcopy(swarm.view)
    for author, what, code in refused:
        with pytest.raises(RefusedError) as refusal:
            swarm.post(author, what)
        assert refusal.value.code == code
    assert swarm.view == before


def test_a_head_may_be_measured_until_so_many_later_ones_are_drawn_for() -> None:
    swarm = measuring(every=1, most=MEASURED_HEADS + 2)
    draw = until_draw(swarm)
    first, second, third = drawn(swarm, draw)
    swarm.post(first, said(draw.head))
    for _ in range(MEASURED_HEADS - 1):
        later = until_draw(swarm)
    swarm.post(second, said(draw.head))
    assert swarm.view.measured is draw, "the newest of which anything is known"
    swarm.post(drawn(swarm, later)[0], said(later.head))
    assert swarm.view.measured is later
    until_draw(swarm)
    with pytest.raises(RefusedError, match="open for the heads of rounds 1, 2, 3, 4") as refusal:
        swarm.post(third, said(draw.head))
    assert refusal.value.code == "wrong-head"


def test_a_late_word_about_an_older_head_leaves_the_newest_that_is_known() -> None:
    swarm = measuring(every=1)
    old, new = until_draw(swarm), until_draw(swarm)
    swarm.post(drawn(swarm, new)[0], said(new.head))
    swarm.post(drawn(swarm, old)[0], said(old.head, 9_000_000))
    assert told(swarm) == (new.head.round, 7.0)
    assert len(old.measures) == 1


def test_the_last_head_is_measured_when_the_run_is_over() -> None:
    swarm = measuring(most=1)
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    draw = swarm.view.drawn
    assert draw is not None
    assert draw.head == swarm.view.head
    for one in drawn(swarm, draw):
        swarm.post(one, said(draw.head))
    assert draw.bits_per_byte == pytest.approx(7.0)
    assert draw.perplexity == pytest.approx(2 ** (7_000 / 900))
    assert swarm.view.state is RunState.FINISHED


def test_a_replay_draws_the_same_and_hears_the_same() -> None:
    swarm = measuring(every=1)
    for _ in range(3):
        draw = until_draw(swarm)
        swarm.post(drawn(swarm, draw)[-1], said(draw.head))
    again = swarm.replay()
    assert again.drawn == swarm.view.drawn
    assert again.measured == swarm.view.measured


def light_from_here(swarm: Swarm) -> RunView:
    return RunView.light(
        swarm.net, swarm.manifest, head=swarm.view.head, next_head=swarm.view.next_head
    )


def test_a_light_view_takes_on_trust_what_was_drawn_before_it_began() -> None:
    swarm = measuring(every=2)
    draw = until_draw(swarm)
    swarm.run_rounds(1)
    light, begun = light_from_here(swarm), len(swarm.entries)
    swarm.post(drawn(swarm, draw)[0], said(draw.head))
    assert follow(light, swarm, begun).measured is None
    seen = len(swarm.entries)
    later = until_draw(swarm)
    swarm.post(drawn(swarm, draw)[1], said(draw.head))
    swarm.post(drawn(swarm, later)[0], said(later.head))
    assert follow(light, swarm, seen).measured == later


def test_a_light_view_that_was_told_of_an_earlier_draw_holds_words_against_it() -> None:
    swarm = measuring(every=1)
    first, second = until_draw(swarm), until_draw(swarm)
    swarm.run_rounds(2)
    light, begun = light_from_here(swarm), len(swarm.entries)
    light.draws.add_earlier(copy.deepcopy(second))
    swarm.post(drawn(swarm, second)[0], said(second.head))
    swarm.post(drawn(swarm, first)[0], said(first.head))
    assert follow(light, swarm, begun).measured == second
    outside = next(one for one in swarm.volunteers if one.key not in second.drawn)
    lie = outside.sign(swarm.net, swarm.manifest.run_id, said(second.head), swarm.now_ms)
    with pytest.raises(RefusedError, match="not drawn"):
        light.apply(len(swarm.entries), lie.statement, 0, swarm.blobs.__getitem__)
    seen = len(swarm.entries)
    later = until_draw(swarm)
    assert follow(light, swarm, seen).drawn == later


def follow(view: RunView, swarm: Swarm, first: int) -> RunView:
    for index in range(first, len(swarm.entries)):
        view.apply(index, swarm.entries[index].statement, 0, swarm.blobs.__getitem__)
    return view


def measure(millibits: int, size_bytes: int = 1_000, tokens: int = 900) -> HeadMeasure:
    head = to_text(sha256(b"head"))
    return HeadMeasure(head=head, millibits=millibits, size_bytes=size_bytes, tokens=tokens)


def test_the_median_of_an_even_number_is_the_worse() -> None:
    assert measures.median([measure(7_000), measure(7_001)]) == measure(7_001)
    assert measures.median([measure(7_000, 500), measure(9_000)]) == measure(7_000, 500)


@attack("P10", layer="coord", ends="one of three does not change the median, and is marked")
@pytest.mark.parametrize(
    ("other", "far"),
    [
        (measure(7_000_000), set()),
        (measure(7_007_000), set()),
        (measure(7_007_001), {"c"}),
        (measure(6_992_999), {"c"}),
        (measure(0), {"c"}),
        (measure(7_000_000, tokens=901), {"c"}),
        (measure(7_000_000, size_bytes=1_001), {"c"}),
    ],
)
def test_who_is_far_from_the_median_is_an_outlier(other: HeadMeasure, far: set[str]) -> None:
    three = {"a": measure(7_000_000), "b": measure(7_000_000), "c": other}
    assert measures.outliers(three) == far


def test_of_two_nobody_can_say_who_is_wrong() -> None:
    assert measures.outliers({"a": measure(7_000_000), "b": measure(9_000_000)}) == frozenset()


@pytest.mark.parametrize("field", ["size_bytes", "tokens"])
def test_a_measure_of_nothing_is_none(field: str) -> None:
    raw = msgspec.json.decode(msgspec.json.encode(measure(1)))
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**raw, field: 0}, HeadMeasure)


def test_a_manifest_without_the_section_is_as_it_was_and_reads_back() -> None:
    plain = tiny_manifest()
    assert b"measure" not in plain.encode()
    asked = msgspec.structs.replace(plain, measure=MeasureRules(every=3))
    assert Manifest.parse(asked.encode()) == asked
    assert asked.run_id != plain.run_id
    broken = asked.encode().replace(b'"members":3', b'"members":17')
    with pytest.raises(MalformedError):
        Manifest.parse(broken)
