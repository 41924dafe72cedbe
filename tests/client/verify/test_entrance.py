"""The audit folds who was let in and by whom, and names what does not follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.verify.audit import AuditOptions, audit
from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import InviteOpen, MemberVouch, RoleGrant, RoleRevoke
from tequio_shared.statements.statement import sign
from tests.client.verify.logs import SwarmLog
from tests.support.authors import registration
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_client.verify.report import AuditFinding, LogReport


LINK = Signer(bytes([41]) * 32)
FOR_EVER = 2**52


@pytest.fixture
def swarm() -> Swarm:
    """A run with one who was invited, and one whom a connector vouches for."""
    swarm = Swarm(manifest=tiny_manifest(most=3), seed=3)
    invite(swarm)
    swarm.join(guest(swarm, "invited"), invitation=LINK)
    connector, known = (swarm.volunteer(name) for name in ("connector", "known"))
    text = to_text(connector.key)
    swarm.organise(RoleGrant(peer=text, role="connector", until=FOR_EVER))
    swarm.post(connector, vouch(known))
    return swarm


def invite(swarm: Swarm) -> None:
    body = InviteOpen(invitation=to_text(LINK.key), uses=1, until=FOR_EVER, run="")
    swarm.organise(body)


def guest(swarm: Swarm, name: str) -> Volunteer:
    return Volunteer(name, swarm.arithmetic, seed=swarm.seed)


def vouch(peer: Volunteer) -> StatementDraft:
    owner = to_text(sha256(b"account"))
    return StatementDraft(MemberVouch(peer=to_text(peer.key), owner=owner, until=FOR_EVER))


def audited(swarm: Swarm) -> LogReport:
    return audit(SwarmLog(swarm), AuditOptions())


def found(report: LogReport, what: str) -> AuditFinding:
    (finding,) = (one for one in report.findings if one.what == what)
    return finding


def test_a_log_with_invitations_and_vouches_is_sound_to_its_end(swarm: Swarm) -> None:
    swarm.run()
    assert [one.line() for one in audited(swarm).findings] == []


def test_another_tier_or_owner_in_the_api_is_found(swarm: Swarm) -> None:
    for name, index in (("invited", 0), ("known", 2)):
        one, log = swarm.volunteers[index], SwarmLog(swarm)
        truth = swarm.tiers.highest(one.key)
        assert to_text(truth.owner) != to_text(one.key), name
        log.lie_about(one.key, tier={"owner": to_text(one.key)})
        what = f"answer /v1/peers/{to_text(one.key)}, tier.owner"
        finding = found(audit(log, AuditOptions()), what)
        assert finding.place.peer == to_text(one.key)
        assert finding.expected == to_text(truth.owner)


def test_an_invitation_that_lets_in_one_too_many_is_found(swarm: Swarm) -> None:
    late = guest(swarm, "late")
    entry = late.sign(
        swarm.net, None, StatementDraft(registration(swarm.net, late.key)), swarm.now_ms
    )
    swarm.entries.append(sign(swarm.net, entry.statement, late.signer, LINK))
    report = audited(swarm)
    finding = found(report, "key.register statement")
    assert report.exit_code == 2
    assert finding.place.entry == len(swarm.entries) - 1
    assert "invitation-spent" in finding.detail


def test_a_registration_under_no_invitation_is_found(swarm: Swarm) -> None:
    late, nobodys = guest(swarm, "late"), Signer(bytes([42]) * 32)
    entry = late.sign(
        swarm.net, None, StatementDraft(registration(swarm.net, late.key)), swarm.now_ms
    )
    swarm.entries.append(sign(swarm.net, entry.statement, late.signer, nobodys))
    assert "not-admitted" in found(audited(swarm), "key.register statement").detail


def test_a_vouch_of_who_is_no_connector_is_found(swarm: Swarm) -> None:
    known, invited = swarm.volunteers[2], swarm.volunteers[0]
    swarm.entries.append(known.sign(swarm.net, None, vouch(invited), swarm.now_ms))
    assert "wrong-role" in found(audited(swarm), "member.vouch statement").detail


def test_a_ledger_that_goes_on_to_believe_a_revoked_connector_is_found(swarm: Swarm) -> None:
    connector, known = swarm.volunteers[1], swarm.volunteers[2]
    believed = swarm.tiers.highest(known.key).tier
    swarm.organise(RoleRevoke(peer=to_text(connector.key), role="connector"))
    log = SwarmLog(swarm)
    log.lie_about(known.key, tier={"tier": int(believed)})
    what = f"answer /v1/peers/{to_text(known.key)}, tier.tier"
    assert found(audit(log, AuditOptions()), what).expected == "0"
