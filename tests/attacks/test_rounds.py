"""Rounds in which members leave, lie, fall silent or come late: the others' work survives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import RunId, digest_from_text, from_text, sha256, to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.documents import Roster
from tequio_shared.round.points import trainer_gflop
from tequio_shared.round.proof import Verdict
from tequio_shared.statements.network import MemberLeave, MemberReady
from tequio_shared.statements.runs import (
    HeadPromote,
    RoundClose,
    RoundOpen,
    RoundRoster,
    RoundVoid,
    RunPause,
    RunResume,
    WorkCommit,
)
from tests.support.attack_table import attack
from tests.support.attackers_round import (
    Judge,
    Quitter,
    Sleeper,
    WitnessStrike,
    earned,
    entries_by,
    outcome,
    patient_swarm,
    refusal,
    round_of,
    swarm_in,
    swarm_of,
)
from tests.support.commitments import commitment
from tests.support.memory_swarm import Swarm
from tests.support.volunteers import FailureRates, StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey


OTHER = sha256(b"another")


def due_commit(swarm: Swarm) -> tuple[Volunteer, ContributionHeader]:
    """A trainer that has not committed yet, and its honest header."""
    for one in swarm.volunteers:
        said = one.duty(swarm.view)
        if said is not None and isinstance(said.body, WorkCommit):
            return one, ContributionHeader.parse(from_text(said.body.header, None))
    raise AssertionError("nobody owes work")


def rosters(swarm: Swarm) -> list[tuple[int, list[PeerKey]]]:
    """Number and members of each roster so far, from the documents that the log names."""
    return [
        (
            one.statement.round or 0,
            [
                member.key
                for member in Roster.parse(
                    swarm.blobs[digest_from_text(one.statement.body.roster)]
                ).members
            ],
        )
        for one in swarm.entries
        if isinstance(one.statement.body, RoundRoster)
    ]


@attack("A3", layer="coord", ends="refused as `wrong-head`; full and light readers keep the head")
@pytest.mark.parametrize("field", ["head", "weights_root", "aux_root", "set_root", "parent"])
def test_a_head_that_no_quorum_stated_is_not_promoted(field: str) -> None:
    swarm = swarm_in(RunState.WARMUP, logged=4)
    current = round_of(swarm)
    agreed = current.agreed_head()
    assert agreed is not None
    body = msgspec.structs.replace(current.promotion(agreed), **{field: to_text(OTHER)})
    assert refusal(swarm, swarm.coordinator, body, 0) == "wrong-head"
    higher = current.promotion(replace(agreed, round=1_000))
    assert refusal(swarm, swarm.coordinator, higher, 1_000) == "wrong-head"
    few = swarm_in(RunState.WARMUP, logged=1)
    early = round_of(few).promotion(agreed)
    assert refusal(few, few.coordinator, early, 0) == "wrong-head"
    assert few.view.head is None


@attack("A4", layer="coord", ends="the log refuses a second result or head of a round")
def test_a_round_has_one_outcome_and_one_head() -> None:
    swarm = swarm_of(4, *[Judge] * 4)
    swarm.run_rounds(1)
    closed = swarm.entries[-1].statement
    assert isinstance(closed.body, RoundClose)
    other = msgspec.structs.replace(closed.body, set_root=to_text(OTHER))
    assert refusal(swarm, swarm.coordinator, other, closed.round) in ("wrong-state", "not-in-round")
    assert refusal(swarm, swarm.coordinator, RoundVoid(reason=3), closed.round) == "wrong-state"
    while not isinstance(swarm.entries[-1].statement.body, HeadPromote):
        assert swarm.step()
    again = swarm.entries[-1].statement
    assert refusal(swarm, swarm.coordinator, again.body, again.round) == "wrong-head"
    heads = Counter(
        one.statement.round for one in swarm.entries if isinstance(one.statement.body, HeadPromote)
    )
    assert set(heads.values()) == {1}


@attack("W14", layer="coord", ends="refused as `too-late`, whatever time the trainer signs")
def test_lateness_follows_from_the_log_and_not_from_the_senders_clock() -> None:
    swarm = swarm_of(6, Sleeper, *[Judge] * 4)
    while swarm.view.state is not RunState.ROUND_WITNESS:
        assert swarm.step()
    late = swarm.volunteers[0]
    current = round_of(swarm)
    assert current.open is not None
    share = current.roster.members[current.slot_of[late.key]].share
    header = swarm.arithmetic.contribute(current, late.key, swarm.rng, share)
    for ts in (current.open.opened, current.open.train_by - 1, swarm.now_ms + 10**6):
        swarm.now_ms, now = ts, swarm.now_ms
        assert refusal(swarm, late.signer, commitment(header)) == "too-late"
        swarm.now_ms = now


@attack("W10", layer="coord", ends="refused: the roster sets the windows and their tokens")
@pytest.mark.parametrize(
    "claim",
    [
        {"tokens": 2**62},
        {"tokens": 2**64 - 1},
        {"window_count": 2**32 - 1},
        {"window_count": 0},
        {"window_first": 2**63},
        {"inner_steps": 65_535},
        {"inner_steps": 0},
        {"chunk_count": 1},
        {"k": 4096},
        {"bits": 8},
    ],
    ids=str,
)
def test_more_than_was_assigned_cannot_be_claimed(claim: dict[str, int]) -> None:
    swarm = swarm_in(RunState.ROUND_TRAIN, seed=10)
    who, header = due_commit(swarm)
    lie = replace(header, **claim)  # type: ignore[arg-type]  # lies
    assert refusal(swarm, who.signer, commitment(lie)).startswith("header-")


@attack("W10", layer="agg", ends="without effect: points and the next head are the same")
@attack("W11", layer="agg", ends="without effect: nothing uses the loss that a trainer reports")
@attack("P1", layer="pts", ends="without effect: claims are never used as facts")
@pytest.mark.parametrize(
    "claim",
    [
        {"inner_steps": 500},
        {"claimed_loss_first_q16": -(2**31)},
        {"claimed_loss_last_q16": 2**31 - 1},
        {"feedback_root": OTHER},
    ],
    ids=["steps", "first loss", "last loss", "feedback"],
)
def test_no_claim_changes_weights_or_points(claim: dict[str, object]) -> None:
    plain, lying = swarm_in(RunState.ROUND_TRAIN, seed=10), swarm_in(RunState.ROUND_TRAIN, seed=10)
    for swarm, change in ((plain, {}), (lying, claim)):
        who, header = due_commit(swarm)
        lie = replace(header, **change)  # type: ignore[arg-type]  # lies
        assert (lie != header) is bool(change)
        body = commitment(lie, swarm.arithmetic.payloads[lie.payload_root])
        swarm.log_statement(who.signer, StatementDraft(body, round_of(swarm).number))
        swarm.run_rounds(1)
        assert outcome(swarm, who)[0] is Verdict.ACCEPTED
    assert earned(plain) == earned(lying)
    assert set(plain.arithmetic.weights) == set(lying.arithmetic.weights)  # head 0 and head 1
    assert len(plain.arithmetic.weights) == 2


@attack("W13", layer="coord", ends="refused with the rule that the header breaks")
@attack("A22", layer="coord", ends="refused as `header-base`: the log sets step and base")
@attack("W20", layer="coord", ends="refused: round, run and base head are in the header")
def test_an_update_for_another_model_round_or_run_is_refused() -> None:
    swarm = swarm_of(22, *[Judge] * 4)
    swarm.run_rounds(1)
    old = next(one for one in swarm.entries if isinstance(one.statement.body, WorkCommit)).statement
    assert isinstance(old.body, WorkCommit)
    while swarm.view.state is not RunState.ROUND_TRAIN:
        assert swarm.step()
    who = next(one for one in swarm.volunteers if one.key == old.author)
    header = ContributionHeader.parse(from_text(old.body.header, None))
    assert refusal(swarm, who.signer, old.body) == "header-round"
    assert refusal(swarm, who.signer, old.body, old.round) == "not-in-round"
    _, now = due_commit(swarm)
    fresh = replace(now, trainer=who.key, payload_root=header.payload_root)
    stale = replace(fresh, base_head=header.base_head)
    assert stale.base_head != now.base_head
    assert refusal(swarm, who.signer, commitment(stale)) == "header-base"
    foreign = replace(fresh, run_id=RunId(OTHER))
    assert refusal(swarm, who.signer, commitment(foreign)) == "header-run"
    mine = now.trainer == who.key
    assert mine or refusal(swarm, who.signer, commitment(now)) == "header-trainer"


@attack(
    "A14", layer="coord", ends="only windows of accepted work count; the others are dealt again"
)
@attack("A16", layer="asg", ends="dropped from the next roster, its windows dealt out again")
@pytest.mark.parametrize("seed", [14, 15, 16])
def test_windows_are_counted_once_and_only_when_trained(seed: int) -> None:
    swarm = patient_swarm(seed, most=8)
    swarm_of(seed, *[Judge] * 4, swarm=swarm)
    for at in range(3):
        swarm.volunteer(f"shaky {at}", FailureRates(silent=20, leaving=5, partial=40))
    done: list[int] = []
    number = 0
    while swarm.view.state is not RunState.FINISHED and swarm.step():
        current = swarm.view.round
        body = swarm.entries[-1].statement.body
        if isinstance(body, RoundClose) and current is not None and current.number != number:
            number = current.number
            for one in current.accepted().values():
                at = one.header.window_first
                spans = current.assignment[current.slot_of[one.header.trainer]]
                held = [window for first, count in spans for window in range(first, first + count)]
                assert held[0] == at
                done += held[: one.header.window_count]
    accounts = swarm.view.accounts
    assert swarm.view.closed >= 3
    assert len(done) == len(set(done))
    parameters = swarm.manifest.model.parameters
    tokens = len(done) * swarm.manifest.windows.tokens
    total = sum(one.trainer for one in accounts.earned.values())
    assert abs(total - trainer_gflop(tokens, parameters)) <= len(done)


@attack("A16", layer="coord", ends="the round ends at its deadline; later ones do not wait")
def test_a_member_that_is_gone_costs_one_deadline_and_no_window() -> None:
    swarm = swarm_of(16, Sleeper, *[Judge] * 4)
    swarm.run_rounds(4)
    gone = swarm.volunteers[0]
    listed = [number for number, keys in rosters(swarm) if gone.key in keys]
    assert len(listed) == 1
    (first,) = listed
    opens = {
        one.statement.round: one.statement.ts
        for one in swarm.entries
        if isinstance(one.statement.body, RoundOpen)
    }
    ends = {
        one.statement.round: one.statement.ts
        for one in swarm.entries
        if isinstance(one.statement.body, RoundClose | RoundVoid)
    }
    times = swarm.manifest.rounds
    for number, opened in opens.items():
        if number in ends and number != first:
            assert ends[number] - opened < times.train  # nobody waited for the dead


@attack("A15", layer="asg", ends="witnesses without windows are neither blamed nor left out")
def test_more_members_than_trainers_do_no_harm() -> None:
    swarm = patient_swarm(15)
    idle = [Judge(f"idle {at}", swarm.arithmetic, roles=("witness",)) for at in range(5)]
    swarm.join(*idle)
    swarm_of(15, Judge, Judge, swarm=swarm)
    swarm.run_rounds(3)
    assert swarm.view.closed == 3
    for _, keys in rosters(swarm):
        assert {one.key for one in idle} <= set(keys)
    assert all(earned(swarm)[one.key] > 0 for one in swarm.volunteers)


@attack("A17", layer="coord", ends="void; nobody leaves the roster, nobody loses a point")
def test_a_round_without_any_proof_throws_nobody_out() -> None:
    swarm = swarm_of(17, *[WitnessStrike] * 4)
    swarm.run_rounds(1)
    before = dict(earned(swarm))
    assert swarm.view.closed == 1
    for one in swarm.volunteers:
        assert isinstance(one, WitnessStrike)
        one.strikes_in = 2
    swarm.run_rounds(2)
    assert (swarm.view.closed, swarm.view.voided) == (1, 1)
    assert earned(swarm) == before
    swarm.run_rounds(3)
    assert swarm.view.closed == 2
    assert [len(keys) for _, keys in rosters(swarm)] == [4, 4, 4]
    accounts = swarm.view.accounts
    assert {accounts.standings.of(one.key).value for one in swarm.volunteers} == {"newcomer"}
    assert all(len(entries_by(swarm, one, "member.ready")) == 1 for one in swarm.volunteers)


@attack("A18", layer="pts", ends="the current round ends normally and is paid")
def test_a_pause_in_the_middle_of_a_round_pays_what_was_done() -> None:
    swarm = swarm_in(RunState.ROUND_TRAIN, logged=2, members=4)
    swarm.organise(RunPause(reason=1))
    while swarm.view.state is not RunState.PAUSED:
        assert swarm.step()
    assert swarm.view.closed == 1
    assert all(earned(swarm)[one.key] > 0 for one in swarm.volunteers)
    swarm.organise(RunResume(reason=1))
    swarm.run_rounds(2)
    assert swarm.view.closed == 2


@attack("A19", layer="pts", ends="each is paid and judged by its own key, in any order")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 2**16))
def test_members_are_paid_by_key_whatever_the_order_of_exits(leaving: list[int], seed: int) -> None:
    swarm = swarm_of(seed, *[Quitter] * 6)
    swarm.run_rounds(1)
    paid = dict(earned(swarm))
    before = round_of(swarm)
    rows = before.result(before.measured_ms()).slots
    for slot, member in enumerate(before.roster.members):
        due = rows[slot].trainer_gflop + rows[slot].witness_gflop
        assert paid[member.key] == due
    for at in leaving:
        quitter = swarm.volunteers[at]
        assert isinstance(quitter, Quitter)
        quitter.leaves = True
    swarm.run_rounds(2)
    for one in swarm.volunteers:
        assert earned(swarm)[one.key] >= paid[one.key]
    gone = {swarm.volunteers[at].key for at in leaving}
    if swarm.view.closed == 2:
        assert not {one.header.trainer for one in round_of(swarm).accepted().values()} & gone


@attack("A20", layer="adm", ends="one `member.ready` serves for all rounds")
def test_a_member_in_good_standing_says_once_that_it_is_ready() -> None:
    swarm = swarm_of(20, *[Judge] * 4)
    swarm.run_rounds(4)
    assert swarm.view.closed == 4
    assert [len(entries_by(swarm, one, "member.ready")) for one in swarm.volunteers] == [1] * 4
    assert all(len(keys) == 4 for _, keys in rosters(swarm)[:4])


@attack("P2", layer="pts", ends="points follow the accepted tokens; leaving members keep theirs")
def test_pay_follows_accepted_tokens() -> None:
    swarm = swarm_of(2, *[Judge] * 4)
    lazy = swarm.volunteer("lazy", FailureRates(partial=100))
    swarm.run_rounds(3)
    accounts = swarm.view.accounts
    tokens: Counter[PeerKey] = Counter()
    for one in swarm.entries:
        body = one.statement.body
        if isinstance(body, WorkCommit):
            tokens[one.statement.author] += ContributionHeader.parse(
                from_text(body.header, None)
            ).tokens
    parameters = swarm.manifest.model.parameters
    for key, count in tokens.items():
        assert abs(accounts.earned[key].trainer - trainer_gflop(count, parameters)) <= 3
    assert accounts.earned[lazy.key].trainer < max(one.trainer for one in accounts.earned.values())
    before = earned(swarm)[lazy.key]
    swarm.log_statement(lazy.signer, StatementDraft(MemberLeave(reason=1)))
    swarm.run()
    assert earned(swarm)[lazy.key] == before


@attack("M9", layer="coord", ends="no head changes meanwhile; the round continues on its return")
def test_a_coordinator_that_was_away_for_ten_minutes_loses_nothing() -> None:
    swarm = swarm_in(RunState.ROUND_TRAIN, logged=2)
    head, logged = swarm.view.head, list(swarm.entries)
    before = Counter(one.statement.type for one in swarm.entries)
    said = [one.duty(swarm.view) for one in swarm.volunteers]
    swarm.now_ms += 600_000
    assert [one.duty(swarm.view) for one in swarm.volunteers] == said  # still to be said, no more
    assert swarm.view.head == head
    for one in swarm.volunteers:  # what waited goes out first
        waiting = one.duty(swarm.view)
        if waiting is not None:
            entry = one.sign(swarm.net, swarm.manifest.run_id, waiting, swarm.now_ms)
            swarm.view.apply(len(swarm.entries), entry.statement, swarm.now_ms, swarm.blobs.get)  # type: ignore[arg-type]  # names no document
            swarm.entries.append(entry)
            one.record_logged(entry)
    swarm.run_rounds(1)
    assert swarm.view.closed == 1
    assert swarm.entries[: len(logged)] == logged
    assert len(round_of(swarm).accepted()) == len(swarm.volunteers)
    assert before["round.open"] == 1


@attack("A11", layer="adm", ends="the next one is in the next roster: left members take no slot")
def test_after_ten_thousand_comings_and_goings_the_next_one_gets_a_slot() -> None:
    swarm = swarm_of(45, *[Judge] * 3)
    swarm.run_rounds(1)
    ready = next(
        one.statement for one in swarm.entries if isinstance(one.statement.body, MemberReady)
    )
    leave = MemberLeave(reason=1)
    for number in range(10_000):
        key = sha256(b"passer-by", number.to_bytes(4, "big"))
        for body in (ready.body, leave):
            passing = replace(ready, author=key, body=body)  # type: ignore[arg-type]  # a key's bytes
            swarm.view.apply(len(swarm.entries), passing, swarm.now_ms, swarm.blobs.__getitem__)
    late = Judge("the next one", swarm.arithmetic)
    swarm.join(late)
    swarm.run_rounds(3)
    assert late.key in rosters(swarm)[-1][1]
    assert earned(swarm)[late.key] > 0
