"""Documents that a round's statements name by SHA-256: roster and result, as canonical JSON.

They are too large for a statement when many members take part; the ledger stores them as blobs.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from tequio_shared import encoding
from tequio_shared.errors import MalformedError
from tequio_shared.ids import (
    Bytes32Text,
    Digest,
    MaybeBytes32Text,
    Natural,
    PeerKey,
    Positive,
    key_from_text,
    sha256,
)
from tequio_shared.limits import DOCUMENT_BYTES, RECEIVERS
from tequio_shared.round import assignment as round_assignment
from tequio_shared.round.assignment import Ranges

TRAINER = "trainer"
WITNESS = "witness"
SLOT_BYTES = 256 + RECEIVERS * 72
"""Largest row of a result, in bytes."""


class RosterMember(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """One slot: key, roles, verified speed (milli-windows/s) and number of windows to train."""

    peer: Bytes32Text
    roles: tuple[str, ...]
    speed: Natural
    share: Natural

    @cached_property  # asked for with every statement of a round
    def key(self) -> PeerKey:
        return key_from_text(self.peer)


class AuditOrder(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A slot that repeats an earlier contribution: both named by the log.

    `round` and `contribution` were committed together, with `tokens`; `opening` is the seed of the
    chunks that the trainer opens to this auditor (`round/audits.py`).
    """

    slot: Natural
    round: Positive
    contribution: Bytes32Text
    tokens: Natural
    opening: Bytes32Text
    earlier: tuple[Natural, ...]
    """Log indices of the audit.report entries about it whose sketches this auditor checks."""


class Roster(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """The members of a round, by slot, and the windows dealt out in it."""

    members: tuple[RosterMember, ...]
    pool: tuple[tuple[Natural, Annotated[int, Meta(ge=1)]], ...]
    train_ms: Natural
    """Time from round.open to the end of training."""
    audits: tuple[AuditOrder, ...] = ()
    """By slot, ascending."""

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Roster:
        """Read a roster; raises MalformedError also for an inconsistent pool or a repeated peer."""
        roster = encoding.decode(raw, cls, DOCUMENT_BYTES)
        if round_assignment.count_windows(roster.pool) != sum(
            member.share for member in roster.members
        ):
            raise MalformedError("roster: the pool is not the sum of the shares")
        if any(sum(one) > other[0] for one, other in pairwise(roster.pool)):
            raise MalformedError("roster: the pool's ranges are not ascending and disjoint")
        # Two slots would give one key two votes on the head.
        if len({member.peer for member in roster.members}) < len(roster.members):
            raise MalformedError("roster: a peer has two slots")
        slots = [order.slot for order in roster.audits]
        if slots != sorted(set(slots)) or any(slot >= len(roster.members) for slot in slots):
            raise MalformedError("roster: the audits' slots must be ascending, unique and taken")
        return roster

    @cached_property
    def digest(self) -> Digest:
        """SHA-256 of the document."""
        return sha256(self.encode())

    @cached_property
    def keys(self) -> dict[int, PeerKey]:
        return {slot: member.key for slot, member in enumerate(self.members)}

    @cached_property
    def assignment(self) -> dict[int, Ranges]:
        """Windows by trainer slot; a slot without the role trainer has none."""
        dealt = round_assignment.deal_windows(self.pool, [member.share for member in self.members])
        return {slot: ranges for slot, ranges in enumerate(dealt) if ranges}

    def slots_of(self, role: str) -> tuple[int, ...]:
        """Slots that have the role, ascending."""
        return self._slots.get(role, ())

    @cached_property
    def _slots(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, list[int]] = {}
        for slot, member in enumerate(self.members):
            for role in member.roles:
                found.setdefault(role, []).append(slot)
        return {role: tuple(slots) for role, slots in found.items()}


class SlotResult(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Outcome of a round for one slot.

    `verdict` and `reason` are proof.Verdict and proof.Reason; `windows` counts accepted ones; `ms`
    is the coordinator's time from round.open to the commitment's arrival (0: none). An audit is
    paid like the training that it repeats: `trainer_gflop`. What the commitment gives to other keys
    is not part of that.
    """

    contribution: MaybeBytes32Text
    verdict: Natural
    reason: Natural
    windows: Natural
    ms: Natural
    trainer_gflop: Natural
    witness_gflop: Natural
    given: Annotated[tuple[tuple[Bytes32Text, Positive], ...], Meta(min_length=1)] | UnsetType = (
        UNSET
    )
    """Other keys and their GFLOP for this commitment, in its order; none that are 0."""

    @property
    def received(self) -> dict[PeerKey, int]:
        """GFLOP of other keys for this slot's commitment."""
        if self.given is UNSET:
            return {}
        return {key_from_text(key): gflop for key, gflop in self.given}


class RoundResult(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The outcome of a round, one row per slot of its roster."""

    slots: tuple[SlotResult, ...]

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> RoundResult:
        return encoding.decode(raw, cls, DOCUMENT_BYTES)


def result_bytes(slots: int) -> int:
    """Largest result of that many slots, in bytes."""
    return SLOT_BYTES * (slots + 1)
