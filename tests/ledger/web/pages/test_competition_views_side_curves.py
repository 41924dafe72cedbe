"""Curves of several swarms: one scale, one unit, and looks that can be told apart."""

from __future__ import annotations

import dataclasses
import math

from tequio_ledger.web.pages.competition_charts import SwarmHistory, side_curves
from tequio_shared.ids import PeerKey
from tequio_shared.served.rows import MeasuredHead, MeasuredRow, RoundRow
from tequio_shared.statements.runs import HeadMeasure


def past(number: int, nats: float) -> RoundRow:
    return RoundRow(
        run=bytes(32),
        round=number,
        roster_index=0,
        roster=bytes(32),
        outcome="closed",
        opened_ms=0,
        ended_ms=1,
        closed_index=number,
        accepted=1,
        tokens=1,
        loss_q16=int(nats * 65_536),
    )


def swarm(name: str, *nats: float, tokens_per_byte: float | None = 0.25) -> SwarmHistory:
    rounds = [past(number, one) for number, one in enumerate(nats, 1)]
    return SwarmHistory(
        entrant=name,
        run="r" * 43,
        name=name,
        rounds=rounds,
        heads=(),
        tokens_per_byte=tokens_per_byte,
    )


def measured(number: int, millibits: int) -> MeasuredHead:
    said = HeadMeasure(head="h" * 43, millibits=millibits, size_bytes=1_000, tokens=900)
    row = MeasuredRow(entry=number, peer=PeerKey(bytes(32)), said=said, is_outlier=False)
    return MeasuredHead(round=number, head=bytes(32), median=said, rows=(row,))


def test_measures_are_shown_where_all_swarms_have_them() -> None:
    heads = [measured(0, 8_000_000), measured(10, 2_500_000)]
    one = dataclasses.replace(swarm("a", 4.0, 2.0), heads=heads)
    other = dataclasses.replace(swarm("b", 3.0, tokens_per_byte=None), heads=heads[:1])
    assert not side_curves([one, other], left_out=0).is_measured
    both = side_curves([one, dataclasses.replace(other, heads=heads)], left_out=0)
    assert both.is_measured
    assert both.unit == "bits per byte"
    assert [reading.value for reading in both.sides[1].readings] == [8.0, 2.5]
    assert both.sides[0].caption == "round 10: 2.5000 bits per byte (byte perplexity 5.6569)"


def test_losses_become_bits_per_byte_where_all_tokens_are_known() -> None:
    curves = side_curves([swarm("a", 4.0, 2.0), swarm("b", 3.0)], left_out=0)
    assert curves.unit == "bits per byte"
    assert math.isclose(curves.sides[0].readings[-1].value, 2.0 * 0.25 / math.log(2), rel_tol=1e-4)
    mixed = side_curves([swarm("a", 4.0), swarm("b", 3.0, tokens_per_byte=None)], left_out=0)
    assert mixed.unit == "nats per token"
    assert mixed.sides[0].readings[0].value == 4.0


def test_all_swarms_share_one_scale_and_keep_their_looks() -> None:
    curves = side_curves([swarm("a", 4.0, 2.0), swarm("b", 4.0, 2.0, 1.0)], left_out=3)
    assert curves.left_out == 3
    for layout in curves.layouts:
        first, second = layout.curves
        assert (first.look, second.look) == (0, 1)
        assert first.x < second.x == layout.right
        assert first.y < second.y <= layout.base, "a lower loss is lower"
        assert first.path.partition("C")[0] == second.path.partition("C")[0], "the same beginning"
    assert curves.summary.startswith("a: round 2: ")


def test_a_swarm_without_rounds_is_named_and_not_drawn() -> None:
    curves = side_curves([swarm("a", 4.0, 2.0), swarm("b")], left_out=0)
    assert [len(one.curves) for one in curves.layouts] == [1, 1]
    assert curves.sides[1].caption == "no closed round yet"
    assert side_curves([swarm("b")], left_out=0).layouts == ()
    assert side_curves([], left_out=0).sides == ()


def test_a_long_curve_is_drawn_as_means_and_the_legend_says_its_last_value() -> None:
    curves = side_curves([swarm("a", *[4.0] * 149, 2.0, tokens_per_byte=None)], left_out=0)
    (side,) = curves.sides
    assert side.caption == "round 150: 2.0000 nats per token"
    assert side.readings[-1].caption == "mean of rounds 149 to 150: 3.0000 nats per token"
