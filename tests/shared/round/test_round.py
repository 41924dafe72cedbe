"""One round: what it takes, from whom and when, and that a refusal leaves no trace."""

from __future__ import annotations

import copy
from dataclasses import replace

import msgspec
import pytest

from tequio_shared import vrf
from tequio_shared.errors import RefusedError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import ZERO_DIGEST, ContributionId, from_text, sha256, to_text
from tequio_shared.round import fold, lots
from tequio_shared.round.documents import RoundResult
from tequio_shared.round.proof import Verdict, verdicts
from tequio_shared.round.round import RoundPhase
from tequio_shared.statements.runs import HeadAttest, WorkCommit
from tests.support.attackers_round import round_of
from tests.support.commitments import commitment
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import signer
from tests.support.volunteers import FailureRates


def swarm_in(
    phase: RoundPhase, characters: tuple[FailureRates, ...] = (FailureRates(),) * 4
) -> Swarm:
    """A swarm whose first round has just entered the phase."""
    swarm = Swarm()
    for at, character in enumerate(characters):
        swarm.volunteer(f"v{at}", character)
    while swarm.view.round is None or round_of(swarm).phase is not phase:
        assert swarm.step()
    return swarm


def work(swarm: Swarm, name: str, **changes: object) -> WorkCommit:
    view, key = round_of(swarm), signer(name).key
    share = view.roster.members[view.slot_of[key]].share
    header = swarm.arithmetic.contribute(view, key, swarm.rng, share)
    fields = {
        name: getattr(header, name) for name in ContributionHeader.__dataclass_fields__
    } | changes
    return commitment(ContributionHeader(**fields))


def refusal(swarm: Swarm, name: str, body: HeadAttest | WorkCommit) -> str:
    view = round_of(swarm)
    before = copy.deepcopy(view)
    with pytest.raises(RefusedError) as caught:
        fold.apply(view, 99, signer(name).key, body, swarm.now_ms)
    assert view == before
    return caught.value.code


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"magic": b"XXXX"}, "magic"),
        ({"version": 2}, "version"),
        ({"k": 16}, "shape"),
        ({"chunk_count": 3}, "shape"),
        ({"flags": 1}, "flags"),
        ({"run_id": bytes(32)}, "run"),
        ({"round": 2}, "round"),
        ({"base_head": bytes(32)}, "base"),
        ({"trainer": signer("nobody").key}, "trainer"),
        ({"trainer": signer("v1").key}, ""),
        ({"window_first": 99}, "windows"),
        ({"window_count": 0}, "windows"),
        ({"window_count": 10}, "windows"),
        ({"tokens": 1}, "tokens"),
        ({"inner_steps": 0}, "steps"),
        ({"inner_steps": 501}, "steps"),
    ],
)
def test_a_header_that_breaks_a_rule_is_refused_by_its_name(
    changes: dict[str, object], rule: str
) -> None:
    swarm = swarm_in(RoundPhase.TRAIN)
    code = refusal(swarm, "v0", work(swarm, "v0", **changes))
    assert code.startswith(f"header-{rule}")


def test_a_second_commitment_is_refused_and_one_payload_may_be_named_twice() -> None:
    swarm = swarm_in(RoundPhase.TRAIN)
    view = round_of(swarm)
    first = work(swarm, "v0")
    fold.apply(view, 50, signer("v0").key, first, swarm.now_ms)
    root = ContributionHeader.parse(from_text(first.header, None)).payload_root
    assert refusal(swarm, "v0", work(swarm, "v0")) == "already-said"
    fold.apply(view, 51, signer("v1").key, work(swarm, "v1", payload_root=root), swarm.now_ms)
    one, other = view.commitments.values()
    assert one.header.payload_root == other.header.payload_root
    assert one.seal != other.seal


def test_a_stranger_is_not_in_the_round() -> None:
    swarm = swarm_in(RoundPhase.TRAIN)
    assert refusal(swarm, "nobody", work(swarm, "v0")) == "not-in-round"


def attest(swarm: Swarm, name: str) -> HeadAttest:
    said = next(one for one in swarm.volunteers if one.key == signer(name).key).duty(swarm.view)
    assert said is not None
    assert isinstance(said.body, HeadAttest)
    return said.body


