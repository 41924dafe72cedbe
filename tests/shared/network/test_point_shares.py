"""Points that a commitment gives to other keys: how much, how long they can be lost, and whose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, digest_from_text, to_text
from tequio_shared.limits import VESTING, WHOLE_PARTS
from tequio_shared.network.accounts import RunAccounts
from tequio_shared.network.standing import KeyStatus, Standing
from tequio_shared.network.vesting import MemberPoints
from tequio_shared.round.documents import RoundResult, SlotResult
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.points import given_gflop
from tequio_shared.round.round import RoundPhase
from tequio_shared.served import rows, snapshot
from tequio_shared.served.state import State, key_rows
from tequio_shared.statements.network import MemberName, StandingRelease, TeamDefine
from tequio_shared.statements.runs import RoundClose, RunFinish, WorkCommit
from tests.support.attack_table import attack
from tests.support.authors import registration
from tests.support.commitments import commitment
from tests.support.key_swarm import KeySwarm
from tests.support.tiny_run import signer, tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from tequio_shared.network_view import NetworkView
    from tests.support.volunteers import Volunteer

HALF = WHOLE_PARTS // 2


class SharingSwarm(KeySwarm):
    """A swarm whose log is applied by the ledger's state."""

    def _new_view(self) -> NetworkView:
        return State(self.genesis, self.blobs.__getitem__)

    @property
    def state(self) -> State:
        assert isinstance(self.network, State)
        return self.network

    def owner(self, name: str) -> Volunteer:
        """A registered key that takes part in no round."""
        one = self.new_volunteer(name)
        self.send(one, registration(self.net, one.key))
        return one

    def earned(self, key: PeerKey) -> MemberPoints:
        return self.view.accounts.earned[key]


def swarm_of(
    names: str = "abcde", *, rounds: int = 60, audits: AuditRules | None = None
) -> tuple[SharingSwarm, dict[str, Volunteer]]:
    manifest = tiny_manifest(most=rounds)
    if audits is not None:
        manifest = msgspec.structs.replace(manifest, audit=audits)
    swarm = SharingSwarm(manifest)
    return swarm, {name: swarm.volunteer(name) for name in names}


def results(swarm: SharingSwarm) -> list[RoundResult]:
    bodies = [entry.statement.body for entry in swarm.entries]
    named = [digest_from_text(one.result) for one in bodies if isinstance(one, RoundClose)]
    return [RoundResult.parse(swarm.blobs[name]) for name in named]


def refusal(swarm: SharingSwarm, one: Volunteer, body: WorkCommit) -> str:
    with pytest.raises(RefusedError) as caught:
        swarm.post(one, StatementDraft(body, round=swarm.view.number))
    return caught.value.code


# --- Amounts.


