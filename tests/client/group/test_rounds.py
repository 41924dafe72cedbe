"""Secure aggregation against its specification (docs/groups.md), without a network."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from structlog.testing import capture_logs

from tequio_client.group import masks
from tequio_client.group.masks import ExchangeKey, RoundSalt
from tequio_client.group.member_round import MemberRound, RoundStep
from tequio_client.group.messages import (
    AckList,
    DealtList,
    DealtShares,
    GroupMail,
    KeyList,
    RevealedShares,
    RoundKeys,
    SumMembers,
    body_as,
)
from tequio_client.organiser import sealing
from tequio_shared.errors import MalformedError, PeerError, RefusedError
from tequio_shared.ids import from_text, sha256, to_text
from tests.support.group_members import GroupRounds

ALL = range(4)


def ready_to_mask(count: int = 4) -> GroupRounds:
    rounds = GroupRounds(count)
    rounds.key_step(range(count))
    rounds.deal_step(range(count))
    return rounds


def ready_to_reveal(sent: tuple[int, ...] = (0, 1, 2, 3)) -> GroupRounds:
    rounds = ready_to_mask()
    rounds.mask_step(ALL, sent)
    rounds.ack_step(ALL)
    return rounds


@st.composite
def drops(draw: st.DrawFn) -> tuple[int, int, list[list[int]]]:
    """A group, and the members that take each step: always the threshold, each within the last."""
    count = draw(st.integers(2, 9))
    least = 2 * count // 3 + 1
    steps, left = [], list(range(count))
    for _ in range(3):
        size = draw(st.integers(least, len(left)))
        left = sorted(draw(st.permutations(left))[:size])
        steps.append(left)
    # Also members that sent no update may acknowledge and reveal.
    for _ in range(2):
        base = steps[1] if len(steps) == 3 else steps[3]
        size = draw(st.integers(least, len(base)))
        steps.append(sorted(draw(st.permutations(base))[:size]))
    return count, draw(st.integers(0, 1 << 30)), steps


@settings(max_examples=25, deadline=None)
@given(drops())
def test_the_sum_without_masks_is_the_plain_sum_for_every_pattern_of_drops(
    drawn: tuple[int, int, list[list[int]]],
) -> None:
    count, seed, steps = drawn
    rounds = GroupRounds(count, seed=seed)
    members, total = rounds.whole_round(*steps)
    assert members == tuple(steps[2])
    assert np.array_equal(total, rounds.plain_sum(members))


def test_thirty_two_members_with_the_largest_updates_do_not_wrap() -> None:
    rounds = GroupRounds(32)
    limit = np.int32(1 << 24)
    rounds.updates = [np.full_like(one, limit) for one in rounds.updates]
    everybody, some = range(32), range(22)
    _, total = rounds.whole_round(everybody, everybody, everybody, everybody, some)
    assert (total == 32 << 24).all()


def test_a_masked_vector_is_not_the_update_and_differs_each_round() -> None:
    first, second = GroupRounds(3, 1, seed=1), GroupRounds(3, 2, seed=2)
    second.updates = first.updates
    vectors = []
    for rounds in (first, second):
        rounds.key_step(range(3))
        rounds.deal_step(range(3))
        listed = rounds.tally.dealt_list()
        rounds.members[0].receive(listed)
        vectors.append(rounds.members[0].mask(rounds.updates[0]))
    plain = first.updates[0].astype(np.uint32)
    for one, other in ((vectors[0], plain), (vectors[1], plain), (vectors[0], vectors[1])):
        assert np.count_nonzero(one == other) < 5


def test_below_the_threshold_no_step_goes_on() -> None:
    rounds = GroupRounds(4)
    rounds.key_step((0, 1))
    with pytest.raises(RefusedError, match="keys of 2 members where 3"):
        rounds.tally.key_list()
    rounds.key_step((2, 3))
    rounds.deal_step((0, 1))
    with pytest.raises(RefusedError, match="shares of 2 members where 3"):
        rounds.tally.dealt_list()
    rounds.deal_step((2, 3))
    rounds.mask_step(ALL, (0, 1))
    with pytest.raises(RefusedError, match="updates of 2 members where 3"):
        rounds.tally.close()


def test_two_holders_cannot_unmask_what_three_must() -> None:
    rounds = ready_to_reveal()
    rounds.reveal_step((0, 1))
    with pytest.raises(RefusedError, match="2 of 3 shares"):
        rounds.tally.unmask()


@pytest.mark.parametrize("sent", [(0, 1, 2, 3), (0, 1, 3), (1, 2, 3)])
def test_a_member_reveals_one_share_of_each_and_never_both(sent: tuple[int, ...]) -> None:
    rounds = ready_to_reveal(sent)
    listed = rounds.tally.ack_list()
    for member in rounds.members:
        shares = member.reveal(listed)
        assert [owner for owner, _ in shares.seeds] == list(sent)
        assert [owner for owner, _ in shares.keys] == [one for one in ALL if one not in sent]
        with pytest.raises(RefusedError, match="revealed shares after it revealed shares"):
            member.reveal(listed)


def test_a_member_acknowledges_one_set_only() -> None:
    rounds = ready_to_reveal()
    with pytest.raises(RefusedError, match="acknowledged a set after it acknowledged a set"):
        rounds.members[1].acknowledge(SumMembers(round=1, members=(0, 1, 2)))


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ((0, 1), "a sum of 2 updates where 3 are needed"),
        ((0, 2, 1), "not an ascending set"),
        ((0, 1, 1, 2), "not an ascending set"),
        ((0, 1, 9), "not an ascending set"),
    ],
)
def test_a_member_refuses_a_set_that_would_uncover_too_much(
    members: tuple[int, ...], why: str
) -> None:
    rounds = ready_to_mask()
    rounds.mask_step(ALL, ALL)
    with pytest.raises(RefusedError, match=why):
        rounds.members[0].acknowledge(SumMembers(round=1, members=members))


def test_a_member_refuses_a_set_with_its_update_if_it_sent_none() -> None:
    rounds = ready_to_mask()
    rounds.mask_step(ALL, (0, 1, 2))
    with pytest.raises(RefusedError, match="never sent"):
        rounds.members[3].acknowledge(SumMembers(round=1, members=(0, 1, 2, 3)))


def test_a_member_reveals_nothing_for_a_set_that_others_did_not_acknowledge() -> None:
    rounds = ready_to_mask()
    rounds.mask_step(ALL, ALL)
    sets = [(0, 1, 2, 3), (0, 1, 2), (0, 1, 2), (0, 1, 2)]
    acks = [
        rounds.sign(at, rounds.members[at].acknowledge(SumMembers(round=1, members=one)))
        for at, one in enumerate(sets)
    ]
    for chosen in (acks, acks[1:]):
        with pytest.raises(RefusedError, match="another set"):
            rounds.members[0].reveal(AckList(round=1, acks=tuple(one.text for one in chosen)))
    with pytest.raises(RefusedError, match="2 MembersAck where 3"):
        rounds.members[1].reveal(AckList(round=1, acks=tuple(one.text for one in acks[1:3])))


def test_a_member_reveals_nothing_to_those_that_were_given_other_shares() -> None:
    rounds = ready_to_mask()
    whole = rounds.tally.dealt_list()
    part = DealtList(round=1, dealt=whole.dealt[:3])
    acks = []
    for at, listed in ((0, whole), (1, part), (2, part)):
        rounds.members[at].receive(listed)
        rounds.members[at].mask(rounds.updates[at])
        ack = rounds.members[at].acknowledge(SumMembers(round=1, members=(0, 1, 2)))
        acks.append(rounds.sign(at, ack).text)
    with pytest.raises(RefusedError, match="other shares"):
        rounds.members[0].reveal(AckList(round=1, acks=tuple(acks)))


def test_a_member_that_has_acknowledged_nothing_reveals_nothing() -> None:
    rounds, present = GroupRounds(4), (0, 1, 2)
    rounds.key_step(present)
    rounds.deal_step(present)
    rounds.mask_step(present, present)
    rounds.ack_step(present)
    with pytest.raises(RefusedError, match="acknowledged another set"):
        rounds.members[3].reveal(rounds.tally.ack_list())


def test_one_ack_three_times_is_one_ack() -> None:
    rounds = ready_to_reveal()
    one = rounds.tally.ack_list().acks[0]
    with pytest.raises(MalformedError, match="two MembersAck of member 0"):
        rounds.members[1].reveal(AckList(round=1, acks=(one, one, one)))


def test_steps_out_of_order_are_refused() -> None:
    rounds = GroupRounds(4)
    member = rounds.members[0]
    with pytest.raises(RefusedError, match="masked its update after it begun"):
        member.mask(rounds.updates[0])
    rounds.key_step(ALL)
    rounds.deal_step(ALL)
    with pytest.raises(RefusedError, match="dealt shares after it dealt shares"):
        member.deal(rounds.tally.key_list())
    rounds.mask_step(ALL, ALL)
    with pytest.raises(RefusedError, match="masked its update after it masked"):
        member.mask(rounds.updates[0])
    assert member.step is RoundStep.MASKED


@pytest.mark.parametrize("value", [(1 << 24) + 1, -(1 << 24) - 1, 2**31 - 1, -(2**31)])
def test_an_update_beyond_the_limit_is_not_masked(value: int) -> None:
    rounds = ready_to_mask()
    rounds.members[0].receive(rounds.tally.dealt_list())
    update = rounds.updates[0]
    update[7] = value
    with pytest.raises(RefusedError, match="beyond 16777216"):
        rounds.members[0].mask(update)
    with pytest.raises(RefusedError, match="an update of 3 numbers"):
        rounds.members[0].mask(update[:3])


def test_keys_of_an_earlier_round_are_not_accepted_again() -> None:
    old, new = GroupRounds(4, 1), GroupRounds(4, 2, seed=5)
    old.key_step(ALL)
    new.key_step(ALL)
    stale = old.tally.key_list().keys
    fresh = new.tally.key_list().keys
    with pytest.raises(MalformedError, match="RoundKeys of another round"):
        new.members[0].deal(KeyList(round=2, keys=(*fresh[:3], stale[3])))
    with pytest.raises(MalformedError, match="round 1 in round 2"):
        new.tally.add_keys(old.sign(1, old.members[1].keys()))


def test_a_list_without_our_own_keys_is_refused() -> None:
    rounds, other = GroupRounds(4), GroupRounds(4, seed=9)
    rounds.key_step((1, 2, 3))
    with pytest.raises(MalformedError, match="lacks our own keys"):
        rounds.members[0].deal(rounds.tally.key_list())
    other.key_step(ALL)  # keys that the same members signed in another life
    with pytest.raises(MalformedError, match="lacks our own keys"):
        rounds.members[0].deal(other.tally.key_list())


def test_forged_and_truncated_frames_are_refused() -> None:
    rounds = GroupRounds(3)
    frame = rounds.mails[1].sign(rounds.members[1].keys()).frame
    for wrong in (
        frame[:-1],
        frame[:64],
        b"",
        frame[:64] + bytes((2,)) + frame[65:],  # another author
        frame[:64] + bytes((7,)) + frame[65:],  # nobody
        bytes((frame[0] ^ 1,)) + frame[1:],
        frame[:-2] + b"1}",
    ):
        with pytest.raises(PeerError):
            rounds.mails[0].parse(wrong)
    stranger = GroupRounds(4)  # with another group file
    with pytest.raises(PeerError):
        stranger.mails[0].parse(frame)


@pytest.mark.parametrize("name", ["boxes", "seed_shares", "key_shares"])
def test_a_dealer_of_a_wrong_box_or_commitment_does_not_stop_the_others(name: str) -> None:
    rounds = GroupRounds(4)
    rounds.key_step(ALL)
    listed = rounds.tally.key_list()
    for at in ALL:
        dealt = rounds.members[at].deal(listed)
        sent = with_short_share(rounds, dealt) if at == 3 else dealt
        rounds.tally.add_dealt(rounds.sign(at, sent))
    with capture_logs() as logs:
        rounds.mask_step(ALL, ALL)
    assert [one["member"] for one in logs] == ["member 3"]
    members = rounds.ack_step(ALL)
    shares = rounds.members[0].reveal(rounds.tally.ack_list())
    assert [owner for owner, _ in shares.seeds] == [0, 1, 2]
    rounds.tally.add_shares(rounds.sign(0, shares))
    rounds.reveal_step((1, 2, 3))
    assert np.array_equal(rounds.tally.unmask(), rounds.plain_sum(members))


@pytest.mark.parametrize("name", ["boxes", "seed_shares", "key_shares"])
def test_shares_for_fewer_or_more_members_than_the_key_list_has_are_refused(name: str) -> None:
    rounds = ready_to_mask()
    listed = rounds.tally.dealt_list()
    dealt = body_as(rounds.mails[0].parse(from_text(listed.dealt[3], None)).body, DealtShares)
    parts = getattr(dealt, name)
    for wrong in (parts[:-1], (*parts, parts[0])):
        message = rounds.sign(3, structs.replace(dealt, **{name: wrong}))
        with pytest.raises(MalformedError, match="member 3 dealt"):
            rounds.tally.add_dealt(message)
        spoilt = DealtList(round=1, dealt=(*listed.dealt[:3], message.text))
        with pytest.raises(MalformedError, match="member 3 dealt"):
            rounds.members[0].receive(spoilt)
    rounds.members[0].receive(listed)


def test_a_wrong_share_is_recognised_and_the_others_suffice() -> None:
    rounds = ready_to_reveal()
    listed = rounds.tally.ack_list()
    shares = rounds.members[2].reveal(listed)
    wrong = structs.replace(shares, seeds=((0, to_text(bytes(32))), *shares.seeds[1:]))
    with pytest.raises(MalformedError, match=r"member 2 revealed wrong shares of \[0\]"):
        rounds.tally.add_shares(rounds.sign(2, wrong))
    rounds.reveal_step((0, 1, 3))
    assert np.array_equal(rounds.tally.unmask(), rounds.plain_sum(ALL))


def test_a_dealer_of_a_short_share_does_not_get_its_receiver_left_out() -> None:
    rounds = GroupRounds(4)
    rounds.key_step(ALL)
    listed = rounds.tally.key_list()
    for at in ALL:
        dealt = rounds.members[at].deal(listed)
        rounds.tally.add_dealt(
            rounds.sign(at, with_short_share(rounds, dealt) if at == 3 else dealt)
        )
    with capture_logs() as logs:
        rounds.mask_step(ALL, ALL)
    assert [(one["event"], one["member"]) for one in logs] == [
        ("a member dealt a wrong share", "member 3")
    ]
    rounds.ack_step(ALL)
    rounds.reveal_step(ALL)
    assert np.array_equal(rounds.tally.unmask(), rounds.plain_sum(ALL))


def with_short_share(rounds: GroupRounds, dealt: DealtShares) -> DealtShares:
    """Shares of member 3, of which that for member 0 is short, as its commitment says."""
    short, dealer = b"short", rounds.members[3]
    there = from_text(rounds.members[0].keys().box_key)
    box = dealer._salt.seal(dealer._box, there, (3, 0), short)  # noqa: SLF001
    return structs.replace(
        dealt,
        boxes=(to_text(box), *dealt.boxes[1:]),
        seed_shares=(to_text(masks.secret_name(short)), *dealt.seed_shares[1:]),
        key_shares=(to_text(masks.secret_name(b"")), *dealt.key_shares[1:]),
    )


def test_a_dealer_whose_shares_give_another_secret_is_named() -> None:
    rounds = GroupRounds(4)
    for at in ALL:
        keys = rounds.members[at].keys()
        if at == 1:
            keys = structs.replace(keys, seed_name=to_text(sha256(b"another")))
            object.__setattr__(rounds.members[1], "keys", lambda keys=keys: keys)
        rounds.tally.add_keys(rounds.sign(at, keys))
    rounds.deal_step(ALL)
    rounds.mask_step(ALL, ALL)
    rounds.ack_step(ALL)
    rounds.reveal_step(ALL)
    with pytest.raises(MalformedError, match="shares of member 1 do not give its seed"):
        rounds.tally.unmask()


def test_a_vector_that_is_no_update_is_noticed_in_the_sum() -> None:
    rounds = ready_to_mask()
    rounds.mask_step(ALL, (0, 1, 2))
    rounds.tally.add_vector(3, np.full_like(rounds.tally._sum, 12345))  # noqa: SLF001 - its shape
    rounds.members[3].mask(rounds.updates[3])
    rounds.ack_step(ALL)
    rounds.reveal_step(ALL)
    with pytest.raises(MalformedError, match="beyond what 4 updates"):
        rounds.tally.unmask()


def test_wrong_vectors_are_refused() -> None:
    rounds = ready_to_mask()
    rounds.mask_step(ALL, (0,))
    size = rounds.group.layout.elements
    for place, vector in (
        (0, np.zeros(size, np.uint32)),  # a second one
        (1, np.zeros(size - 1, np.uint32)),
        (9, np.zeros(size, np.uint32)),
    ):
        with pytest.raises(MalformedError):
            rounds.tally.add_vector(place, vector)


def test_an_ack_of_another_set_is_not_counted() -> None:
    rounds = ready_to_mask()
    rounds.mask_step(ALL, ALL)
    rounds.tally.close()
    ack = rounds.members[0].acknowledge(SumMembers(round=1, members=(0, 1, 2)))
    with pytest.raises(MalformedError, match="acknowledged another set"):
        rounds.tally.add_ack(rounds.sign(0, ack))


def test_the_masks_are_those_of_the_specification() -> None:
    """Against RFC 7748, 5869 and 8439 by other means than the code's: one number each."""
    low, high = ExchangeKey(b"\x01" * 32), ExchangeKey(b"\x02" * 32)
    salt = RoundSalt(group=sha256(b"group"), round=7)
    assert low.shared(high.public) == high.shared(low.public)
    pair = salt.pair_mask(low, high.public, (3, 5))
    assert pair == salt.pair_mask(high, low.public, (5, 3))
    assert pair != salt.pair_mask(low, high.public, (3, 4))
    assert pair != RoundSalt(group=sha256(b"group"), round=8).pair_mask(low, high.public, (3, 5))
    vector = np.zeros(3, np.uint32)
    masks.add_masks(vector, [b"\x00" * 32])
    # RFC 8439, A.1, test vector 1: the key stream of the zero key and nonce.
    assert vector.astype("<u4").tobytes() == bytes.fromhex("76b8e0ada0f13d90405d6ae5")
    masks.add_masks(vector, (), [b"\x00" * 32])
    assert not vector.any()


