"""Attacks on audits and vesting: each of these once earned, convicted or blocked what it must not.

Members are those of a swarm in memory; the ways are those that docs/protocol.md, 10.4, leaves open
to less than a third of them.
"""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import ContributionId, Digest, PeerKey, key_from_text, sha256, to_text
from tequio_shared.limits import AUDIT_PAUSE, MISSED_ROUNDS, VESTING
from tequio_shared.network.audits import AuditBook, AuditCase, AuditOutcome, AuditStage
from tequio_shared.network.standing import KeyStatus, Standing, StandingCause
from tequio_shared.network.vesting import MemberPoints, Vesting
from tequio_shared.round import audit_draws, audits, fold
from tequio_shared.round.audit_draws import AuditedWork, Candidate
from tequio_shared.round.audits import AuditVerdict, AuditVote
from tequio_shared.round.documents import Roster, RosterMember
from tequio_shared.round.manifest import AuditRules
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.network import MemberLeave, StandingChange, StandingRelease
from tequio_shared.statements.runs import AuditReport, RoundWitness, RunFinish
from tests.support.attack_table import attack
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import FailureRates, StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_shared.head.contribution import ContributionHeader
    from tequio_shared.round.round import RoundView


def swarm_of(
    members: int, *, seed: int = 0, unproven: int = 5_000, others: int = 500, most: int = 200
) -> Swarm:
    rules = AuditRules(unproven_bp=unproven, others_bp=others)
    swarm = Swarm(msgspec.structs.replace(tiny_manifest(most=most), audit=rules), seed=seed)
    for at in range(members):
        swarm.volunteer(f"member {at}")
    return swarm


def punished(swarm: Swarm, *kinds: str) -> set[PeerKey]:
    bodies = [entry.statement.body for entry in swarm.entries]
    return {
        key_from_text(body.peer)
        for body in bodies
        if isinstance(body, StandingChange) and body.to in kinds
    }


def named(name: str) -> bytes:
    return sha256(name.encode())


def candidate(name: str, speed: int = 100, lot: bytes = b"") -> Candidate:
    return Candidate(
        key=PeerKey(named(name)), owner=Digest(named(f"owner of {name}")), speed=speed, lot=lot
    )


# --- earning without work


@attack("U6", layer="coord", ends="fewer than half of their auditors are idlers, too")
def test_hasty_idlers_are_audited_by_others_than_each_other() -> None:
    # Who does nothing commits first, and looks faster than all who work: only the other idlers
    # would be fast enough to audit it.
    hasty = candidate("another idler", 10_000)
    workers = [candidate(f"worker {at}", 100 + at) for at in range(7)]
    by = []
    for at in range(40):
        name = ContributionId(named(f"work {at}"))
        work = AuditedWork(contribution=name, owners=frozenset(), speed=10_000)
        lots = [candidate("witness", lot=named("lot"))]
        elected = [one.owner for one in lots]
        by += audit_draws.draw_some(
            [(work, 10_000)], lots, elected, audit_draws.AuditorPool([hasty, *workers]), 1
        )
    assert sum(one.auditor.key == hasty.key for one in by) < len(by) // 2 == 20


@attack("U5", layer="coord", ends="it keeps less than a tenth of the others' points")
def test_who_idles_and_opens_nothing_earns_nothing() -> None:
    swarm = swarm_of(8, most=24)
    idler = swarm.volunteers[3].key
    swarm.arithmetic.idle.add(idler)
    swarm.arithmetic.closed.add(idler)
    swarm.run()
    points = swarm.view.accounts.earned
    fair = sorted(one.trainer for key, one in points.items() if key != idler)[3]
    assert points[idler].trainer * 10 < fair