@given(st.integers(0, 10**12), st.lists(st.integers(1, 400), min_size=1, max_size=8))
def test_parts_are_rounded_down_and_never_more_than_the_whole(whole: int, parts: list[int]) -> None:
    if sum(parts) > WHOLE_PARTS:
        return
    found = given_gflop(whole, list(enumerate(parts)))
    assert all(amount == whole * parts[at] // WHOLE_PARTS > 0 for at, amount in found)
    assert sum(amount for _, amount in found) <= whole


def test_a_round_pays_parts_to_the_keys_that_a_commitment_names() -> None:
    swarm, them = swarm_of()
    owner = swarm.owner("owner")
    them["a"].parts = {owner.key: HALF, them["b"].key: 100}
    swarm.run_rounds(4)
    given = [row for result in results(swarm) for row in result.slots if row.received]
    assert given
    for row in given:
        whole = row.trainer_gflop + sum(row.received.values())
        assert row.received[owner.key] == whole * HALF // WHOLE_PARTS
        assert row.received[them["b"].key] == whole * 100 // WHOLE_PARTS > 0
    received = sum(row.received[owner.key] for row in given)
    points = swarm.earned(owner.key)
    assert (points.received, points.gflop, points.unvested) == (received, received, received)
    assert (points.trainer, points.witness) == (0, 0)
    assert swarm.earned(them["b"].key).received > 0
    assert owner.key not in swarm.view.accounts.members
    again = snapshot.decode(
        snapshot.encode(swarm.state, len(swarm.entries)), swarm.genesis, swarm.blobs.__getitem__
    )[0]
    assert again.runs[swarm.manifest.run_id].accounts.earned == swarm.view.accounts.earned


def test_the_receivers_of_a_round_are_those_whose_points_it_changed() -> None:
    swarm, them = swarm_of()
    owner = swarm.owner("owner")
    them["a"].parts = {owner.key: HALF}
    swarm.run_rounds(1)
    changed = swarm.view.accounts.receivers
    assert changed == {owner.key}
    them["a"].parts = {}
    swarm.run_rounds(2)
    assert changed == set()


def test_work_counts_as_its_authors_whatever_it_gives_away() -> None:
    plain, alike = swarm_of()
    plain.run_rounds(6)
    swarm, them = swarm_of()
    owner = swarm.owner("owner")
    for one in them.values():
        one.parts = {owner.key: WHOLE_PARTS}
    swarm.run_rounds(6)
    for name, one in them.items():
        ours, theirs = (each.view.accounts.members[one.key] for each in (swarm, plain))
        assert (ours.tokens > 0, ours.repeated) == (theirs.tokens > 0, theirs.repeated)
        assert swarm.standings.of(one.key) is plain.standings.of(alike[name].key)
        assert swarm.earned(one.key).trainer == 0
        assert swarm.earned(one.key).training.earned > 0
    assert swarm.standings.records[owner.key].last_accepted == 0


# --- Commitments.


@attack("U14", layer="coord", ends="refused: `wrong-parts`")
def test_a_commitment_that_shares_wrongly_is_refused() -> None:
    swarm, them = swarm_of()
    swarm.run_rounds(1)
    owner, stranger = swarm.owner("owner"), signer("nobody").key
    while swarm.view.round is None or swarm.view.round.phase is not RoundPhase.TRAIN:
        assert swarm.step()
    one = next(each for each in them.values() if each.duty(swarm.view) is not None)
    header = one.contribution_to(swarm.view.round)
    assert refusal(swarm, one, commitment(header, parts={stranger: 1})) == "wrong-parts"
    assert refusal(swarm, one, commitment(header, parts={one.key: 1})) == "wrong-parts"
    one.parts = {owner.key: WHOLE_PARTS}
    draft = one.duty(swarm.view)
    assert draft is not None
    swarm.post(one, draft)


# --- Vesting, forfeiture and the ends of keys.


def test_parts_vest_with_the_payment_that_they_are_of() -> None:
    points, other = MemberPoints(), PeerKey(b"o" * 32)
    for number in range(1, VESTING + 1):
        assert points.pay(number, 60, 0, ((other, 40),)) == ()
    assert points.pay(VESTING + 1, 60, 0, ((other, 40),)) == ((other, 40),)
    assert points.unvested == 60 * VESTING


@attack("U13", layer="pts", ends="what was given away counts as earned")
def test_a_payment_that_is_given_away_needs_as_much_work_to_vest_as_one_that_is_kept() -> None:
    points, other = MemberPoints(), PeerKey(b"o" * 32)
    points.pay(1, 0, 0, ((other, 1_000),))
    for number in range(2, 2 * VESTING):
        assert points.pay(number, 10, 0) == (), "small work vests no large one"


@attack("U12", layer="pts", ends="forfeited with its own, for every receiver")
def test_a_quarantine_takes_what_the_key_gave_away_and_a_release_gives_it_back() -> None:
    rules = AuditRules(unproven_bp=5_000, others_bp=500)
    swarm, them = swarm_of("abcdefgh", rounds=200, audits=rules)
    owner = swarm.owner("owner")
    cheat = them["d"]
    cheat.parts = {owner.key: 900}
    swarm.arithmetic.idle.add(cheat.key)
    before = 0
    while not swarm.earned(cheat.key).seized_given:
        before = swarm.earned(owner.key).received
        assert swarm.step()
    assert swarm.standings.of(cheat.key) is Standing.QUARANTINED
    points = swarm.earned(owner.key)
    assert (points.gflop, points.unvested, points.forfeited) == (0, 0, before)
    assert before > 0
    assert key_rows(swarm.state, owner.key).peer.forfeited == before
    assert owner.key in swarm.view.accounts.receivers
    swarm.organise(StandingRelease(peer=to_text(cheat.key), reason=0))
    assert (points.received, points.unvested, points.forfeited) == (before, before, 0)


def test_the_end_of_a_run_vests_what_was_received() -> None:
    swarm, them = swarm_of(rounds=6)
    owner = swarm.owner("owner")
    them["a"].parts = {owner.key: HALF}
    swarm.run_rounds(3)
    swarm.organise(RunFinish(reason=0))
    swarm.run()
    points = swarm.earned(owner.key)
    assert points.received > 0
    assert (points.unvested, points.forfeited) == (0, 0)


def test_a_successor_receives_and_a_revoked_key_does_not() -> None:
    swarm, them = swarm_of()
    owner, lost = swarm.owner("owner"), swarm.owner("lost")
    them["a"].parts = {owner.key: 400, lost.key: 400}
    swarm.run_rounds(2)
    had = swarm.earned(lost.key).received
    swarm.volunteers.append(owner)
    heir = swarm.replace(owner, "heir")
    swarm.volunteers.remove(heir)
    swarm.revoke(lost, lost.key)
    before = swarm.earned(heir.key).received
    swarm.run_rounds(4)
    assert swarm.earned(heir.key).received > before > 0
    assert owner.key not in swarm.view.accounts.earned
    assert swarm.earned(lost.key).received == had
    assert swarm.earned(heir.key).received_unvested == swarm.earned(heir.key).received


def test_a_revoked_successor_receives_nothing_by_the_name_of_its_former_key() -> None:
    swarm, them = swarm_of()
    owner = swarm.owner("owner")
    them["a"].parts = {owner.key: HALF}
    swarm.volunteers.append(owner)
    heir = swarm.replace(owner, "heir")
    swarm.volunteers.remove(heir)
    swarm.run_rounds(2)
    had = swarm.earned(heir.key).received
    swarm.revoke(heir, heir.key)
    swarm.run_rounds(4)
    assert swarm.earned(heir.key).received == had > 0
    derived = swarm.state.last_round(swarm.manifest.run_id).credits
    assert {one.peer for one in derived if one.kind == rows.RECEIVED} == set()


def payment(whole: int, receiver: PeerKey) -> SlotResult:
    """Row of a slot that gives a third of its points away."""
    part = whole // 3
    return SlotResult(
        contribution="",
        verdict=1,
        reason=0,
        windows=1,
        ms=1,
        trainer_gflop=whole - part,
        witness_gflop=0,
        given=((to_text(receiver), part),) if part else msgspec.UNSET,
    )


class Books:
    """Accounts of four keys, and what was paid to them; without rounds."""

    def __init__(self) -> None:
        self.keys = [signer(name).key for name in "abcd"]
        self.accounts = RunAccounts(manifest=tiny_manifest(), standings=KeyStatus())
        self.total, self.number = 0, 0
        self.held = set[PeerKey]()

    def perform(self, step: str, at: int, amount: int) -> None:
        """Pay, withdraw, withhold, quarantine, release, or end the run."""
        key, other = self.keys[at], self.keys[(at + 1 + amount % 3) % 4]
        books = self.accounts
        self.number += 1
        if step == "pay" and key not in self.held:
            self.total += amount
            books._pay(0, key, self.number, payment(amount, other))  # noqa: SLF001 - without a whole round
        elif step in ("withhold", "contradict"):
            points = books.earned[key]
            taken = points.take_round if step == "withhold" else points.take_audit
            books._forfeit(taken(amount % 50))  # noqa: SLF001 - as above
        elif step == "seize" and key not in self.held:
            books.seize(key)
            self.held.add(key)
        elif step == "restore" and key in self.held:
            books.restore(key)
            self.held.remove(key)
        elif step == "end":
            books.vest_all()

    def check(self) -> None:
        waiting = dict.fromkeys(self.keys, 0)
        for points in self.accounts.earned.values():
            for one in points.training.waiting:
                for receiver, part in one.given:
                    waiting[receiver] += part
        known = self.accounts.earned
        assert sum(one.gflop + one.forfeited for one in known.values()) == self.total
        assert all(one.received_unvested == waiting[key] for key, one in known.items())
        assert all(0 <= one.unvested <= one.gflop for one in known.values())


STEPS = ("pay", "pay", "pay", "pay", "withhold", "contradict", "seize", "restore", "end")


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 3), st.integers(0, 999))))
def test_no_point_is_made_or_lost_whatever_happens(steps: list[tuple[str, int, int]]) -> None:
    books = Books()
    for step in steps:
        books.perform(*step)
        books.check()


