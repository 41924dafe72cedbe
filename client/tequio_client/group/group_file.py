"""The group file: plan, model and members of a private group, the same at every member.

Canonical JSON, so that its SHA-256 names the group: members with different files never exchange a
byte. Nothing in it is secret. `plan` makes it from an organiser's plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from tequio_client.ipc.private import InnerSteps, PrivacyRules
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, TequioError, UserFacingError
from tequio_shared.head.head import WEIGHT_BYTES
from tequio_shared.head.layout import WeightLayout
from tequio_shared.ids import Bytes32Text, Digest, PeerKey, key_from_text, sha256, to_text
from tequio_shared.keys import check_key
from tequio_shared.limits import DOCUMENT_BYTES
from tequio_shared.round.manifest import ModelSpec, Name, Tokenizer

MOST_MEMBERS = 32
"""Most members: the sum of 32 updates, each within 2^24, is within 2^29 and cannot wrap."""
LEAST_MEMBERS = 2
_PAIR = 2
"""Members of a group in which each learns the other's update from the sum."""
_PREFIX = b"tequio/v1/group-file\x00"

Address = Annotated[str, Meta(max_length=256, pattern=r"\A/(ip4|ip6|dns|dns4|dns6)/[^\s]+\Z")]
"""A multiaddr at which a member may be reached."""
Milliseconds = Annotated[int, Meta(ge=100, le=7 * 86_400_000)]


class GroupMember(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Name
    key: Bytes32Text
    addresses: Annotated[tuple[Address, ...], Meta(max_length=4)] = ()

    @property
    def public_key(self) -> PeerKey:
        return key_from_text(self.key)


class GroupTraining(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Local training in a round; `rounds` is the number of heads after which the group ends."""

    rounds: Annotated[int, Meta(ge=1, le=1 << 30)] = 100
    steps: Annotated[int, Meta(ge=1, le=65_535)] = 20
    batch: Annotated[int, Meta(ge=1, le=65_535)] = 8
    inner: InnerSteps = InnerSteps(optimiser="adamw", adam_lr_e9=1_000_000)


class GroupTimes(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Deadlines: `train_ms` for local training and its upload, `reply_ms` for every other reply."""

    train_ms: Milliseconds = 3_600_000
    reply_ms: Milliseconds = 30_000


class GroupFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """Everything that the members of a group agree on."""

    v: Literal[1] = 1
    name: Name
    model: ModelSpec
    """`weights_root` is that of head 0; the layout is flat."""
    config: Annotated[str, Meta(max_length=1 << 20)]
    """The model's config.json."""
    tokenizer: Tokenizer
    training: GroupTraining = GroupTraining()
    times: GroupTimes = GroupTimes()
    privacy: PrivacyRules | UnsetType = UNSET
    """Absent: members train without differential privacy."""
    allows_two: bool = False
    """True: two members may form the group, although each learns the other's update."""
    members: Annotated[tuple[GroupMember, ...], Meta(max_length=MOST_MEMBERS)] = ()

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> GroupFile:
        """Read a group file, complete or not; raises MalformedError."""
        group = encoding.decode(raw, cls, DOCUMENT_BYTES)
        WeightLayout.of(group.model.tensors, "flat")
        if to_text(sha256(group.config.encode())) != group.model.config:
            raise MalformedError("the configuration of the model is not the one that it names")
        for what, values in (
            ("name", [one.name for one in group.members]),
            ("key", [one.key for one in group.members]),
        ):
            twice = next((one for at, one in enumerate(values) if one in values[:at]), None)
            if twice is not None:
                raise MalformedError(f"two members have the {what} {twice}")
        try:
            for member in group.members:
                check_key(member.public_key)
        except TequioError as err:
            raise MalformedError(f"the key of {member.name} is not acceptable: {err}") from err
        return group

    @cached_property
    def id(self) -> Digest:
        return sha256(_PREFIX, self.encode())

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def threshold(self) -> int:
        """Members without whom nothing is revealed and no head is adopted: floor(2n/3) + 1."""
        return 2 * self.size // 3 + 1

    @cached_property
    def layout(self) -> WeightLayout:
        return WeightLayout.of(self.model.tensors, "flat")

    @property
    def weights_bytes(self) -> int:
        return WEIGHT_BYTES * self.layout.elements

    def index_of(self, key: PeerKey) -> int | None:
        """Place of a member in the file; None for a stranger."""
        found = (at for at, one in enumerate(self.members) if one.public_key == key)
        return next(found, None)

    def coordinator_of(self, round_number: int) -> int:
        return round_number % self.size

    def names(self, members: tuple[int, ...]) -> str:
        """Names of members, for people."""
        return ", ".join(self.members[one].name for one in members)

    def check_complete(self) -> None:
        """Raise UserFacingError for a group that is too small to train."""
        if self.size < LEAST_MEMBERS or (self.size == _PAIR and not self.allows_two):
            raise UserFacingError(
                f"the group {self.name} has {self.size} member(s) and needs 3: of two, each would "
                "learn the other's update from the sum. Run `tequio group add` for more members, "
                "or write allows_two = true in the plan if both accept that"
            )


def new_member(name: str, key: str, addresses: Sequence[str]) -> GroupMember:
    """A member as people describe it; raises UserFacingError that names the wrong value."""
    try:
        found = msgspec.convert(
            {"name": name, "key": key, "addresses": tuple(addresses)}, GroupMember
        )
        check_key(found.public_key)
    except (msgspec.ValidationError, TequioError) as err:
        raise UserFacingError(
            f"{name} cannot be added: {err}. A name has letters, digits, spaces and ._- alone; a "
            "key is what `tequio group key` prints; an address looks like /ip4/192.0.2.1/tcp/4001"
        ) from err
    return found


def with_member(group: GroupFile, member: GroupMember) -> GroupFile:
    """Add a member, which makes another group; raises UserFacingError for a name or key twice."""
    if group.size >= MOST_MEMBERS:
        raise UserFacingError(f"a group has at most {MOST_MEMBERS} members")
    try:
        return GroupFile.parse(structs.replace(group, members=(*group.members, member)).encode())
    except MalformedError as err:
        raise UserFacingError(f"{member.name} cannot be added: {err}") from err
