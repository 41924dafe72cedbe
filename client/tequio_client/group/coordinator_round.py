"""The coordinator's part in one round: collects what members send, and takes the masks off the sum.

Pure. The coordinator is trusted with nothing that would show a single update: it holds masked
vectors, and gets shares for one set of members. Faults of single members are errors about that
member; the round goes on while the threshold of members remains.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tequio_client.group import masks
from tequio_client.group.group_file import GroupFile
from tequio_client.group.masks import ExchangeKey, RoundSalt
from tequio_client.group.member_round import (
    UPDATE_LIMIT,
    check_dealt,
    check_keys,
    list_digest,
)
from tequio_client.group.messages import (
    AckList,
    DealtList,
    DealtShares,
    GroupMessage,
    KeyList,
    MembersAck,
    RevealedShares,
    RoundKeys,
    SumMembers,
    body_as,
)
from tequio_client.organiser import sealing
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import from_text, to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

SharesByOwner: TypeAlias = dict[int, dict[int, bytes]]


class RoundTally:
    """Everything that the coordinator of a round has received; messages are verified frames."""

    def __init__(self, group: GroupFile, round_number: int, head: str) -> None:
        """`head` is the one that the round begins from."""
        self.group = group
        self.round, self.head = round_number, head
        self._salt = RoundSalt(group=group.id, round=round_number)
        self._keys: dict[int, GroupMessage] = {}
        self._dealt: dict[int, GroupMessage] = {}
        self._acks: dict[int, GroupMessage] = {}
        self._vectors: set[int] = set()
        self._sum: NDArray[np.uint32] = np.zeros(group.layout.elements, np.uint32)
        self._members: tuple[int, ...] = ()
        # Of seeds and of mask keys: by owner of the secret, then by holder's index from 1.
        self._shares: tuple[SharesByOwner, SharesByOwner] = ({}, {})

    def add_keys(self, message: GroupMessage) -> None:
        """Accept keys that all others can use; raises MalformedError."""
        body = body_as(message.body, RoundKeys)
        self._check(body.round)
        check_keys(body)
        self._keys[message.author] = message

    def key_list(self) -> KeyList:
        """Keys received so far; raises RefusedError below the threshold."""
        self._need("keys", self._keys)
        return KeyList(round=self.round, keys=_texts(self._keys))

    def add_dealt(self, message: GroupMessage) -> None:
        """Accept shares that were made for the key list; raises MalformedError."""
        body = body_as(message.body, DealtShares)
        self._check(body.round)
        check_dealt({message.author: body}, self._key_bodies, list_digest(_texts(self._keys)))
        self._dealt[message.author] = message

    def dealt_list(self) -> DealtList:
        self._need("shares", self._dealt)
        return DealtList(round=self.round, dealt=_texts(self._dealt))

    def add_vector(self, author: int, vector: NDArray[np.uint32]) -> None:
        """Add a masked vector to the sum, once per member; the vector itself is not stored."""
        if author not in self._dealt or author in self._vectors or self._members:
            raise MalformedError(f"an unexpected vector of member {author}")
        if vector.shape != self._sum.shape:
            raise MalformedError(f"a vector of {vector.size} numbers, not {self._sum.size}")
        self._sum += vector
        self._vectors.add(author)

    def close(self) -> SumMembers:
        """Fix the members in the sum: those whose vectors are here."""
        members = tuple(sorted(self._vectors))
        self._need("updates", self._vectors)
        self._members = members
        return SumMembers(round=self.round, members=members)

    def add_ack(self, message: GroupMessage) -> None:
        body = body_as(message.body, MembersAck)
        due = MembersAck(
            round=self.round,
            head=self.head,
            members=self._members,
            dealt_list=to_text(list_digest(_texts(self._dealt))),
        )
        if body != due:
            raise MalformedError(f"member {message.author} acknowledged another set")
        self._acks[message.author] = message

    def ack_list(self) -> AckList:
        self._need("acknowledgements", self._acks)
        return AckList(round=self.round, acks=_texts(self._acks))

    def add_shares(self, message: GroupMessage) -> None:
        """Accept revealed shares that fit the dealers' commitments; raises MalformedError."""
        body, holder = body_as(message.body, RevealedShares), message.author
        self._check(body.round)
        if holder not in self._key_bodies:
            raise MalformedError(f"member {holder} holds no shares")
        at = sorted(self._key_bodies).index(holder)
        dealt = self._dealt_bodies
        names = {owner: (one.seed_shares[at], one.key_shares[at]) for owner, one in dealt.items()}
        wrong = []
        for kind, revealed in enumerate((body.seeds, body.keys)):
            for owner, text in revealed:
                value = from_text(text)
                if owner in names and names[owner][kind] == to_text(masks.secret_name(value)):
                    self._shares[kind].setdefault(owner, {})[holder + 1] = value
                else:
                    wrong.append(owner)
        if wrong:
            raise MalformedError(f"member {holder} revealed wrong shares of {wrong}")

    def unmask(self) -> NDArray[np.int64]:
        """The sum of the updates of the members in the set, exactly.

        Raises RefusedError when shares are missing, and MalformedError that names the member whose
        shares do not give the secret that it committed to.
        """
        keys = self._key_bodies
        plus: list[bytes] = []  # masks to be added, and to be taken off
        minus = [self._salt.self_mask(self._seed_of(one, keys[one])) for one in self._members]
        for absent in self._absent:
            pair = ExchangeKey(self._mask_key_of(absent, keys[absent]))
            for one in self._members:
                key = self._salt.pair_mask(pair, from_text(keys[one].mask_key), (one, absent))
                (minus if one < absent else plus).append(key)
        found = self._sum.copy()
        masks.add_masks(found, plus, minus)
        total = found.view(np.int32).astype(np.int64)
        check_sum(total, len(self._members))
        return total

    @property
    def _key_bodies(self) -> dict[int, RoundKeys]:
        return {at: body_as(one.body, RoundKeys) for at, one in self._keys.items()}

    @property
    def _dealt_bodies(self) -> dict[int, DealtShares]:
        return {at: body_as(one.body, DealtShares) for at, one in self._dealt.items()}

    @property
    def _absent(self) -> list[int]:
        """Members with whose masks the others masked, but whose updates are not in the sum."""
        return sorted(set(self._dealt) - set(self._members))

    def _seed_of(self, owner: int, keys: RoundKeys) -> bytes:
        seed = self._combined(self._shares[0], owner)
        if to_text(masks.secret_name(seed)) != keys.seed_name:
            raise MalformedError(f"the shares of member {owner} do not give its seed")
        return seed

    def _mask_key_of(self, owner: int, keys: RoundKeys) -> bytes:
        secret = self._combined(self._shares[1], owner)
        if to_text(ExchangeKey(secret).public) != keys.mask_key:
            raise MalformedError(f"the shares of member {owner} do not give its key")
        return secret

    def _combined(self, by_owner: SharesByOwner, owner: int) -> bytes:
        shares, needed = by_owner.get(owner, {}), self.group.threshold
        if len(shares) < needed:
            raise RefusedError("threshold", f"{len(shares)} of {needed} shares of member {owner}")
        return sealing.combine_shares(dict(sorted(shares.items())[:needed]))

    def _check(self, round_number: int) -> None:
        if round_number != self.round:
            raise MalformedError(f"a message of round {round_number} in round {self.round}")

    def _need(self, what: str, found: Mapping[int, object] | set[int]) -> None:
        if len(found) < self.group.threshold:
            raise RefusedError(
                "threshold",
                f"{what} of {len(found)} members where {self.group.threshold} are needed",
            )


def _texts(messages: Mapping[int, GroupMessage]) -> tuple[str, ...]:
    return tuple(message.text for _, message in sorted(messages.items()))


def check_sum(total: NDArray[np.int64], members: int) -> None:
    """Raise MalformedError for a sum that no updates within the limit have."""
    limit = members * UPDATE_LIMIT
    if int(total.max(initial=0)) > limit or int(total.min(initial=0)) < -limit:
        raise MalformedError(
            f"the sum is beyond what {members} updates within the limit give: a member sent a "
            "vector that is not an update"
        )