# --- Rows, teams and badges.


def test_the_rows_of_a_round_name_receivers_and_authors() -> None:
    swarm, them = swarm_of()
    owner = swarm.owner("owner")
    them["a"].parts = {owner.key: HALF, them["b"].key: 100}
    swarm.run_rounds(2)
    found = swarm.state.last_round(swarm.manifest.run_id)
    received = {one.peer: one for one in found.credits if one.kind == rows.RECEIVED}
    assert set(received) == {owner.key, them["b"].key}
    assert {one.author for one in received.values()} == {them["a"].key}
    assert all(one.author == one.peer for one in found.credits if one.kind != rows.RECEIVED)
    attended = [one.peer for one in found.attended]
    assert attended.count(them["b"].key) == attended.count(owner.key) == 1
    assert swarm.state.attended[owner.key] == 2
    peer = key_rows(swarm.state, owner.key).peer
    assert (peer.gflop, peer.received) == (peer.received, swarm.state.gflop(owner.key))


@attack("U15", layer="pts", ends="work counts for its author alone")
def test_work_counts_for_its_authors_team_and_not_for_the_receivers() -> None:
    swarm, them = swarm_of()
    swarm.run_rounds(2)
    define = TeamDefine(team=0, name="Givers", invitation="", most=0, until=0, goal=0, goal_until=0)
    team = len(swarm.entries)
    swarm.send(them["a"], define)
    owner = swarm.owner("owner")
    them["a"].parts = {owner.key: WHOLE_PARTS}
    swarm.run_rounds(4)
    record = swarm.state.teams.records[team]
    assert set(record.earned) == {them["a"].key}
    assert record.earned[them["a"].key] >= swarm.earned(owner.key).received > 0
    assert swarm.state.badges.of(owner.key) == ()
    with pytest.raises(RefusedError, match="a name, or found a team, once a round has accepted"):
        swarm.send(owner, MemberName(name="Receiver"))
