"""A stranger's audit counts the audits by repeated training, and the points at stake."""

from __future__ import annotations

import json

import msgspec

from tequio_client.verify.audit import AuditOptions, audit
from tequio_shared.round.manifest import AuditRules
from tequio_shared.statements.runs import AuditReport
from tests.client.verify.logs import SwarmLog
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest


def test_audits_and_points_are_counted_from_the_log() -> None:
    rules = AuditRules(unproven_bp=5_000, others_bp=500)
    swarm = Swarm(msgspec.structs.replace(tiny_manifest(most=200), audit=rules), seed=0)
    for at in range(8):
        swarm.volunteer(f"v{at}")
    swarm.run_rounds(9)
    report = audit(SwarmLog(swarm), AuditOptions())
    bodies = [one.statement.body for one in swarm.entries]
    sent = [one for one in bodies if isinstance(one, AuditReport) and not one.declines]
    earned = swarm.view.accounts.earned.values()
    totals = report.totals
    assert totals is not None
    assert totals.reports == len(sent) > 0
    assert totals.repeated == len({one.contribution for one in sent})
    assert (totals.declined, totals.not_done, totals.withheld, totals.contradicted) == (0, 0, 0, 0)
    assert totals.unvested == sum(one.unvested for one in earned) > 0
    assert totals.vested + totals.unvested == sum(one.trainer + one.witness for one in earned)
    audits, points = totals.lines()
    assert audits.startswith(f"Audits by repeated training: {totals.repeated} contributions in ")
    assert points.endswith(" 0 forfeited.")
    assert json.loads(report.encode())["audits"]["reports"] == totals.reports