def test_head_zero_is_the_manifests_and_no_quorums() -> None:
    swarm = swarm_in(RoundPhase.ATTEST)
    view, other = round_of(swarm), sha256(b"other weights")
    head = view.expected_head(other, sha256(b"other aux"))
    lie = msgspec.structs.replace(
        attest(swarm, "v0"),
        head=to_text(head.hash),
        weights_root=to_text(head.weights_root),
        aux_root=to_text(head.aux_root),
    )
    assert refusal(swarm, "v0", lie) == "wrong-head"


def test_a_head_that_does_not_follow_from_its_roots_is_refused() -> None:
    swarm = swarm_in(RoundPhase.ATTEST)
    lie = msgspec.structs.replace(attest(swarm, "v0"), head=to_text(sha256(b"another head")))
    assert refusal(swarm, "v0", lie) == "wrong-head"


def test_a_canonical_head_is_not_voted_on_again() -> None:
    swarm = Swarm()
    for at in range(4):
        swarm.volunteer(f"v{at}", FailureRates(silent=0))
    swarm.run_rounds(1)
    while swarm.view.next_head is not None or round_of(swarm).phase is not RoundPhase.ATTEST:
        assert swarm.coordinate() or swarm.step()
    view = round_of(swarm)
    late = next(key for key, slot in view.slot_of.items() if slot not in view.attests)
    said = next(one for one in swarm.volunteers if one.key == late).duty(swarm.view)
    assert said is not None
    assert isinstance(said.body, HeadAttest)
    head = view.expected_head(sha256(b"other weights"), sha256(b""))
    lie = msgspec.structs.replace(
        said.body,
        head=to_text(head.hash),
        weights_root=to_text(head.weights_root),
        aux_root=to_text(head.aux_root),
    )
    with pytest.raises(RefusedError, match="already"):
        fold.apply(view, len(swarm.entries), late, lie, swarm.now_ms)
    fold.apply(view, len(swarm.entries), late, said.body, swarm.now_ms)


def test_a_lot_is_the_one_of_its_author_and_its_round() -> None:
    swarm = swarm_in(RoundPhase.ATTEST)
    view, mine = round_of(swarm), attest(swarm, "v0")
    other_round = lots.lot_input(view.net, view.manifest.run_id, view.number + 1, view.lot_seed)
    other_seed = lots.lot_input(view.net, view.manifest.run_id, view.number, bytes(64))
    for proof in (
        signer("v1").prove(view.lot_input),
        signer("v0").prove(other_round),
        signer("v0").prove(other_seed),
        bytes(80),
    ):
        body = msgspec.structs.replace(mine, vrf=to_text(proof))
        assert refusal(swarm, "v0", body) == "wrong-vrf"
    fold.apply(view, len(swarm.entries), signer("v0").key, mine, swarm.now_ms)


def test_a_round_closes_only_with_a_quorum_of_the_elected() -> None:
    swarm = swarm_in(RoundPhase.WITNESS)
    view = round_of(swarm)
    while len(view.proofs) < 2:
        swarm.step()
    assert view.accepted(), "two of the three others of each slot vouch"
    result = view.result(view.measured_ms())
    with pytest.raises(RefusedError, match="lacks proofs"):
        fold.apply_close(view, view.closing(result), result)


def test_verdicts_that_were_asked_for_early_follow_the_later_proofs() -> None:
    swarm = swarm_in(RoundPhase.WITNESS)
    view = round_of(swarm)
    while len(view.proofs) < 4:
        swarm.step()
        view.verdicts()
    assert view.verdicts() == verdicts(view.elected, view.proofs, view.commitments)
    result = view.result(view.measured_ms())
    fold.apply_close(view, view.closing(result), result)


def test_a_close_with_missing_rows_is_refused() -> None:
    swarm = swarm_in(RoundPhase.WITNESS)
    view = round_of(swarm)
    while len(view.proofs) < 4:
        swarm.step()
    whole = view.result(view.measured_ms())
    short = RoundResult(slots=whole.slots[:-1])
    with pytest.raises(RefusedError):
        fold.apply_close(view, view.closing(short), short)


