"""The messages of a group, signed by their authors (docs/groups.md, "The protocol").

A frame is a signature (64 bytes), the author's place in the group file (1 byte) and the body as
canonical JSON. The signature covers a prefix, the group's id, the place and the body, so a frame
means nothing in another group. Some bodies carry frames of others as text. A masked vector, a sum
or a head follows the frame that names it, in pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias, TypeVar

from msgspec import Meta, Struct

from tequio_client.group.group_file import MOST_MEMBERS, Address, GroupFile
from tequio_client.group.masks import BOX_BYTES
from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.ids import Bytes32Text, BytesText, Natural, Positive, from_text, to_text
from tequio_shared.keys import SIGNATURE_BYTES, Signer, verify
from tequio_shared.limits import FRAME_BYTES, JSON_INTEGER

_PREFIX = b"tequio/v1/group-message\x00"
_HEAD_BYTES = SIGNATURE_BYTES + 1
_REASON_CHARS = 300
MOST_ADDRESSES = 8

Place = Annotated[int, Meta(ge=0, le=MOST_MEMBERS - 1)]
"""A member, by its place in the group file."""
Places = Annotated[tuple[Place, ...], Meta(min_length=1, max_length=MOST_MEMBERS)]
Frames = Annotated[tuple[BytesText, ...], Meta(max_length=MOST_MEMBERS)]
"""Frames of several members, as text."""
_BOX_TEXT = -(-BOX_BYTES * 4 // 3)
Box = Annotated[str, Meta(max_length=_BOX_TEXT, pattern=r"\A[A-Za-z0-9_-]*\Z")]
Share = tuple[Place, Bytes32Text]
"""The member whose secret it belongs to, and its value."""
Shares = Annotated[tuple[Share, ...], Meta(max_length=MOST_MEMBERS)]
Addresses = Annotated[tuple[Address, ...], Meta(max_length=MOST_ADDRESSES)]
KnownAddresses = Annotated[tuple[tuple[Place, Addresses], ...], Meta(max_length=MOST_MEMBERS)]
"""Where members listen, as far as the sender knows; itself too."""


class GroupBody(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type"):
    """Base of what members send each other."""


class RoundBegin(GroupBody, frozen=True, kw_only=True, tag="begin"):
    """The coordinator begins a round. Answered by `RoundKeys`, `Unfinished` or `Declined`."""

    round: Positive
    head: Bytes32Text


class RoundKeys(GroupBody, frozen=True, kw_only=True, tag="keys"):
    round: Positive
    box_key: Bytes32Text
    """X25519 key to which shares are encrypted; nobody ever reveals its private half."""
    mask_key: Bytes32Text
    """X25519 key of the pairwise masks."""
    seed_name: Bytes32Text
    """Commitment to the seed of the member's own mask."""


class KeyList(GroupBody, frozen=True, kw_only=True, tag="key-list"):
    """Keys of at least the threshold of members, by place. Answered by `DealtShares`."""

    round: Positive
    keys: Frames


class DealtShares(GroupBody, frozen=True, kw_only=True, tag="dealt"):
    """Shares of a member's two secrets for each member of the key list, in its order."""

    round: Positive
    key_list: Bytes32Text
    """Digest of the keys that the shares were made for."""
    boxes: Annotated[tuple[Box, ...], Meta(min_length=1, max_length=MOST_MEMBERS)]
    """Share of the seed and share of the mask key, encrypted; empty for the dealer itself."""
    seed_shares: Annotated[tuple[Bytes32Text, ...], Meta(min_length=1, max_length=MOST_MEMBERS)]
    """Commitments to the shares of the seed."""
    key_shares: Annotated[tuple[Bytes32Text, ...], Meta(min_length=1, max_length=MOST_MEMBERS)]


class DealtList(GroupBody, frozen=True, kw_only=True, tag="dealt-list"):
    """Shares of at least the threshold of members. Answered by `MaskedUpdate`."""

    round: Positive
    dealt: Frames


class MaskedUpdate(GroupBody, frozen=True, kw_only=True, tag="masked"):
    """A vector follows: the update plus masks, u32 little-endian."""

    round: Positive


class SumMembers(GroupBody, frozen=True, kw_only=True, tag="members"):
    """The coordinator has the vectors of these members. Answered by `MembersAck`."""

    round: Positive
    members: Places


class MembersAck(GroupBody, frozen=True, kw_only=True, tag="ack"):
    """A member accepts one set of members in a round, and no other."""

    round: Positive
    head: Bytes32Text
    """Head that the round began from."""
    members: Places
    dealt_list: Bytes32Text
    """Digest of the shares that its author received."""


class AckList(GroupBody, frozen=True, kw_only=True, tag="ack-list"):
    """Acknowledgements of at least the threshold of members. Answered by `RevealedShares`."""

    round: Positive
    acks: Frames


class RevealedShares(GroupBody, frozen=True, kw_only=True, tag="revealed"):
    """For each member with shares one of the two: in the sum its seed's, else its mask key's."""

    round: Positive
    seeds: Shares
    keys: Shares


class SumResult(GroupBody, frozen=True, kw_only=True, tag="sum"):
    """Where the sum of a round leads, by its coordinator."""

    round: Positive
    parent: Bytes32Text
    """Head that the updates started from."""
    number: Positive
    """Number of the head that the sum leads to."""
    acks: Frames
    head: Bytes32Text
    """Head that the sum leads to."""


