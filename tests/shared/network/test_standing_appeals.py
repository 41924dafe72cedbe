"""An appeal against a quarantine outlasts its term, and a release gives back what it took."""

from __future__ import annotations

import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import to_text
from tequio_shared.limits import APPEAL_MS
from tequio_shared.network.standing import Standing
from tequio_shared.statements.network import StandingAppeal, StandingUphold
from tests.shared.network.test_standing import (
    DAY_MS,
    changes,
    quarantine,
    ready,
    release,
    report_bytes,
    standing,
    swarm_of,
)
from tests.support.memory_swarm import Swarm
from tests.support.volunteers import StatementDraft, Volunteer


def appeal(swarm: Swarm, one: Volunteer) -> None:
    since = swarm.standings.records[one.key].since
    swarm.post(one, StatementDraft(StandingAppeal(change=since, text="")))


def is_appeal_open(swarm: Swarm, one: Volunteer) -> bool:
    return swarm.standings.records[one.key].appeal is not None


def convicted(name: str = "a") -> tuple[Swarm, Volunteer]:
    """A swarm in which one active member lost points that had not vested."""
    swarm, them = swarm_of(*"abcde", rounds=120)
    swarm.run_rounds(14)
    quarantine(swarm, them[name])
    assert swarm.view.accounts.earned[them[name].key].forfeited
    return swarm, them[name]


def return_after_term(swarm: Swarm, one: Volunteer) -> None:
    swarm.now_ms = changes(swarm, one)[-1].until
    ready(swarm, one)
    run_until(swarm, one, Standing.PROBATION)


def run_until(swarm: Swarm, one: Volunteer, end: Standing) -> None:
    while standing(swarm, one) is not end:
        assert swarm.step()


def has_all_back(swarm: Swarm, one: Volunteer) -> bool:
    is_clean = not swarm.standings.records[one.key].convictions
    points = swarm.view.accounts.earned[one.key]
    return is_clean and not points.forfeited and standing(swarm, one) is Standing.ACTIVE


@pytest.mark.parametrize("end", [Standing.PROBATION, Standing.ACTIVE])
def test_an_appeal_waits_for_its_answer_while_the_key_works_again(end: Standing) -> None:
    swarm, one = convicted()
    appeal(swarm, one)
    return_after_term(swarm, one)
    run_until(swarm, one, end)
    assert is_appeal_open(swarm, one)
    with pytest.raises(RefusedError, match="no appeal is needed"):
        appeal(swarm, one)
    swarm.now_ms += APPEAL_MS
    assert swarm.standings.next_ms() is None
    assert swarm.standings.due(swarm.now_ms) is None, "it has what an unanswered appeal brings"
    release(swarm, one)
    assert has_all_back(swarm, one)
    assert not is_appeal_open(swarm, one)
    with pytest.raises(RefusedError, match="is already active"):
        release(swarm, one)


@pytest.mark.parametrize("end", [Standing.PROBATION, Standing.ACTIVE])
def test_an_appeal_is_rejected_while_the_key_works_again(end: Standing) -> None:
    swarm, one = convicted()
    appeal(swarm, one)
    return_after_term(swarm, one)
    run_until(swarm, one, end)
    swarm.organise(StandingUphold(peer=to_text(one.key), to="unchanged", reason=1))
    assert (standing(swarm, one), is_appeal_open(swarm, one)) == (end, False)


def test_a_key_on_probation_is_released_without_an_appeal() -> None:
    swarm, one = convicted()
    return_after_term(swarm, one)
    release(swarm, one)
    assert has_all_back(swarm, one)


def test_the_release_of_a_banned_key_gives_back_what_its_last_quarantine_took() -> None:
    swarm, one = convicted()
    return_after_term(swarm, one)
    before = swarm.view.accounts.earned[one.key].forfeited
    swarm.run_rounds(swarm.view.closed + 3)
    quarantine(swarm, one)
    assert swarm.view.accounts.earned[one.key].forfeited > before
    swarm.organise(StandingUphold(peer=to_text(one.key), to="banned", reason=1))
    appeal(swarm, one)
    release(swarm, one)
    assert swarm.view.accounts.earned[one.key].forfeited == before
    assert len(swarm.standings.records[one.key].convictions) == 1


def test_another_quarantine_closes_the_appeal_and_can_be_appealed_itself() -> None:
    swarm, one = convicted()
    appeal(swarm, one)
    return_after_term(swarm, one)
    report_bytes(swarm, one)
    run_until(swarm, one, Standing.QUARANTINED)
    assert not is_appeal_open(swarm, one)
    swarm.now_ms += DAY_MS
    appeal(swarm, one)
    assert is_appeal_open(swarm, one)
