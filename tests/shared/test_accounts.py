"""Members, windows and points: what the whole history leaves."""

from __future__ import annotations

from tequio_shared.accounts import Accounts
from tequio_shared.documents import TRAINER, WITNESS
from tequio_shared.ids import sha256, to_text
from tequio_shared.round import Phase
from tequio_shared.statements.standing import StandingRelease
from tests.support.swarm import Character, Swarm, signer, tiny_manifest

BOTH = (TRAINER, WITNESS)


def accounts(**rounds: int) -> Accounts:
    return Accounts(manifest=tiny_manifest(**rounds))


def test_slots_follow_the_order_of_becoming_ready() -> None:
    them = accounts()
    for at, name in enumerate("cab"):
        them.ready(signer(name).key, BOTH, sha256(b""), at)
    them.ready(signer("c").key, BOTH, sha256(b"new"), 9)  # said again: keeps its place
    assert them.active() == [signer(name).key for name in "cab"]
    them.drop(signer("c").key)
    them.ready(signer("c").key, BOTH, sha256(b""), 10)
    assert them.active() == [signer(name).key for name in "abc"]


def test_a_roster_has_no_more_members_than_the_manifest_allows() -> None:
    them = accounts(most_members=2)
    for at, name in enumerate("abc"):
        them.ready(signer(name).key, BOTH, sha256(b""), at)
    assert len(them.plan_roster().members) == 2
    assert them.count_next(TRAINER) == 2


def test_witnesses_without_a_trainer_get_no_windows() -> None:
    them = accounts()
    them.ready(signer("a").key, (WITNESS,), sha256(b""), 0)
    them.ready(signer("b").key, BOTH, sha256(b""), 1)
    assert [one.share for one in them.plan_roster().members] == [0, 3]


def test_planning_hands_nothing_out() -> None:
    them = accounts()
    them.ready(signer("a").key, BOTH, sha256(b""), 0)
    assert them.plan_roster() == them.plan_roster()
    them.take(them.plan_roster())
    assert them.queue.fresh == 3


def test_who_left_is_paid_for_what_it_did() -> None:
    swarm = Swarm()
    for name in "abc":
        swarm.volunteer(name)
    leaver = swarm.volunteer("leaver", Character(leaving=0))
    while swarm.view.round is None or swarm.view.round.phase is not Phase.WITNESS:
        assert swarm.step()
    leaver.character = Character(leaving=100)
    swarm.run_rounds(1)
    books = swarm.view.accounts
    assert books is not None
    assert books.earned[leaver.key].trainer > 0


def test_verified_speed_shapes_the_next_share() -> None:
    swarm = Swarm()
    for name in "abc":
        peer = to_text(swarm.volunteer(name).key)
        swarm.organise(StandingRelease(peer=peer, reason=0))  # newcomers get small shares
    swarm.run_rounds(2)
    assert swarm.view.round is not None
    assert [one.share for one in swarm.view.round.roster.members] == [8, 8, 8]