class HeadVote(GroupBody, frozen=True, kw_only=True, tag="vote"):
    """A member computed this head; it votes for one child of each head only."""

    number: Positive
    parent: Bytes32Text
    head: Bytes32Text


class HeadDecision(GroupBody, frozen=True, kw_only=True, tag="decision"):
    """Votes of at least the threshold of members: all adopt the head. Answered by `Done`."""

    votes: Frames


class Unfinished(GroupBody, frozen=True, kw_only=True, tag="unfinished"):
    """A member voted for a head whose decision it never saw; `result` is its coordinator's."""

    result: BytesText


class ForwardedSum(GroupBody, frozen=True, kw_only=True, tag="forward"):
    """The sum follows: int32 little-endian. Answered by `HeadVote` or `Declined`."""

    result: BytesText
    """Frame of its `SumResult`."""


class Ask(GroupBody, frozen=True, kw_only=True, tag="ask"):
    """Answered by `MemberStatus`."""

    addresses: KnownAddresses = ()


class MemberStatus(GroupBody, frozen=True, kw_only=True, tag="status"):
    round: Natural
    """Highest round that the member took part in."""
    number: Natural
    """Number of its head; 0 for the first."""
    head: Bytes32Text
    votes: Frames
    """Votes that decided it; none for head 0."""
    addresses: KnownAddresses = ()


class FetchFile(GroupBody, frozen=True, kw_only=True, tag="fetch"):
    """Ask for a head's weights, a sum or the tokenizer. Answered by `FileSent` or `Declined`."""

    kind: Annotated[str, Meta(pattern=r"\A(weights|sum|tokenizer)\Z")]
    name: Bytes32Text


class FileSent(GroupBody, frozen=True, kw_only=True, tag="file"):
    """The file follows."""

    size_bytes: Annotated[int, Meta(ge=0, le=JSON_INTEGER)]


class Done(GroupBody, frozen=True, kw_only=True, tag="done"):
    pass


class Declined(GroupBody, frozen=True, kw_only=True, tag="declined"):
    """The member does not do it; `round` is the highest that it took part in."""

    round: Natural
    reason: Annotated[str, Meta(max_length=_REASON_CHARS)]


AnyBody: TypeAlias = (
    RoundBegin
    | RoundKeys
    | KeyList
    | DealtShares
    | DealtList
    | MaskedUpdate
    | SumMembers
    | MembersAck
    | AckList
    | RevealedShares
    | SumResult
    | HeadVote
    | HeadDecision
    | Unfinished
    | ForwardedSum
    | Ask
    | MemberStatus
    | FetchFile
    | FileSent
    | Done
    | Declined
)
B = TypeVar("B", bound=GroupBody)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMessage:
    """A body, its author's place, and the frame that proves it."""

    author: int
    body: AnyBody
    frame: bytes

    @property
    def text(self) -> str:
        """The frame, as a body carries it."""
        return to_text(self.frame)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMail:
    """Signs and verifies the frames of one group."""

    group: GroupFile
    signer: Signer

    def sign(self, body: AnyBody) -> GroupMessage:
        place = self.group.index_of(self.signer.key)
        if place is None:
            raise MalformedError("a stranger does not sign for a group")
        head, raw = bytes((place,)), encoding.encode(body)
        signature = self.signer.sign(_PREFIX + self.group.id + head + raw)
        return GroupMessage(author=place, body=body, frame=signature + head + raw)

    def parse(self, frame: bytes) -> GroupMessage:
        """Verify a frame; raises MalformedError or SignatureInvalidError."""
        if len(frame) <= _HEAD_BYTES or frame[SIGNATURE_BYTES] >= self.group.size:
            raise MalformedError(f"a frame of {len(frame)} bytes that no member signs")
        author = frame[SIGNATURE_BYTES]
        signed = _PREFIX + self.group.id + frame[SIGNATURE_BYTES:]
        verify(self.group.members[author].public_key, frame[:SIGNATURE_BYTES], signed)
        body: AnyBody = encoding.decode(frame[_HEAD_BYTES:], AnyBody, FRAME_BYTES)
        return GroupMessage(author=author, body=body, frame=frame)

    def parse_all(self, frames: tuple[str, ...], kind: type[B]) -> dict[int, B]:
        """Verify frames of one kind of body, one per member, by place; raises as `parse`."""
        found: dict[int, B] = {}
        for text in frames:
            message = self.parse(from_text(text, None))
            if not isinstance(message.body, kind):
                raise MalformedError(f"a {type(message.body).__name__} among {kind.__name__}")
            if message.author in found:
                raise MalformedError(f"two {kind.__name__} of member {message.author}")
            found[message.author] = message.body
        return found


def cut_reason(reason: str) -> str:
    return reason[:_REASON_CHARS]


def body_as(body: GroupBody, kind: type[B]) -> B:
    """The body as what was due; raises MalformedError that quotes a refusal."""
    if isinstance(body, kind):
        return body
    if isinstance(body, Declined):
        raise MalformedError(f"declined: {body.reason}")
    raise MalformedError(f"a {type(body).__name__} where a {kind.__name__} was due")
