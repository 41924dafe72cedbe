"""The audit folds how keys stand, and names what does not follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.verify.audit import AuditOptions, audit
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.network.coordination import decide
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import Standing
from tequio_shared.statements.network import FaultReport, MemberLeave, StandingChange
from tequio_shared.statements.runs import RoundRoster
from tests.client.verify.logs import SwarmLog
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_client.verify.report import LogReport
    from tequio_shared.statements.statement import Body


@pytest.fixture
def swarm() -> Swarm:
    """A run between two rounds, with a report in its log of a key that contradicts itself."""
    swarm = Swarm(manifest=tiny_manifest(most=5), seed=3)
    for name in ("ana", "bo", "cleo", "dan"):
        swarm.volunteer(name)
    swarm.run_rounds(1)
    liar, run = swarm.volunteers[0], swarm.manifest.run_id
    pair = [
        liar.sign(swarm.net, run, StatementDraft(MemberLeave(reason=n)), swarm.now_ms)
        for n in (1, 2)
    ]
    first, second = (to_text(entry.leaf()) for entry in pair)
    swarm.log_statement(
        swarm.coordinator, StatementDraft(FaultReport(leaves=(first, second), piece=""))
    )
    return swarm


def audited(swarm: Swarm) -> LogReport:
    return audit(SwarmLog(swarm), AuditOptions())


def claimed(log: SwarmLog, who: Volunteer, **lie: object) -> LogReport:
    """Audit a ledger's answer about a key, with one lie in it."""
    log.lie_about(who.key, standing=lie)
    return audit(log, AuditOptions())


def append(swarm: Swarm, body: Body, number: int | None = None) -> None:
    """Let the coordinator log what its own rules would refuse."""
    run = swarm.manifest.run_id if number is not None else None
    swarm.entries.append(swarm.sign(swarm.coordinator, StatementDraft(body, number), run))


def test_a_log_with_a_quarantine_is_sound_to_its_end(swarm: Swarm) -> None:
    swarm.run()
    report = audited(swarm)
    assert [one.line() for one in report.findings] == []
    changes = sum(isinstance(one.statement.body, StandingChange) for one in swarm.entries)
    assert swarm.standings.of(swarm.volunteers[0].key) is Standing.QUARANTINED
    assert report.checked["standing changes"] == changes >= 1


def test_a_change_that_nothing_led_to_is_found(swarm: Swarm) -> None:
    innocent = to_text(swarm.volunteers[1].key)
    change = StandingChange(peer=innocent, to="quarantined", cause=2, evidence=(5,), until=1)
    append(swarm, change)
    report = audited(swarm)
    assert report.exit_code == 2
    (finding,) = (one for one in report.findings if one.what == "standing.change statement")
    assert finding.place.entry == len(swarm.entries) - 1
    assert "wrong-standing" in finding.detail


def test_a_roster_that_spares_somebody_is_found(swarm: Swarm) -> None:
    while swarm.view.state is not RunState.WAITING_FOR_MEMBERS:
        assert swarm.step()
    swarm.watch.update(swarm.view, swarm.now_ms)
    step = decide(swarm.view, swarm.watch, swarm.now_ms, swarm.coordinator.prove)
    assert step is not None
    assert step.document is not None
    swarm.blobs[sha256(step.document)] = step.document
    append(swarm, step.body, step.round)
    report = audited(swarm)
    (finding,) = (one for one in report.findings if one.what == "round.roster statement")
    assert finding.place.entry == len(swarm.entries) - 1
    assert "must become quarantined first" in finding.detail


def test_another_standing_in_the_api_is_found(swarm: Swarm) -> None:
    assert swarm.coordinate()
    liar = swarm.volunteers[0]
    assert claimed(SwarmLog(swarm), liar).findings == []
    report = claimed(SwarmLog(swarm), liar, standing="active")
    (finding,) = report.findings
    assert (finding.what, finding.expected) == (
        f"answer /v1/peers/{to_text(liar.key)}, standing.standing",
        "quarantined",
    )
    assert finding.place.peer == to_text(liar.key)


def test_after_a_run_that_could_not_be_read_doubts_are_no_accusations(swarm: Swarm) -> None:
    bodies = [entry.statement.body for entry in swarm.entries]
    roster = next(body for body in bodies if isinstance(body, RoundRoster))
    assert swarm.coordinate()
    unfounded = StandingChange(
        peer=to_text(swarm.volunteers[1].key), to="active", cause=1, evidence=(5,), until=0
    )
    append(swarm, unfounded)  # it may follow from what cannot be read
    log = SwarmLog(swarm)
    del log.blobs[digest_from_text(roster.roster)]
    report = audit(log, AuditOptions())
    assert report.exit_code == 3, [one.line() for one in report.findings]
    assert any(one.what == "standing.change statement" for one in report.findings)