def test_a_copied_key_does_not_take_a_mask_off() -> None:
    """Member 2 publishes the mask key of member 0; member 1, between them, must stay masked."""
    rounds = GroupRounds(4)
    for at in ALL:
        keys = rounds.members[at].keys()
        if at == 2:
            keys = structs.replace(keys, mask_key=rounds.members[0].keys().mask_key)
            object.__setattr__(rounds.members[2], "keys", lambda keys=keys: keys)
        rounds.tally.add_keys(rounds.sign(at, keys))
    rounds.deal_step(ALL)
    listed = rounds.tally.dealt_list()
    member = rounds.members[1]
    member.receive(listed)
    vector = member.mask(rounds.updates[1])
    salt = RoundSalt(group=rounds.group.id, round=1)
    known = [
        salt.self_mask(member._seed),  # noqa: SLF001 - what the shares will uncover
        salt.pair_mask(rounds.members[3]._mask, from_text(member.keys().mask_key), (1, 3)),  # noqa: SLF001
    ]
    masks.add_masks(vector, (), known)
    assert np.count_nonzero(vector == rounds.updates[1].astype(np.uint32)) < 5


@pytest.mark.parametrize("name", ["box_key", "mask_key"])
def test_a_key_of_small_order_is_refused_before_anybody_deals_or_trains(name: str) -> None:
    rounds = GroupRounds(4)
    rounds.key_step((0, 1, 2))
    wrong = structs.replace(rounds.members[3].keys(), **{name: to_text(bytes(32))})
    spoilt = rounds.sign(3, wrong)
    with pytest.raises(MalformedError, match="unacceptable X25519 key"):
        rounds.tally.add_keys(spoilt)
    honest = rounds.tally.key_list()
    with pytest.raises(MalformedError, match="unacceptable X25519 key"):
        rounds.members[0].deal(structs.replace(honest, keys=(*honest.keys, spoilt.text)))
    rounds.members[0].deal(honest)


def test_shares_below_the_threshold_say_nothing_and_enough_give_the_secret() -> None:
    secret = bytes(range(32))
    shares = dict(enumerate(sealing.split_key(secret, 3, 5), 1))
    for chosen in ((1, 2, 3), (2, 4, 5)):
        assert sealing.combine_shares({at: shares[at] for at in chosen}) == secret
    assert sealing.combine_shares({at: shares[at] for at in (1, 2)}) != secret


def test_a_stranger_takes_no_part() -> None:
    rounds, larger = GroupRounds(3), GroupRounds(4)
    stranger = GroupMail(group=rounds.group, signer=larger.signers[3])
    with pytest.raises(RefusedError, match="not a member"):
        MemberRound(stranger, 1, rounds.group.model.weights_root, rounds.rng.bytes)


def test_bodies_survive_the_wire() -> None:
    rounds = ready_to_reveal()
    shares = rounds.members[0].reveal(rounds.tally.ack_list())
    for body, kind in ((shares, RevealedShares), (rounds.members[0].keys(), RoundKeys)):
        parsed = rounds.sign(0, body).body
        assert isinstance(parsed, kind)
        assert parsed == body
