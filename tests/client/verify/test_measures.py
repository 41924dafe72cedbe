"""The audit of measures of heads: who was drawn follows from the log."""

from __future__ import annotations

from functools import cache

import msgspec

from tequio_client.verify.audit import AuditOptions, audit
from tequio_shared.ids import to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.manifest import MeasureRules
from tequio_shared.statements.runs import HeadMeasure
from tests.client.verify.logs import SwarmLog
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft


def last_measure(swarm: Swarm) -> StatementDraft:
    """Say something of the last head."""
    head = swarm.view.head
    assert head is not None
    body = HeadMeasure(head=to_text(head.hash), millibits=7_000_000, size_bytes=1_000, tokens=1_000)
    return StatementDraft(body, head.round)


@cache
def measured_swarm() -> Swarm:
    """A finished run whose last head all drawn members measured; not to be changed."""
    rules = msgspec.structs.replace(tiny_manifest(most=2), measure=MeasureRules())
    swarm = Swarm(manifest=rules, seed=5)
    for at in range(5):
        swarm.volunteer(f"v{at}")
    swarm.run()
    assert swarm.view.state is RunState.FINISHED
    draw = swarm.view.drawn
    assert draw is not None
    for one in swarm.volunteers:
        if one.key in draw.drawn:
            swarm.post(one, last_measure(swarm))
    return swarm


def test_measures_of_drawn_members_are_sound() -> None:
    report = audit(SwarmLog(measured_swarm()), AuditOptions())
    assert [one.line() for one in report.findings] == []
    assert report.checked["measures of heads"] == 3


def test_a_measure_of_somebody_who_was_not_drawn_is_named() -> None:
    swarm = measured_swarm()
    draw = swarm.view.drawn
    assert draw is not None
    one = next(each for each in swarm.volunteers if each.key not in draw.drawn)
    entry = one.sign(swarm.net, swarm.manifest.run_id, last_measure(swarm), swarm.now_ms)
    log = SwarmLog(swarm)
    index = len(log.leaves)
    log.leaves.append(entry.leaf())
    log.sign()
    report = audit(log, AuditOptions())
    (found,) = [each for each in report.findings if each.place.entry == index]
    assert found.what == "head.measure statement"
    assert found.detail.startswith("wrong-role")
