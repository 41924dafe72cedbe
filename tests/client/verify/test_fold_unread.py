"""Entries of a later version: an audit reads who signed them, and doubts no more than it must."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.verify.audit import AuditOptions, audit
from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import MemberVouch, RoleGrant
from tequio_shared.statements.statement import signed_message
from tests.client.verify.logs import SwarmLog
from tests.support.attack_table import attack
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from tequio_client.verify.report import AuditFinding, LogReport
    from tequio_shared.ids import PeerKey


STRANGER = Signer(bytes([43]) * 32)


@pytest.fixture
def swarm() -> Swarm:
    """A run with two members."""
    swarm = Swarm(manifest=tiny_manifest(most=3), seed=3)
    for name in ("one", "other"):
        swarm.volunteer(name)
    return swarm


def newer(
    swarm: Swarm, author: PeerKey, signer: Signer, *, gap: int = 0, prev: bytes = b""
) -> bytes:
    """Write the leaf of a type that nobody knows, next in its author's chain."""
    theirs = [one.statement for one in swarm.entries if one.statement.author == author]
    tree = {
        "author": to_text(author),
        "body": {"something": 1},
        "exp": swarm.now_ms,
        "prev": to_text(prev or (theirs[-1].digest if theirs else bytes(32))),
        "seq": (theirs[-1].seq if theirs else 0) + 1 - gap,
        "ts": swarm.now_ms,
        "type": "net.novel",
        "v": 2,
    }
    raw = msgspec.json.encode(tree, order="deterministic")
    return b"\x01\x01" + author + signer.sign(signed_message(swarm.net, raw)) + raw


def audited(swarm: Swarm, *leaves: bytes) -> LogReport:
    """Audit the log with those leaves, and with a vouch by a non-connector at its end."""
    one, other = swarm.volunteers
    lie = MemberVouch(peer=to_text(other.key), owner=to_text(sha256(b"account")), until=2**52)
    log = SwarmLog(swarm)
    log.leaves += [*leaves, one.sign(swarm.net, None, StatementDraft(lie), swarm.now_ms).leaf()]
    log.sign()
    log.lie_about(swarm.coordinator.key, last_hash="")
    return audit(log, AuditOptions())


def found(report: LogReport, what: str) -> AuditFinding:
    (finding,) = (one for one in report.findings if one.what == what)
    return finding


@attack("L3", layer="log", ends="reported; an entry that does not follow is still a mismatch")
@pytest.mark.parametrize("who", ["member", "stranger"])
def test_an_entry_of_an_unknown_type_hides_nothing_unless_it_is_of_those_in_office(
    swarm: Swarm, who: str
) -> None:
    signer = swarm.volunteers[1].signer if who == "member" else STRANGER
    report = audited(swarm, newer(swarm, signer.key, signer))
    assert "a newer tequio" in found(report, "entry").detail
    assert found(report, "member.vouch statement").grade.name == "MISMATCH"
    assert report.exit_code == 2


def test_what_follows_an_unknown_entry_of_the_coordinator_is_doubted_but_its_chain_is_read(
    swarm: Swarm,
) -> None:
    coordinator = swarm.coordinator
    leaf = newer(swarm, coordinator.key, coordinator)
    report = audited(swarm, leaf)
    assert found(report, "member.vouch statement").grade.name == "MISSING"
    ends = [one.expected for one in report.findings if one.what.endswith(", last_hash")]
    assert to_text(sha256(leaf[98:])) in ends, "where the coordinator's chain ends now"


def test_an_unknown_entry_of_a_connector_may_change_who_was_let_in(swarm: Swarm) -> None:
    _, other = swarm.volunteers
    grant = RoleGrant(peer=to_text(other.key), role="connector", until=2**52)
    granted = swarm.sign(swarm.organiser, StatementDraft(grant), None).leaf()
    report = audited(swarm, granted, newer(swarm, other.key, other.signer))
    assert found(report, "member.vouch statement").grade.name == "MISSING"


@attack("L3", layer="log", ends="a mismatch: signatures and chain are read in any version")
def test_nobody_puts_an_unknown_entry_into_the_mouth_of_those_in_office(swarm: Swarm) -> None:
    coordinator = swarm.coordinator
    forged = newer(swarm, coordinator.key, STRANGER)
    replayed = newer(swarm, coordinator.key, coordinator, gap=1)
    apart = newer(swarm, coordinator.key, coordinator, prev=sha256(b"another statement"))
    for leaf in (forged, replayed, apart):
        report = audited(swarm, leaf)
        assert found(report, "entry").grade.name == "MISMATCH"
        assert found(report, "member.vouch statement").grade.name == "MISMATCH"


@pytest.mark.parametrize(
    ("fields", "is_doubted"),
    [
        ({"tier": {"tier": 2}}, True),
        ({"standing": {"standing": "banned"}}, True),
        ({"gflop": 1}, False),
    ],
    ids=["tier", "standing", "points"],
)
def test_what_an_unknown_entry_may_have_changed_is_doubted_and_nothing_else(
    swarm: Swarm, fields: dict[str, object], *, is_doubted: bool
) -> None:
    coordinator, (one, _) = swarm.coordinator, swarm.volunteers
    for leaves in ((), (newer(swarm, coordinator.key, coordinator),)):
        log = SwarmLog(swarm)
        log.leaves += leaves
        log.sign()
        log.lie_about(one.key, **fields)
        report = audit(log, AuditOptions())
        assert report.exit_code == (3 if leaves and is_doubted else 2)