@attack(
    "U9",
    layer="coord",
    ends="rounds without training follow, in which it is convicted before it is paid",
)
@attack("A14", layer="coord", ends="it loses its points before the run is closed")
def test_work_that_was_not_done_in_the_last_rounds_does_not_pay() -> None:
    # At most half of the members audit at once, so it is not found every time.
    before, after = 0, 0
    for seed in range(6):
        swarm = swarm_of(8, seed=seed, unproven=10_000, others=10_000, most=8)
        swarm.run_rounds(6)
        idler = swarm.volunteers[3].key
        before += swarm.view.accounts.earned[idler].trainer
        swarm.arithmetic.idle.add(idler)
        swarm.run()
        after += swarm.view.accounts.earned[idler].trainer
    assert 4 * after < 3 * before


class Sparing(Volunteer):
    """Does a part of its share: that many windows."""

    windows = 1

    def contribution_to(self, current: RoundView) -> ContributionHeader:
        if current.number not in self._headers:
            share = current.roster.members[current.slot_of[self.key]].share
            windows = min(self.windows, share)
            self._headers[current.number] = self._arithmetic.contribute(
                current, self.key, self._rng, windows
            )
        return self._headers[current.number]


@attack("U8", layer="coord", ends="larger work is audited like a newcomer's")
def test_a_standing_earned_by_single_windows_saves_no_larger_work_from_audits() -> None:
    # Ten contributions of one window made a key active, and its large ones were hardly audited.
    swarm = swarm_of(8, unproven=10_000, others=0)
    small = Sparing("small", swarm.arithmetic)
    swarm.join(small)
    while swarm.standings.of(small.key) is not Standing.ACTIVE or swarm.view.closed < 16:
        assert swarm.step()
    small.windows, large, audited = 3, 0, 0
    while large < 4:
        swarm.run_rounds(swarm.view.closed + 1)
        current = swarm.view.round
        assert current is not None
        mine = current.accepted().get(current.slot_of[small.key])
        if mine is not None and mine.header.window_count == 3:
            large, audited = large + 1, audited + (mine.id in swarm.view.accounts.audits.cases)
    assert audited


@attack("U8", layer="asg", ends="no share is more than twice what was repeated")
def test_no_share_grows_beyond_twice_what_somebody_repeated() -> None:
    # A member that commits at once looks faster every round. Nobody could repeat its shares in
    # time, so nobody reported.
    swarm = swarm_of(8, unproven=10_000, others=10_000)
    manifest = swarm.manifest
    windows = msgspec.structs.replace(manifest.windows, first=4, most=100_000)
    swarm = Swarm(msgspec.structs.replace(manifest, windows=windows), seed=3)
    for at in range(8):
        swarm.volunteer(f"member {at}")
    hasty = swarm.volunteers[3]
    most = 0
    while swarm.view.closed < 40:
        current = swarm.view.round
        if current is not None and current.phase is RoundPhase.TRAIN:
            for slot, order in current.orders.items():
                one = next(one for one in swarm.volunteers if current.slot_of[one.key] == slot)
                one.audits = order.tokens <= 16 * windows.tokens  # as many as it can repeat
            draft = hasty.duty(swarm.view)
            if draft is not None:
                swarm.post(hasty, draft)
                continue
            most = max(most, current.roster.members[current.slot_of[hasty.key]].share)
        assert swarm.step()
    assert 16 < most <= 32


# --- the draw


@attack(
    "U7",
    layer="coord",
    ends="lots follow from keys and from an output that the coordinator cannot choose",
)
def test_neither_the_last_trainer_nor_the_clock_can_choose_the_lots_of_friends() -> None:
    # A trainer once tried headers, some hundred in a second, and then a coordinator milliseconds,
    # until a friend's lot drew its work first and named another friend, or friends had the seats of
    # a jury. Only the coordinator can compute what follows from a header, and has one output.
    swarm = swarm_of(6)
    while not (swarm.view.round and len(swarm.view.round.commitments) == 6):
        assert swarm.step()
    current = swarm.view.round
    foreseen = deepcopy(current)
    fold.apply_witness(foreseen, swarm.witnessing(current), swarm.coordinator.key)
    slot, other = next(iter(current.commitments.items()))
    tried = deepcopy(current)
    tried.commitments[slot] = replace(other, id=ContributionId(named("tried")))
    with pytest.raises(RefusedError, match="draws of round"):
        fold.apply_witness(tried, swarm.witnessing(current), swarm.coordinator.key)
    by_trainer = swarm.volunteers[0].signer.prove(current.draw_input)
    guess = RoundWitness(commits=6, vrf=to_text(by_trainer))
    with pytest.raises(RefusedError, match="draws of round"):
        fold.apply_witness(deepcopy(current), guess, swarm.coordinator.key)
    swarm.now_ms += 1
    draft = StatementDraft(swarm.witnessing(current), current.number)
    swarm.log_statement(swarm.coordinator, draft)
    assert current.audit_lot_input == foreseen.audit_lot_input


