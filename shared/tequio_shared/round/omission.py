"""Evidence that the log left out a member's attestation, and with it that member's lot.

A member sends `head.attest` to the ledger and to its peers. A peer that sees one which is not in
the log offers it to the ledger itself; if the phase ends without it, the peer signs what it saw and
when. The attestation proves itself: it is signed, and its lot is the only one that its author has.
That the ledger was offered it in time is the word of the peer that signs. So one such file is a
suspicion. More peers than could be hostile while the round's quorum is honest are more than that,
since one of them at least is honest. (docs/protocol.md, 6.8)
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, structs

from tequio_shared import encoding, keys
from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import (
    Bytes32Text,
    BytesText,
    Natural,
    NetworkId,
    PeerKey,
    digest_from_text,
    from_text,
    key_from_text,
    sha256,
    to_text,
)
from tequio_shared.keys import Signer
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.round import assignment, fold
from tequio_shared.round.documents import WITNESS
from tequio_shared.round.round import RoundView
from tequio_shared.statements.runs import HeadAttest
from tequio_shared.statements.statement import Entry

PREFIX = b"tequio/v1/seen\0"
OMISSION_BYTES = 8_192
"""Largest evidence (its JSON)."""
SEEN_QUARTERS, OFFERED_QUARTERS = 3, 1
"""Quarters of the round's grace by which the attestation and its offer have to be older than the
end of the phase."""
LEAST_PEERS = 2
"""One peer's word is never more than a suspicion."""

AnswerCode = Annotated[str, Meta(max_length=40, pattern=r"\A[a-z0-9-]*\Z")]


class Omission(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One peer's signed account of an attestation that it saw and the log does not have."""

    v: int = 1
    network: Bytes32Text
    leaf: BytesText
    """The entry of the attestation."""
    seen_ms: Natural
    """When the peer had it, by the ledger's clock."""
    offered_ms: Natural
    """When the ledger had answered a request that the peer made after it had sent the entry."""
    answer: AnswerCode
    """The ledger's answer to the entry, a status or problem code; empty: none."""
    peer: Bytes32Text
    signature: BytesText

    @property
    def entry(self) -> Entry:
        """The attestation; raises MalformedError or RefusedError if it does not parse."""
        return Entry.parse(from_text(self.leaf, None))

    @property
    def key(self) -> PeerKey:
        return key_from_text(self.peer)

    def message(self) -> bytes:
        """Bytes that the peer signs."""
        return (
            PREFIX
            + digest_from_text(self.network)
            + sha256(from_text(self.leaf, None))
            + self.seen_ms.to_bytes(8, "big")
            + self.offered_ms.to_bytes(8, "big")
            + self.answer.encode()
        )

    def verify(self) -> Entry:
        """Check the signatures of the peer and of the entry, and return that.

        Raises SignatureInvalidError, MalformedError and RefusedError.
        """
        net = NetworkId(digest_from_text(self.network))
        if self.v != 1:
            raise MalformedError(f"evidence of version {self.v}")
        keys.verify(self.key, from_text(self.signature, None), self.message())
        entry = self.entry
        entry.verify(net)
        return entry

    def encode(self) -> bytes:
        return encoding.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Omission:
        """Read evidence; raises MalformedError."""
        return encoding.decode(raw, cls, OMISSION_BYTES)


def sign_omission(
    signer: Signer, net: NetworkId, entry: Entry, seen_ms: int, offered_ms: int, answer: str
) -> Omission:
    """Sign that this attestation was seen and offered at these times of the ledger's clock."""
    unsigned = Omission(
        network=to_text(net),
        leaf=to_text(entry.leaf()),
        seen_ms=seen_ms,
        offered_ms=offered_ms,
        answer=answer,
        peer=to_text(signer.key),
        signature="",
    )
    return structs.replace(unsigned, signature=to_text(signer.sign(unsigned.message())))


def check_omission(current: RoundView, omission: Omission, entry: Entry, ended_ms: int) -> None:
    """Check a verified entry against the round right before its phase `attest` ends.

    `ended_ms` is the `ts` of the statement that ends the phase. Raises RefusedError with the reason
    why the log may lack the attestation, or why the peer's word does not count.
    """
    statement, slots = entry.statement, current.slot_of
    if (statement.run, statement.round) != (current.manifest.run_id, current.number):
        raise RefusedError("not-in-round", "it is about another round")
    if omission.key not in slots or omission.key == statement.author:
        raise RefusedError("not-in-round", "it is signed by no other member of the round")
    if not isinstance(statement.body, HeadAttest):
        raise RefusedError("malformed", f"it holds a {statement.type}")
    if not is_timely(current, omission.seen_ms, omission.offered_ms, ended_ms):
        raise RefusedError("too-late", "it was seen or offered too shortly before the phase ended")
    if statement.exp < ended_ms or statement.ts > omission.seen_ms + CLOCK_SKEW_MS:
        raise RefusedError("expired", "the statement had expired, or is dated after it was seen")
    fold.check_attestation(current, statement.author, statement.body)


def is_timely(current: RoundView, seen_ms: int, offered_ms: int, ended_ms: int) -> bool:
    """True if the log had time for an attestation that was seen and offered then.

    A ledger waits for members that are slower than the quorum for the grace. So what a peer saw
    when the quorum was reached counts, with a quarter of the grace for the way to that peer.
    """
    quarter = current.manifest.rounds.grace // 4
    is_seen = seen_ms <= ended_ms - SEEN_QUARTERS * quarter
    return is_seen and seen_ms <= offered_ms <= ended_ms - OFFERED_QUARTERS * quarter


def least_peers(current: RoundView) -> int:
    """Number of witness slots of which one at least is honest while a quorum is; at least 2."""
    voters = len(current.roster.slots_of(WITNESS))
    return max(voters - assignment.quorum(voters) + 1, LEAST_PEERS)
