"""Trainers without work of their own, or in a hurry, and witnesses that lie about gains."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import msgspec

from tequio_shared.ids import ZERO_DIGEST, ContributionId, key_from_text, to_text
from tequio_shared.limits import GAIN_POOL, GAIN_ROUNDS
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import Standing, StandingCause
from tequio_shared.round import fold
from tequio_shared.round.documents import WITNESS
from tequio_shared.round.gain import NO_SAMPLE
from tequio_shared.round.manifest import WindowRules
from tequio_shared.statements.network import StandingChange, StandingRelease
from tests.support.attack_table import attack
from tests.support.attackers_round import GainLiar, Judge, due_proof, refusal, round_of, swarm_of
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import Volunteer

MEMBERS = 6
POOLED = GAIN_POOL // 4 // (MEMBERS - 1) + 1
"""Rounds after which the others' gains show that the measure works."""


def measured_swarm(*kinds: type[Volunteer]) -> Swarm:
    """A swarm with shares so large that all slots are measured in every round."""
    rules = WindowRules(samples=1_000, tokens=64_000, first=300, most=300)
    manifest = msgspec.structs.replace(tiny_manifest(most=600, warmup=20_000), windows=rules)
    return swarm_of(3, *kinds, swarm=Swarm(seed=3, manifest=manifest))


def causes(swarm: Swarm, one: Volunteer) -> list[tuple[str, int]]:
    """Changes of a member's standing: the new one, and its cause."""
    return [
        (body.to, body.cause)
        for entry in swarm.entries
        if isinstance(body := entry.statement.body, StandingChange)
        and key_from_text(body.peer) == one.key
    ]


def run_until_suspected(swarm: Swarm, one: Volunteer) -> None:
    """Run rounds until the member is suspected, and two more; fails after 300."""
    while swarm.standings.of(one.key) is not Standing.SUSPECTED:
        assert swarm.step()
        assert swarm.view.closed < 390
    swarm.run_rounds(swarm.view.closed + 2)


@attack("W24", layer="wit", ends="suspected after 128 counted rounds: no witness duty any more")
@attack("W24", layer="wit", ends="active again only after 64 rounds of work that shows")
def test_a_trainer_that_never_trains_on_its_windows_is_suspected_until_it_does() -> None:
    swarm = measured_swarm(*[Judge] * MEMBERS)
    cheat, *honest = swarm.volunteers
    swarm.arithmetic.idle.add(cheat.key)
    swarm.run_rounds(POOLED + GAIN_ROUNDS - 1)
    assert swarm.standings.of(cheat.key) is Standing.ACTIVE
    run_until_suspected(swarm, cheat)
    assert ("suspected", StandingCause.LOW_GAIN) in causes(swarm, cheat)
    assert swarm.standings.of(cheat.key) is Standing.SUSPECTED
    current = round_of(swarm)
    assert WITNESS not in current.roster.members[current.slot_of[cheat.key]].roles
    assert {swarm.standings.of(one.key) for one in honest} == {Standing.ACTIVE}
    closed = swarm.view.closed
    swarm.run_rounds(closed + 70)  # accepted work alone does not end it
    assert swarm.standings.of(cheat.key) is Standing.SUSPECTED
    swarm.arithmetic.idle.clear()
    swarm.run_rounds(closed + 70 + GAIN_ROUNDS)
    assert swarm.standings.of(cheat.key) is Standing.ACTIVE
    swarm.replay()


@attack("Q17", layer="wit", ends="fewer than a third change nothing, neither against nor for a key")
def test_a_minority_of_witnesses_that_lie_about_gains_changes_nothing() -> None:
    liars = 2
    swarm = measured_swarm(*[Judge] * (7 - liars), *[GainLiar] * liars)
    cheat, *honest = swarm.volunteers[: 7 - liars]
    swarm.arithmetic.idle.add(cheat.key)
    for one in swarm.volunteers[7 - liars :]:
        one.allies = {cheat.key}  # type: ignore[attr-defined]  # a GainLiar
    run_until_suspected(swarm, cheat)
    assert {swarm.standings.of(one.key) for one in honest} == {Standing.ACTIVE}
    assert all("suspected" not in dict(causes(swarm, one)) for one in honest)
    assert ("suspected", StandingCause.LOW_GAIN) in causes(swarm, cheat)


@attack("Q17", layer="coord", ends="refused as `proof-gains`: only drawn slots are measured")
def test_a_witness_cannot_choose_whom_it_measures() -> None:
    swarm = measured_swarm(*[Judge] * 10)
    while swarm.view.state is not RunState.ROUND_WITNESS:
        assert swarm.step()
    witness, honest = due_proof(swarm)
    current = round_of(swarm)
    assert len(current.gains.windows) == 8
    missed = min(current.commitments.keys() - current.gains.windows.keys())
    for gains in (((missed, -5),), ((4_000, -5),)):
        body = msgspec.structs.replace(honest, gains=gains)
        assert refusal(swarm, witness.signer, body) == "proof-gains"
    swarm.run_rounds(1)
    assert swarm.view.closed == 1


@attack(
    "W24", layer="wit", ends="the windows follow from the coordinator's proof for all commitments"
)
def test_nobody_knows_the_measured_windows_before_the_last_commitment() -> None:
    swarm = measured_swarm(*[Judge] * MEMBERS)
    while swarm.view.round is None or len(round_of(swarm).commitments) < MEMBERS:
        assert swarm.step()
    assert round_of(swarm).gains == NO_SAMPLE
    current, seen = round_of(swarm), []
    slot, other = next(iter(current.commitments.items()))
    for work in (other, other, replace(other, id=ContributionId(ZERO_DIGEST))):
        swarm.now_ms += 1  # the coordinator's clock chooses nothing
        copied = deepcopy(current)
        copied.commitments[slot] = work
        fold.apply_witness(copied, swarm.witnessing(copied), swarm.coordinator.key)
        seen.append(copied.gains.windows)
    assert seen[0] == seen[1] != seen[2]


@attack("W25", layer="coord", ends="at most twice as many windows as it had accepted last")
def test_committing_at_once_earns_no_larger_share_than_was_accepted() -> None:
    manifest = tiny_manifest(most=60, warmup=20_000)
    rules = msgspec.structs.replace(manifest.windows, first=4, most=4_096)
    swarm = swarm_of(
        3,
        *[Judge] * 4,
        swarm=Swarm(seed=3, manifest=msgspec.structs.replace(manifest, windows=rules)),
    )
    hasty, *_ = swarm.volunteers
    for one in swarm.volunteers:
        swarm.organise(StandingRelease(peer=to_text(one.key), reason=0))
    shares, accepted = [], []
    for number in range(1, 9):
        while swarm.view.state is not RunState.ROUND_TRAIN:
            assert swarm.step()
        draft = hasty.duty(swarm.view)  # in the very millisecond in which the round opens
        assert draft is not None
        swarm.post(hasty, draft)
        swarm.run_rounds(number)
        current = round_of(swarm)
        slot = current.slot_of[hasty.key]
        shares.append(current.roster.members[slot].share)
        accepted.append(current.accepted()[slot].header.window_count)
        assert current.measured_ms()[slot] == 1
    assert shares[0] == 4
    assert all(later <= 2 * done for done, later in zip(accepted, shares[1:], strict=False))
    assert shares[-1] == 512
