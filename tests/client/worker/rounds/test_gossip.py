"""Which entries of a round gossip passes on, and over which topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.worker.rounds.gossip import MAX_LEAF_BYTES, commitment_filter, topic_of
from tequio_shared.errors import MalformedError, SignatureInvalidError
from tequio_shared.ids import NetworkId, RunId, from_text
from tequio_shared.network.run_states import RunState
from tequio_shared.round.round import is_trainer
from tequio_shared.statements.runs import HeadAttest, WorkCommit
from tequio_shared.statements.statement import Entry, make, sign
from tests.support.attackers_round import swarm_in
from tests.support.commitments import commitment_of_bytes

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey
    from tests.support.memory_swarm import Swarm
    from tests.support.volunteers import Volunteer


class TrainingRound:
    """A round in training, its commitments, and a judge of them."""

    def __init__(self) -> None:
        self.swarm: Swarm = swarm_in(RunState.ROUND_TRAIN, logged=2)
        commits = [one for one in self.swarm.entries if one.statement.type == "work.commit"]
        self.first, self.second = commits[:2]
        self.author = self.first.statement.author
        self.voice: Volunteer = next(one for one in self.swarm.volunteers if one.key == self.author)
        self.conflicts: list[tuple[Entry, Entry]] = []
        self.number = self.swarm.view.number
        self.judge = commitment_filter(
            self.swarm.net,
            self.swarm.manifest.run_id,
            self.round_of,
            lambda *two: self.conflicts.append(two),
        )

    def round_of(self, key: PeerKey) -> int | None:
        """The round under way, for those who train in it."""
        view = self.swarm.view.round
        return self.number if view and is_trainer(view, key) else None

    def hears(self, author: PeerKey, leaf: bytes) -> bool:
        """Have a message judged as the peer network does."""
        return self.judge.screen(author, leaf) and self.judge.check(author, leaf)

    def again(self, *, loss: int = 0, run: RunId | None = None, number: int | None = None) -> bytes:
        """Another commitment of the author; with another header if `loss` is not 0."""
        told = self.first.statement
        assert isinstance(told.body, WorkCommit)
        header = bytearray(from_text(told.body.header, None))
        header[-1] ^= loss
        made = make(
            body=commitment_of_bytes(bytes(header)),
            author=self.author,
            seq=told.seq + 7,
            ts=told.ts + 1,
            exp=told.exp,
            prev=told.prev,
            run=run or told.run,
            round=number or told.round,
        )
        return sign(self.swarm.net, made, self.voice.signer).leaf()


def test_the_topic_follows_from_network_run_and_kind() -> None:
    net, run = NetworkId(bytes(range(32))), RunId(bytes(range(32, 64)))
    assert topic_of(net, run, WorkCommit) == "/tequio/0001020304050607/work/2021222324252627/1"
    assert topic_of(net, run, HeadAttest) == "/tequio/0001020304050607/attest/2021222324252627/1"


def test_a_trainers_commitment_passes_once() -> None:
    place = TrainingRound()
    assert place.hears(place.author, place.first.leaf())
    assert not place.hears(place.author, place.first.leaf())
    assert place.hears(place.second.statement.author, place.second.leaf())
    assert not place.conflicts


def test_the_sender_the_leaf_and_the_header_name_one_author() -> None:
    place = TrainingRound()
    other = place.second.statement.author
    leaf, foreign = place.first.leaf(), place.second.leaf()
    assert not place.hears(other, leaf)
    named = leaf[:2] + other + leaf[34:]  # the first key is not the statement's author
    with pytest.raises(MalformedError):
        place.hears(other, named)
    assert not place.hears(place.author, foreign)


def test_who_does_not_train_in_this_round_is_not_heard() -> None:
    place = TrainingRound()
    stranger = place.swarm.organiser.key
    leaf = place.first.leaf()
    assert not place.judge.screen(stranger, leaf[:2] + stranger + leaf[34:])
    assert not place.hears(place.author, place.again(number=place.number + 1))
    assert not place.hears(place.author, place.again(run=RunId(bytes(32))))


def test_what_nobody_may_send_is_the_forwarders_fault() -> None:
    place = TrainingRound()
    leaf = place.first.leaf()
    opened = next(one for one in place.swarm.entries if one.statement.type == "round.open")
    for bad in (leaf[:-1], leaf[:40] + bytes(64) + leaf[104:], leaf + b" "):
        with pytest.raises(MalformedError):
            place.hears(place.author, bad)
    with pytest.raises(SignatureInvalidError):
        place.hears(place.author, leaf[:34] + bytes(64) + leaf[98:])
    with pytest.raises(MalformedError):
        place.hears(place.author, b"\x01\x01" + place.author + opened.leaf()[34:])
    assert place.hears(place.author, leaf), "forgeries in its name take nothing from the author"


def test_long_messages_cost_no_look() -> None:
    place = TrainingRound()
    assert not place.judge.screen(place.author, place.first.leaf().ljust(MAX_LEAF_BYTES + 1))


def test_a_second_and_different_commitment_is_evidence_and_a_third_is_not_heard() -> None:
    place = TrainingRound()
    assert place.hears(place.author, place.first.leaf())
    twin = place.again(loss=1)
    assert place.hears(place.author, twin)
    assert [(one.leaf(), two.leaf()) for one, two in place.conflicts] == [
        (place.first.leaf(), twin)
    ]
    assert not place.hears(place.author, place.again(loss=2))


def test_the_same_work_signed_anew_is_no_evidence() -> None:
    place = TrainingRound()
    assert place.hears(place.author, place.first.leaf())
    assert place.hears(place.author, place.again())
    assert not place.conflicts


def test_the_next_round_begins_with_nothing_heard() -> None:
    place = TrainingRound()
    assert place.hears(place.author, place.first.leaf())
    assert place.hears(place.author, place.again())
    place.number += 1
    assert place.judge.screen(place.author, place.first.leaf())
