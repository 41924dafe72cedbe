"""A group of members in one process: keys from fixed seeds, and rounds without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tequio_client.group.coordinator_round import RoundTally
from tequio_client.group.group_file import GroupFile, GroupMember, GroupTimes, GroupTraining
from tequio_client.group.member_round import MemberRound
from tequio_client.group.messages import GroupMail, GroupMessage
from tequio_shared.head.head import weights_root
from tequio_shared.head.layout import WeightLayout
from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.round.manifest import ModelSpec, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from tequio_client.group.messages import AnyBody

CONFIG = "{}"
TENSORS = (("a.weight", (3, 5)), ("b.weight", (7,)))


def first_weights() -> NDArray[np.int32]:
    layout = WeightLayout.of(TENSORS, "flat")
    values = np.arange(22, dtype=np.int32) - 9
    return layout.flatten({"a.weight": values[:15].reshape(3, 5), "b.weight": values[15:]})


def group_signers(count: int) -> list[Signer]:
    return [Signer(bytes((at + 1,)) * 32) for at in range(count)]


def make_group(
    signers: Sequence[Signer],
    *,
    allows_two: bool = False,
    times: GroupTimes | None = None,
    rounds: int = 100,
) -> GroupFile:
    model = ModelSpec(
        config=to_text(sha256(CONFIG.encode())),
        parameters=22,
        tensors=TENSORS,
        aliases=(),
        weights_root=to_text(weights_root(first_weights())),
        aux_root=to_text(bytes(32)),
        sequence=8,
    )
    members = tuple(
        GroupMember(name=f"member {at}", key=to_text(one.key)) for at, one in enumerate(signers)
    )
    return GroupFile(
        name="test",
        model=model,
        config=CONFIG,
        tokenizer=Tokenizer(kind="bytes", file="", vocab_size=256),
        training=GroupTraining(rounds=rounds),
        times=times or GroupTimes(),
        allows_two=allows_two,
        members=members,
    )


class GroupRounds:
    """All members of a group in one round, and its coordinator's tally."""

    def __init__(self, count: int, round_number: int = 1, seed: int = 0) -> None:
        self.signers = group_signers(count)
        self.group = make_group(self.signers, allows_two=True)
        self.mails = [GroupMail(group=self.group, signer=one) for one in self.signers]
        self.rng = np.random.default_rng(seed)
        head = self.group.model.weights_root
        self.members = [MemberRound(one, round_number, head, self.rng.bytes) for one in self.mails]
        self.tally = RoundTally(self.group, round_number, head)
        self.updates = [self._update() for _ in self.signers]

    def sign(self, place: int, body: AnyBody) -> GroupMessage:
        """Sign, and read the frame back: whatever is tested goes over the wire."""
        return self.mails[0].parse(self.mails[place].sign(body).frame)

    def key_step(self, present: Iterable[int]) -> None:
        for place in present:
            self.tally.add_keys(self.sign(place, self.members[place].keys()))

    def deal_step(self, present: Iterable[int]) -> None:
        listed = self.tally.key_list()
        for place in present:
            self.tally.add_dealt(self.sign(place, self.members[place].deal(listed)))

    def mask_step(self, receiving: Collection[int], sending: Collection[int]) -> None:
        listed = self.tally.dealt_list()
        for place in receiving:
            self.members[place].receive(listed)
        for place in sending:
            self.tally.add_vector(place, self.members[place].mask(self.updates[place]))

    def ack_step(self, present: Iterable[int]) -> tuple[int, ...]:
        chosen = self.tally.close()
        for place in present:
            self.tally.add_ack(self.sign(place, self.members[place].acknowledge(chosen)))
        return chosen.members

    def reveal_step(self, present: Iterable[int]) -> None:
        listed = self.tally.ack_list()
        for place in present:
            self.tally.add_shares(self.sign(place, self.members[place].reveal(listed)))

    def whole_round(
        self,
        keys: Collection[int],
        dealt: Collection[int],
        sent: Collection[int],
        acked: Collection[int],
        revealed: Collection[int],
    ) -> tuple[tuple[int, ...], NDArray[np.int64]]:
        """Run a round in which only those members take each step; the members and their sum."""
        self.key_step(keys)
        self.deal_step(dealt)
        self.mask_step(dealt, sent)
        members = self.ack_step(acked)
        self.reveal_step(revealed)
        return members, self.tally.unmask()

    def plain_sum(self, members: Iterable[int]) -> NDArray[np.int64]:
        updates = [self.updates[one].astype(np.int64) for one in members]
        total: NDArray[np.int64] = np.sum(updates, axis=0)
        return total

    def _update(self) -> NDArray[np.int32]:
        size = self.group.layout.elements
        found = self.rng.integers(-(1 << 24), (1 << 24) + 1, size).astype(np.int32)
        found[:2] = 1 << 24, -(1 << 24)
        return found