@attack("U7", layer="coord", ends="refused as `too-late`")
def test_nobody_reports_once_the_lots_that_would_seat_a_jury_can_be_known() -> None:
    # Else an accuser would wait for them, and accuse only when its friends are the jury.
    swarm = swarm_of(8, unproven=10_000, others=10_000)
    while not (swarm.view.round and swarm.view.round.orders and swarm.view.round.open):
        assert swarm.step()
    current = swarm.view.round
    slot = next(iter(current.orders))
    late = next(one for one in swarm.volunteers if current.slot_of[one.key] == slot)
    late.audits = False
    while current.phase is not RoundPhase.WITNESS:
        assert swarm.step()
    report = StatementDraft(late.audit_of(swarm.view, current, slot), current.number)
    with pytest.raises(RefusedError) as refused:
        swarm.post(late, report)
    assert refused.value.code == "too-late"


# --- honest keys


def jury_reports(*kinds: AuditVerdict) -> list[AuditVote]:
    return [
        AuditVote(auditor=PeerKey(named(f"auditor {at}")), verdict=kind, checked=())
        for at, kind in enumerate(kinds)
    ]


def test_a_jury_is_not_drawn_while_most_who_could_judge_are_busy() -> None:
    # Two accusers at once: the first dispute takes five jurors, and the second one is left with the
    # other accuser alone.
    lots = [candidate(f"member {at}", lot=named(f"lot {at}")) for at in range(6)]
    work = AuditedWork(contribution=ContributionId(named("work")), owners=frozenset(), speed=100)
    assert not audit_draws.draw_jury(work, lots[:1], 5, lots)
    assert not audit_draws.draw_jury(work, lots[:4], 5, lots)
    assert len(audit_draws.draw_jury(work, lots[:5], 5, lots)) == 5
    assert len(audit_draws.draw_jury(work, lots[:2], 5, lots[:2])) == 2, "a small run has no others"


def test_two_who_are_not_barred_do_not_judge_for_all_the_others() -> None:
    lots = [candidate(f"member {at}", lot=named(f"lot {at}")) for at in range(6)]
    work = AuditedWork(contribution=ContributionId(named("work")), owners=frozenset(), speed=100)
    assert not audit_draws.draw_jury(work, lots[:2], 5, lots[:2], lots[2:])
    assert len(audit_draws.draw_jury(work, lots[:3], 5, lots[:3], lots[3:])) == 3


def test_two_reports_of_a_jury_that_did_not_answer_convict_nobody() -> None:
    accused = jury_reports(AuditVerdict.NOT_DONE, AuditVerdict.NOT_DONE)
    assert audits.settle(accused, 6).verdict is None
    assert audits.settle(accused, 3).verdict is AuditVerdict.NOT_DONE
    assert audits.settle(accused * 2, 6).verdict is AuditVerdict.NOT_DONE


def test_jurors_as_fast_as_the_accused_are_not_the_only_ones() -> None:
    # An honest trainer on the fastest machine, and two that look as fast because they do nothing.
    hasty = [candidate(f"hasty {at}", 10_000, named(f"lot {at}")) for at in range(2)]
    others = [candidate(f"other {at}", 100, named(f"other lot {at}")) for at in range(8)]
    work = AuditedWork(contribution=ContributionId(named("work")), owners=frozenset(), speed=10_000)
    jury = audit_draws.draw_jury(work, [*hasty, *others], 5, [*hasty, *others])
    assert len(jury) == 5
    able = audit_draws.auditors_of(work, [*hasty, *others])
    assert len(able) >= len([*hasty, *others]) // 2