def test_round_witness_counts_the_commitments() -> None:
    swarm = swarm_in(RoundPhase.TRAIN)
    view, coordinator = round_of(swarm), swarm.coordinator.key
    body = msgspec.structs.replace(swarm.witnessing(view), commits=len(view.commitments) + 1)
    with pytest.raises(RefusedError):
        fold.apply_witness(view, body, coordinator)


def test_round_witness_proves_the_coordinators_output_for_the_commitments() -> None:
    swarm = swarm_in(RoundPhase.TRAIN)
    while not round_of(swarm).commitments:
        assert swarm.step()
    view, coordinator = round_of(swarm), swarm.coordinator.key
    body, before = swarm.witnessing(view), view.draw_input
    slot, other = next(iter(view.commitments.items()))
    view.commitments[slot] = replace(other, id=ContributionId(ZERO_DIGEST))
    assert view.draw_input != before
    with pytest.raises(RefusedError, match="draws of round"):
        fold.apply_witness(view, body, coordinator)
    assert view.phase is RoundPhase.TRAIN
    fold.apply_witness(view, swarm.witnessing(view), coordinator)


def test_who_was_never_asked_is_not_silent() -> None:
    swarm = swarm_in(RoundPhase.TRAIN, (FailureRates(),) * 2)
    swarm.volunteer("watcher", roles=("witness",))
    swarm.run_rounds(1)
    while round_of(swarm).phase is not RoundPhase.TRAIN:
        assert swarm.step()
    view = round_of(swarm)
    slot = view.slot_of[signer("watcher").key]
    assert slot in view.elected
    assert not view.is_silent(slot), "witnesses have nothing to say while others train"
    fold.apply_witness(view, swarm.witnessing(view), swarm.coordinator.key)
    assert view.is_silent(slot)


def test_a_lot_that_was_verified_before_its_turn_is_not_verified_again() -> None:
    swarm = swarm_in(RoundPhase.ATTEST)
    view = round_of(swarm)
    key, body = signer("v0").key, attest(swarm, "v0")
    before = vrf.verify.cache_info()
    fold.verify_lot(view, key, body)
    after = vrf.verify.cache_info()
    fold.apply(view, 99, key, body, swarm.now_ms)
    assert after.misses + after.hits == before.misses + before.hits + 1
    assert vrf.verify.cache_info() == after._replace(hits=after.hits + 1)


def test_a_wrong_lot_is_refused_in_its_turn_and_not_before() -> None:
    swarm = swarm_in(RoundPhase.ATTEST)
    mine = attest(swarm, "v0")
    body = msgspec.structs.replace(mine, vrf=attest(swarm, "v1").vrf)
    fold.verify_lot(round_of(swarm), signer("v0").key, body)
    assert refusal(swarm, "v0", body) == "wrong-vrf"


def test_a_result_row_says_what_became_of_each_slot() -> None:
    swarm = Swarm()
    for at in range(5):
        swarm.volunteer(f"v{at}", FailureRates(silent=100 if at == 4 else 0))
    swarm.run_rounds(1)
    view = round_of(swarm)
    rows = view.result(view.measured_ms()).slots
    silent = view.slot_of[signer("v4").key]
    for slot, row in enumerate(rows):
        assert Verdict(row.verdict) is (Verdict.SILENT if slot == silent else Verdict.ACCEPTED)
        assert bool(row.contribution) == bool(row.windows) == bool(row.ms) == (slot != silent)
        assert (row.trainer_gflop > 0) == (row.witness_gflop > 0) == (slot != silent)


def test_only_slots_that_witness_agree_on_heads() -> None:
    """Trainers without that role, new ones above all, can neither make a head nor stop one."""
    swarm = Swarm()
    for name in "abcd":
        swarm.volunteer(name)
    crowd = [
        swarm.volunteer(f"crowd {at}", FailureRates(misstating=100), ("trainer",))
        for at in range(9)
    ]
    swarm.run_rounds(1)
    assert swarm.view.round is not None
    assert swarm.view.closed == 1, "nine of thirteen state another head, to no effect"
    assert swarm.view.round.slot_of.keys() >= {one.key for one in crowd}
