"""Standing: what faults, verdicts and work make of a key, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import key_from_text, sha256, to_text
from tequio_shared.limits import APPEAL_MS, APPEAL_PAUSE_MS, QUARANTINE_MS, REPEATED_QUARANTINE_MS
from tequio_shared.network.coordination import decide
from tequio_shared.network.standing import Standing, StandingCause
from tequio_shared.round.documents import TRAINER, WITNESS
from tequio_shared.round.proof import RejectionReason
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.network import (
    StandingAppeal,
    StandingChange,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.runs import RoundClose
from tests.support.attackers_round import bad_piece, scale_255
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import HONEST, FailureRates, StatementDraft, Volunteer

if TYPE_CHECKING:
    from collections.abc import Mapping


DAY_MS = 86_400_000


def swarm_of(*names: str, rounds: int = 60) -> tuple[Swarm, dict[str, Volunteer]]:
    swarm = Swarm(tiny_manifest(most=rounds))
    return swarm, {name: swarm.volunteer(name) for name in names}


def standing(swarm: Swarm, one: Volunteer) -> Standing:
    return swarm.standings.of(one.key)


def changes(swarm: Swarm, one: Volunteer) -> list[StandingChange]:
    bodies = (entry.statement.body for entry in swarm.entries)
    said = [body for body in bodies if isinstance(body, StandingChange)]
    return [body for body in said if key_from_text(body.peer) == one.key]


def close_indices(swarm: Swarm) -> list[int]:
    logged = enumerate(entry.statement.body for entry in swarm.entries)
    return [index for index, body in logged if isinstance(body, RoundClose)]


def in_roster(swarm: Swarm, one: Volunteer) -> bool:
    assert swarm.view.round is not None
    return one.key in swarm.view.round.slot_of


def release(swarm: Swarm, one: Volunteer) -> None:
    swarm.organise(StandingRelease(peer=to_text(one.key), reason=0))


def ready(swarm: Swarm, one: Volunteer) -> None:
    swarm.post(one, one.ready(swarm.view))


def quarantine(swarm: Swarm, one: Volunteer) -> StandingChange:
    """Report broken bytes of that trainer, and run until it is out."""
    while not swarm.view.closed:
        assert swarm.step()
    report_bytes(swarm, one)
    while standing(swarm, one) is not Standing.QUARANTINED:
        assert swarm.step()
    return changes(swarm, one)[-1]


def report_bytes(swarm: Swarm, one: Volunteer) -> None:
    witness = next(other for other in swarm.volunteers if other is not one)
    swarm.post(witness, StatementDraft(bad_piece(swarm, one, scale_255)))


def test_ten_accepted_contributions_make_a_newcomer_active() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.run_rounds(9)
    assert {standing(swarm, one) for one in them.values()} == {Standing.NEWCOMER}
    assert swarm.view.round is not None
    assert {member.share for member in swarm.view.round.roster.members} == {3}, "windows.first"
    swarm.run_rounds(12)
    assert {standing(swarm, one) for one in them.values()} == {Standing.ACTIVE}
    assert {member.share for member in swarm.view.round.roster.members} == {8}
    (change,) = changes(swarm, them["a"])
    assert (change.to, change.cause) == ("active", StandingCause.EARNED)
    assert change.evidence == (close_indices(swarm)[9],)


def test_who_joins_the_active_trains_but_does_not_witness() -> None:
    swarm, _ = swarm_of(*"abcd")
    swarm.run_rounds(11)
    late = swarm.volunteer("late")
    swarm.run_rounds(13)
    assert swarm.view.round is not None
    member = swarm.view.round.roster.members[swarm.view.round.slot_of[late.key]]
    assert (member.roles, member.share) == ((TRAINER,), 3)
    swarm.run_rounds(23)
    assert standing(swarm, late) is Standing.ACTIVE


def test_newcomers_witness_where_there_are_fewer_than_four_others() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.run_rounds(11)
    late = swarm.volunteer("late")
    them["d"].failure_rates = FailureRates(silent=100)
    swarm.run_rounds(14)
    assert swarm.view.round is not None
    slot = swarm.view.round.slot_of[late.key]
    assert WITNESS in swarm.view.round.roster.members[slot].roles


def test_a_newcomer_who_only_witnesses_waits_for_a_place() -> None:
    swarm, _ = swarm_of(*"abcd")
    swarm.run_rounds(11)
    watcher = swarm.volunteer("watcher", roles=(WITNESS,))
    swarm.run_rounds(13)
    assert not in_roster(swarm, watcher)
    release(swarm, watcher)
    swarm.run_rounds(15)
    assert in_roster(swarm, watcher)


def test_the_proven_come_before_newcomers_when_places_are_few() -> None:
    swarm = Swarm(tiny_manifest(most=60, most_members=3))
    first = [swarm.volunteer(name) for name in "abc"]
    swarm.run_rounds(11)
    crowd = [swarm.volunteer(f"crowd {at}") for at in range(6)]
    first[0].failure_rates = FailureRates(leaving=100)
    swarm.run_rounds(13)
    first[0].failure_rates = HONEST
    swarm.run_rounds(16)
    assert all(in_roster(swarm, one) for one in first)
    assert not any(in_roster(swarm, one) for one in crowd)


@pytest.mark.parametrize(
    "reason", [RejectionReason.NORM, RejectionReason.COSINE, RejectionReason.COPY]
)
def test_a_measured_fault_is_a_strike_and_no_number_of_them_quarantines(
    reason: RejectionReason,
) -> None:
    swarm, them = swarm_of(*"abcd")
    cheat = them["d"]
    swarm.arithmetic.blames[cheat.key] = reason
    swarm.run_rounds(6)
    (suspected,) = changes(swarm, cheat)
    closes = close_indices(swarm)
    assert (suspected.to, suspected.cause) == ("suspected", StandingCause.STRIKE)
    assert suspected.evidence == (closes[0],)
    assert in_roster(swarm, cheat)
    assert swarm.view.accounts.earned[cheat.key].trainer == 0
    assert {standing(swarm, them[name]) for name in "abc"} == {Standing.NEWCOMER}


def test_a_suspected_key_works_on_without_duty_and_earns_its_standing_again() -> None:
    swarm, them = swarm_of(*"abcde")
    one = them["e"]
    swarm.arithmetic.blames[one.key] = RejectionReason.COSINE
    swarm.run_rounds(1)
    swarm.arithmetic.blames.clear()
    swarm.run_rounds(3)
    assert standing(swarm, one) is Standing.SUSPECTED
    assert swarm.view.round is not None
    assert swarm.view.round.roster.members[swarm.view.round.slot_of[one.key]].roles == (TRAINER,)
    swarm.run_rounds(12)
    assert standing(swarm, one) is Standing.ACTIVE


def test_strikes_far_apart_do_not_add_up() -> None:
    swarm, them = swarm_of(*"abcd")
    one = them["d"]
    for _ in range(2):
        swarm.arithmetic.blames[one.key] = RejectionReason.NORM
        swarm.run_rounds(swarm.view.closed + 1)
        swarm.arithmetic.blames.clear()
        swarm.run_rounds(swarm.view.closed + 12)
    assert [change.to for change in changes(swarm, one)] == ["suspected", "active"] * 2


def test_broken_bytes_quarantine_at_once() -> None:
    swarm, them = swarm_of(*"abcd")
    change = quarantine(swarm, them["d"])
    assert change.cause == StandingCause.BAD_PAYLOAD
    assert change.until - swarm.now_ms <= QUARANTINE_MS
    assert len(change.evidence) == 1, "the report, which names the piece"
    swarm.run_rounds(4)
    assert not in_roster(swarm, them["d"])


def test_one_witness_alone_blames_nobody() -> None:
    swarm, them = swarm_of(*"ab")  # each is judged by one other
    swarm.arithmetic.blames[them["b"].key] = RejectionReason.NORM
    swarm.run_rounds(5)
    assert standing(swarm, them["b"]) is Standing.NEWCOMER


def test_the_word_of_all_witnesses_on_bytes_convicts_nobody() -> None:
    swarm, them = swarm_of(*"abcde")
    one = them["e"]
    swarm.arithmetic.blames[one.key] = RejectionReason.LEVEL
    swarm.run_rounds(5)
    assert swarm.view.accounts.earned[one.key].trainer == 0, "but nobody pays for it either"
    assert standing(swarm, one) is Standing.NEWCOMER


def test_a_witness_that_the_others_contradict_loses_its_duty_its_pay_and_nothing_else() -> None:
    swarm, them = swarm_of(*"abcde")
    liar = them["e"]
    liar.failure_rates = FailureRates(
        lying=100
    )  # blames everybody; its own work breaks a header rule
    swarm.run_rounds(4)
    (change,) = changes(swarm, liar)
    assert (change.to, change.cause) == ("suspected", StandingCause.DEVIATION)
    assert swarm.view.accounts.earned[liar.key].witness == 0
    assert swarm.view.accounts.earned[them["a"].key].witness > 0
    assert {standing(swarm, them[name]) for name in "abcd"} == {Standing.NEWCOMER}


def test_silence_and_lateness_change_no_standing() -> None:
    swarm, them = swarm_of(*"abcd")
    them["d"].failure_rates = FailureRates(silent=60)
    swarm.run_rounds(30)
    assert {change.to for change in changes(swarm, them["d"])} <= {"active"}


def test_no_roster_is_admitted_while_a_change_is_due() -> None:
    swarm, them = swarm_of(*"abcd")
    while swarm.view.closed < 1:
        assert swarm.step()
    report_bytes(swarm, them["d"])
    assert swarm.standings.due(swarm.now_ms) is not None
    swarm.watch.update(swarm.view, swarm.now_ms)
    # a coordinator that shields the key
    step = decide(swarm.view, swarm.watch, swarm.now_ms, swarm.coordinator.prove)
    assert step is not None
    assert step.document is not None
    swarm.blobs[sha256(step.document)] = step.document
    with pytest.raises(RefusedError, match="must become quarantined first"):
        swarm.log_statement(swarm.coordinator, StatementDraft(step.body, step.round))


@pytest.mark.parametrize(
    "changed",
    [
        {"to": "suspected", "until": 0},
        {"cause": int(StandingCause.STRIKE)},
        {"evidence": (1,)},
        {"until": 1},
        {"peer": to_text(bytes(32))},
    ],
)
def test_a_change_that_does_not_follow_is_refused(changed: Mapping[str, object]) -> None:
    swarm, them = swarm_of(*"abcd")
    while swarm.view.closed < 1:
        assert swarm.step()
    report_bytes(swarm, them["d"])
    due = swarm.standings.due(swarm.now_ms)
    assert due is not None
    with pytest.raises(RefusedError, match="follows"):
        swarm.log_statement(
            swarm.coordinator, StatementDraft(msgspec.structs.replace(due, **changed))
        )
    swarm.log_statement(swarm.coordinator, StatementDraft(due))
    with pytest.raises(RefusedError, match="nothing follows"):
        swarm.log_statement(swarm.coordinator, StatementDraft(due))


def test_a_quarantine_ends_by_its_term_and_a_wish_never_by_silence() -> None:
    swarm, them = swarm_of(*"abcde")
    one = them["e"]
    change = quarantine(swarm, one)
    with pytest.raises(RefusedError, match="quarantined until") as refused:
        ready(swarm, one)
    assert refused.value.code == "quarantined"
    one.failure_rates = FailureRates(silent=100)
    swarm.now_ms = change.until + 30 * DAY_MS
    swarm.run_rounds(swarm.view.closed + 2)
    assert standing(swarm, one) is Standing.QUARANTINED, "silence brings nothing"
    one.failure_rates = HONEST
    ready(swarm, one)
    swarm.run_rounds(swarm.view.closed + 3)
    assert standing(swarm, one) is Standing.PROBATION
    assert in_roster(swarm, one)
    swarm.run_rounds(swarm.view.closed + 20)
    assert standing(swarm, one) is Standing.ACTIVE
    assert [StandingCause(each.cause) for each in changes(swarm, one)] == [
        StandingCause.BAD_PAYLOAD,
        StandingCause.TERM_SERVED,
        StandingCause.EARNED,
    ]


def second_quarantine(swarm: Swarm, one: Volunteer) -> StandingChange:
    swarm.now_ms = quarantine(swarm, one).until
    ready(swarm, one)
    swarm.run_rounds(swarm.view.closed + 1)
    return quarantine(swarm, one)


def test_a_second_quarantine_is_longer() -> None:
    swarm, them = swarm_of(*"abcd")
    change = second_quarantine(swarm, them["d"])
    said = [e.statement.ts for e in swarm.entries if e.statement.body == change]
    assert change.until == said[0] + REPEATED_QUARANTINE_MS


def test_a_ban_needs_two_quarantines_and_organisers() -> None:
    swarm, them = swarm_of(*"abcd")
    one = them["d"]
    ban = StandingUphold(peer=to_text(one.key), to="banned", reason=1)
    with pytest.raises(RefusedError, match="newcomer"):
        swarm.organise(ban)
    quarantine(swarm, one)
    with pytest.raises(RefusedError, match="a ban needs two"):
        swarm.organise(ban)
    swarm.now_ms = changes(swarm, one)[-1].until
    ready(swarm, one)
    swarm.run_rounds(swarm.view.closed + 1)
    quarantine(swarm, one)
    swarm.organise(ban)
    assert standing(swarm, one) is Standing.BANNED
    since = swarm.standings.records[one.key].since
    keep = StandingUphold(peer=to_text(one.key), to="unchanged", reason=1)
    with pytest.raises(RefusedError, match="has no open appeal"):
        swarm.organise(keep)
    for _ in range(2):  # one appeal after the other is answered
        swarm.now_ms += APPEAL_PAUSE_MS
        swarm.post(one, StatementDraft(StandingAppeal(change=since, text="")))
        swarm.organise(keep)
    assert standing(swarm, one) is Standing.BANNED
    assert swarm.standings.records[one.key].since == since
    swarm.now_ms += 1_000 * DAY_MS
    with pytest.raises(RefusedError, match="banned"):
        ready(swarm, one)


def test_an_appeal_names_the_change_is_one_at_a_time_and_an_organiser_answers_it() -> None:
    swarm, them = swarm_of(*"abcd")
    one = them["d"]
    appeal = StandingAppeal(change=0, text="")
    with pytest.raises(RefusedError, match="no appeal is needed"):
        swarm.post(one, StatementDraft(appeal))
    quarantine(swarm, one)
    since = swarm.standings.records[one.key].since
    with pytest.raises(RefusedError, match=f"entry {since}"):
        swarm.post(one, StatementDraft(appeal))
    swarm.post(one, StatementDraft(StandingAppeal(change=since, text="")))
    with pytest.raises(RefusedError, match="still open"):
        swarm.post(one, StatementDraft(StandingAppeal(change=since, text="")))
    swarm.organise(StandingUphold(peer=to_text(one.key), to="unchanged", reason=1))
    with pytest.raises(RefusedError, match="next appeal"):
        swarm.post(one, StatementDraft(StandingAppeal(change=since, text="")))
    swarm.now_ms += APPEAL_PAUSE_MS
    swarm.post(one, StatementDraft(StandingAppeal(change=since, text="")))
    release(swarm, one)
    assert standing(swarm, one) is Standing.ACTIVE
    assert swarm.standings.records[one.key].convictions == [], "a released one counts for nothing"
    with pytest.raises(RefusedError, match="is already active"):
        release(swarm, one)


def test_an_appeal_that_nobody_answers_ends_in_probation() -> None:
    swarm, them = swarm_of(*"abcd")
    one = them["d"]
    quarantine(swarm, one)
    since = swarm.standings.records[one.key].since
    appealed = swarm.post(one, StatementDraft(StandingAppeal(change=since, text="")))
    one.failure_rates = FailureRates(silent=100)
    swarm.now_ms = appealed.statement.ts + APPEAL_MS - 1
    assert swarm.standings.due(swarm.now_ms) is None
    due = swarm.standings.due(swarm.now_ms + 1)
    assert due is not None
    assert (due.to, StandingCause(due.cause)) == ("probation", StandingCause.UNANSWERED)


def test_who_commits_to_what_nobody_can_fetch_has_to_come_anew_and_is_not_blamed() -> None:
    swarm, them = swarm_of(*"abcd")
    one = them["d"]
    swarm.arithmetic.hidden.add(one.key)
    for closed in (1, 2, 3):
        swarm.post(one, one.ready(swarm.view))  # while it is active, that gains it nothing
        swarm.run_rounds(closed)
    assert not swarm.view.accounts.members[one.key].is_active
    assert changes(swarm, one) == []
    assert swarm.step()
    while not in_roster(swarm, one):
        assert swarm.step()
    swarm.run_rounds(swarm.view.closed + 1)
    member = swarm.view.accounts.members[one.key]
    assert (member.is_active, member.missed) == (True, 1), "it may miss as many rounds as before"
    swarm.arithmetic.hidden.clear()
    swarm.run_rounds(swarm.view.closed + 1)
    assert in_roster(swarm, one)
    assert member.missed == 0


def test_replays_arrive_at_the_same_standings() -> None:
    swarm, them = swarm_of(*"abcde")
    swarm.arithmetic.blames[them["d"].key] = RejectionReason.NORM
    them["e"].failure_rates = FailureRates(lying=100)
    swarm.run_rounds(2)
    report_bytes(swarm, them["c"])
    swarm.run_rounds(14)
    again = swarm.replay()
    assert again.accounts.standings == swarm.standings
    assert {record.standing for record in swarm.standings.records.values()} >= {
        Standing.QUARANTINED,
        Standing.ACTIVE,
    }


def test_the_training_limit_follows_the_pace_of_the_slowest_tenth() -> None:
    swarm, _ = swarm_of(*"abcd")
    accounts, times = swarm.view.accounts, swarm.manifest.rounds
    assert accounts.train_ms() == times.train_limit, "nothing is known yet"
    accounts.arrivals.append([1_000] * 17 + [16_000, 16_000, 90_000])
    assert accounts.train_ms() == 24_000
    accounts.arrivals.append([1_000] * 20)
    assert accounts.train_ms() == times.train, "never below the aim"
    accounts.arrivals.extend([[90_000]] * 5)
    assert accounts.train_ms() == times.train_limit, "never above the manifest's limit"


def test_a_round_trains_as_long_as_its_roster_says() -> None:
    swarm, them = swarm_of(*"abcd")
    swarm.run_rounds(2)
    them["a"].failure_rates = FailureRates(silent=100)
    while swarm.view.round is None or swarm.view.round.phase is not RoundPhase.TRAIN:
        assert swarm.step()
    opening = swarm.view.round.open
    assert opening is not None
    assert swarm.view.round.roster.train_ms == swarm.manifest.rounds.train
    assert opening.train_by - opening.opened == swarm.manifest.rounds.train
