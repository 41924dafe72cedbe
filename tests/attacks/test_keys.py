"""Stolen keys, and owners who would rather have another one: what a replacement does not do."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pytest

from tequio_shared import vrf
from tequio_shared.errors import RefusedError, SignatureInvalidError
from tequio_shared.ids import to_text
from tequio_shared.limits import QUARANTINE_MS, WHOLE_PARTS
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import Standing, StandingCause
from tequio_shared.round import lots
from tequio_shared.round.documents import WITNESS
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.network import (
    FaultReport,
    InviteOpen,
    KeyReplace,
    MemberName,
    StandingRelease,
)
from tequio_shared.statements.statement import Entry
from tests.shared.network.test_key_links import (
    RECOVERY,
    commit_badly,
    in_roster,
    points,
    quarantined,
    refusal,
    run_into,
    swarm_of,
)
from tests.shared.network.test_point_shares import swarm_of as sharing_swarm
from tests.support.attack_table import attack
from tests.support.tiny_run import signer
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.key_swarm import KeySwarm
    from tests.support.volunteers import Volunteer


@attack("K1", layer="pts", ends="not paid from the round in progress on, and in no later roster")
@pytest.mark.parametrize("phase", [RoundPhase.ATTEST, RoundPhase.TRAIN, RoundPhase.WITNESS])
def test_a_stolen_key_earns_nothing_once_it_is_revoked(phase: RoundPhase) -> None:
    swarm, them = swarm_of(*"abcde")
    swarm.bind(them["a"], RECOVERY)
    swarm.run_rounds(1)
    run_into(swarm, phase)
    before = points(swarm, them["a"].key)
    swarm.revoke(them["b"], them["a"].key, RECOVERY)
    thief = them["a"]  # it goes on posting: every statement is refused
    swarm.run_rounds(4)
    assert points(swarm, thief.key) == before
    assert not in_roster(swarm, thief.key)
    assert swarm.refused["key-ended"] > 0


@attack("K1", layer="adm", ends="refused as `key-ended`, with the entry that ended it")
def test_an_ended_key_is_refused_in_every_statement() -> None:
    swarm, them = swarm_of(*"abcde")
    swarm.replace(them["a"], "heir")
    for body in (
        them["a"].ready(swarm.view).body,
        swarm.replacement(them["b"].key, them["a"].key),
    ):
        assert refusal(partial(swarm.post, them["a"], StatementDraft(body))) in {
            "key-ended",
            "wrong-state",
        }
    # Not as a further signer either.
    with pytest.raises(RefusedError) as caught:
        swarm.revoke(them["b"], them["c"].key, them["a"].signer)
    assert caught.value.code == "wrong-key"


@attack("K2", layer="adm", ends="refused as `wrong-key`: only the recovery key replaces that key")
def test_a_thief_cannot_replace_the_key_first() -> None:
    swarm, them = swarm_of(*"abc")
    a = them["a"]
    swarm.bind(a, RECOVERY)
    thief = swarm.new_volunteer("thief")
    body = swarm.replacement(a.key, thief.key)
    for others in ((a.signer,), (), (a.signer, signer("another"))):
        assert refusal(partial(swarm.send, thief, body, *others)) == "wrong-key"
    heir = swarm.replace(a, "heir", RECOVERY)
    assert swarm.network.links.holder(a.key) == heir.key


@attack("K2", layer="pts", ends="revoked as it is, its account still goes to the owner's new key")
def test_a_thief_who_burns_the_key_keeps_nothing_from_its_owner() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.bind(them["a"], RECOVERY)
    swarm.run_rounds(2)
    earned = points(swarm, them["a"].key)
    swarm.revoke(them["a"], them["a"].key)
    heir = swarm.replace(them["a"], "heir", RECOVERY)
    assert points(swarm, heir.key) == earned > 0


@attack("K3", layer="adm", ends="refused as `wrong-key`: the former recovery key must sign")
def test_a_thief_cannot_bind_a_recovery_key_of_its_own() -> None:
    swarm, them = swarm_of(*"abc")
    own = signer("recovery of the thief")
    swarm.bind(them["a"], RECOVERY)
    assert refusal(lambda: swarm.bind(them["a"], own)) == "wrong-key"
    assert refusal(lambda: swarm.bind(them["a"], own, them["a"].signer)) == "bad-signature"
    assert refusal(lambda: swarm.bind(them["a"], own, them["b"].signer)) == "wrong-key"
    assert swarm.network.links.recovery[them["a"].key] == RECOVERY.key


@attack("K4", layer="qua", ends="the successor is quarantined until the same time")
def test_a_quarantine_is_not_laundered_by_a_replacement() -> None:
    swarm, them = swarm_of(*"abcde")
    quarantined(swarm, them["a"])
    record = swarm.standings.records[them["a"].key]
    until, convictions = record.until, list(record.convictions)
    one = them["a"]
    for name in ("second", "third"):
        one = swarm.replace(one, name)
        assert refusal(partial(swarm.post, one, one.ready(swarm.view))) == "quarantined"
    record = swarm.standings.records[one.key]
    assert (record.until, record.convictions) == (until, convictions)
    swarm.now_ms = until + 1
    swarm.post(one, one.ready(swarm.view))
    while of(swarm, one) is not Standing.PROBATION:
        assert swarm.step()
    quarantined(swarm, one)
    assert swarm.standings.records[one.key].until - swarm.now_ms > QUARANTINE_MS, "a repeated one"


@attack("K4", layer="qua", ends="a fault in the log convicts the successor")
@pytest.mark.parametrize("way", ["replaced", "revoked and recovered"])
def test_a_fault_is_not_escaped_by_a_replacement_before_the_report(way: str) -> None:
    swarm, them = swarm_of(*"abcde")
    a = them["a"]
    swarm.bind(a, RECOVERY)
    report = commit_badly(swarm, a)
    if way != "replaced":
        swarm.revoke(a, a.key)
        swarm.post(them["b"], StatementDraft(report))
        heir = swarm.replace(a, "heir", RECOVERY)
    else:
        heir = swarm.replace(a, "heir", RECOVERY)
        swarm.post(them["b"], StatementDraft(report))
    while swarm.standings.of(heir.key) is not Standing.QUARANTINED:
        assert swarm.step()


@attack("K4", layer="pts", ends="forfeited, with what it gave to others, once the verdict is there")
@pytest.mark.parametrize("fault", ["work", "bytes"])
def test_a_cheat_that_revokes_its_key_before_the_verdict_keeps_no_points(fault: str) -> None:
    rules = AuditRules(unproven_bp=5_000, others_bp=500)
    swarm, them = sharing_swarm("abcdefgh", rounds=60, audits=rules)
    cheat, accomplice = them["d"], swarm.owner("accomplice")
    cheat.parts = {accomplice.key: WHOLE_PARTS // 2}
    swarm.run_rounds(1)
    if fault == "bytes":
        report = commit_badly(swarm, cheat)
    else:
        swarm.arithmetic.idle.add(cheat.key)
        while not any(  # the first audit that accuses it is public long before the last one
            case.trainer == cheat.key and case.is_disputed
            for case in swarm.view.accounts.audits.cases.values()
        ):
            assert swarm.step()
    given = swarm.earned(accomplice.key).received
    swarm.revoke(cheat, cheat.key)
    swarm.volunteers.remove(cheat)
    if fault == "bytes":
        swarm.post(them["a"], StatementDraft(report))
    while not swarm.standings.is_restricted(cheat.key):
        assert swarm.step()
    assert of(swarm, cheat) is Standing.REVOKED
    for one in (cheat, accomplice):
        points = swarm.earned(one.key)
        assert (points.gflop, points.unvested) == (0, 0)
        assert points.forfeited > 0
    assert swarm.earned(accomplice.key).forfeited == given


@attack("K4", layer="qua", ends="its successor is suspected, then quarantined: it was there")
def test_a_trainer_that_opens_nothing_is_not_away_because_it_has_replaced_its_key() -> None:
    rules = AuditRules(unproven_bp=5_000, others_bp=500)
    swarm, them = sharing_swarm("abcdefgh", rounds=60, audits=rules)
    cheat, replaced = them["d"], 0
    while of(swarm, cheat) is not Standing.QUARANTINED:
        swarm.arithmetic.idle.add(cheat.key)
        swarm.arithmetic.closed.add(cheat.key)
        assert swarm.step()
        assert swarm.view.closed < 40
        current, cases = swarm.view.round, swarm.view.accounts.audits.cases.values()
        if current is None or current.phase is not RoundPhase.WITNESS:
            continue
        slot = current.slot_of.get(cheat.key)
        has_done = slot in current.commitments and slot not in current.without_proof
        if has_done and any(case.trainer == cheat.key for case in cases):
            replaced += 1
            cheat = swarm.replace(cheat, f"heir in round {current.number}")
            swarm.post(cheat, cheat.ready(swarm.view))
    assert replaced > 1
    assert swarm.standings.records[cheat.key].cause is StandingCause.WITHHELD


@attack(
    "K4", layer="coord", ends="one owner, one record and one slot, however often it is replaced"
)
def test_a_replacement_multiplies_neither_slots_nor_owners() -> None:
    swarm, _ = swarm_of(*"abcd")
    link = signer("invitation")
    until = swarm.now_ms + 10_000_000
    swarm.organise(InviteOpen(invitation=to_text(link.key), uses=1, until=until, run=""))
    one = swarm.new_volunteer("guest")
    swarm.join(one, invitation=link)
    swarm.run_rounds(1)
    total = sum(points(swarm, key) for key in list(swarm.view.accounts.earned))
    keys = [one.key]
    for name in ("second", "third", "fourth"):
        one = swarm.replace(one, name)
        keys.append(one.key)
    assert sum(points(swarm, key) for key in list(swarm.view.accounts.earned)) == total
    invited = [key for key in keys if swarm.tiers.highest(key).tier == 2]
    assert invited == [one.key]
    swarm.run_rounds(2)
    assert [key for key in keys if in_roster(swarm, key)] in ([], [keys[0]], [one.key])
    swarm.run_rounds(3)
    assert [key for key in keys if in_roster(swarm, key)] == [one.key]


@attack("K5", layer="env", ends="the signatures are for that key and network alone; refused")
def test_a_replacement_serves_nobody_else() -> None:
    swarm, them = swarm_of(*"abc")
    heir = swarm.new_volunteer("heir")
    entry = swarm.signed(heir, swarm.replacement(them["a"].key, heir.key), them["a"].signer)
    swarm.log(entry)
    heir.record_logged(entry)
    # Again; and a statement of another key with the former key's signature of the first one.
    assert refusal(lambda: swarm.log(entry)) == "equivocation"
    thief = swarm.new_volunteer("thief")
    other = swarm.signed(thief, swarm.replacement(them["a"].key, thief.key), them["a"].signer)
    former = next(one for one in entry.signatures if one[0] == them["a"].key)
    mixed = Entry((other.signatures[0], former), other.statement)
    with pytest.raises(SignatureInvalidError):
        mixed.verify(swarm.net)
    # The successor's own replacement by an ended key that comes back.
    back = swarm.replacement(heir.key, them["a"].key)
    assert refusal(lambda: swarm.send(them["a"], back, heir.signer)) == "wrong-state"


@attack("K6", layer="adm", ends="refused as `wrong-key`: the key or its recovery key must sign")
def test_a_stranger_revokes_nobody() -> None:
    swarm, them = swarm_of(*"abc")
    swarm.bind(them["a"], RECOVERY)
    swarm.bind(them["b"], signer("recovery of b"))
    c, a = them["c"], them["a"].key
    attempts: list[Callable[[], object]] = [
        lambda: swarm.revoke(c, a),
        lambda: swarm.revoke(c, a, them["b"].signer),
        lambda: swarm.revoke(c, a, signer("recovery of b")),
        lambda: swarm.revoke(c, a, swarm.coordinator),
        lambda: swarm.revoke(c, swarm.organiser.key),
    ]
    assert [refusal(one) for one in attempts] == ["wrong-key"] * 4 + ["wrong-role"]
    assert swarm.standings.of(a) is Standing.NEWCOMER


@attack("K7", layer="env", ends="refused: the author's signature is missing")
def test_nobody_is_made_a_successor_without_its_signature() -> None:
    swarm, them = swarm_of(*"ab")
    victim = swarm.new_volunteer("victim")
    entry = swarm.signed(victim, swarm.replacement(them["a"].key, victim.key), them["a"].signer)
    forged = Entry(((victim.key, bytes(64)), entry.signatures[1]), entry.statement)
    with pytest.raises(SignatureInvalidError):
        swarm.log(forged)


@attack("K7", layer="adm", ends="refused as `wrong-state`: a registered key takes no place")
def test_a_convict_does_not_hand_its_record_to_somebody_else() -> None:
    swarm, them = swarm_of(*"abcde")
    quarantined(swarm, them["a"])
    body = KeyReplace(
        former=to_text(them["a"].key),
        nonce=swarm.replacement(them["a"].key, them["b"].key).nonce,
    )
    assert refusal(partial(swarm.send, them["b"], body, them["a"].signer)) == "wrong-state"
    assert of(swarm, them["b"]) is Standing.NEWCOMER


@attack("K8", layer="qua", ends="refused as `key-ended`: what is signed afterwards convicts nobody")
def test_a_thief_does_not_frame_the_successor() -> None:
    swarm, them = swarm_of(*"abc")
    a = them["a"]
    heir = swarm.replace(a, "heir")
    two = [swarm.signed(a, MemberName(name=name)).leaf() for name in ("oaxaca", "puebla")]
    report = FaultReport(leaves=tuple(map(to_text, two)), piece="")
    assert refusal(lambda: swarm.post(them["b"], StatementDraft(report))) == "key-ended"
    assert swarm.standings.records[heir.key].fault is None


@attack("K9", layer="coord", ends="no witness duty until members have drawn other lots")
def test_keys_that_are_chosen_for_their_lots_get_no_seats() -> None:
    swarm, them = swarm_of(*(f"member {at}" for at in range(22)))
    for one in them.values():
        swarm.organise(StandingRelease(peer=to_text(one.key), reason=0))
    swarm.run_rounds(1)
    run_into(swarm, RoundPhase.TRAIN)
    seed = vrf.output(swarm.coordinator.prove(swarm.view.next_seed_input()))
    number, heirs = swarm.view.number, []
    alpha = lots.lot_input(swarm.net, swarm.manifest.run_id, number + 1, seed)
    for at in range(4):
        names = (f"heir {at} {attempt}" for attempt in count())
        low = next(name for name in names if vrf.output(signer(name).prove(alpha))[0] < 16)
        heir = swarm.replace(them[f"member {at}"], low)
        swarm.post(heir, heir.ready(swarm.view))
        heirs.append(heir.key)
    seats = []
    for later in (1, 2):
        while swarm.view.number < number + later or swarm.view.state is not RunState.ROUND_TRAIN:
            assert swarm.step()
        current = swarm.view.round
        assert current is not None
        assert set(heirs) <= current.slot_of.keys()
        witnesses = current.roster.slots_of(WITNESS)
        seats.append(
            (
                len(current.elected),
                len(witnesses),
                len(set(heirs) & {current.roster.keys[slot] for slot in witnesses}),
            )
        )
    assert seats == [(16, 18, 0), (16, 22, 4)]


def of(swarm: KeySwarm, one: Volunteer) -> Standing:
    return swarm.standings.of(one.key)