@attack("U2", layer="coord", ends="no honest trainer is suspected")
@pytest.mark.parametrize("seed", [2, 4, 5])
def test_two_accusers_of_eight_never_convict_an_honest_trainer(seed: int) -> None:
    swarm = swarm_of(8, seed=seed, unproven=10_000, others=10_000)
    liars = {one.key for one in swarm.volunteers[:2]}
    swarm.arithmetic.accusers |= liars
    swarm.run_rounds(14)
    assert punished(swarm, "quarantined", "suspected") <= liars


# --- laundering


@attack(
    "U4",
    layer="coord",
    ends="it keeps the duty, and after two rosters without a report is not drawn for 32 rounds",
)
def test_an_auditor_cannot_leave_and_return_to_shed_its_duty() -> None:
    swarm = swarm_of(8, unproven=10_000, others=10_000)
    while not (swarm.view.round and swarm.view.round.orders and swarm.view.round.open):
        assert swarm.step()
    current = swarm.view.round
    key = current.roster.members[next(iter(current.orders))].key
    one = next(each for each in swarm.volunteers if each.key == key)
    one.audits = False
    for _ in range(2):
        swarm.post(one, StatementDraft(MemberLeave(reason=1)))
        swarm.post(one, one.ready(swarm.view))
        swarm.run_rounds(swarm.view.number)
        swarm.run_rounds(swarm.view.number + 1)
    assert swarm.view.accounts.audits.paused[key] == current.number + 1 + AUDIT_PAUSE


@attack("U4", layer="coord", ends="its order is in the next roster")
def test_an_auditor_that_returns_before_the_next_roster_finds_its_order_there() -> None:
    swarm = swarm_of(8, unproven=10_000, others=10_000)
    swarm.run_rounds(1)
    key = next(iter(swarm.view.accounts.audits.duties))
    one = next(each for each in swarm.volunteers if each.key == key)
    swarm.post(one, StatementDraft(MemberLeave(reason=1)))
    swarm.post(one, one.ready(swarm.view))
    while swarm.view.number < 2:
        assert swarm.step()
    current = swarm.view.round
    assert current is not None
    assert current.slot_of[key] in current.orders


def test_an_auditor_that_stays_away_is_not_drawn_for_a_while() -> None:
    swarm = swarm_of(8, unproven=10_000, others=10_000)
    swarm.run_rounds(1)
    key = next(iter(swarm.view.accounts.audits.duties))
    one = next(each for each in swarm.volunteers if each.key == key)
    swarm.post(one, StatementDraft(MemberLeave(reason=1)))
    one.failure_rates = FailureRates(silent=100)
    swarm.run_rounds(2)
    audits_ = swarm.view.accounts.audits
    assert key not in audits_.duties
    assert audits_.paused[key] == 2 + AUDIT_PAUSE


def test_who_has_left_is_not_drawn() -> None:
    for seed in range(4):
        swarm = swarm_of(8, seed=seed, unproven=10_000, others=10_000)
        while swarm.view.closed < 6:
            current = swarm.view.round
            if current is not None and current.proofs and swarm.now_ms % 3 == 0:
                gone = swarm.rng.choice(swarm.volunteers)
                if swarm.view.accounts.members[gone.key].is_active:
                    swarm.post(gone, StatementDraft(MemberLeave(reason=1)))
            closed = swarm.view.closed
            assert swarm.step()
            if swarm.view.closed > closed:
                accounts = swarm.view.accounts
                assert all(accounts.members[key].is_active for key in accounts.audits.duties)


def test_an_audit_does_not_count_as_a_commitment_that_others_could_fetch() -> None:
    swarm = swarm_of(12, unproven=10_000, others=10_000)
    away = swarm.volunteers[4].key
    swarm.arithmetic.hidden.add(away)
    most = 0
    while most < MISSED_ROUNDS and swarm.view.closed < 25 and swarm.step():
        if swarm.view.closed:
            most = max(most, swarm.view.accounts.members[away].missed)
    assert most == MISSED_ROUNDS


