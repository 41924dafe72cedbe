"""A member's part in one round of secure aggregation: pure, one object for one round.

Rules that protect the member's update from everybody else, the coordinator included:

1. Steps come in the order of TRANSITIONS, each once; anything else is refused.
2. It masks one update, once, with the masks of every member that dealt shares.
3. It acknowledges one set of members, of at least the threshold, all of which dealt shares.
4. It reveals for that set only, once the threshold of members acknowledged the same set and the
   same list of shares: for a member in the set the share of its seed, for any other the share of
   its mask key. So it never reveals both shares of one member.
5. Its secrets are in memory only. A program that starts again takes part in later rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import structlog

from tequio_client.group import masks
from tequio_client.group.group_file import GroupFile
from tequio_client.group.masks import SECRET_BYTES, ExchangeKey, RandomBytes, RoundSalt
from tequio_client.group.messages import (
    AckList,
    DealtList,
    DealtShares,
    GroupMail,
    KeyList,
    MembersAck,
    RevealedShares,
    RoundKeys,
    SumMembers,
)
from tequio_client.organiser import sealing
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import Digest, from_text, sha256, to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = structlog.get_logger(__name__)

UPDATE_LIMIT = 1 << 24
"""Largest magnitude of a number in an update: a weight of one."""
R = TypeVar("R")


class RoundStep(Enum):
    """The last step that the member took."""

    BEGUN = "begun"
    DEALT = "dealt shares"
    RECEIVED = "received shares"
    MASKED = "masked its update"
    ACKNOWLEDGED = "acknowledged a set"
    REVEALED = "revealed shares"


TRANSITIONS = {
    RoundStep.DEALT: (RoundStep.BEGUN,),
    RoundStep.RECEIVED: (RoundStep.DEALT,),
    RoundStep.MASKED: (RoundStep.RECEIVED,),
    # A member whose update came too late still helps the others.
    RoundStep.ACKNOWLEDGED: (RoundStep.RECEIVED, RoundStep.MASKED),
    RoundStep.REVEALED: (RoundStep.ACKNOWLEDGED,),
}


class MemberRound:
    """One member in one round; every method raises RefusedError or MalformedError."""

    def __init__(self, mail: GroupMail, round_number: int, head: str, random: RandomBytes) -> None:
        """`head` is the one that the round began from."""
        place = mail.group.index_of(mail.signer.key)
        if place is None:
            raise RefusedError("stranger", "this key is not a member of the group")
        self.group: GroupFile = mail.group
        self.place = place
        self.round, self.head = round_number, head
        self.step = RoundStep.BEGUN
        self._mail = mail
        self._salt = RoundSalt(group=mail.group.id, round=round_number)
        self._box = ExchangeKey(random(SECRET_BYTES))
        self._mask = ExchangeKey(random(SECRET_BYTES))
        self._seed = random(SECRET_BYTES)
        self._keys: dict[int, RoundKeys] = {}
        self._key_list: Digest
        self._own: bytes = b""  # both shares that it dealt itself
        self._dealers: tuple[int, ...] = ()
        self._dealt_list: Digest
        self._shares: dict[int, tuple[bytes, bytes]] = {}  # of seed and mask key, by dealer
        self._ack: MembersAck | None = None

    def keys(self) -> RoundKeys:
        """Public keys of the round, and the commitment to the seed."""
        return RoundKeys(
            round=self.round,
            box_key=to_text(self._box.public),
            mask_key=to_text(self._mask.public),
            seed_name=to_text(masks.secret_name(self._seed)),
        )

    def deal(self, listed: KeyList) -> DealtShares:
        """Deal shares of both secrets to the members of the list."""
        keys = self._parse(listed.keys, RoundKeys)
        if keys.get(self.place) != self.keys():
            raise MalformedError("the key list lacks our own keys")
        for one in keys.values():
            check_keys(one)
        self._enter(RoundStep.DEALT)
        self._keys, self._key_list = keys, list_digest(listed.keys)
        seeds = sealing.split_key(self._seed, self.group.threshold, self.group.size)
        mask_keys = sealing.split_key(self._mask.seed, self.group.threshold, self.group.size)
        boxes = []
        for other, one in sorted(keys.items()):
            both = seeds[other] + mask_keys[other]
            if other == self.place:
                self._own = both
                boxes.append("")
                continue
            there = from_text(one.box_key)
            sealed = self._salt.seal(self._box, there, (self.place, other), both)
            boxes.append(to_text(sealed))
        return DealtShares(
            round=self.round,
            key_list=to_text(self._key_list),
            boxes=tuple(boxes),
            seed_shares=tuple(to_text(masks.secret_name(seeds[one])) for one in sorted(keys)),
            key_shares=tuple(to_text(masks.secret_name(mask_keys[one])) for one in sorted(keys)),
        )

    def receive(self, listed: DealtList) -> None:
        """Open the boxes for this member; a wrong one is the dealer's loss, not the round's."""
        dealt = self._parse(listed.dealt, DealtShares)
        check_dealt(dealt, self._keys, self._key_list)
        if self.place not in dealt:
            raise MalformedError("the list of shares lacks our own")
        self._enter(RoundStep.RECEIVED)
        self._dealers, self._dealt_list = tuple(sorted(dealt)), list_digest(listed.dealt)
        for dealer, shares in dealt.items():
            try:
                self._shares[dealer] = self._opened(dealer, shares)
            except MalformedError as err:
                log.warning(
                    "a member dealt a wrong share",
                    member=self.group.members[dealer].name,
                    error=str(err),
                )

    def mask(self, update: NDArray[np.int32]) -> NDArray[np.uint32]:
        """The update plus all masks, modulo 2^32. Raises RefusedError beyond UPDATE_LIMIT."""
        if update.shape != (self.group.layout.elements,):
            raise RefusedError("update", f"an update of {update.size} numbers")
        if int(update.max(initial=0)) > UPDATE_LIMIT or int(update.min(initial=0)) < -UPDATE_LIMIT:
            raise RefusedError("update", f"an update beyond {UPDATE_LIMIT}: clip it first")
        self._enter(RoundStep.MASKED)
        vector = update.astype(np.uint32)  # two's complement: negative numbers wrap
        plus = [self._salt.self_mask(self._seed)]
        minus: list[bytes] = []
        for other in self._dealers:
            if other != self.place:
                there = from_text(self._keys[other].mask_key)
                # The member with the lower place adds, the other one subtracts.
                (plus if self.place < other else minus).append(
                    self._salt.pair_mask(self._mask, there, (self.place, other))
                )
        masks.add_masks(vector, plus, minus)
        return vector

    def acknowledge(self, chosen: SumMembers) -> MembersAck:
        """Accept the set of members whose updates the sum will have; no other in this round."""
        if chosen.round != self.round:
            raise RefusedError("round", f"round {chosen.round} in round {self.round}")
        check_members(self.group, chosen.members)
        if not set(chosen.members) <= set(self._dealers):
            raise RefusedError("members", "a member of the set dealt no shares")
        if self.place in chosen.members and self.step is RoundStep.RECEIVED:
            raise RefusedError("members", "our update is in the set, but was never sent")
        self._enter(RoundStep.ACKNOWLEDGED)
        self._ack = MembersAck(
            round=self.round,
            head=self.head,
            members=chosen.members,
            dealt_list=to_text(self._dealt_list),
        )
        return self._ack

    def reveal(self, listed: AckList) -> RevealedShares:
        """Reveal one share of each dealer, once enough members acknowledged the same set."""
        acks = self._parse(listed.acks, MembersAck)
        if self._ack is None or any(one != self._ack for one in acks.values()):
            raise RefusedError("acks", "a member acknowledged another set or other shares")
        self._enter(RoundStep.REVEALED)
        shares, members = self._shares, set(self._ack.members)
        self._shares = {}
        return RevealedShares(
            round=self.round,
            seeds=tuple(
                (dealer, to_text(seed))
                for dealer, (seed, _) in sorted(shares.items())
                if dealer in members
            ),
            keys=tuple(
                (dealer, to_text(key))
                for dealer, (_, key) in sorted(shares.items())
                if dealer not in members
            ),
        )

    def _enter(self, step: RoundStep) -> None:
        if self.step not in TRANSITIONS[step]:
            raise RefusedError("order", f"{step.value} after it {self.step.value}")
        self.step = step

    def _parse(self, frames: tuple[str, ...], kind: type[R]) -> dict[int, R]:
        return parse_enough(self._mail, frames, kind, self.round)

    def _opened(self, dealer: int, dealt: DealtShares) -> tuple[bytes, bytes]:
        at = sorted(self._keys).index(self.place)
        both = self._own
        if dealer != self.place:
            there = from_text(self._keys[dealer].box_key)
            box = from_text(dealt.boxes[at], None)
            both = self._salt.open(self._box, there, (dealer, self.place), box)
        if len(both) != 2 * SECRET_BYTES:
            raise MalformedError(f"a box of {len(both)} bytes")
        seed, key = both[:SECRET_BYTES], both[SECRET_BYTES:]
        names = to_text(masks.secret_name(seed)), to_text(masks.secret_name(key))
        if names != (dealt.seed_shares[at], dealt.key_shares[at]):
            raise MalformedError("the share is not the one that its dealer committed to")
        return seed, key


def parse_enough(
    mail: GroupMail, frames: tuple[str, ...], kind: type[R], round_number: int
) -> dict[int, R]:
    """Verify a list of at least the threshold of members, all of one round; by place."""
    found = mail.parse_all(frames, kind)  # type: ignore[type-var]  # every kind is a body
    if any(getattr(one, "round", None) != round_number for one in found.values()):
        raise MalformedError(f"a {kind.__name__} of another round")
    if len(found) < mail.group.threshold:
        raise RefusedError(
            "threshold", f"{len(found)} {kind.__name__} where {mail.group.threshold} are needed"
        )
    return found


def check_keys(keys: RoundKeys) -> None:
    """Raise MalformedError for a key with which nobody can agree on a secret."""
    for one in (keys.box_key, keys.mask_key):
        ExchangeKey(bytes(SECRET_BYTES)).shared(from_text(one))


def check_dealt(
    dealt: Mapping[int, DealtShares], keys: Mapping[int, RoundKeys], key_list: Digest
) -> None:
    """Raise MalformedError for shares that were not made for exactly this key list."""
    for dealer, one in dealt.items():
        if dealer not in keys or one.key_list != to_text(key_list):
            raise MalformedError(f"member {dealer} dealt shares for another key list")
        if not len(one.boxes) == len(one.seed_shares) == len(one.key_shares) == len(keys):
            raise MalformedError(f"member {dealer} dealt {len(one.boxes)} shares to {len(keys)}")


def check_members(group: GroupFile, members: Sequence[int]) -> None:
    """Raise RefusedError for a set that is too small, not ascending, or not of this group."""
    if list(members) != sorted(set(members)) or max(members) >= group.size:
        raise RefusedError("members", f"not an ascending set of members: {list(members)}")
    if len(members) < group.threshold:
        raise RefusedError(
            "threshold", f"a sum of {len(members)} updates where {group.threshold} are needed"
        )


def list_digest(frames: tuple[str, ...]) -> Digest:
    """Digest by which members see that they were given the same list."""
    return sha256(b"tequio/v1/group-list\x00", encoding.encode(list(frames)))
