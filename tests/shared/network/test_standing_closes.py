"""The end of a round in records of keys: verdicts on work, its gains, and withheld work."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import RunId
from tequio_shared.limits import (
    GAIN_POOL,
    GAIN_RETURN,
    GAIN_ROUNDS,
    NEWCOMER_WORK,
    STRIKE_ROUNDS,
)
from tequio_shared.network.audits import AuditOutcome
from tequio_shared.network.standing import KeyStatus, Standing, StandingCause, StandingRecord
from tequio_shared.round.audits import AuditVerdict
from tequio_shared.round.gain import GainPool, GainSign
from tequio_shared.round.proof import RejectionReason, Verdict, WitnessFindings
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey
    from tequio_shared.round.round import RoundView

ONE, OTHER = signer("one").key, signer("other").key
WITNESSES = tuple(signer(f"witness {at}").key for at in range(4))
RUN = RunId(bytes(32))
NOW = 1_700_000_000_000
HEIR = signer("heir").key


class JudgedRound:
    """The part that `KeyStatus` reads of a closed round: one verdict on the work of its authors."""

    def __init__(
        self,
        verdict: Verdict = Verdict.ACCEPTED,
        reason: RejectionReason = RejectionReason.NORM,
        *,
        authors: tuple[PeerKey, ...] = (ONE,),
        gain: int | None = None,
    ) -> None:
        keys, slots = (*authors, *WITNESSES), range(len(authors))
        work = SimpleNamespace(header=SimpleNamespace(window_count=3))
        self.roster = SimpleNamespace(members=[SimpleNamespace(key=key) for key in keys])
        self.manifest = SimpleNamespace(run_id=RUN)
        self.commitments = dict.fromkeys(slots, work)
        self.gains = SimpleNamespace(windows={} if gain is None else dict.fromkeys(slots))
        self.elected = range(len(authors), len(keys))
        is_rejected = verdict is Verdict.REJECTED
        seen = WitnessFindings(
            vouched=frozenset(() if is_rejected else slots),
            rejected=dict.fromkeys(slots, reason) if is_rejected else {},
            gains={} if gain is None else dict.fromkeys(slots, gain),
        )
        self.proofs = dict.fromkeys(self.elected, seen)
        self._verdicts = dict.fromkeys(slots, (verdict, reason))

    def verdicts(self) -> dict[int, tuple[Verdict, RejectionReason]]:
        return self._verdicts

    def count_accusers(self, slot: int, reason: RejectionReason) -> int:
        """All witnesses say the same."""
        return len(self.elected) * (self._verdicts[slot] == (Verdict.REJECTED, reason))


def known() -> tuple[KeyStatus, StandingRecord]:
    standings = KeyStatus()
    for at, key in enumerate((ONE, OTHER, *WITNESSES)):
        standings.register(key, at)
    return standings, standings.records[ONE]


def close(standings: KeyStatus, closed: JudgedRound, *indices: int) -> None:
    for index in indices:
        standings.close_round(index, cast("RoundView", closed))


# --- Verdicts.


@pytest.mark.parametrize(("later", "counts"), [(STRIKE_ROUNDS - 1, True), (STRIKE_ROUNDS, False)])
def test_work_that_was_rejected_ages_a_strike_as_accepted_work_does(
    later: int, *, counts: bool
) -> None:
    standings, _ = known()
    close(standings, JudgedRound(Verdict.REJECTED), 10)
    for at in range(later):
        verdict = (Verdict.ACCEPTED, Verdict.REJECTED)[at % 2]
        close(standings, JudgedRound(verdict, RejectionReason.LEVEL), 11 + at)
    standings.replace(90, ONE, HEIR)
    due = standings.due(NOW)
    assert (due is not None and due.cause == StandingCause.STRIKE) is counts


def test_a_strike_takes_the_work_towards_a_standing_and_a_broken_payload_does_not() -> None:
    standings, record = known()
    close(standings, JudgedRound(), *range(10, 15))
    assert record.accepted_since == 5
    close(standings, JudgedRound(Verdict.REJECTED, RejectionReason.LEVEL), 15)
    assert (record.accepted_since, record.strikes) == (5, [])
    close(standings, JudgedRound(Verdict.REJECTED, RejectionReason.NORM), 16)
    assert (record.accepted_since, record.strikes) == (0, [(7, 16)])


# --- Gains.


def with_clear_gains(signs: int = GAIN_POOL // 4) -> tuple[KeyStatus, StandingRecord]:
    """Standings in a run where another key had that many positive gains."""
    standings, record = known()
    pool = standings.gains.setdefault(RUN, GainPool())
    pool.signs.extend([GainSign(OTHER, 3, is_positive=True)] * signs)
    return standings, record


def test_the_gains_of_accepted_work_count_where_those_of_others_are_clear() -> None:
    standings, record = with_clear_gains()
    close(standings, JudgedRound(gain=1), 10)
    close(standings, JudgedRound(gain=-1), 11)
    close(standings, JudgedRound(Verdict.REJECTED, gain=-1), 12)
    assert record.gains == [(True, 10), (False, 11)]
    standings, record = with_clear_gains(GAIN_POOL // 4 - 1)
    close(standings, JudgedRound(gain=-1), 10, 11)
    assert record.gains == [], "its own say nothing about the others"


def test_gains_of_one_round_do_not_count_for_each_other() -> None:
    standings, record = with_clear_gains(GAIN_POOL // 4 - 1)
    both = JudgedRound(authors=(ONE, OTHER), gain=1)
    close(standings, both, 10)
    assert record.gains == []
    close(standings, both, 11)
    assert record.gains == [(True, 11)]


def test_the_gains_of_the_last_rounds_count_alone() -> None:
    standings, record = with_clear_gains()
    close(standings, JudgedRound(gain=-1), *range(GAIN_ROUNDS // 2))
    close(standings, JudgedRound(gain=1), *range(GAIN_ROUNDS // 2, GAIN_ROUNDS + 1))
    assert len(record.gains) == GAIN_ROUNDS
    assert record.gains[0] == (False, 1)


@pytest.mark.parametrize("more", [0, 1])
def test_gains_of_which_half_are_positive_make_suspected_and_more_do_not(more: int) -> None:
    standings, record = known()
    record.standing, half = Standing.ACTIVE, GAIN_ROUNDS // 2
    record.gains = [(at < half + more, at) for at in range(GAIN_ROUNDS)]
    standings.replace(90, ONE, HEIR)
    due = standings.due(NOW)
    assert (due is not None and due.cause == StandingCause.LOW_GAIN) is (more == 0)


@pytest.mark.parametrize(
    ("cause", "positive", "is_over"),
    [
        (StandingCause.LOW_GAIN, GAIN_RETURN * 5 // 8, False),
        (StandingCause.LOW_GAIN, GAIN_RETURN * 5 // 8 + 1, True),
        (StandingCause.STRIKE, 0, True),
    ],
)
def test_a_suspicion_for_low_gains_ends_with_higher_ones(
    cause: StandingCause, positive: int, *, is_over: bool
) -> None:
    standings, record = known()
    record.standing, record.cause = Standing.SUSPECTED, cause
    record.accepted_since = NEWCOMER_WORK
    record.gains = [(at < positive, at) for at in range(GAIN_RETURN)]
    standings.replace(90, ONE, HEIR)
    due = standings.due(NOW)
    assert (due is not None and due.to == "active") is is_over


# --- Audits.


def withheld() -> AuditOutcome:
    return AuditOutcome(
        trainer=ONE,
        round=1,
        tokens=1,
        verdict=AuditVerdict.WITHHELD,
        contradicted=(),
        auditors=(),
        entries=(),
    )


def test_who_has_replaced_its_key_is_not_away() -> None:
    for trainer, present in ((OTHER, ONE), (ONE, OTHER), (OTHER, OTHER)):
        standings, _ = known()
        standings.links.replace(9, OTHER, ONE)  # the record is that of its successor
        standings.close_audits(10, [replace(withheld(), trainer=trainer)], [present])
        assert standings.records[ONE].withheld == [(0, 10)]


def test_who_is_away_withholds_nothing() -> None:
    standings, record = known()
    record.accepted_since = 5
    for at in range(3):
        standings.close_audits(10 + at, [withheld()], [OTHER])
    assert standings.due(NOW) is None
    assert (record.accepted_since, record.withheld) == (5, [])


@pytest.mark.parametrize("standing", [Standing.SUSPECTED, Standing.PROBATION])
def test_what_an_audit_shows_takes_the_work_towards_a_standing(standing: Standing) -> None:
    contradicted = replace(
        withheld(),
        trainer=OTHER,
        verdict=AuditVerdict.CLEAR,
        contradicted=(ONE,),
        auditors=(ONE,),
        entries=(5,),
    )
    for outcome in (withheld(), contradicted):
        standings, record = known()
        record.standing, record.accepted_since = standing, NEWCOMER_WORK - 1
        standings.close_audits(10, [outcome], [ONE])
        close(standings, JudgedRound(), 11)
        assert record.accepted_since == 1
        assert standings.due(NOW) is None


@pytest.mark.parametrize(("later", "counts"), [(STRIKE_ROUNDS - 1, True), (STRIKE_ROUNDS, False)])
def test_withheld_work_counts_with_the_next_twenty(later: int, *, counts: bool) -> None:
    standings, record = known()
    record.standing, record.since = Standing.SUSPECTED, 20
    standings.close_audits(10, [withheld()], [ONE])
    close(standings, JudgedRound(Verdict.REJECTED, RejectionReason.LEVEL), *range(11, 11 + later))
    standings.close_audits(50, [withheld()], [ONE])
    due = standings.due(NOW)
    assert (due is not None and due.to == "quarantined") is counts


def test_an_ended_key_is_not_ready_again() -> None:
    standings, _ = known()
    standings.links.revoked[ONE] = 3
    standings.revoke(3, ONE)
    with pytest.raises(RefusedError, match="entry 3 revoked key"):
        standings.check_ready(ONE, NOW)