def test_a_contradiction_that_is_settled_later_than_the_standing_makes_suspected() -> None:
    standings, auditor = KeyStatus(), PeerKey(named("auditor"))
    record = standings.register(auditor, 1)
    record.standing, record.since = Standing.ACTIVE, 58  # earned after its report
    outcome = AuditOutcome(
        trainer=PeerKey(named("trainer")),
        round=1,
        tokens=1,
        verdict=AuditVerdict.CLEAR,
        contradicted=(auditor,),
        auditors=(auditor,),
        entries=(55,),
    )
    standings.close_audits(60, [outcome], ())
    change = standings.due(1)
    assert change is not None
    assert (change.to, change.cause, change.evidence) == (
        "suspected",
        StandingCause.CONTRADICTED,
        (55,),
    )


# --- vesting


def test_points_that_wait_anew_wait_for_as_many_payments_as_new_ones() -> None:
    waiting = Vesting()
    waiting.pay(1, 10)
    waiting.pay(2, 10)
    waiting.withdraw(1)
    waiting.restart()
    for number in range(3, 2 + VESTING):
        waiting.pay(number, 10)
    assert waiting.total == 10 * VESTING
    waiting.pay(2 + VESTING, 10)
    assert waiting.total == 10 * VESTING
    assert [one.round for one in waiting.waiting] == list(range(3, 3 + VESTING))


@pytest.mark.parametrize(("before", "later"), [(10, 20), (10 * VESTING, 1)])
def test_payments_before_points_wait_again_vest_none_of_them(before: int, later: int) -> None:
    waiting = Vesting()
    waiting.pay(1, 10)
    waiting.pay(2, before)
    waiting.pay(3, 10)
    waiting.withdraw(3)
    waiting.restart()
    for number in range(4, 3 + VESTING):
        waiting.pay(number, later)
    assert [one.round for one in waiting.waiting][:2] == [1, 2]
    waiting.pay(3 + VESTING, later)
    assert waiting.waiting[0].round == (4 if later == 20 else 1)


def test_what_is_given_back_waits_for_as_many_payments_and_not_for_as_much() -> None:
    points, other = MemberPoints(), PeerKey(b"o" * 32)
    points.pay(1, 64_000, 64_000)
    points.pay(2, 0, 0, ((other, 10),))
    assert points.seize() == ((other, 10),)
    assert (points.gflop, points.unvested) == (0, 0)
    assert points.restore() == ((other, 10),)
    for number in range(3, 2 + VESTING):
        points.pay(number, 1, 1)
    assert points.unvested == 2 * 64_000 + 2 * (VESTING - 1)
    assert points.pay(2 + VESTING, 1, 1) == ((other, 10),)
    assert points.unvested == 2 * VESTING


def test_parts_alone_are_given_back_too() -> None:
    points, other = MemberPoints(), PeerKey(b"o" * 32)
    points.pay(1, 0, 0, ((other, 10),))
    assert points.seize() == points.restore() == ((other, 10),)
    assert points.training.waiting[0].given == ((other, 10),)


def test_what_waits_again_does_not_vest_at_the_end() -> None:
    points, other = MemberPoints(), PeerKey(b"o" * 32)
    points.pay(1, 60, 5, ((other, 40),))
    points.pay(2, 60, 5)
    assert points.take_round(2) == ()
    points.pay(3, 7, 5, ((other, 3),))
    assert points.vest() == (((other, 40),), ((other, 3),))
    assert (points.trainer, points.witness, points.forfeited) == (7, 15, 120)
    assert points.unvested == 0


