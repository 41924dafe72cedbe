"""Rounds of many members: what is counted on the way equals what a count of everything gives."""

from __future__ import annotations

from random import Random

import pytest

from tequio_shared.ids import ContributionId, Digest, PeerKey, sha256
from tequio_shared.round import assignment
from tequio_shared.round.audit_draws import AuditedWork, AuditorPool, Candidate
from tequio_shared.round.documents import TRAINER, WITNESS
from tequio_shared.round.proof import RejectionReason, Verdict, WitnessFindings, verdicts
from tequio_shared.round.round import RoundPhase
from tests.support.memory_swarm import Swarm
from tests.support.volunteers import FailureRates


@pytest.mark.parametrize("seed", range(3))
def test_a_round_awaits_exactly_those_that_have_not_answered(seed: int) -> None:
    swarm = Swarm(seed=seed)
    for number in range(7):
        swarm.volunteer(f"peer {number}", FailureRates(silent=15, misstating=10, leaving=5))
    phases = set()
    while swarm.view.closed + swarm.view.voided < 4 and swarm.step():
        current = swarm.view.round
        if current is None:
            continue
        phases.add(current.phase)
        witnesses = set(current.roster.slots_of(WITNESS))
        assert current.without_lot == witnesses - current.lots.keys()
        assert current.without_work == set(current.trainers) - current.commitments.keys()
        assert current.without_report == current.orders.keys() - current.reports.keys()
        assert current.without_proof == set(current.elected) - current.proofs.keys()
        heads = [one.head for slot, one in current.attests.items() if slot in witnesses]
        assert current.votes == {head: heads.count(head) for head in heads}
    assert phases == set(RoundPhase)


@pytest.mark.parametrize("seed", range(3))
def test_members_are_counted_as_a_roster_would_have_them(seed: int) -> None:
    swarm, rng = Swarm(seed=seed), Random(seed)
    for number in range(6):
        roles = rng.choice([("trainer", "witness"), ("trainer",), ("witness",)])
        swarm.volunteer(f"peer {number}", FailureRates(silent=30), roles)
    for _ in range(120):
        swarm.step()
        accounts = swarm.view.accounts
        roles_ = list(accounts.next_members(swarm.now_ms).values())
        trainers, has_witness = (
            sum(TRAINER in one for one in roles_),
            any(WITNESS in one for one in roles_),
        )
        for least in range(1, 8):
            wanted = has_witness and trainers >= least
            assert accounts.has_members(swarm.now_ms, least) is wanted
        order = sorted(
            (one.ready_index, key) for key, one in accounts.members.items() if one.is_active
        )
        assert accounts.active() == [key for _, key in order]


def test_windows_are_dealt_as_if_split_off_one_after_the_other() -> None:
    rng = Random(1)
    for _ in range(200):
        pool, at = [], 0
        for _ in range(rng.randrange(6)):
            at += rng.randrange(1, 5)
            pool.append((at, rng.randrange(1, 9)))
            at += pool[-1][1] + 1
        shares = [rng.randrange(6) for _ in range(8)]
        left, dealt = tuple(pool), []
        for share in shares:
            mine, left = assignment.split_windows(left, share)
            dealt.append(mine)
        assert assignment.deal_windows(tuple(pool), shares) == tuple(dealt)


def test_a_pool_finds_the_auditors_that_a_search_of_all_finds() -> None:
    rng = Random(2)
    for _ in range(100):
        candidates = [_candidate(number, rng) for number in range(rng.randrange(1, 12))]
        busy = {one.key for one in candidates if rng.random() < 0.3}
        owners = frozenset(one.owner for one in candidates if rng.random() < 0.2)
        name = ContributionId(sha256(b"work"))
        work = AuditedWork(contribution=name, owners=owners, speed=rng.randrange(9))
        pool = AuditorPool(candidates, busy)
        free = [one for one in candidates if one.key not in busy and one.owner not in owners]
        middle = sorted(one.speed for one in free)[len(free) // 2] if free else 0
        able = [one for one in free if one.speed * 4 >= min(work.speed * 3, middle * 4)]
        places = pool.able(work)
        assert [candidates[place] for place in places] == able
        if able:
            taken = pool.pop(int(places[0]))
            assert taken not in [candidates[place] for place in pool.able(work)]


def test_nobody_witnesses_its_own_work() -> None:
    every = frozenset(range(4))
    proofs = {
        0: WitnessFindings(vouched=every, rejected={}),
        1: WitnessFindings(vouched=frozenset({1, 2}), rejected={0: RejectionReason.NORM}),
        2: WitnessFindings(
            vouched=frozenset({1}),
            rejected={0: RejectionReason.NORM, 2: RejectionReason.NORM},
        ),
    }
    found = verdicts((0, 1, 2), proofs, range(4))
    assert found[0] == (Verdict.REJECTED, RejectionReason.NORM)
    assert found[1][0] is Verdict.ACCEPTED
    assert found[2][0] is Verdict.ACCEPTED
    assert found[3][0] is Verdict.NOT_SELECTED


def _candidate(number: int, rng: Random) -> Candidate:
    owner = Digest(sha256(b"owner", bytes([rng.randrange(6)])))
    key = PeerKey(sha256(b"key", bytes([number])))
    return Candidate(key=key, owner=owner, speed=rng.randrange(9), lot=rng.choice([b"", b"lot"]))
