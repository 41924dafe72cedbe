"""People who want in by a word that was not given to them, or in more often than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.clock import now_ms
from tequio_client.verify.audit import AuditOptions, audit
from tequio_shared.errors import RefusedError
from tequio_shared.ids import NetworkId, digest_from_text, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.network.coordination import decide
from tequio_shared.network.run_states import RunState
from tequio_shared.network.tiers import owner_of
from tequio_shared.round.documents import WITNESS
from tequio_shared.round.manifest import Admission
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    InviteRevoke,
    MemberVouch,
    RoleGrant,
    RoleRevoke,
)
from tequio_shared.statements.runs import RoundRoster
from tequio_shared.statements.statement import Entry, signed_message
from tests.client.verify.logs import SwarmLog
from tests.support.attack_table import attack
from tests.support.attackers_ledger import SECOND, AttackedLedger, attacked_ledger
from tests.support.authors import Author, registration
from tests.support.ledgers import ORGANISER, UNLIMITED
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft, Volunteer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_shared.network.coordination import CoordinatorStep
    from tequio_shared.statements.statement import Body


HOUR_MS = 3_600_000
FOR_EVER = 2**52


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedLedger]:
    with attacked_ledger(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as place:
        yield place


def link(name: str) -> Signer:
    return Signer(sha256(b"link", name.encode()))


def organisers_say(ledger: AttackedLedger, body: Body, *others: Signer) -> str:
    """Post a statement of the organiser, signed by the others too; return its status."""
    known = ledger.http.get(f"/v1/peers/{to_text(ORGANISER.key)}").json()
    author = Author("organiser", ledger.net)
    author.signer = ORGANISER
    author.seq, author.last = known["last_seq"], digest_from_text(known["last_hash"])
    (became,) = ledger.post_entries(author.sign(body, now_ms(), *others))
    return became


def invite(ledger: AttackedLedger, name: str, *, uses: int = 1, until: int | None = None) -> Signer:
    end = now_ms() + HOUR_MS if until is None else until
    body = InviteOpen(invitation=to_text(link(name).key), uses=uses, until=end, run="")
    assert organisers_say(ledger, body, SECOND) == "logged"
    return link(name)


def guest(ledger: AttackedLedger, name: str, *links: Signer) -> Entry:
    author = Author(name, ledger.net)
    return author.sign(registration(ledger.net, author.key), now_ms(), *links)


@attack(
    "A24", layer="adm", ends="refused as `invitation-spent`, `invitation-ended`, `not-admitted`"
)
def test_an_invitation_lets_in_no_more_than_it_says_and_not_after_its_end(
    ledger: AttackedLedger,
) -> None:
    once = invite(ledger, "once")
    assert ledger.post_entries(guest(ledger, "first", once), guest(ledger, "second", once)) == [
        "logged",
        "invitation-spent",
    ], "also when both come in one request"
    assert ledger.post_entries(guest(ledger, "third", once)) == ["invitation-spent"]
    over = invite(ledger, "over", until=now_ms() - 1)
    assert ledger.post_entries(guest(ledger, "late", over)) == ["invitation-ended"]
    closed = invite(ledger, "closed", uses=9)
    body = InviteClose(invitation=to_text(closed.key))
    assert organisers_say(ledger, body, SECOND) == "logged"
    assert ledger.post_entries(guest(ledger, "shut out", closed)) == ["invitation-ended"]
    assert ledger.post_entries(guest(ledger, "uninvited", link("nobody's"))) == ["not-admitted"]
    for name in ("second", "third", "late", "shut out", "uninvited"):
        assert not ledger.knows(Author(name, ledger.net).key)


@attack(
    "A24", layer="adm", ends="one organiser of two cannot open it; two can revoke it and its keys"
)
def test_a_leaked_link_is_taken_back_with_all_keys_that_it_let_in(ledger: AttackedLedger) -> None:
    body = InviteOpen(invitation=to_text(link("alone").key), uses=9, until=FOR_EVER, run="")
    assert organisers_say(ledger, body) == "wrong-role"
    leaked = invite(ledger, "leaked", uses=9)
    crowd = [guest(ledger, f"leak {at}", leaked) for at in range(3)]
    assert ledger.post_entries(*crowd) == ["logged"] * 3
    revoke = InviteRevoke(invitation=to_text(leaked.key))
    assert organisers_say(ledger, revoke, SECOND) == "logged"
    for one in crowd:
        key = to_text(one.statement.author)
        row = ledger.http.get(f"/v1/peers/{key}").json()["tier"]
        assert (row["tier"], row["owner"]) == (0, key)
    assert ledger.post_entries(guest(ledger, "after", leaked)) == ["invitation-ended"]


@attack(
    "A24", layer="env", ends="refused as `bad-signature`: the link's key signs one registration"
)
def test_a_second_signature_that_is_forged_copied_or_of_elsewhere_lets_nobody_in(
    ledger: AttackedLedger,
) -> None:
    invited = invite(ledger, "true", uses=9)
    honest = guest(ledger, "honest guest", invited)
    assert ledger.post_entries(honest) == ["logged"]
    bare = guest(ledger, "forger")
    author, statement = bare.signatures[0], bare.statement
    message, other_net = signed_message(ledger.net, statement.raw), NetworkId(sha256(ledger.net))
    forgeries = {
        "by another key": link("own").sign(message),
        "of another guest": dict(honest.signatures)[invited.key],
        "of another network": invited.sign(signed_message(other_net, statement.raw)),
        "of zeros": bytes(64),
    }
    for name, signature in forgeries.items():
        entry = Entry((author, (invited.key, signature)), statement)
        assert ledger.post_entries(entry) == ["bad-signature"], name
    assert not ledger.knows(statement.author)
    listed = ledger.http.get("/v1/invitations").json()["invitations"]
    (one,) = (row for row in listed if row["invitation"] == to_text(invited.key))
    assert one["used"] == 1


@attack("A25", layer="adm", ends="refused as `wrong-role`; a revoked connector's vouches are void")
def test_nobody_vouches_but_who_may_and_a_revoked_connector_vouched_for_nobody(
    ledger: AttackedLedger,
) -> None:
    friend, usurper, connector = map(ledger.author, ("friend", "usurper", "a connector"))
    end = now_ms() + HOUR_MS
    vouch = MemberVouch(peer=to_text(friend.key), owner=to_text(sha256(b"account")), until=end)
    chain = usurper.seq, usurper.last
    assert ledger.post_entries(usurper.sign(vouch, now_ms())) == ["wrong-role"]
    usurper.seq, usurper.last = chain
    assert ledger.post_entries(usurper.sign(vouch, now_ms(), connector.signer)) == ["wrong-role"]
    peer = to_text(connector.key)
    granted = RoleGrant(peer=peer, role="connector", until=end)
    assert organisers_say(ledger, granted, SECOND) == "logged"
    assert ledger.post_entries(connector.sign(vouch, now_ms())) == ["logged"]
    assert tier_of(ledger, friend) == 1
    assert organisers_say(ledger, RoleRevoke(peer=peer, role="connector"), SECOND) == "logged"
    assert tier_of(ledger, friend) == 0
    assert ledger.post_entries(connector.sign(vouch, now_ms())) == ["wrong-role"]


@attack("A25", layer="coord", ends="without effect: a connector can take back only its own vouches")
def test_a_connector_that_lies_takes_nobody_what_another_one_said(ledger: AttackedLedger) -> None:
    end = now_ms() + HOUR_MS
    friends = [ledger.author(f"friend {at}") for at in range(2)]
    honest, liar = ledger.author("honest connector"), ledger.author("lying connector")
    for one in (honest, liar):
        grant = RoleGrant(peer=to_text(one.key), role="connector", until=end)
        assert organisers_say(ledger, grant, SECOND) == "logged"
    for one in friends:
        vouch = MemberVouch(peer=to_text(one.key), owner=to_text(sha256(one.key)), until=end)
        assert ledger.post_entries(honest.sign(vouch, now_ms())) == ["logged"]
    for until in (0, 2 * end):
        for one in friends:
            lie = MemberVouch(peer=to_text(one.key), owner=to_text(sha256(b"one")), until=until)
            assert ledger.post_entries(liar.sign(lie, now_ms())) == ["logged"]
    owners = [ledger.http.get(f"/v1/peers/{to_text(one.key)}").json()["tier"] for one in friends]
    assert [row["tier"] for row in owners] == [1, 1]
    assert [row["owner"] for row in owners] == [
        to_text(owner_of(honest.key, sha256(one.key))) for one in friends
    ]


def tier_of(ledger: AttackedLedger, one: Author) -> int:
    return int(ledger.http.get(f"/v1/peers/{to_text(one.key)}").json()["tier"]["tier"])


# --- many keys of one owner


def crowded(**rules: int) -> tuple[Swarm, list[Volunteer]]:
    """A run under those rules, with five keys of one owner that come before two others."""
    swarm = Swarm(msgspec.structs.replace(tiny_manifest(most=9), admission=Admission(**rules)))
    for name, uses in (("crowd", 5), ("one", 1), ("other", 1)):
        key = to_text(link(name).key)
        swarm.organise(InviteOpen(invitation=key, uses=uses, until=FOR_EVER, run=""))
    crowd = [Volunteer(f"crowd {at}", swarm.arithmetic, seed=swarm.seed) for at in range(5)]
    swarm.join(*crowd, invitation=link("crowd"))
    for name in ("one", "other"):
        swarm.join(Volunteer(name, swarm.arithmetic, seed=swarm.seed), invitation=link(name))
    return swarm, crowd


@attack("A12", layer="coord", ends="no more slots or seats than the manifest allows an owner")
def test_the_keys_of_one_owner_get_no_more_slots_and_seats_than_the_manifest_says() -> None:
    swarm, crowd = crowded(trainer_tier=2, witness_tier=2, owner_slots=2, owner_seats=1)
    swarm.join(Volunteer("anonymous", swarm.arithmetic, seed=swarm.seed))
    for rounds in (2, 4):
        swarm.run_rounds(rounds)
        assert swarm.view.round is not None
        roster = swarm.view.round.roster
        mine = [one for one in roster.members if one.key in {each.key for each in crowd}]
        assert len(roster.members) == 4, "two of the crowd, one, other; nobody anonymous"
        assert len(mine) == 2
        assert [WITNESS in one.roles for one in mine].count(True) == 1


def lenient_roster(swarm: Swarm) -> CoordinatorStep:
    """The roster of a coordinator that ignores the manifest's admission rules."""
    while swarm.view.state is not RunState.WAITING_FOR_MEMBERS:
        assert swarm.step()
    accounts = swarm.view.accounts
    strict = accounts.manifest
    accounts.manifest = msgspec.structs.replace(strict, admission=Admission())
    swarm.watch.update(swarm.view, swarm.now_ms)
    step = decide(swarm.view, swarm.watch, swarm.now_ms, swarm.coordinator.prove)
    accounts.manifest = strict
    assert step is not None
    assert isinstance(step.body, RoundRoster)
    assert step.document is not None
    swarm.blobs[sha256(step.document)] = step.document
    return step


@attack("A25", layer="coord", ends="refused as `wrong-roster`, and found by every audit")
def test_a_ledger_that_puts_an_owner_over_its_cap_is_found_by_the_audit() -> None:
    swarm, crowd = crowded(owner_slots=2)
    swarm.run_rounds(2)
    step = lenient_roster(swarm)
    entry = swarm.sign(
        swarm.coordinator, StatementDraft(step.body, step.round), swarm.manifest.run_id
    )
    with pytest.raises(RefusedError) as refused:
        swarm.view.apply(len(swarm.entries), entry.statement, 0, swarm.blobs.__getitem__)
    assert refused.value.code == "wrong-roster"
    assert audit(SwarmLog(swarm), AuditOptions()).exit_code == 0
    swarm.entries.append(entry)
    assert isinstance(step.body, RoundRoster)
    assert step.body.slots == len(crowd) + 2
    log = SwarmLog(swarm)
    report = audit(log, AuditOptions())
    (finding,) = (one for one in report.findings if one.what == "round.roster statement")
    assert finding.place.entry == len(swarm.entries) - 1
    assert "wrong-roster" in finding.detail
    assert report.exit_code == 2