@attack("U8", layer="pts", ends="points wait for payments as large as theirs")
def test_small_contributions_do_not_vest_what_large_ones_earned() -> None:
    # Twenty large contributions without the work, and then one window in each of 64 rounds: all
    # twenty had vested, for the work of one.
    waiting = Vesting()
    for number in range(20):
        waiting.pay(number, 64_000)
    for number in range(20, 20 + VESTING):
        waiting.pay(number, 1_000)
    assert waiting.total >= 20 * 64_000
    for number in range(100, 100 + VESTING):
        waiting.pay(number, 64_000)
    assert waiting.total == VESTING * 64_000


def test_points_that_wait_for_larger_payments_do_not_hold_up_smaller_ones() -> None:
    waiting = Vesting()
    waiting.pay(0, 1_000)
    for number in range(1, 1_000):
        waiting.pay(number, 10)
    assert waiting.total == 1_000 + VESTING * 10
    assert len(waiting.waiting) == 1 + VESTING


def test_points_given_back_after_the_end_of_the_run_are_kept() -> None:
    swarm = swarm_of(8)
    cheat = swarm.volunteers[3]
    swarm.arithmetic.idle.add(cheat.key)
    while not punished(swarm, "quarantined"):
        assert swarm.step()
    swarm.organise(RunFinish(reason=0))
    swarm.run()
    swarm.organise(StandingRelease(peer=to_text(cheat.key), reason=0))
    points: MemberPoints = swarm.view.accounts.earned[cheat.key]
    assert points.trainer > 0
    assert (points.forfeited, points.unvested) == (0, 0)


@attack("U3", layer="coord", ends="a jury contradicts it")
def test_who_doubts_an_honest_sketch_alone_is_contradicted() -> None:
    # It could have five others repeat any work, as often as it was drawn, at no risk.
    honest, doubter, *jury = jury_reports(*[AuditVerdict.CLEAR] * 7)
    votes = [honest, replace(doubter, checked=(100,))]
    assert audits.is_disputed(votes)
    votes += [replace(one, checked=(9_990, 9_990)) for one in jury]
    settled = audits.settle(votes, 7)
    assert settled.verdict is AuditVerdict.CLEAR
    assert settled.contradicted == (doubter.auditor,)


# --- the cost of the fold


class _View:
    """The part that `AuditBook` reads of a round with very many members."""

    def __init__(self, members: int) -> None:
        roles = ("trainer", "witness")
        keys = [named(f"many {at}") for at in range(members)]
        self.roster = Roster(
            members=tuple(
                RosterMember(peer=to_text(key), roles=roles, speed=1, share=1) for key in keys
            ),
            pool=(),
            train_ms=1,
        )
        self.number = 3
        self.elected = tuple(range(32))
        self.slot_of = {PeerKey(key): slot for slot, key in enumerate(keys)}
        self.attests = dict.fromkeys(range(members))
        self.audit_lots = {slot: named(f"lot {slot}") for slot in range(32)}
        self.reports: dict[int, tuple[int, AuditReport]] = {}
        self.orders: dict[int, object] = {}
        self.commitments: dict[int, object] = {}

    def auditable(self) -> dict[int, object]:
        return {}


@attack("U10", layer="coord", ends="the cost of a close grows with members times open cases")
def test_a_round_with_many_open_audits_is_closed_quickly() -> None:
    book, view = AuditBook(AuditRules()), _View(1_000)
    for at in range(400):
        auditor = PeerKey(named(f"many {at}"))
        name = ContributionId(named(f"case {at}"))
        clear = AuditVote(auditor=auditor, verdict=AuditVerdict.CLEAR, checked=())
        book.cases[name] = AuditCase(
            id=name,
            round=2,
            trainer=PeerKey(named(f"many {at + 400}")),
            owner=Digest(named(f"many {at + 400}")),
            tokens=1,
            speed=1,
            stage=AuditStage.FIRST,
            votes=[clear],
            entries=[at],
            reported=[3],
            owners={Digest(auditor)},
        )
        book.paused[PeerKey(named(f"paused {at}"))] = 100
    began = time.perf_counter()
    book.close_round(cast("RoundView", view), Digest, lambda *_: True, lambda _: True)
    assert time.perf_counter() - began < 5
